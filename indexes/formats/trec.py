"""Judgements and runs in TREC's formats, and the judgements of a BEIR folder."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from indexes.formats.csv import words
from indexes.formats.jsonl import write_lines
from indexes.formats.validation import Inspection, SkipReason, SourceLocation
from rag.errors import BadInput
from rag.types import Ranking, Run

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
            cure = "Give qrels of TREC, or BEIR's with 3 columns"
            inspection.refuse(SkipReason.INVALID_CSV, place, problem, cure)
            continue
        try:
            grade = int(found[-1])
        except ValueError:  # also thousands of digits
            problem, cure = f"the grade is {found[-1]!r}", "Write it as a whole number, 0 for not relevant"
            inspection.refuse(SkipReason.WRONG_TYPE, place, problem, cure)
            continue
        yield place, Judgement(found[0], found[-2], grade)


def write_qrels(path: Path, gold: Mapping[str, Iterable[str]], *, beir: bool = False) -> None:
    """Write each gold article of each question with the grade 1: as TREC does, or as BEIR under a header.

    Raises:
        BadInput: an id holds a blank, which would cut the line elsewhere (in BEIR's a tab or a line break).
    """
    head, between = ("\t".join(BEIR_HEADER) + "\n", "\t") if beir else ("", "\t0\t")
    pairs = ((fit(q, tabs=beir), fit(a, tabs=beir)) for q, articles in gold.items() for a in articles)
    rows = (f"{question}{between}{article}\t1\n".encode() for question, article in pairs)
    write_lines(path, chain([head.encode()], rows))


def write_run(path: Path, run: Run, name: str = "pandect") -> None:
    """Write a run of six columns; the score is minus the rank.

    So every tool keeps our order: they disagree on ties, and some merge scores equal in float32.

    Raises:
        BadInput: an id or the name holds a blank.
    """
    ranked = ((question, n, hit) for question, hits in run.items() for n, hit in enumerate(hits, 1))
    rows = (f"{fit(q)}\tQ0\t{fit(hit.article_id)}\t{n}\t{-n}\t{fit(name)}\n" for q, n, hit in ranked)
    write_lines(path, (row.encode() for row in rows))


def read_run(path: Path) -> dict[str, Ranking]:
    """Read a run of six columns, whoever wrote it: question id -> ranking, by score and then by id.

    What it calls the rank is not looked at, as no tool of TREC does; blanks in ids it cannot have.

    Raises:
        BadInput: a line has other columns, its score is no number, or an article comes twice; or the file
            cannot be read.
    """
    scores: dict[str, dict[str, float]] = {}
    try:
        for n, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            columns = line.split()
            if not columns:
                continue
            if len(columns) != 6:
                raise ValueError(
                    f"line {n} has {len(columns)} columns, not question Q0 article rank score name"
                )
            question, _, article, _, score, _ = columns
            known = scores.setdefault(question, {})
            if article in known or not math.isfinite(float(score)):
                raise ValueError(f"line {n}: {article} comes twice, or {score} is no number")
            known[article] = float(score)
    except (OSError, ValueError) as error:
        raise BadInput(f"{path} is no run of TREC: {error}") from error
    return {
        question: Ranking.of(sorted(found.items(), key=lambda hit: (-hit[1], hit[0])))
        for question, found in scores.items()
    }


def fit(id_: str, *, tabs: bool = False) -> str:
    """Return the id if it can stand between the separators of these formats.

    Raises:
        BadInput: it holds a blank (with `tabs` only tabs and line breaks are in the way).
    """
    columns = [id_] if tabs and id_ == id_.strip() and not set(id_) & set("\t\r\n") else id_.split()
    if columns != [id_] or not id_:
        cure = "Export to parquet or jsonl, which can hold it."
        raise BadInput(f"the id {id_!r} cannot be written between blanks or tabs. {cure}")
    return id_
