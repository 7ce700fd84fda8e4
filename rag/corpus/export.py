"""Articles to take away, as Markdown and as JSON, with what must be said beside them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import date
from typing import Any

from rag.corpus.card import CorpusCard
from rag.corpus.citation import citation
from rag.corpus.facts import ArticleFacts
from rag.corpus.licence import provenance
from rag.types import Article

FORMAT = 1
# What CommonMark, and GitHub's dialect of it, give a meaning to; a backslash takes it away. An address in a
# text would become a link by itself: the mark before which it is broken is one of "://", "www." and "@".
_SPECIAL = re.compile(r"[\\`*_{}\[\]()<>#+\-!|~&@=$^]|(?<=\d)[.)](?=\s|$)|(?<=[a-zA-Z]):(?=//)|(?<=www)\.")
# A terminal obeys those up to U+009F; the last ones turn the direction of what stands beside them.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
_TARGET = re.compile(r"https?://[^\s<>\\\x00-\x1f]+")


@dataclass(frozen=True, slots=True)
class ArticleExtract:
    """Some articles of one index, in the order in which they are shown."""

    card: CorpusCard
    index: str  # its name
    version: str  # which build of it
    articles: tuple[Article, ...]
    question: str | None = None  # None unless the person wants it to go along
    day: date | None = None  # whose law was asked for
    facts: Mapping[str, ArticleFacts] = field(default_factory=dict)  # article id -> what stands beside it


@dataclass(frozen=True, slots=True)
class ExportLabels:
    """What a Markdown file says around the articles, in the reader's language."""

    title: str
    question: str
    limits: tuple[str, ...]  # said before the first article
    official: str  # the label of the link to the official text
    facts: tuple[str, ...]  # of the index, said at the end
    notes: Mapping[str, Sequence[str]] = field(default_factory=dict)  # article id -> said below its text


def to_markdown(extract: ArticleExtract, labels: ExportLabels) -> str:
    """Return the articles as CommonMark, in which no text of a corpus or a person is markup."""
    return "\n\n".join(_markdown(extract, labels)) + "\n"


def _markdown(extract: ArticleExtract, labels: ExportLabels) -> Iterator[str]:
    yield f"# {escape(labels.title)}"
    for limit in labels.limits:
        yield f"*{escape(limit)}*"
    if extract.question:
        yield f"## {escape(labels.question)}"
        yield "\n>\n".join(f"> {escape(line)}" for line in _lines(extract.question))
    for article in extract.articles:
        yield f"## {escape(citation(article, extract.card))}"
        if article.headings:
            yield escape(" › ".join(article.headings))
        yield from (escape(line) for line in _lines(article.text))
        yield from (f"*{escape(note)}*" for note in labels.notes.get(article.id, ()))
        page, _ = extract.card.official_page(article.code, article.url)
        if page and _TARGET.fullmatch(page):
            yield f"[{escape(labels.official)}](<{page}>)"
    yield "---"
    yield "\n".join(f"- {escape(fact)}" for fact in labels.facts)


def escape(text: str) -> str:
    """Return a text, on one line, that Markdown shows letter by letter."""
    line = " ".join(_CONTROL.sub(" ", text).split())
    return _SPECIAL.sub(lambda found: "\\" + found[0], line)


def _lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.strip()]


def to_json(extract: ArticleExtract) -> str:
    """Return the articles as JSON, for a program.

    The keys: `format` (1), `index` (name, version), `corpus` (title, language, jurisdiction, law_date,
    text_kind, official_site, licence, licence_url, source, grant), `in_force_on`, `articles` (id, citation,
    the fields of the corpus format that it has, law_date and code_url where its code has them, time_limits,
    amounts, note, outdated), and `question` where the person wants it told.
    """
    card = extract.card
    record: dict[str, Any] = {
        "format": FORMAT,
        "index": {"name": extract.index, "version": extract.version},
        "corpus": {
            "title": card.title,
            "language": card.language,
            "jurisdiction": card.jurisdiction,
            "law_date": card.law_date,
            "text_kind": card.text_kind,
            "official_site": card.official_site,
        }
        | provenance(card),
        "in_force_on": extract.day,
        "articles": [_record(article, extract) for article in extract.articles],
    }
    if extract.question:
        record["question"] = extract.question
    return json.dumps(record, ensure_ascii=False, indent=1, default=date.isoformat) + "\n"


def _record(article: Article, extract: ArticleExtract) -> dict[str, Any]:
    card, facts = extract.card, extract.facts.get(article.id, ArticleFacts())
    page, own = card.official_page(article.code, article.url)
    dated = card.dated(article.code) if article.code in card.laws else None  # else it is the corpus's
    law = {"law_date": dated, "code_url": None if own else page}
    said = {key: value for key, value in asdict(facts.shown).items() if value and key != "official"}
    given = {key: value for key, value in (asdict(article) | law).items() if value not in (None, ())}
    return {"id": article.id, "citation": citation(article, card)} | given | said
