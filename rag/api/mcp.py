"""The Model Context Protocol: what assistants may call, over a pipe or beside the REST interface."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import FastAPI, Request
from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.transport_security import TransportSecuritySettings
from pydantic import Field
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.routing import Route

from rag.api import result
from rag.api.law import Law
from rag.api.problems import LONGEST, Refused
from rag.types import Filter

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

PATH = "/mcp"
_HERE = r"(?:localhost|127\.0\.0\.1|\[::1\])(?::[0-9]{1,5})?"  # this machine, as a browser names it
MOST = 20  # articles of a search: more is more than an assistant reads
INSTRUCTIONS = """\
Finds the articles of statutory law that answer a question in plain words. Legal information, not advice. \
Search first, and read the notices before the articles: they say whether somebody is in danger, whether a \
time limit runs, whether another law governs, and whether probably nothing answers. Cite articles by code \
and number, quote them word for word, and give their official page. A text of the kind "summary" is \
unofficial; "none" means that there is none."""
Question = Annotated[
    str, Field(description="One question in plain words, in the language of the law, or an article's number")
]
Id = Annotated[str, Field(description="The id of an article, as a search gave it")]
Most = Annotated[int, Field(ge=1, le=MOST, description="Articles at most")]
Rank = Annotated[int, Field(ge=1, le=MOST, description="Of the article, from 1")]
Codes = Annotated[list[str] | None, Field(description="Only articles of these codes")]


class Tools:
    """What an assistant may call; each returns JSON.

    `ToolError` says which it is: the law cannot be searched, or has no such article.
    """

    def __init__(self, law: Law) -> None:
        """Take the law that is searched."""
        self._law = law

    async def search(self, question: Question, k: Most = 10, codes: Codes = None) -> str:
        """Find the articles of law that answer a question, best first, and what must be known before them."""

        def work() -> result.Found:
            where = Filter(frozenset(codes or ()))
            engine, asked = self._law.ask(question, k=k, where=where, method="hybrid")
            return result.found(asked, engine)

        return _json(await self._run(work))

    async def article(self, id: Id) -> str:
        """Read an article: text, place, time limits, amounts, and the questions that cite it."""
        page = await self._page(id)
        return _json({key: value for key, value in page.items() if not key.startswith("refer")})

    async def references(self, id: Id) -> str:
        """List the articles that an article refers to, and those that refer to it."""
        page = await self._page(id)
        return _json({key: value for key, value in page.items() if key.startswith("refer")})

    async def explain(self, question: Question, rank: Rank = 1) -> str:
        """Explain why an article stands at this rank of a search: words, meaning, similar questions."""

        def work() -> result.Why | None:
            engine, asked = self._law.ask(question, k=max(rank, 10), where=Filter(), method="hybrid")
            return result.why(asked, engine, rank)

        return _json(await self._run(work, f"The search finds no article of rank {rank}."))

    async def _page(self, id_: str) -> dict[str, Any]:
        otherwise = f"No article of the law in use bears the id {id_[:LONGEST]!r}: take it from a search."
        page: dict[str, Any] = await self._run(
            lambda: result.article_page(self._law.engine(), id_), otherwise
        )
        return page

    async def _run(self, work: Callable[[], object], otherwise: str = "") -> Any:  # noqa: ANN401
        try:
            found = await self._law.run(lambda: result.plain(work()))
        except Refused as refused:
            told = {"Got": refused.problem.got, "Expected": refused.problem.expected}
            parts = (f"{name} {str(value)[:LONGEST]}." for name, value in told.items() if value)
            raise ToolError(" ".join((refused.problem.detail, *parts))) from None
        if found is None:
            raise ToolError(otherwise)
        return found


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)  # without indents, which an assistant would read too


def create_server(law: Law) -> MCPServer:
    """Return a server with the tools search, article, references and explain."""
    server = MCPServer("pandect", title="Pandect", instructions=INSTRUCTIONS, log_level="WARNING")
    tools = Tools(law)
    for tool in (tools.search, tools.article, tools.references, tools.explain):
        server.add_tool(tool, structured_output=False)
    return server


@asynccontextmanager
async def mount(
    app: FastAPI, law: Law, admitted: Callable[[Request], Awaitable[None]], *, anywhere: bool
) -> AsyncIterator[None]:
    """Serve the protocol at /mcp of the REST interface as long as the block lasts.

    Args:
        app: the interface.
        law: what is searched.
        admitted: lets a request pass by its key or its address, or raises `Refused`.
        anywhere: whether it may be reached by any name; else by those of this machine (DNS rebinding).
    """
    server = create_server(law)
    # The protocol's own check of names lets pass whatever begins with "localhost:", refuses localhost without
    # a port, and writes what came to the log.
    inner = server.streamable_http_app(
        streamable_http_path=PATH, stateless_http=True, json_response=True,
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )  # fmt: skip
    gate = _Gate(inner, admitted, anywhere=anywhere)
    app.router.routes.append(Route(PATH, gate, methods=["POST"], include_in_schema=False))
    async with server.session_manager.run():
        yield


class _Gate:
    """ASGI: hands on what may pass, whole: what is too large or too slow is refused before it is begun."""

    def __init__(
        self, app: ASGIApp, admitted: Callable[[Request], Awaitable[None]], *, anywhere: bool
    ) -> None:
        self._app, self._admitted, self._anywhere = app, admitted, anywhere

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        await self._admitted(request)
        if not self._anywhere:
            _same_machine(request)
        try:
            rest: list[Message] = [{"type": "http.request", "body": await request.body()}]
        except ClientDisconnect as error:
            raise HTTPException(HTTPStatus.BAD_REQUEST, "The request did not come whole.") from error

        async def whole() -> Message:
            return rest.pop() if rest else await receive()

        await self._app(dict(scope), whole, send)  # a copy: the route of the log is ours


def _same_machine(request: Request) -> None:
    """Refuse a request by another name than this machine's, or from another site's page (DNS rebinding)."""
    host, origin = request.headers.get("host", ""), request.headers.get("origin")
    if not re.fullmatch(_HERE, host, re.IGNORECASE):
        status, came, expected = HTTPStatus.MISDIRECTED_REQUEST, host, "the header Host: localhost"
    elif origin is not None and not re.fullmatch(f"https?://{_HERE}", origin, re.IGNORECASE):
        status, came, expected = HTTPStatus.FORBIDDEN, origin, "no header Origin, or one of this machine"
    else:
        return
    raise Refused(
        status, "host", "Without keys the protocol is spoken with this machine alone.",
        got=came, expected=expected,
        cure="For whoever runs this interface: set PANDECT_API_KEYS to let others in.",
    )  # fmt: skip
