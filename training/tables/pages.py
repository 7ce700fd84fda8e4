"""The tables of what `python -m training.pages` and `python -m training.situations` measured."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from training.tables.markdown import table

_ANSWERS = {
    "card": "an answer: first article on the page",
    "painted": "first article painted",
    "whole": "everything drawn",
}


def speed(entry: Mapping[str, Any]) -> str:
    """Return what one person waits for: two tables in one, views and then answers and clicks."""
    rows = [
        [name, *(_ms(visit[key]) for key in ("paint", "masthead", "ready"))]
        for name, visit in entry["visits"].items()
    ]
    rows += [["**from the key or click**", "**times**", "**median**", "**95th percentile**"]]
    for key, label in _ANSWERS.items():
        rows.append(_times(label, entry["answers"][key]))
        if key == "card":
            slowest, first = _ms(entry["answers"][key]["max_ms"]), _ms(entry["first_answer_ms"])
            rows.append(["the slowest of them", "1", slowest, slowest])
            rows.append(["the very first that the server answers", "1", first, first])
    rows += [_times(f"click: {name}", took) for name, took in entry["clicks"].items()]
    return table(["view, empty cache", "first paint", "name of the page", "ready"], rows)


def users(entry: Mapping[str, Any]) -> str:
    """Return what many people wait for, and what the server holds meanwhile."""
    held = entry["memory"]
    memory = [f"{held[key]} MiB" for key in ("begin_mib", "end_mib", "most_mib")]
    low, high = held.get("interval_95") or (None, None)  # earlier results have none
    between = "" if low is None else f"{low} to {high} (95 %)"
    rows = [
        _times("the page is opened", entry["arrivals"]),
        _times("the first article of an answer", entry["answers"]["first_card"]),
        _times("the answer, whole", entry["answers"]["whole"]),
        _times("the question is put into the link", entry["shares"]),
        _times("to an article in its code, and back", entry["articles_opened"]),
        ["errors", str(entry["errors"]), "", ""],
        ["memory of the server at first, at last, at most", *memory],
        ["its slope after a third of the time", f"{held['slope_mib_a_minute']} MiB a minute", between, ""],
        ["processor used", f"{entry['processor_s']} s", "", ""],
    ]
    return table(["", "times", "median", "95th percentile"], rows)


def corpora(entry: Mapping[str, Any]) -> str:
    """Return the memory after each index that was opened."""
    rows = [[str(n), f"{held:.0f} MiB"] for n, held in enumerate(entry["memory_mib"])]
    return table(["indexes opened so far", "memory of the server"], rows)


def _times(name: str, took: Mapping[str, Any]) -> list[str]:
    return [name, str(took["n"]), _ms(took["median_ms"]), _ms(took["p95_ms"])]


def _ms(value: float | None) -> str:
    return "–" if value is None else f"{value:.0f} ms"


MEASURES = ("R@10", "MRR@10")
_NAMES = {"hybrid": "hybrid", "keyword": "words", "meaning": "meaning"}


def situations(entry: Mapping[str, Any]) -> str:
    """Return each search as it is, and what the right and the wrong sentence in front change, in points."""
    rows = []
    for mode, measured in entry["modes"].items():
        for measure in MEASURES:
            values = measured[measure]
            cells = [f"{100 * values['as it is']['value']:.1f}"]
            for d in (values["right"], values["wrong"]):
                cells.append(f"{100 * d['value']:+.1f} ({100 * d['low']:+.1f} to {100 * d['high']:+.1f})")
            rows.append([_NAMES[mode], measure, *cells])
    return table(["search", "measure", "as it is", "right sentence", "wrong sentence"], rows)
