"""Parts of an evaluation side by side: what is refused, and how a part that fails is told."""

from __future__ import annotations

import os
import sys
from types import ModuleType

import pytest

from indexes.cli.progress import Bars
from rag.errors import BadInput
from tests.fakes.ranking.benchmark import CORPUS, QUESTIONS
from training.eval import folds as eval_parts
from training.eval.context import Extra
from training.eval.folds import FORKS, FoldEvaluation, ask
from training.eval.workbench import Bench

PLAN = [(list(QUESTIONS[n::2]), list(QUESTIONS[1 - n :: 2]), []) for n in (0, 1)]
forks = pytest.mark.skipif(not FORKS, reason="nothing forks here")


@pytest.fixture(autouse=True)
def _without_lightgbm(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other tests of this process may have used it; nothing here does."""
    monkeypatch.delitem(sys.modules, "lightgbm", raising=False)


def evaluation(*names: str) -> FoldEvaluation:
    return FoldEvaluation(Bench(CORPUS), names or ("bm25",), PLAN, (), tune=False)


@forks
def test_parts_come_in_their_order() -> None:
    for jobs in (1, 2):
        chosen, collected = ask(evaluation(), jobs, Bars())
        assert len(chosen) == 2
        assert collected["bm25"].folds == [[q.id for q in held] for held, _, _ in PLAN]
        assert list(collected["bm25"].run) == [q.id for held, _, _ in PLAN for q in held]
        assert len(collected["bm25"].seconds) == len(QUESTIONS)


@forks
def test_what_fails_in_a_part_is_told_as_it_is() -> None:
    with pytest.raises(BadInput, match="no system 'bm26'"):
        ask(evaluation("bm26"), 2, Bars())


@forks
def test_a_process_that_is_ended_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FoldEvaluation, "part", lambda self, number: os._exit(9))
    with pytest.raises(BadInput, match=r"--jobs 2: a process was ended from outside.*give fewer"):
        ask(evaluation(), 2, Bars())


def test_where_nothing_forks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(eval_parts, "FORKS", False)
    with pytest.raises(BadInput, match="--jobs 2: this system cannot fork: leave --jobs out"):
        ask(evaluation(), 2, Bars())


def test_models_that_are_brought_and_threads_that_are_there(monkeypatch: pytest.MonkeyPatch) -> None:
    brought = evaluation()
    brought.bench.more = {"mine": Extra.__new__(Extra)}
    with pytest.raises(BadInput, match="--jobs 2: models that are brought are asked one part"):
        ask(brought, 2, Bars())
    monkeypatch.setitem(sys.modules, "lightgbm", ModuleType("lightgbm"))
    with pytest.raises(BadInput, match="--jobs 2: LightGBM has run in this process"):
        ask(evaluation(), 2, Bars())
