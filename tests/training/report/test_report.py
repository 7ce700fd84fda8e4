"""Published rows and ours in three formats, one page that loads nothing, and commands that cannot be."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Sequence
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from indexes.corpus.corpus import write
from rag.types import Ranking
from rag.ui.components.charts import ROWS
from tests.fakes.ranking.benchmark import ANSWERED, CORPUS
from training.answers.report import PUBLISHED as ANSWERS
from training.answers.report import RETRIEVAL
from training.eval import report as evaluation
from training.eval.run import SystemRun, measure
from training.report import blocks, pareto, results
from training.report.__main__ import main
from training.report.page import page
from training.report.published import is_score, papers, tables
from training.report.table import Block, Row, Table, latex, to_latex, to_markdown
from training.tables.__main__ import PUBLISHED

ODD = "50 % & <script>x_1</script> {a}|b #1 ~^\\ $"
TABLE = Table(
    f"A table of {ODD}",
    ("system", "R@10"),
    (Row((ODD, "40.0"), "published", "A. 2024"), Row(("bm25", "51.3"), "ours", "[1]")),
    "5-fold",
    ("[1] ours: a note",),
)


def efficiency() -> dict[str, Any]:
    system = {
        "measures": {"R@10": 0.65, "R@100": 0.84, "MRR@10": 0.5}, "index_bytes": 45_000_000, "ratio": 2.0,
        "ms": [3.0, 5.0, 6.0], "core_ms": [2.5, 4.0, 5.0], "per_second": 300.0, "per_core_second": 380.0,
        "flops": 1.8e7, "peak_bytes": 279_000_000, "training": {"hours": 0.02, "kwh": 0.0002},
    }  # fmt: skip
    return {
        "kind": "efficiency", "command": "python -m training.benchmark --efficiency stard",
        "date": "2026-11-29", "machine": "x86_64, 2 cores", "questions": 247,
        "corpus": {"name": "stard", "articles": 55497},
        "systems": {"bm25": system, "dense": {**system, "index_bytes": 9_000_000, "training": None}},
    }  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """What `training.eval --output` writes, of two systems: one finds nothing where the other does."""
    collected: dict[str, SystemRun] = {"good": SystemRun(), "poor": SystemRun()}
    for n, question in enumerate(ANSWERED):
        lists = {
            "good": ["a29", *question.article_ids],
            "poor": ["a28"] if n else ["a27", *question.article_ids],
        }
        lists |= {"good": ["a28"]} if not n else {}
        for name, ids in lists.items():
            collected[name].run[question.id] = Ranking.of((id_, -float(i)) for i, id_ in enumerate(ids))
            collected[name].seconds.append(0.001)
    found = measure(collected, ANSWERED, 1, ["R@10", "MRR@10"])
    entry = evaluation.record(
        found, CORPUS, command=["python", "-m", "training.eval", "--x", "a_b"], questions=18, unanswerable=0,
        seed=1, tuned_on=None, learnt_from=None,
    )  # fmt: skip
    qrels = {q.id: frozenset(q.article_ids) for q in ANSWERED}
    evaluation.write(tmp_path / "out", found, entry, None, qrels)
    return tmp_path / "out"


class _Addresses(HTMLParser):
    """Collects whatever a browser could load, and the tags."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.tags: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.addresses += [value or "" for name, value in attrs if name in ("src", "href", "srcset", "data")]


def test_one_table_in_three_formats() -> None:
    for render in (to_markdown, to_latex, page):
        text = render("All", ["Part", TABLE])
        assert "published A. 2024" in text
        assert text.index("published A. 2024") < text.index("51.3")
        assert "a note" in text
        assert "5-fold" in text
    assert "| bm25 | 51.3 | ours \\[1\\] |" in to_markdown("All", [TABLE])
    assert "bm25 & 51.3 & ours [1] \\\\" in to_latex("All", [TABLE])
    html = page("All", [TABLE])
    assert '<tr class="published">' in html
    assert '<tr class="ours"><th scope="row">bm25</th><td>51.3</td><td>ours [1]</td></tr>' in html
    assert "<script>" not in html
    assert "&lt;script&gt;x_1" in html


def test_what_latex_would_read_as_a_command_is_escaped() -> None:
    assert latex("50 % & {a}_b #1 $ ~ ^ \\") == (
        r"50 \% \& \{a\}\_b \#1 \$ \textasciitilde{} \textasciicircum{} \textbackslash{}"
    )
    text = to_latex("All", [TABLE])
    row = next(line for line in text.splitlines() if "40.0" in line)
    assert len(re.findall(r"(?<!\\)&", row)) == 2  # between three cells
    assert not re.search(r"(?<!\\)[%#$_]", row)


def test_a_cell_keeps_its_column_in_markdown() -> None:
    row = next(line for line in to_markdown("All", [TABLE]).splitlines() if "40.0" in line)
    assert len(re.findall(r"(?<!\\)\|", row)) == 4
    assert "&lt;script>" in row


def test_every_published_row_is_marked_and_has_its_protocol() -> None:
    found = [block for block in blocks.papers(papers(), ()) if isinstance(block, Table)]
    assert len(found) == len(tables()) >= 15
    for table in found:
        assert table.rows
        assert {row.whose for row in table.rows} == {"published"}
        assert table.protocol


def test_numbers_are_as_printed() -> None:
    [stard] = [table for table in tables() if (table.paper, table.number) == ("stard", "3")]
    dense = {name: values for name, values, _ in stard.rows}["Dense-STARD"]
    assert (dense["R@10"], dense["MRR@10"]) == (0.6061, 0.4724)
    [shown] = [b for b in blocks.papers(["stard"], ()) if isinstance(b, Table) and "table 3" in b.title]
    row = next(row for row in shown.rows if row.cells[0] == "Dense-STARD")
    assert row.cells[shown.head.index("R@10")] == "60.61"
    [bsard] = [b for b in blocks.papers(["bsard"], ()) if isinstance(b, Table)]
    bm25 = next(row for row in bsard.rows if row.cells[0].startswith("BM25"))
    assert dict(zip(bsard.head, bm25.cells, strict=True))["R@100"] == "51.33"
    assert dict(zip(bsard.head, bm25.cells, strict=True))["latency_ms"] == "1342 (two Xeon E5-2698 v4)"


def test_what_other_tables_print_is_the_same() -> None:
    rows = [(table.dataset, name, values) for table in tables() for name, values, _ in table.rows]
    [stard] = [values for data, name, values in rows if (data, name) == ("STARD", "Dense-STARD")]
    for m, percent in PUBLISHED["stard"].items():
        assert 100 * stard[m] == pytest.approx(percent, abs=0.051)
    for row in ROWS:
        printed = [values for data, _, values in rows if data == row.corpus]
        for m, percent in row.measures.items():
            assert any(abs(100 * of.get(m, -1) - percent) < 0.051 for of in printed), (row, m)
    accuracies = [v["accuracy"] for t in tables() for _, v, _ in t.rows if "accuracy" in v]
    assert sorted(accuracies) == sorted(v for of in ANSWERS.values() for task in of for v in task)
    assert len(RETRIEVAL) == 3


def test_ours_stand_below_the_published_of_the_same_data_set(tmp_path: Path) -> None:
    file = tmp_path / "e.json"
    file.write_text(json.dumps(efficiency()), encoding="utf-8")
    ours = results.read(file)
    found = {b.title: b for b in blocks.papers(papers(), ours) if isinstance(b, Table)}
    stard = next(table for title, table in found.items() if title.startswith("Su et al. 2024, table 3"))
    whose = [row.whose for row in stard.rows]
    assert whose == sorted(whose, reverse=True)  # published, then ours
    [bm25, _] = [row for row in stard.rows if row.whose == "ours"]
    assert (bm25.cells[0], bm25.cells[stard.head.index("R@10")], bm25.source) == ("bm25", "65.0", "[1]")
    note = next(n for n in stard.notes if n.startswith("[1]"))
    for said in (
        "stard of 55,497 articles",
        "247 questions",
        "2026-11-29",
        "x86_64, 2 cores",
        "--efficiency stard",
    ):
        assert said in note
    assert not any(
        row.whose == "ours" for t, of in found.items() if "LLeQA" in of.protocol for row in of.rows
    )


def test_what_it_costs_has_hardware_and_published_points(tmp_path: Path) -> None:
    file = tmp_path / "e.json"
    file.write_text(json.dumps(efficiency()), encoding="utf-8")
    _, table, figure = blocks.costs(results.read(file))
    assert isinstance(table, Table)
    assert {row.source for row in table.rows} == {"x86_64, 2 cores"}
    assert [row.cells[-1] for row in table.rows] == ["0.0002", "–"]
    assert isinstance(figure, pareto.Figure)
    svg = figure.svg()
    ET.fromstring(svg)  # noqa: S314 - our own
    assert "ours: stard, x86_64, 2 cores, one core" in svg
    assert re.search(r"published: Louis et al\. 2025, LLeQA test, EPYC 7763", svg)
    full, outlines = (
        re.findall(f'<path class="{kind}"[^>]*><title>[^<]*R@10', svg) for kind in ("strong", "mark")
    )
    assert len(full) == 2
    assert len(outlines) >= 5
    assert all('fill="none"' in path for path in outlines)


def test_a_front_is_what_nothing_beats() -> None:
    points = [
        pareto.Point(n, "s", False, q, ms, 1.0) for n, q, ms in (("a", 0.5, 1), ("b", 0.4, 2), ("c", 0.6, 3))
    ]
    assert [p.system for p in pareto.front(points)] == ["a", "c"]


def test_a_page_with_everything_loads_nothing(folder: Path, tmp_path: Path) -> None:
    law = write(CORPUS, tmp_path / "law")
    (tmp_path / "e.json").write_text(json.dumps(efficiency()), encoding="utf-8")
    outputs = [tmp_path / f"r.{suffix}" for suffix in ("html", "md", "tex")]
    arguments = [folder, tmp_path / "e.json", "--corpus", law, "--output", *outputs]
    assert main([str(a) for a in arguments]) == 0
    html, markdown, tex = (file.read_text(encoding="utf-8") for file in outputs)
    found = _Addresses()
    found.feed(html)
    assert found.addresses
    assert all(address.startswith("data:image/svg+xml;base64,") for address in found.addresses)
    assert not {"script", "link", "iframe", "object", "embed"} & set(found.tags)
    assert "url(" not in html
    assert "@import" not in html
    assert "default-src &#x27;none&#x27;" in html
    pictures = [base64.b64decode(address.partition(",")[2]).decode() for address in found.addresses]
    assert any("recall by how many articles" in picture for picture in pictures)
    assert not any("href" in picture for picture in pictures)
    assert found.tags.count("details") == 1  # only the first question is a failure of the better system
    assert "found by poor" in html
    for text in (html, markdown, tex):
        assert "R@10 by category of question" in text
        assert "R@10 by number of gold articles" in text
    assert "| 2 | 18 | 94.4 | 5.6 | ours |" in markdown
    assert "a\\_b" in tex  # of the command


def test_without_an_output_markdown_is_printed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(folder), "--papers", "stard"]) == 0
    printed = capsys.readouterr().out
    assert "Su et al. 2024" in printed
    assert "Louis" not in printed
    assert "94.4" in printed


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["missing"], "missing is no result file"),
        (["--output", "report.pdf"], "a name that ends in one of .md, .tex, .html says the format"),
        (["--questions", "q.jsonl"], "--questions needs --corpus"),
        (["pages.json"], "pages.json is a result of pages speed: a report takes those of retrieval"),
    ],
)
def test_a_command_that_cannot_be(
    arguments: Sequence[str],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("pages.json").write_text('{"kind": "pages speed"}', encoding="utf-8")
    assert main(arguments) == 2
    assert said in capsys.readouterr().err


def test_an_unknown_paper_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--papers", "nobody"])
    assert "invalid choice: 'nobody'" in capsys.readouterr().err


@pytest.mark.parametrize("render", [to_markdown, to_latex, page])
def test_nothing_to_report_is_an_empty_report(render: Callable[[str, Sequence[Block]], str]) -> None:
    assert "Empty" in render("Empty", [])


def test_scores_are_told_from_sizes() -> None:
    assert [
        is_score(m) for m in ("R@10", "RP", "MAP", "accuracy", "index_mb", "ratio", "flops", "layers")
    ] == ([True] * 4 + [False] * 4)
