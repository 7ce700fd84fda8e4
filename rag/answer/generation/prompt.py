"""What a model is told: prompts are data files with a version, one a language; others' text is fenced in.

A language's file holds two: of the one a model chooses passages ("quotes"), by the other it writes sentences
of its own ("claims"), which a judge reads. The baseline's asks for prose.
"""

from __future__ import annotations

import functools
import re
import secrets
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files

from rag.answer.composition import line
from rag.answer.generation.context import Excerpt
from rag.answer.generation.parser import ArticleLabels, Reply
from rag.answer.types import LINES
from rag.errors import BadInput
from rag.types import Article

LANGUAGES = ("fr", "en", "nl", "de", "it", "zh")
FALLBACK = "en"  # for a question in any other language
BASELINE = "stard"

_PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")
_FENCE = {"boundary"}
_ARTICLE = {"label", "id", "code", "number", "headings", "date", "text"}
# field -> the placeholders that it holds, every one of them; prose, which has no format, fills fewer
_SHARED: Mapping[str, set[str]] = {
    "article": _FENCE | _ARTICLE,
    "question": {"boundary", "articles", "question"},
    "undated": set(),
    "refusal": set(),
}
_HOW: Mapping[str, set[str]] = {"lines": set(), "schema": set()}
_FIELDS: Mapping[Reply, Mapping[str, set[str]]] = {
    "quotes": {**_SHARED, **_HOW, "system": {"boundary", "format", "refusal", "keys"}},
    "claims": {**_SHARED, **_HOW, "system": {"boundary", "format", "refusal"}},
    "prose": {
        "system": {"boundary"},
        "article": _FENCE | _ARTICLE - {"id", "date", "label"} | {"place"},
        "question": {"boundary", "articles", "question"},
        "refusal": set(),
    },
}


@dataclass(frozen=True, slots=True)
class Messages:
    """What is sent."""

    system: str
    user: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """One prompt file; placeholders in braces are filled in one pass, so what fills them is never filled."""

    name: str  # of the file
    version: str
    reply: Reply
    system: str
    article: str
    question: str
    refusal: str
    lines: str = ""  # how to write one object a line
    schema: str = ""  # how to fill the schema, for servers that hold the model to it
    undated: str = ""  # in place of the day since which an article holds

    @property
    def id(self) -> str:
        """Name, kind and version, as answers and measurements carry it."""
        return "-".join((self.name, *([self.reply] if self.reply != "prose" else []), self.version))

    def block(self, article: Article, text: str, label: str, boundary: str, as_of: str = "") -> str:
        """Return one article as it is shown to the model."""
        return _fill(
            self.article,
            boundary=boundary,
            label=label,
            place=re.sub(r"\D", "", label),
            id=_line(article.id),
            code=_line(article.code),
            number=_line(article.article_no),
            headings=_line(" > ".join(article.headings)) or "-",
            date=article.valid_from.isoformat() if article.valid_from else as_of or self.undated,
            text=text,
        )

    def messages(
        self,
        question: str,
        excerpts: Sequence[Excerpt],
        labels: ArticleLabels,
        *,
        schema: bool = False,
        as_of: str = "",
        draw: Callable[[], str] = lambda: secrets.token_hex(8),
    ) -> Messages:
        """Fill the prompt in, with a label for each excerpt.

        A server that holds the model to a JSON schema is not told the format. The date of the law (`as_of`)
        stands for that of articles that carry none. A boundary, which nobody can foresee, is drawn again
        while a text holds it.
        """
        texts = [question, *(excerpt.text for excerpt in excerpts)]
        boundary = draw()
        while any(boundary in text for text in texts):
            boundary = draw()
        numbered = self.reply == "quotes"
        blocks = [
            self.block(
                excerpt.article, excerpt.numbered(label) if numbered else excerpt.text, label, boundary, as_of
            )
            for excerpt, label in zip(excerpts, labels.labels, strict=True)
        ]
        how = self.schema if schema else self.lines
        return Messages(
            _fill(self.system, boundary=boundary, format=how, refusal=self.refusal, keys=_keys(self.name)),
            _fill(self.question, boundary=boundary, articles="\n\n".join(blocks), question=question),
        )


def _fill(template: str, **values: str) -> str:
    return _PLACEHOLDER.sub(lambda found: values[found[1]], template).strip()


def _line(text: str) -> str:
    """Return the text on one line, without the signs that fence."""
    return " ".join(re.sub(r"[<>]", " ", text).split())


def _keys(language: str) -> str:
    """Return the list of connecting lines as a model chooses from it."""
    return "\n".join(f"- {key}: {line(key, language)}" for key in LINES)


@functools.cache
def load(name: str, reply: Reply = "quotes") -> Prompt:
    """Return a prompt that ships: a language's of that kind, or the baseline's; English for another language.

    Raises:
        BadInput: the file is not as it should be.
    """
    known = name if name in (*LANGUAGES, BASELINE) else FALLBACK
    source = (files("rag.answer") / "prompts" / f"{known}.toml").read_text(encoding="utf-8")
    return parse(source, known, "prose" if known == BASELINE else reply)


def parse(source: str, name: str, reply: Reply) -> Prompt:
    """Read the prompt of one kind from a file, in which what differs stands in a table of its name.

    Raises:
        BadInput: a key that is unknown or missing, a placeholder likewise.
    """
    try:
        record = tomllib.loads(source)
    except tomllib.TOMLDecodeError as error:
        raise BadInput(f"prompt {name}: {error}. Expected TOML") from None
    own = record.pop(reply, {})
    record = {key: text for key, text in record.items() if key not in _FIELDS} | own
    version = record.pop("version", None)
    if not (isinstance(version, str) and version):
        raise BadInput(f'prompt {name}: expected version = "…"')
    wanted = _FIELDS[reply]
    if set(record) != set(wanted):
        odd = ", ".join(sorted(set(record) ^ set(wanted)))
        raise BadInput(f"prompt {name}, {reply}: {odd} missing or unknown; expected {', '.join(wanted)}")
    for key, text in record.items():
        if not isinstance(text, str) or not text.strip():
            raise BadInput(f"prompt {name}, {reply}: {key} must be a text")
        found = set(_PLACEHOLDER.findall(text))
        if found != wanted[key]:
            odd = ", ".join(f"{{{p}}}" for p in sorted(found ^ wanted[key]))
            raise BadInput(f"prompt {name}, {reply}: {key} has {odd} missing or unknown")
    return Prompt(name, version, reply, **{key: text.strip() for key, text in record.items()})
