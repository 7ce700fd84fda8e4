"""The data card of a corpus: what a person should know before it is used, and what nobody has said.

The sections follow the data statements of Bender and Friedman (2018): rationale, language variety, who
wrote, who labelled, text characteristics; with the date of the law, the licence, the uses and the
maintenance beside them. They are filled from the corpus's card, from `facts.toml` and from what was
measured. A section that none of them fills says so.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from types import MappingProxyType

from indexes.describing.description import Description
from indexes.describing.tables import Share, Table, as_markdown, format_cell, plain_markdown
from rag.corpus.card import CorpusCard
from rag.corpus.licence import licence_of, provenance
from rag.errors import BadInput

Facts = Mapping[str, str]  # a section of the data card -> what is known

# The sections that facts may fill, each with its heading on the data card.
SECTIONS: Facts = MappingProxyType(
    {
        "published": "Published as",
        "rationale": "Why it was made",
        "language_variety": "Language variety",
        "written_by": "Who wrote the texts",
        "asked_by": "Who asked the questions",
        "labelled_by": "Who labelled them, and how",
        "preparation": "How it was prepared",
        "intended_use": "Intended use",
        "out_of_scope": "Out of scope",
        "maintenance": "Maintenance",
        "known_gaps": "Known gaps and faults",
    }
)
# The origin on a card -> its facts. What is not there is said to be unknown, never guessed.
FACTS: Mapping[str, Facts] = MappingProxyType(
    tomllib.loads(files("indexes.describing").joinpath("facts.toml").read_text(encoding="utf-8"))
)
GAP = "Not stated by the source."
_SCHEME = "Data statement (Bender and Friedman 2018), with date of the law, licence, uses and maintenance"


@dataclass(frozen=True, slots=True)
class Section:
    """One question about a corpus and its answer; None where nobody has said."""

    key: str
    title: str
    text: str | None


@dataclass(frozen=True)
class DataCard:
    """The sections in their order, over a description."""

    of: Description
    sections: tuple[Section, ...]

    @property
    def gaps(self) -> tuple[Section, ...]:
        """The sections that nobody has filled."""
        return tuple(section for section in self.sections if section.text is None)

    def markdown(self) -> str:
        """Return datacard.md."""
        card = self.of.card
        title = f"# Data card: {plain_markdown(card.title)}"
        lines = [title, "", f"{_SCHEME}.", "", as_markdown(_identity(self.of)), ""]
        for section in self.sections:
            lines += [f"## {section.title}", "", plain_markdown(section.text or f"*{GAP}*"), ""]
        if self.gaps:
            named = "; ".join(section.title.lower() for section in self.gaps)
            lines += ["## Not stated", "", f"Nobody has said: {named}.", ""]
        return "\n".join(lines)

    def json(self) -> str:
        """Return datacard.json."""
        card = self.of.card
        record = {
            "scheme": _SCHEME,
            **provenance(card),
            "title": card.title,
            "language": card.language,
            "jurisdiction": card.jurisdiction or None,
            "law_date": card.law_date.isoformat() if card.law_date else None,
            "text_kind": card.text_kind,
            "sha256": self.of.sha256,
            "sections": {s.key: {"title": s.title, "text": s.text} for s in self.sections},
            "not_stated": [section.key for section in self.gaps],
        }
        return json.dumps(record, ensure_ascii=False, indent=1) + "\n"


def data_card(of: Description, origin: str = "") -> DataCard:
    """Make the data card of a corpus; `origin` is a key of `FACTS`, where the card itself names none.

    Raises:
        BadInput: the card describes a section that there is not.
    """
    card = of.card
    unknown = sorted(card.described.keys() - SECTIONS.keys())
    if unknown:
        raise BadInput(
            f"the card of {card.name} describes {', '.join(unknown)}. Use some of: {', '.join(SECTIONS)}."
        )
    known = {**FACTS.get(card.origin or origin, {}), **card.described}
    nobody = {} if of.questions else dict.fromkeys(("asked_by", "labelled_by"), "There are no questions.")
    facts = {**nobody, **{key: text for key, text in known.items() if text.strip()}}
    made: list[Section] = []
    for key, title in SECTIONS.items():
        made.append(Section(key, title, facts.get(key)))
        if key == "preparation":
            made.append(Section("text_characteristics", "Text characteristics", _characteristics(of)))
            made.append(Section("law_date", "Date of the law", _law_date(of)))
            made.append(Section("licence", "Licence", _licence(card)))
    if card.note:
        made.append(Section("note", "Note", card.note))
    return DataCard(of, tuple(made))


def _identity(of: Description) -> Table:
    card = of.card
    rows = (
        ("name", card.name),
        ("language", card.language),
        ("jurisdiction", card.jurisdiction or None),
        ("articles", format_cell(of.articles)),
        ("questions", format_cell(of.questions)),
        ("official site", card.official_site),
        ("sha256 of the articles", f"`{of.sha256}`"),
    )
    return Table("identity", "Identity", ("what", "found"), rows)


def _characteristics(of: Description) -> str:
    kind = "unofficial summaries" if of.card.text_kind == "summary" else "official text"
    lines = [
        f"{of.articles:,} articles ({kind}) of {_many(len(of.codes), 'code')}, {_lengths(of, 'articles')}."
    ]
    if of.questions:
        lines.append(f"{_many(of.questions, 'question')}, {_lengths(of, 'questions')}.")
        gold = of.gold_of_all
        lines.append(
            f"{_many(of.with_gold, 'question')} with gold articles, on average "
            f"{format_cell(gold.total / of.with_gold if of.with_gold else None)} of them, "
            f"{format_cell(gold.quantile(1.0))} at most; "
            f"{format_cell(Share(of.cited, of.articles))} of the articles and "
            f"{format_cell(Share(of.codes_cited, len(of.codes)))} of the codes are cited by a question."
        )
    else:
        lines.append("No questions.")
    references = of.references.spread.total
    if references:
        lines.append(f"{_many(references, 'cross-reference')}, {of.references.inside:,} within the corpus.")
    return " ".join([*lines, f"Words are counted {of.units['words']}."])


def _many(n: int, what: str) -> str:
    return f"{n:,} {what}{'' if n == 1 else 's'}"


def _lengths(of: Description, what: str) -> str:
    words = of.lengths[what]["words"]
    least, median, most, largest = (format_cell(words.quantile(q)) for q in (0, 0.5, 0.95, 1))
    return f"{median} words long in the median (from {least} to {largest}; 95 % have at most {most})"


def _law_date(of: Description) -> str | None:
    card, dates, sentences = of.card, of.dates, []
    if card.law_date:
        sentences.append(f"The law as of {card.law_date.isoformat()}.")
    if dates.with_from:
        span = f"{dates.earliest} to {dates.latest}"
        sentences.append(f"{dates.with_from:,} articles say from when they hold ({span}).")
    if dates.with_to:
        sentences.append(f"{dates.with_to:,} articles say until when.")
    if dates.in_force is not None:
        sentences.append(f"{dates.in_force:,} articles were in force on that day.")
    return " ".join(sentences) or None


def _licence(card: CorpusCard) -> str | None:
    licence = licence_of(card)
    if not licence.text.strip():
        return None
    at = f" Its text: {card.licence_url}" if card.licence_url else ""
    source = f" To be named: {card.source}." if card.source else ""
    return f"{licence.named}. {licence.plain}{at}{source}"
