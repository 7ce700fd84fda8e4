"""The lying model: every false citation and altered quote is stopped, and no true sentence is."""

from __future__ import annotations

from collections import Counter

import pytest

from rag.answer.types import AcceptedSentence, RejectedSentence
from rag.answer.verification.gate import CitationGate
from tests.fakes.answers.false_answers import LIES, lies, truths

EACH = 90  # of seven kinds: 630 lies, and as many truths
SEEDS = (7, 2024)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", LIES)
def test_every_lie_is_stopped(kind: str, seed: int) -> None:
    gate = CitationGate()
    cases = [case for case in lies(EACH, seed) if case.kind == kind]
    assert len(cases) == EACH
    through = [
        case.statement
        for case in cases
        if isinstance(gate.check(case.statement, case.articles), AcceptedSentence)
    ]
    assert not through, f"{len(through)} of {EACH} through, such as {through[:3]}"


@pytest.mark.parametrize("seed", SEEDS)
def test_no_truth_is_stopped(seed: int) -> None:
    gate = CitationGate()
    cases = list(truths(EACH * len(LIES), seed))
    stopped = [
        (found.faults, case.statement)
        for case in cases
        if isinstance(found := gate.check(case.statement, case.articles), RejectedSentence)
    ]
    assert not stopped, f"{len(stopped)} of {len(cases)} stopped, such as {stopped[:3]}"
    assert Counter(case.kind for case in cases)["true of two"] > 50
