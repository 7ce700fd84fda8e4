"""The look keeps to its own scale: letters of eight sizes on a screen, and of points on paper."""

from __future__ import annotations

import re
from importlib.resources import files

CSS = files("rag.ui").joinpath("style.css").read_text(encoding="utf-8")
SCALE = dict(re.findall(r"--pd-(\w+): ([\d.]+)rem;", CSS.partition("}")[0]))


def test_the_scale_is_the_one_that_is_written_down() -> None:
    sizes = [16 * float(rem) for rem in SCALE.values()]

    assert sizes == [13, 14, 15, 16, 17.5, 19, 24, 32]


def test_every_size_is_of_the_scale() -> None:
    screen, _, paper = CSS.partition("@media print {")
    paper, _, after = paper.partition("\n}\n")
    said = re.findall(r"font(?:-size)?: ([^;}]+)", screen + after)
    named = {name for each in said for name in re.findall(r"var\(--pd-(\w+)\)", each)} - {"sans", "serif"}

    assert len(said) > 60
    assert [each for each in said if each != "inherit" and "var(--pd-" not in each] == []
    assert named <= SCALE.keys()
    assert all(each.endswith("pt") for each in re.findall(r"font-size: ([^;}]+)", paper))


def test_the_ring_of_a_box_of_text_lies_inside_it() -> None:
    ring = CSS.index("outline: 2px solid var(--pd-accent); outline-offset: 2px; border-radius")
    inset = re.search(r"\.stApp \.stTextArea textarea:focus-visible, (.+) \{ outline-offset: -2px; \}", CSS)

    assert inset is not None
    assert inset.start() > ring  # of equal weight, the later one counts
    assert inset[1] == '[data-testid="stTextInputRootElement"]:has(input:focus-visible)'


def test_all_that_the_page_scrolls_to_keeps_from_its_edge() -> None:
    script = files("rag.ui").joinpath("script.js").read_text(encoding="utf-8")
    places = ", ".join(re.findall(r'const (?:views|above) = "(.+)";', script)).split(", ")
    kept = re.search(r":is\((.+)\) \{ scroll-margin-top: 1rem; \}", CSS)

    assert kept is not None
    assert sorted(places) == sorted(kept[1].split(", "))
