"""Page and API as a host runs them, each on a free port, and the memory of that process."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from rag.errors import PandectError

ROOT = Path(__file__).resolve().parents[2]
START_TIMEOUT = 300.0  # seconds; on a quiet machine half a second for the page, and a few for the API
END_TIMEOUT = 20.0  # seconds from SIGTERM to SIGKILL, as docs/deploy grants them
Kind = Literal["page", "api"]
_COMMANDS: Mapping[Kind, tuple[str, ...]] = {
    "page": ("streamlit", "run", str(ROOT / "app.py"), "--server.port"),
    "api": ("indexes", "serve", "--port"),
}
_READY: Mapping[Kind, str] = {"page": "/_stcore/health", "api": "/v1/ready"}
PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096  # bytes
TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100  # a second


@dataclass(slots=True)
class RunningServer:
    """A page or API without visitors yet; a process that was started here can be ended, and started again."""

    port: int
    pid: int = 0
    up: float = 0.0  # seconds from the command to the first answer of its health check
    kind: Kind = "page"
    environ: Mapping[str, str] = field(default_factory=dict)
    _process: subprocess.Popen[bytes] | None = None
    _spent: float = 0.0  # seconds of processor that former processes used

    def start(self) -> None:
        """Start a process on the port, and return when it is ready.

        Raises:
            PandectError: it does not come up.
        """
        command = [sys.executable, "-m", *_COMMANDS[self.kind], str(self.port)]
        start = time.perf_counter()
        # a session of its own, as systemd gives it: Linux shares the processor out by session (autogroup),
        # and what measures would take its part
        self._process = process = subprocess.Popen(  # noqa: S603 - our own page
            command, cwd=ROOT, env=dict(self.environ), start_new_session=True,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        self.pid = process.pid
        while not _answers(f"{self.url}{_READY[self.kind]}"):
            waited = time.perf_counter() - start
            if process.poll() is not None or waited > START_TIMEOUT:
                raise PandectError(
                    f"the {self.kind} did not come up in {waited:.0f} s: try {' '.join(command)}"
                )
            time.sleep(0.02)
        self.up = time.perf_counter() - start

    def end(self, number: signal.Signals = signal.SIGTERM) -> bool:
        """Send a signal and wait for the end, later by SIGKILL; tell whether that was not needed.

        What the process used of the processor is kept.
        """
        if (process := self._process) is None:
            return True
        process.send_signal(number)
        until, itself, used = time.perf_counter() + END_TIMEOUT, True, self._spent
        while process.poll() is None:
            with suppress(PandectError):  # it has just ended, or this system does not tell
                used = self.processor()
            if itself and time.perf_counter() > until:
                itself = False
                process.kill()
            time.sleep(0.02)
        self._spent = used
        self._process = None
        return itself

    @property
    def url(self) -> str:
        """Where a browser or a client finds it."""
        return f"http://127.0.0.1:{self.port}"

    def memory(self) -> float:
        """Return the memory that the process holds now, in MiB (resident; Linux tells it, others do not).

        Raises:
            PandectError: this system does not tell, or the process has ended.
        """
        if not (pages := int(self._read_proc("statm", "memory").split()[1])):
            raise PandectError(f"process {self.pid} has ended: its memory is measured while it runs")
        return pages * PAGE / 2**20

    def processor(self) -> float:
        """Return the seconds of processor used so far; a busy machine changes them less than times.

        Raises:
            PandectError: this system does not tell, or the process has ended.
        """
        fields = (
            self._read_proc("stat", "the processor").rpartition(")")[2].split()
        )  # its name may hold anything
        used = (int(fields[11]) + int(fields[12])) / TICKS  # user and system, 14th and 15th of the whole line
        return self._spent + used

    def _read_proc(self, name: str, what: str) -> str:
        path = Path(f"/proc/{self.pid}/{name}")
        try:
            return path.read_text()
        except OSError:
            told = f"{path} is not there: {what} is measured on Linux, while the process runs"
            raise PandectError(told) from None


@contextmanager
def served(
    index: str | None = None, kind: Kind = "page", settings: Mapping[str, str] = MappingProxyType({})
) -> Iterator[RunningServer]:
    """Run the page or the API over an index (name or path; None: the one that ships) until the block ends.

    `settings` are further variables of its environment.

    Raises:
        PandectError: it does not come up.
    """
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    around = {name: value for name, value in os.environ.items() if name != "PANDECT_INDEX"}
    around |= {**settings, **({"PANDECT_INDEX": index} if index else {})}
    server = RunningServer(port, kind=kind, environ=around)
    try:
        server.start()
        yield server
    finally:
        server.end()


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=2):  # noqa: S310 - our own
            return True
    except OSError:
        return False
