from __future__ import annotations

from pathlib import Path

from rag.screening.jurisdiction import other_country
from training import before as measure

CASES = Path(__file__).parent / "cases"


def test_written_cases() -> None:
    assert measure.foreign(CASES / "foreign.tsv") == {
        "of another law": 35,
        "found": 35,
        "of none": 35,
        "false alarms": 0,
    }
    assert measure.foreign(CASES / "foreign_final.tsv")["false alarms"] == 0


def test_both_laws_named_leaves_the_question_alone() -> None:
    assert other_country("droit belge ou droit français pour mon bail ?", "FR") is None
    assert other_country("que dit le droit belge pour un Français ?", "FR") == "BE"


def test_without_a_jurisdiction_nothing_is_told() -> None:
    assert other_country("que dit la loi belge", "") is None
    assert other_country("que dit la loi belge", "ZZ") is None
    assert other_country("", "FR") is None
