"""The page as a host runs it: `streamlit run app.py` on a free port, and the memory of that process."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rag.errors import PandectError

ROOT = Path(__file__).resolve().parents[2]
START_TIMEOUT = 60.0  # seconds; half a second on a quiet machine
PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096  # bytes
TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100  # a second


@dataclass(frozen=True, slots=True)
class RunningPage:
    """A running page without visitors yet."""

    port: int
    pid: int
    up: float  # seconds from the command to the first answer of its health check

    @property
    def url(self) -> str:
        """Where a browser finds it."""
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
            raise PandectError(f"{path} is not there: {what} is measured on Linux, while the page runs")
        return path.read_text()


@contextmanager
def served(index: str | None = None) -> Iterator[RunningPage]:
    """Run the page over an index (its name or path; None for the one that ships) until the block ends.

    Raises:
        PandectError: it does not come up.
    """
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    around = {name: value for name, value in os.environ.items() if name != "PANDECT_INDEX"}
    around |= {"PANDECT_INDEX": index} if index else {}
    command = [sys.executable, "-m", "streamlit", "run", str(ROOT / "app.py"), "--server.port", str(port)]
    start = time.perf_counter()
    process = subprocess.Popen(  # noqa: S603 - our own page
        command, cwd=ROOT, env=around, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        while not _healthy(port):
            waited = time.perf_counter() - start
            if process.poll() is not None or waited > START_TIMEOUT:
                raise PandectError(f"the page did not come up in {waited:.0f} s: try {' '.join(command)}")
            time.sleep(0.02)
        yield RunningPage(port, process.pid, time.perf_counter() - start)
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _healthy(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/_stcore/health", timeout=2):
            return True
    except OSError:
        return False
