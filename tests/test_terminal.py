"""Every command of `python -m` spells out what would act on a terminal, or what the terminal cannot show."""

from __future__ import annotations

import argparse
import io
import logging
import os
import subprocess
import sys
from importlib import import_module

import pytest

from indexes.cli import terminal
from tests.paths import ROOT

HOSTILE = "\x1b[2J\x9b31m\x07\u202e\udcff"  # clears, colours, rings, turns the direction; no UTF-8
TALKS_TO_ITS_PARENT = "training/benchmark/growth.py"  # in JSON
COMMANDS = sorted(
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__main__")
    for package in ("indexes", "rag", "training")
    for path in (ROOT / package).rglob("*.py")
    if '__name__ == "__main__"' in path.read_text("utf-8") and path != ROOT / TALKS_TO_ITS_PARENT
)


def main_of(command: str) -> object:
    try:
        return import_module(f"{command}.__main__").main
    except ModuleNotFoundError:
        return import_module(command).main


def test_the_commands_are_found() -> None:
    assert len(COMMANDS) > 15
    assert {"indexes", "training.eval", "training.train"} <= set(COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_guards_what_it_says(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A new command that forgets `guarded` fails here."""
    main = main_of(command)
    assert getattr(main, "guarded", False), f"put @guarded on main of {command}"
    monkeypatch.setattr(argparse.ArgumentParser, "parse_known_args", lambda self, *_: self.error(HOSTILE))
    for encoding in ("ascii", "latin-1", "utf-8"):
        kept = io.BytesIO()
        for name in ("stdout", "stderr"):
            monkeypatch.setattr(sys, name, io.TextIOWrapper(kept, encoding, write_through=True))
        with pytest.raises(SystemExit, match="2"):
            main([])  # type: ignore[operator]
        said = kept.getvalue().decode(encoding)
        assert "\\x1b[2J" in said
        assert not ({*HOSTILE} - {*"[2J31m"}) & {*said}


def test_an_error_that_nobody_caught() -> None:
    code = "from indexes.cli.terminal import guarded\n@guarded\ndef main(a): raise KeyError(chr(27))\nmain()"
    environ = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, env=environ, check=False)
    assert b"KeyError" in done.stderr
    assert b"\x1b" not in done.stderr


def test_the_log_of_a_server(caplog: pytest.LogCaptureFixture) -> None:
    former = logging.getLogRecordFactory()
    try:
        terminal.guard_log()
        logging.getLogger("rag.ui").error("%s is damaged", HOSTILE)
        logging.getLogger("other").error("%s", "as it is")
    finally:
        logging.setLogRecordFactory(former)
    assert not {"\x1b", "\x9b", "\x07", "\u202e"} & set(caplog.text)
    assert "\\x1b[2J" in caplog.text
    assert caplog.records[1].args == ("as it is",)
