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


class _Window:
    """Remembers when calls were made, and tells how long the next one must wait. Not thread-safe."""

    def __init__(self, rate: Rate) -> None:
        self._rate = rate
        self.made: deque[float] = deque()  # when; those that had passed at the last `wait` are gone

    def wait(self, now: float) -> float:
        """Return the seconds until a call may be made; 0 if one may be made now."""
        while self.made and now - self.made[0] >= self._rate.seconds:
            self.made.popleft()
        if len(self.made) < self._rate.calls:
            return 0.0
        return self._rate.seconds - (now - self.made[0])


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
        """Limit the calls of a session, and of this process; None is no limit. The clock never goes back."""
        self._per_session, self._clock = per_session, clock
        self._host = _Window(per_host) if per_host else None
        self._sessions: dict[Hashable, _Window] = {}
        self._lock = threading.Lock()
        self._taken = 0

    def take(self, session: Hashable, *, retry: bool = False) -> float:
        """Return 0 if one call is granted; else the seconds to wait, and nothing has been counted.

        The session's key is kept in memory for one window and nowhere else. A further call for the same
        answer (`retry`), because the server failed or a judge is asked, counts for the host and not for the
        session, whose person asked once.
        """
        with self._lock:
            now = self._clock()
            self._taken += 1
            if self._taken % _SWEEP == 0:
                for window in self._sessions.values():
                    window.wait(now)
                self._sessions = {key: window for key, window in self._sessions.items() if window.made}
            windows = [self._host] if self._host else []
            if self._per_session and not retry:
                windows.append(self._sessions.setdefault(session, _Window(self._per_session)))
            wait = max((window.wait(now) for window in windows), default=0.0)
            if wait <= 0:
                for window in windows:
                    window.made.append(now)
            return wait
