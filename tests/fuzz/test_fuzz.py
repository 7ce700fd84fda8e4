"""The fuzzing command itself: what fails, hangs or dies is found, named and made again."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

pytest.importorskip("lxml")

from tests.fuzz import __main__ as command
from tests.fuzz.acts import Case


def _bad(target: str, seed: int, number: int, folder: Path) -> Case:
    """Cases of which the third fails, the fifth hangs, the seventh kills its process."""
    del target, seed, folder

    def run() -> None:
        if number == 2:
            raise ValueError("no BadInput")
        if number == 4:
            time.sleep(60)
        if number == 6:
            os._exit(11)
        time.sleep(0.001)

    return "kind", run


def test_what_fails_hangs_and_dies_is_found_and_the_rest_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "case", _bad)
    tally = command.fuzz("fr", 7, seconds=1.5, limit=0.5)
    assert [failure.partition(" ")[2].partition(" ")[0] for failure in tally.failures] == [
        "fr:7:2", "fr:7:4", "fr:7:6",
    ]  # fmt: skip
    for failure, says in zip(tally.failures, ("no BadInput", "hangs", "dies"), strict=True):
        assert says in failure
    assert tally.kinds["kind"] > 10


@pytest.mark.parametrize("target", command.IMPORTERS)
def test_a_case_is_made_again(target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PANDECT_HOME", str(tmp_path / "home"))
    for number in range(12):
        written = []
        for again in ("a", "b"):
            folder = tmp_path / f"{again}{number}"
            folder.mkdir()
            kind, run = command.case(target, 1, number, folder)
            run()
            written.append((kind, (folder / "a.xml").read_bytes()))
        assert written[0] == written[1]


def test_the_command_says_what_failed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "case", _bad)
    monkeypatch.setattr(command, "SECONDS", 0.5)
    monkeypatch.setenv("PANDECT_HOME", "")  # which the command sets
    assert command.main(["--minutes", "0.005", "--targets", "fr"]) == 1
    out = capsys.readouterr().out
    assert "--case fr:1:2" in out
    assert "failures: 2" in out
    assert command.main(["--case", "fr:x"]) == 2
    with pytest.raises(ValueError, match="no BadInput"):
        command.main(["--case", "fr:1:2"])
