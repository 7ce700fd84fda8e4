"""Page and API as a host runs them, each on a free port, and the memory of that process."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from rag.errors import PandectError

ROOT = Path(__file__).resolve().parents[2]
START_TIMEOUT = 60.0  # seconds; on a quiet machine half a second for the page, and a few for the API
Kind = Literal["page", "api"]
_COMMANDS: Mapping[Kind, tuple[str, ...]] = {
    "page": ("streamlit", "run", str(ROOT / "app.py"), "--server.port"),
    "api": ("indexes", "serve", "--port"),
}
_READY: Mapping[Kind, str] = {"page": "/_stcore/health", "api": "/v1/ready"}
PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096  # bytes
TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100  # a second


@dataclass(frozen=True, slots=True)
class RunningServer:
    """A running page or API without visitors yet."""

    port: int
    pid: int
    up: float  # seconds from the command to the first answer of its health check

    @property
    def url(self) -> str:
        """Where a browser or a client finds it."""
        return f"http://127.0.0.1:{self.port}"

    def memory(self) -> float:
        """Return the memory that the process holds now, in MiB (resident; Linux tells it, others do not).

        Raises:
            PandectError: this system does not tell.
        """
        return int(self._read_proc("statm", "memory").split()[1]) * PAGE / 2**20

    def processor(self) -> float:
        """Return the seconds of processor used so far; a busy machine changes them less than times.

        Raises:
            PandectError: this system does not tell.
        """
        fields = (
            self._read_proc("stat", "the processor").rpartition(")")[2].split()
        )  # its name may hold anything
        return (int(fields[11]) + int(fields[12])) / TICKS  # user and system, 14th and 15th of the whole line

    def _read_proc(self, name: str, what: str) -> str:
        path = Path(f"/proc/{self.pid}/{name}")
        if not path.exists():
            raise PandectError(f"{path} is not there: {what} is measured on Linux, while the process runs")
        return path.read_text()


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
    command = [sys.executable, "-m", *_COMMANDS[kind], str(port)]
    start = time.perf_counter()
    process = subprocess.Popen(  # noqa: S603 - our own page
        command, cwd=ROOT, env=around, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        while not _answers(f"http://127.0.0.1:{port}{_READY[kind]}"):
            waited = time.perf_counter() - start
            if process.poll() is not None or waited > START_TIMEOUT:
                raise PandectError(f"the {kind} did not come up in {waited:.0f} s: try {' '.join(command)}")
            time.sleep(0.02)
        yield RunningServer(port, process.pid, time.perf_counter() - start)
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=2):  # noqa: S310 - our own
            return True
    except OSError:
        return False
