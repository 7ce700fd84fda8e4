"""A small server that speaks the OpenAI protocol and says what a script says; streamed."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

# What to reply to a prompt: a text, or an HTTP status.
Script = Callable[[str], str | int]


class _Handler(BaseHTTPRequestHandler):
    script: Script
    asked: list[str]

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        prompt = body["messages"][-1]["content"]
        self.asked.append(prompt)
        said = self.script(prompt)
        if isinstance(said, int):
            self.send_response(said)
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"{}")
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        for part in (*said, None):  # a character at a time
            delta = {"role": "assistant", "content": part} if part is not None else {}
            choice = {"index": 0, "delta": delta, "finish_reason": None if part is not None else "stop"}
            self._event({"choices": [choice]})
        self._event(
            {"choices": [], "usage": {"prompt_tokens": 50, "completion_tokens": 5, "total_tokens": 55}}
        )
        self.wfile.write(b"data: [DONE]\n\n")

    def _event(self, chunk: dict[str, object]) -> None:
        whole = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "scripted", **chunk}
        self.wfile.write(f"data: {json.dumps(whole)}\n\n".encode())

    def log_message(self, format: str, *arguments: object) -> None:
        pass


@contextmanager
def serving(script: Script) -> Iterator[tuple[str, list[str]]]:
    """Give the address of a server, and the list of the prompts that it was sent."""
    asked: list[str] = []
    handler = type("Handler", (_Handler,), {"script": staticmethod(script), "asked": asked})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", asked
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
