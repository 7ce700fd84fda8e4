"""Facts beside articles in `facts.jsonl` of a corpus folder: time limits, amounts, notes, fingerprints.

They are shown with their article, so they travel into an index; they are no part of a corpus's identity,
and nothing of them is searched.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import TypeAlias, TypeVar

from indexes.corpus.articles import name, optional, text
from indexes.formats.jsonl import Record, dump, records, write_lines
from indexes.formats.validation import Inspection, SkipReason, UnfitError
from rag.corpus.facts import Amount, ArticleFacts, TimeLimit
from rag.errors import BadInput

FILE = "facts.jsonl"
KEYS = ("id", "time_limits", "amounts", "note", "official", "outdated")
Facts: TypeAlias = Mapping[str, ArticleFacts]  # article id -> what stands beside it
_DIGITS = 16  # of a fingerprint: 64 bits tell the versions of an article apart
_T = TypeVar("_T", TimeLimit, Amount)


def fingerprint(official: str) -> str:
    """Return what tells one wording of an article from another, whatever its blanks: 16 hexadecimal digits.

    The first of the SHA-256 of its words in Unicode, a blank between two: no wording can be read from it.
    """
    return hashlib.sha256(" ".join(official.split()).encode("utf-8")).hexdigest()[:_DIGITS]


def write_facts(folder: Path, facts: Facts, ids: Iterable[str]) -> None:
    """Write the facts in the order of the ids; no file where there are none."""
    said = ((id_, facts[id_]) for id_ in ids if id_ in facts)
    lines = [dump(facts_record(id_, each)) for id_, each in said if each != ArticleFacts()]
    if lines:
        write_lines(folder / FILE, lines)


def read_facts(
    folder: Path, ids: Collection[str], inspection: Inspection | None = None
) -> dict[str, ArticleFacts]:
    """Read what `write_facts` wrote into a folder, if anything; `ids` are those of the articles there.

    Raises:
        BadInput: a line cannot be used, or is of an article that is not there.
    """
    inspection, path = inspection or Inspection(), folder / FILE
    found: dict[str, ArticleFacts] = {}
    lines = records(path, inspection) if path.is_file() else ()
    for place, _, (id_, facts) in inspection.parsed(lines, parse_facts):
        if id_ not in ids:
            problem = f"no article has the id {id_!r}"
            inspection.refuse(SkipReason.UNKNOWN_OWNER, place, problem, "Remove the line")
            continue
        found[id_] = facts
    return found


def check(corpus: str, facts: Facts, ids: Collection[str]) -> None:
    """Refuse facts of articles that a corpus does not hold.

    Raises:
        BadInput: there are some.
    """
    for id_ in facts:
        if id_ not in ids:
            raise BadInput(f"facts of article {id_!r}, not in the corpus {corpus}. Remove them.")


def facts_record(id_: str, facts: ArticleFacts) -> Record:
    """Return the record that is written; what is empty is left out."""
    record: dict[str, object] = {"id": id_}
    for key, parts in (("time_limits", facts.time_limits), ("amounts", facts.amounts)):
        if parts:
            record[key] = [{k: v for k, v in asdict(part).items() if v} for part in parts]
    if facts.note:
        record["note"] = facts.note
    if facts.official:
        record["official"] = facts.official
    if facts.outdated:
        record["outdated"] = True
    return record


def parse_facts(record: Record) -> tuple[str, ArticleFacts]:
    """Make the id and the facts of a record.

    Raises:
        UnfitError: a value is missing or of another type, or a key is unknown.
    """
    if unknown := sorted(set(record).difference(KEYS)):
        raise UnfitError(SkipReason.WRONG_TYPE, f"unknown key {unknown[0]}", f"Use {', '.join(KEYS)}")
    outdated = record.get("outdated", False)
    if not isinstance(outdated, bool):
        raise UnfitError(SkipReason.WRONG_TYPE, f"outdated is {outdated!r}", "Write true or false")
    return name({"id": None, **record}, "id"), ArticleFacts(
        _parts(record, "time_limits", TimeLimit),
        _parts(record, "amounts", Amount),
        optional(record, "note") or "",
        optional(record, "official") or "",
        outdated,
    )


def _parts(record: Record, key: str, kind: Callable[..., _T]) -> tuple[_T, ...]:
    parts = record.get(key, [])
    known: list[str] = [each.name for each in fields(kind)]  # type: ignore[arg-type]  # a dataclass
    if not isinstance(parts, list) or not all(isinstance(p, dict) and p.keys() <= {*known} for p in parts):
        cure = f"Write a list of objects with {', '.join(known)}"
        raise UnfitError(SkipReason.WRONG_TYPE, f"{key} cannot be read", cure)
    made = []
    for part in parts:
        if missing := [each for each in known[:2] if not part.get(each)]:
            raise UnfitError(SkipReason.MISSING_COLUMN, f"{key}: no {missing[0]}", f"Fill in {missing[0]}")
        made.append(kind(**{each: text(part, each) for each in part}))
    return tuple(made)
