"""Errors of the interface as problem details (RFC 9457): what came, what was expected, what to type."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus

from starlette.responses import JSONResponse

from rag.api.result import plain

LONGEST = 80  # characters of what came that are said back


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a request was not answered."""

    type: str  # a word to go by, such as "rate"
    title: str
    status: int
    detail: str
    got: str | None = None  # what came, cut; never a question
    expected: str | None = None
    cure: str | None = None  # what to send or to type
    wait: int | None = None  # seconds after which another try makes sense


@dataclass(eq=False)
class Refused(Exception):  # not frozen: Python hangs tracebacks on it
    """A request is not answered, by whatever part of the interface."""

    status: HTTPStatus
    type: str
    detail: str
    got: object = None
    expected: str | None = None
    cure: str | None = None
    wait: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)

    def response(self) -> JSONResponse:
        """Return what the client is sent."""
        got = None if self.got is None else str(self.got)[:LONGEST]
        problem = Problem(
            self.type, self.status.phrase, self.status, self.detail, got, self.expected, self.cure, self.wait
        )
        headers = dict(self.headers) | ({"Retry-After": str(self.wait)} if self.wait is not None else {})
        return JSONResponse(plain(problem), self.status, headers, media_type="application/problem+json")
