from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from indexes.__main__ import main
from indexes.cli.feedback import lines
from indexes.describing.significance import Interval
from indexes.store import paths
from indexes.update.feedback_gain import LEAST, FeedbackGain, _gain, measure
from indexes.update.reuse import Start
from rag.types import Question
from tests.fakes.law.corpus import FIT, VILLAGE, install

LAY = ("bique", "cabot", "gigue", "miche", "carriole", "flotte", "lessive", "bagnole")  # words of no article
GOLD = ("v-5", "v-6", "v-10", "v-4", "v-9", "v-1", "v-2", "v-8")


def said(each: int) -> list[Question]:
    """Questions in words that the law has not; the same words, the same answer."""
    return [
        Question(f"feedback-{i}", f"{lay} {'abcdefgh'[n]}{lay[::-1]} encore", (gold,), "feedback")
        for n in range(each)
        for i, (lay, gold) in enumerate(zip(LAY, GOLD, strict=True), start=n * len(LAY))
    ]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PANDECT_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def test_too_few_are_told_with_how_many_are_needed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    install(replace(VILLAGE, questions=(*VILLAGE.questions, said(1)[0])))
    file = tmp_path / "said.jsonl"
    file.write_text(lines((question, ()) for question in (*said(1), *said(1))), encoding="utf-8")

    assert main(["feedback", "gain", "village", str(file)]) == 2  # two of one id
    assert "feedback-0" in capsys.readouterr().err
    file.write_text(lines((question, ()) for question in said(1)), encoding="utf-8")
    assert main(["feedback", "gain", "village", str(file)]) == 0  # one of the eight is known already
    assert capsys.readouterr().out == f"too few to measure a gain: 7 questions, {LEAST} are needed\n"


@pytest.mark.parametrize(
    ("low", "high", "told"),
    [
        (0.01, 0.09, "learning from them helps"),
        (-0.09, -0.01, "learning from them harms"),
        (-0.02, 0.09, "no gain is shown; to tell one of 0.05 from none takes about 410 questions"),
    ],
)
def test_what_is_told_hangs_on_the_interval(low: float, high: float, told: str) -> None:
    by = Interval((low + high) / 2, low, high)
    found = list(FeedbackGain(30, (0.5, 0.6), (0.55, 0.6), (by, Interval(0, 0, 0)), 410).lines())
    assert any(told in line for line in found)
    assert f"0.500 -> 0.550   {by.value:+.3f} [{low:+.3f}, {high:+.3f}]" in found[1]


def test_one_question_that_many_ask_is_no_gain_of_many() -> None:
    by = np.tile([0.1, -0.1], 10)
    once = _gain(np.zeros((20, 2)), np.stack([by, by], axis=1), range(20), 1)
    assert once.difference[0].low < 0 < once.difference[0].high
    often = np.repeat(np.stack([by, by], axis=1), [200, *[1] * 19], axis=0)  # the first, which gains
    groups = [0] * 200 + list(range(1, 20))
    asked = _gain(np.zeros_like(often), often, groups, 1)
    assert asked.questions == 20
    assert asked.needed == once.needed
    assert asked.difference[0].value == pytest.approx(0)
    for found, expected in zip(asked.difference, once.difference, strict=True):
        assert (found.low, found.high) == pytest.approx((expected.low, expected.high))


@pytest.mark.slow
def test_words_that_the_law_has_not_are_learnt_from_other_folds_and_nothing_is_switched(home: Path) -> None:
    version = install(settings=FIT)
    before = sorted(home.rglob("*"))
    found = measure(Start.of("village"), said(5))

    assert found.questions == 40
    assert found.after[0] > found.before[0] + 0.2
    assert found.difference[0].low > 0
    assert found.difference[0].value == pytest.approx(found.after[0] - found.before[0])
    assert found == measure(Start.of("village"), said(5))
    assert paths.current("village") == version
    assert sorted(home.rglob("*")) == before

    same = [replace(question, id=f"{question.id}-{n}") for question in said(3) for n in range(3)]
    assert measure(Start.of("village"), same).questions == 24  # who ask alike are one, in one fold
