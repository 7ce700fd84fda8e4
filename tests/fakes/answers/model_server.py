"""A language model's server on localhost that does as it is told: well, badly, slowly, or not at all.

    with serving(good(LINES)) as server:
        PANDECT_MODEL="openai:scripted", PANDECT_MODEL_URL=server.url

It speaks three protocols, told apart by the path: OpenAI's (`server.url`), Ollama's and Anthropic's
(`server.root`). A behaviour is a function of an `Exchange`; `server.behaviour` may be replaced while it runs.
Every request is kept in `server.seen`, every token with the moment it was sent in `server.sent`, and
`server.hung_up` is set when the client closes a connection before the answer has ended.
"""

from __future__ import annotations

import contextlib
import gzip
import json
import select
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

MODEL = "scripted"


class HungUp(Exception):
    """The client has closed the connection."""


class Seen(NamedTuple):
    """What was asked."""

    path: str
    headers: Mapping[str, str]  # names in small letters
    body: Mapping[str, Any]

    @property
    def prompt(self) -> str:
        """Everything that was said to the model."""
        parts = [self.body.get("system", ""), *(m["content"] for m in self.body.get("messages", []))]
        return "\n".join(part if isinstance(part, str) else json.dumps(part) for part in parts)


class Sent(NamedTuple):
    """A token, and when it left."""

    at: float  # time.monotonic()
    text: str


Behaviour = Callable[["Exchange"], None]


@dataclass
class Server:
    """Where it is, what it does, and what has happened."""

    root: str  # http://127.0.0.1:PORT
    behaviour: Behaviour
    seen: list[Seen] = field(default_factory=list)
    sent: list[Sent] = field(default_factory=list)
    hung_up: threading.Event = field(default_factory=threading.Event)
    stopping: threading.Event = field(default_factory=threading.Event)

    @property
    def url(self) -> str:
        """Its address, as OpenAI's clients want it."""
        return f"{self.root}/v1"

    def sent_by(self, text: str) -> float:
        """When the last token of `text` left, which must have been sent whole."""
        sent = ""
        for at, token in self.sent:
            sent += token
            if text in sent:
                return at
        raise AssertionError(f"{text!r} was never sent")


class Exchange:
    """One request, and the means to answer it."""

    def __init__(self, handler: BaseHTTPRequestHandler, server: Server, seen: Seen) -> None:
        self._handler, self._server, self.seen = handler, server, seen
        self._streaming = False
        self._ollama = seen.path.startswith("/api/")
        self._anthropic = seen.path.endswith("/messages")

    def status(self, code: int, body: str = "", headers: Mapping[str, str] | None = None) -> None:
        """Answer with a status and a body, and be done."""
        data = body.encode()
        self.head(code, len(data), headers)
        self.body(data)

    def head(self, code: int, length: int, headers: Mapping[str, str] | None = None) -> None:
        """Send a status and the headers of a body of so many bytes."""
        self._handler.send_response(code)
        for name, value in {"Content-Type": "application/json", **(headers or {})}.items():
            self._handler.send_header(name, value)
        self._handler.send_header("Content-Length", str(length))
        self._handler.end_headers()

    def body(self, data: bytes) -> None:
        """Send a part of a body."""
        self._handler.wfile.write(data)

    def begin(self) -> None:
        """Send the headers of a stream, and what comes before the first token."""
        if self._streaming:
            return
        self._streaming = True
        kind = "application/x-ndjson" if self._ollama else "text/event-stream"
        self._handler.send_response(200)
        for name, value in {
            "Content-Type": kind,
            "Transfer-Encoding": "chunked",
            "Connection": "close",
        }.items():
            self._handler.send_header(name, value)
        self._handler.end_headers()
        if self._anthropic:
            usage = {"input_tokens": 7, "output_tokens": 1}
            message: dict[str, Any]
            message = {"id": "m", "type": "message", "role": "assistant", "content": [], "model": MODEL,
                       "stop_reason": None, "stop_sequence": None, "usage": usage}  # fmt: skip
            self._event({"type": "message_start", "message": message})
            block = {"type": "text", "text": ""}
            self._event({"type": "content_block_start", "index": 0, "content_block": block})
        elif not self._ollama:
            self._event(_chunk({"role": "assistant", "content": ""}))

    def token(self, text: str) -> None:
        """Send one token."""
        self.begin()
        if self._anthropic:
            record: dict[str, Any] = {"type": "content_block_delta", "index": 0}
            record["delta"] = {"type": "text_delta", "text": text}
        elif self._ollama:
            record = {"model": MODEL, "created_at": "2026-01-01T00:00:00Z", "done": False}
            record["message"] = {"role": "assistant", "content": text}
        else:
            record = _chunk({"content": text})
        self._server.sent.append(Sent(time.monotonic(), text))
        self._event(record)

    def say(self, text: str, *, size: int = 5, pause: float = 0.0) -> None:
        """Send a text in tokens of so many characters, with so many seconds between them."""
        for start in range(0, len(text), size):
            if start and pause:
                self.pause(pause)
            self.token(text[start : start + size])

    def end(self, finish: str = "stop") -> None:
        """End the stream as it should be."""
        self.begin()
        if self._anthropic:
            reason = {"stop": "end_turn", "length": "max_tokens"}[finish]
            self._event({"type": "content_block_stop", "index": 0})
            delta = {"stop_reason": reason, "stop_sequence": None}
            self._event(
                {"type": "message_delta", "delta": delta, "usage": {"input_tokens": 7, "output_tokens": 11}}
            )
            self._event({"type": "message_stop"})
        elif self._ollama:
            record = {
                "model": MODEL,
                "created_at": "2026-01-01T00:00:00Z",
                "done": True,
                "done_reason": finish,
            }
            message = {"role": "assistant", "content": ""}
            self._event({**record, "message": message, "prompt_eval_count": 7, "eval_count": 11})
        else:
            self._event(_chunk({}, finish))
            if (self.seen.body.get("stream_options") or {}).get("include_usage"):
                usage = {"prompt_tokens": 7, "completion_tokens": 11, "total_tokens": 18}
                self._event({**_chunk({}), "choices": [], "usage": usage})
            self.raw(b"data: [DONE]\n\n")
        self._handler.wfile.write(b"0\r\n\r\n")

    def raw(self, data: bytes) -> None:
        """Send bytes as one part of the stream."""
        self._look()
        try:
            self._handler.wfile.write(b"%x\r\n%b\r\n" % (len(data), data))
            self._handler.wfile.flush()
        except OSError:
            raise HungUp from None

    def pause(self, seconds: float) -> None:
        """Do nothing for a while, unless the client hangs up."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0 and not self._server.stopping.is_set():
            self._look(min(left, 0.05))

    def drop(self) -> None:
        """Break the connection off."""
        with contextlib.suppress(OSError):
            self._handler.connection.shutdown(socket.SHUT_RDWR)

    def _event(self, record: Mapping[str, Any]) -> None:
        line = json.dumps(record)
        if self._ollama:
            self.raw(f"{line}\n".encode())
        elif self._anthropic:
            self.raw(f"event: {record['type']}\ndata: {line}\n\n".encode())
        else:
            self.raw(f"data: {line}\n\n".encode())

    def _look(self, seconds: float = 0.0) -> None:
        """Find out whether the client is still there."""
        readable, _, _ = select.select([self._handler.connection], [], [], seconds)
        if not readable:
            return
        try:
            gone = not self._handler.connection.recv(1, socket.MSG_PEEK)
        except OSError:
            gone = True
        if gone:
            raise HungUp
        time.sleep(seconds)  # a further request waits on the same connection


def _chunk(delta: Mapping[str, Any], finish: str | None = None) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": MODEL, "choices": [choice]}


@contextmanager
def serving(behaviour: Behaviour) -> Iterator[Server]:
    """Serve on a free port while the block runs."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            length = int(self.headers.get("Content-Length", 0))
            body = json.loads(self.rfile.read(length) or b"{}")
            seen = Seen(self.path, {name.lower(): value for name, value in self.headers.items()}, body)
            server.seen.append(seen)
            self.close_connection = True
            try:
                server.behaviour(Exchange(self, server, seen))
            except (HungUp, BrokenPipeError, ConnectionResetError):
                server.hung_up.set()

        def log_message(self, format: str, *arguments: object) -> None:
            """Say nothing."""

    class Quiet(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, request: object, client_address: object) -> None:
            """Say nothing: connections are broken off on purpose."""

    with Quiet(("127.0.0.1", 0), Handler) as listening:
        server = Server(f"http://127.0.0.1:{listening.server_address[1]}", behaviour)
        thread = threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.stopping.set()
            listening.shutdown()
            thread.join()


# --- what a model may write ---


def sentence(text: str, *quotes: tuple[str, str]) -> str:
    """One sentence as the prompts ask for it, with its newline; a quote is (label or id, words)."""
    cited = list(dict.fromkeys(label for label, _ in quotes))
    told = [{"article": label, "text": words} for label, words in quotes]
    return json.dumps({"text": text, "articles": cited, "quotes": told}, ensure_ascii=False) + "\n"


def quote(passage: str) -> str:
    """One passage that a model chooses, with its newline: "A1.2", "A1.2-A1.3"."""
    return json.dumps({"quote": passage}) + "\n"


def say(key: str) -> str:
    """One connecting line, by its key."""
    return json.dumps({"say": key}) + "\n"


def verdict(said: str, words: str = "") -> str:
    """What a judge says of a claim, with the words that decide."""
    return json.dumps({"verdict": said, "words": words}, ensure_ascii=False)


REFUSAL = '{"refusal": true}\n'


def root(lines: Sequence[str]) -> str:
    """The same as one object, as a server writes that is held to the schema."""
    records = [json.loads(line) for line in lines]
    return json.dumps(
        {
            "refusal": any("refusal" in record for record in records),
            "answer": [record for record in records if "refusal" not in record],
        },
        ensure_ascii=False,
    )


# --- behaviours ---


def good(lines: Sequence[str], *, pause: float = 0.0, finish: str = "stop") -> Behaviour:
    """Write the lines; a lying model differs only in what they say."""

    def behave(exchange: Exchange) -> None:
        for line in lines:
            exchange.say(line, pause=pause)
        exchange.end(finish)

    return behave


def structured(lines: Sequence[str]) -> Behaviour:
    """Write a root object if a schema was sent along, and lines if not."""

    def behave(exchange: Exchange) -> None:
        body = exchange.seen.body
        held = any(key in body for key in ("response_format", "format", "output_config"))
        good([root(lines)] if held else lines)(exchange)

    return behave


def slow_to_begin(seconds: float, lines: Sequence[str] = ()) -> Behaviour:
    """Send headers at once, and the first token late."""

    def behave(exchange: Exchange) -> None:
        exchange.begin()
        exchange.pause(seconds)
        good(lines)(exchange)

    return behave


def silent(seconds: float = 60.0) -> Behaviour:
    """Take the request and never answer."""
    return lambda exchange: exchange.pause(seconds)


def stalls(lines: Sequence[str], seconds: float = 60.0) -> Behaviour:
    """Write the lines and half of another one, then nothing more."""

    def behave(exchange: Exchange) -> None:
        exchange.say("".join(lines) + '{"quote": "half of a pas')
        exchange.pause(seconds)

    return behave


def breaks(lines: Sequence[str]) -> Behaviour:
    """Write the lines and half of another one, then break the connection off."""

    def behave(exchange: Exchange) -> None:
        exchange.say("".join(lines) + '{"quote": "half of a pas')
        exchange.drop()

    return behave


def refusing(exchange: Exchange) -> None:
    """Say that the articles do not suffice."""
    good([REFUSAL])(exchange)


def empty(exchange: Exchange) -> None:
    """End without a token."""
    exchange.end()


def garbage(exchange: Exchange) -> None:
    """Write everything but an answer."""
    good(
        ['}{"text":', "<html>\x00\ufffd", '{"text": 5}', "[[[[[[[[[[[[{", '{"a": {"b":' * 5, "\\ud800\n\n```"]
    )(exchange)


def no_protocol(exchange: Exchange) -> None:
    """Answer with a page in place of a stream."""
    exchange.status(200, "<html>Welcome!</html>", {"Content-Type": "text/html"})


def broken_events(exchange: Exchange) -> None:
    """Begin a stream whose events are no JSON."""
    exchange.begin()
    exchange.raw(b"data: {\xff\xfe not json\n\n")
    exchange.end()


def huge(line: str, times: int = 50_000) -> Behaviour:
    """Write one line again and again."""

    def behave(exchange: Exchange) -> None:
        for _ in range(times):
            exchange.say(line, size=200)
        exchange.end()

    return behave


def keeps_alive(seconds: float = 60.0) -> Behaviour:
    """Send chunks without a token, so that the connection looks alive."""

    def behave(exchange: Exchange) -> None:
        exchange.begin()
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            exchange.pause(0.05)
            exchange.token("")

    return behave


def fails(code: int, headers: Mapping[str, str] | None = None) -> Behaviour:
    """Answer with an error that tells everything it knows: the key and the whole request."""

    def behave(exchange: Exchange) -> None:
        told = {**exchange.seen.headers, **exchange.seen.body}
        message = f"Error {code}: {json.dumps(told, default=str)}"
        exchange.status(code, json.dumps({"error": {"message": message, "type": "error"}}), headers)

    return behave


def redirects(code: int, to: str) -> Behaviour:
    """Send whoever asks to another address."""
    return lambda exchange: exchange.status(code, "", {"Location": to})


def without_newline(sent: list[int], most: int = 64 * 2**20) -> Behaviour:
    """Begin a stream and never end its line; what it could send is counted in `sent`."""

    def behave(exchange: Exchange) -> None:
        exchange.begin()
        for _ in range(most // 2**18):
            exchange.raw(b"x" * 2**18)
            sent.append(2**18)

    return behave


def long_error(sent: list[int], most: int = 64 * 2**20) -> Behaviour:
    """Answer with an error whose body goes on and on; what it could send is counted in `sent`."""

    def behave(exchange: Exchange) -> None:
        exchange.head(500, most)
        for _ in range(most // 2**18):
            exchange.body(b"x" * 2**18)
            sent.append(2**18)

    return behave


def packed(exchange: Exchange) -> None:
    """Answer with a little gzip that unpacks to a lot."""
    data = gzip.compress(b"x" * 2**24)
    exchange.head(200, len(data), {"Content-Encoding": "gzip", "Content-Type": "text/event-stream"})
    exchange.body(data)


def limited(wait: str | None = None) -> Behaviour:
    """Too many requests; `wait` is what Retry-After says."""
    return fails(429, {"Retry-After": wait} if wait else None)


def in_turn(*behaviours: Behaviour) -> Behaviour:
    """One after the other, a request each; the last one again and again."""
    left = list(behaviours)

    def behave(exchange: Exchange) -> None:
        (left.pop(0) if len(left) > 1 else left[0])(exchange)

    return behave
