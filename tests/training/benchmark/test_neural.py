"""The benchmark beside the library: both sides compute the same; how long it took is no test's business."""

from __future__ import annotations

import re

import pytest

from rag.errors import BadInput
from tests.fakes.models.neural import NEEDS_TORCH
from training.benchmark import neural
from training.benchmark.neural import Sizes
from training.benchmark.timing import in_subprocess

pytestmark = NEEDS_TORCH

SMALL = Sizes(
    batch=6, mini_batch=2, others=(3,), words=10, width=16, articles=60, tokens=8, dim=16, terms=12,
    vocabulary=300, questions=4, question_tokens=6, times=1,
)  # fmt: skip


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # a fork with threads
@pytest.mark.filterwarnings("ignore:Sparse CSR tensor support:UserWarning")  # what the library multiplies
def test_ours_and_the_librarys_agree() -> None:
    lines: list[str] = []
    neural.measure(lines.append, SMALL)
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]
    ways = [row[0].rpartition(": ")[2] for row in rows]
    assert ways == [
        *("the library", "ours", "ours", "ours"),
        *("the library", "ours, of all", "ours, 20 proposed by tokens"),
        *("the library", "ours"),
    ]
    for row in rows[1:4]:
        losses = re.fullmatch(r"loss (\S+) and (\S+)", row[-1])
        assert losses is not None
        assert float(losses[1]) == pytest.approx(float(losses[2]), abs=2e-5)
    assert [rows[n][-1] for n in (5, 8)] == ["100.0 % of the first 10"] * 2
    proposed = re.match(r"[\d.]+", rows[6][-1])
    assert proposed is not None
    assert float(proposed[0]) > 50
    assert all(float(row[1]) >= 0 and float(row[2]) >= 0 for row in rows)
    assert all(float(row[3]) > 0 for row in (rows[1], rows[5], rows[8]))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_process_that_ends_early_is_told(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(BadInput, match="one way: the process that measured it ended early"):
        in_subprocess("one way", lambda: [lambda: 1 / 0])
    assert "ZeroDivisionError" in capfd.readouterr().err
