"""The articles that a model is given with a question: found by a system, gold, or none."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from rag.errors import BadInput
from rag.types import Article, Question, Ranking
from training.eval.system_names import SINGLE, excluded_features, fused
from training.eval.workbench import Bench

_T = TypeVar("_T")
NONE, GOLD, PART = "none", "gold", "part-gold"
CONSTRUCTED = (NONE, GOLD, PART)  # the others are names of systems
LONGEST = 1500  # characters of an article in a task; ten of them stay within a window of some 16,000 tokens
_HEAD = "下面是可能与问题有关的法律条文：\n"
_ADVICE = "\n请优先依据以上条文作答；其中不一定包含所需的条文，如果没有，请依据你掌握的法律知识作答。\n\n"
FILL = "hybrid"  # what fills up contexts of gold articles to k: the hardest others there are


@dataclass(frozen=True, slots=True)
class Context:
    """A question with the articles it is asked with, best first."""

    question: Question
    name: str
    articles: tuple[Article, ...]

    @property
    def complete(self) -> bool:
        """Whether the articles suffice: there are gold ones, and every one of them is here."""
        gold = set(self.question.article_ids)
        return bool(gold) and gold <= {article.id for article in self.articles}


def numbered(articles: Sequence[Article]) -> str:
    """Return articles as prompts of examination and charge tasks show them; nothing where there are none.

    As in STARD's experiment (Su et al. 2024): the best ones, numbered, then the advice to prefer them
    although the right one may be missing. The wording is ours.
    """
    lines = [
        f"{n}. 《{a.code}》{a.article_no}：{' '.join(a.text.split())[:LONGEST]}"
        for n, a in enumerate(articles, 1)
    ]
    return _HEAD + "\n".join(lines) + _ADVICE if lines else ""


def check(name: str) -> None:
    """Raise BadInput for what is neither a context that is made nor the name of a system."""
    if name not in (*CONSTRUCTED, *SINGLE) and fused(name, ()) is None and excluded_features(name) is None:
        raise BadInput(
            f"no context {name!r}: expected {', '.join(CONSTRUCTED)}, or a system such as bm25 or hybrid"
        )


def ranking_system(name: str, fill: str) -> str | None:
    """Return the system whose ranking a context needs: `fill` ranks those that are made; None for none."""
    if name == NONE:
        return None
    return fill if name in CONSTRUCTED else name


def make(
    name: str, question: Question, ranking: Ranking, articles: Mapping[str, Article], *, k: int, seed: int
) -> Context:
    """Return a question's context.

    "gold" holds the gold articles among the best others, all in the order of the ranking, so that
    their place gives nothing away; gold ones that it does not have come last. "part-gold" is the same
    without some of the gold articles: at least one, drawn by the seed and the question alone. The ranking
    is that of `ranking_system`, as deep as k and the gold articles together.
    """
    if name == NONE:
        return Context(question, name, ())
    found = [hit.article_id for hit in ranking]
    if name in CONSTRUCTED:
        gold = dict.fromkeys(question.article_ids)
        keep = [g for g in gold if g not in (_removed(question, seed) if name == PART else ())][:k]
        others = [i for i in found if i not in gold][: k - len(keep)]
        place = {article_id: n for n, article_id in enumerate(found)}
        found = sorted([*keep, *others], key=lambda i: (place.get(i, len(place)), i))
    return Context(question, name, tuple(articles[i] for i in found[:k]))


def _removed(question: Question, seed: int) -> set[str]:
    gold = sorted(set(question.article_ids))
    if not gold:
        return set()
    digest = hashlib.sha256(f"{seed} {question.id}".encode()).digest()
    rng = np.random.default_rng(int.from_bytes(digest[:8], "big"))
    return set(rng.permutation(gold)[: int(rng.integers(1, len(gold) + 1))].tolist())


Rankings = Mapping[str, Mapping[str, Ranking]]  # system -> question id -> its first articles
Part = tuple[Sequence[Question], Sequence[Question]]  # to ask, and to learn from


def sample(items: Sequence[_T], limit: int | None, seed: int) -> list[_T]:
    """Return at most so many items, drawn by the seed, in their order."""
    if limit is None or limit >= len(items):
        return list(items)
    drawn = np.random.default_rng(seed).permutation(len(items))[: max(limit, 0)]
    return [items[i] for i in sorted(drawn.tolist())]


def rankings(bench: Bench, names: Sequence[str], parts: Sequence[Part], depth: int) -> Rankings:
    """Return each system's first articles for every question, having learnt as its part says, fold by fold.

    Raises:
        BadInput: no such system, or it has nothing to learn from.
    """
    found: dict[str, dict[str, Ranking]] = {name: {} for name in names}
    total, done = len(names) * sum(len(held) for held, _ in parts), 0
    for held, learn in parts:
        systems = bench.systems(names, learn) if held else {}
        for name, system in systems.items():
            for question in held:
                [found[name][question.id]] = system.search([question.text], depth)
                done += 1
                bench.progress("searching", done, total)
    return found
