"""The events of one answer as a page reads them, and the means to end it from any thread."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from types import TracebackType

from rag.answer.generation.stream import Call, Stopped
from rag.answer.types import Event


class Cancel:
    """Says whether a person has cancelled, and ends the call that is under way."""

    def __init__(self) -> None:
        """Nobody has."""
        self._event = threading.Event()
        self._lock = threading.Lock()
        self._call: Call | None = None

    def watch(self, call: Call) -> None:
        """End this call too, should it come to that."""
        with self._lock:
            self._call = call
            if self._event.is_set():
                call.cancel()

    def cancel(self) -> None:
        """Cancel; a second time does nothing more."""
        with self._lock:
            self._event.set()
            if self._call is not None:
                self._call.cancel()

    def sleep(self, seconds: float) -> None:
        """Wait.

        Raises:
            Stopped: it was cancelled, before or meanwhile.
        """
        if self._event.wait(seconds):
            raise Stopped


class Draft(Iterator[Event]):
    """The events of one answer; closing it, or dropping it, ends the request."""

    def __init__(self, events: Iterator[Event], cancel: Cancel) -> None:
        """Take the events; nothing is asked before the first is wanted."""
        self._events = events
        self._cancel = cancel

    def __next__(self) -> Event:
        """Wait for the next event."""
        return next(self._events)

    def close(self) -> None:
        """End the request; may be called from any thread, and more than once."""
        self._cancel.cancel()

    def __enter__(self) -> Draft:
        """Return itself, to be closed when the block is left."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the request."""
        self.close()

    def __del__(self) -> None:
        """End the request: a page that is drawn anew drops what it was reading."""
        self.close()
