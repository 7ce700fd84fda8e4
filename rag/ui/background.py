"""An answer that is being written, read beside the page: drawing anew neither loses nor repeats it."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from functools import partial

from rag.answer.generation.errors import FailureReason
from rag.answer.generation.session import Draft
from rag.answer.types import Answer, ClaimPart, Ending, Event, GapPart, LinePart, PassagePart
from rag.errors import log_failure
from rag.lifecycle import WORK

UNREAD = 10.0  # seconds; an open page looks ten times a second, and draws itself anew within one or two

SHOWN = (LinePart, PassagePart, ClaimPart, GapPart)  # what a `Part` may be


@dataclass(eq=False, slots=True)
class _Notes:
    """The events so far; the threads hold these, and not the answer underway."""

    events: list[Event] = field(default_factory=list)
    read: float = field(default_factory=time.monotonic)  # when somebody last looked
    ended: threading.Event = field(default_factory=threading.Event)
    changed: threading.Condition = field(default_factory=threading.Condition)

    def add(self, event: Event) -> None:
        with self.changed:
            self.events.append(event)
            self.changed.notify_all()


class BackgroundAnswer:
    """An answer being written by a background thread; dropping it ends the request.

    A session holds it. Streamlit keeps the session of a person who has left for minutes, so that they may
    come back; the model's server is told to stop long before that.
    """

    def __init__(self, draft: Draft, unread: float = UNREAD) -> None:
        """Begin to read; after `unread` seconds without `after`, nobody is there any more."""
        self._draft = draft
        self._notes = _Notes()
        for run in (_read, partial(_watch, unread=unread)):
            threading.Thread(target=run, args=(draft, self._notes), name="answer", daemon=True).start()

    def after(self, seen: int, timeout: float) -> list[Event]:
        """Return the events after the first so many; waits for one, at most so many seconds."""
        with self._notes.changed:
            self._notes.changed.wait_for(lambda: len(self._notes.events) > seen, timeout)
            self._notes.read = time.monotonic()
            return self._notes.events[seen:]

    def stop(self) -> None:
        """End the request; the answer then says `STOPPED`, with what had passed."""
        self._draft.close()

    def __del__(self) -> None:
        """End the request."""
        self.stop()


def _read(draft: Draft, notes: _Notes) -> None:
    """Read a draft to its end, which is always an answer."""
    last: Event | None = None
    try:
        with WORK.one():  # a server that was told to end waits for it
            for last in draft:
                notes.add(last)
    except Exception as error:  # noqa: BLE001 - its message may quote the question, so nobody above may log it
        log_failure(error, "the answer")
    if not isinstance(last, Answer):
        passed = tuple(event for event in notes.events if isinstance(event, SHOWN))
        notes.add(Answer(Ending.FAILED, passed, reason=FailureReason.UNEXPECTED))
    notes.ended.set()


def _watch(draft: Draft, notes: _Notes, *, unread: float) -> None:
    while not notes.ended.wait(unread / 4):
        if time.monotonic() - notes.read > unread:
            draft.close()
            return
