"""The tables of what `python -m training.pages` measured.

The table of what `python -m training.situations` measured.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from training.tables.markdown import head, row

_ANSWERS = {
    "card": "an answer: first article on the page",
    "painted": "first article painted",
    "whole": "everything drawn",
}


def speed(entry: Mapping[str, Any]) -> str:
    """Return what one person waits for: two tables in one, views and then answers and clicks."""
    lines = head(["view, empty cache", "first paint", "name of the page", "ready"])
    for name, visit in entry["visits"].items():
        lines.append(row([name, *(_ms(visit[key]) for key in ("paint", "masthead", "ready"))]))
    lines += [row(["**from the key or click**", "**times**", "**median**", "**95th percentile**"])]
    for key, label in _ANSWERS.items():
        lines.append(_times(label, entry["answers"][key]))
        if key == "card":
            slowest = _ms(entry["answers"][key]["max_ms"])
            lines.append(row(["the slowest of them", "1", slowest, slowest]))
            first = _ms(entry["first_answer_ms"])
            lines.append(row(["the very first that the server answers", "1", first, first]))
    lines += [_times(f"click: {name}", took) for name, took in entry["clicks"].items()]
    return "\n".join(lines)


def users(entry: Mapping[str, Any]) -> str:
    """Return what many people wait for, and what the server holds meanwhile."""
    lines = head(["", "times", "median", "95th percentile"])
    lines += [
        _times("the page is opened", entry["arrivals"]),
        _times("the first article of an answer", entry["answers"]["first_card"]),
        _times("the answer, whole", entry["answers"]["whole"]),
        _times("the question is put into the link", entry["shares"]),
        _times("to an article in its code, and back", entry["articles_opened"]),
    ]
    held = entry["memory"]
    lines.append(row(["errors", str(entry["errors"]), "", ""]))
    lines.append(
        row(
            [
                "memory of the server at first, at last, at most",
                *(f"{held[key]} MiB" for key in ("begin_mib", "end_mib", "most_mib")),
            ]
        )
    )
    lines.append(
        row(["its slope after a third of the time", f"{held['slope_mib_a_minute']} MiB a minute", "", ""])
    )
    lines.append(row(["processor used", f"{entry['processor_s']} s", "", ""]))
    return "\n".join(lines)


def corpora(entry: Mapping[str, Any]) -> str:
    """Return the memory after each index that was opened."""
    lines = head(["indexes opened so far", "memory of the server"])
    lines += [row([str(n), f"{held:.0f} MiB"]) for n, held in enumerate(entry["memory_mib"])]
    return "\n".join(lines)


def _times(name: str, took: Mapping[str, Any]) -> str:
    return row([name, str(took["n"]), _ms(took["median_ms"]), _ms(took["p95_ms"])])


def _ms(value: float | None) -> str:
    return "–" if value is None else f"{value:.0f} ms"


MEASURES = ("R@10", "MRR@10")
_NAMES = {"hybrid": "hybrid", "keyword": "words", "meaning": "meaning"}


def situations(entry: Mapping[str, Any]) -> str:
    """Return each search as it is, and what the right and the wrong sentence in front change, in points."""
    lines = head(["search", "measure", "as it is", "right sentence", "wrong sentence"])
    for mode, measured in entry["modes"].items():
        for measure in MEASURES:
            values = measured[measure]
            changed = (_change(values[which]) for which in ("right", "wrong"))
            lines.append(row([_NAMES[mode], measure, f"{100 * values['as it is']['value']:.1f}", *changed]))
    return "\n".join(lines)


def _change(found: Mapping[str, float]) -> str:
    value, low, high = (100 * found[key] for key in ("value", "low", "high"))
    return f"{value:+.1f} ({low:+.1f} to {high:+.1f})"
