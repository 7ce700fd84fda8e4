"""Which version of an index serves: the one that is in use now, or the last that could be opened."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from rag.errors import DamagedIndex, PandectError, StaleIndex

if TYPE_CHECKING:
    from rag.engine.engine import Engine

AGAIN = 30.0  # seconds before a version that could not be opened is tried again, which may take some
_log = logging.getLogger(__name__)


class _Refusal(NamedTuple):
    """A version that could not be opened: when, why, and what its files were then."""

    at: float
    files: object
    error: PandectError


class LawInUse:
    """Remembers of each index which version was opened last, and which could not be opened."""

    def __init__(self) -> None:
        """Begin with nothing open."""
        self._in_use: dict[str | None, str | None] = {}
        self._refused: dict[tuple[str | None, str | None], _Refusal] = {}

    def serving(
        self,
        index: str | None,
        version: str | None,
        open_: Callable[[str | None, str | None], Engine],
        state: Callable[[str | None], object],
    ) -> tuple[Engine, str | None]:
        """Return the engine of the version in use, and that version; else those of the last one.

        A pointer that is missing for seconds, or a version that is damaged, takes no law from those who ask:
        the log tells, and the law that is open goes on. A version of None is not known now. `open_` keeps
        what it opened. `state` tells sizes and times of the files: while they are the same, what was damaged
        is not hashed again for each view.

        Raises:
            PandectError: it cannot be opened, and none was open before.
        """
        refused, now = self._refused, time.monotonic()
        last = self._in_use.get(index)
        refusal = refused.get((index, version))
        lately = refusal is not None and now - refusal.at < AGAIN
        if last is not None and last != version and (version is None or lately):
            return open_(index, last), last
        files = state(index) if refusal is not None or last != version or last is None else None
        if refusal is not None and files is not None and refusal.files == files:
            if last is None or last == version:
                raise refusal.error.with_traceback(None)
            return open_(index, last), last
        try:
            found = open_(index, version)
            if fault := found.fault:  # found while it served
                raise DamagedIndex(fault)
        except PandectError as error:
            # what the system refused, such as one more open file, may be there again without a change
            found_out = isinstance(error, DamagedIndex | StaleIndex) and not isinstance(
                error.__cause__, OSError
            )
            refused[index, version] = _Refusal(now, files if found_out else None, error)
            if last is None or last == version:
                raise
            _log.error("%s; the version before goes on", error)
            return open_(index, last), last
        refused.pop((index, version), None)
        self._in_use[index] = version
        return found, version
