"""The bridge from a layperson's words to those of the law: pairs of terms, learnt from annotated questions.

`indexes.build.translation_model` learns them when law comes in. Here a question's terms are looked up:
each brings the terms that the law has for it, weighed by their translation probability (Berger & Lafferty
1999).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import TypeAlias

from rag.errors import BadInput

PAIRS = "pairs.json"
# What an expanded term counts, times its probability, beside one that was typed. At 2, words alone find a
# little more, and a fusion with lists that know the law's words without it loses (docs/ranking.md).
WEIGHT = 1.0
MAX_SHOWN_PAIRS = 4  # pairs that people are told, one for each word, and the probability
MIN_SHOWN_PROBABILITY = 0.1  # from which on: what is less likely than that is seldom what was meant
OTHER = 2.0  # and how much likelier than that the law uses the same word
Removed: TypeAlias = frozenset[tuple[str, str]]  # (lay term, law term) of pairs that are not to be used
KEEP_ALL: Removed = frozenset()


@dataclass(frozen=True, slots=True)
class Pair:
    """How likely a lay term stands for a term of the law, and how that is known."""

    lay: str
    law: str
    probability: float
    questions: int = 0  # annotated ones that have the lay term and cite an article with the other; 0: none
    near: float = 0.0  # cosine of the two in the static encoder; 0: it is no synonym there


@dataclass(frozen=True, slots=True)
class ExpansionTerm:
    """A term of a question and the law term that it was expanded with."""

    lay: str
    law: str
    weight: float  # its probability, as often as the question has the lay term
    form: str  # as articles write the law's term most often
    questions: int = 0  # see Pair
    near: float = 0.0
    typed: str = ""  # as the question writes the lay term
    own: float = 0.0  # the probability that the lay term stands for itself: the law has that word too


@dataclass(frozen=True)
class TranslationModel:
    """Translation probabilities p(law term given lay term) of a corpus, likeliest first.

    The probabilities of one lay term add up to 1 at most. A term that stands for itself is among them: it
    takes its part of the probability, and is never expanded to.
    """

    pairs: Mapping[str, Sequence[Pair]] = field(repr=False)
    forms: Mapping[str, str] = field(default_factory=dict, repr=False)  # law term -> how articles write it

    @cached_property
    def law_terms(self) -> tuple[str, ...]:
        """The terms of the law that any lay term reaches, in order."""
        return tuple(sorted({pair.law for pairs in self.pairs.values() for pair in pairs}))

    def expand(
        self, terms: Iterable[str], without: Removed = KEEP_ALL, typed: Mapping[str, str] | None = None
    ) -> tuple[ExpansionTerm, ...]:
        """Return what the law says for these terms, in the order of the terms.

        A term of the law that the question has itself is left out: it is searched by already. A term that
        stands twice counts twice. `typed` is how the question writes its terms.
        """
        often = Counter(terms)
        expanded = []
        for lay, times in often.items():
            pairs = self.pairs.get(lay, ())
            own = next((pair.probability for pair in pairs if pair.law == lay), 0.0)
            word = typed.get(lay, lay) if typed is not None else ""
            for p in pairs:
                if p.law not in often and (lay, p.law) not in without:
                    weight, form = times * p.probability, self.form(p.law)
                    expanded.append(ExpansionTerm(lay, p.law, weight, form, p.questions, p.near, word, own))
        return tuple(expanded)

    def form(self, term: str) -> str:
        """Return a term of the law as articles write it."""
        return self.forms.get(term, term)

    def save(self, folder: Path) -> None:
        """Write the pairs as JSON that people can read: a line for each lay term."""
        as_json = partial(json.dumps, ensure_ascii=False)
        lines = (
            f"{as_json(lay)}: {as_json([[p.law, p.probability, p.questions, p.near] for p in pairs])}"
            for lay, pairs in sorted(self.pairs.items())
        )
        forms = {term: self.forms[term] for term in self.law_terms if term in self.forms}
        written = '{"forms": ' + as_json(forms) + ',\n"pairs": {\n' + ",\n".join(lines) + "}}\n"
        (folder / PAIRS).write_text(written, encoding="utf-8")

    @classmethod
    def load(cls, folder: Path) -> TranslationModel:
        """Read what `save` wrote; a file that is not there is `OSError`, anything else `BadInput`."""
        path = folder / PAIRS
        try:
            record = json.loads(path.read_text(encoding="utf-8"))
            pairs = {
                lay: tuple(Pair(lay, str(law), float(p), int(n), float(near)) for law, p, n, near in entries)
                for lay, entries in record["pairs"].items()
            }
            forms = {str(term): str(form) for term, form in record["forms"].items()}
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise BadInput(f"{path}: {error}: it holds no pairs of words") from error
        return cls(pairs, forms)


def telling(used: Sequence[ExpansionTerm], law_terms: Collection[str]) -> tuple[ExpansionTerm, ...]:
    """Return the few pairs that people are told: strong ones whose law term stands in what is shown.

    A word that the law uses itself, more often than the other, is not told: nothing is explained by it.
    """
    strong = [p for p in used if p.law in law_terms and p.weight >= max(MIN_SHOWN_PROBABILITY, OTHER * p.own)]
    shown: list[ExpansionTerm] = []
    # what questions and encoder both know is rather meant than what stands beside it in the law
    for pair in sorted(strong, key=lambda p: (-p.weight * (1 + p.near), p.lay, p.law)):
        if all(pair.lay != other.lay and pair.law != other.law for other in shown):
            shown.append(pair)
    return tuple(shown[:MAX_SHOWN_PAIRS])
