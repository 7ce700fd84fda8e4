"""Precision and recall of references, at several levels and by kind, each with its interval."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any, NamedTuple, Protocol

from indexes.describing.significance import Interval
from rag.text.article_numbers import number_key
from rag.types import Article

LEVELS = ("document", "article", "place", "whole")
KINDS = ("internal", "relative", "level", "external", "law")
# JuriFindIT's extractor (Noce et al. 2026) on its own Italian corpus, as published: (precision, recall)
PUBLISHED: Mapping[str, tuple[float, float]] = {"document": (0.922, 0.657), "article": (0.771, 0.523)}
_Z = 1.959963984540054  # 95 %


class Found(Protocol):
    """A reference that was read in a text: see `rag.graph.references`."""

    @property
    def start(self) -> int: ...  # noqa: D102 - fields, named
    @property
    def end(self) -> int: ...  # noqa: D102
    @property
    def kind(self) -> str: ...  # noqa: D102
    @property
    def law(self) -> str: ...  # noqa: D102
    @property
    def articles(self) -> Sequence[str]: ...  # noqa: D102


class Reader(Protocol):
    """What reads references, of the articles that it was made for."""

    def read(self, article: Article, /) -> Sequence[Any]:
        """Return the references in an article's text, in order."""
        ...

    def resolve(self, article: Article, reference: Any, /) -> Sequence[int]:  # noqa: ANN401 - its own
        """Return the positions of the articles that a reference of an article leads to."""
        ...


class Claim(NamedTuple):
    """One thing that a label says or that was found, and whether the other side agrees."""

    level: str
    kind: str
    sought: bool  # a label's, counted in recall; else a finding's, counted in precision
    right: bool
    half: str = ""


class Difference(NamedTuple):
    """A reference that was missed, found wrongly, or read in another way."""

    where: str  # the article, and the passage's number where it has one
    start: int
    end: int
    what: str


def measured(claims: Iterable[Claim]) -> dict[str, dict[str, dict[str, Any]]]:
    """Return level -> kind, and "all" -> precision and recall with 95 % intervals and their counts."""
    counts: dict[tuple[str, str, bool], list[int]] = {}
    for claim in claims:
        for kind in ("all", claim.kind):
            count = counts.setdefault((claim.level, kind, claim.sought), [0, 0])
            count[0] += claim.right
            count[1] += 1
    numbers: dict[str, dict[str, dict[str, Any]]] = {}
    for level in LEVELS:
        kinds = [k for k in ("all", *KINDS) if (level, k, True) in counts or (level, k, False) in counts]
        for kind in kinds:
            found, sought = (counts.get((level, kind, side), [0, 0]) for side in (False, True))
            numbers.setdefault(level, {})[kind] = {
                "precision": _json(wilson(*found)),
                "right": found[0],
                "found": found[1],
                "recall": _json(wilson(*sought)),
                "met": sought[0],
                "sought": sought[1],
            }
    return numbers


def _json(interval: Interval) -> dict[str, float] | None:
    return None if math.isnan(interval.value) else asdict(interval)


def wilson(right: int, of: int) -> Interval:
    """Return a share with its 95 % score interval (Wilson 1927), which says something of 30 of 30 too."""
    if not of:
        return Interval(math.nan, math.nan, math.nan)
    share, z = right / of, _Z * _Z
    centre = (share + z / (2 * of)) / (1 + z / of)
    half = _Z / (1 + z / of) * math.sqrt(share * (1 - share) / of + z / (4 * of * of))
    return Interval(share, max(0.0, centre - half), min(1.0, centre + half))


_LAW_MARKS = re.compile(r"[《》〈〉\s]|中华人民共和国")


def law_key(name: str) -> tuple[str, ...]:
    """Return a law's name in words without case, accents' spelling and signs; Chinese as one word."""
    text = unicodedata.normalize("NFKC", name).casefold()
    if re.search(r"[\u4e00-\u9fff]", text):
        return (_LAW_MARKS.sub("", text),)
    return tuple(re.findall(r"\w+", text))


def same_law(labelled: str, found: str) -> bool:
    """Tell whether two names are of one law; "" is the law at hand, a label's "?" any other.

    One name may go on longer than the other ("Convention of ..., done at"), from two words on.
    """
    if labelled == "?" or not labelled or not found:
        return bool(labelled) == bool(found)
    short, long = sorted((law_key(labelled), law_key(found)), key=len)
    told = len(short) > 1 or any(c.isdigit() for word in short for c in word)
    return short == long or (told and long[: len(short)] == short)


def numbers(articles: Iterable[str], *, relative: bool = False) -> tuple[str, ...]:
    """Return numbers of articles in one spelling; of a range its two ends; relative ones as they are."""
    return tuple(a if relative else "..".join(number_key(end) for end in a.split("..")) for a in articles)
