"""Errors of the interface as problem details (RFC 9457): what came, what was expected, what to type."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
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


class Refused(Exception):
    """A request is not answered, by whatever part of the interface."""

    def __init__(
        self,
        status: HTTPStatus,
        type_: str,
        detail: str,
        *,
        headers: Mapping[str, str] | None = None,
        **told: object,
    ) -> None:
        """Take the problem; `told` are its other fields."""
        super().__init__(type_)
        if "got" in told:
            told["got"] = str(told["got"])[:LONGEST]
        self.problem = Problem(type_, status.phrase, status, detail, **told)  # type: ignore[arg-type]
        wait = {} if self.problem.wait is None else {"Retry-After": str(self.problem.wait)}
        self._headers = dict(headers or {}) | wait

    def response(self) -> JSONResponse:
        """Return what the client is sent."""
        kind = "application/problem+json"
        return JSONResponse(plain(self.problem), self.problem.status, self._headers, media_type=kind)
