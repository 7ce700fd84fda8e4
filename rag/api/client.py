"""A client of the REST interface: the same result types, and no silence taken for an answer.

    from rag.api.client import Client

    with Client("http://127.0.0.1:8600") as law:
        found = law.search("Mon voisin a planté un arbre contre ma clôture, que faire ?")

Needs the extra [api]. It stands wherever LangChain's adapters take an engine (`rag.langchain`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from http import HTTPStatus
from typing import Any, Self, TypeAlias, TypeVar

import httpx
from pydantic import TypeAdapter, ValidationError

from rag.api.answer import AnswerPart, Written
from rag.api.result import ArticlePage, Found, Topics, Why, href
from rag.engine.result import Mode
from rag.errors import BadInput, BadSetting, PandectError
from rag.types import Filter

_T = TypeVar("_T")
TRIES = 2  # all that is asked for is read: asking twice changes nothing
Streamed: TypeAlias = Found | AnswerPart | Written
_EVENTS: dict[str, type[Streamed]] = {"found": Found, "part": AnswerPart, "answer": Written}


class Unreachable(PandectError):
    """No answer came, or none of the interface's own: nothing is known of what was asked for."""


class NoSuchArticle(PandectError):
    """The interface answered that no article bears the id."""


class TooMany(PandectError):
    """Too many requests came; `wait` seconds from now another may."""

    def __init__(self, message: str, wait: int) -> None:
        """Take what the interface said."""
        super().__init__(message)
        self.wait = wait


class Client:
    """Asks one server; may be shared by threads."""

    def __init__(
        self,
        url: str,
        key: str | None = None,
        *,
        seconds: float = 60.0,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        """Take where the interface is, such as http://127.0.0.1:8600, and the key that it may ask for."""
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._http = httpx.Client(base_url=url, headers=headers, timeout=seconds, transport=transport)

    def __enter__(self) -> Self:
        """Return the client itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close its connections."""
        self.close()

    def close(self) -> None:
        """Close its connections."""
        self._http.close()

    def search(
        self,
        question: str,
        *,
        k: int = 10,
        where: Filter | None = None,
        method: Mode = "hybrid",
        language: str = "en",
        receipt: bool = False,
    ) -> Found:
        """Return the articles that answer a question, and what must be known before.

        `receipt`: one comes along; `rag.engine.receipt.as_json` makes it the file that is verified.

        Raises:
            BadInput: the request cannot be used; the message says why.
            TooMany, Unreachable: no answer was given.
        """
        body = _body(question, k, where, method, language) | ({"receipt": True} if receipt else {})
        return _read(Found, self._ask("POST", "/v1/search", body).content)

    def article(self, article_id: str) -> ArticlePage:
        """Return an article with what stands around it.

        Raises:
            NoSuchArticle: the interface says that there is none of this id.
            TooMany, Unreachable: no answer was given.
        """
        return _read(ArticlePage, self._ask("GET", href(article_id)).content)

    def topics(self) -> Topics:
        """Return which law is searched; raises as `search` does."""
        return _read(Topics, self._ask("GET", "/v1/topics").content)

    def why(self, question: str, rank: int, *, where: Filter | None = None, method: Mode = "hybrid") -> Why:
        """Return why the article of a rank, from 1, of `search` stands there; raises as that does."""
        body = _body(question, max(rank, 10), where, method, "en")
        return _read(Why, self._ask("POST", f"/v1/why/{rank}", body).content)

    def answer(
        self, question: str, *, where: Filter | None = None, remove: bool = True
    ) -> Iterator[Streamed]:
        """Yield what was found, the parts of an answer as they come, and at last the whole.

        `remove`: personal data is taken out of the question before a model is asked. Raises as `search` does,
        and Unreachable where the stream ends before the whole has come.
        """
        body = _body(question, 10, where, "hybrid", "en")
        body["personal_data"] = "remove" if remove else "send"
        last: Streamed | None = None
        try:
            with self._http.stream("POST", "/v1/answer", json=body) as response:
                if response.status_code != HTTPStatus.OK:
                    response.read()
                    _raise(response)
                for name, data in _events(response.iter_lines()):
                    if name in _EVENTS:
                        last = _read(_EVENTS[name], data)
                        yield last
        except httpx.HTTPError as error:
            raise _silent(error) from error
        if not isinstance(last, Written):
            raise Unreachable("The answer broke off before its end: nothing is known of the rest. Ask again.")

    def healthy(self) -> bool:
        """Return whether the interface says that questions are answered.

        Raises:
            Unreachable: it says nothing, which is not that they are not.
        """
        response = self._send("GET", "/v1/health")
        status, kind = response.status_code, response.headers.get("content-type", "")
        if status not in (HTTPStatus.OK, HTTPStatus.SERVICE_UNAVAILABLE) or kind != "application/json":
            raise Unreachable(f"What answered with status {status} is not the interface.")
        return status == HTTPStatus.OK

    def _ask(self, method: str, path: str, body: dict[str, Any] | None = None) -> httpx.Response:
        response = self._send(method, path, body)
        if response.status_code != HTTPStatus.OK:
            _raise(response)
        return response

    def _send(
        self, method: str, path: str, body: dict[str, Any] | None = None, *, tries: int = TRIES
    ) -> httpx.Response:
        """Send a request, once more where the connection broke: a process that ends closes its own."""
        try:
            return self._http.request(method, path, json=body)
        except httpx.HTTPError as error:
            if tries > 1 and not isinstance(error, httpx.TimeoutException):
                return self._send(method, path, body, tries=tries - 1)
            raise _silent(error) from error


def _body(question: str, k: int, where: Filter | None, method: Mode, language: str) -> dict[str, Any]:
    where = where or Filter()
    return {
        "question": question, "k": k, "codes": sorted(where.codes), "law_types": sorted(where.law_types),
        "regions": sorted(where.regions), "method": method, "language": language,
        "day": where.in_force_on.isoformat() if where.in_force_on else None,
    }  # fmt: skip


def _events(lines: Iterator[str]) -> Iterator[tuple[str, str]]:
    """Yield the names and the data of server-sent events, each of one line."""
    name = ""
    for line in lines:
        field, _, value = line.partition(": ")
        if field == "event":
            name = value
        elif field == "data":
            yield name, value


_adapter = cache(TypeAdapter)


def _read(kind: type[_T], data: bytes | str) -> _T:
    try:
        made: _T = _adapter(kind).validate_json(data)  # type: ignore[arg-type]
    except ValidationError as error:
        raise Unreachable(
            f"What came is no {kind.__name__} of this version: is {error.title} of another release?"
        ) from None
    return made


def _raise(response: httpx.Response) -> None:
    """Raise what a problem means; one that is not the interface's own says nothing."""
    status = response.status_code
    try:
        problem = json.loads(response.content)
        kind, detail = problem["type"], problem["detail"]
    except (ValueError, KeyError, TypeError):
        raise Unreachable(
            f"Status {status} came, and no word of the interface: is the address right?"
        ) from None
    parts = [detail, *(f"{name}: {problem[name]}" for name in ("got", "expected") if problem.get(name))]
    message = ". ".join(part.rstrip(".") for part in parts) + f". {problem.get('cure') or ''}".rstrip()
    if kind == "article":
        raise NoSuchArticle(message)
    if kind == "rate":
        raise TooMany(message, int(problem.get("wait") or 1))
    if kind == "key":
        raise BadSetting(message)
    if status < HTTPStatus.INTERNAL_SERVER_ERROR:
        raise BadInput(message)
    raise Unreachable(message)


def _silent(error: httpx.HTTPError) -> Unreachable:
    """Return what is known where no answer came; httpx's message may hold an address, and no question."""
    return Unreachable(
        f"No answer came ({type(error).__name__}): nothing is known of what was asked for. "
        "Is ./pandect serve running there?"
    )
