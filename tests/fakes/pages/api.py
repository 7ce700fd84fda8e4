"""The REST interface over fake engines, asked in this process; and a real server of it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
from anyio.from_thread import BlockingPortal, start_blocking_portal

from rag.answer.generation.writer import ModelWriter
from rag.api.access import Access, access
from rag.api.app import create_app
from rag.api.client import Client
from rag.engine.engine import Engine
from rag.errors import MissingIndex
from tests.fakes.pages.ui_engine import ENGINES, FakeEngine
from tests.fakes.process import answers, free_port, started
from tests.paths import ROOT


class Shelf:
    """A library of one engine, which a test may change; none: it cannot be opened."""

    def __init__(self, engine: FakeEngine | Engine | None) -> None:
        self.now = engine

    def engine(self) -> Any:
        if self.now is None:
            raise MissingIndex("no index named 'law' under /home/host: run python -m indexes build law")
        return self.now


class InProcess(httpx.BaseTransport):
    """Asks an application as a client on this machine, or from an address, does."""

    def __init__(self, app: Any, portal: BlockingPortal, address: str) -> None:
        self._app = httpx.ASGITransport(app, client=(address, 4711))
        self._portal = portal

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        async def ask() -> httpx.Response:
            sent = httpx.Request(request.method, request.url, headers=request.headers, content=request.read())
            response = await self._app.handle_async_request(sent)
            return httpx.Response(
                response.status_code, headers=response.headers, content=await response.aread()
            )

        return self._portal.call(ask)


class Served:
    """An application, and ways to ask it."""

    def __init__(self, shelf: Shelf, portal: BlockingPortal, writer: Any, access: Access) -> None:
        self.shelf, self._portal = shelf, portal
        self.app = create_app(shelf, access, writer)

    def client(self, key: str | None = None, address: str = "127.0.0.1") -> Client:
        return Client("http://law", key, transport=InProcess(self.app, self._portal, address))

    def http(self, address: str = "127.0.0.1") -> httpx.Client:
        return httpx.Client(base_url="http://law", transport=InProcess(self.app, self._portal, address))


@contextmanager
def served(
    engine: FakeEngine | Engine | str | None = "plain",
    writer: ModelWriter | Any = None,
    environ: Mapping[str, str] | None = None,
    **settings: Any,
) -> Iterator[Served]:
    with start_blocking_portal() as portal:
        shelf = Shelf(ENGINES[engine] if isinstance(engine, str) else engine)
        yield Served(shelf, portal, writer, replace(access(environ or {}), **settings))


@contextmanager
def running(
    folder: Path, *, port: int = 0, python: str | Path = "", **environ: str
) -> Iterator[tuple[str, subprocess.Popen[bytes], Path]]:
    """Run `python -m indexes serve` over the index that ships: its address, the process, its log.

    `python`: one that has the packages installed; else this one runs them from the clone.
    """
    port = free_port(port)
    log, url = folder / "api.log", f"http://127.0.0.1:{port}"
    command = [python or sys.executable, "-m", "indexes", "serve", "--port", str(port)]
    environ |= {} if python else {"PYTHONPATH": str(ROOT)}
    with started(command, log, lambda: answers(f"{url}/v1/ready"), cwd=folder, **environ) as process:
        yield url, process, log
