"""A hub on this machine: serves folders of models under the addresses that the hub has for them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple

from tests.paths import ROOT

COMMIT = "0123456789abcdef0123456789abcdef01234567"


class RunningHub(NamedTuple):
    """Where it answers, and the paths that it was asked for."""

    url: str
    asked: list[str]

    def run(self, script: str, folder: Path) -> subprocess.CompletedProcess[str]:
        """Run Python in a process of its own, whose hub this is, with an empty cache in the folder."""
        kept = {k: v for k, v in os.environ.items() if not k.startswith("HF_") and "proxy" not in k.lower()}
        return subprocess.run(
            [sys.executable, "-c", script],
            env=kept | {"HF_ENDPOINT": self.url, "HF_HOME": str(folder), "PYTHONPATH": str(ROOT)},
            cwd=folder,
            capture_output=True,
            check=False,
            text=True,
            timeout=300,
        )


@contextmanager
def hub(models: Mapping[str, Path]) -> Iterator[RunningHub]:
    """Serve folders by the ids of their models, such as "test/tiny"; each has one branch and one commit."""
    asked: list[str] = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Hub, models, asked))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield RunningHub(f"http://127.0.0.1:{server.server_port}", asked)
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Hub(BaseHTTPRequestHandler):
    def __init__(self, models: Mapping[str, Path], asked: list[str], *rest: object) -> None:
        self.models, self.asked = models, asked
        super().__init__(*rest)  # type: ignore[arg-type]

    def do_GET(self) -> None:
        self._serve(body=True)

    def do_HEAD(self) -> None:
        self._serve(body=False)

    def _serve(self, *, body: bool) -> None:
        path = self.path.partition("?")[0]
        self.asked.append(path)
        found = next(
            (m for m in self.models if f"{path}/".removeprefix("/api/models").startswith(f"/{m}/")), ""
        )
        folder = self.models.get(found)
        files = (
            {p.relative_to(folder).as_posix(): p for p in folder.rglob("*") if p.is_file()} if folder else {}
        )
        resolved = path.removeprefix(f"/{found}/resolve/").partition("/")[2]
        if path.startswith(f"/{found}/resolve/") and resolved in files:
            content = files[resolved].read_bytes()
            self._answer(200, content, body, {"ETag": f'"{sha256(content).hexdigest()}"'})
        elif found and path.startswith(f"/api/models/{found}/tree/"):
            tree = [
                {
                    "type": "file",
                    "path": name,
                    "size": p.stat().st_size,
                    "oid": sha256(p.read_bytes()).hexdigest(),
                }
                for name, p in files.items()
            ]
            self._answer(200, json.dumps(tree).encode(), body, {"Content-Type": "application/json"})
        elif found and path.startswith(f"/api/models/{found}"):
            about = {"id": found, "sha": COMMIT, "siblings": [{"rfilename": name} for name in files]}
            self._answer(200, json.dumps(about).encode(), body, {"Content-Type": "application/json"})
        else:
            code = "EntryNotFound" if found and path.startswith(f"/{found}/") else "RepoNotFound"
            self._answer(404, b"{}", body, {"X-Error-Code": code})

    def _answer(self, status: int, content: bytes, body: bool, headers: dict[str, str]) -> None:
        self.send_response(status)
        for key, value in {**headers, "X-Repo-Commit": COMMIT, "Content-Length": str(len(content))}.items():
            self.send_header(key, value)
        self.end_headers()
        if body:
            self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Say nothing."""
