"""Versions are switched while questions are answered: every answer is from one version, wholly."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import indexes
from indexes.__main__ import main
from indexes.corpus.corpus import write
from indexes.store import manifest, open_index, paths
from indexes.store.paths import current_version
from rag.engine.engine import Engine
from rag.errors import DamagedIndex
from tests.fakes.law.corpus import FIT, GOAT, edition, first, install

LAST = 6
ASKED = "la version numérotée du droit du village"  # the article that tells the editions apart answers it


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PANDECT_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("PANDECT_INDEX", raising=False)
    return tmp_path / "home"


class Asking(threading.Thread):
    """Asks without a break, as a page does: an engine is opened when the version in use is another one."""

    def __init__(self, *, every_time: bool) -> None:
        super().__init__()
        self.every_time = every_time  # open the index for every question
        self.stopped = threading.Event()
        self.seen: dict[str, int] = {}  # the edition's article -> answers
        self.wrong: list[str] = []

    def run(self) -> None:
        by_hash = {edition(n).sha256: f"v-ed-{n}" for n in range(LAST + 1)}
        opened: str | None = None
        engine: Engine | None = None
        while not self.stopped.is_set():
            try:
                version = current_version("village")
                if engine is None or version != opened or self.every_time:
                    engine, opened = indexes.open("village"), version
                of = by_hash[engine.info.corpus_sha256]
                for mode in engine.modes:
                    ids = [shown.article.id for shown in engine.ask(ASKED, k=13, mode=mode).shown]
                    if [id_ for id_ in ids if id_.startswith("v-ed-")] != [of]:
                        self.wrong.append(f"{of} in use, {mode} answered {ids}")
                self.seen[of] = self.seen.get(of, 0) + 1
            except Exception as error:  # noqa: BLE001 - any error is what this test looks for
                self.wrong.append(repr(error))


@contextmanager
def asking() -> Iterator[list[Asking]]:
    threads = [Asking(every_time=False), Asking(every_time=True)]
    for thread in threads:
        thread.start()
    try:
        yield threads
    finally:
        for thread in threads:
            thread.stopped.set()
        for thread in threads:
            thread.join(60)


@pytest.mark.slow
def test_questions_are_answered_while_versions_change(home: Path, tmp_path: Path) -> None:
    install(edition(0), settings=FIT)
    before = indexes.open("village")
    answers = [before.ask(question, k=5) for question in (GOAT, ASKED)]
    with asking() as threads:
        for n in range(1, LAST + 1):  # from another process, as a host does it
            path = write(edition(n), tmp_path / f"law-{n}")
            words = ["rollback", "village"] if n % 4 == 0 else ["update", "village", str(path), "--keep", "2"]
            done = subprocess.run(
                [sys.executable, "-m", "indexes", *words], capture_output=True, text=True, check=False
            )
            assert done.returncode == 0, done.stderr
    for thread in threads:
        assert thread.wrong == []
        assert len(thread.seen) >= 3  # it saw several versions, and asked all the while
    assert not (paths.index_folder("village") / before.info.version).exists()
    assert [before.ask(result.question, k=5).shown for result in answers] == [r.shown for r in answers]
    assert before.info.corpus_sha256 == edition(0).sha256


def test_a_version_that_goes_while_it_is_opened_is_not_missed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    install(edition(0))
    read, left = manifest.read, [2]

    def slow(folder: Path, again: str) -> object:
        if left[0]:
            left[0] -= 1
            for n in (2 * left[0] + 1, 2 * left[0] + 2):  # enough that the version is deleted
                path = write(edition(n), tmp_path / f"law-{n}")
                assert main(["update", "village", str(path), "--keep", "2"]) == 0
            assert not folder.exists()
        return read(folder, again)

    monkeypatch.setattr(open_index, "read", slow)
    assert indexes.open("village").info.corpus_sha256 == edition(2).sha256
    assert first(indexes.open("village")) == "v-5"


def test_a_version_that_is_damaged_and_stays_is_told(home: Path) -> None:
    version = install(edition(0))
    (version / "manifest.json").unlink()
    with pytest.raises(DamagedIndex, match=r"manifest.json is missing"):
        indexes.open("village")


def test_the_version_that_would_be_opened(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert current_version("village") is None
    assert current_version("no name") is None
    assert current_version() == str(paths.builtin())
    version = install(edition(0))
    assert current_version("village") == current_version(home / "indexes/village") == str(version)
    monkeypatch.setenv("PANDECT_INDEX", "village")
    assert current_version() == str(version)
    (home / "indexes/village/CURRENT").write_text("nowhere\n", encoding="utf-8")
    assert current_version("village") is None


class Slow:
    """A store that answers when it is let."""

    def __init__(self) -> None:
        self.may, self.asked, self.version = threading.Event(), 0, "v1"

    def aliases(self) -> dict[str, str]:
        self.asked += 1
        self.may.wait(10)
        return {"builtin": f"builtin.{self.version}"}


def test_a_server_is_asked_once_a_second_and_a_silent_one_not_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    store, address = Slow(), "qdrant://nowhere:6333/builtin"
    monkeypatch.setattr(paths, "parse_address", lambda _: (store, "builtin"))
    monkeypatch.setattr(paths, "PATIENCE", 0.1)
    monkeypatch.setattr(paths, "_told", {})
    monkeypatch.setattr(paths, "REMEMBERED", 60.0)
    begin = time.monotonic()
    assert [current_version(address) for _ in range(5)] == [None] * 5
    assert time.monotonic() - begin < 1
    assert store.asked == 1
    store.may.set()
    monkeypatch.setattr(paths, "PATIENCE", 5.0)
    monkeypatch.setenv("PANDECT_INDEX", address)
    assert current_version() == str(paths.builtin())
    monkeypatch.setattr(paths, "REMEMBERED", 0.0)
    assert current_version(address) == str(paths.builtin())
    assert store.asked == 2
