"""A receipt of one result: enough to make the same ranking again, offline, or to say what has changed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass
from datetime import date
from math import inf
from pathlib import Path
from typing import Any, get_args

from rag.engine.engine import Engine, IndexInfo
from rag.engine.result import Mode, Result
from rag.errors import BadInput, StoreUnavailable
from rag.retrieval.translation_model import Removed
from rag.types import Article, Filter

FORMAT = 1
CODE = 12  # hexadecimal digits of the short code: 48 bits
MAX_K = 1000
MAX_BYTES = 2**20  # of a receipt's file; one of ten articles is 2 KB
TOLERANCE = 1e-6  # relative; another processor adds the same numbers up in another order


@dataclass(frozen=True, slots=True)
class ReceiptIndex:
    """The index that answered."""

    name: str
    version: str
    corpus_sha256: str


@dataclass(frozen=True, slots=True)
class ReceiptSettings:
    """How a question was asked; lists are sorted."""

    k: int  # articles at most
    mode: Mode
    codes: tuple[str, ...]
    law_types: tuple[str, ...]
    regions: tuple[str, ...]
    in_force_on: str | None  # a day, such as 2025-01-31
    without: tuple[tuple[str, str], ...]  # expansions that were taken out: a word, and that of the law


@dataclass(frozen=True, slots=True)
class ReceiptArticle:
    """An article of a result."""

    id: str
    sha256: str  # of its text, see `text_sha256`
    score: float


@dataclass(frozen=True, slots=True)
class Receipt:
    """A result as it was: the question, how it was asked, of what, and the articles in their order."""

    format: int
    code: str  # see `short_code`
    index: ReceiptIndex
    question: str
    settings: ReceiptSettings
    confidence: float | None
    articles: tuple[ReceiptArticle, ...]


def receipt(result: Result, info: IndexInfo, k: int = 10) -> Receipt:
    """Return the receipt of a result that was asked for with at most `k` articles."""
    where, shown = result.where or Filter(), result.shown
    day = where.in_force_on.isoformat() if where.in_force_on else None
    return Receipt(
        FORMAT,
        short_code(info.version, [each.article for each in shown]),
        ReceiptIndex(info.name, info.version, info.corpus_sha256),
        result.question,
        ReceiptSettings(
            k, result.mode, tuple(sorted(where.codes)), tuple(sorted(where.law_types)),
            tuple(sorted(where.regions)), day, tuple(sorted(result.without)),
        ),
        result.confidence,
        tuple(ReceiptArticle(each.article.id, text_sha256(each.article), each.score) for each in shown),
    )  # fmt: skip


def text_sha256(article: Article) -> str:
    """Return the hash of an article's text, in UTF-8."""
    return hashlib.sha256(article.text.encode()).hexdigest()


def short_code(version: str, articles: Sequence[Article]) -> str:
    """Return a code in groups of four, of the index's version, the articles and their texts in this order."""
    lines = (version, *(f"{article.id} {text_sha256(article)}" for article in articles))
    code = hashlib.sha256("\n".join(lines).encode()).hexdigest()[:CODE]
    return "-".join(code[at : at + 4] for at in range(0, CODE, 4))


def as_json(made: Receipt) -> str:
    """Return a receipt as a file's text; the same receipt is the same bytes."""
    return json.dumps(asdict(made), ensure_ascii=False, indent=1, sort_keys=True) + "\n"


def read(path: Path) -> Receipt:
    """Read the file of a receipt.

    Raises:
        BadInput: it is none, or of another format.
    """
    expected = "expected the JSON file of a receipt, as the page saves it and the API gives it"
    try:
        with path.open("rb") as file:
            record = json.loads(file.read(MAX_BYTES + 1))
        if record["format"] != FORMAT:
            raise BadInput(f"{path}: a receipt of format {record['format']!r}; this program reads {FORMAT}")
        settings = record["settings"]
        record["settings"] = ReceiptSettings(**{name: _as_tuples(each) for name, each in settings.items()})
        record["index"] = ReceiptIndex(**record["index"])
        record["articles"] = tuple(ReceiptArticle(**each) for each in record["articles"])
        made = Receipt(**record)
        _filter(made.settings)
        sound = (
            all(isinstance(each, str) for each in (*astuple(made.index), made.question, made.code))
            and made.settings.mode in get_args(Mode)
            and made.settings.k in range(1, MAX_K + 1)
            and all(
                isinstance(each.id, str) and isinstance(each.sha256, str) and float(each.score) < inf
                for each in made.articles
            )
        )
    except FileNotFoundError as error:
        raise BadInput(f"there is no file {path}; {expected}") from error
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise BadInput(f"{path} is no receipt ({type(error).__name__}: {error}); {expected}") from error
    if not sound:
        raise BadInput(f"{path} is no receipt: a value in it is not what it should be; {expected}")
    return made


def _as_tuples(value: Any) -> Any:  # noqa: ANN401 - of JSON's types
    return tuple(map(_as_tuples, value)) if isinstance(value, list) else value


def changes(made: Receipt, engine: Engine) -> Iterator[str]:
    """Ask a receipt's question again and yield what is other than it says; nothing where all is the same.

    Raises:
        StoreUnavailable: a part of the collection did not answer, so that nothing can be compared.
    """
    now = _again(made, engine)
    if as_json(made) == as_json(now):
        return
    for what in ("corpus_sha256", "version", "name"):
        if (was := getattr(made.index, what)) != (is_now := getattr(now.index, what)):
            yield f"the {what} of the index was {was}, now {is_now}"
    for each in made.articles:
        article = engine.articles.get(each.id)
        if article is None:
            yield f"article {each.id} is no longer there"
        elif text_sha256(article) != each.sha256:
            yield f"the text of article {each.id} has changed"
    scores, found = ({each.id: float(each.score) for each in of.articles} for of in (made, now))
    if list(scores) != list(found):
        before, after = (", ".join(ids) or "no article" for ids in (scores, found))
        yield f"the ranking was {before}; now {after}"
    yield from _scores(scores, found)
    for name in ("confidence", "code"):
        if (was := getattr(made, name)) != (is_now := getattr(now, name)):
            yield f"the {name} was {was}, now {is_now}"


def _again(made: Receipt, engine: Engine) -> Receipt:
    asked = made.settings
    where, without = _filter(asked)
    result = engine.ask(made.question, k=asked.k, where=where, mode=asked.mode, without=without)
    if result.missing:
        parts, cure = ", ".join(result.missing), "look whether it runs, then verify again"
        raise StoreUnavailable(f"{parts}: no answer, so the receipt is not compared; {cure}")
    return receipt(result, engine.info, asked.k)


def _scores(former: Mapping[str, float], found: Mapping[str, float]) -> Iterator[str]:
    both = [(score, found[id_]) for id_, score in former.items() if id_ in found]
    apart = max((abs(a - b) / max(abs(a), abs(b), 1e-12) for a, b in both), default=0.0)
    if apart:
        same = "" if apart > TOLERANCE else ", as another processor adds them up"
        yield f"the scores differ by up to {apart:.1g} of themselves{same}"


def _filter(settings: ReceiptSettings) -> tuple[Filter | None, Removed]:
    day = settings.in_force_on
    where = Filter(
        frozenset(map(str, settings.codes)),
        frozenset(map(str, settings.law_types)),
        frozenset(map(str, settings.regions)),
        date.fromisoformat(day) if day else None,
    )
    return where if where != Filter() else None, frozenset((str(a), str(b)) for a, b in settings.without)
