"""Plots: well-formed, drawn to scale, labelled, and harmless whatever a corpus is called."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexes.corpus.corpus import write
from indexes.describing.description import Code, Description, Distribution
from indexes.describing.measure import measure, units
from indexes.describing.plots import CODES, codes, count_histogram, lengths, plots
from indexes.store import paths
from rag.corpus.svg import Figure, PlotArea, across_grid, log_ticks, ticks
from tests.fakes.law.corpus import VILLAGE
from tests.paths import ROOT

SVG = "{http://www.w3.org/2000/svg}"


def read(svg: str) -> ET.Element:
    return ET.fromstring(svg)  # noqa: S314 - our own


def bars(svg: str, kind: str = "bar") -> list[dict[str, float]]:
    found = [e for e in read(svg).iter(f"{SVG}rect") if e.get("class") == kind and len(e)]
    return [{key: float(e.get(key, "")) for key in ("x", "y", "width", "height")} for e in found]


def said(svg: str) -> list[str]:
    return [e.text or "" for e in read(svg).iter(f"{SVG}text")]


@pytest.fixture(scope="module")
def village(tmp_path_factory: pytest.TempPathFactory) -> Description:
    return measure(write(VILLAGE, tmp_path_factory.mktemp("v") / "village"), units("fr"))


def test_each_plot_has_a_title_and_says_what_it_shows(village: Description) -> None:
    made = plots(village)
    assert set(made) == {
        "lengths_articles.svg", "lengths_questions.svg", "codes.svg", "gold.svg", "citations.svg",
    }  # fmt: skip
    for svg in made.values():
        root = read(svg)
        assert root.get("role") == "img"
        assert root.findtext(f"{SVG}title")
        assert root.findtext(f"{SVG}desc")
        assert "prefers-color-scheme:dark" in svg
        width, height = (float(root.get(key, "")) for key in ("width", "height"))
        for bar in [*bars(svg), *bars(svg, "strong")]:
            assert 0 <= bar["x"] <= bar["x"] + bar["width"] <= width
            assert 0 <= bar["y"] <= bar["y"] + bar["height"] <= height
    assert "questions that cite it" in said(made["citations.svg"])
    assert "The other 7 of 12 articles are cited by no question." in said(made["citations.svg"])
    assert any(text.startswith("median: ") for text in said(made["lengths_articles.svg"]))


def test_a_corpus_without_questions_has_fewer_plots(tmp_path: Path) -> None:
    bare = measure(write(replace(VILLAGE, questions=()), tmp_path / "v"), units("fr"))
    made = plots(bare)
    assert set(made) == {"lengths_articles.svg", "codes.svg"}
    assert "cited" not in made["codes.svg"]


def test_heights_are_to_scale() -> None:
    svg = count_histogram(Distribution.of({0: 99, 1: 40, 2: 20, 3: 10}), "T", ("n", "many"), "")
    first, second, third = (bar["height"] for bar in bars(svg))
    assert second == pytest.approx(first / 2, abs=0.1)
    assert third == pytest.approx(first / 4, abs=0.1)
    assert {"40", "20", "10", "1", "2", "3"} <= set(said(svg))
    assert "99" not in said(svg)  # what is zero stands in the note


@given(st.dictionaries(st.integers(0, 40_000), st.integers(1, 500), min_size=1, max_size=30))
def test_all_texts_are_in_the_histogram(counts: dict[int, int]) -> None:
    spread = Distribution.of(counts)
    of = Description.__new__(Description)
    object.__setattr__(of, "card", VILLAGE.card)
    svg = lengths({"words": spread}, "articles", of)
    drawn = [e.findtext(f"{SVG}title", "") for e in read(svg).iter(f"{SVG}rect") if len(e)]
    numbers = [int(text.split(": ")[1].split()[0].replace(",", "")) for text in drawn]
    zeros = counts.get(0, 0) if "logarithmic" in svg else 0
    assert sum(numbers) == spread.n - zeros


def test_many_codes_become_one_line_without_a_bar(village: Description) -> None:
    many = tuple(Code(f"Code {n}", 50 - n, n % 3, n % 3) for n in range(CODES + 5))
    svg = codes(replace(village, codes=many, citations=Distribution.of(Counter({0: 9, 1: 1}))))
    assert len(bars(svg)) == CODES
    assert "5 smaller codes" in said(svg)
    widths = [bar["width"] for bar in bars(svg)]
    assert widths[10] == pytest.approx(widths[0] * 40 / 50, abs=0.1)


def test_names_cannot_become_markup(village: Description) -> None:
    evil = "</text><script>alert(1)</script>&\"'\x00\x1b\u202e\uffff"  # the last ones no XML may hold
    card = replace(village.card, title=evil, name="x")
    svg = plots(replace(village, card=card, codes=(Code(evil, 3, 1, 1),)))
    for drawing in svg.values():
        assert not list(read(drawing).iter(f"{SVG}script"))
    assert any("alert(1)" in text for text in said(svg["codes.svg"]))


@given(st.floats(0, 1e8))
def test_ticks_are_few_round_and_reach_the_largest(largest: float) -> None:
    found = ticks(largest)
    assert found[0] == 0
    assert found[-1] >= largest
    assert 2 <= len(found) <= 7
    assert len({b - a for a, b in pairwise(found)}) == 1


@given(st.integers(1, 1000), st.integers(2, 10_000))
def test_log_ticks_lie_between(least: int, times: int) -> None:
    found = log_ticks(least, least * times)
    assert all(least <= n <= least * times for n in found)
    assert found == sorted(set(found))


def test_an_axis_begins_at_zero() -> None:
    figure = Figure(200, 100, "T")
    across_grid(figure, PlotArea(50, 10, 100, 80), [0, 5, 10], "many")
    root = read(figure.svg())
    heights = {e.text: float(e.get("y", "")) for e in root.iter(f"{SVG}text") if e.get("y")}
    assert heights["0"] - 4 == 90
    assert heights["10"] - 4 == 10
    assert heights["5"] - 4 == 50


@pytest.mark.slow
def test_the_plot_in_the_docs_is_current() -> None:
    found = measure(paths.builtin() / "corpus", units("fr"))
    svg = (ROOT / "docs" / "describing.svg").read_text(encoding="utf-8")
    assert svg == plots(found)["lengths_articles.svg"], "python -m indexes describe builtin --output FOLDER"
