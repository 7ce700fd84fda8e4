"""The card of a model: what it learnt from, under which licence, how, how well, and what it is not for.

Sections as in model cards (Mitchell et al. 2019); the licence of the data comes first, because it goes on
with the model.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from rag.corpus.licence import Licence, classify, strictest
from training.tables.__main__ import SHORT
from training.tables.__main__ import markdown as measures_table


@dataclass(frozen=True, slots=True)
class Source:
    """A corpus or a set of questions that a model learnt from."""

    name: str
    licence: Licence
    attribution: str = ""

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> Source:
        """Make it of what `rag.corpus.licence.provenance` returned, perhaps in an older version."""
        text, url = str(record.get("licence") or ""), record.get("licence_url")
        licence = Licence(text, classify(text, url), url)
        return cls(str(record.get("name") or "?"), licence, str(record.get("source") or ""))


@dataclass(frozen=True)
class ModelCard:
    """What is told of a model; empty parts are said to be unknown."""

    name: str
    about: str  # what it is, in a sentence or two
    sources: tuple[Source, ...]
    intended: str
    misuse: tuple[str, ...]
    limits: tuple[str, ...]
    data: Mapping[str, object]  # hashes and counts of what it learnt from
    recipe: Mapping[str, object]
    command: str
    hardware: str | None = None
    libraries: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)  # path -> SHA-256
    metrics: Mapping[str, Any] | None = None  # what metrics.json holds
    use: str = ""  # lines of Python

    @property
    def licence(self) -> Licence | None:
        """The strictest licence among the sources, which the model inherits; None without sources."""
        return strictest([source.licence for source in self.sources])

    @property
    def restricted(self) -> tuple[Source, ...]:
        """The sources that are non-commercial, unchangeable, or without a grant."""
        return tuple(source for source in self.sources if source.licence.restricted)


def markdown(card: ModelCard) -> str:
    """Return the card as Markdown."""
    parts = [
        f"# {_plain(card.name)}",
        _plain(card.about),
        "## Licence inherited from the data",
        *_licence(card),
    ]
    parts += ["## Intended use", card.intended]
    parts += ["## Misuse", _listed(card.misuse), "## Limits", _listed(card.limits)]
    parts += ["## Data", _rows(card.data), "## Recipe", _rows(card.recipe)]
    parts += ["Made by", f"```\n{card.command}\n```", f"on: {card.hardware or 'not recorded'}."]
    if card.libraries:
        parts.append("With " + ", ".join(f"{name} {v}" for name, v in card.libraries.items()) + ".")
    parts += ["## Metrics", *_metrics(card.metrics)]
    if card.use:
        parts += ["## Use", f"```python\n{card.use}\n```"]
    if card.files:
        parts += ["## Files", _rows({name: f"`{sha256}`" for name, sha256 in card.files.items()})]
    return "\n\n".join(parts) + "\n"


def _licence(card: ModelCard) -> list[str]:
    strict = card.licence
    if strict is None:
        return ["What it learnt from is not recorded, so no use of it is known to be allowed."]
    said = [f"**{_plain(strict.named)}**. {strict.plain}"]
    lines = ["| learnt from | licence | to be named |", "|---|---|---|"]
    for source in card.sources:
        name = _plain(source.licence.named)
        url = source.licence.url
        cells = [source.name, f"{name} {url}" if url else name, source.attribution or "–"]
        lines.append(f"| {' | '.join(_plain(cell) for cell in cells)} |")
    return [*said, "\n".join(lines)]


def _metrics(entry: Mapping[str, Any] | None) -> list[str]:
    if entry is None:
        by = "`python -m training.eval --output FOLDER` measures, `--metrics FOLDER/metrics.json` takes it in"
        return [f"Not measured for this card: {by}."]
    corpus = entry["corpus"]
    about = (
        f"{entry['questions']} questions over {corpus['name']} (sha256 {corpus['sha256'][:12]}…), percent "
        f"with 95 % intervals, by `{entry['command']}`."
    )
    return [about, measures_table(entry, SHORT)]


def _rows(facts: Mapping[str, object]) -> str:
    lines = ["| what | value |", "|---|---|"]
    lines += [f"| {_plain(name)} | {_plain(_said(value))} |" for name, value in facts.items()]
    return "\n".join(lines)


def _said(value: object) -> str:
    if value is None or value == "":
        return "not recorded"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def _listed(lines: tuple[str, ...]) -> str:
    return "\n".join(f"- {line}" for line in lines) or "Not stated."


def _plain(text: str) -> str:
    """Return a text on one line that makes no markup, for names come from corpora."""
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")
