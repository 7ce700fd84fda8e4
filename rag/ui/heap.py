"""What the garbage collector need not look at again: an open index is some million objects that stay."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rag.engine import Engine


def warm(engine: Engine) -> None:
    """Do what the first question to an index would wait for, then take it out of the collector's way."""
    engine.warm()
    settle()


def settle() -> None:
    """Free what is out of use, and take the rest out of the collector's way; costs one full collection.

    An index lives as long as the page, or until another has taken its place, yet every full collection
    walks through all its articles: 0.12 of the 0.26 s of processor that an answer took (Streamlit asks for
    one after each run of a page unless `runner.postScriptGC` is off). What was settled and is then closed
    is freed as ever where nothing in it refers back to itself; the next call frees the rest.
    """
    gc.unfreeze()
    gc.collect()
    gc.freeze()
