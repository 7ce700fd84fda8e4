"""Examination questions and charges: what a model replies with and without articles."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from indexes.describing.significance import interval, ratio
from rag.types import Article, Question
from training.answers import charges, multiple_choice
from training.answers.aggregate import ModelResult, Prices, cost_summary
from training.answers.chat import Reply
from training.answers.score import Ratio, Values

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
    """Return the task of a file in JEC-QA's format, of the questions that are chosen of so many.

    A line of another format is `BadInput`.
    """
    items = multiple_choice.load(path)
    items = [items[n] for n in choose(len(items))]
    questions = [Question(str(n), item.searched) for n, item in enumerate(items)]
    prompts = [partial(multiple_choice.prompt, item) for item in items]
    score = partial(multiple_choice.accuracy, items)
    return Task("multiple choice", multiple_choice.VERSION, questions, prompts, score)


def convictions(path: Path, choose: Callable[[int], Sequence[int]]) -> Task:
    """Return the task of a file in CAIL 2018's format; see `examination`."""
    cases = charges.load(path)
    cases = [cases[n] for n in choose(len(cases))]
    questions = [Question(str(n), case.fact) for n, case in enumerate(cases)]
    prompts = [partial(charges.prompt, case) for case in cases]
    return Task("charges", charges.VERSION, questions, prompts, partial(charges.accuracy, cases))


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
