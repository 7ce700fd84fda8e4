"""Judgements and runs in TREC's formats, and the judgements of a BEIR folder."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from indexes.formats.csv import words
from indexes.formats.jsonl import write_lines
from indexes.formats.validation import Inspection, SkipReason, SourceLocation
from rag.errors import BadInput
from rag.types import ArticleOrder, Hit, Qrels, Run, rank

BEIR_HEADER = ("query-id", "corpus-id", "score")


class Judgement(NamedTuple):
    """How well one article answers one question: 0 not at all."""

    question_id: str
    article_id: str
    grade: int


def judgements(path: Path, inspection: Inspection) -> Iterator[tuple[SourceLocation, Judgement]]:
    """Yield the judgements of a file in their order.

    TREC has four columns (question, iteration, article, grade); BEIR has three under a header.

    Raises:
        BadInput: a line has other columns or its grade is no whole number, and the inspection is
            not lenient.
    """
    for place, found in words(path, inspection):
        if place.line == 1 and tuple(found) == BEIR_HEADER:
            continue
        if len(found) not in (3, 4):
            problem = f"{len(found)} values came, where qrels have 4 (question, 0, article, grade)"
            inspection.refuse(
                SkipReason.INVALID_CSV, place, problem, "Give qrels of TREC, or BEIR's with 3 columns"
            )
            continue
        grade = _whole(found[-1])
        if grade is None:
            problem, cure = f"the grade is {found[-1]!r}", "Write it as a whole number, 0 for not relevant"
            inspection.refuse(SkipReason.WRONG_TYPE, place, problem, cure)
            continue
        yield place, Judgement(found[0], found[-2], grade)


def read_qrels(path: Path, *, least: int = 1, inspection: Inspection | None = None) -> Qrels:
    """Read qrels; an article is gold from the grade `least` on.

    Raises:
        BadInput: the file cannot be used.
    """
    gold: dict[str, set[str]] = {}
    for _, judged in judgements(path, inspection or Inspection()):
        gold.setdefault(judged.question_id, set())
        if judged.grade >= least:
            gold[judged.question_id].add(judged.article_id)
    return {id_: frozenset(ids) for id_, ids in gold.items()}


def write_qrels(path: Path, gold: Mapping[str, Iterable[str]]) -> None:
    """Write qrels of TREC: each gold article of each question with the grade 1, in their order.

    Raises:
        BadInput: an id holds a blank, which would cut the line elsewhere.
    """
    pairs = ((question, article) for question, articles in gold.items() for article in articles)
    write_lines(path, (f"{fit(q)}\t0\t{fit(a)}\t1\n".encode() for q, a in pairs))


def write_beir_qrels(path: Path, gold: Mapping[str, Sequence[str]]) -> None:
    """Write the qrels of a BEIR folder: three columns under a header.

    Raises:
        BadInput: an id holds a tab or a line break.
    """
    pairs = ((question, article) for question, articles in gold.items() for article in articles)
    rows = ("\t".join(BEIR_HEADER), *(f"{fit(q, tabs=True)}\t{fit(a, tabs=True)}\t1" for q, a in pairs))
    write_lines(path, (f"{row}\n".encode() for row in rows))


def read_run(path: Path, *, inspection: Inspection | None = None) -> Run:
    """Read a run of six columns: question, Q0, article, rank, score, name of the system.

    As in TREC's own tool the score decides, not the column rank; equal scores are put in order by
    the one rule of `rag.types.rank`. An article that comes twice counts once, at its best score.

    Raises:
        BadInput: the file cannot be used.
    """
    inspection = inspection or Inspection()
    scored: dict[str, dict[str, float]] = {}
    for place, found in words(path, inspection):
        if len(found) != 6:
            problem = f"{len(found)} values came, where a run has 6"
            cure = "Write question, Q0, article, rank, score and the name of the system"
            inspection.refuse(SkipReason.INVALID_CSV, place, problem, cure)
            continue
        score = _number(found[4])
        if score is None:
            problem, cure = f"the score is {found[4]!r}", "Write it as a number that is not infinite"
            inspection.refuse(SkipReason.WRONG_TYPE, place, problem, cure)
            continue
        of = scored.setdefault(found[0], {})
        of[found[2]] = max(score, of.get(found[2], score))
    return {question: _ranked(articles) for question, articles in scored.items()}


def write_run(path: Path, run: Run, name: str = "pandect") -> None:
    """Write a run of six columns; the score is minus the rank.

    So every tool keeps our order: they disagree on ties, and some merge scores equal in float32.

    Raises:
        BadInput: an id or the name holds a blank.
    """
    rows = (
        f"{fit(question)}\tQ0\t{fit(hit.article_id)}\t{place}\t{-place}\t{fit(name)}\n".encode()
        for question, hits in run.items()
        for place, hit in enumerate(hits, 1)
    )
    write_lines(path, rows)


def fit(id_: str, *, tabs: bool = False) -> str:
    """Return the id if it can stand between the separators of these formats.

    Raises:
        BadInput: it holds a blank (with `tabs` only tabs and line breaks are in the way).
    """
    cut = [id_] if tabs and id_ == id_.strip() and not set(id_) & set("\t\r\n") else id_.split()
    if cut != [id_] or not id_:
        cure = "Export to parquet or jsonl, which can hold it."
        raise BadInput(f"the id {id_!r} cannot be written between blanks or tabs. {cure}")
    return id_


def _ranked(scores: Mapping[str, float]) -> tuple[Hit, ...]:
    values = np.fromiter(scores.values(), dtype=np.float64, count=len(scores))
    return rank(values, ArticleOrder.of(tuple(scores)), len(scores), decimals=None)


def _whole(text: str) -> int | None:
    try:
        return int(text)
    except ValueError:  # also thousands of digits
        return None


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if np.isfinite(value) else None
