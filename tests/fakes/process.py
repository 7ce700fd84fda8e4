"""A server as a process of its own, in a clean environment: started, waited for, ended."""

from __future__ import annotations

import os
import socket
import subprocess
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.paths import ROOT

WAIT = 120.0  # seconds; a loaded machine may need some


def free_port(port: int = 0) -> int:
    """Return a port that nothing listens on: any, or the one that is named."""
    with socket.socket() as free:
        free.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # a server that ended may have had it
        free.bind(("127.0.0.1", port))
        return int(free.getsockname()[1])


def answers(url: str) -> bool:
    """Return whether something answers well there."""
    try:
        with urllib.request.urlopen(url, timeout=2):  # noqa: S310
            return True
    except OSError:
        return False


@contextmanager
def started(
    command: Sequence[str | Path],
    log: Path,
    ready: Callable[[], bool],
    *,
    cwd: Path = ROOT,
    wait: float = WAIT,
    **environ: str,
) -> Iterator[subprocess.Popen[bytes]]:
    """Run a server until the block ends; what it writes goes into the log, whose folder is its home."""
    clean = {"PATH": os.environ["PATH"], "HOME": str(log.parent), "LANG": "C.UTF-8"}
    with log.open("wb") as out:
        process = subprocess.Popen(command, cwd=cwd, env=clean | environ, stdout=out, stderr=out)
    try:
        end = time.monotonic() + wait
        while not ready():
            assert process.poll() is None and time.monotonic() < end, log.read_text(errors="replace")  # noqa: PT018
            time.sleep(0.1)
        yield process
    finally:
        process.terminate()
        process.wait(timeout=30)
