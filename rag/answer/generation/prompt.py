"""What a model is told: prompts are data files with a version, one a language; others' text is fenced in."""

from __future__ import annotations

import functools
import re
import secrets
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files

from rag.answer.generation.context import Excerpt
from rag.answer.generation.parser import ArticleLabels, Reply
from rag.errors import BadInput
from rag.types import Article

LANGUAGES = ("fr", "en", "nl", "de", "it", "zh")
FALLBACK = "en"  # for a question in any other language
BASELINE = "stard"

_PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")
_FENCE = {"boundary"}
_ARTICLE = {"label", "id", "code", "number", "headings", "date", "text"}
# field -> the placeholders that it holds, every one of them; prose, which has no format, fills fewer
_PIECES: Mapping[str, set[str]] = {
    "system": {"boundary", "format", "refusal"},
    "lines": set(),
    "schema": set(),
    "article": _FENCE | _ARTICLE,
    "question": {"boundary", "articles", "question"},
    "undated": set(),
    "refusal": set(),
}
_PROSE: Mapping[str, set[str]] = {
    "system": {"boundary"},
    "article": _FENCE | _ARTICLE - {"id", "date", "label"} | {"place"},
    "question": {"boundary", "articles", "question"},
    "refusal": set(),
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
        """Name and version, as answers and measurements carry it."""
        return f"{self.name}-{self.version}"

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
        blocks = [
            self.block(excerpt.article, excerpt.text, label, boundary, as_of)
            for excerpt, label in zip(excerpts, labels.labels, strict=True)
        ]
        how = self.schema if schema else self.lines
        return Messages(
            _fill(self.system, boundary=boundary, format=how.strip(), refusal=self.refusal),
            _fill(self.question, boundary=boundary, articles="\n\n".join(blocks), question=question),
        )


def _fill(template: str, **values: str) -> str:
    return _PLACEHOLDER.sub(lambda found: values[found[1]], template).strip()


def _line(text: str) -> str:
    """Return the text on one line, without the signs that fence."""
    return " ".join(re.sub(r"[<>]", " ", text).split())


@functools.cache
def load(name: str) -> Prompt:
    """Return a prompt that ships: a language's, or the baseline's; the English one for another language.

    Raises:
        BadInput: the file is not as it should be.
    """
    known = name if name in (*LANGUAGES, BASELINE) else FALLBACK
    return parse((files("rag.answer") / "prompts" / f"{known}.toml").read_text(encoding="utf-8"), known)


def parse(source: str, name: str) -> Prompt:
    """Read a prompt file.

    Raises:
        BadInput: a key that is unknown or missing, a placeholder likewise.
    """
    try:
        record = tomllib.loads(source)
    except tomllib.TOMLDecodeError as error:
        raise BadInput(f"prompt {name}: {error}. Expected TOML") from None
    reply = record.pop("reply", None)
    version = record.pop("version", None)
    if reply not in ("pieces", "prose") or not (isinstance(version, str) and version):
        raise BadInput(f'prompt {name}: expected reply = "pieces" or "prose", and version = "…"')
    wanted = _PIECES if reply == "pieces" else _PROSE
    if set(record) != set(wanted):
        odd = ", ".join(sorted(set(record) ^ set(wanted)))
        raise BadInput(f"prompt {name}: {odd} missing or unknown; expected {', '.join(wanted)}")
    for key, text in record.items():
        if not isinstance(text, str) or not text.strip():
            raise BadInput(f"prompt {name}: {key} must be a text")
        found = set(_PLACEHOLDER.findall(text))
        if found != wanted[key]:
            odd = ", ".join(f"{{{p}}}" for p in sorted(found ^ wanted[key]))
            raise BadInput(f"prompt {name}: {key} has {odd} missing or unknown")
    return Prompt(name, version, reply, **{key: text.strip() for key, text in record.items()})
