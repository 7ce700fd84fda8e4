"""A server on localhost that keeps its word, or breaks it in one way after another."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple


class Seen(NamedTuple):
    """What was asked."""

    path: str
    headers: Mapping[str, str]  # names in small letters


@dataclass
class Answer:
    """What to answer one request with."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    cut: int | None = None  # send only so many bytes of the body, then hang up
    length: int | None = None  # what Content-Length claims; -1 leaves it out
    drip: float | None = None  # seconds between two bytes of the body


Behaviour = Callable[[Seen], Answer]


class Odd:
    """The server's address, what it was asked, and what it answers."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.seen: list[Seen] = []
        self.answer: Behaviour = lambda seen: Answer(404)

    def in_turn(self, *answers: Answer | Behaviour) -> None:
        """Answer so, one after the other; the last one again and again."""
        left = list(answers)

        def answer(seen: Seen) -> Answer:
            found = left.pop(0) if len(left) > 1 else left[0]
            return found if isinstance(found, Answer) else found(seen)

        self.answer = answer


def file(body: bytes, *, tag: str | None = '"v1"', cut: int | None = None) -> Behaviour:
    """A file as a good server gives it, in parts if asked; `cut` hangs up after so many bytes."""

    def answer(seen: Seen) -> Answer:
        headers = {"ETag": tag} if tag else {}
        asked = seen.headers.get("range")
        condition = seen.headers.get("if-range")
        if asked is None or (condition is not None and condition != tag):
            return Answer(200, body, headers, cut)
        start = int(asked.removeprefix("bytes=").rstrip("-"))
        if start >= len(body):
            return Answer(416, b"", {**headers, "Content-Range": f"bytes */{len(body)}"})
        told = {**headers, "Content-Range": f"bytes {start}-{len(body) - 1}/{len(body)}"}
        return Answer(206, body[start:], told, cut)

    return answer


@contextmanager
def serving() -> Iterator[Odd]:
    """Serve on a free port while the block runs."""

    stopped = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked = Seen(self.path, {name.lower(): value for name, value in self.headers.items()})
            odd.seen.append(asked)
            answer = odd.answer(asked)
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            length = len(answer.body) if answer.length is None else answer.length
            if length >= 0:
                self.send_header("Content-Length", str(length))
            self.end_headers()
            if answer.drip is None:
                self.wfile.write(answer.body[: answer.cut])
            else:
                self._drip(answer.body[: answer.cut], answer.drip)
            self.close_connection = True

        def _drip(self, body: bytes, pause: float) -> None:
            with contextlib.suppress(OSError):  # the other side hangs up
                for byte in body:
                    self.wfile.write(bytes([byte]))
                    self.wfile.flush()
                    if stopped.wait(pause):
                        return

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    odd = Odd(f"http://127.0.0.1:{server.server_address[1]}")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield odd
    finally:
        stopped.set()
        server.shutdown()
        thread.join()
        server.server_close()
