"""Real law: its sentences pass as they stand, and what a lying model makes of them does not."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from rag.answer.types import AcceptedSentence, RejectedSentence
from rag.answer.verification.gate import CitationGate
from tests.fakes.answers.answers_from_law import drawn, lies

DRAWN = 150
LANGUAGES = ("fr", "de")


@pytest.mark.data
@pytest.mark.parametrize("language", LANGUAGES)
def test_sentences_of_the_law_pass_as_they_stand(data: Path, language: str) -> None:
    gate = CitationGate()
    found = drawn(data, language, DRAWN, 3)
    stopped = [
        one.text
        for one in found
        if isinstance(gate.check(one.said(one.text), [one.article]), RejectedSentence)
    ]
    assert len(found) == DRAWN
    assert not stopped


@pytest.mark.data
@pytest.mark.parametrize("language", LANGUAGES)
def test_what_a_lying_model_makes_of_them_is_stopped(data: Path, language: str) -> None:
    gate = CitationGate()
    made: Counter[str] = Counter()
    through: Counter[str] = Counter()
    for kind, statement, articles in lies(drawn(data, language, DRAWN, 3), language, 4):
        made[kind] += 1
        through[kind] += isinstance(gate.check(statement, articles), AcceptedSentence)
    assert not +through, f"{dict(+through)} of {dict(made)}"
    assert made["negation dropped"] > 10
    assert made["force changed"] > 10
