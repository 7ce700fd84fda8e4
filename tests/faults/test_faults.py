"""The command itself: what fails, hangs, dies, loses or lets through is found, named and made again."""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

import pytest

pytest.importorskip("lxml")

from rag.ui import html
from tests.faults import __main__ as command
from tests.faults import pages, store
from tests.faults.inputs import XML, Case
from tests.paths import ROOT

# of Python 3.12 on; what is forked has one thread of its own
pytestmark = pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")


def _bad(target: str, seed: int, number: int, folder: Path) -> Case:
    """Cases of which the third fails, the fifth hangs, the seventh dies.

    The ninth fills the memory, and the eleventh computes for too long.
    """
    del target, seed, folder

    def run() -> dict[str, int]:
        if number == 2:
            raise ValueError("no BadInput")
        if number == 4:
            time.sleep(60)
        if number == 6:
            os._exit(11)
        if number == 8:
            held = [b"\1" * 2**23 for _ in range(64) if command._peak() <= command.MEMORY]
            assert held
        if number == 10:
            began = time.process_time()
            while time.process_time() < began + 1:
                pass
        time.sleep(0.001)
        return {"tried": 1}

    return "kind", run


@pytest.mark.slow
def test_what_fails_hangs_dies_and_fills_memory_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    command._begin_peak()
    monkeypatch.setattr(command, "MEMORY", command._peak() + 30)
    monkeypatch.setattr(command, "case", _bad)
    monkeypatch.setattr(command, "CASES", 12)
    tally = command.disturb("flip", 7, seconds=60, limit=0.8)
    found = list(tally.failures)
    if not command._peak():  # no Linux
        found.insert(3, "--case flip:7:8 MiB")
    assert [failure.split()[1] for failure in found] == [f"flip:7:{n}" for n in (2, 4, 6, 8, 10)]
    for failure, says in zip(found, ("no BadInput", "hangs", "dies", "MiB", "of a core"), strict=True):
        assert says in failure
    assert (tally.kinds["kind"], tally.outcomes["tried"]) == (12, 9)


@pytest.mark.slow
def test_a_writer_that_is_not_atomic_loses_law(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PANDECT_HOME", "")  # which is set
    (folder := tmp_path / "0").mkdir()
    fault = store.Fault("power", 5, seed=1)  # with the first step behind the switch
    store.attempt("rollback", fault, folder)

    @contextmanager
    def replacing(path: Path) -> Iterator[Path]:
        yield path

    monkeypatch.setattr("indexes.store.atomic.replacing", replacing)
    with pytest.raises(AssertionError, match="lost"):
        store.attempt("rollback", fault, folder)


def test_markup_that_is_let_through_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert pages.MARKUP["about"]("about", Random(3), tmp_path) > 20
    monkeypatch.setattr(html, "_written", str)
    with pytest.raises(AssertionError, match=r"through|close"):
        pages.MARKUP["about"]("about", Random(3), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("target", XML)
def test_a_case_is_made_again(target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PANDECT_HOME", str(tmp_path / "home"))
    for number in range(12):
        written = []
        for again in ("a", "b"):
            folder = tmp_path / f"{again}{number}"
            folder.mkdir()
            kind, run = command.case(f"input-{target}", 1, number, folder)
            run()
            content = (folder / "act" / "a.xml").read_bytes() if (folder / "act" / "a.xml").exists() else b""
            written.append((kind, content))
        assert written[0] == written[1]


def test_the_command_says_what_failed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(command, "case", _bad)
    monkeypatch.setattr(command, "TARGETS", {"flip": command.TARGETS["flip"]._replace(seconds=0.8)})
    monkeypatch.setattr(command, "CASES", 6)
    monkeypatch.setenv("PANDECT_HOME", "")  # which the command sets
    out = tmp_path / "faults.json"
    assert command.main(["--targets", "flip", "--out", str(out)]) == 1
    assert '"failures": 2' in out.read_text("utf-8")
    said = capsys.readouterr().out
    assert "--case flip:1:2" in said
    assert "failures: 2" in said
    assert command.main(["--case", "flip:x"]) == 2
    with pytest.raises(ValueError, match="no BadInput"):
        command.main(["--case", "flip:1:2"])


def test_the_table_in_the_docs_is_what_was_measured() -> None:
    told = json.loads((ROOT / "docs/results/everyday/faults.json").read_text("utf-8"))
    cases: Counter[str] = Counter()
    for name, target in told["targets"].items():
        cases[name.partition("-")[0] if name.startswith(("input-", "text-")) else name] += target["cases"]
    section = (
        (ROOT / "docs/host.md").read_text("utf-8").partition("## Faults on purpose")[2].partition("\n## ")[0]
    )
    rows = [
        [cell.strip() for cell in line.split("|")] for line in section.splitlines() if line.startswith("|")
    ]
    assert [(row[1], row[3]) for row in rows[2:]] == [(name, f"{count:,}") for name, count in cases.items()]
    assert told["commit"][:8] in section
