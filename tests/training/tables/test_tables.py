"""Every number in the documents stands in a result file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.paths import ROOT
from training.eval.report import notices
from training.tables.__main__ import MARKED, categories, comparisons, filled, main, markdown
from training.tables.fusion import fusions, helped

RESULTS = sorted((ROOT / "docs" / "results").glob("*.json"))
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


def compared(a: str, b: str, measure: str, value: float, p: float | None) -> dict[str, Any]:
    difference = {"value": value, "low": value - 0.05, "high": value + 0.05}
    return {"a": a, "b": b, "measure": measure, "questions": 9, "difference": difference,
            "p_bootstrap": 0.01, "p_t": 0.0004, "p_holm": p}  # fmt: skip


def test_a_file_with_comparisons_shows_them_beside_the_systems() -> None:
    entry = {
        **ENTRY,
        "comparisons": [compared("b", "a", "R@10", 0.1, 0.0123), compared("b", "a", "R@5", 1, 1)],
    }
    head, _, best, other = markdown(entry, ("R@10",)).splitlines()
    assert head.endswith("| R@10, against |")
    assert best.endswith("| 1.2 (2.0) | the best single one |")
    assert other.endswith("| `a` +10.0 [+5.0, +15.0], p = 0.012 |")
    assert len({line.count("|") for line in markdown(entry, ("R@10",)).splitlines()}) == 1


def test_comparisons_have_every_p_value() -> None:
    entry = {"comparisons": [compared("b", "a", "R@10", -0.1, None)]}
    assert comparisons(entry).splitlines()[2] == (
        "| `b` | `a` | R@10 | -10.0 [-15.0, -5.0] | p = 0.010 | p < 0.001 | – |"
    )
    assert comparisons(ENTRY) == ""  # a file of before


PAIR, OTHER = "bm25,dense-law", "bm25,dense"
FUSED: dict[str, Any] = {
    "systems": {
        name: {m: {"value": 0.5} for m in ("R@10", "R@100", "MRR@10")}
        for name in ("bm25", *(f"{how}:{PAIR}" for how in ("rrf", "borda", "comb-mnz", "tuned")),
                     f"rrf:{OTHER}", "hybrid")
    },
    "comparisons": [
        compared(f"rrf:{PAIR}", "bm25", "R@10", 0.1, 0.01),
        compared(f"borda:{PAIR}", "bm25", "R@10", 0.2, 0.06),
        compared(f"comb-mnz:{PAIR}", "bm25", "R@10", 0.2, 0.001),
        compared(f"tuned:{PAIR}", "bm25", "R@10", 0.3, 0.0001),
        compared(f"rrf:{PAIR}", "bm25", "MRR@10", -0.1, 0.01),
        compared(f"borda:{PAIR}", "bm25", "MRR@10", 0.0, 1.0),
        compared(f"rrf:{OTHER}", "dense", "R@10", -0.1, 0.2),
        compared("hybrid", "bm25", "R@10", 0.3, 0.0001),
    ],
}  # fmt: skip


def test_how_often_fusing_helps() -> None:
    assert helped(FUSED).splitlines()[2:] == [
        "| `bm25`, `dense-law` | 2 | 2 (1) / 0 (0) | 0 (0) / 1 (1) | +30.0 [+25.0, +35.0], p < 0.001 | – |",
        "| `bm25`, `dense` | 1 | 0 (0) / 1 (0) | 0 (0) / 0 (0) | – | – |",
    ]


def test_fusion_by_fusion() -> None:
    lines = fusions(FUSED).splitlines()[2:]
    assert len(lines) == 5  # those that name their parts
    assert lines[0] == (
        "| `bm25`, `dense-law` | rrf | 50.0: +10.0 [+5.0, +15.0], p = 0.010 | 50.0: – | "
        "50.0: -10.0 [-15.0, -5.0], p = 0.010 |"
    )


def test_a_document_that_names_no_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    document = tmp_path / "doc.md"
    document.write_text("<!-- table: absent -->\n| old |\n", encoding="utf-8")
    assert main(["--into", str(document)]) == 0
    assert "no absent.json in" in capsys.readouterr().err
    assert document.read_text(encoding="utf-8") == "<!-- table: absent -->\n"


def test_documents_are_filled_from_the_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mine.json").write_text(json.dumps(FUSED), encoding="utf-8")
    (tmp_path / "before.json").write_text(json.dumps(ENTRY | {"systems": {}}), encoding="utf-8")
    text = (
        "Before.\n\n<!-- helped: mine -->\n| old |\n|---|\n| row |\n\nBetween.\n\n"
        "<!-- comparisons: before -->\n| gone |\nAfter.\n"
    )
    new = filled(text, tmp_path)
    assert new == (
        f"Before.\n\n<!-- helped: mine -->\n{helped(FUSED)}\n\nBetween.\n\n"
        "<!-- comparisons: before -->\nAfter.\n"
    )
    assert filled(new, tmp_path) == new
    document = tmp_path / "doc.md"
    document.write_text("<!-- table: fr -->\nNo table yet.\n", encoding="utf-8")
    assert main(["--into", str(document)]) == 0
    assert f"written: {document}" in capsys.readouterr().out
    assert "| `bm25` |" in document.read_text(encoding="utf-8")
    assert main(["--into", str(document)]) == 0
    assert capsys.readouterr().out == ""


def test_categories_have_their_number_of_questions() -> None:
    assert categories(ENTRY, "a").splitlines()[2] == "| bail | 2 | 12.5 | 100.0 |"


@pytest.mark.parametrize(
    "document",
    [
        "README.md",
        "docs/results.md",
        "docs/results/systems.md",
        "docs/results/fusion.md",
        "docs/results/neural.md",
        "docs/results/answers.md",
        "docs/answers.md",
        "docs/results/questions.md",
        "docs/results/pages.md",
        "docs/graph.md",
    ],
)
def test_tables_in_the_documents_are_those_of_the_result_files(document: str) -> None:
    text = (ROOT / document).read_text(encoding="utf-8")
    assert MARKED.search(text), f"{document} shows no table"
    assert filled(text) == text, f"run python -m training.tables --into {document}"


@pytest.mark.parametrize("path", RESULTS, ids=lambda p: p.stem)
def test_a_result_file_says_how_to_get_it_again(path: Path) -> None:
    entry = json.loads(path.read_text(encoding="utf-8"))
    if entry.get("kind") == "answers before":  # of code that is gone: a program of its commit made it
        assert entry["how"]
    else:
        assert entry["command"].startswith("python -m training.")
    assert entry["commit"]
    assert not {"question", "text"} & set(entry)


def test_the_command_prints_tables(capsys: pytest.CaptureFixture[str]) -> None:
    builtin = next(path for path in RESULTS if path.stem == "builtin")
    assert main([str(builtin), "--categories", "hybrid"]) == 0
    assert "| `hybrid` |" in capsys.readouterr().out


@pytest.mark.parametrize("path", RESULTS, ids=lambda p: p.stem)
def test_whatever_was_measured_is_printed(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kind = json.loads(path.read_text(encoding="utf-8")).get("kind", "")
    first = {
        "answers": "| model, context | citation P",
        "answers check": "| sentences | the old gate |",
        "answers before": "| the old gate | shown | of |",
        "situations": "| search | measure |",
        "pages speed": "| view, empty cache | first paint |",
        "pages users": "|  | times | median |",
        "peers": "| ours / it |",
        "growth": "| articles | on disk |",
        "fusion study": "| configurations | number |",
        "references": "| against | law, precision",
        "pages corpora": "| indexes opened so far | memory",
    }
    for more in ([], ["--long"]):
        assert main([str(path), *more]) == 0
        assert first.get(kind, "| system | R@") in capsys.readouterr().out


@pytest.mark.slow
def test_notices_are_counted_by_kind() -> None:
    import indexes
    from rag.types import Question

    asked = [
        Question("1", "Quel impôt sur le revenu vais-je payer ?", category="other_french_law"),
        Question("2", "Mon voisin a planté un arbre", ("CC-671",)),
    ]
    assert notices(indexes.open(), asked) == {
        "other_french_law": {"questions": 1, "told": 1},
        "answerable": {"questions": 1, "told": 0},
    }
