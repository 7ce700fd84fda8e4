"""Questions with several right options, in JEC-QA's format, and what a model chose (Zhong et al. 2020)."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias, TypeVar

import numpy as np

from indexes.formats.jsonl import records
from indexes.formats.validation import Inspection
from rag.errors import BadInput
from rag.types import Article
from training.answers.contexts import numbered
from training.answers.score import Ratio, Values

Record: TypeAlias = Mapping[str, object]
_T = TypeVar("_T")


class InvalidRecord(Exception):
    """A record that cannot be used; says what came and what was expected."""


def read(path: Path, make: Callable[[Record, str], _T], expected: str) -> list[_T]:
    """Return what is made of the object and the number of each line of a benchmark's file, plain or gzip.

    Where `make` raises InvalidRecord, or there is no line, BadInput says where and what was expected.
    """
    found = []
    for place, record in records(path, Inspection()):
        try:
            found.append(make(record, str(place.line)))
        except InvalidRecord as unfit:
            raise BadInput(f"{place}: {unfit}. Expected on each line: {expected}") from None
    if not found:
        raise BadInput(f"{path}: no record in it. Expected on each line: {expected}")
    return found


def text(record: Record, name: str) -> str:
    """Return a field that must be text with something in it."""
    value = record.get(name)
    if not isinstance(value, str) or not value.strip():
        raise InvalidRecord(f'"{name}" is {short_repr(value)}, not text')
    return value


def texts(record: Record, name: str) -> list[str]:
    """Return a field that must be a list of texts, at least one and none twice."""
    value = record.get(name)
    if not isinstance(value, list) or not value or not all(isinstance(v, str) and v.strip() for v in value):
        raise InvalidRecord(f'"{name}" is {short_repr(value)}, not a list of texts')
    if len(set(value)) < len(value):
        raise InvalidRecord(f'"{name}" is {short_repr(value)}: one of them comes twice')
    return value


def short_repr(value: object) -> str:
    """Return a value as an error shows it: short."""
    text = "missing" if value is None else repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def json_inside(reply: str, pattern: str) -> object:
    """Return the JSON that stands where a pattern first matches in a reply; None where there is none."""
    match = re.search(pattern, reply)
    try:
        return json.loads(match[0]) if match is not None else None
    except ValueError:
        return None


VERSION = "multiple choice 1"  # raise it when the wording changes
LETTERS = "ABCD"
EXPECTED = (
    '{"statement": text, "option_list": {"A": text, "B": …, "C": …, "D": …}, "answer": ["A", "C"], '
    '"type": 0 (knowledge) or 1 (case analysis)}'
)
KINDS = ("knowledge", "case analysis")  # by type
PROMPT = """\
{articles}请回答下面的法律职业资格考试选择题。正确选项可能有一个，也可能有多个。

题目：{statement}
A. {A}
B. {B}
C. {C}
D. {D}

最后另起一行，只写正确选项的字母，格式为“答案：”加字母，例如“答案：AC”。"""


@dataclass(frozen=True, slots=True)
class Item:
    """One question of an examination."""

    id: str
    statement: str
    options: Mapping[str, str]  # letter -> text
    answer: frozenset[str]  # letters
    kind: str  # of KINDS

    @property
    def searched(self) -> str:
        """What articles are searched by: the question with its options."""
        return "\n".join([self.statement, *self.options.values()])


def load(path: Path) -> list[Item]:
    """Read a file of questions; BadInput for a line of another format names it and what was expected."""
    return read(path, _item, EXPECTED)


def _item(record: Record, line: str) -> Item:
    options = record.get("option_list")
    if not isinstance(options, dict) or set(options) != set(LETTERS):
        raise InvalidRecord(f'"option_list" is {short_repr(options)}, not an object of {", ".join(LETTERS)}')
    answer = texts(record, "answer")
    if not set(answer) <= set(LETTERS):
        raise InvalidRecord(f'"answer" is {short_repr(answer)}, not a list of letters A to D')
    kind = record.get("type")
    if isinstance(kind, bool) or str(kind) not in ("0", "1"):  # JEC-QA has text
        raise InvalidRecord(f'"type" is {short_repr(kind)}, neither 0 nor 1')
    id_ = record.get("id", line)
    if isinstance(id_, bool) or not isinstance(id_, str | int):
        raise InvalidRecord(f'"id" is {short_repr(id_)}, neither text nor a number')
    return Item(
        str(id_),
        text(record, "statement"),
        {letter: text(options, letter) for letter in LETTERS},
        frozenset(answer),
        KINDS[int(str(kind))],
    )


def prompt(item: Item, articles: Sequence[Article]) -> str:
    """Return what the model is asked: articles, if any, then the question and its options."""
    return PROMPT.format(articles=numbered(articles), statement=item.statement.strip(), **item.options)


_GROUP = r"[\[（(【「“\"'*\s]*((?:[A-D](?:[\s,，、;；/&*和与及\"'“”]|and|et|und)*)+)(?![A-Za-z])"
_CHOICE = re.compile(  # "the answer is not B" announces nothing
    r"(?i:答案|正确选项|应选|故选|因此选|所以选|选择|answers?|réponses?|antwort)"
    rf"(?:(?!not\b|pas\b|nicht\b|不|非)[^A-D\n]){{0,12}}?{_GROUP}"
)
_BARE = re.compile(rf"{_GROUP}[\])）】」\"'”.。*\s]*")


def chosen(reply: str) -> frozenset[str] | None:
    """Return the letters that a reply chooses; None where it cannot be told.

    Read are, in this order: a JSON object with "answer" (a list or text) or a JSON list; the last
    place that announces an answer ("答案：A、C", "Answer: AC"); a last line, or a whole reply, of
    nothing but letters. Letters in running text are not guessed from.
    """
    flat = unicodedata.normalize("NFKC", reply).strip()  # full-width letters are letters
    if (found := _json(flat)) is not None:
        return found
    if announced := _CHOICE.findall(flat):
        return _letters(announced[-1])
    return _bare(flat.splitlines()[-1]) if flat else None


def _json(flat: str) -> frozenset[str] | None:
    value = json_inside(flat, r"\{[^{}]*\}|\[[^\[\]]*\]")
    if isinstance(value, dict):
        named = {str(name).casefold(): value_ for name, value_ in value.items()}
        value = next((named[name] for name in ("answer", "answers", "答案") if name in named), None)
    value_ = "".join(map(str, value)) if isinstance(value, list) else value
    return _bare(value_) if isinstance(value_, str) else None


def _bare(text: str) -> frozenset[str] | None:
    bare = _BARE.fullmatch(text.strip())
    return _letters(bare[1]) if bare else None


def _letters(text: str) -> frozenset[str]:
    return frozenset(c for c in re.sub("and|et|und", "", text) if c in LETTERS)


def accuracy(items: Sequence[Item], replies: Sequence[str]) -> tuple[dict[str, Ratio], Values]:
    """Return exactly right answers and questions, by kind and in all, and what could not be read.

    An answer is right if its letters are those of the gold answer, no more and no fewer.
    """
    choices = [chosen(reply) for reply in replies]
    right = np.array([s == i.answer for s, i in zip(choices, items, strict=True)], dtype=np.float64)
    of = {kind: np.array([float(i.kind == kind) for i in items]) for kind in KINDS}
    ratios: dict[str, Ratio] = {f"accuracy {kind}": (right * mask, mask) for kind, mask in of.items()}
    ratios["accuracy"] = right, np.ones(len(items))
    return ratios, np.array([float(s is None) for s in choices])
