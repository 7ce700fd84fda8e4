"""One call of a model, run beside the thread that reads it: with deadlines, and ended from any thread.

Clients are asked through asyncio, because only there can a request be cancelled while it waits: the
connection is closed at once. One loop serves the process, for clients keep connections that belong to
the loop that opened them.
"""

from __future__ import annotations

import asyncio
import contextvars
import functools
import queue
import random
import threading
import time
from collections.abc import AsyncIterator, Callable, Generator, Iterator
from contextlib import aclosing
from dataclasses import dataclass

from rag.answer.generation.client import Clients, Delta
from rag.answer.generation.errors import Failure, FailureReason, convert
from rag.answer.generation.prompt import Messages
from rag.answer.generation.settings import ModelSettings

BACKOFF = 0.5  # seconds before the first retry, twice as many before each further one, up to
LONGEST_BACKOFF = 8.0
LONGEST_WAIT = 20.0  # that a server may ask for; more than that is told to the person, who has better to do


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to wait, in seconds."""

    first_token: float
    between: float  # two tokens
    until: float  # on the clock: the end of all of it


class Cancelled(Exception):
    """The request was cancelled."""


@functools.cache
def _loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    loop.set_debug(False)  # debugging would log what runs
    # What goes wrong while connections are closed would be logged with its message, which may quote what was
    # sent.
    loop.set_exception_handler(lambda loop, context: None)
    threading.Thread(target=loop.run_forever, name="answers", daemon=True).start()
    return loop


class Call:
    """A call that is under way from the moment it is made; its source runs in the loop's thread."""

    def __init__(self, source: Callable[[], AsyncIterator[Delta]]) -> None:
        self._items: queue.SimpleQueue[Delta | Failure | Cancelled | None] = queue.SimpleQueue()
        self._started = self._cancelled = False
        # In a context of its own, so that nothing which the caller's thread has set up for itself, such as a
        # tracer, goes along.
        self._future = contextvars.Context().run(asyncio.run_coroutine_threadsafe, self._run(source), _loop())

    async def _run(self, source: Callable[[], AsyncIterator[Delta]]) -> None:
        try:
            stream = source()
            async with aclosing(stream) as deltas:  # type: ignore[type-var]  # clients give generators
                async for delta in deltas:
                    self._started = self._started or delta.token
                    self._items.put(delta)
                    # A server that writes faster than it is read would never let go of the loop, in which all
                    # other calls wait, and the cancelling of this one.
                    await asyncio.sleep(0)
                    if (
                        self._cancelled
                    ):  # asyncio.wait_for of Python 3.11, which clients use, may lose a cancel
                        break
        except asyncio.CancelledError:
            self._items.put(Cancelled())
            raise
        except Exception as error:  # noqa: BLE001 - clients raise errors of their own; each is told to the reader
            self._items.put(convert(error, started=self._started))
        else:
            self._items.put(None)

    def cancel(self) -> None:
        """End it: the connection is closed, and whoever waits for the next delta is told. From any thread."""
        self._cancelled = True
        self._items.put(Cancelled())
        self._future.cancel()

    def deltas(self, patience: Patience) -> Iterator[Delta]:
        """Yield what comes; a chunk without a token, by which some servers keep a connection, is no answer.

        Raises:
            Failure: the server failed, or was too slow.
            Cancelled: `cancel` was called.
        """
        started = False
        due = time.monotonic() + patience.first_token
        while time.monotonic() < patience.until:
            try:
                item = self._items.get(timeout=max(min(due, patience.until) - time.monotonic(), 0.0))
            except queue.Empty:
                raise Failure(FailureReason.STALLED if started else FailureReason.SLOW) from None
            if self._cancelled:
                raise Cancelled
            if item is None:
                return
            if not isinstance(item, Delta):
                raise item
            if item.token:
                started = True
                due = time.monotonic() + patience.between
            yield item
        raise Failure(FailureReason.STALLED if started else FailureReason.SLOW)


class Cancel:
    """Says whether a person has cancelled, and ends the calls that are under way."""

    def __init__(self) -> None:
        self._event = threading.Event()
        self._lock = threading.Lock()
        self._calls: list[Call] = []

    def watch(self, call: Call) -> None:
        """End this call too, should it come to that."""
        with self._lock:
            self._calls.append(call)
            if self._event.is_set():
                call.cancel()

    def cancel(self) -> None:
        """Cancel; a second time does nothing more."""
        with self._lock:
            self._event.set()
            for call in self._calls:
                call.cancel()

    def sleep(self, seconds: float) -> None:
        """Wait; raise `Cancelled` if it was cancelled, before or meanwhile."""
        if self._event.wait(seconds):
            raise Cancelled


def request(
    settings: ModelSettings,
    clients: Clients,
    messages: Callable[[bool], Messages],
    until: float,
    cancel: Cancel,
    again: Callable[[], bool],
) -> Generator[Delta]:
    """Ask a model, and ask again where that may help and nothing has come yet.

    Args:
        settings: of the model.
        clients: its own.
        messages: what is sent, given whether the server is held to a schema.
        until: on the clock: the end of all of it.
        cancel: ends it.
        again: takes one more call from the limits, and tells whether they allow it.

    Raises:
        Failure: it failed for good.
        Cancelled: `cancel` was told to.
    """
    plain = clients.plain
    patience = Patience(settings.first_token, settings.between, until)
    tries, begun = 0, False
    while True:
        cancel.sleep(0)
        try:
            client = clients.get(plain)
            call = Call(functools.partial(client.stream, messages(client.schema)))
            cancel.watch(call)
            try:
                for delta in call.deltas(patience):
                    if delta.token and not begun:
                        begun, clients.plain = True, plain  # it may be tried first from now on
                    yield delta
            finally:
                call.cancel()
            clients.plain = plain
            return
        except Failure as failure:
            if begun:
                raise
            if failure.plainer and not plain:
                plain = True
            else:
                tries += 1
                cancel.sleep(_pause(failure, tries, settings.retries, until))
            if not again():
                raise


def _pause(failure: Failure, tries: int, most: int, until: float) -> float:
    """Return the seconds before the next try; raise the failure that came if there shall be none."""
    if not failure.retry or tries > most:
        raise failure
    backoff = min(BACKOFF * 2.0 ** (tries - 1), LONGEST_BACKOFF) * random.uniform(0.5, 1.0)  # noqa: S311
    pause: float = max(backoff, failure.wait or 0.0)
    if pause > LONGEST_WAIT or time.monotonic() + pause >= until:
        raise failure
    return pause
