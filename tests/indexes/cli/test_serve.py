"""Which version `indexes serve` answers from, and what it says where it cannot begin."""

from __future__ import annotations

import sys
import threading
from typing import Any

import pytest

from indexes.__main__ import main
from indexes.cli import serve
from rag.errors import DamagedIndex
from tests.fakes.pages.ui_engine import FakeEngine


class Versions:
    """An installed index whose version a test changes; opening may fail, or wait."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now, self.opened, self.broken = "1", [], set[str]()
        self.may_open = threading.Event()
        self.may_open.set()
        monkeypatch.setattr(serve, "current_version", lambda _: self.now)
        monkeypatch.setattr(serve, "file_state", lambda _: self.now)
        monkeypatch.setattr(serve, "_open", self._open)
        self.law = serve.InstalledIndex("law")

    def _open(self, _: str | None, version: str) -> Any:
        self.opened.append(version)
        assert self.may_open.wait(10)
        if version in self.broken:
            raise DamagedIndex(f"version {version} is not what was built")
        return FakeEngine()


def test_the_version_in_use_is_opened_once_and_the_next_when_it_is_switched_in(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    versions = Versions(monkeypatch)
    first = versions.law.engine()
    assert versions.law.engine() is first
    versions.now = "2"
    second = versions.law.engine()
    versions.now = "1"
    assert (versions.law.engine(), versions.opened) == (first, ["1", "2"])  # the way back opens nothing
    assert second is not first


def test_a_version_that_cannot_be_opened_takes_no_law_from_who_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    versions = Versions(monkeypatch)
    first, versions.broken, versions.now = versions.law.engine(), {"2", "3"}, "2"
    assert versions.law.engine() is first
    versions.now = "3"
    anew = serve.InstalledIndex("law")
    with pytest.raises(DamagedIndex):
        anew.engine()


def test_while_a_version_is_opened_the_one_before_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    versions = Versions(monkeypatch)
    first, versions.now = versions.law.engine(), "2"
    versions.may_open.clear()
    opening = threading.Thread(target=versions.law.engine)
    opening.start()
    while "2" not in versions.opened:
        pass
    assert versions.law.engine() is first
    versions.may_open.set()
    opening.join()
    assert versions.law.engine() is not first


@pytest.mark.parametrize("command", [("serve",), ("mcp", "--http")])
def test_what_serving_lacks_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], command: tuple[str, ...]
) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    assert main(list(command)) == 2
    assert "the API needs uvicorn: run pip install '.[api]'" in capsys.readouterr().err
