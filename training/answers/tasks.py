"""Examination questions and charges: what a model replies with and without articles."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from rag.types import Article, Question
from training.answers import charges, multiple_choice
from training.answers.aggregate import ModelResult, Prices, cost_summary
from training.answers.chat import Reply
from training.answers.score import Ratio, Values
from training.eval.significance import interval, ratio

CONTEXTS = ("none", "bm25", "dense", "hybrid")


@dataclass(frozen=True, slots=True)
class Task:
    """Questions whose replies are right or wrong."""

    name: str
    version: str  # of its prompt
    questions: Sequence[Question]  # as they are searched by
    prompts: Sequence[Callable[[Sequence[Article]], str]]  # of each question, given the articles
    score: Callable[[Sequence[str]], tuple[Mapping[str, Ratio], Values]]  # ratios, and what was unreadable


def examination(path: Path, choose: Callable[[int], Sequence[int]]) -> Task:
    """Return the task of a file in JEC-QA's format; of its questions those that are chosen of so many.

    Raises:
        BadInput: a line is of another format.
    """
    items = multiple_choice.load(path)
    items = [items[n] for n in choose(len(items))]
    return Task(
        "multiple choice",
        multiple_choice.VERSION,
        [Question(str(n), item.searched) for n, item in enumerate(items)],
        [lambda articles, item=item: multiple_choice.prompt(item, articles) for item in items],  # type: ignore[misc]
        lambda replies: multiple_choice.accuracy(items, replies),
    )


def convictions(path: Path, choose: Callable[[int], Sequence[int]]) -> Task:
    """Return the task of a file in CAIL 2018's format; see `examination`."""
    cases = charges.load(path)
    cases = [cases[n] for n in choose(len(cases))]

    def score(replies: Sequence[str]) -> tuple[Mapping[str, Ratio], Values]:
        right, unreadable = charges.accuracy(cases, replies)
        return {"accuracy charges": (right, np.ones(len(cases)))}, unreadable

    return Task(
        "charges",
        charges.VERSION,
        [Question(str(n), case.fact) for n, case in enumerate(cases)],
        [lambda articles, case=case: charges.prompt(case, articles) for case in cases],  # type: ignore[misc]
        score,
    )


def row(task: Task, name: str, replies: Sequence[Reply], *, seed: int, prices: Prices) -> ModelResult:
    """Return the numbers of one model in one context."""
    ratios, unreadable = task.score([reply.text for reply in replies])
    measures = {measure: ratio(*r, seed) for measure, r in ratios.items() if r[1].sum()}
    measures["unreadable"] = interval(unreadable, seed)
    lines = [
        {"system": name, "id": q.id, "values": {m: [r[0][n], r[1][n]] for m, r in ratios.items()}}
        for n, q in enumerate(task.questions)
    ]
    more = cost_summary([reply.usage for reply in replies if not reply.failed], prices)
    more["failed"] = sum(reply.failed for reply in replies)
    return ModelResult(name, len(replies), measures, more, lines)
