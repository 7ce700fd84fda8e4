"""The law of a server for the page of its operators: each thing that it does is a command of `indexes`.

A command runs beside the page, in a process group of its own; its words go into a file under PANDECT_HOME.
So it outlives the page, and ending it is what ending a command is: the store keeps what was there.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

from indexes.build.learned_fusion import has_learned_fusion
from indexes.cli import feedback
from indexes.cli.terminal import printable
from indexes.corpus.card import FILE as CARD
from indexes.corpus.card import read_card
from indexes.describing.audit import load
from indexes.download import resolve
from indexes.sources import table
from indexes.store import history, paths, versions
from indexes.store.atomic import replacing, switch
from indexes.store.manifest import read, verify
from rag.corpus.licence import licence_of
from rag.errors import BadInput, MissingIndex, PandectError
from rag.feedback import FeedbackReason, count_feedback, from_environment
from rag.library import Command, ImportRequest, InstalledLaw, InstalledVersion, Job, JobState, SaidQuestion

SHOWN = 64 * 2**10  # bytes of a log, from its end
GRACE = 5.0  # seconds that a command has to end
_DRY = "--dry-run"
_WRAP = '"$@"; echo $? >"$0"'  # for sh: a page that was started again has no other way to learn the status
_BAR = re.compile(r"(?P<step>.+?): +(?P<percent>\d+)%\|")  # as tqdm draws it
_FILE = re.compile(r"[\w.\- ]{1,100}")
_OURS_ALONE = "PANDECT_OPERATOR_PASSWORD"


class ServerLibrary:
    """The law under PANDECT_HOME; a `rag.library.OperatorLibrary`."""

    def installed(self) -> list[InstalledLaw]:
        """Return what there is; the index that ships is the first."""
        return [_law(name) for name in (paths.BUILTIN, *paths.names())]

    def opened(self) -> str:
        """Return the name or path of the index that the page opens."""
        return paths.default_index()

    def may_open(self) -> bool:
        """Tell whether another may be opened from here: a setting that names one is the server's."""
        return not os.environ.get("PANDECT_INDEX")

    def open(self, name: str) -> None:
        """Have page and API open this law from the next question on, this process and those that follow."""
        if not self.may_open():
            raise BadInput(
                f"PANDECT_INDEX={paths.default_index()} names the law of this server, got {name!r}: start it "
                "without that setting to choose here"
            )
        law = _law(name if name == paths.BUILTIN else paths.checked_name(name))
        if law.problem or not law.built:
            raise BadInput(law.problem or f"{name} is not built: run {paths.rebuild(name)}")
        paths.home().mkdir(parents=True, exist_ok=True)
        switch(paths.home(), name, paths.DEFAULT)

    def columns(self, path: str, sha256: str = "") -> tuple[str, ...]:
        """Return the columns of a table on the server or fetched by a preview; () of anything else."""
        file = resolve.present(path, sha256)
        return table.columns(file) if file is not None and table.is_table(file.name) else ()

    def upload(self, name: str, content: bytes) -> str:
        """Keep a file for the next import; return its path, which no other content has.

        When another comes it goes, unless a job runs or it was begun with this file.
        """
        if not _FILE.fullmatch(name) or name.startswith("."):
            raise BadInput(f"a file named {name!r} came: letters, digits, blanks, . - _ were expected")
        return _keep("upload", name, content)

    def preview(self, request: ImportRequest) -> None:
        """Begin to read law and say what an import would keep; nothing is written."""
        if not request.path or request.path.startswith("-"):
            raise BadInput("name a file or folder of this server, an address, or a data set of the hub")
        _free(request.name, replace=request.replace)
        options = {**request.card, "name": request.name, "sha256": request.sha256}
        typed = [f"--{key}={value}" for key, value in options.items() if value]
        typed += [f"--column={field}={column}" for field, column in request.columns.items() if column]
        replaced = ["--replace"] if request.replace else []
        _start(Command.PREVIEW, request.name, ["import", *typed, *replaced, _DRY, request.path])

    def install(self, number: int) -> None:
        """Begin to import what the preview of this number looked at, as it did, and to build its index."""
        record, job = _record(), self.job()
        if record is None or job is None or (job.command, job.state) != (Command.PREVIEW, JobState.DONE):
            raise BadInput("nothing was looked at before: look at the law that is to be imported")
        if job.number != number:
            raise BadInput("other law has been looked at since: look again at the law that is to be imported")
        *options, path = ("--build" if word == _DRY else word for word in record["arguments"])
        commit = resolve.fetched_commit(path)  # the hub may have another by now
        if commit is None and resolve.hub_dataset(path) is not None:
            raise BadInput("what was fetched of the hub is not there any more: look at it again")
        typed = [*options, *([f"--revision={commit}"] if commit else []), path]
        _start(Command.IMPORT, record["name"], typed)

    def begin(self, command: Command, name: str, version: str = "") -> None:
        """Begin to build, check, audit, roll back or remove."""
        if name != paths.BUILTIN or command is not Command.CHECK:
            paths.checked_name(name)
        if command is Command.REMOVE and self.may_open() and name == paths.default_index():
            raise BadInput(f"{name} is the law that is open, got its removal: open another one first")
        _start(command, name, [str(command), name, *([version] if version else [])])

    def job(self) -> Job | None:
        """Return the last job; None if there never was one."""
        record = _record()
        if record is None:
            return None
        running = _running()
        try:
            status = (_folder() / "status").read_text(encoding="utf-8").strip()
        except OSError:
            status = ""
        state = JobState.RUNNING if running else JobState.STOPPED if not status else JobState.FAILED
        lines = _said()
        step, share = "", None
        if running and lines and (bar := _BAR.match(lines[-1])):
            step, share = bar["step"], min(int(bar["percent"]) / 100, 1.0)
        state = JobState.DONE if status == "0" and not running else state
        log = printable("\n".join(lines))
        return Job(Command(record["command"]), record["name"], state, log, step, share, record["group"])

    def stop(self) -> None:
        """End the job that runs; what was there before it is whole, and what it left behind goes."""
        record = _record()
        if record is None:
            return
        for number in (signal.SIGTERM, signal.SIGKILL):
            end = time.monotonic() + GRACE
            with suppress(ProcessLookupError):
                if _running():
                    os.killpg(record["group"], number)
            while _running() and time.monotonic() < end:
                time.sleep(0.05)
        if (paths.home() / "locks" / f"{record['name']}.lock").is_file():
            with suppress(PandectError), versions.only_one(record["name"]):
                pass  # whoever takes the lock puts right what a killed process left

    def feedback(self) -> Mapping[str, Mapping[FeedbackReason, int]] | None:
        """Return index -> reason -> words; None where none is kept."""
        store = from_environment(os.environ)
        return None if store is None else count_feedback(list(store.words()) if store.begun else [])

    def said(self, name: str) -> list[SaidQuestion]:
        """Return the annotated questions that come of what people said of an index."""
        store = from_environment(os.environ)
        made = (
            feedback.annotated_of(name, store.words()) if store is not None else feedback.FeedbackExport(())
        )
        return [SaidQuestion(question, wrong) for question, wrong in made.questions]

    def measure(self, name: str, accepted: Sequence[SaidQuestion]) -> None:
        """Begin to measure what an index gains that learns from these questions too."""
        file = _keep("questions", f"{paths.checked_name(name)}.jsonl", self.lines(accepted).encode())
        _start(Command.GAIN, name, ["feedback", "gain", name, file])

    def lines(self, accepted: Sequence[SaidQuestion]) -> str:
        """Return questions as `import --option questions=FILE` reads them."""
        return feedback.lines((each.question, each.negatives) for each in accepted)


def _folder() -> Path:
    return paths.home() / "page"


def _keep(kind: str, name: str, content: bytes) -> str:
    """Keep a file in a folder named by its hash, without the former ones that no job needs."""
    file = _folder() / kind / sha256(content).hexdigest() / name
    _folder().mkdir(parents=True, exist_ok=True, mode=0o700)
    with suppress(BlockingIOError):  # a job runs
        lock = _lock()
        try:
            needed = {file.parent, *(Path(word).parent for word in (_record() or {}).get("arguments", []))}
            for former in set((_folder() / kind).glob("*")) - needed:
                shutil.rmtree(former, ignore_errors=True)
        finally:
            os.close(lock)
    if not file.is_file():
        file.parent.mkdir(parents=True, exist_ok=True)
        with replacing(file) as part:
            part.write_bytes(content)
    return str(file)


def _free(name: str, *, replace: bool) -> None:
    versions.refuse_existing(paths.checked_name(name), replace=replace)


def _law(name: str) -> InstalledLaw:
    shipped = name == paths.BUILTIN
    size = _size(name)
    try:
        folder, cure = paths.locate(name)
        manifest = read(folder, cure)
        verify(folder, manifest, cure, contents=False)  # hashes would take long: they are for check
        card = read_card(folder / "corpus" / CARD)
    except MissingIndex:
        return _imported(name, size)
    except PandectError as error:
        return InstalledLaw(name, size=size, versions=_versions(name), problem=str(error))
    return InstalledLaw(
        name,
        card.title,
        card.law_dates(),
        licence_of(card).named,
        manifest.corpus["articles"],
        manifest.corpus.get("questions", 0),
        manifest.encoder["name"] if manifest.encoder else None,
        has_learned_fusion(folder),
        size,
        () if shipped else _versions(name),
        shipped=shipped,
        audit=load(folder),
    )


def _imported(name: str, size: int) -> InstalledLaw:
    try:
        card = read_card(paths.corpus_folder(name) / CARD)
    except PandectError as error:
        return InstalledLaw(name, size=size, built=False, problem=str(error))
    licence = licence_of(card).named
    return InstalledLaw(name, card.title, card.law_dates(), licence, size=size, built=False)


def _versions(name: str) -> tuple[InstalledVersion, ...]:
    try:
        return tuple(_version(each) for each in history.listed(name))
    except PandectError:
        return ()


def _version(found: history.Version) -> InstalledVersion:
    if found.manifest is None:
        return InstalledVersion(found.name, found.in_use)
    changes = found.changes.brief() if found.changes is not None else ""
    return InstalledVersion(found.name, found.in_use, found.manifest.corpus["articles"], changes)


def _size(name: str) -> int:
    if name == paths.BUILTIN:
        folders = [paths.builtin()]
    else:
        folders = [paths.index_folder(name), paths.corpus_folder(name)]
    return sum({entry.st_ino: entry.st_size for entry in _files(folders)}.values())  # versions share files


def _files(folders: Iterable[Path]) -> Iterator[os.stat_result]:
    for folder in folders:
        for path in folder.rglob("*"):
            with suppress(OSError):  # gone since
                if path.is_file():
                    yield path.stat()


def _record() -> dict[str, Any] | None:
    try:
        record = json.loads((_folder() / "job.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return record if isinstance(record, dict) else None


def _said() -> list[str]:
    """Return the last lines of the log; of a bar that was drawn again and again, its last look."""
    try:
        with (_folder() / "log").open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - SHOWN))
            text = file.read().decode("utf-8", "replace")
    except OSError:
        return []
    return [line.rstrip("\r").rpartition("\r")[2] for line in text.rstrip("\n").split("\n")]


def _running() -> bool:
    """Tell whether a job holds the lock: the system frees it when the last process of it has ended."""
    try:
        os.close(_lock(shared=True))
    except BlockingIOError:
        return True
    return False


def _lock(*, shared: bool = False) -> int:
    import fcntl  # POSIX alone has it; reading an index does not need it

    handle = os.open(_folder() / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(handle, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        raise
    return handle


def _start(command: Command, name: str, arguments: Sequence[str]) -> None:
    folder = _folder()
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    for look in reversed(range(5)):
        try:
            lock = _lock()
            break
        except BlockingIOError:  # a job, or for an instant somebody who asks whether there is one
            if not look:
                raise BadInput(
                    "another command of this page is running: wait until it ends, or stop it"
                ) from None
            time.sleep(0.05)
    try:
        for former in ("job.json", "status"):
            (folder / former).unlink(missing_ok=True)
        root = Path(__file__).parents[2]
        environ = {key: value for key, value in os.environ.items() if key != _OURS_ALONE}
        environ["PYTHONPATH"] = os.pathsep.join(filter(None, (str(root), os.environ.get("PYTHONPATH"))))
        program = [sys.executable, "-m", "indexes", *arguments]
        with (folder / "log").open("wb") as log:
            process = subprocess.Popen(  # noqa: S603 - a list, of ours and of an operator's
                ["/bin/sh", "-c", _WRAP, str((folder / "status").absolute()), *program],
                stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
                env=environ, start_new_session=True, pass_fds=(lock,),
            )  # fmt: skip
        record = {"command": command, "name": name, "arguments": arguments, "group": process.pid}
        with replacing(folder / "job.json") as part:
            part.write_text(json.dumps(record), encoding="utf-8")
    finally:
        os.close(lock)  # the job holds it too
    threading.Thread(target=process.wait, name="job", daemon=True).start()  # nobody else asks for it
