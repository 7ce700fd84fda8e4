"""The one line that an unexpected error leaves in the log."""

from __future__ import annotations

import logging

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
