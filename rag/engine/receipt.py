"""A receipt of one result: enough to make the same ranking again, offline, or to say what has changed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from math import inf
from pathlib import Path
from typing import Any, get_args

from rag.engine.engine import Engine, IndexInfo
from rag.engine.result import Mode, Result
from rag.errors import BadInput
from rag.retrieval.translation_model import Removed
from rag.types import Article, Filter

FORMAT = 1
CODE = 12  # hexadecimal digits of the short code: 48 bits
MAX_K = 1000
MAX_BYTES = 2**20  # of a receipt's file; one of ten articles is 2 KB
TOLERANCE = 1e-6  # relative; another processor adds the same numbers up in another order


def receipt(result: Result, info: IndexInfo, k: int = 10) -> dict[str, Any]:
    """Return the receipt of a result that was asked for with at most `k` articles, of JSON's types.

    Its keys: `format`; `code` (see `short_code`); `index` (name, version, corpus_sha256); `question`;
    `settings` (k, mode, codes, law_types, regions, in_force_on, without); `confidence`; and `articles`, in
    order, each with id, sha256 of its text, and score.
    """
    where = result.where or Filter()
    articles = [shown.article for shown in result.shown]
    return {
        "format": FORMAT,
        "code": short_code(info.version, articles),
        "index": {"name": info.name, "version": info.version, "corpus_sha256": info.corpus_sha256},
        "question": result.question,
        "settings": {
            "k": k,
            "mode": result.mode,
            "codes": sorted(where.codes),
            "law_types": sorted(where.law_types),
            "regions": sorted(where.regions),
            "in_force_on": where.in_force_on.isoformat() if where.in_force_on else None,
            "without": sorted(map(list, result.without)),
        },
        "confidence": result.confidence,
        "articles": [
            {"id": shown.article.id, "sha256": text_sha256(shown.article), "score": shown.score}
            for shown in result.shown
        ],
    }


def text_sha256(article: Article) -> str:
    """Return the hash of an article's text, in UTF-8."""
    return hashlib.sha256(article.text.encode()).hexdigest()


def short_code(version: str, articles: Sequence[Article]) -> str:
    """Return a code in groups of four, of the index's version, the articles and their texts in this order."""
    lines = (version, *(f"{article.id} {text_sha256(article)}" for article in articles))
    code = hashlib.sha256("\n".join(lines).encode()).hexdigest()[:CODE]
    return "-".join(code[at : at + 4] for at in range(0, CODE, 4))


def as_json(record: Mapping[str, Any]) -> str:
    """Return a receipt as a file's text; the same receipt is the same bytes."""
    return json.dumps(record, ensure_ascii=False, indent=1, sort_keys=True) + "\n"


def read(path: Path) -> dict[str, Any]:
    """Read the file of a receipt.

    Raises:
        BadInput: it is none, or of another format.
    """
    expected = "expected the JSON file of a receipt, as the page saves it"
    try:
        with path.open("rb") as file:
            record = json.loads(file.read(MAX_BYTES + 1))
        if record["format"] != FORMAT:
            raise BadInput(f"{path}: a receipt of format {record['format']!r}; this program reads {FORMAT}")
        _filter(record["settings"])
        sound = (
            all(isinstance(record["index"][name], str) for name in ("name", "version", "corpus_sha256"))
            and isinstance(record["question"], str)
            and isinstance(record["code"], str)
            and record["settings"]["mode"] in get_args(Mode)
            and record["settings"]["k"] in range(1, MAX_K + 1)
            and all(
                isinstance(each["id"], str) and isinstance(each["sha256"], str) and float(each["score"]) < inf
                for each in record["articles"]
            )
        )
    except FileNotFoundError as error:
        raise BadInput(f"there is no file {path}; {expected}") from error
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise BadInput(f"{path} is no receipt ({type(error).__name__}: {error}); {expected}") from error
    if not sound:
        raise BadInput(f"{path} is no receipt: a value in it is not what it should be; {expected}")
    made: dict[str, Any] = record
    return made


def changes(record: Mapping[str, Any], engine: Engine) -> Iterator[str]:
    """Ask a receipt's question again and yield what is other than it says; nothing where all is the same."""
    result = _ask(record["question"], record["settings"], engine)
    now = receipt(result, engine.info, record["settings"]["k"])
    if as_json(record) == as_json(now):
        return
    for what in ("corpus_sha256", "version", "name"):
        if (was := record["index"][what]) != (is_now := now["index"][what]):
            yield f"the {what} of the index was {was}, now {is_now}"
    for each in record["articles"]:
        article = engine.articles.get(each["id"])
        if article is None:
            yield f"article {each['id']} is no longer there"
        elif text_sha256(article) != each["sha256"]:
            yield f"the text of article {each['id']} has changed"
    scores, found = ({each["id"]: float(each["score"]) for each in of["articles"]} for of in (record, now))
    if list(scores) != list(found):
        before, after = (", ".join(ids) or "no article" for ids in (scores, found))
        yield f"the ranking was {before}; now {after}"
    yield from _scores(scores, found)
    if record.get("confidence") != now["confidence"]:
        yield f"the confidence was {record.get('confidence')}, now {now['confidence']}"
    if record["code"] != now["code"]:
        yield f"the code was {record['code']}, now {now['code']}"


def _scores(former: Mapping[str, float], found: Mapping[str, float]) -> Iterator[str]:
    both = [(score, found[id_]) for id_, score in former.items() if id_ in found]
    apart = max((abs(a - b) / max(abs(a), abs(b), 1e-12) for a, b in both), default=0.0)
    if apart:
        same = "" if apart > TOLERANCE else ", as another processor adds them up"
        yield f"the scores differ by up to {apart:.1g} of themselves{same}"


def _ask(question: str, settings: Mapping[str, Any], engine: Engine) -> Result:
    where, without = _filter(settings)
    return engine.ask(question, k=settings["k"], where=where, mode=settings["mode"], without=without)


def _filter(settings: Mapping[str, Any]) -> tuple[Filter | None, Removed]:
    day = settings["in_force_on"]
    where = Filter(
        frozenset(map(str, settings["codes"])),
        frozenset(map(str, settings["law_types"])),
        frozenset(map(str, settings["regions"])),
        date.fromisoformat(day) if day else None,
    )
    return where if where != Filter() else None, frozenset((str(a), str(b)) for a, b in settings["without"])
