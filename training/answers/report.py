"""What measuring answers leaves behind: a table, metrics.json, a CSV, and a line a question.

Beside it stands what STARD's authors published of models with and without retrieved articles (Su et al.
2024, "STARD: A Chinese Statute Retrieval Dataset with Real Queries Issued by Non-professionals", table 4:
accuracy on JEC-QA and CAIL 2018, test, zero-shot, ten articles in the prompt). The figures are theirs, none
was measured here; how many questions they asked is not stated.
"""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from indexes.corpus.corpus import appearing
from indexes.describing.significance import Interval
from training.answers.aggregate import ModelResult
from training.eval.report import METRICS
from training.tables.markdown import head, row

KIND = "answers"  # tells this result file from one of retrieval


def table(rows: Sequence[ModelResult]) -> str:
    """Return the table for people: a column a model and context, percent with 95 % intervals."""
    measures = list(dict.fromkeys(m for row in rows for m in row.measures))
    lines = [["", *(row.name for row in rows)], ["questions", *(str(row.questions) for row in rows)]]
    lines += [[m, *(_cell(row.measures.get(m)) for row in rows)] for m in measures]
    endings: list[Mapping[str, float]] = [row.more.get("endings") or {} for row in rows]
    for ending in ("written", "unverified", "refused", "empty", "failed", "limited"):
        if any(shares.get(ending) for shares in endings):
            lines.append([f"ended: {ending}", *(_percent(shares.get(ending)) for shares in endings)])
    if any(row.more.get("unreadable") for row in rows):
        lines.append(["unreadable pieces", *(str(row.more.get("unreadable", "–")) for row in rows)])
    if any("ms_per_question" in row.more for row in rows):
        lines.append(["seconds (p95)", *(_took(row) for row in rows)])
        lines.append(["tokens in / out", *(_tokens(row) for row in rows)])
    costs = [row.more.get("cost") for row in rows]
    if any(cost is not None for cost in costs):
        lines.append(["cost", *("–" if cost is None else f"{cost:.4f}" for cost in costs)])
    widths = [max(len(line[n]) for line in lines) for n in range(len(rows) + 1)]
    return "\n".join(
        "  ".join([line[0].ljust(widths[0]), *map(str.rjust, line[1:], widths[1:])]) for line in lines
    )


def entries(rows: Sequence[ModelResult]) -> dict[str, Any]:
    """Return the systems of metrics.json; what cannot be said is None, for JSON knows no nan."""
    return {
        row.name: {
            "questions": row.questions,
            **{
                m: {end: _number(getattr(i, end)) for end in ("value", "low", "high")}
                for m, i in row.measures.items()
            },
            **row.more,
        }
        for row in rows
    }


def write(folder: Path, rows: Sequence[ModelResult], entry: Mapping[str, Any]) -> None:
    """Write metrics.json, metrics.csv and questions.jsonl into a new folder, whole or not at all."""
    with appearing(folder) as part:
        lines = [json.dumps(line, ensure_ascii=False) + "\n" for row in rows for line in row.lines]
        (part / "questions.jsonl").write_text("".join(lines), encoding="utf-8")
        with (part / "metrics.csv").open("w", encoding="utf-8", newline="") as file:
            out = csv.writer(file)
            out.writerow(("system", "measure", "value", "low", "high"))
            for row in rows:
                out.writerows(
                    (row.name, m, *map(_number, (i.value, i.low, i.high))) for m, i in row.measures.items()
                )
        (part / METRICS).write_text(
            json.dumps(entry, ensure_ascii=False, indent=1, allow_nan=False) + "\n", encoding="utf-8"
        )


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value


def _cell(i: Interval | None) -> str:
    if i is None or math.isnan(i.value):
        return "–"
    return f"{100 * i.value:.1f} ({100 * i.low:.1f}–{100 * i.high:.1f})"


def _took(row: ModelResult) -> str:
    times = row.more.get("ms_per_question")
    if not times or times["median"] is None:
        return "–"
    return f"{times['median'] / 1000:.2f} ({times['p95'] / 1000:.2f})"


def _tokens(row: ModelResult) -> str:
    tokens = row.more.get("tokens")
    return f"{tokens['input']:,} / {tokens['output']:,}" if tokens and tokens["replies"] else "–"


RETRIEVAL = ("none", "bm25", "dense")  # theirs: no retrieval, BM25, Dense-STARD
COLUMNS = ("none", "bm25", "dense", "hybrid")
TASKS = ("JEC-QA case analysis", "JEC-QA knowledge", "CAIL 2018 charges")
# model -> task, in the order of TASKS -> by RETRIEVAL; fractions, as printed
PUBLISHED: Mapping[str, tuple[tuple[float, float, float], ...]] = {
    "Baichuan2-13B-Base": ((0.231, 0.233, 0.238), (0.266, 0.288, 0.291), (0.850, 0.766, 0.816)),
    "ChatGLM3-6B": ((0.185, 0.189, 0.200), (0.194, 0.224, 0.237), (0.636, 0.646, 0.684)),
    "GPT-3.5-turbo": ((0.187, 0.233, 0.193), (0.206, 0.293, 0.252), (0.496, 0.528, 0.503)),
}
_MEASURES = ("accuracy case analysis", "accuracy knowledge", "accuracy charges")  # of our result files


def side_by_side(systems: Mapping[str, Mapping[str, Any]] | None = None) -> str:
    """Return a Markdown table of model × retrieval in percent: what was published, then what we measured.

    Ours are the systems of a result file, "MODEL, CONTEXT" -> measures.
    """
    ours = systems or {}
    lines = head(["task", "model", *COLUMNS, "whose"])
    for n, task in enumerate(TASKS):
        for model, values in PUBLISHED.items():
            known = dict(zip(RETRIEVAL, values[n], strict=True))
            lines.append(row([task, model, *(_percent(known.get(c)) for c in COLUMNS), "published"]))
        for model in dict.fromkeys(name.rpartition(", ")[0] for name in ours):
            found = {c: ours.get(f"{model}, {c}", {}).get(_MEASURES[n], {}).get("value") for c in COLUMNS}
            if any(value is not None for value in found.values()):
                lines.append(row([task, f"`{model}`", *(_percent(found[c]) for c in COLUMNS), "ours"]))
    return "\n".join(lines)


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.1f}"
