"""Charge prediction in CAIL 2018's format: the facts of a case and the charges (Xiao et al. 2018)."""

from __future__ import annotations

import itertools
import math
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from rag.types import Article
from training.answers.contexts import numbered
from training.answers.multiple_choice import InvalidRecord, Record, json_inside, read, short_repr, text, texts
from training.answers.score import Ratio, Values

VERSION = "charges 1"  # raise it when the wording changes
EXPECTED = '{"fact": text, "meta": {"accusation": ["盗窃"]}}'
PROMPT = """\
{articles}请根据下面的案件事实，判断被告人构成什么罪。

案件事实：{fact}

最后另起一行，只写罪名，格式为“罪名：”加罪名；有多个罪名时用分号隔开。"""


@dataclass(frozen=True, slots=True)
class Case:
    """The facts of a case, and its charges."""

    id: str
    fact: str
    charges: frozenset[str]  # normalised
    names: Mapping[str, str]  # every way to say one of them -> the charge


def load(path: Path) -> list[Case]:
    """Read a file of cases; BadInput for a line of another format names it and what was expected."""
    return read(path, _case, EXPECTED)


def _case(record: Record, line: str) -> Case:
    meta = record.get("meta")
    if not isinstance(meta, dict):
        raise InvalidRecord(f'"meta" is {short_repr(meta)}, not an object')
    labels = texts(meta, "accusation")
    charges = frozenset(map(normalised, labels))
    if "" in charges:
        raise InvalidRecord(f'"accusation" is {short_repr(labels)}: one of them names no charge')
    names = {name: normalised(label) for label in labels for name in alternatives(label)}
    return Case(line, text(record, "fact"), charges, names)


def normalised(charge: str) -> str:
    """Return a charge as charges are compared: without brackets, blanks, punctuation, and the final 罪."""
    flat = unicodedata.normalize("NFKC", charge)
    return "".join(c for c in flat if c.isalnum()).removesuffix("罪")


def alternatives(charge: str) -> set[str]:
    """Return the normalised ways to say a charge.

    CAIL 2018 sets brackets around what a charge can be made of: "[走私、贩卖、运输、制造]毒品". Who sold
    drugs and did nothing else is convicted of 贩卖毒品, so any part of such a list, in its order, names
    the charge.
    """
    flat = unicodedata.normalize("NFKC", charge)
    parts = re.split(r"\[([^\[\]]*)\]", flat)  # outside, inside, outside, …
    ways = [[part] if n % 2 == 0 else _some(re.split("[、,]", part)) for n, part in enumerate(parts)]
    if math.prod(map(len, ways)) > MOST:
        return {normalised(charge)}
    return {normalised("".join(way)) for way in itertools.product(*ways)} - {""}


def _some(parts: Sequence[str]) -> list[str]:
    """Return every choice of one part or more, in their order."""
    if len(parts) > MOST.bit_length():
        return ["".join(parts)]
    return ["".join(c) for n in range(1, len(parts) + 1) for c in itertools.combinations(parts, n)]


def prompt(case: Case, articles: Sequence[Article]) -> str:
    """Return what the model is asked: articles, if any, then the facts."""
    return PROMPT.format(articles=numbered(articles), fact=case.fact.strip())


_CHARGES = re.compile(r"罪名[^:\n]{0,6}:\s*([^\n]+)")
_BREAK = re.compile(r"[;\n]")
MOST = 1000  # ways to say one charge that are listed
LONGEST = 100  # characters of a reply that is read whole, for it can hold little but a charge


def predicted(reply: str, known: Mapping[str, str]) -> frozenset[str] | None:
    """Return the charges that a reply names; None where it cannot be told.

    Read are, in this order: a JSON object or list; the last line that begins with 罪名; a short reply
    of one line. In it, the longest known charges are found first, so that 合同诈骗 is not also 诈骗; what
    is no known charge counts as one of its own, which is wrong. `known` maps every way to say a charge of
    the file to the charge.
    """
    flat = unicodedata.normalize("NFKC", reply).strip()
    record = _json(flat)
    if record is None:
        lines = _CHARGES.findall(flat)
        if not lines and (not flat or "\n" in flat or len(flat) > LONGEST):
            return None
        record = _BREAK.split(lines[-1] if lines else flat)
    found = frozenset(charge for part in record for charge in _charges(part, known))
    return found or None


def _charges(part: str, known: Mapping[str, str]) -> set[str]:
    """Return the known charges of one part, or the part itself where it has none."""
    rest = "".join(c for c in part if c.isalnum())
    found = set()
    for name in sorted((n for n in known if n in rest), key=lambda n: (-len(n), n)):
        if name in rest:  # still, for a longer one may have been cut out
            found.add(known[name])
            rest = rest.replace(name, " ")
    return found or {name for name in (normalised(part),) if name}


def _json(flat: str) -> list[str] | None:
    value = json_inside(flat, r"(?s)\{[^{}]*\}|\[.*\]")  # or only the brackets of a charge
    if isinstance(value, dict):
        names = ("罪名", "accusation", "charge", "charges")
        value = next((value[name] for name in names if name in value), None)
    if isinstance(value, str):
        return _BREAK.split(value)
    return value if isinstance(value, list) and all(isinstance(v, str) for v in value) else None


def accuracy(cases: Sequence[Case], replies: Sequence[str]) -> tuple[dict[str, Ratio], Values]:
    """Return whether each case's charges are named exactly, and which replies could not be read."""
    known = {name: charge for case in cases for name, charge in case.names.items()}
    predictions = [predicted(reply, known) for reply in replies]
    right = np.array([s == c.charges for s, c in zip(predictions, cases, strict=True)], dtype=np.float64)
    unreadable = np.array([float(s is None) for s in predictions])
    return {"accuracy charges": (right, np.ones(len(cases)))}, unreadable
