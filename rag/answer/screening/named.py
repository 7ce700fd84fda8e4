"""Names, addresses and number plates, found by the words and signs that show them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from functools import cache

from rag.answer.screening.patterns import data

_NAME_LETTER = r"[^\W\d_\u4e00-\u9fff]"
_WORD = rf"{_NAME_LETTER}(?:{_NAME_LETTER}|[\u0300-\u036f'-])*"
_CHINESE_TITLES = ("先生", "女士", "小姐", "太太", "律师", "医生", "老师", "经理", "某")


@cache
def _patterns(part: str) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(pattern) for pattern in data("personal")[part].values())


def addresses(text: str, _: str) -> Iterator[tuple[int, int]]:
    """Yield the places of streets with a number, with the town where it follows."""
    for pattern in _patterns("addresses"):
        for found in pattern.finditer(text):
            yield found.start(), found.start() + len(found[0].rstrip(" ,"))


def plates(text: str, region: str) -> Iterator[tuple[int, int]]:
    """Yield the places of number plates."""
    for country, pattern in zip(data("personal")["plates"], _patterns("plates"), strict=True):
        if country != "IT" or region == "IT":  # letters and digits without a hyphen are much else elsewhere
            for found in pattern.finditer(text):
                yield found.span()


@cache
def _name_patterns() -> tuple[re.Pattern[str], ...]:
    read = data("personal")
    fill = {
        "Cap": rf"(?=[^\W\d_\u4e00-\u9fffa-zà-öø-ÿ]){_WORD}",
        "word": _WORD,
        "part": f"(?:{read['parts']})",
        "german": read["german_names"],
        "sur": f"[{read['surnames']}]",
    }
    return tuple(re.compile(pattern.format(**fill)) for pattern in read["names"])


def names(text: str, _: str) -> Iterator[tuple[int, int]]:
    """Yield the places of names that a title, a relation or "my name is" shows, the longest first.

    They may overlap.
    """
    read = data("personal")
    none = frozenset(read["not_names"].split())
    spans = []
    for pattern in _name_patterns():
        for found in pattern.finditer(text):
            typed = found["found"]
            if typed[0] in read["everyday"] and not typed.endswith(_CHINESE_TITLES):
                continue
            span = _name(text, *found.span("found"), none)
            if span is not None:
                spans.append(span)
    yield from sorted(
        spans, key=lambda span: (span[0] - span[1], span)
    )  # "Frau Dr. Weber" before "Dr. Weber"


@cache
def _particles() -> frozenset[str]:
    return frozenset(word for part in data("personal")["parts"].split("|") for word in part.split())


_PIECE = re.compile(r"\S+")
_TITLE = re.compile(
    r"(?:MM?|Mr|Mmes?|Mlle|Monsieur|Madame|Mademoiselle|Maître|Mes?|Dr|Docteur|Mrs|Ms|Miss|Mx|mevrouw|meneer|mevr|mw|"
    r"dhr|de|heer|Herrn?|Frau|Prof|signora|signore?|signorina|sig\.ra|sig|avv|dott\.ssa|dott)\.?",
    re.IGNORECASE,
)


def _name(text: str, start: int, end: int, none: Collection[str]) -> tuple[int, int] | None:
    """Return the span up to the first word that is no name; None where no name is left."""
    last = None
    for word in _PIECE.finditer(text, start, end):
        bare = word[0].strip(".,'-")
        if last is None and _TITLE.fullmatch(word[0]):
            continue
        if bare in _particles():  # "Le" of "Le Goff": a name only before another word
            continue
        if bare.casefold() in none:
            break
        last = word.end()
    return None if last is None else (start, last)
