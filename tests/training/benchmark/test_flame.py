"""Folded stacks drawn: as wide as often seen, one above the other, and nothing of a name that is markup."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from rag.errors import BadInput
from training.benchmark.__main__ import main
from training.benchmark.flame import WIDTH, draw

STACKS = [
    "main (a.py:1);ask (rag/e.py:3);rank (rag/t.py:9) 30",
    "main (a.py:1);ask (rag/e.py:5);<lambda> (rag/t.py:2) 50",
    "main (a.py:1);explain (rag/x.py:7) 20",
    "idle (b.py:1) 900",
]


def bars(svg: str) -> dict[str, tuple[float, float, float]]:
    """Of each function its left edge, top and width."""
    found = {}
    for rect in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}rect"):  # noqa: S314 - ours
        title = rect.find("{http://www.w3.org/2000/svg}title")
        if title is not None and title.text:
            found[title.text.split(" (")[0]] = tuple(float(rect.attrib[key]) for key in ("x", "y", "width"))
    return found  # type: ignore[return-value]


def test_a_function_is_as_wide_as_it_was_seen() -> None:
    found = bars(draw(STACKS, "asked", ["ask", "explain"]))
    assert {name: round(width + 1) for name, (_, _, width) in found.items()} == {
        "ask": round(0.8 * WIDTH), "<lambda>": WIDTH // 2, "rank": round(0.3 * WIDTH), "explain": WIDTH // 5
    }  # fmt: skip
    (ask, top, _), (inner, below, _), (after, beside, _) = (found[n] for n in ("ask", "<lambda>", "explain"))
    assert (ask, inner) == (0, 0)
    assert below > top == beside
    assert round(after) == round(0.8 * WIDTH)
    assert bars(draw(STACKS, "all"))["idle"][2] > 0.89 * WIDTH


def test_what_is_no_stack(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(BadInput, match="line 2"):
        draw([STACKS[0], "nothing seen"], "x")
    with pytest.raises(BadInput, match="no stack goes through sleep"):
        draw(STACKS, "x", ["sleep"])
    path = tmp_path / "folded"
    path.write_text("\n".join(STACKS[1:]), encoding="utf-8")
    assert main(["--flame", str(path), "--output", str(tmp_path / "flame.svg")]) == 2
    assert "Engine.ask" in capsys.readouterr().err
    assert not (tmp_path / "flame.svg").exists()
    path.write_text("profile (p.py:1);Engine.ask (e.py:3) 4\n", encoding="utf-8")
    assert main(["--flame", str(path), "--output", str(tmp_path / "flame.svg")]) == 0
    assert bars((tmp_path / "flame.svg").read_text(encoding="utf-8")).keys() == {"Engine.ask"}
