from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest

from rag.errors import log_failure
from rag.ui.layout import keep_questions_out_of_logs

SECRET = "mon voisin a planté un arbre"  # noqa: S105 - a question


@pytest.fixture
def chatty() -> Iterator[list[logging.Logger]]:
    loggers = [
        logging.getLogger(name) for name in ("streamlit.runtime.test", "websockets.server", "uvicorn.error")
    ]
    before = [logger.level for logger in loggers]
    yield loggers
    for logger, level in zip(loggers, before, strict=True):
        logger.setLevel(level)


def test_loggers_that_see_the_question_are_raised_to_info(chatty: list[logging.Logger]) -> None:
    for logger in chatty:
        logger.setLevel(logging.DEBUG)

    keep_questions_out_of_logs()

    assert not [logger.name for logger in chatty if logger.isEnabledFor(logging.DEBUG)]
    assert all(logger.isEnabledFor(logging.INFO) for logger in chatty)


def test_a_quieter_logger_stays_quiet(chatty: list[logging.Logger]) -> None:
    chatty[0].setLevel(logging.ERROR)

    keep_questions_out_of_logs()

    assert chatty[0].level == logging.ERROR


def test_an_error_is_logged_without_its_message(caplog: pytest.LogCaptureFixture) -> None:
    try:
        raise KeyError(SECRET)
    except KeyError as error:
        log_failure(error, "the search")

    [record] = caplog.records
    assert f"the search failed with KeyError at {__name__}:" in record.getMessage()
    assert SECRET not in caplog.text


def test_an_error_that_was_never_raised_has_no_place(caplog: pytest.LogCaptureFixture) -> None:
    log_failure(ValueError(SECRET), "the search")

    assert "ValueError at unknown" in caplog.text
    assert SECRET not in caplog.text
