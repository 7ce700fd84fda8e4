"""The most memory held from a moment on: what was let go before it does not count."""

from __future__ import annotations

import multiprocessing
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np
import pytest

from tests.fakes.models.neural import NEEDS_TORCH, here
from training.neural.trainer import resources
from training.neural.trainer.resources import SINCE_RESET, WHOLE_PROCESS, Watch, peak_memory, reset_peak

pytestmark = NEEDS_TORCH
MB = 1_000_000


def _held(megabytes: int) -> None:
    """Hold so much for a moment; so large a block goes back to the system at once."""
    assert np.ones(megabytes * MB, np.uint8)[-1] == 1


def _first_and_second(told: Connection) -> None:
    before = peak_memory()
    _held(200)
    first = peak_memory()
    anew = reset_peak()
    _held(50)
    told.send((first - before, first - peak_memory(), anew))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # a fork with threads
@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="it cannot fork")
def test_what_was_held_and_let_go_before_does_not_count() -> None:
    processes = multiprocessing.get_context("fork")  # one of its own, where nothing else comes and goes
    here_, there = processes.Pipe(duplex=False)
    child = processes.Process(target=_first_and_second, args=(there,))
    child.start()
    there.close()
    grown, less, anew = here_.recv()
    child.join()
    assert grown > 150 * MB
    if not anew:
        pytest.skip("this system cannot count anew")
    assert less > 100 * MB  # 200 and 50 apart


@pytest.mark.parametrize("lacks", ["status", "nothing"])
def test_where_the_system_cannot_it_is_the_most_of_all_and_says_so(
    lacks: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resources, "_COUNT_ANEW", tmp_path / "no folder" / "clear_refs")
    if lacks == "status":
        monkeypatch.setattr(resources, "_STATUS", tmp_path / "status")
    assert not reset_peak()
    assert peak_memory() > 10 * MB  # of any Python


@pytest.mark.parametrize("can", [True, False])
def test_a_training_says_what_its_memory_is_of(can: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resources, "reset_peak", lambda: can)
    found = Watch(here())
    assert found.of == (SINCE_RESET if can else WHOLE_PROCESS)
    assert found.peak() == pytest.approx(peak_memory(), rel=0.5)
