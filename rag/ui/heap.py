"""What the garbage collector need not look at again: an open index is some million objects that stay."""

from __future__ import annotations

import gc
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rag.engine import Engine

AFTER = 5.0  # seconds from an index's closing until it is freed: who still reads in it has ended by then
_settling = threading.Lock()


def warm(engine: Engine) -> None:
    """Do what the first question to an index would wait for, then take it out of the collector's way."""
    engine.warm()
    settle()


def settle() -> None:
    """Free what is out of use, and take the rest out of the collector's way; costs one full collection.

    An index lives as long as the page, or until another has taken its place, yet every full collection
    walks through all its articles, which was half of what an answer took (Streamlit asks for one after each
    run of a page unless `runner.postScriptGC` is off). What was settled and is then closed is freed as ever
    where nothing in it refers back to itself; the next call frees the rest.
    """
    with _settling:  # what one call freezes, no other is to walk through
        gc.unfreeze()
        gc.collect()
        gc.freeze()


def closed(_: object, after: float = AFTER) -> None:
    """Have an index freed that the page keeps open no more, a little later; returns at once.

    The index that took its place was perhaps settled before this one was let go, and runs of the page that
    began before still read in it.
    """
    timer = threading.Timer(after, settle)
    timer.daemon = True
    timer.start()
