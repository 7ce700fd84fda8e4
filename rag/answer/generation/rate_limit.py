"""How often a model may be asked: by one session, and by all of a host's process."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Hashable
from dataclasses import dataclass

from rag.errors import BadInput

UNITS = {"minute": 60.0, "hour": 3600.0, "day": 86400.0}  # seconds
_SWEEP = 256  # calls after which sessions that have been idle for a window are forgotten


@dataclass(frozen=True, slots=True)
class Rate:
    """So many calls in any window of so many seconds."""

    calls: int
    seconds: float

    @classmethod
    def parse(cls, text: str) -> Rate | None:
        """Read "20/hour"; None for "off".

        Raises:
            BadInput: it is neither.
        """
        if text.strip().lower() == "off":
            return None
        calls, _, unit = (part.strip() for part in text.lower().partition("/"))
        if not (calls.isascii() and calls.isdigit() and int(calls[:9]) > 0 and unit in UNITS):
            raise BadInput("expected a rate such as 20/hour, 3/minute, 500/day, or off")
        return cls(int(calls[:9]), UNITS[unit])


class Window:
    """Remembers when calls were made, and tells how long the next one must wait. Not thread-safe."""

    def __init__(self, rate: Rate) -> None:
        """Start with no call made."""
        self._rate = rate
        self._made: deque[float] = deque()

    def wait(self, now: float) -> float:
        """Return the seconds until a call may be made; 0 if one may be made now."""
        while self._made and now - self._made[0] >= self._rate.seconds:
            self._made.popleft()
        if len(self._made) < self._rate.calls:
            return 0.0
        return self._rate.seconds - (now - self._made[0])

    def add(self, now: float) -> None:
        """Remember a call."""
        self._made.append(now)

    @property
    def idle(self) -> bool:
        """Whether it remembers no call; right after `wait`."""
        return not self._made


class RateLimits:
    """Sliding windows over the calls of a process; every session and thread shares one of these.

    The window slides, so no more than `rate.calls` are made in any span of that length, wherever it
    begins (a counter that is set back at the full hour would allow twice as many around it).
    """

    def __init__(
        self,
        per_session: Rate | None = None,
        per_host: Rate | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Start with no call made.

        Args:
            per_session: None for no limit.
            per_host: of this process; None for no limit.
            clock: seconds that never go back.
        """
        self._per_session = per_session
        self._host = Window(per_host) if per_host else None
        self._clock = clock
        self._sessions: dict[Hashable, Window] = {}
        self._lock = threading.Lock()
        self._taken = 0

    def take(self, session: Hashable, *, again: bool = False) -> float:
        """Take leave to make one call.

        Args:
            session: any key of it; it is kept in memory for one window and nowhere else.
            again: a retry after the server failed. It counts for the host, whose server is asked once
                more, and not for the session, whose person asked once.

        Returns:
            0 if it is granted; else the seconds to wait, and nothing has been counted.
        """
        with self._lock:
            now = self._clock()
            self._sweep(now)
            windows = [self._host] if self._host else []
            if self._per_session and not again:
                windows.append(self._sessions.setdefault(session, Window(self._per_session)))
            wait = max((window.wait(now) for window in windows), default=0.0)
            if wait <= 0:
                for window in windows:
                    window.add(now)
            return wait

    def _sweep(self, now: float) -> None:
        self._taken += 1
        if self._taken % _SWEEP == 0:
            for key, window in list(self._sessions.items()):
                window.wait(now)
                if window.idle:
                    del self._sessions[key]
