"""A digest: what was written for official articles, in a folder, and the corpus that it makes with their law.

The folder holds `card.json`, `laws.json` (code -> prefix of its articles' ids, page, date, themes, short
forms), `digest.jsonl` (code, article_no, summary, and the keys of `facts.jsonl`), `questions.jsonl` (by code
and article_no), and, if there are any, `contacts.json`, `elsewhere.json`, `moved.json` and `steps.json`.
Numbers, headings and links are the law's, which does not travel with it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias

from indexes.corpus.articles import text
from indexes.corpus.card import FILE as CARD
from indexes.corpus.card import parse_card
from indexes.corpus.corpus import Corpus
from indexes.corpus.facts import KEYS as FACT_KEYS
from indexes.corpus.facts import fingerprint, parse_facts
from indexes.corpus.questions import AnnotatedQuestion, attach, read_cited
from indexes.formats.jsonl import Record, records
from indexes.formats.validation import Inspection, SkipReason, UnfitError
from rag.corpus.card import CorpusCard
from rag.corpus.facts import ArticleFacts
from rag.errors import BadInput
from rag.types import Article

DIGEST, LAWS = "digest.jsonl", "laws.json"
LISTS = ("contacts", "elsewhere", "moved", "steps")  # parts of the card that have a file of their own
_LAW_KEYS = ("url", "law_date", "themes")  # of a law that the card has
_NUMBER = "{article_no}"  # in the address of an article

Cite: TypeAlias = tuple[str, str]  # code, article number


@dataclass(frozen=True, slots=True)
class SummarisedLaw:
    """What the articles of one law get in the corpus."""

    prefix: str  # that their ids begin with
    article_url: str | None = None  # address of an article that comes without one, with {article_no} in it

    def article_id(self, number: str) -> str:
        """Return the id of an article."""
        return f"{self.prefix}-{number.replace(' ', '_')}"

    def url(self, number: str) -> str | None:
        """Return the address of an article, if it is known."""
        return self.article_url.replace(_NUMBER, number) if self.article_url else None


@dataclass(frozen=True, slots=True)
class Digest:
    """What was written for articles of official law."""

    summaries: Mapping[Cite, str]  # empty where nobody has summarised an article that people are sent to
    questions: Sequence[AnnotatedQuestion]
    facts: Mapping[Cite, ArticleFacts] = field(default_factory=dict)


def read_card(folder: Path) -> CorpusCard:
    """Read the card, the lists that stand beside it, and its laws.

    Raises:
        BadInput: a file is missing or cannot be used.
    """
    record = _object(folder / CARD)
    for name in LISTS:
        if (path := folder / f"{name}.json").is_file():
            record[name] = _json(path)
    laws = _laws(folder / LAWS)
    short = {code: law["aliases"] for code, law in laws.items() if law.get("aliases")}
    given = record.get("aliases", {})
    record["aliases"] = short | given if isinstance(given, dict) else given
    record["laws"] = {code: {key: law[key] for key in _LAW_KEYS if key in law} for code, law in laws.items()}
    return parse_card(record, str(folder / CARD))


def read_laws(folder: Path) -> Mapping[str, SummarisedLaw]:
    """Read the laws by their codes.

    Raises:
        BadInput: a law has no prefix of its own, or its articles' address no place for their number.
    """
    path, found = folder / LAWS, dict[str, SummarisedLaw]()
    for code, law in _laws(path).items():
        address = law.get("article_url")
        made = SummarisedLaw(str(law.get("prefix") or ""), None if address is None else str(address))
        if not made.prefix or made.prefix in {each.prefix for each in found.values()}:
            raise BadInput(f"{path}: {code} has no prefix of its own. Give it one.")
        if made.article_url is not None and _NUMBER not in made.article_url:
            raise BadInput(f"{path}: article_url of {code}: write {_NUMBER} where an article's number goes.")
        found[code] = made
    return found


def _laws(path: Path) -> Mapping[str, Mapping[str, Any]]:
    laws = _object(path)
    if odd := [code for code, law in laws.items() if not isinstance(law, dict)]:
        raise BadInput(f'{path}: {odd[0]} is no object. Write {{"CODE": {{"prefix": ..., "url": ...}}}}.')
    return laws


def _object(path: Path) -> dict[str, Any]:
    content = _json(path)
    if not isinstance(content, dict):
        raise BadInput(f"{path}: an object was expected. See docs/bring-law.md.")
    return content


def _json(path: Path) -> object:
    try:
        content: object = json.loads(path.read_text(encoding="utf-8"))
        json.dumps(content, ensure_ascii=False).encode()  # half a surrogate pair could not be written again
        return content
    except (OSError, ValueError, RecursionError) as error:
        raise BadInput(f"{path}: cannot be read as JSON ({error}). See docs/bring-law.md.") from None


def read_digest(folder: Path, inspection: Inspection | None = None) -> Digest:
    """Read summaries, facts and questions.

    Raises:
        BadInput: a line cannot be used.
    """
    summaries: dict[Cite, str] = {}
    facts: dict[Cite, ArticleFacts] = {}
    inspection = inspection or Inspection()
    for _, _, (cite, summary, found) in inspection.parsed(
        records(folder / DIGEST, inspection), _parse_digest
    ):
        summaries[cite], facts[cite] = summary, found
    return Digest(summaries, read_cited(folder / "questions.jsonl", inspection=inspection), facts)


def _parse_digest(record: Record) -> tuple[Cite, str, ArticleFacts]:
    if missing := [key for key in ("code", "article_no", "summary") if record.get(key) is None]:
        raise UnfitError(SkipReason.MISSING_COLUMN, f"no {missing[0]}", f"Add {missing[0]}")
    cite = (text(record, "code"), text(record, "article_no"))
    kept = {key: value for key, value in record.items() if key in FACT_KEYS}
    return cite, text(record, "summary"), parse_facts({**kept, "id": " ".join(cite)})[1]


def assemble(
    law: Sequence[Article], card: CorpusCard, laws: Mapping[str, SummarisedLaw], digest: Digest
) -> Corpus:
    """Join each official number, heading path and link with its summary, which stands by code and number.

    Articles of the law that the digest does not name are left out. A summary that says which wording it was
    written from is out of date where the law at hand has another; one that does not is taken to be of it.
    """
    left = dict(digest.summaries)
    articles, facts = [], {}
    for article in law:
        number = article.article_no.strip()
        cite = (article.code, number)
        if cite not in left:
            continue
        if article.code not in laws:
            raise BadInput(f"{article.code} has no prefix: give it one in {LAWS}")
        of, summary = laws[article.code], left.pop(cite)
        url = article.url or of.url(number)
        own = replace(
            article, id=of.article_id(number), article_no=number, text=summary, url=url, references=()
        )
        articles.append(replace(own, language=None, jurisdiction=None))  # the card says it once
        facts[own.id] = _dated(digest.facts.get(cite, ArticleFacts()), article.text, summary)
    if left:
        some = "; ".join(" ".join(cite) for cite in [*left][:5])
        raise BadInput(f"summaries without an article in the law at hand: {some}: remove them")
    return Corpus(card, tuple(articles), attach(digest.questions, articles), facts=facts)


def _dated(written: ArticleFacts, official: str, summary: str) -> ArticleFacts:
    """Return facts with the fingerprint of the wording that the summary was written from."""
    now = fingerprint(official)
    if not summary or not written.official:
        return replace(written, official=now)
    return replace(written, outdated=written.outdated or written.official != now)
