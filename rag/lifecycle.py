"""Whether the process can answer, and how it ends: what is under way is answered first."""

from __future__ import annotations

import asyncio
import signal
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager

from rag.errors import log_failure

GRACE = 8.0  # seconds for what is under way; Docker kills after 10
FORCE = 1.0  # seconds more for sockets to be closed
_LOOK = 0.1  # seconds between two looks
_QUIET = 5  # looks without anything under way: what was drawn last is on its way to the browser
PROBE = 5.0  # seconds that an answer about health holds


class Work:
    """Counts what is under way in the threads of a process."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self._count, self._lock = 0, threading.Lock()
        self.ending = False  # the process was told to end

    @contextmanager
    def one(self) -> Iterator[None]:
        """Count one piece of work while the block runs."""
        with self._lock:
            self._count += 1
        try:
            yield
        finally:
            with self._lock:
                self._count -= 1

    @property
    def idle(self) -> bool:
        """Whether nothing is under way."""
        return self._count == 0


WORK = Work()  # of this process: Streamlit runs the page in threads that share nothing else


@asynccontextmanager
async def draining(_app: object = None, work: Work = WORK, grace: float = GRACE) -> AsyncIterator[None]:
    """Let what is under way end before the server hears of SIGTERM; a second one is heard at once.

    The server closes every socket as soon as it hears, and whoever has asked gets nothing. For the lifespan
    of an application, whose server has set its handler by then.
    """
    former, loop = signal.getsignal(signal.SIGTERM), asyncio.get_running_loop()
    if threading.current_thread() is not threading.main_thread() or not callable(former):
        yield  # nobody else may set a handler, or the server has none
        return
    tasks: set[asyncio.Task[None]] = set()

    async def end() -> None:
        until, quiet = time.monotonic() + grace, 0
        while quiet < _QUIET and time.monotonic() < until:
            await asyncio.sleep(_LOOK)
            quiet = quiet + 1 if work.idle else 0
        former(signal.SIGTERM, None)
        until = time.monotonic() + grace
        while not work.idle and time.monotonic() < until:  # what came last is answered too
            await asyncio.sleep(_LOOK)
        await asyncio.sleep(FORCE)  # a socket that never reads answers no farewell: uvicorn would wait for it
        former(signal.SIGINT, None)

    def heard(number: int, frame: object) -> None:
        signal.signal(signal.SIGTERM, former)
        work.ending = True
        loop.call_soon_threadsafe(lambda: tasks.add(loop.create_task(end())))

    signal.signal(signal.SIGTERM, heard)
    try:
        yield
    finally:
        if signal.getsignal(signal.SIGTERM) is heard:
            signal.signal(signal.SIGTERM, former)


class Health:
    """Tells whether a question is answered, by asking one: every few seconds, however often it is asked."""

    def __init__(
        self, probe: Callable[[], bool], work: Work = WORK, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Take what asks a question and tells whether articles were found."""
        self._probe, self._work, self._clock = probe, work, clock
        self._known: tuple[float, bool] | None = None
        self._lock = threading.Lock()

    def __call__(self) -> bool:
        """Return whether questions are answered, and will be; for a thread: the law may be opened first."""
        with self._lock:
            if self._known is None or self._clock() - self._known[0] >= PROBE:
                try:
                    found = self._probe()
                except Exception as error:  # noqa: BLE001 - whatever it is, nobody is answered
                    log_failure(error, "the question that asks for health")
                    found = False
                self._known = self._clock(), found
            return self._known[1] and not self._work.ending
