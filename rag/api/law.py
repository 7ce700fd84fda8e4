"""The law that the interface serves: searched in threads, within a time, each part of the work measured."""

from __future__ import annotations

import logging
from collections.abc import Callable
from http import HTTPStatus
from typing import Protocol, TypeVar

import anyio
from anyio.to_thread import run_sync

from rag import memory
from rag.answer.extractive import Extractor
from rag.api import result
from rag.api.access import Access
from rag.api.metrics import Metrics
from rag.api.problems import Refused
from rag.engine.engine import Engine
from rag.engine.result import Mode
from rag.errors import PandectError, log_failure, without_paths
from rag.types import Filter

_T = TypeVar("_T")
_log = logging.getLogger(__name__)


class Library(Protocol):
    """Where the interface has its law from."""

    def engine(self) -> Engine:
        """Return the index in use, opened if need be; PandectError says why it cannot be opened."""


class Law:
    """The law in use."""

    def __init__(self, library: Library, access: Access, metrics: Metrics) -> None:
        """Take where the law comes from, and how much of it is searched at once and for how long."""
        self._library, self._seconds, self.metrics = library, access.seconds, metrics
        self.open: Engine | None = None  # the index that was used last
        self.warmed = False
        self._extractor: tuple[Engine, Extractor] | None = None
        self._threads = anyio.CapacityLimiter(access.at_once)

    def engine(self) -> Engine:
        """Return the index in use.

        Raises:
            Refused: it cannot be opened now, which says nothing of any article.
        """
        try:
            self.open = self._library.engine()
        except PandectError as error:
            raise _unreachable(error) from None
        return self.open

    def extractor(self, engine: Engine) -> Extractor:
        """Return what chooses passages of an index: counting its documents takes a while."""
        if self._extractor is None or self._extractor[0] is not engine:
            self._extractor = engine, Extractor.of(engine)
        return self._extractor[1]

    def warm(self) -> None:
        """Open the law and do what the first question would wait for; for a thread."""
        try:
            memory.share_arenas()
            engine = self.engine()
            engine.warm()
            self.extractor(engine)
            result.found(result.ask(engine, next(iter(engine.card.examples), engine.card.title)), engine)
            memory.settle()
        except Exception as error:  # noqa: BLE001 - who asks is told
            log_failure(error, "the rehearsal")
        self.warmed = True

    def answers(self) -> bool:
        """Ask an example question, and return whether an article is found; a title need not find one."""
        engine = self.engine()
        examples = engine.card.examples
        return bool(engine.ask(next(iter(examples), engine.card.title), k=1).shown) or not examples

    def ask(
        self, question: str, *, k: int, where: Filter, method: Mode, leaves: bool = False
    ) -> tuple[Engine, result.Asked]:
        """Return the index in use, and what it finds; see `result.ask`.

        Raises:
            Refused: the law cannot be opened, or has no such code to filter by.
        """
        engine = self.engine()
        facets = engine.facets()
        for name, came, known in (
            ("codes", where.codes, facets.codes),
            ("law_types", where.law_types, facets.law_types),
            ("regions", where.regions, facets.regions),
        ):
            if unknown := sorted(came - known.keys()):
                raise Refused(
                    HTTPStatus.UNPROCESSABLE_ENTITY, "filter", f"{name}: this law has no such value.",
                    got=unknown[0],
                    expected=", ".join(list(known)[:10]) or "nothing: this law has none to choose from",
                    cure="GET /v1/topics lists them.",
                )  # fmt: skip
        try:
            asked = result.ask(
                engine, question, k=k, where=where if where != Filter() else None, method=method,
                leaves=leaves, part=self.metrics.part,
            )  # fmt: skip
        except PandectError as error:  # its files are damaged, or personal data cannot be looked for
            raise _unreachable(error) from None
        return engine, asked

    async def run(self, work: Callable[[], _T]) -> _T:
        """Do some work in a thread, within the time that a request may take.

        Raises:
            Refused: it took longer, which says nothing of what would have been found.
        """
        try:
            with anyio.fail_after(self._seconds):
                return await run_sync(work, limiter=self._threads, abandon_on_cancel=True)
        except TimeoutError:
            raise Refused(
                HTTPStatus.SERVICE_UNAVAILABLE, "time",
                f"No answer was ready in {self._seconds:g} s. This says nothing of what is found.",
                cure="Try again later.", wait=5,
            ) from None  # fmt: skip


def _unreachable(error: PandectError) -> Refused:
    """Return the refusal where the law cannot be searched, which is no answer to what was asked."""
    _log.error("%s", error)
    return Refused(
        HTTPStatus.SERVICE_UNAVAILABLE, "law",
        "The law cannot be searched at the moment. This says nothing of what it holds.",
        cure=f"For whoever runs this interface: {without_paths(str(error))}", wait=30,
    )  # fmt: skip
