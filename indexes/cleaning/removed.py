"""Articles that cleaning took out of a corpus, kept beside it so that nothing is lost.

They lie in removed.jsonl.gz in the corpus folder, one a line: the article as articles.jsonl has it, why it
was taken out ("removed_for"), the article that stays for it where there is one ("moved_to"), and the
columns that nothing uses ("extras"). They are no part of the corpus's identity.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from indexes.corpus.articles import article_of, optional, record_of
from indexes.formats.jsonl import Record, dump, records, write_lines
from indexes.formats.validation import Inspection, UnfitError
from rag.types import Article

FILE = "removed.jsonl.gz"


@dataclass(frozen=True, slots=True)
class Removed:
    """An article that was taken out, and why."""

    article: Article
    removed_for: str  # the kind of cleaning
    moved_to: str | None = None  # id of the article that stays for it
    extras: Mapping[str, object] = field(default_factory=dict)


def write_removed(folder: Path, removed: Iterable[Removed]) -> None:
    """Write removed.jsonl.gz into a corpus folder; no file where there are none."""
    lines = [dump(_record(each)) for each in removed]
    if lines:
        write_lines(folder / FILE, lines)


def read_removed(folder: Path) -> tuple[Removed, ...]:
    """Read removed.jsonl.gz of a corpus folder; none where it is absent.

    Raises:
        BadInput: a line cannot be used.
    """
    path, inspection, found = folder / FILE, Inspection(), []
    if path.is_file():
        for place, record in records(path, inspection):
            try:
                extras = record.get("extras")
                why, instead = optional(record, "removed_for"), optional(record, "moved_to")
                kept = extras if isinstance(extras, Mapping) else {}
                found.append(Removed(article_of(record), why or "", instead, kept))
            except UnfitError as unfit:
                inspection.refuse(unfit.reason, place, unfit.problem, unfit.cure)
    return tuple(found)


def _record(each: Removed) -> Record:
    record = {**record_of(each.article), "removed_for": each.removed_for}
    if each.moved_to is not None:
        record["moved_to"] = each.moved_to
    if each.extras:
        record["extras"] = dict(sorted(each.extras.items()))
    return record
