from __future__ import annotations

import email.utils
import time

import pytest

from rag.answer.generation.errors import FailureReason, convert, english


class Response:
    def __init__(self, wait: str) -> None:
        self.headers = {"retry-after": wait}


class StatusError(Exception):
    def __init__(self, status_code: int, wait: str = "") -> None:
        super().__init__("the key and the question")
        self.status_code = status_code
        self.response = Response(wait)


class ConnectTimeout(Exception):
    pass


class APIConnectionError(Exception):
    pass


class ReadTimeout(Exception):
    pass


class RemoteProtocolError(Exception):
    pass


@pytest.mark.parametrize(
    ("error", "begun", "reason", "again"),
    [
        (StatusError(401), False, FailureReason.REFUSED_KEY, False),
        (StatusError(404), False, FailureReason.UNKNOWN_MODEL, False),
        (StatusError(429), False, FailureReason.SERVER_BUSY, True),
        (StatusError(529), False, FailureReason.SERVER, True),
        (StatusError(500), True, FailureReason.SERVER, False),
        (StatusError(418), False, FailureReason.REJECTED, False),
        (ConnectTimeout(), False, FailureReason.DEAD, True),
        (APIConnectionError(), False, FailureReason.DEAD, True),
        (ConnectionRefusedError(), False, FailureReason.DEAD, True),
        (ReadTimeout(), False, FailureReason.SLOW, False),
        (TimeoutError(), True, FailureReason.STALLED, False),
        (RemoteProtocolError(), True, FailureReason.BROKEN, False),
        (ValueError("odd"), True, FailureReason.BROKEN, False),
        (ValueError("odd"), False, FailureReason.UNEXPECTED, False),
    ],
)
def test_what_an_error_means(error: Exception, begun: bool, reason: FailureReason, again: bool) -> None:
    found = convert(error, started=begun)

    assert (found.reason, found.retry) == (reason, again)
    assert "question" not in repr(found)


def test_the_cause_of_an_error_counts_too() -> None:
    outer = APIConnectionError()
    outer.__cause__ = ReadTimeout()
    assert convert(outer, started=True).reason is FailureReason.STALLED


@pytest.mark.parametrize(
    ("wait", "expected"), [("7", 7.0), ("0.5", 0.5), ("-3", 0.0), ("soon", None), ("", None), ("inf", None)]
)
def test_the_wait_that_a_server_asks_for(wait: str, expected: float | None) -> None:
    assert convert(StatusError(429, wait), started=False).wait == expected


def test_the_wait_may_be_a_date() -> None:
    told = email.utils.formatdate(time.time() + 30, usegmt=True)
    found = convert(StatusError(503, told), started=False).wait
    assert found is not None
    assert 25 < found <= 31


@pytest.mark.parametrize(("seconds", "said"), [(1, "in one second."), (42, "in 42 seconds.")])
def test_the_time_to_wait_is_told_in_plain_english(seconds: int, said: str) -> None:
    assert english(FailureReason.BUSY, seconds=seconds).endswith(said)
    assert english(FailureReason.SLOW, seconds=None) == FailureReason.SLOW
