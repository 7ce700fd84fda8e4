"""Questions stay out of the logs, those of the libraries under the page included."""

from __future__ import annotations

import logging

from rag.errors import loggers_under

# The server and its libraries. At level "debug" some of their versions write what the browser sends (whole
# messages or frames of the socket), and the browser sends the question.
CHATTY = ("streamlit", "uvicorn", "websockets", "wsproto", "starlette", "tornado", "asyncio")


def keep_questions_out_of_logs() -> None:
    """Raise every logger that sees what the browser sends to "info" at least."""
    # at every run of the page, which is before a module that was loaded since sees a question
    for logger in loggers_under(CHATTY):
        if logger.getEffectiveLevel() < logging.INFO:
            logger.setLevel(logging.INFO)
