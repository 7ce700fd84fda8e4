"""Whatever moment a build, an import or a removal is killed at, what was there before still works."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import indexes
from indexes.__main__ import main
from indexes.corpus.corpus import read, write
from indexes.store import paths, versions
from indexes.store.history import listed
from indexes.store.versions import DEFAULT_VERSIONS
from tests.fakes.law.corpus import FIT, edition, first, install
from tests.paths import ROOT

WORKER = ROOT / "tests" / "fakes" / "law" / "killed_worker.py"
KILLS = 16  # at moments drawn anew in each run; `python -m tests.faults` adds others
EVERY = 4  # steps of a build and of an update, which have many; the first by chance, so that runs reach all
PAUSE = 0.002  # seconds at each step on the disk, so that a moment by chance can fall between any two


class Worker:
    """A process that runs commands in children of its own, and kills them."""

    def __init__(self, home: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, str(WORKER)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={
                **os.environ,
                "PANDECT_HOME": str(home),
                "PYTHONPATH": str(ROOT),
                "OMP_NUM_THREADS": "1",
                "OPENBLAS_NUM_THREADS": "1",  # a process with threads is not safe to fork
            },
        )

    def __call__(self, *command: str | Path, pause: float = 0, **kill: float) -> Any:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        order = {"command": [str(part) for part in command], "pause": pause, **kill}
        self.process.stdin.write(json.dumps(order) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        assert answer, f"the worker ended at {order}"
        return json.loads(answer)

    def close(self) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        self.process.wait(timeout=30)
        self.process.stdout.close()


@pytest.fixture
def worker(home: Path) -> Iterator[Worker]:
    made = Worker(home)
    yield made
    made.close()


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PANDECT_HOME", str(tmp_path / "home"))
    # a killed process loses nothing that it wrote; waiting for the disk would be most of these tests
    monkeypatch.setattr(os, "fsync", lambda handle: None)
    return tmp_path / "home"


def serves(allowed: set[str]) -> str:
    """Open the index, ask it, and return which of the allowed editions it is."""
    engine = indexes.open("village")
    assert first(engine) == "v-5"
    assert engine.info.corpus_sha256 in allowed
    return engine.info.corpus_sha256


def put_corpus(n: int) -> str:
    """Put edition n where the corpora are, so that a build builds it."""
    install(edition(n), settings=None)
    return edition(n).sha256


def tidy(home: Path) -> None:
    """A whole build leaves whole versions, corpora of those that are not in use, audits, and nothing else."""
    assert main(["build", "village", "--encoder", "none"]) == 0
    left = {path.name for path in (home / "indexes" / "village").iterdir()}
    versions = {name for name in left if (home / "indexes" / "village" / name / "manifest.json").is_file()}
    assert len(versions) <= DEFAULT_VERSIONS
    assert paths.current("village").name in versions
    beside = {f"{version}.{what}" for version in versions for what in ("corpus", paths.AUDIT)}
    assert left - versions - {"CURRENT"} <= beside
    assert [path.name for path in (home / "corpora").iterdir()] == ["village"]
    assert [path.name for path in (home / "indexes").iterdir()] == ["village"]


BUILD = ("build", "village", "--encoder", "none")


def every_few() -> range:
    """Return the steps to kill at, and print the first, which a failure shows."""
    steps = range(random.SystemRandom().randint(1, EVERY), 1000, EVERY)
    print(steps)  # noqa: T201
    return steps


@pytest.mark.slow
def test_build_killed_before_every_fourth_of_its_steps(home: Path, worker: Worker) -> None:
    install(edition(0))
    before, outcomes = edition(0).sha256, []
    for step in every_few():
        wanted = put_corpus(step)
        ended = worker(*BUILD, step=step)
        after = serves({before, wanted})
        outcomes.append(after == wanted)
        before = after
        if not ended["killed"]:
            break
    assert step > 25  # every file that an index has, the switch and the tidying up
    assert outcomes[-1]
    # up to the switch the former one, from then on (the tidying up) the new one
    assert outcomes == sorted(outcomes)
    tidy(home)


def _sources(at: Path, n: int) -> Path:
    return write(edition(n), at / f"edition-{n}")


def kept() -> str:
    """Find the corpus as a build does, and return its identity."""
    with versions.only_one("village"):
        return read(paths.corpus_folder("village")).sha256


@pytest.mark.slow
def test_import_killed_before_each_of_its_steps(home: Path, worker: Worker, tmp_path: Path) -> None:
    install(edition(0))
    before, outcomes = edition(0).sha256, []
    for step in range(1, 1000):
        wanted = edition(step).sha256
        command = ("import", _sources(tmp_path, step), "--replace", "--name", "village")
        ended = worker(*command, step=step)
        assert paths.names() == ["village"]
        assert read(paths.corpus_folder("village")).sha256 in {before, wanted}  # also for who only reads
        after = kept()
        assert after in {before, wanted}
        outcomes.append(after == wanted)
        before = after
        if not ended["killed"]:
            break
    assert step > 8
    assert outcomes[-1]
    assert outcomes == sorted(outcomes)
    assert serves({edition(0).sha256})  # an import leaves the index alone
    tidy(home)


def agreed(allowed: set[str]) -> str:
    """Open the index and read the corpus, as they were left; both are of one and the same edition."""
    found = serves(allowed)
    corpus = read(paths.corpus_folder("village"))  # without the lock: nobody has tidied up yet
    assert corpus.sha256 == found
    [(id_, columns)] = corpus.extras.items()  # and of the edition are the columns that no index holds
    assert id_ == f"v-ed-{columns['edition']}"
    assert id_ in {article.id for article in corpus.articles}
    return found


def law_of_versions() -> dict[str, str]:
    """Version -> the identity of the corpus that it was built from."""
    manifests = paths.index_folder("village").glob("*/manifest.json")
    return {
        path.parent.name: json.loads(path.read_text(encoding="utf-8"))["corpus"]["sha256"]
        for path in manifests
        if "." not in path.parent.name
    }


@pytest.mark.slow
def test_update_killed_before_every_fourth_of_its_steps(home: Path, worker: Worker, tmp_path: Path) -> None:
    install(edition(0), settings=FIT)  # its encoder is kept: the files are linked
    before, outcomes = edition(0).sha256, []
    used = {paths.current("village").name}
    for n, step in enumerate(every_few()):
        wanted = edition(step).sha256
        command = ("update", "village", str(_sources(tmp_path, step)), "--keep", "4")
        ended = worker(*command, step=step)
        after = agreed({before, wanted})
        outcomes.append(after == wanted)
        used.add(paths.current("village").name)
        if n % 4 == 0 or after == wanted:  # the same again ends what was begun
            assert main(list(command)) == 0
            after = agreed({wanted})
            used.add(paths.current("village").name)
            assert law_of_versions().keys() <= used  # one that was killed before its switch is none
        with versions.only_one("village"):  # every version has its columns to go back to
            folder = paths.index_folder("village")
            for version in listed("village"):
                assert version.in_use or (folder / f"{version.name}.corpus").is_dir()
        before = after
        if not ended["killed"]:
            break
    assert step > 60  # the corpus, every file that an index has, the switch and the tidying up
    assert outcomes[-1]
    assert outcomes == sorted(outcomes)
    tidy(home)


@pytest.mark.slow
def test_rollback_killed_before_each_of_its_steps(home: Path, worker: Worker) -> None:
    versions = {edition(n).sha256: install(edition(n)).name for n in (0, 1)}
    before, other, outcomes = edition(1).sha256, edition(0).sha256, []
    for step in range(1, 1000):
        command = ("rollback", "village", versions[other])
        ended = worker(*command, step=step)
        after = agreed({before, other})
        outcomes.append(after == other)
        assert main(list(command)) == 0
        before, other = agreed({other}), before  # back and forth
        if not ended["killed"]:
            break
    assert step > 6
    assert outcomes[-1]
    assert outcomes == sorted(outcomes)
    assert outcomes.count(True) >= 2
    assert {path.name for path in (home / "indexes/village").iterdir()} == {
        *versions.values(),
        f"{versions[other]}.corpus",
        "CURRENT",
    }
    tidy(home)


@pytest.mark.slow
def test_whatever_is_killed_at_any_moment(home: Path, worker: Worker, tmp_path: Path) -> None:
    install(edition(0), settings=FIT)
    seed = int(os.environ.get("PANDECT_KILL_SEED", random.SystemRandom().randrange(2**32)))
    print(f"PANDECT_KILL_SEED={seed}")  # noqa: T201  which a failure shows, to be given again
    chance, now = random.Random(seed), edition(0).sha256
    killed = dict.fromkeys(("update", "rollback", "build", "import"), 0)
    longest = dict.fromkeys(killed, 0.5)  # seconds of a command that was left alone
    for n in range(1, 10 * KILLS):
        path, versions = str(_sources(tmp_path, n)), law_of_versions()
        kind, version = chance.choice([*killed, "update"]), chance.choice(sorted(versions))
        command, wanted = {
            "update": (("update", "village", path, "--keep", "3"), edition(n).sha256),
            "rollback": (("rollback", "village", version), versions[version]),
            "build": (BUILD, now),
            "import": (("import", path, "--replace", "--name", "village"), edition(n).sha256),
        }[kind]
        ended = worker(*command, pause=PAUSE, seconds=chance.random() * longest[kind])
        killed[kind] += ended["killed"]
        if not ended["killed"]:
            longest[kind] = ended["seconds"]
        if kind == "import":  # it leaves the index alone
            serves({now})
            assert kept() in {now, wanted}
            assert main(list(command)) == 0
            assert kept() == wanted
            command = BUILD
        else:
            agreed({now, wanted})
        assert main(list(command)) == 0  # the same again succeeds
        now = agreed({wanted})
        if sum(killed.values()) >= KILLS and all(killed.values()):
            break
    assert sum(killed.values()) >= KILLS
    assert all(killed.values())
    tidy(home)


@pytest.mark.slow
def test_removal_killed_before_each_of_its_steps(home: Path, worker: Worker) -> None:
    for step in range(1, 1000):
        install(edition(step))
        ended = worker("remove", "village", step=step)
        assert main(["list"]) == 0
        if not ended["killed"]:
            break
        if "village" in paths.names():  # what is left of it can be built and opened again
            assert (
                main(["build", "village", "--encoder", "none"]) == 0
                or not (home / "corpora/village").exists()
            )
            assert main(["remove", "village"]) == 0
        assert paths.names() == []
    assert step > 8
    assert paths.names() == []
    install(edition(0))
    tidy(home)


def test_a_full_disk_leaves_the_former_index(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(edition(0))
    put_corpus(1)

    def full(*given: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("indexes.build.build.stamp", full)
    assert main(["build", "village", "--encoder", "none"]) == 2
    serves({edition(0).sha256})
    assert {path.suffix for path in (home / "indexes/village").iterdir()} <= {"", ".corpus"}
