"""What measuring answers leaves behind: a table, metrics.json, a CSV, and a line a question."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from indexes.corpus.corpus import appearing
from training.answers.aggregate import Row
from training.eval.report import METRICS
from training.eval.significance import Interval

KIND = "answers"  # tells this result file from one of retrieval


def table(rows: Sequence[Row]) -> str:
    """Return the table for people: a column a model and context, percent with 95 % intervals."""
    measures = list(dict.fromkeys(m for row in rows for m in row.measures))
    lines = [["", *(row.name for row in rows)], ["questions", *(str(row.questions) for row in rows)]]
    lines += [[m, *(_cell(row.measures.get(m)) for row in rows)] for m in measures]
    endings = [e for e in ("written", "refused", "empty", "failed", "limited") if _any(rows, e)]
    lines += [[f"ended: {e}", *(_share(row, e) for row in rows)] for e in endings]
    if any(row.more.get("unreadable") for row in rows):
        lines.append(["unreadable pieces", *(str(row.more.get("unreadable", "–")) for row in rows)])
    if any("ms_per_question" in row.more for row in rows):
        lines.append(["seconds (p95)", *(_took(row) for row in rows)])
        lines.append(["tokens in / out", *(_tokens(row) for row in rows)])
    if any(row.more.get("cost") is not None for row in rows):
        lines.append(["cost", *(_cost(row) for row in rows)])
    widths = [max(len(line[n]) for line in lines) for n in range(len(rows) + 1)]
    return "\n".join(
        "  ".join(
            c.ljust(w) if not n else c.rjust(w) for n, (c, w) in enumerate(zip(line, widths, strict=True))
        )
        for line in lines
    )


def entries(rows: Sequence[Row]) -> dict[str, Any]:
    """Return the systems of metrics.json; what cannot be said is None, for JSON knows no nan."""
    return {
        row.name: {
            "questions": row.questions,
            **{
                m: {end: _said(getattr(i, end)) for end in ("value", "low", "high")}
                for m, i in row.measures.items()
            },
            **row.more,
        }
        for row in rows
    }


def write(folder: Path, rows: Sequence[Row], entry: Mapping[str, Any]) -> None:
    """Write metrics.json, metrics.csv and questions.jsonl into a new folder, whole or not at all."""
    with appearing(folder) as part:
        with (part / "questions.jsonl").open("w", encoding="utf-8") as lines:
            for row in rows:
                lines.writelines(json.dumps(line, ensure_ascii=False) + "\n" for line in row.lines)
        with (part / "metrics.csv").open("w", encoding="utf-8", newline="") as file:
            out = csv.writer(file)
            out.writerow(("system", "measure", "value", "low", "high"))
            for row in rows:
                out.writerows(
                    (row.name, m, *map(_said, (i.value, i.low, i.high))) for m, i in row.measures.items()
                )
        (part / METRICS).write_text(
            json.dumps(entry, ensure_ascii=False, indent=1, allow_nan=False) + "\n", encoding="utf-8"
        )


def _said(value: float) -> float | None:
    return None if math.isnan(value) else value


def _cell(i: Interval | None) -> str:
    if i is None or math.isnan(i.value):
        return "–"
    return f"{100 * i.value:.1f} ({100 * i.low:.1f}–{100 * i.high:.1f})"


def _any(rows: Sequence[Row], ending: str) -> bool:
    return any(row.more.get("endings", {}).get(ending) for row in rows)


def _share(row: Row, ending: str) -> str:
    shares = row.more.get("endings")
    return f"{100 * shares[ending]:.1f}" if shares else "–"


def _took(row: Row) -> str:
    times = row.more.get("ms_per_question")
    if not times or times["median"] is None:
        return "–"
    return f"{times['median'] / 1000:.2f} ({times['p95'] / 1000:.2f})"


def _tokens(row: Row) -> str:
    tokens = row.more.get("tokens")
    return f"{tokens['input']:,} / {tokens['output']:,}" if tokens and tokens["replies"] else "–"


def _cost(row: Row) -> str:
    cost = row.more.get("cost")
    return "–" if cost is None else f"{cost:.4f}"
