"""Commands that are killed, lose their power or find no room on the disk; index files with other bits."""

from __future__ import annotations

import errno
import os
import resource
import shutil
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from random import Random
from typing import TypeAlias

import faiss

import indexes
from indexes.__main__ import main
from indexes.corpus.corpus import read, write
from indexes.store import open_index, paths
from indexes.update.reuse import Start
from indexes.update.update import refine
from rag.errors import MissingIndex, PandectError
from rag.feedback import Feedback
from rag.ltr.ranker import Ranker
from rag.ltr.trees import Trees
from tests.fakes.law.corpus import FIT, GOAT, edition, install
from tests.fakes.law.killed_worker import STEPS, WRITING
from tests.faults.inputs import Case
from tests.rag.test_feedback import WORD

QUESTIONS = (GOAT, "Mon pain a brûlé à cause d'un autre", "article 13")
WRITERS = ("build", "import", "update", "rollback", "remove", "fusion", "feedback")
KILLS = ("step", "power", "moment")
FULL = ("room", "refused")
MAKES = ("open", "os.link", "os.mkdir")  # what a full disk refuses; it renames and removes
# the law that answers, the corpus, and what was said of it; None: there is none
State: TypeAlias = tuple[tuple[object, ...] | None, str | None, frozenset[object]]


@dataclass(frozen=True)
class Fault:
    """What happens at which step on the disk: `step` or `power` kill, `room` or `refused` is a full disk."""

    how: str
    at: int = 0
    seconds: float = 0.0  # after which `moment` kills, from outside
    room: int = 0  # bytes that a file may still have, with `room`
    seed: int = 0


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    status: int  # negative: the signal that killed it
    said: str
    steps: int
    seconds: float


def state(home: Path) -> State:
    """Open everything, and tell what it says; what is damaged is raised."""
    kept = home / "feedback.sqlite"
    words = frozenset(Feedback(kept).words()) if kept.exists() else frozenset()
    law: tuple[object, ...] | None = None
    with suppress(MissingIndex):
        law = answers()
    corpus = paths.corpus_folder("village")
    return law, read(corpus).sha256 if corpus.exists() else None, words


def answers() -> tuple[object, ...]:
    """Open the index, ask it, and return which articles came with what scores."""
    engine = indexes.open("village")
    for thread in threading.enumerate():
        if thread.name == open_index.VERIFYING:
            thread.join()
    shown = (engine.ask(question, k=5).shown for question in QUESTIONS)
    return engine.info.corpus_sha256, *((each.article, each.score) for found in shown for each in found)


def work(writer: str, home: Path) -> int:
    """Do what a writer does, as its command does it."""
    law = str(home / "law")
    match writer:
        case "fusion":
            refine("village", Start.of("village"), Ranker(Trees((), ())), keep=2)
            return 0
        case "feedback":
            Feedback(home / "feedback.sqlite").keep(replace(WORD, version="new"))
            return 0
        case "rollback":
            oldest = min(path.name for path in paths.index_folder("village").iterdir() if path.is_dir())
            return main(["rollback", "village", oldest.removesuffix(".corpus")])
        case _:
            options = {
                "build": ["village", "--encoder", "none"],
                "import": [law, "--replace", "--name", "village"],
                "update": ["village", law, "--keep", "2"],
                "remove": ["village"],
            }[writer]
            return main([writer, *options])


def forked(home: Path, todo: Callable[[], int], fault: Fault | None = None) -> Ended:
    """Do something in a child, whose disk fails or who is killed as planned."""
    before = {(found.st_ino, found.st_mtime_ns) for path in home.rglob("*") if (found := path.stat())}
    (says, said), (counted, counts), begun = os.pipe(), os.pipe(), time.monotonic()
    child = os.fork()
    if child == 0:
        os.dup2(said, 1)
        os.dup2(said, 2)
        sys.stdout, sys.stderr = open(1, "w", closefd=False), open(2, "w", closefd=False)  # noqa: SIM115
        faiss.omp_set_num_threads(1)  # those of the parent are not here
        steps, status = [0], 70
        sys.addaudithook(_hook(fault or Fault("none"), home, before, steps))
        try:
            status = todo()
        except (PandectError, OSError) as error:  # as the commands do that are not `python -m indexes`
            sys.stderr.write(f"error: {error}\n")
            status = 2
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os.write(counts, str(steps[0]).encode())
            os._exit(status)
    os.close(said)
    os.close(counts)
    if fault is not None and fault.how == "moment":
        time.sleep(fault.seconds)
        os.kill(child, signal.SIGKILL)  # not yet waited for: the id is still its own
    with open(says, encoding="utf-8", errors="replace") as out, open(counted, "rb") as steps_out:  # noqa: PTH123
        words, number = out.read(), steps_out.read()
    _, status = os.waitpid(child, 0)
    return Ended(os.waitstatus_to_exitcode(status), words, int(number or 0), time.monotonic() - begun)


def _hook(
    fault: Fault, home: Path, before: set[tuple[int, int]], steps: list[int]
) -> Callable[[str, tuple[object, ...]], None]:
    """Return an audit hook that counts steps on the disk and fails at one, or at it and all that follow."""
    synced: dict[int, int] = {}

    def fsync(handle: int) -> None:  # the true one is most of the time, and nobody takes the plug out
        found = os.fstat(handle)
        synced[found.st_ino] = found.st_mtime_ns

    os.fsync = fsync  # type: ignore[assignment]

    def step(event: str, arguments: tuple[object, ...]) -> None:
        if event not in STEPS or (event == "open" and not int(str(arguments[2])) & WRITING):
            return
        steps[0] += 1
        if steps[0] == fault.at:
            if fault.how == "power":
                _lose(home, before, synced, Random(fault.seed))
            if fault.how in ("power", "step"):
                os.kill(os.getpid(), signal.SIGKILL)
            if fault.how == "room":
                resource.setrlimit(resource.RLIMIT_FSIZE, (fault.room, fault.room))
        if fault.how == "refused" and steps[0] >= fault.at and event in MAKES:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(arguments[0]))

    return step


def _lose(home: Path, before: set[tuple[int, int]], synced: dict[int, int], chance: Random) -> None:
    """Cut off what no fsync brought to the disk, as the end of power may."""
    for path in sorted(home.rglob("*")):
        found = path.stat()
        known = (found.st_ino, found.st_mtime_ns) in before or synced.get(found.st_ino) == found.st_mtime_ns
        if path.is_file() and not known:
            os.truncate(path, chance.randrange(found.st_size + 1))


def template(at: Path) -> Path:
    """Return a home with a law in two versions, a third that is not imported, and a word of feedback."""
    made = at / "template"
    if not made.exists():
        (part := at / "template.part").mkdir()

        def todo() -> int:
            os.environ["PANDECT_HOME"] = str(part)
            for n in (0, 1):
                install(edition(n), settings=FIT)
            write(edition(2), part / "law")
            Feedback(part / "feedback.sqlite").keep(WORD)
            return 0

        ended = forked(part, todo)
        assert ended.status == 0, ended.said
        part.rename(made)
    return made


def fresh(folder: Path, writer: str = "") -> Path:
    """Copy the template; to be built comes a law that is not yet."""
    home = folder / "home"
    shutil.rmtree(home, ignore_errors=True)
    shutil.copytree(template(folder.parent), home)
    os.environ["PANDECT_HOME"] = str(home)
    if writer == "build":
        install(edition(2), settings=None)
    return home


@cache
def undisturbed(writer: str, folder: Path) -> tuple[State, State, Ended]:
    """Return what stood before a writer, what stands after it, and how it ended."""
    home = fresh(folder, writer)
    before = state(home)
    ended = forked(home, lambda: work(writer, home))
    assert ended.status == 0, ended.said
    return before, state(home), ended


def attempt(writer: str, fault: Fault, folder: Path) -> dict[str, int]:
    """Disturb a writer; the former law stands whole or the new one, and the next writer tidies up."""
    before, after, _ = undisturbed(writer, folder)
    home = fresh(folder, writer)
    ended = forked(home, lambda: work(writer, home), fault)
    try:
        found = state(home)
    except PandectError as error:
        raise AssertionError(f"lost: {writer}, {fault}: {error}") from error
    parts = [{one, other} for one, other in zip(before, after, strict=True)]
    whole = found in (before, after) or (
        writer == "remove" and all(one in both for one, both in zip(found, parts, strict=True))
    )
    assert whole, f"lost: {writer}, {fault} left neither the former law nor the new one"
    assert ended.status != 0 or found == after, f"lost: {writer}, {fault} said that it was done"
    if fault.how in FULL and ended.status != 0:
        assert ended.status == 2, ended
        assert "error: " in ended.said, ended
        assert "Traceback" not in ended.said, ended
    again = forked(home, lambda: work(writer, home))
    assert again.status == 0 or (writer == "remove" and again.status == 2), again
    assert state(home) == after, f"lost: {writer} again after {fault} left something else"
    here = [path.name for name in ("indexes", "corpora") for path in (home / name).glob("*")]
    assert {*here} <= {"village"}, f"left behind by {writer}, {fault}: {here}"
    versions = home / "indexes" / "village"
    for path in versions.glob("*.*"):
        version, _, what = path.name.partition(".")
        made_after = what in (paths.AUDIT, paths.CONFIDENCE) and (versions / version).is_dir()
        assert made_after or what == "corpus", f"left behind by {writer}, {fault}: {path.name}"
    return {"killed" if ended.status < 0 else "told" if ended.status else "done": 1}


def disturbed_case(ways: tuple[str, ...], chance: Random, folder: Path) -> Case:
    """A writer that is disturbed in one of some ways, at a step of it by chance."""
    writer, how, where = chance.choice(WRITERS), chance.choice(ways), chance.random()
    room, seed = chance.choice((0, 1, 100, 1_000, 5_000, 20_000)), chance.getrandbits(32)
    if writer == "feedback":  # SQLite writes past Python, which sees no steps of it
        how = "moment" if "moment" in ways else "room"

    def run() -> dict[str, int]:
        ended = undisturbed(writer, folder)[2]
        at = 1 if writer == "feedback" else 1 + int(where * ended.steps)
        return attempt(writer, Fault(how, at, where * 1.1 * ended.seconds, room, seed), folder)

    return f"{writer}, {how}", run


def flip_case(chance: Random, folder: Path) -> Case:
    """An index of which a file is damaged: it is refused, or answers as before."""
    kind = chance.choice(("bits", "bits", "bits", "cut off", "longer", "missing"))
    large = chance.random() < 0.5  # as an index is opened whose hashes are compared later

    def run() -> dict[str, int]:
        before = undisturbed("rollback", folder)[0][0]
        home = fresh(folder)
        index = paths.current("village")
        files = sorted(path for path in index.rglob("*") if path.is_file())
        path = chance.choice([*files, index / "manifest.json", index.parent / "CURRENT"])
        content = bytearray(path.read_bytes())
        if kind == "missing":
            path.unlink()
        else:
            if kind == "bits":
                for _ in range(chance.choice((1, 1, 3, 64)) if content else 0):
                    content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
            elif kind == "cut off":
                del content[chance.randrange(len(content) + 1) :]
            else:
                content += chance.randbytes(chance.randint(1, 100))
            path.write_bytes(content)
        hashed, open_index.HASH_AT_OPENING = open_index.HASH_AT_OPENING, -1 if large else 2**30
        try:
            found = answers()
        except PandectError as error:
            assert str(error)  # noqa: PT017
            return {"refused": 1}
        finally:
            open_index.HASH_AT_OPENING = hashed
        assert found == before, f"through: {path.relative_to(home)} answers something else"
        return {"as before": 1}

    return kind, run
