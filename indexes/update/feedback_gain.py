"""What an index gains that learns from annotated questions too: measured on questions that it has not seen.

The questions are dealt into folds; for each, an index that learnt from the other folds is held against the
one in use. The law stays as it is: nothing is switched, and what was built for the measurement goes.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from indexes.corpus.corpus import read
from indexes.corpus.folds import grouped_folds, pick
from indexes.describing.significance import Interval, interval
from indexes.store.manifest import read as read_manifest
from indexes.store.open_index import assemble
from indexes.update.diff import compare
from indexes.update.reuse import Start
from indexes.update.update import update_into
from rag.engine.engine import Engine
from rag.types import Doubles, Progress, Question, no_progress

LEAST = 20  # questions: of fewer no interval is worth its name
FOLDS = 5
TOP = 10
EFFECT = 0.05  # a difference of the mean that ought to be told from none
MEASURES = ("reciprocal rank", "R@10")  # of the first answering article; share of the answering articles


@dataclass(frozen=True, slots=True)
class FeedbackGain:
    """Means over questions before and after, and what lies between; shares in 0..1."""

    questions: int  # that the index has not learnt from; those that ask alike are one
    before: tuple[float, ...] = ()  # by `MEASURES`; () of fewer than 20 questions
    after: tuple[float, ...] = ()
    difference: tuple[Interval, ...] = ()  # paired
    needed: int = LEAST  # questions that would tell a gain of 0.05 from none

    def lines(self) -> Iterator[str]:
        """Yield what a terminal is told."""
        if not self.difference:
            yield f"too few to measure a gain: {self.questions:,} questions, {LEAST} are needed"
            return
        yield f"{self.questions:,} questions, asked of the index in use and of one that learnt the others:"
        for name, old, new, by in zip(MEASURES, self.before, self.after, self.difference, strict=True):
            yield f"  {name:16} {old:.3f} -> {new:.3f}   {by.value:+.3f} [{by.low:+.3f}, {by.high:+.3f}]"
        if self.difference[0].low > 0:
            yield "learning from them helps: import them with the law, and build"
        elif self.difference[0].high < 0:
            yield "learning from them harms: look at what was accepted"
        else:
            yield f"no gain is shown; to tell one of {EFFECT} from none takes about {self.needed:,} questions"
        yield "people speak of articles that they were shown: what is never among the ten goes unmeasured"


def measure(
    start: Start, questions: Sequence[Question], progress: Progress = no_progress, seed: int = 42
) -> FeedbackGain:
    """Measure what a version gains from questions; those that it has already are left out.

    The encoder is fitted anew where it was fitted to this law; another one stays as it is.

    Raises:
        DamagedIndex, StaleIndex: the version cannot be opened.
    """
    corpus = read(start.folder / "corpus")
    engine = assemble(start.folder, start.manifest, start.cure)
    known = {_key(q, engine) for q in corpus.questions}
    new = [replace(q, id=f"gain-{i}", split=None) for i, q in enumerate(questions)]
    new = [q for q in new if q.article_ids and _key(q, engine) not in known]
    number: dict[object, int] = {}
    groups = [number.setdefault(_key(q, engine), len(number)) for q in new]  # who ask alike stay together
    if len(number) < LEAST:
        return FeedbackGain(len(number))
    before, after = _found(engine, new), np.zeros((len(new), len(MEASURES)))
    entry = start.manifest.encoder
    refit = entry is not None and "settings" in entry and "borrowed_from" not in entry
    progress("folds", 0, FOLDS)
    for done, fold in enumerate(grouped_folds(groups, FOLDS, seed), start=1):
        learnt = replace(corpus, questions=(*corpus.questions, *pick(new, fold.learn)))
        with tempfile.TemporaryDirectory() as scratch:
            part = Path(scratch) / start.manifest.name / "gain"
            part.mkdir(parents=True)
            update_into(part, start, compare(start.former, learnt), learnt, "gain", refit)
            refitted = assemble(part, read_manifest(part, start.cure), start.cure)
            after[list(fold.held)] = _found(refitted, pick(new, fold.held))
        progress("folds", done, FOLDS)
    return _gain(before, after, groups, seed)


def _gain(before: Doubles, after: Doubles, groups: Sequence[int], seed: int) -> FeedbackGain:
    """Compare (n_questions, n_measures), each question of the group at its position, by means of groups.

    What many ask alike is one draw of the bootstrap: as so many it would look surer than it is.
    """
    size = np.bincount(groups)
    before, after = (
        np.stack([np.bincount(groups, column) / size for column in rows.T], 1) for rows in (before, after)
    )
    by = after - before
    spread = float(by[:, 0].std(ddof=1))
    return FeedbackGain(
        len(size),
        tuple(before.mean(axis=0).tolist()),
        tuple(after.mean(axis=0).tolist()),
        tuple(interval(column, seed) for column in by.T),
        max(LEAST, math.ceil((1.96 * spread / EFFECT) ** 2)),
    )


def _key(question: Question, engine: Engine) -> object:
    """Return what questions that ask alike have in common: their terms, or the text where it has none."""
    return frozenset(engine.analyser.terms(question.text)) or question.text.casefold()


def _found(engine: Engine, questions: Sequence[Question]) -> Doubles:
    """Return (n_questions, n_measures)."""
    rows = []
    for question in questions:
        ids = [shown.article.id for shown in engine.ask(question.text, k=TOP).shown]
        ranks = [ids.index(id_) + 1 for id_ in question.article_ids if id_ in ids]
        rows.append((1 / min(ranks) if ranks else 0.0, len(ranks) / len(question.article_ids)))
    return np.array(rows, np.float64)
