"""How often something may be asked for: by one session, from one address, and of the whole host."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Hashable
from dataclasses import dataclass

from rag.errors import BadInput
from rag.shared_state import SharedState

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


class _Windows:
    """A window for each key, such as a session; those that are empty are forgotten. Not thread-safe."""

    def __init__(self, rate: Rate) -> None:
        self.rate = rate
        self._of: dict[Hashable, _Window] = {}
        self._asked = 0

    def __len__(self) -> int:
        """Return how many windows are remembered."""
        return len(self._of)

    def of(self, key: Hashable, now: float) -> _Window:
        """Return the window of a key."""
        self._asked += 1
        if self._asked % _SWEEP == 0:
            for window in self._of.values():
                window.wait(now)
            self._of = {key: window for key, window in self._of.items() if window.made}
        return self._of.setdefault(key, _Window(self.rate))


class RateLimits:
    """Sliding windows over the calls of a process, or of all that share a store.

    Every session and thread of a process has one of these. The window slides, so no more than `rate.calls`
    are made in any span of that length, wherever it begins (a counter that is set back at the full hour would
    allow twice as many around it).
    """

    def __init__(
        self,
        per_session: Rate | None = None,
        per_host: Rate | None = None,
        per_address: Rate | None = None,
        *,
        shared: tuple[str, SharedState | None] = ("", None),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Limit the calls of a session, of an address and of the host; None is no limit.

        `shared` is the name of what is limited, and the store in which all replicas count it. While that is
        silent the process counts alone, the calls included that it granted before. The clock never goes back.
        """
        self._clock = clock
        self._name, self._shared = shared
        self._host = _Windows(per_host) if per_host else None
        self._sessions = _Windows(per_session) if per_session else None
        self._addresses = _Windows(per_address) if per_address else None
        self._lock = threading.Lock()

    def take(
        self, session: Hashable = None, *, address: str | None = None, calls: int = 1, retry: bool = False
    ) -> float:
        """Return 0 if the calls are granted; else the seconds to wait, and nothing has been counted.

        Session and address are kept in memory for one window, in a shared store as a keyed hash for as long,
        and nowhere else; an address of None is not known, and not limited. A further call for the same answer
        (`retry`), because the server failed or a judge is asked, counts for host and address and not for the
        session, whose person asked once.
        """
        limits: list[tuple[str, _Windows, Hashable]] = []
        if self._host is not None:
            limits.append(("host", self._host, None))
        if self._sessions is not None and not retry:
            limits.append(("session", self._sessions, session))
        if self._addresses is not None and address is not None:
            limits.append(("address", self._addresses, address))
        wait: float | None = None
        if self._shared is not None and limits:
            named = [(f"{self._name} {kind} {key}", of.rate) for kind, of, key in limits]
            wait = self._shared.take([(name, rate.calls, rate.seconds) for name, rate in named], calls)
        with self._lock:
            now = self._clock()
            windows = [of.of(key, now) for _, of, key in limits]
            own = max((window.wait(now) for window in windows), default=0.0)
            wait = own if wait is None else wait
            if wait <= 0:
                for window in windows:
                    window.made.extend([now] * calls)
            return wait
