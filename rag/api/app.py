"""The REST interface: the same engine, notices and limits as the pages, under /v1."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from datetime import date
from functools import partial
from http import HTTPStatus
from typing import TYPE_CHECKING, Annotated, Any, Literal, NoReturn

from anyio import CapacityLimiter, WouldBlock
from anyio.to_thread import run_sync
from fastapi import Depends, FastAPI, Path, Request
from fastapi.exceptions import RequestValidationError
from fastapi.security import HTTPBearer
from pydantic import BaseModel, ConfigDict, Field, field_validator
from starlette.convertors import PathConvertor, register_url_convertor
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse

from rag.answer.generation.writer import ModelWriter
from rag.api import answer as answers
from rag.api import examples, mcp, result
from rag.api.access import Access
from rag.api.guard import Guard
from rag.api.law import Law, Library
from rag.api.metrics import TEXT, Metrics
from rag.api.problems import Problem, Refused
from rag.engine.engine import Engine
from rag.engine.result import Mode
from rag.lifecycle import WORK, Health, draining
from rag.types import Filter

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

MOST = 50  # articles of a result; that one of the first ten answers is what confidence is of
STREAMS = 40  # answers that are written at once; each may wait for its model in a thread
_DOORS = 40  # requests that are counted at once: a shared store that is silent is waited for in threads
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
EXAMPLE = "Mon voisin a planté un arbre contre ma clôture, que faire ?"


class _AnyPath(PathConvertor):
    """The rest of an address, line feeds too, which may be in an id."""

    regex = r"[\s\S]*"


register_url_convertor("any", _AnyPath())


class SearchRequest(BaseModel):
    """A question, and which law may answer it."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"question": EXAMPLE, "k": 3}, {"question": "1240"}]}
    )
    question: str = Field(description="In plain words; its first 2,000 characters are read.")
    k: int = Field(default=10, ge=1, le=MOST, description="Articles at most.")
    codes: list[str] = Field(default=[], max_length=1000, description="Only of these codes: see /v1/topics.")
    law_types: list[str] = Field(default=[], max_length=10)
    regions: list[str] = Field(default=[], max_length=100)
    day: date | None = Field(default=None, description="The law of this day; without it, of any day.")
    method: Mode = Field(default="hybrid", description="An index without an encoder searches by keywords.")
    language: str = Field(
        default="en", pattern="^[a-z]{2}$", description="Of what the corpus says in several languages."
    )
    receipt: bool = Field(
        default=False,
        strict=True,
        description="Add what `python -m indexes verify` makes the same ranking from again.",
    )

    @field_validator("k", mode="before")
    @classmethod
    def _number(cls, came: object) -> object:
        """Refuse what pydantic would read as a number, and the schema does not allow."""
        if isinstance(came, bool | str):
            raise ValueError("expected a whole number such as 10")
        return came

    @field_validator("day", mode="before")
    @classmethod
    def _written_out(cls, came: object) -> object:
        """Refuse a number of seconds, which pydantic would read as a day."""
        if (isinstance(came, str) and not _DAY.fullmatch(came)) or isinstance(came, int | float):
            raise ValueError("expected a day such as 2025-01-31")
        return came

    @property
    def where(self) -> Filter:
        """The filter that the request names."""
        return Filter(frozenset(self.codes), frozenset(self.law_types), frozenset(self.regions), self.day)


class AnswerRequest(SearchRequest):
    """A question to be answered in passages or sentences."""

    personal_data: Literal["remove", "send"] = Field(
        default="remove", description="What becomes of names, numbers and addresses before a model is asked."
    )


class Routes:
    """What is answered under /v1, and what the host asks."""

    def __init__(self, law: Law, access: Access, writer: ModelWriter | None) -> None:
        """Take the law that is searched, who may search it, and what writes answers."""
        self.law, self.access, self.writer = law, access, writer
        self._health = Health(law.answers)
        # each has threads of its own: who waits for a model or a store keeps nobody else waiting
        self._doors, self._streams, self._probe = map(CapacityLimiter, (_DOORS, STREAMS, 1))

    async def admitted(self, request: Request) -> None:
        """Let a request pass, or refuse it, by its key or its address."""
        header = self.access.address_header
        sent = request.headers.getlist(header) if header else []
        peer = request.client.host if request.client else None
        admit = partial(self.access.admit, request.headers.get("authorization"), peer, sent)
        request.state.caller = await run_sync(admit, limiter=self._doors)

    def _ask(self, request: SearchRequest, *, leaves: bool = False) -> tuple[Engine, result.Asked]:
        return self.law.ask(
            request.question, k=request.k, where=request.where, method=request.method, leaves=leaves
        )

    @staticmethod
    def _found(engine: Engine, asked: result.Asked, request: SearchRequest) -> Any:  # noqa: ANN401
        return result.plain(result.found(asked, engine, request.language, proof=request.receipt))

    async def search(self, request: SearchRequest) -> Response:
        """Find the articles that answer a question, best first, with what must be known before."""

        def work() -> Any:  # noqa: ANN401 - of JSON's types
            return self._found(*self._ask(request), request)

        return JSONResponse(await self.law.run(work))

    async def why(
        self,
        rank: Annotated[int, Path(ge=1, le=MOST, description="Of the article, from 1.")],
        request: SearchRequest,
    ) -> Response:
        """Explain why an article of a search stands where it does: the same body, and its rank."""

        def work() -> tuple[Any, int]:
            engine, asked = self._ask(request)
            with self.law.metrics.part("explanation"):
                return result.plain(result.why(asked, engine, rank)), len(asked.result.shown)

        explained, shown = await self.law.run(work)
        if explained is None:
            raise Refused(
                HTTPStatus.NOT_FOUND, "rank", "The result has no article of this rank.", got=rank,
                expected=f"a rank from 1 to {shown}" if shown else "a question that finds an article",
                cure="Ask /v1/search first, with the same body.",
            )  # fmt: skip
        return JSONResponse(explained)

    async def article(
        self, id: Annotated[str, Path(description="As a result gives it, percent-encoded: see its href.")]
    ) -> Response:
        """Read an article, with its neighbours and its references of either way."""
        page = await self.law.run(lambda: result.plain(result.article_page(self.law.engine(), id)))
        if page is None:
            raise Refused(
                HTTPStatus.NOT_FOUND, "article", "No article of the law in use bears this id.", got=repr(id),
                expected="an id that a search of this index gave", cure="Search for it: POST /v1/search.",
            )  # fmt: skip
        return JSONResponse(page)

    async def topics(self) -> Response:
        """Tell which law is searched, what can be filtered by, and what is not here."""
        return JSONResponse(await self.law.run(lambda: result.plain(result.topics(self.law.engine()))))

    async def answer(self, request: AnswerRequest, http: Request) -> Response:
        """Answer a question in passages of the law, or in sentences that were checked against it."""
        law, writer = self.law, self.writer

        def work() -> answers.Answering:
            engine, asked = self._ask(request, leaves=writer is not None)
            found = self._found(engine, asked, request)
            return answers.Answering(engine, asked, found, law.extractor(engine), writer, law.metrics)

        answering = await law.run(work)
        events = answering.events(http.state.caller, remove=request.personal_data == "remove")
        return _EventStream(_stream(events, answering.close), self._streams)

    async def health(self) -> Response:
        """Tell whether an example question finds an article, asked every few seconds at most."""
        well = await run_sync(self._health, limiter=self._probe)
        return _status("ok" if well else "no question is answered; the log says why", well=well)

    async def ready(self) -> Response:
        """Tell whether the whole law is open and warm and the process is not ending.

        A question is asked only where a part of the law was silent at the last: nobody else might, and learn
        that it answers again.
        """
        law = self.law
        if law.open is not None and law.open.silent:
            await run_sync(self._health)
        well = law.warmed and law.open is not None and not law.open.silent and not WORK.ending
        return _status("ok" if well else "not yet, or no more", well=well)

    async def metrics(self) -> Response:
        """Tell Prometheus how many requests came, how long they took, and how old the index is."""
        return Response(self.law.metrics.text(self.law.open), media_type=TEXT)


def create_app(library: Library, access: Access, writer: ModelWriter | None = None) -> FastAPI:
    """Return the application; whoever serves it has read the settings, and knows where the law is."""
    metrics = Metrics()
    law = Law(library, access, metrics)
    routes = Routes(law, access, writer)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        for warm in (law.warm, *([writer.warm] if writer is not None else ())):
            threading.Thread(target=warm, name="warm", daemon=True).start()
        async with draining(app), mcp.mount(app, law, routes.admitted, anywhere=bool(access.keys)):
            yield

    app = FastAPI(
        title="Pandect",
        version="1",
        summary="Ask the law in your own words: ranked articles, each with the reason why it is there.",
        description="Legal information, not advice. Read the notices of a result before its articles.",
        docs_url=None,  # their scripts come from another host
        redoc_url=None,
        redirect_slashes=False,
        lifespan=lifespan,
    )
    app.add_middleware(Guard, metrics=metrics)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(RequestValidationError, _invalid)
    bearer = [Depends(HTTPBearer(auto_error=False, description="The key of a client."))]
    known = [Depends(routes.admitted), *(bearer if access.keys else ())]
    sent = {"content": {"text/event-stream": {"example": answers.EXAMPLE}}, "description": answers.EVENTS}
    table: tuple[tuple[str, str, Any, Any, tuple[int, ...]], ...] = (
        ("POST", "/v1/search", routes.search, result.Found, (400, 408, 413, 422)),
        ("POST", "/v1/why/{rank}", routes.why, result.Why, (400, 404, 408, 413, 422)),
        ("GET", "/v1/articles/{id:any}", routes.article, result.ArticlePage, (404, 422)),
        ("GET", "/v1/topics", routes.topics, result.Topics, ()),
    )
    for method, path, route, model, more in table:
        told = _problems(*more)
        app.add_api_route(
            path, route, methods=[method], response_model=model, responses=told, dependencies=known
        )
    app.add_api_route(
        "/v1/answer", routes.answer, methods=["POST"], response_class=StreamingResponse, dependencies=known,
        responses=_problems(400, 408, 413, 422) | {200: sent},
    )  # fmt: skip
    for path, probe in (("/v1/health", routes.health), ("/v1/ready", routes.ready)):
        app.add_api_route(path, probe, responses={503: {"description": "Send requests elsewhere."}})
    app.add_api_route("/metrics", routes.metrics, response_class=PlainTextResponse)
    examples.describe(app.openapi()["paths"])  # which is kept
    return app


class _EventStream(StreamingResponse):
    """Server-sent events, of as many answers at once as there are places; `Refused` beyond."""

    def __init__(self, events: AsyncIterator[str], places: CapacityLimiter) -> None:
        headers = {"X-Accel-Buffering": "no"}  # of nginx, which would hold them back
        super().__init__(events, media_type="text/event-stream", headers=headers)
        self._places = places

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            self._places.acquire_on_behalf_of_nowait(self)
        except WouldBlock:
            raise Refused(
                HTTPStatus.SERVICE_UNAVAILABLE, "answers",
                "As many answers are being written as can be at once. This says nothing of what is found.",
                cure="Try again in 5 s, or ask /v1/search.", wait=5,
            ) from None  # fmt: skip
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._places.release_on_behalf_of(self)


async def _stream(events: Iterator[tuple[str, Any]], close: Callable[[], None]) -> AsyncIterator[str]:
    """Yield server-sent events; a client that goes ends the request to the model, and nobody waits for it."""
    one = CapacityLimiter(1)  # a thread of its own
    try:
        while (event := await run_sync(next, events, None, abandon_on_cancel=True, limiter=one)) is not None:
            name, data = event
            yield f"event: {name}\ndata: {json.dumps(data)}\n\n"  # ASCII: readers break lines at U+2028
    finally:
        close()


def _status(text: str, *, well: bool) -> Response:
    return JSONResponse({"status": text}, HTTPStatus.OK if well else HTTPStatus.SERVICE_UNAVAILABLE)


def _problems(*more: int) -> dict[int | str, dict[str, Any]]:
    content = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
    return {
        status: {"description": HTTPStatus(status).phrase, "content": content, "model": Problem}
        for status in sorted({401, 429, 500, 503, *more})
    }


async def _http(request: Request, error: Exception) -> NoReturn:
    """Tell of an address, a method or a body that cannot be used; the guard counts it and answers."""
    if isinstance(error.__cause__, Refused):  # while the body was read
        raise error.__cause__
    if not isinstance(error, HTTPException):
        raise error
    raise Refused(
        HTTPStatus(error.status_code), "request", str(error.detail), got=request.method,
        expected=f"one of {', '.join(sorted(request.app.openapi()['paths']))}",
        cure="GET /openapi.json describes them.", headers=error.headers or {},
    ) from None  # fmt: skip


async def _invalid(_: Request, error: Exception) -> NoReturn:
    """Tell of the first part of a request that cannot be used; a question is not said back."""
    if not isinstance(error, RequestValidationError):
        raise error
    first = error.errors()[0]
    place = ".".join(map(str, first["loc"]))
    came = first.get("input")
    short = isinstance(came, int | float | str) and "question" not in place and first["loc"] != ("body",)
    raise Refused(
        HTTPStatus.UNPROCESSABLE_ENTITY, "request", f"{place}: {first['msg']}",
        got=repr(came) if short else type(came).__name__,
        expected=str(first.get("ctx", {}).get("expected") or first["msg"]),
        cure="GET /openapi.json describes what can be sent, with examples.",
    ) from None  # fmt: skip
