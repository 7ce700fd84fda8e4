"""A reader of references against passages that people labelled: `tests/rag/graph/labels/README.md`."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rag.errors import BadInput
from rag.types import Article
from training.references.scores import KINDS, Claim, Difference, Found, numbers, same_law

HALVES = ("dev", "test")


@dataclass(frozen=True, slots=True)
class Label:
    """A reference as people read it; places in the whole text of its article."""

    start: int
    end: int
    kind: str
    law: str
    articles: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Passage:
    """A labelled stretch of an article's text."""

    n: int
    half: str
    source: str  # the law, below the folder of the data
    article: str
    start: int
    end: int
    length: int  # characters of the whole text
    sha256: str  # the first 16 digits, of the passage
    references: tuple[Label, ...]
    left_out: tuple[tuple[int, int], ...]  # nothing is asked here

    def check(self, text: str, of: Path) -> None:
        """See whether the passage was labelled in this text.

        Raises:
            BadInput: it is another text.
        """
        here = hashlib.sha256(text[self.start : self.end].encode()).hexdigest()[: len(self.sha256)]
        if len(text) != self.length or here != self.sha256:
            raise BadInput(
                f"{of}: article {self.article!r} is not the text that was labelled ({len(text):,} "
                f"characters, labelled {self.length:,}). Give the data of the labels."
            )


def read_passages(path: Path) -> list[Passage]:
    """Read labelled passages, one a line.

    Raises:
        BadInput: there is no such file, or a line is of another form.
    """
    if not path.is_file():
        known = ", ".join(sorted(p.stem.partition("-")[2] for p in path.parent.glob("references-*.jsonl")))
        raise BadInput(f"{path}: no such file of labels. Languages that have one: {known or 'none'}.")
    passages = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        try:
            passages.append(_passage(json.loads(line)))
        except (ValueError, KeyError, TypeError) as error:
            problem = f"{path}, line {number}: not a labelled passage ({error})"
            raise BadInput(f"{problem}. See the README beside it.") from None
    return passages


def _passage(record: dict[str, Any]) -> Passage:
    labels = tuple(Label(**{**each, "articles": tuple(each["articles"])}) for each in record["references"])
    left_out = tuple((int(start), int(end)) for start, end in record.get("left_out", ()))
    if record["half"] not in HALVES or any(label.kind not in KINDS for label in labels):
        raise ValueError(f"half is {', '.join(HALVES)}; a kind {', '.join(KINDS)}")
    return Passage(**{**record, "references": labels, "left_out": left_out})


def compare(
    passage: Passage, article: Article, read: Iterable[Found]
) -> tuple[list[Claim], list[Difference]]:
    """Return what the labels of a passage say of what was read in its article's whole text.

    References that cross an edge of the passage or touch what is left out are passed over. "whole" is the
    same place, kind, law and numbers; "place" the same place; "article" each number of a reference that
    overlaps, with its law; "document" the law of a reference that overlaps.
    """
    found = [
        each
        for each in read
        if passage.start <= each.start
        and each.end <= passage.end
        and not any(start < each.end and each.start < end for start, end in passage.left_out)
    ]
    labels = passage.references
    claims = [
        *_claims(labels, found, sought=True, half=passage.half),
        *_claims(found, labels, sought=False, half=passage.half),
    ]
    where = f"{article.id} (passage {passage.n})"
    return claims, list(_differences(labels, found, where))


def _claims(own: Sequence[Found], other: Sequence[Found], *, sought: bool, half: str) -> Iterator[Claim]:
    used: set[tuple[int, str]] = set()  # a number of the other side answers one of ours
    for each in own:
        near = [(i, o) for i, o in enumerate(other) if o.start < each.end and each.start < o.end]
        agreeing = [(i, o) for i, o in near if _same_law(each, o, sought=sought)]
        same_place = [o for _, o in agreeing if (o.start, o.end) == (each.start, each.end)]
        whole = any(o.kind == each.kind and sorted(_numbers(o)) == sorted(_numbers(each)) for o in same_place)
        placed = any((o.start, o.end) == (each.start, each.end) for _, o in near)
        yield Claim("whole", each.kind, sought, whole, half)
        yield Claim("place", each.kind, sought, placed, half)
        yield Claim("document", each.kind, sought, bool(agreeing), half)
        for number in _numbers(each):
            free = [(i, number) for i, o in agreeing if number in _numbers(o) and (i, number) not in used]
            used.update(free[:1])
            yield Claim("article", each.kind, sought, bool(free), half)


def _same_law(own: Found, other: Found, *, sought: bool) -> bool:
    return same_law(own.law, other.law) if sought else same_law(other.law, own.law)


def _numbers(reference: Found) -> tuple[str, ...]:
    return numbers(reference.articles, relative=reference.kind == "relative")


def _differences(labels: Sequence[Label], found: Sequence[Found], where: str) -> Iterator[Difference]:
    def said(reference: Found) -> str:
        law = f", of {reference.law!r}" if reference.law else ""
        return f"{reference.kind} {', '.join(_numbers(reference)) or '-'}{law}"

    alike = {
        (label.start, label.end)
        for label in labels
        for each in found
        if (label.start, label.end, label.kind) == (each.start, each.end, each.kind)
        and sorted(_numbers(label)) == sorted(_numbers(each))
        and same_law(label.law, each.law)
    }
    sides = [("labelled", reference) for reference in labels], [("found", reference) for reference in found]
    every: list[tuple[str, Found]] = [*sides[0], *sides[1]]
    for side, reference in sorted(every, key=lambda pair: (pair[1].start, pair[0] == "found")):
        if (reference.start, reference.end) not in alike:
            yield Difference(where, reference.start, reference.end, f"{side}: {said(reference)}")
