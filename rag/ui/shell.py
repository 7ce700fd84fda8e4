"""What is sent around the pages: security headers, and what a browser without scripts shows."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse

from rag.errors import PandectError
from rag.lifecycle import WORK
from rag.screening.emergencies import emergency_help
from rag.ui import visits
from rag.ui.html import Html, bullets, join, link, tag, telephone
from rag.ui.i18n import LANGUAGES, N_, words

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from rag.corpus.card import Contact, CorpusCard

_NEEDS = N_("This page needs JavaScript, which this browser does not run. These help without it:")
_NEEDS_ALONE = N_("This page needs JavaScript, which this browser does not run.")
_NOSCRIPT = re.compile(rb"<noscript>.*?</noscript>", re.DOTALL)
_POLICY = {  # Content Security Policy, level 3
    "default-src": "'self'",
    # Streamlit begins with a script in its page, puts ours into the document, and compiles for its charts
    "script-src": "'self' 'unsafe-inline' 'unsafe-eval' 'wasm-unsafe-eval' blob:",
    "worker-src": "'self' blob:",
    "style-src": "'self' 'unsafe-inline'",
    "img-src": "'self' data: blob:",
    "font-src": "'self' data:",
    "connect-src": "'self' ws: wss:",  # why not 'self' alone: older browsers do not count sockets among it
    "object-src": "'none'",
    "base-uri": "'self'",
    "form-action": "'self'",
    "frame-ancestors": "'none'",
}
HEADERS = {
    "Content-Security-Policy": "; ".join(f"{name} {value}" for name, value in _POLICY.items()),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",  # of browsers that know no frame-ancestors
    "Referrer-Policy": "no-referrer",  # a shared link may hold a question
}


def no_script(card: CorpusCard | None) -> Html:
    """Return what a browser without scripts shows: that it needs them, in each language, and who can help."""
    contacts: tuple[Contact, ...] = ()
    if card is not None:
        contacts = tuple(dict.fromkeys((*emergency_help(card), *card.contacts)))
    message = _NEEDS if contacts else _NEEDS_ALONE
    said = (tag("p", words(code)(message), lang=words(code).how.tag) for code in LANGUAGES)
    people = [
        join(link(each.url, each.name), *([" · ", telephone(each.phone)] if each.phone else []))
        for each in contacts
    ]
    helped = bullets(people, lang=card.language) if card is not None and people else ""
    return tag(
        "main",
        tag("h1", "Pandect"),
        *said,
        helped,
        style="max-width: 40rem; margin: 2rem auto; padding: 0 1rem",
    )


HEALTH = "/health"  # Streamlit's own, /_stcore/health, says that the process runs, with law or without


LOOK = 0.25  # seconds
BURST, PACE = 8, 2.0  # messages at once, and a second: each is a run of the page, of some 80 ms
ADDRESSES = 4096  # whose pace is remembered


class Pace:
    """When messages may pass: a few at once, then so many a second."""

    def __init__(self, pace: float) -> None:
        """Let `pace` messages pass a second, and at once those of `BURST / PACE` seconds."""
        self._step, self._at_once = 1 / pace, BURST / PACE
        self._due = 0.0  # when the next may pass, were none allowed at once

    def next(self, now: float) -> float:
        """Count a message; return when it may pass."""
        self._due = max(self._due, now - max(self._at_once, self._step)) + self._step
        return self._due


def paced(
    receive: Receive, address: Pace | None = None, shared: Callable[[], float | None] | None = None
) -> Receive:
    """Hand over what a socket sends no faster than anybody clicks, nor all of its address than theirs.

    `shared` counts a message among those of the address at all replicas and returns the
    seconds that it waits.

    Each message is a run of the page. Five sockets that sent twenty a second kept everybody else waiting for
    a minute; now they wait themselves, and nothing of theirs is lost.
    """
    paces = [Pace(PACE), *([address] if address is not None else [])]

    async def slowed() -> Message:
        message = await receive()
        if message["type"] == "websocket.receive":
            now = time.monotonic()
            due = max(pace.next(now) for pace in paces)
            if shared is not None:
                wait: float | None = await asyncio.to_thread(shared)
                due = max(due, now + (wait or 0.0))
            while (
                left := due - time.monotonic()
            ) > 0 and not WORK.ending:  # the end waits for all to be heard
                await asyncio.sleep(min(left, LOOK))
        return message

    return slowed


class Shell:
    """ASGI middleware: puts `HEADERS` on every response, and ours in place of Streamlit's own `noscript`."""

    def __init__(self, app: ASGIApp, unscripted: Callable[[], str], healthy: Callable[[], bool]) -> None:
        """Wrap an application.

        Args:
            app: the application.
            unscripted: makes the HTML of `no_script`, asked for once a page.
            healthy: tells whether questions are answered, which `/health` says by 200 or 503; it may wait.
        """
        self.app, self.unscripted, self.healthy = app, unscripted, healthy
        self._paces: dict[str, Pace] = {}  # by address; those that were opened last, last

    def _pace(self, scope: Scope) -> tuple[Pace | None, Callable[[], float | None] | None]:
        """Return the pace that all sockets of a visitor's address share, here and at all replicas.

        None: that is not limited, or there is no store that replicas share.
        """
        peer = scope["client"][0] if scope.get("client") else None
        try:
            limits = visits.visits()
            rate, shared = limits.messages, limits.shared
            address = visits.visitor(peer, Headers(scope=scope).getlist)
        except PandectError:  # a setting that cannot be used, which the page tells
            return None, None
        if rate is None or address is None:
            return None, None
        found = self._paces.pop(address, None) or Pace(rate.calls / rate.seconds)
        while len(self._paces) >= ADDRESSES:
            self._paces.pop(next(iter(self._paces)))
        self._paces[address] = found
        if shared is None:
            return found, None
        return found, partial(shared.pace, f"messages {address}", rate.seconds / rate.calls, BURST / PACE)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request; what sockets send passes at a person's pace."""
        if scope["type"] == "websocket":
            receive = paced(receive, *self._pace(scope))
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        path = scope["path"].rstrip("/")
        if path.endswith(HEALTH) and "/_stcore" not in path:  # below a folder too; Streamlit's own is another
            well = await asyncio.to_thread(self.healthy)
            told = {"status": "ok" if well else "no question is answered; the log says why"}
            await JSONResponse(told, 200 if well else 503, HEADERS)(scope, receive, send)
            return
        if "text/html" in Headers(scope=scope).get("accept", ""):  # what is packed cannot be put into
            kept = [(name, value) for name, value in scope["headers"] if name != b"accept-encoding"]
            scope = {**scope, "headers": kept}
        start: Message | None = None
        held = b""

        async def respond(message: Message) -> None:
            nonlocal start, held
            if message["type"] == "http.response.start":
                headers = MutableHeaders(raw=message["headers"])
                headers.update(HEADERS)
                page = headers.get("content-type", "").startswith("text/html")
                if page and scope["method"] == "GET" and "content-encoding" not in headers:
                    start = message
                    return
            elif message["type"] == "http.response.body" and start is not None:
                held += message.get("body", b"")
                if message.get("more_body", False):
                    return
                ours = f"<noscript>{self.unscripted()}</noscript>".encode()
                held = _NOSCRIPT.sub(lambda _: ours, held)
                headers = MutableHeaders(raw=start["headers"])
                headers["content-length"] = str(len(held))
                del headers["etag"], headers["last-modified"]  # of the page without ours
                await send(start)
                message, start = {**message, "body": held}, None
            await send(message)

        await self.app(scope, receive, respond)
