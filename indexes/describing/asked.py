"""The questions of a corpus: few beside its articles, so what they cite is kept, and nothing else."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from indexes.corpus import questions
from indexes.corpus.folder import questions_file
from indexes.describing.description import Split
from indexes.describing.spread import Spread
from indexes.describing.units import Lengths, Units
from indexes.formats.jsonl import Progress, records
from indexes.formats.validation import Inspection, Place
from rag.errors import BadInput

OPTIONAL = ("answer", "category", "split")
Gold = Sequence[tuple[str, ...]]  # ids of articles, a tuple a question


class Entry(NamedTuple):
    """What is kept of a question."""

    place: Place
    article_ids: tuple[str, ...]
    cites: tuple[tuple[str, str], ...]  # (code, article number)
    category: str
    split: str


@dataclass
class Asked:
    """All questions of a corpus, before their gold articles are found in it."""

    lengths: Lengths
    entries: list[Entry] = field(default_factory=list)
    filled: Counter[str] = field(default_factory=Counter)  # optional column -> questions that have it
    ids: set[str] = field(default_factory=set)  # of the articles that they name
    cites: set[tuple[str, str]] = field(default_factory=set)

    def gold(self, ids: Mapping[str, object], numbered: Mapping[tuple[str, str], Sequence[str]]) -> Gold:
        """Return the gold articles of each question, each once.

        Args:
            ids: those of `self.ids` that the corpus holds, and those in `numbered`.
            numbered: (code, article number) -> the ids of those that bear it.

        Raises:
            BadInput: a question cites what the corpus does not hold.
        """
        found = []
        for entry in self.entries:
            absent = [id_ for id_ in entry.article_ids if id_ not in ids]
            absent += [" ".join(cite) for cite in entry.cites if cite not in numbered]
            if absent:
                raise BadInput(
                    f"{entry.place}: it cites {absent[0]!r}, which the corpus does not hold. Correct the "
                    "line, or give the articles it was annotated for."
                )
            cited = (id_ for cite in entry.cites for id_ in numbered[cite])
            found.append(tuple(dict.fromkeys((*entry.article_ids, *cited))))
        return found

    def by_category(self, gold: Gold) -> dict[str, Spread]:
        """Return category -> gold articles a question, the largest category first; "" is none."""
        counts: defaultdict[str, Counter[int]] = defaultdict(Counter)
        for entry, ids in zip(self.entries, gold, strict=True):
            counts[entry.category][len(ids)] += 1
        in_order = sorted(counts.items(), key=lambda item: (-item[1].total(), item[0]))
        return {name: Spread.of(found) for name, found in in_order}

    def splits(self, gold: Gold) -> dict[str, Split]:
        """Return split -> its questions; "" is none."""
        every = Counter(entry.split for entry in self.entries)
        answered = Counter(entry.split for entry, ids in zip(self.entries, gold, strict=True) if ids)
        return {name: Split(every[name], answered[name]) for name in sorted(every)}


def read_asked(folder: Path, units: Units, progress: Progress | None) -> Asked:
    """Read the questions of a corpus folder, none where it has no file of them.

    Raises:
        BadInput: a line cannot be used.
    """
    made = Asked(Lengths(units))
    path, inspection = questions_file(folder), Inspection()
    if path is not None:
        found = questions.collect(records(path, inspection, progress), inspection)
        made.lengths.add(_noted(place, cited, made) for place, cited in found)
    return made


def _noted(place: Place, cited: questions.Cited, to: Asked) -> str:
    """Keep what is needed of a question, and return its text."""
    question = cited.question
    to.filled.update(key for key in OPTIONAL if getattr(question, key) is not None)
    to.ids.update(question.article_ids)
    to.cites.update(cited.cites)
    kept = Entry(place, question.article_ids, cited.cites, question.category or "", question.split or "")
    to.entries.append(kept)
    return question.text
