"""What is open stays out of the collector's way, and what was closed is freed all the same."""

from __future__ import annotations

import gc
import os
import platform
import subprocess
import sys
import threading
import time
import tomllib
import weakref
from collections.abc import Iterator

import pytest

from rag.memory import closed, settle
from tests.paths import ROOT

CONFIG = ROOT / ".streamlit" / "config.toml"


class _Knot:
    """Something that refers to itself, as parts of an engine do."""

    def __init__(self) -> None:
        self.itself = self


@pytest.fixture(autouse=True)
def _thawed() -> Iterator[None]:
    for thread in threading.enumerate():  # what other tests closed would be freed, and all thawed, meanwhile
        if isinstance(thread, threading.Timer):
            thread.cancel()
            thread.join()
    yield
    gc.unfreeze()


def test_what_is_open_is_not_looked_at_again() -> None:
    knot = _Knot()
    settle()
    assert gc.get_freeze_count() > 1000  # the interpreter alone is more
    assert not any(each is knot for each in gc.get_objects())


@pytest.mark.slow
def test_what_was_settled_and_is_closed_goes_at_the_next_time() -> None:
    knot = _Knot()
    gone = weakref.ref(knot)
    settle()
    del knot
    gc.collect()
    assert gone() is not None  # frozen: the collector does not see that nobody holds it
    settle()
    assert gone() is None


@pytest.mark.slow
def test_what_was_settled_before_it_was_closed_goes_a_little_later() -> None:
    knot = _Knot()
    gone = weakref.ref(knot)
    settle()  # of the index that takes its place, which was warm before this one was let go
    closed(knot, after=0.01)
    del knot
    end = time.monotonic() + 10
    while gone() is not None and time.monotonic() < end:
        time.sleep(0.01)
    assert gone() is None


@pytest.mark.slow
def test_what_sessions_leave_behind_is_freed_soon_however_large_the_index_is() -> None:
    index = [[n] for n in range(500_000)]
    settle()
    knot = _Knot()
    gone = weakref.ref(knot)
    gc.collect(1)  # it is old by now, as a session is that ends
    del knot
    others = [[n] for n in range(100_000)]  # which come meanwhile
    assert gone() is None
    assert len(others) < len(index)


def test_streamlit_does_not_collect_after_every_run() -> None:
    assert tomllib.loads(CONFIG.read_text(encoding="utf-8"))["runner"]["postScriptGC"] is False


def test_threads_share_their_memory_where_the_allocator_can() -> None:
    command = (
        "from rag.memory import share_arenas\nprint(share_arenas(), share_arenas.cache_info().currsize)\n"
    )
    linux = platform.libc_ver()[0] == "glibc"
    for chosen, expected in (({}, linux), ({"MALLOC_ARENA_MAX": "4"}, False)):
        around = {k: v for k, v in os.environ.items() if k != "MALLOC_ARENA_MAX"} | chosen
        said = subprocess.run([sys.executable, "-c", command], env=around, capture_output=True, text=True)
        assert said.stdout.split() == [str(expected), "1"], said.stderr
