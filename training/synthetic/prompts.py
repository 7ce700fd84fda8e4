"""Prompts as data files with a version, read strictly; what is filled in stands between marks of its own."""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from rag.errors import BadInput
from rag.types import Article

THOUGHTS = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE)
_PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")
RERANK: Mapping[str, frozenset[str]] = {
    "pointwise": frozenset({"boundary", "question", "article"}),
    "listwise": frozenset({"boundary", "question", "articles", "count"}),
    "numbered": frozenset({"boundary", "number", "article"}),
    "yes_no_system": frozenset(),
    "yes_no_user": frozenset({"question", "article"}),
}
SYNTHETIC: Mapping[str, frozenset[str]] = {
    "person": frozenset({"boundary", "article", "count", "language"}),
    "detail": frozenset({"boundary", "article", "count", "language", "examples"}),
    "examples": frozenset({"questions"}),
}


@dataclass(frozen=True, slots=True)
class Prompts:
    """The prompts of one file."""

    name: str
    version: str
    texts: Mapping[str, str]

    @property
    def id(self) -> str:
        """Name and version, as kept replies carry it."""
        return f"{self.name}-{self.version}"

    def fill(self, which: str, **values: object) -> str:
        """Fill one in, in one pass: what fills it is never filled itself."""
        return _PLACEHOLDER.sub(lambda found: str(values[found[1]]), self.texts[which]).strip()


def parse(source: str, name: str, pieces: Mapping[str, frozenset[str]]) -> Prompts:
    """Read a file of prompts, each of which must hold all the placeholders of its name.

    Raises:
        BadInput: no TOML, a prompt too many or too few, or one with other placeholders.
    """
    try:
        record = tomllib.loads(source)
    except tomllib.TOMLDecodeError as error:
        raise BadInput(f"prompts {name}: not TOML ({error})") from None
    version = record.pop("version", None)
    if not isinstance(version, str) or set(record) != set(pieces):
        odd = ", ".join(sorted(set(record) ^ set(pieces))) or "version"
        raise BadInput(f"prompts {name}: {odd} missing or unknown; expected {', '.join(pieces)} and version")
    for which, text in record.items():
        if not isinstance(text, str) or set(_PLACEHOLDER.findall(text)) != pieces[which]:
            wanted = ", ".join(sorted(f"{{{piece}}}" for piece in pieces[which])) or "no placeholder"
            raise BadInput(f"prompts {name}: {which} must be a text that holds {wanted}")
    return Prompts(name, version, record)


@cache
def rerank() -> Prompts:
    """Return the prompts for re-ranking."""
    return _shipped("rerank", RERANK)


@cache
def synthetic() -> Prompts:
    """Return the prompts for writing questions."""
    return _shipped("synthetic", SYNTHETIC)


def _shipped(name: str, pieces: Mapping[str, frozenset[str]]) -> Prompts:
    path = files("training.synthetic") / "prompt_files" / f"{name}.toml"
    return parse(path.read_text(encoding="utf-8"), name, pieces)


def boundary(*texts: str) -> str:
    """Return a mark that stands in none of the texts; the same for the same, so that replies can be kept."""
    salt = 0
    while True:
        seed = "\0".join((str(salt), *texts)).encode("utf-8", "replace")
        mark = hashlib.sha256(seed).hexdigest()[:12]
        if not any(mark in text for text in texts):
            return mark
        salt += 1


def format_article(article: Article, text: str | None = None) -> str:
    """Return an article as a prompt shows it: where it stands, then its text or what of it is given."""
    place = " > ".join(part for part in (article.code, *article.headings, article.article_no) if part)
    return f"{place}\n{article.text if text is None else text}".strip()


def strip_reasoning(reply: str) -> str:
    """Return a model's reply without its reasoning block."""
    return THOUGHTS.sub("", reply).strip()
