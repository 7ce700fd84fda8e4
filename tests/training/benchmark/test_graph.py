"""The benchmark of the graph says every figure, of a law of any size."""

from __future__ import annotations

from pathlib import Path

from indexes.corpus.corpus import write
from tests.fakes.law.corpus import VILLAGE
from training.benchmark import graph


def test_every_figure_is_said(tmp_path: Path) -> None:
    figures: dict[str, float] = {}
    graph.measure(write(VILLAGE, tmp_path / "law"), lambda what, value, unit: figures.update({what: value}))
    assert figures["articles"] == len(VILLAGE.articles)
    assert {"graph made of them", "graph opened, memory-mapped", "neighbours of an article"} <= set(figures)
    assert min(figures.values()) > 0
