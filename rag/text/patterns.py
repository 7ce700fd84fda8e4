"""Patterns in data files, and the plain text that they are read against."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any

from rag.text.folding import level

_LETTERS = str.maketrans({"œ": "oe", "æ": "ae", "ø": "o", "ł": "l", "đ": "d", "ı": "i", "ß": "ss"})
RECENT = 64  # texts that stay at hand: what is decided of one question looks at it six times
_UNSEEN = re.compile("[\u00ad\u200b-\u200f\u2060\ufeff]")


@cache
def data(package: str, name: str) -> dict[str, Any]:
    """Return what `data/NAME.toml` of a package holds; read once."""
    return tomllib.loads((files(package) / "data" / f"{name}.toml").read_text(encoding="utf-8"))


@lru_cache(maxsize=RECENT)
def plain(text: str) -> str:
    """Return the text in lower case, without accents and invisible marks, one blank between words.

    "L’ÉTÉ  dernier" gives "l'ete dernier". Places are not kept.
    """
    lowered = _UNSEEN.sub("", level(unicodedata.normalize("NFKC", text))).casefold().translate(_LETTERS)
    apart = unicodedata.normalize("NFKD", lowered)
    bare = unicodedata.normalize("NFC", "".join(c for c in apart if not unicodedata.combining(c)))
    return " ".join(bare.split())


def filled(pattern: str, parts: Mapping[str, str]) -> str:
    """Return the pattern with the part of that name in place of each <name>."""
    for name, part in parts.items():
        pattern = pattern.replace(f"<{name}>", part)
    return pattern


def any_of(patterns: Iterable[str]) -> re.Pattern[str]:
    """Return one pattern that matches where one of these does; of none, one that never matches."""
    joined = "|".join(f"(?:{pattern})" for pattern in patterns)
    return re.compile(joined or r"(?!)")
