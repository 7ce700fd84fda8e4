"""What Prometheus reads of the interface: counts and times, of no question and of nobody."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4

from rag.engine.engine import Engine

TEXT = CONTENT_TYPE_PLAIN_0_0_4
_STEPS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)  # seconds


class Metrics:
    """The counters of one process."""

    def __init__(self) -> None:
        """Begin at zero."""
        self._registry = registry = CollectorRegistry()
        self.requests = Counter(
            "pandect_requests", "Requests by route and status", ["route", "status"], registry=registry
        )
        self.refusals = Counter(
            "pandect_refusals", "What was not answered, by reason", ["reason"], registry=registry
        )
        self.model_calls = Counter(
            "pandect_model_calls", "Answers asked of a language model, by their ending", ["ending"],
            registry=registry,
        )  # fmt: skip
        self._seconds = Histogram(
            "pandect_seconds", "Time by part: request, search, screening, explanation, answer", ["part"],
            registry=registry, buckets=_STEPS,
        )  # fmt: skip
        self._index = Gauge(
            "pandect_index_articles", "Articles of the index in use", ["name", "version"], registry=registry
        )
        self._age = Gauge("pandect_index_age_seconds", "Time since the index was built", registry=registry)
        self._law = Gauge(
            "pandect_law_age_seconds", "Time since the oldest code was consolidated", registry=registry
        )

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Measure how long a part of the work takes."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self.took(name, time.perf_counter() - start)

    def took(self, part: str, seconds: float) -> None:
        """Count how long a part of the work took."""
        self._seconds.labels(part).observe(seconds)

    def text(self, engine: Engine | None) -> bytes:
        """Return everything in Prometheus' text format; None: no index is open."""
        self._index.clear()
        built, days = (None, ()) if engine is None else (engine.info.built, engine.card.law_dates())
        if engine is not None:
            self._index.labels(engine.info.name, engine.info.version).set(engine.info.articles)
        self._age.set(_age(built))
        self._law.set(_age(days[0] if days else None))
        return generate_latest(self._registry)


def _age(day: str | date | None) -> float:
    """Return the seconds since a day; nan where it is not known."""
    try:
        since = datetime.fromisoformat(str(day))
    except ValueError:
        return float("nan")
    return (datetime.now(UTC) - (since if since.tzinfo else since.replace(tzinfo=UTC))).total_seconds()
