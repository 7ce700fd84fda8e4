"""Errors that a person can act on: what came, what was expected, what to type; and what the log may hold."""

from __future__ import annotations

import logging
import os
import re
import sys
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from traceback import walk_tb

STAMP = "pandect-home"  # ./pandect writes it into the environment that it makes: its root, a bar, the place


class PandectError(Exception):
    """Base of every error that Pandect raises on purpose; its text is fit to show to a person."""


class BadInput(PandectError, ValueError):
    """A file, option or value that cannot be used as it is; names the place and the cure."""


class BadSetting(BadInput):
    """A setting of whoever runs the page or a command that cannot be used; names it."""


class MissingIndex(PandectError, FileNotFoundError):
    """No index where one was asked for; names the command that builds it."""


class DamagedIndex(PandectError):
    """An index whose files do not match its manifest; names the command that rebuilds it."""


class StaleIndex(PandectError):
    """An index of another format, corpus or analyser than this installation reads."""


class StoreUnavailable(PandectError):
    """A vector store that cannot be reached, or failed; nothing is said of what it holds."""


class StoreBusy(StoreUnavailable):
    """A vector store that has too much to do, or begins or ends just now: ask again in a moment."""


class StoreRefused(StoreUnavailable):
    """A vector store that answers, and does not do what was asked; nor will it when asked again."""


class MissingExtra(PandectError, ImportError):
    """A feature whose optional packages are not installed; names the extra to install."""


_MISSING: ContextVar[set[str] | None] = ContextVar("missing", default=None)


@contextmanager
def watching() -> Iterator[set[str]]:
    """Collect the parts of a store that do not answer searches in the block."""
    parts: set[str] = set()
    token = _MISSING.set(parts)
    try:
        yield parts
    finally:
        _MISSING.reset(token)


def missing(*parts: str) -> None:
    """Tell that parts of the collection did not answer a search, to whoever watches.

    Raises:
        StoreUnavailable: nobody does, and would take what was found for all there is.
    """
    watched = _MISSING.get()
    if parts and watched is None:
        raise StoreUnavailable(f"{', '.join(parts)}: no answer; ask again, or look whether it runs")
    if watched is not None:
        watched.update(parts)


_PATH = re.compile(r"(?<![\w.:/<])(?:[A-Za-z]:)?(?:~|…)?/(?:[^\s/:,;()'\"]+/)*(?=[^\s/])")  # to its last name
_log = logging.getLogger(__name__)


def in_clone() -> bool:
    """Return whether this environment is the one that ./pandect made: then nothing of it is on PATH."""
    try:
        made = (Path(sys.prefix) / STAMP).read_text(encoding="utf-8")
    except (OSError, ValueError):
        return False
    return made.partition("|")[0] == str(Path(__file__).resolve().parents[1])


def install_hint(extra: str) -> str:
    """Return the command that installs an extra, such as "llm": by ./pandect, or by pip in a clone.

    There is no third way: the package of the name pandect on the package index is another project's.
    """
    return f"./pandect {extra}" if in_clone() else f"pip install '.[{extra}]'"


def without_paths(message: str) -> str:
    """Return what a message says to whoever visits a page: of a path only its last name."""
    homes = (os.environ.get("PANDECT_HOME"), os.path.expanduser("~"))  # noqa: PTH111 - cannot fail
    for home in filter(None, homes):  # a blank in them would end what looks like a path
        message = message.replace(f"{home.rstrip('/')}/", "…/")
    return _PATH.sub("…/", message)


def log_failure(error: BaseException, what: str) -> None:
    """Log that something, such as "the search", failed by an unexpected error of which kind, and where.

    The message is left out: it may quote the question.
    """
    where = "unknown"
    for frame, line in walk_tb(error.__traceback__):
        where = f"{frame.f_globals.get('__name__')}:{line}"
    _log.error("%s failed with %s at %s", what, type(error).__name__, where)


def loggers_under(packages: Collection[str]) -> Iterator[logging.Logger]:
    """Yield the loggers of these packages and of their modules, as many as there are by now.

    One by one: libraries give loggers of their modules levels of their own, whatever a parent's level is.
    """
    for name in [*packages, *logging.Logger.manager.loggerDict]:
        if name.split(".")[0] in packages:
            yield logging.getLogger(name)
