"""What a model's server cannot make the client do, in the three protocols."""

from __future__ import annotations

import logging
from collections.abc import Callable

import pytest

from rag.answer.generation.errors import FailureReason, english
from rag.answer.types import Ending
from tests.fakes.answers.answers import KEY, LINES, QUESTION, TEXTS, answer, texts
from tests.fakes.answers.model_server import (
    Behaviour,
    Server,
    good,
    long_error,
    packed,
    redirects,
    serving,
    without_newline,
)

PATHS = {"openai": "/v1/chat/completions", "ollama": "/api/chat", "anthropic": "/v1/messages"}
MOST = 16 * 2**20  # bytes that may be under way in sockets beside the few that a client takes


@pytest.fixture(params=PATHS)
def provider(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def _address(server: Server, provider: str) -> str:
    return server.url if provider == "openai" else server.root


@pytest.mark.parametrize("code", [302, 307, 308])
def test_no_redirect_is_followed(provider: str, code: int, caplog: pytest.LogCaptureFixture) -> None:
    with serving(good(LINES)) as other:
        path = {"openai": "/v1/chat/completions", "ollama": "/api/chat", "anthropic": "/v1/messages"}[
            provider
        ]
        with (
            serving(redirects(code, other.root + path)) as named,
            caplog.at_level(logging.ERROR, "rag.answer"),
        ):
            found = answer(named, model=f"{provider}:scripted", url=_address(named, provider))

    assert len(named.seen) == 1  # nor is it tried again
    assert other.seen == []
    assert (found.ending, found.reason) == (Ending.FAILED, english(FailureReason.REJECTED))
    assert "PANDECT_MODEL_URL must be the address that answers" in caplog.text
    assert QUESTION not in caplog.text
    assert KEY not in caplog.text


@pytest.mark.parametrize("flood", [without_newline, long_error])
def test_no_flood_is_held(provider: str, flood: Callable[[list[int]], Behaviour]) -> None:
    sent: list[int] = []
    with serving(flood(sent)) as server:
        found = answer(server, model=f"{provider}:scripted", url=_address(server, provider))

    assert sum(sent) < MOST
    assert (found.ending, found.reason) == (Ending.FAILED, english(FailureReason.UNREADABLE))


def test_nothing_that_is_packed_is_unpacked(provider: str) -> None:
    with serving(packed) as server:
        found = answer(server, model=f"{provider}:scripted", url=_address(server, provider))

    assert server.seen[0].headers["accept-encoding"] == "identity"
    assert (found.ending, found.reason) == (Ending.FAILED, english(FailureReason.UNREADABLE))


def test_an_answer_of_all_its_tokens_is_read(provider: str) -> None:
    with serving(good(LINES)) as server:
        found = answer(server, model=f"{provider}:scripted", url=_address(server, provider), output=64)

    assert texts(found) == TEXTS
