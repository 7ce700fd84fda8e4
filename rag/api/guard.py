"""What surrounds every request: its size, its line in the log, and its end where something breaks."""

from __future__ import annotations

import json
import logging
import math
import time
from http import HTTPStatus
from typing import TYPE_CHECKING

import anyio
from starlette.datastructures import Headers, MutableHeaders
from starlette.routing import Match

from rag.api.metrics import Metrics
from rag.api.problems import Refused
from rag.errors import log_failure
from rag.lifecycle import WORK, Work

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

LARGEST = 64 * 1024  # bytes of a request's body; a question of 2,000 characters is read
SECONDS = 30.0  # for a body to come whole
_log = logging.getLogger(__name__)
HEADERS = {"X-Content-Type-Options": "nosniff", "Cache-Control": "no-store", "Referrer-Policy": "no-referrer"}


class Guard:
    """ASGI middleware: refuses what is large or slow, counts and logs each request, is calm about errors."""

    def __init__(self, app: ASGIApp, metrics: Metrics, work: Work = WORK) -> None:
        """Wrap an application."""
        self.app, self.metrics, self.work = app, metrics, work

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        start, status = time.perf_counter(), 0

        async def respond(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
                if self.work.ending:  # the next request is another process's
                    headers["Connection"] = "close"
            await send(message)

        with self.work.one():
            try:
                declared = Headers(scope=scope).get("content-length", "0")
                if declared.isdigit() and int(declared[:18]) > LARGEST:
                    raise _too_large(int(declared[:18]))
                await self.app(scope, _limited(receive), respond)
            except BaseException as error:  # noqa: BLE001 - its message may quote the question
                refused = self._refusal(error, begun=bool(status))
                self.metrics.refusals.labels(refused.problem.type).inc()
                if not status:
                    await refused.response()(scope, receive, respond)
        self._tell(scope, status, time.perf_counter() - start)

    def _refusal(self, error: BaseException, *, begun: bool) -> Refused:
        """Return what a request ends with that did not end well; raise what is nobody's to answer."""
        if isinstance(error, Refused):
            return error
        if isinstance(error, anyio.get_cancelled_exc_class()) and self.work.ending and not begun:
            return _ending()  # uvicorn waits no longer, and would tell of an error of ours
        if not isinstance(error, Exception):
            raise error
        log_failure(error, "a request of the API")
        return _broken()

    def _tell(self, scope: Scope, status: int, seconds: float) -> None:
        """Count and log a request by its route: the path may hold anything."""
        route = _route(scope)
        self.metrics.requests.labels(route, status).inc()
        self.metrics.took("request", seconds)
        caller = scope.get("state", {}).get("caller")
        told = {"method": scope["method"], "route": route, "status": status, "ms": round(seconds * 1000, 1)}
        _log.info("request", extra={"told": told | {"client": caller.client if caller else None}})


def _route(scope: Scope) -> str:
    """Return the template of the route that was asked, also where it was refused before; else "other"."""
    if "route" in scope:
        return str(scope["route"].path)
    found = (each.path for each in scope["app"].routes if each.matches(scope)[0] != Match.NONE)
    return str(next(found, "other"))


def _limited(receive: Receive) -> Receive:
    """Hand over what a request sends, up to its end or to what is too much or too slow."""
    read, until = 0, 0.0

    async def limited() -> Message:
        nonlocal read, until
        until = until or anyio.current_time() + SECONDS
        with anyio.CancelScope(deadline=until) as scope:
            message = await receive()
        if scope.cancelled_caught:
            raise _too_slow(read)
        read += len(message.get("body", b""))
        if read > LARGEST:
            raise _too_large(read)
        if not message.get("more_body"):
            until = math.inf  # what is read from now on tells when the client goes
        return message

    return limited


class JsonLines(logging.Formatter):
    """Writes a record as one line of JSON; of an error its kind and place, for its message may quote."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        when = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
        line = {"time": f"{when}.{record.msecs:03.0f}Z", "level": record.levelname, "from": record.name}
        line["message"] = record.getMessage()
        if record.exc_info and record.exc_info[0] is not None:
            line["error"] = record.exc_info[0].__name__
        return json.dumps(line | getattr(record, "told", {}), ensure_ascii=False)


def _too_large(size: int) -> Refused:
    return Refused(
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "size", "The request is too large.", got=f"{size} bytes or more",
        expected=f"{LARGEST} bytes at most",
        cure="Keep the facts that matter: 2,000 characters of a question are read.",
        headers={"Connection": "close"},
    )  # fmt: skip


def _too_slow(read: int) -> Refused:
    return Refused(
        HTTPStatus.REQUEST_TIMEOUT, "slow", f"The request did not come whole in {SECONDS:g} s.",
        got=f"{read} bytes of it", expected=f"a whole body within {SECONDS:g} s",
        cure="Send it again, in one piece.", headers={"Connection": "close"},
    )  # fmt: skip


def _ending() -> Refused:
    return Refused(
        HTTPStatus.SERVICE_UNAVAILABLE, "ending",
        "The process ends, and there was no time left to answer. This says nothing of what is found.",
        cure="Send it again.", wait=5,
    )  # fmt: skip


def _broken() -> Refused:
    return Refused(
        HTTPStatus.INTERNAL_SERVER_ERROR, "error",
        "The request stopped on an error. The question was not recorded; the log says where it broke.",
        cure="Try again, or in other words.",
    )  # fmt: skip
