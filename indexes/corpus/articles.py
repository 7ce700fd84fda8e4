"""Articles as records of a file: read, checked, and written in one canonical form."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Hashable, Iterable
from datetime import date
from functools import partial
from pathlib import Path
from typing import TypeVar

from indexes.formats.jsonl import Record, records
from indexes.formats.limits import SETTING, TEXT, limits
from indexes.formats.validation import Inspection, SkipReason, SourceLocation, UnfitError
from rag.errors import BadInput
from rag.types import Article, Progress, no_progress

# The keys of articles.jsonl, in the order in which they are written.
REQUIRED = ("id", "code", "article_no", "text")
KEYS = (
    "id", "code", "article_no", "headings", "text", "language", "jurisdiction", "law_type", "region",
    "url", "valid_from", "valid_to", "references",
)  # fmt: skip


_KEYS = frozenset(KEYS)
_ARTICLE = 300  # bytes in memory of an article besides its text
_T = TypeVar("_T", bound=Hashable)
MOST_SHARED = 100_000


class ValueCache:
    """Gives one object for equal values: the code and the headings of an article are those of hundreds.

    It knows a limited number of values, for what never comes again is not worth remembering.
    """

    def __init__(self) -> None:
        self._known: dict[Hashable, Hashable] = {}

    def __call__(self, value: _T) -> _T:
        """Return the first value that came and is equal to this one."""
        if len(self._known) < MOST_SHARED:
            return self._known.setdefault(value, value)  # type: ignore[return-value]  # equal
        return self._known.get(value, value)  # type: ignore[return-value]  # equal, and of str or tuple alone


def read_articles(
    path: Path,
    *,
    inspection: Inspection | None = None,
    progress: Progress = no_progress,
    textless: bool = False,
    longest: int | None = None,
) -> tuple[Article, ...]:
    """Read articles.jsonl or articles.jsonl.gz; without an inspection the first bad line stops it.

    `textless`: an article may have an empty text, as one of a digest that nobody has summarised.

    Raises:
        BadInput: the file cannot be used; the text names file, line and cure.
    """
    inspection = inspection or Inspection()
    return collect(records(path, inspection, progress), inspection, path, textless=textless, longest=longest)


def collect(
    found: Iterable[tuple[SourceLocation, Record]],
    inspection: Inspection,
    path: Path,
    *,
    textless: bool = False,
    longest: int | None = TEXT,
) -> tuple[Article, ...]:
    """Turn records with the keys of this module into articles, in their order.

    All are held in memory, so what comes in ends at `Limits.free` bytes of it, however it was packed.

    Raises:
        BadInput: a record is bad and the inspection not lenient; no article is left, or there is too much.
    """
    articles: list[Article] = []
    held, most = 0, limits().free if longest is not None else None
    shared = ValueCache()
    seen: set[str] = set()
    at = array("Q")  # the line of each article: eight bytes a number, where a dict takes four times as many
    lines: dict[str, int] = {}  # made when an id comes twice, which is rare
    for place, record, article in inspection.parsed(
        found, partial(parse_article, shared=shared, textless=textless, longest=longest)
    ):
        if article.id in seen:
            if article.id not in lines:
                known = len(lines)
                lines |= zip((each.id for each in articles[known:]), at[known:], strict=True)
            problem = f"id {article.id!r} was already used at line {lines[article.id]}"
            inspection.refuse(SkipReason.DUPLICATE_ID, place, problem, "Give every article an id of its own")
            continue
        held += sys.getsizeof(article.text) + _ARTICLE
        if most is not None and held > most:
            problem = f"{place}: more than {most // 10**6:,} MB of law, which is all held in memory"
            raise BadInput(
                f"{problem}. Bring in less, or, if you trust it, set {SETTING}={4 * most // 10**6}."
            )
        seen.add(article.id)
        at.append(place.line)
        articles.append(article)
        inspection.keep("article", article.id, {k: v for k, v in record.items() if k not in _KEYS})
    if not articles:
        cure = f"Give a file with one article a line: {', '.join(REQUIRED)}"
        raise BadInput(f"{path}: no articles in it. {cure}.")
    return tuple(articles)


def parse_article(
    record: Record, shared: ValueCache | None = None, *, textless: bool = False, longest: int | None = None
) -> Article:
    """Make an article of a record; `shared` gives one object for equal codes and headings.

    An empty text is refused unless `textless`, one of more than `longest` characters always: what comes in is
    bounded, what was built before is read as it is.

    Raises:
        UnfitError: a required column is missing, the text is empty or too long, a value is of another type.
    """
    missing = [key for key in REQUIRED if record.get(key) is None]
    if missing:
        problem = f"no {', '.join(missing)}; it has: {', '.join(record) or 'nothing'}"
        cure = "Add it to the record, or map a column to it with --from table --column FIELD=COLUMN"
        raise UnfitError(SkipReason.MISSING_COLUMN, problem, cure)
    same = shared or ValueCache()
    body = text(record, "text")
    if not (textless or body.strip()):
        cure = "Fill it in, or leave the article out if it was repealed"
        raise UnfitError(SkipReason.EMPTY_TEXT, "the text is empty", cure)
    if longest is not None and len(body) > longest:  # it is counted and encoded whole
        problem = f"the text has {len(body):,} characters, and {longest:,} are read at most"
        raise UnfitError(SkipReason.TOO_LONG, problem, "Cut it into articles")
    return Article(
        id=name(record, "id"),
        code=same(name(record, "code")),
        article_no=number(record["article_no"], "article_no"),
        text=body,
        headings=same(tuple(map(same, texts(record, "headings")))),
        language=same(optional(record, "language")),
        jurisdiction=same(optional(record, "jurisdiction")),
        law_type=same(optional(record, "law_type")),
        region=same(optional(record, "region")),
        url=optional(record, "url"),
        valid_from=day(record, "valid_from"),
        valid_to=day(record, "valid_to"),
        references=ids(record, "references"),
    )


def article_record(article: Article) -> Record:
    """Return the record that is written: the keys in order; what is None or () is left out."""
    record: dict[str, object] = {}
    for key in KEYS:
        value = getattr(article, key)
        if value not in (None, ()):
            record[key] = value.isoformat() if isinstance(value, date) else value
    return record


def text(record: Record, key: str) -> str:
    """Return a string as it is."""
    value = record[key]
    if not isinstance(value, str):
        raise _wrong(key, value, "text in double quotes")
    return value


def optional(record: Record, key: str) -> str | None:
    """Return a string, or None where there is none or it is empty."""
    return (text(record, key) or None) if record.get(key) is not None else None


def number(value: object, key: str) -> str:
    """Return text that may have come as a whole number: an id, an article number."""
    if isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    raise _wrong(key, value, "text or a whole number")


def name(record: Record, key: str) -> str:
    """Return text or a whole number that must not be blank."""
    value = number(record[key], key)
    if not value.strip():
        raise UnfitError(SkipReason.MISSING_COLUMN, f"{key} is empty", f"Fill in {key}")
    return value


def texts(record: Record, key: str) -> tuple[str, ...]:
    """Return a list of strings; absent or null gives none."""
    value = record.get(key)
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(part, str) for part in value):
        raise _wrong(key, value, 'a list of texts, such as ["Book 1", "Title 2"]')
    return tuple(value)


def ids(record: Record, key: str) -> tuple[str, ...]:
    """Return a list of ids, or the one id that came without a list; twice the same counts once."""
    value = record.get(key)
    if value is None:
        return ()
    parts = value if isinstance(value, list) else [value]
    return tuple(dict.fromkeys(number(part, key) for part in parts))


def day(record: Record, key: str) -> date | None:
    """Return an ISO date, or None where there is none."""
    value = optional(record, key)
    if value is None:
        return None
    try:
        return date.fromisoformat(value)
    except ValueError:
        raise _wrong(key, value, "a date such as 2025-01-31") from None


def _wrong(key: str, value: object, wanted: str) -> UnfitError:
    shown = repr(value)
    shown = shown if len(shown) <= 60 else shown[:57] + "..."
    problem = f"{key} is {shown}, a {type(value).__name__}"
    return UnfitError(SkipReason.WRONG_TYPE, problem, f"Write {key} as {wanted}")
