"""A Qdrant server on localhost: the requests of the client, done by the client's own imitation in memory."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from qdrant_client import QdrantClient, models

Act = Callable[[QdrantClient, str, Any], object]
LOST = 0  # what was asked is done, and the answer does not come


def _create(client: QdrantClient, name: str, body: models.CreateCollection) -> object:
    return client.create_collection(
        name, vectors_config=body.vectors or {}, sparse_vectors_config=body.sparse_vectors
    )


def _query(client: QdrantClient, name: str, body: models.QueryRequest) -> object:
    return client.query_points(
        name, query=body.query, using=body.using, limit=body.limit or 10, query_filter=body.filter
    )


def _scroll(client: QdrantClient, name: str, body: models.ScrollRequest) -> object:
    points, offset = client.scroll(name, limit=body.limit or 10, offset=body.offset)
    return {"points": _plain(points), "next_page_offset": offset}


ROUTES: dict[str, tuple[Any, Act]] = {  # method and path -> the model of the body, and what is done
    "GET /collections": (None, lambda c, _, __: c.get_collections()),
    "GET /aliases": (None, lambda c, _, __: c.get_aliases()),
    "POST /collections/aliases": (
        models.ChangeAliasesOperation, lambda c, _, b: c.update_collection_aliases(b.actions),
    ),
    "PUT /collections/NAME": (models.CreateCollection, _create),
    "DELETE /collections/NAME": (None, lambda c, n, _: c.delete_collection(n)),
    "PUT /collections/NAME/index": (None, lambda _, __, ___: {"operation_id": 0, "status": "completed"}),
    "PUT /collections/NAME/points": (models.PointsList, lambda c, n, b: c.upsert(n, b.points)),
    "POST /collections/NAME/points": (models.PointRequest, lambda c, n, b: c.retrieve(n, b.ids)),
    "POST /collections/NAME/points/delete": (models.PointIdsList, lambda c, n, b: c.delete(n, b.points)),
    "POST /collections/NAME/points/payload": (
        models.SetPayload, lambda c, n, b: c.set_payload(n, b.payload, points=b.points),
    ),
    "POST /collections/NAME/points/count": (models.CountRequest, lambda c, n, _: c.count(n)),
    "POST /collections/NAME/points/scroll": (models.ScrollRequest, _scroll),
    "POST /collections/NAME/points/query": (models.QueryRequest, _query),
}  # fmt: skip


class QdrantServer:
    """Serves from when it is made until it is closed."""

    def __init__(self) -> None:
        """Begin without collections and without faults."""
        self.client = QdrantClient(":memory:")
        self.fault: Callable[[str], int | None] = lambda asked: None  # a status instead, by "METHOD /path"
        self.asked: list[str] = []
        self._alone = threading.Lock()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._http.daemon_threads = True
        self.address = f"qdrant://127.0.0.1:{self._http.server_port}"
        threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True).start()

    def close(self) -> None:
        """Hang up."""
        self._http.shutdown()
        self._http.server_close()

    def answer(self, method: str, path: str, body: bytes) -> tuple[int, object]:
        """Return a status and what is told."""
        name = next(iter(re.findall(r"^/collections/(?!aliases$)([^/]+)", path)), "")
        asked = f"{method} {path.replace(name, 'NAME', 1) if name else path}"
        self.asked.append(asked)
        status = self.fault(asked)
        if status:
            return status, {"status": {"error": "try later"}}
        kind, act = ROUTES[asked]
        with self._alone:
            try:
                found = act(self.client, name, kind.model_validate_json(body) if kind else None)
            except (KeyError, ValueError) as error:  # the imitation has no statuses
                return 404 if "not found" in str(error) else 400, {"status": {"error": str(error)}}
        return LOST if status == LOST else 200, {"result": _plain(found), "status": "ok", "time": 0.0}


def _plain(found: Any) -> Any:
    if isinstance(found, list):
        return [_plain(each) for each in found]
    return json.loads(found.model_dump_json()) if hasattr(found, "model_dump_json") else found


def _handler(server: QdrantServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            status, told = server.answer(self.command, self.path.partition("?")[0], self.rfile.read(length))
            if status == LOST:
                self.close_connection = True
                return
            body = json.dumps(told).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            if status == 429:
                self.send_header("Retry-After", "1")
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_PUT = do_DELETE = do_GET  # noqa: N815 - their names

        def log_message(self, format: str, *args: object) -> None:
            pass

    return Handler


def each_first(status: int) -> Callable[[str], int | None]:
    """Return a fault: the first request of each kind meets it."""
    seen: set[str] = set()

    def fault(asked: str) -> int | None:
        first = asked not in seen
        seen.add(asked)
        return status if first else None

    return fault
