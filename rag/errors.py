"""Errors that a person can act on: what came, what was expected, what to type.

What the log may hold: of an unexpected error one line, and which loggers are to be kept from more.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Collection, Iterator
from pathlib import Path

STAMP = "pandect-home"  # ./pandect writes it into the environment that it makes: its root, a bar, the place


class PandectError(Exception):
    """Base of every error that Pandect raises on purpose; its text is fit to show to a person."""


class BadInput(PandectError, ValueError):
    """A file, option or value that cannot be used as it is; names the place and the cure."""


class MissingIndex(PandectError, FileNotFoundError):
    """No index where one was asked for; names the command that builds it."""


class DamagedIndex(PandectError):
    """An index whose files do not match its manifest; names the command that rebuilds it."""


class StaleIndex(PandectError):
    """An index of another format, corpus or analyser than this installation reads."""


class MissingExtra(PandectError, ImportError):
    """A feature whose optional packages are not installed; names the extra to install."""


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


def log_failure(error: BaseException, what: str) -> None:
    """Log what kind an unexpected error is and where it arose; its message may quote the question.

    Args:
        error: what came.
        what: failed, such as "the search".
    """
    place = error.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    where = "unknown" if place is None else f"{place.tb_frame.f_globals.get('__name__')}:{place.tb_lineno}"
    _log.error("%s failed with %s at %s", what, type(error).__name__, where)


def loggers_under(packages: Collection[str]) -> Iterator[logging.Logger]:
    """Yield the loggers of these packages and of their modules, as many as there are by now.

    One by one, because libraries give loggers of their modules levels of their own, of which a parent's
    level says nothing; those of modules that are loaded later come with a later call.
    """
    for name in [*packages, *logging.Logger.manager.loggerDict]:
        if name.split(".")[0] in packages:
            yield logging.getLogger(name)
