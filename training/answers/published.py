"""What STARD's authors published of models with and without retrieved articles.

Su et al. 2024, "STARD: A Chinese Statute Retrieval Dataset with Real Queries Issued by
Non-professionals", table 4: accuracy on JEC-QA and CAIL 2018, test, zero-shot, ten articles in the
prompt. The figures are theirs, none was measured here; how many questions they asked is not stated.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from training.tables.markdown import head, row

RETRIEVAL = ("none", "bm25", "dense")  # theirs: no retrieval, BM25, Dense-STARD
COLUMNS = ("none", "bm25", "dense", "hybrid")
TASKS = ("JEC-QA case analysis", "JEC-QA knowledge", "CAIL 2018 charges")
# model -> task, in the order of TASKS -> by RETRIEVAL; fractions, as printed
PUBLISHED: Mapping[str, tuple[tuple[float, float, float], ...]] = {
    "Baichuan2-13B-Base": ((0.231, 0.233, 0.238), (0.266, 0.288, 0.291), (0.850, 0.766, 0.816)),
    "ChatGLM3-6B": ((0.185, 0.189, 0.200), (0.194, 0.224, 0.237), (0.636, 0.646, 0.684)),
    "GPT-3.5-turbo": ((0.187, 0.233, 0.193), (0.206, 0.293, 0.252), (0.496, 0.528, 0.503)),
}
_MEASURE = {  # task -> the measure of our result files
    TASKS[0]: "accuracy case analysis",
    TASKS[1]: "accuracy knowledge",
    TASKS[2]: "accuracy charges",
}


def side_by_side(systems: Mapping[str, Mapping[str, Any]] | None = None) -> str:
    """Return a Markdown table of model × retrieval in percent: what was published, then what we measured.

    Args:
        systems: of a result file: "MODEL, CONTEXT" -> measures; ours are left out without any.
    """
    ours = systems or {}
    lines = head(["task", "model", *COLUMNS, "whose"])
    for n, task in enumerate(TASKS):
        for model, values in PUBLISHED.items():
            known = dict(zip(RETRIEVAL, values[n], strict=True))
            lines.append(row([task, model, *(_percent(known.get(c)) for c in COLUMNS), "published"]))
        for model in dict.fromkeys(name.rpartition(", ")[0] for name in ours):
            found = {c: ours.get(f"{model}, {c}", {}).get(_MEASURE[task], {}).get("value") for c in COLUMNS}
            if any(value is not None for value in found.values()):
                lines.append(row([task, f"`{model}`", *(_percent(found[c]) for c in COLUMNS), "ours"]))
    return "\n".join(lines)


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.1f}"
