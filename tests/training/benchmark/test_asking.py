"""A question timed in two versions, which must show the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag.errors import BadInput, PandectError
from training.benchmark.__main__ import main
from training.benchmark.asking import difference, measure

ROOT = Path(__file__).resolve().parents[3]
OTHER = """
class Result:
    shown = ()

class Engine:
    def warm(self):
        pass

    def ask(self, question, k):
        return Result()

    def explain(self, result):
        return []

def open_index(name):
    return Engine()
"""


def checkout(folder: Path, text: str) -> Path:
    """A version whose engine is what the text says."""
    for package in ("rag/engine", "indexes/store"):
        (folder / package).mkdir(parents=True)
    (folder / "indexes" / "store" / "open_index.py").write_text(text, encoding="utf-8")
    return folder


def test_where_two_versions_first_differ() -> None:
    one, other = [["a", 0.5], ["b", 0.4]], [["a", 0.5], ["c", 0.4]]
    assert difference([one, one], [one, one]) == ""
    assert difference([one, one], [one, other]) == "question 2, place 2: ['b', 0.4] before, ['c', 0.4] now"
    assert difference([one], [one[:1]]) == "question 1, place 2: ['b', 0.4] before, None now"
    assert "place 1" in difference([one], [[["a", 0.5000001], ["b", 0.4]]])


@pytest.mark.slow
def test_a_version_beside_itself(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--ask", "--against", str(ROOT)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("| now / before | 200 questions, ms of one core | before | now |")
    assert [line.split(" | ")[1] for line in lines[2:]] == [
        *(
            f"{part}, {what}"
            for part in ("asked", "explained", "both")
            for what in ("median", "95th percentile")
        ),
        "index opened, s",
    ]


@pytest.mark.slow
def test_a_version_that_shows_other_articles_is_no_comparison(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--ask", "--against", str(checkout(tmp_path, OTHER))]) == 1
    assert "question 1, place 1" in capsys.readouterr().err


@pytest.mark.slow
def test_what_cannot_be_compared(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="git worktree add"):
        list(measure(None, tmp_path))
    with pytest.raises(PandectError, match=r"asking failed: .*boom"):
        list(measure(None, checkout(tmp_path, "raise OSError('boom')")))
