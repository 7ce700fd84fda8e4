"""Does what it is told on stdin in a child process, and kills that child where it is told.

One JSON object a line comes in: {"command": [...] of `python -m indexes`, "pause": seconds at every
step on the disk, "step": the step before which the child kills itself, or "seconds": after which it
is killed from outside}. One goes out: {"killed": bool, "steps": n, "seconds": s}.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Callable

from indexes.__main__ import main

# audit events; os.rename is replace too
STEPS = {"open", "os.link", "os.mkdir", "os.remove", "os.rename", "os.rmdir"}
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT


def hook(pause: float, kill_before: int | None, report: int) -> Callable[[str, tuple[object, ...]], None]:
    """Return an audit hook that counts steps on the disk, and waits or dies at them."""
    count = 0

    def step(event: str, arguments: tuple[object, ...]) -> None:
        nonlocal count
        if event not in STEPS or (event == "open" and not int(str(arguments[2])) & WRITING):
            return
        count += 1
        if count == kill_before:
            os.kill(os.getpid(), signal.SIGKILL)
        os.pwrite(report, f"{count:8}".encode(), 0)
        time.sleep(pause)

    return step


def run(order: dict[str, object], report: int) -> dict[str, object]:
    """Run one command in a child."""
    os.pwrite(report, f"{0:8}".encode(), 0)
    pause, step, seconds = float(str(order["pause"])), order.get("step"), order.get("seconds")
    begun = time.monotonic()
    child = os.fork()
    if child == 0:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        sys.addaudithook(hook(pause, None if step is None else int(str(step)), report))
        os._exit(main([str(part) for part in order["command"]]))  # type: ignore[attr-defined]
    if seconds is not None:
        time.sleep(float(str(seconds)))
        os.kill(child, signal.SIGKILL)  # not yet waited for: the id is still its own
    _, status = os.waitpid(child, 0)
    if not os.WIFSIGNALED(status) and os.WEXITSTATUS(status) != 0:
        raise SystemExit(f"{order} ended with {os.WEXITSTATUS(status)}")
    return {
        "killed": os.WIFSIGNALED(status),
        "steps": int(os.pread(report, 8, 0)),
        "seconds": time.monotonic() - begun,
    }


if __name__ == "__main__":
    os.fsync = lambda fd: None  # a killed process loses nothing that it wrote
    steps = os.memfd_create("steps")
    for line in sys.stdin:
        sys.stdout.write(json.dumps(run(json.loads(line), steps)) + "\n")
        sys.stdout.flush()
