"""What a model's server may make its client do: go nowhere else, and hold no more than an answer can be."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Mapping
from importlib import import_module
from typing import Any

ENVELOPE = 2**20  # bytes that an answer may have beside its tokens
TOKEN = 1024  # bytes of one token with what a stream puts around it: the three protocols take some 300
ERROR = 64 * 2**10  # bytes of an error; nothing in it is shown
_log = logging.getLogger(__name__)


class OversizedResponse(Exception):
    """A server sent more than an answer can have."""


# provider -> the HTTP client that asks, which each package keeps inside its own
_CLIENTS: Mapping[str, Callable[[Any], Any]] = {
    "anthropic": lambda model: model._async_client._client,
    "ollama": lambda model: model._async_client._client,
    "openai": lambda model: model.root_async_client._client,
}


def restrict(provider: str, model: object, output: int, variable: str) -> None:
    """Let a model's client follow no redirect, and take no more bytes than `output` tokens can have.

    A redirect would send question and articles to an address that whoever runs the page never named. A
    provider whose client is not known here keeps the ways of its package.
    """
    find = _CLIENTS.get(provider)
    if find is None:
        return
    client = find(model)
    client.follow_redirects = False

    async def limit(response: Any) -> None:  # noqa: ANN401 - of httpx, or of the httpx2 that some bring
        if response.is_redirect:
            _log.error(
                "the language model's server redirects, which is not followed: "
                "%s_URL must be the address that answers",
                variable,
            )
        if (
            response.headers.get("content-encoding", "identity") != "identity"
        ):  # a megabyte may hold a thousand
            raise OversizedResponse
        most = ERROR if response.is_error else ENVELOPE + TOKEN * output
        response.stream = _limited(response.stream, most)

    client.headers["Accept-Encoding"] = "identity"
    client.event_hooks = {"response": [limit]}  # set, not added to: clients of one address may be shared


def _limited(stream: Any, most: int) -> Any:  # noqa: ANN401 - see above
    library: Any = import_module(type(stream).__module__.partition(".")[0])

    class Limited(library.AsyncByteStream):  # type: ignore[misc]  # its reader asks whether it is one
        async def __aiter__(self) -> AsyncIterator[bytes]:
            taken = 0
            async for piece in stream:
                taken += len(piece)
                if taken > most:
                    raise OversizedResponse
                yield piece

        async def aclose(self) -> None:
            await stream.aclose()

    return Limited()
