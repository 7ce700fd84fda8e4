"""Questions stay out of the logs, those of the libraries under the page included."""

from __future__ import annotations

import logging

# The server and its libraries. At level "debug" some of their versions write what the browser sends (whole
# messages or frames of the socket), and the browser sends the question.
CHATTY = ("streamlit", "uvicorn", "websockets", "wsproto", "starlette", "tornado", "asyncio")


def keep_questions_out_of_logs() -> None:
    """Raise every logger that sees what the browser sends to "info" at least."""
    # why by name: Streamlit gives each of its modules a logger with a level of its own, so that its parent's
    # level says nothing; modules loaded later are reached at the next run of the page, which is before they
    # see a question.
    for name in [*CHATTY, *logging.Logger.manager.loggerDict]:
        if name.split(".")[0] in CHATTY:
            logger = logging.getLogger(name)
            if logger.getEffectiveLevel() < logging.INFO:
                logger.setLevel(logging.INFO)
