"""Errors that a person can act on: what came, what was expected, what to type.

What the log may hold: of an unexpected error one line, and which loggers are to be kept from more.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator


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
