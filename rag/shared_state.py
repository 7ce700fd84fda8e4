"""What replicas share in one Redis: counts of limits, and words of feedback.

Scripts run whole inside Redis and by its clock, so that replicas neither race nor disagree about the time.
"""

from __future__ import annotations

import hashlib
import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any
from urllib.parse import unquote, urlsplit
from uuid import uuid4

from rag.errors import BadSetting, MissingExtra, PandectError, install_hint

SETTING = "PANDECT_SHARED_STATE"
PATIENCE = 0.5  # seconds to wait for an answer, which takes less than a millisecond
REST = 5.0  # seconds for which limits leave a store alone that did not answer
_KEY = "{pandect}:"  # braces: in a cluster all keys of a script must lie in one slot
_SCHEMES = ("redis", "rediss", "unix")
_REPLICAS = ("KUBERNETES_SERVICE_HOST", "WEB_CONCURRENCY")  # set where more than one process is likely
_log = logging.getLogger(__name__)

# A sorted set a window: when each call was made, in ms. Returns the ms to wait; 0: granted and counted.
_TAKE = """
local now = redis.call('TIME')
now = now[1] * 1000 + math.floor(now[2] / 1000)
local wait = 0
for i, key in ipairs(KEYS) do
  local calls, span = tonumber(ARGV[2 * i + 1]), tonumber(ARGV[2 * i + 2])
  redis.call('ZREMRANGEBYSCORE', key, '-inf', now - span)
  if redis.call('ZCARD', key) >= calls then
    wait = math.max(wait, tonumber(redis.call('ZRANGE', key, 0, 0, 'WITHSCORES')[2]) + span - now)
  end
end
for i, key in ipairs(KEYS) do
  if wait > 0 then break end
  for n = 1, tonumber(ARGV[2]) do redis.call('ZADD', key, now, ARGV[1] .. n) end
  redis.call('PEXPIRE', key, ARGV[2 * i + 2])
end
return wait
"""
# When the next message is due were none allowed at once, in ms. Returns the ms that this one waits.
_PACE = """
local now = redis.call('TIME')
now = now[1] * 1000 + math.floor(now[2] / 1000)
local step, ahead = tonumber(ARGV[1]), tonumber(ARGV[2])
local due = math.max(tonumber(redis.call('GET', KEYS[1]) or '0'), now - ahead) + step
redis.call('SET', KEYS[1], due, 'PX', math.ceil(due - now + ahead) + 1)
return math.ceil(due - now)
"""
# A sorted set of words by day; what is older goes only where a word of between is there: see `Feedback.keep`
_KEEP = """
local day, oldest = tonumber(ARGV[2]), tonumber(ARGV[3])
if redis.call('ZCOUNT', KEYS[1], oldest, day - 1) > 0 then
  redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', oldest - 1)
end
if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[4]) then return 0 end
redis.call('ZADD', KEYS[1], day, ARGV[1])
return 1
"""


class StoreSilent(PandectError):
    """The shared store did not answer, or refused; names it and the cure, never what was sent."""


class StoreRefused(StoreSilent):
    """The shared store lets nobody in with this name and password, or forbids what is needed."""


class SharedState:
    """A Redis that all replicas use; threads may share it."""

    def __init__(self, url: str, clock: Callable[[], float] = time.monotonic) -> None:
        """Remember where it is; nobody is asked before something is counted or kept.

        Raises:
            BadSetting: the address is none of a Redis.
            MissingExtra: the packages of the extra [redis] are not there.
        """
        try:
            from redis import Redis, RedisError
            from redis import exceptions as told
            from redis.backoff import NoBackoff
            from redis.retry import Retry
        except ImportError:
            raise MissingExtra(f"{SETTING} needs redis: run {install_hint('redis')}, or unset it") from None
        try:
            parts = urlsplit(url)
            if parts.scheme not in _SCHEMES:
                raise ValueError
            once = Retry(
                NoBackoff(), 1, supported_errors=(told.ConnectionError,)
            )  # a connection that a restart has cut
            self._redis = Redis.from_url(
                url,
                socket_timeout=PATIENCE,
                socket_connect_timeout=PATIENCE,
                retry=once,
                decode_responses=True,
            )
            host = f"{parts.hostname or ''}:{parts.port or 6379}" if parts.scheme != "unix" else ""
        except (ValueError, TypeError):  # the address may hold a password: not told
            expected = "expected the address of a Redis, such as redis://:PASSWORD@redis.internal:6379/0"
            raise BadSetting(f"{SETTING}: this is no such address; {expected}") from None
        self.place = f"{parts.scheme}://{host}{parts.path}"
        self._errors, self._answers = (RedisError, OSError), told.ResponseError
        self._refusals = (told.AuthenticationError, told.AuthorizationError, told.NoPermissionError)
        self._secret = unquote(parts.password or "").encode()[:64]
        self._take, self._pace, self._keep = map(self._redis.register_script, (_TAKE, _PACE, _KEEP))
        self._clock, self._rest_until, self._lock = clock, 0.0, threading.Lock()
        self._silent: StoreSilent | None = None

    def take(self, limits: Sequence[tuple[str, int, float]], calls: int = 1) -> float | None:
        """Count calls against limits: what is limited, how many calls, in how many seconds.

        Return 0 if all are granted; else the seconds to wait, and nothing is counted. None: the store does
        not answer.
        """
        keys = [self._name(name) for name, _, _ in limits]
        rates = (part for _, most, seconds in limits for part in (most, round(seconds * 1000)))
        wait = self._limit(lambda: self._take(keys, [uuid4().hex, calls, *rates]))
        return None if wait is None else wait / 1000

    def pace(self, name: str, step: float, ahead: float) -> float | None:
        """Return for how many seconds a message waits, one in `step` seconds; None as in `take`.

        Those of `ahead` seconds pass at once.
        """
        wait = self._limit(lambda: self._pace([self._name(name)], [step * 1000, max(step, ahead) * 1000]))
        return None if wait is None else wait / 1000

    def check(self) -> None:
        """Look whether it can be used; of one that does not answer, or is full, the log tells.

        Raises:
            BadSetting: it refuses the name, the password or the commands.
        """
        self.pace("check", 0.001, 0.001)
        if isinstance(self._silent, StoreRefused):
            raise BadSetting(f"{SETTING}: {self._silent}")

    def keep(self, word: str, day: int, oldest: int, most: int) -> bool:
        """Keep a word of a day (an ordinal), and delete those of before `oldest`; False: `most` are there."""
        member = f"{uuid4().hex} {word}"  # two that say the same are two; one that is sent twice is one
        return bool(self._ask(lambda: self._keep([_KEY + "feedback"], [member, day, oldest, most])))

    def words(self) -> list[str]:
        """Return the words that are kept, those of the oldest day first."""
        members: list[str] = self._ask(lambda: self._redis.zrange(_KEY + "feedback", 0, -1))
        return [member.partition(" ")[2] for member in members]

    def prune(self, day: int) -> int:
        """Delete the words of before a day, and return how many."""
        return int(self._ask(lambda: self._redis.zremrangebyscore(_KEY + "feedback", "-inf", f"({day}")))

    def _name(self, name: str) -> str:
        """Return the key of what is limited: no address or session stands in Redis as it is."""
        return _KEY + hashlib.blake2b(name.encode(), key=self._secret, digest_size=16).hexdigest()

    def _ask(self, command: Callable[[], Any]) -> Any:  # noqa: ANN401 - whatever it returns
        try:
            return command()
        except self._errors as error:  # its message may quote what was sent
            kind = type(error).__name__
            if isinstance(error, self._refusals):
                cure = f"Type those that may write {_KEY}*: {SETTING}=redis://NAME:PASSWORD@HOST:6379/0"
                raise StoreRefused(f"{self.place}: refused ({kind}). {cure}") from None
            said = "refused" if isinstance(error, self._answers) else "no answer"
            cure = f"Look whether it runs and has memory, and at {SETTING}"
            raise StoreSilent(f"{self.place}: {said} ({kind}). {cure}") from None

    def _limit(self, command: Callable[[], Any]) -> int | None:
        """Return what a script does; None while the store is silent, of which the log says begin and end."""
        with self._lock:
            if self._clock() < self._rest_until:
                return None
        try:
            found = int(self._ask(command))
        except StoreSilent as error:
            with self._lock:
                self._rest_until, former, self._silent = self._clock() + REST, self._silent, error
            if not former:
                _log.warning("%s; until it answers each process counts limits for itself", error)
            return None
        with self._lock:
            former, self._silent = self._silent, None
        if former:
            _log.warning("%s answers again: limits count for all processes", self.place)
        return found


_shared = lru_cache(SharedState)


def from_environment(environ: Mapping[str, str]) -> SharedState | None:
    """Return what PANDECT_SHARED_STATE names, one of a process; None: each process counts and keeps alone.

    Raises as `SharedState`.
    """
    url = environ.get(SETTING, "").strip()
    if url:
        return _shared(url)
    # a platform says 1 where there is one process; where a cluster runs it, nobody says how many
    if likely := [name for name in _REPLICAS if environ.get(name, "").strip() not in ("", "0", "1")]:
        _warn(likely[0])
    return None


@lru_cache
def _warn(sign: str) -> None:
    _log.warning(
        "%s is set: where several processes answer, each counts limits and keeps feedback for itself; "
        "%s=redis://… makes them one (docs/operate.md)", sign, SETTING,
    )  # fmt: skip
