"""Every number in the documents stands in a result file."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from training.notices import notices
from training.tables import SHORT, categories, differences, main, markdown

ROOT = Path(__file__).resolve().parents[2]
RESULTS = sorted((ROOT / "docs" / "results").glob("*.json"))
TABLE = re.compile(r"<!-- table: (?P<name>[a-z0-9-]+) -->\n(?P<table>(?:\|[^\n]*\n)*)")
ENTRY: dict[str, Any] = {
    "systems": {
        "a": {
            "R@10": {"value": 0.5, "low": 0.25, "high": 0.75},
            "by_category": {"bail": {"questions": 2, "R@10": 0.125, "Success@10": 1.0}},
            "ms_per_question": {"median": 1.25, "p95": 2.0},
        },
        "b": {
            "R@10": {
                "value": 0.6,
                "low": 0.3,
                "high": 0.8,
                "difference": {"value": 0.1, "low": -0.05, "high": 0.2},
            },
            "by_category": {},
            "ms_per_question": {"median": 3.0, "p95": 4.0},
        },
    }
}


def test_a_row_has_percent_interval_and_time() -> None:
    assert markdown(ENTRY, ("R@10",)).splitlines()[2] == "| `a` | 50.0 (25.0–75.0) | 1.2 (2.0) |"


def test_a_difference_has_its_paired_interval() -> None:
    assert differences(ENTRY, "b", ("R@10",)) == "`b` − `a`: R@10 +10.0 [-5.0, +20.0]"


def test_categories_have_their_number_of_questions() -> None:
    assert categories(ENTRY, "a").splitlines()[2] == "| bail | 2 | 12.5 | 100.0 |"


@pytest.mark.parametrize("document", ["README.md", "docs/measurements.md"])
def test_tables_in_the_documents_are_those_of_the_result_files(document: str) -> None:
    text = (ROOT / document).read_text(encoding="utf-8")
    found = list(TABLE.finditer(text))
    assert found, f"{document} shows no table"
    for match in found:
        entry = json.loads((ROOT / "docs" / "results" / f"{match['name']}.json").read_text(encoding="utf-8"))
        assert match["table"].strip() == markdown(entry, SHORT), f"{document}: run python -m training.tables"


@pytest.mark.parametrize("path", RESULTS, ids=lambda p: p.stem)
def test_a_result_file_says_how_to_get_it_again(path: Path) -> None:
    entry = json.loads(path.read_text(encoding="utf-8"))
    assert entry["command"].startswith("python -m training.")
    assert entry["commit"]
    assert not {"question", "text"} & set(entry)


def test_the_command_prints_tables(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(RESULTS[0]), "--categories", "hybrid"]) == 0
    assert "| `hybrid` |" in capsys.readouterr().out


def test_notices_are_counted_by_kind() -> None:
    import indexes
    from rag.types import Question

    asked = [
        Question("1", "Mon propriétaire garde mon dépôt de garantie", category="other_french_law"),
        Question("2", "Mon voisin a planté un arbre", ("CC-671",)),
    ]
    assert notices(indexes.open(), asked) == {
        "other_french_law": {"questions": 1, "told": 1},
        "answerable": {"questions": 1, "told": 0},
    }
