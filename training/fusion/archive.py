"""What systems return for the questions of a study: asked once, kept as arrays in a folder.

A file bears the hash of what its rankings follow from (corpus, questions, who learnt from which, settings,
model): one that is there is read, and what changed is asked anew under another name.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from indexes.build.score_distributions import ScoresAll
from indexes.store.atomic import replacing
from rag.errors import BadInput
from rag.fusion.normalisation import ScoreDistribution
from rag.types import DECIMALS, ArticleOrder, Doubles, Ints, Progress, Question, Ranking, Retriever, Run

DEPTH = 1000  # articles of a list
SCORED = 100  # questions of which every article's score is looked at, of all parts together
Make: TypeAlias = Callable[[int], Retriever]  # number of a part -> the system that has not learnt it


@dataclass(frozen=True)
class Pairs:
    """Questions and articles, as many right as wrong: what complementarity is looked at by."""

    questions: tuple[tuple[str, ...], ...]  # of each part, the ids of those that every article is scored for
    question: tuple[str, ...] = field(repr=False)  # (n_pairs,) ids
    article: Ints = field(repr=False)  # (n_pairs,) positions in the corpus
    right: tuple[bool, ...] = field(repr=False)  # (n_pairs,) whether the article is gold

    @classmethod
    def of(cls, parts: Sequence[Sequence[Question]], order: ArticleOrder, seed: int) -> Pairs:
        """Draw at most 100 questions from the parts, and beside each gold article one that is none."""
        rng = np.random.default_rng(seed)
        drawn, rows = [], []
        for part in parts:
            gold = [q for q in part if q.article_ids]
            chosen = [gold[i] for i in sorted(rng.permutation(len(gold))[: max(1, SCORED // len(parts))])]
            drawn.append(tuple(q.id for q in chosen))
            for question in chosen:
                own = {order.positions[a] for a in question.article_ids if a in order.positions}
                others = [p for p in rng.permutation(len(order.ids)).tolist() if p not in own]
                rows += [(question.id, p, True) for p in sorted(own)]
                rows += [(question.id, p, False) for p in others[: len(own)]]
        ids, articles, right = zip(*rows, strict=True) if rows else ((), (), ())
        return cls(tuple(drawn), tuple(ids), np.array(articles, dtype=np.int64), tuple(right))


@dataclass(frozen=True)
class SystemOutput:
    """What one system returned."""

    run: Run = field(repr=False)
    distributions: tuple[ScoreDistribution, ...] = field(repr=False)  # of each part's system, over the corpus
    paired: Doubles = field(repr=False)  # (n_pairs,) its scores; -inf for an article that it does not match


def fingerprint(facts: Mapping[str, Any]) -> str:
    """Return the hash of what rankings follow from."""
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True)
class Archive:
    """A folder of what was asked, of one corpus and plan."""

    folder: Path | None  # None keeps nothing
    order: ArticleOrder
    parts: Sequence[Sequence[Question]]
    pairs: Pairs
    progress: Progress

    def asked(self, name: str, facts: Mapping[str, Any], make: Make) -> SystemOutput:
        """Return what a system returns, read if it was asked before, else asked and kept.

        Raises:
            BadInput: a system that cannot score the whole corpus, or a file that cannot be used.
        """
        if self.folder is None:
            return self._ask(name, make)
        path = self.folder / f"{re.sub(r'[^A-Za-z0-9+-]+', '-', name)}-{fingerprint(facts)[:12]}.npz"
        if path.exists():
            return self._read(path)
        found = self._ask(name, make)
        self._write(path, found)
        return found

    def _ask(self, name: str, make: Make) -> SystemOutput:
        run: dict[str, Ranking] = {}
        distributions, total = [], sum(map(len, self.parts))
        paired = np.zeros(len(self.pairs.question))
        for number, part in enumerate(self.parts):
            system = make(number)
            if not isinstance(system, ScoresAll):
                raise BadInput(
                    f"{name} cannot score the whole corpus, which percentiles need: fuse systems that rank "
                    "by themselves, such as bm25, dense or a trained retriever"
                )
            for question in part:
                [run[question.id]] = system.search([question.text], DEPTH)
                self.progress(f"asking {name}", len(run), total)
            scores = []
            texts = {q.id: q.text for q in part}
            for id_ in self.pairs.questions[number]:
                all_ = np.round(system.scores(texts[id_]).astype(np.float64), DECIMALS)
                own = np.array([of == id_ for of in self.pairs.question])
                paired[own] = all_[self.pairs.article[own]]
                scores.append(all_)
            distributions.append(ScoreDistribution.of(np.concatenate(scores)))
        return SystemOutput(run, tuple(distributions), paired)

    def _write(self, path: Path, found: SystemOutput) -> None:
        rankings = [ranking.within(self.order) for ranking in found.run.values()]
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with replacing(path) as part, part.open("wb") as file:
                np.savez_compressed(
                    file,
                    questions=np.array(list(found.run)),
                    counts=np.array([len(ranking) for ranking in rankings]),
                    positions=np.concatenate([r.positions for r in rankings]).astype(np.int32),
                    scores=np.concatenate([r.scores for r in rankings]),
                    distributions=np.array(json.dumps([of.to_json() for of in found.distributions])),
                    paired=found.paired,
                )
        except OSError as error:
            raise BadInput(
                f"{path}: cannot be written ({error.strerror}). Give another --rankings."
            ) from None

    def _read(self, path: Path) -> SystemOutput:
        try:
            with np.load(path, allow_pickle=False) as kept:
                ends = np.cumsum(kept["counts"])[:-1]
                lists = zip(
                    kept["questions"].tolist(),
                    np.split(kept["positions"].astype(np.int64), ends),
                    np.split(kept["scores"], ends),
                    strict=True,
                )
                run = {id_: Ranking(self.order, positions, scores) for id_, positions, scores in lists}
                told = tuple(map(ScoreDistribution.from_json, json.loads(kept["distributions"].item())))
                return SystemOutput(run, told, kept["paired"])
        except (OSError, ValueError, KeyError) as error:
            raise BadInput(f"{path} cannot be read ({error}): remove it, and it is asked anew") from error
