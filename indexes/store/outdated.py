"""Which summaries of a digest the official law has left behind; kept under PANDECT_HOME, beside the indexes.

A digest says of each article which wording it was written from (`indexes.corpus.facts.fingerprint`). Held
against a newer law, an article has the same wording, another one, or is gone. What is noted is of one corpus:
of another edition of the digest nothing is said.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from indexes.corpus.facts import fingerprint
from indexes.store import atomic, paths
from rag.errors import BadInput
from rag.text.article_numbers import number_key
from rag.types import Article

CHANGED, GONE = "changed", "gone"
_DIGITS = 16  # of the corpus's SHA-256, in the file's name


@dataclass(frozen=True, slots=True)
class Outdated:
    """A digest held against a newer law."""

    articles: Mapping[str, str]  # id of a summary that is out of date -> CHANGED or GONE
    same: int  # articles of which the wording is as it was
    unknown: Mapping[str, int]  # code -> articles of which nothing can be said: the new law lacks the code


def compare(shipped: Iterable[Article], prints: Mapping[str, str], law: Iterable[Article]) -> Outdated:
    """Hold a digest's articles against a newer law.

    Args:
        shipped: the articles of the digest.
        prints: article id -> fingerprint of the wording that it was written from.
        law: the official articles; those of codes that the digest lacks are passed over.

    Raises:
        BadInput: the law has none of the digest's codes, or the digest no fingerprint.
    """
    now: dict[str, dict[str, set[str]]] = {}
    for article in law:
        of = now.setdefault(article.code, {}).setdefault(number_key(article.article_no), set())
        of.add(fingerprint(article.text))
    found: dict[str, str] = {}
    same, unknown = 0, Counter[str]()
    known = [article for article in shipped if article.id in prints]
    if not known:
        raise BadInput(
            "this index does not say which wording its summaries were written from: it is no digest"
        )
    for article in known:
        if article.code not in now:
            unknown[article.code] += 1
            continue
        wordings = now[article.code].get(number_key(article.article_no), set())
        if prints[article.id] in wordings:
            same += 1
        else:
            found[article.id] = CHANGED if wordings else GONE
    if unknown.total() == len(known):
        has, wanted = (", ".join(sorted(names)[:5]) for names in (now, unknown))
        raise BadInput(
            f"the law given has {has}, and the digest {wanted}: give a law that holds one of its codes"
        )
    return Outdated(found, same, dict(unknown))


def write(sha256: str, found: Outdated, law: str) -> Path:
    """Note what is out of date of the corpus with this identity; `law` says what it was held against."""
    place = _file(sha256)
    place.parent.mkdir(parents=True, exist_ok=True)
    record = {"corpus_sha256": sha256, "law": law, "articles": dict(sorted(found.articles.items()))}
    with atomic.replacing(place) as part:
        part.write_text(json.dumps(record, ensure_ascii=False, indent=0) + "\n", encoding="utf-8")
    return place


def read(sha256: str) -> Mapping[str, str]:
    """Return what is out of date of the corpus with this identity: article id -> CHANGED or GONE.

    Raises:
        BadInput: the file is something else.
    """
    place = _file(sha256)
    try:
        record = json.loads(place.read_text(encoding="utf-8"))
        return {str(id_): str(how) for id_, how in record["articles"].items()}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        cure = "Remove it, and run python -m indexes update again"
        raise BadInput(f"{place}: cannot be read ({error}). {cure}.") from None


def stamp(sha256: str) -> int:
    """Return what changes when something else is noted; quick, for pages ask at every run."""
    try:
        return _file(sha256).stat().st_mtime_ns
    except OSError:
        return 0


def lines(found: Outdated, names: Mapping[str, Article]) -> Iterator[str]:
    """Yield what is said of it, and each summary that is to be written anew."""
    how = Counter(found.articles.values())
    yield f"{found.same:,} articles as they were, {how[CHANGED]:,} changed, {how[GONE]:,} gone"
    for code, number in sorted(found.unknown.items()):
        yield f"nothing is known of {number:,} articles of {code}: it is not in the law given"
    for id_, kind in found.articles.items():
        yield f"{kind}: {names[id_].code}, {names[id_].article_no}"


def _file(sha256: str) -> Path:
    return paths.home() / "outdated" / f"{sha256[:_DIGITS]}.json"
