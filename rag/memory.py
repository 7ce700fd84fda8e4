"""What the garbage collector need not look at again, and where the memory of many sessions comes from.

An open index is some million objects that stay, and every run of a page is a thread of its own.
"""

from __future__ import annotations

import ctypes
import gc
import os
import threading
from functools import cache

RELEASE_DELAY = 5.0  # seconds from an index's closing until it is freed: who reads in it has ended by then
ARENAS = 2  # of memory, for all threads; the GNU library takes eight a core
MMAP_THRESHOLD = 256 * 1024  # bytes; what is larger goes back to the system when it is freed
_M_MMAP_THRESHOLD, _M_ARENA_MAX = -3, -8  # its <malloc.h>
_settling = threading.Lock()


@cache
def share_arenas() -> bool:
    """Have the threads of this process share their memory; False where the system's allocator is another.

    What one thread frees, only its own arena can use again, and each run of a page is a new thread: with
    fifty people the arenas grew for minutes. Large arrays get pages of their own, and leave no holes. To be
    called before the threads are many: an arena that is there stays. A host who sets `MALLOC_ARENA_MAX` is
    left alone.
    """
    if "MALLOC_ARENA_MAX" in os.environ:
        return False
    try:
        set_to = ctypes.CDLL(None).mallopt
        return bool(set_to(_M_ARENA_MAX, ARENAS) and set_to(_M_MMAP_THRESHOLD, MMAP_THRESHOLD))
    except (AttributeError, OSError, TypeError):  # not the GNU library: musl, macOS, Windows
        return False


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
        # The collector walks through what is old once a quarter of what it last found there has come anew: a
        # quarter of an index, while what sessions have left lies there. Now it last found next to nothing.
        gc.collect()


def closed(_: object, after: float = RELEASE_DELAY) -> None:
    """Have an index freed that the page keeps open no more, a little later; returns at once.

    The index that took its place was perhaps settled before this one was let go, and runs of the page that
    began before still read in it.
    """
    timer = threading.Timer(after, settle)
    timer.daemon = True
    timer.start()
