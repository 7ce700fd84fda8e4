"""The tables of what `python -m training.references` measured."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from training.tables.markdown import percent, table

_LANGUAGES = {"fr": "French", "it": "Italian", "de": "German", "zh": "Chinese"}
_LEVELS = {"document": "law", "article": "article", "whole": "whole reference"}


def references(entry: Mapping[str, Any]) -> str:
    """Return precision and recall of the law, the article and the whole reference, with 95 % intervals."""
    rows = [["JuriFindIT (published)"]]
    for level in _LEVELS:
        published = entry["published"].get(level)
        rows[0] += [f"{100 * share:.1f}" for share in published] if published else ["–", "–"]
    for name, measured in _measured(entry):
        rows.append([name])
        for level in _LEVELS:
            numbers = measured.get(level, {}).get("all", {})
            rows[-1] += [percent(numbers.get(side)) for side in ("precision", "recall")]
    sides = [f"{level}, {side}" for level in _LEVELS.values() for side in ("precision", "recall")]
    return table(["against", *sides], rows)


def reference_kinds(entry: Mapping[str, Any]) -> str:
    """Return right of found and met of sought by kind, at the level of articles or, without any, of laws."""
    rows = []
    for name, measured in _measured(entry):
        laws, articles = measured.get("document", {}), measured.get("article", {})
        for kind in laws:
            if kind != "all":
                level = "article" if kind in articles else "law"
                numbers = articles.get(kind, laws[kind])
                counts = [f"{numbers[a]} of {numbers[b]}" for a, b in (("right", "found"), ("met", "sought"))]
                shares = [percent(numbers[side]) for side in ("precision", "recall")]
                rows.append([name, kind, level, shares[0], counts[0], shares[1], counts[1]])
    return table(["against", "kind", "counted by", "precision", "right", "recall", "met"], rows)


def _measured(entry: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for language, numbers in entry["labels"].items():
        for part in ("all", "dev", "test"):
            if part in numbers:
                name = _LANGUAGES.get(language, language)
                yield f"labels, {name}" + (f", {part}" if part != "all" else ""), numbers[part]
    for name, numbers in entry["akn"].items():
        yield f"mark-up, {name}", numbers["all"]
