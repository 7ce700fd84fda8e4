from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.corpus.quality import (
    QualityResults,
    ReliabilityBin,
    SystemQuality,
    Topic,
    TopicRate,
    recall_by_cutoff,
    wilson,
)
from rag.errors import BadInput

RATE = (
    st.lists(st.floats(0, 1), min_size=3, max_size=3).map(sorted).map(lambda r: TopicRate(r[1], r[0], r[2]))
)
SYSTEMS = st.dictionaries(
    st.text(),
    st.builds(SystemQuality, st.dictionaries(st.text(), RATE), st.floats(0, 1e6), st.floats(0, 1e6)),
    min_size=1,
)
TOPICS = st.dictionaries(
    st.text(), st.integers(1, 99).flatmap(lambda n: st.builds(Topic, st.just(n), st.integers(0, n)))
)


@given(SYSTEMS, TOPICS, st.none() | st.text())
def test_what_is_written_is_read(
    systems: dict[str, SystemQuality], topics: dict[str, Topic], learnt: str | None
) -> None:
    measured = QualityResults(
        "a", 3, next(iter(systems)), systems, topics, (ReliabilityBin(0.0, 0.5, 2, 0.1, 0.2),), learnt
    )

    assert QualityResults.from_json(measured.to_json()) == measured


GOOD = json.loads(QualityResults("a", 3, "x", {"x": SystemQuality({}, 1.0, 2.0)}, {}).to_json())

BAD_RATE = {"measures": {"R@1": {"value": 2, "low": 0, "high": 1}}, "median_ms": 1, "p95_ms": 1}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "null",
        "{}",
        json.dumps(GOOD | {"format": 2}),
        json.dumps(GOOD | {"odd": 1}),
        json.dumps(GOOD | {"answers_with": "y"}),
        json.dumps(GOOD | {"topics": {"t": {"questions": 0, "found": 0}}}),
        json.dumps(GOOD | {"topics": {"t": {"questions": 2, "found": 3}}}),
        json.dumps(GOOD | {"systems": {"x": BAD_RATE}}),
        json.dumps(GOOD | {"systems": {"x": []}}),
    ],
)  # fmt: skip
def test_what_is_no_result_file_is_refused(text: str) -> None:
    with pytest.raises(BadInput):
        QualityResults.from_json(text)


def test_wilson_by_hand() -> None:
    rate = wilson(8, 10)  # (0.8 + 3.8415/20 ± 1.96 √(0.016 + 3.8415/400)) / 1.38415

    assert rate.value == 0.8
    assert rate.low == pytest.approx(0.4902, abs=1e-4)
    assert rate.high == pytest.approx(0.9433, abs=1e-4)
    assert wilson(10, 10).high == 1.0
    assert wilson(10, 10).low == pytest.approx(0.7225, abs=1e-4)
    assert wilson(0, 4).low == 0.0


@given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_a_wilson_interval_holds_its_share(pair: tuple[int, int]) -> None:
    found, of = pair
    assert wilson(found, of).value == found / of  # and Rate refuses another order


def test_cut_offs_are_in_order() -> None:
    rate = TopicRate(0.5, 0.5, 0.5)
    system = SystemQuality({"R@100": rate, "MRR@10": rate, "R@5": rate, "R-precision": rate}, 1, 1)

    assert list(recall_by_cutoff(system)) == [5, 100]
