"""`python -m indexes serve`: the REST interface over an installed index."""

from __future__ import annotations

import argparse
import logging
import os
import sys
import threading
from functools import lru_cache
from typing import TYPE_CHECKING

from indexes.store.paths import current_version, default_index, file_state
from rag.engine.law_in_use import LawInUse
from rag.errors import MissingExtra, install_hint
from rag.lifecycle import GRACE

if TYPE_CHECKING:
    from rag.engine.engine import Engine

MAX_OPEN_INDEXES = 2  # the one in use, and the one before, so that a switch back is at once
IDLE = 15  # seconds that a connection without a request is kept


class InstalledIndex:
    """The index of a name or path: the version that is in use now, opened once."""

    def __init__(self, index: str | None = None) -> None:
        """Remember which, None: `default_index`; nothing is opened."""
        self._index, self._law, self._opening = index, LawInUse(), threading.Lock()
        self._open = lru_cache(maxsize=MAX_OPEN_INDEXES)(_open)
        self._last: Engine | None = None

    def engine(self) -> Engine:
        """Return the engine; while another version is opened, the one before.

        Raises:
            PandectError: it cannot be opened, and none was open before.
        """
        last = self._last
        if not self._opening.acquire(blocking=last is None) and last is not None:
            return last
        try:
            index = self._index or default_index()
            self._last, _ = self._law.serving(index, current_version(index), self._open, file_state)
            return self._last
        finally:
            self._opening.release()


def _open(index: str | None, _version: str | None) -> Engine:
    from indexes.store.open_index import open_index  # why here: FAISS is loaded by the thread that warms

    return open_index(index)


def serve(parsed: argparse.Namespace) -> None:
    """Serve until SIGTERM; what is under way then is answered first.

    Raises:
        MissingExtra: the packages of [api] are not there.
        BadInput: a setting cannot be used.
    """
    try:
        import uvicorn

        from rag.api.access import access
        from rag.api.app import create_app
        from rag.api.guard import JsonLines
    except ImportError as error:
        raise MissingExtra(f"the API needs {error.name}: run {install_hint('api')}") from error
    from rag.answer.generation.writer import model_writer

    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    logging.basicConfig(handlers=[handler], force=True, level=logging.WARNING)
    for name in ("rag.api", "uvicorn.error"):
        logging.getLogger(name).setLevel(logging.INFO)
    app = create_app(InstalledIndex(), access(os.environ), model_writer(os.environ))
    uvicorn.run(
        app, host=parsed.host, port=parsed.port, log_config=None, access_log=False, server_header=False,
        timeout_keep_alive=IDLE, timeout_graceful_shutdown=int(GRACE),
    )  # fmt: skip


def serve_mcp(parsed: argparse.Namespace) -> None:
    """Speak the Model Context Protocol over a pipe, until it is closed, or over HTTP.

    Raises:
        MissingExtra: the packages of [api] are not there.
        BadInput: a setting cannot be used.
    """
    if parsed.http:
        serve(parsed)
        return
    try:
        from rag.api.access import access
        from rag.api.law import Law
        from rag.api.mcp import create_server
        from rag.api.metrics import Metrics
    except ImportError as error:
        raise MissingExtra(
            f"a server for assistants needs {error.name}: run {install_hint('api')}"
        ) from error

    law = Law(InstalledIndex(), access(os.environ), Metrics())
    law.warm()
    create_server(law).run("stdio")
