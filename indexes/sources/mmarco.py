"""mMARCO: the passages and queries of MS MARCO in other languages, in TSV (Bonifacio et al. 2021).

No law, but what published systems were first trained on. Each passage becomes an article without a
number, of a code named MS MARCO.
"""

from __future__ import annotations

import hashlib
import heapq
import itertools
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Unpack

from indexes.corpus.card import CardOptions, with_options
from indexes.corpus.corpus import Corpus
from indexes.formats.csv import cells
from indexes.formats.jsonl import Record
from indexes.formats.trec import judgements
from indexes.formats.validation import ImportReport, Inspection, SourceLocation
from indexes.sources.bsard import parse_ids
from indexes.sources.source import Source, assembled, card_of, chosen, published
from rag.errors import BadInput
from rag.types import Progress, no_progress

CARD = card_of("mmarco-fr")
PUBLISHED = published("mmarco")
LANGUAGES: Mapping[str, str] = MappingProxyType(
    {"de": "german", "en": "english", "fr": "french", "it": "italian", "nl": "dutch", "zh": "chinese"}
)
CODE = "MS MARCO"
TRIPLES = "triples.train.ids.small.tsv"
_QRELS = "qrels.dev.small.tsv"
_SPLITS = ("dev", "train")
_FOLDERS = (".", "data", "google", "data/google", "helsinki", "data/helsinki")  # where a file may lie


def load(
    path: Path,
    *,
    lenient: bool = False,
    progress: Progress = no_progress,
    splits: str = "dev",
    passages: int | str | None = None,
    queries: int | str | None = None,
    **card: Unpack[CardOptions],
) -> tuple[Corpus, ImportReport]:
    """Load passages and judged queries of one language, French where none is given.

    Queries without a judgement are left out, as everywhere. Those of train are judged by the first
    passages of the training triples.

    Args:
        path: the folder that holds collections, queries and qrels, or the clone of the repository.
        lenient: skip and count bad lines.
        progress: called with bytes read and bytes in all, for each file.
        splits: which queries, of dev (the small one) and train, with commas.
        passages: only so many: those that answer the queries, and others drawn by the hash of their ids, so
            that the draw is the same everywhere; None takes all 8.8 million.
        queries: only the first so many judged ones of each split.
        card: what the card shall say instead; its language chooses the files.
    """
    language = card.get("language") or CARD.language
    if language not in LANGUAGES:
        raise BadInput(f"the language is {language!r}. Pass --language with one of: {', '.join(LANGUAGES)}.")
    inspection = Inspection(lenient=lenient)
    file = _file(path, f"collections/{LANGUAGES[language]}_collection.tsv")
    most, first = _whole("passages", passages), _whole("queries", queries)
    questions = list(_questions(path, LANGUAGES[language], chosen(splits, _SPLITS), first, inspection))
    found: Iterable[tuple[SourceLocation, list[str]]] = cells(file, ("pid", "passage"), inspection, progress)
    base = replace(CARD, name=f"mmarco-{language}", language=language)
    if most is not None:
        found = _drawn(
            found, {id_ for _, query in questions for id_ in parse_ids(query["article_ids"])}, most
        )
        base = replace(base, note=f"{base.note} Only a part of the passages, drawn for a quick look.")
    articles = ((place, _article(*row)) for place, row in found)
    return assembled(with_options(base, card, base.name), articles, questions, inspection, file)


def triples(path: Path, *, inspection: Inspection | None = None) -> Iterator[tuple[str, str, str]]:
    """Yield the training triples: ids of a query, of a passage that answers it, of one that does not.

    Args:
        path: the folder that `load` takes.
        inspection: told of bad lines.

    Raises:
        BadInput: the file is not there or a line is bad.
    """
    columns = ("query", "positive", "negative")
    for _, row in cells(_file(path, TRIPLES), columns, inspection or Inspection()):
        query, positive, negative = (cell.strip() for cell in row)
        yield query, positive, negative


def _whole(name: str, typed: int | str | None) -> int | None:
    """Return the number that was typed for an option."""
    if typed is None:
        return None
    text = str(typed).replace("_", "")
    if not (text.isascii() and text.isdigit()):
        raise BadInput(f"{name} is {typed!r}. Give a whole number, such as --option {name}=100000.")
    return int(text)


def _drawn(
    found: Iterable[tuple[SourceLocation, list[str]]], needed: Collection[str], most: int
) -> Iterator[tuple[SourceLocation, list[str]]]:
    """Yield the passages that are needed, and so many others that they are `most`, in the file's order.

    The others are those whose hashes are smallest: one pass, and never more in memory than are kept.
    """
    heap: list[tuple[int, SourceLocation, list[str]]] = []
    others: list[tuple[int, int, SourceLocation, list[str]]] = []  # a heap, the largest hash on top
    room = max(most - len(needed), 0)
    for number, (place, row) in enumerate(found):
        id_ = row[0].strip()
        if id_ in needed:
            heap.append((number, place, row))
            continue
        drawn = -int.from_bytes(hashlib.blake2b(id_.encode(), digest_size=8).digest())
        if len(others) < room:
            heapq.heappush(others, (drawn, number, place, row))
        elif others and drawn > others[0][0]:
            heapq.heapreplace(others, (drawn, number, place, row))
    heap += [other[1:] for other in others]
    yield from ((place, row) for _, place, row in sorted(heap))


def _article(pid: str, passage: str) -> Record:
    return {"id": pid.strip(), "code": CODE, "article_no": "", "text": passage.strip()}


def _questions(
    folder: Path, language: str, splits: Iterable[str], first: int | None, inspection: Inspection
) -> Iterator[tuple[SourceLocation, Record]]:
    for split in splits:
        left = itertools.count() if first is None else iter(range(first))
        gold = _gold(folder, split, inspection)
        names = [f"queries/{split}/{language}_queries.{split}.tsv"]
        names += [f"queries/{split}/{language}_queries.{split}.small.tsv"]
        for place, (id_, text) in cells(_file(folder, *names), ("qid", "query"), inspection):
            judged = gold.get(id_.strip())
            if judged is not None and next(left, None) is not None:
                record = {"id": id_.strip(), "question": text.strip(), "article_ids": list(judged)}
                yield place, {**record, "split": split}


def _gold(folder: Path, split: str, inspection: Inspection) -> Mapping[str, Mapping[str, None]]:
    gold: dict[str, dict[str, None]] = {}
    if split == "train":
        for query, positive, _ in triples(folder, inspection=inspection):
            gold.setdefault(query, {})[positive] = None
        return gold
    for _, judged in judgements(_file(folder, _QRELS), inspection):
        if judged.grade > 0:
            gold.setdefault(judged.question_id, {})[judged.article_id] = None
    return gold


def _file(folder: Path, *names: str) -> Path:
    for name in names:
        for part in _FOLDERS:
            for file in (folder / part / name, folder / part / f"{name}.gz"):
                if file.is_file():
                    return file
    raise BadInput(f"{folder}: no {' and no '.join(names)} in it. Give the folder that holds collections.")


def _recognises(path: Path) -> bool:
    return any(list((path / part / "collections").glob("*_collection.tsv*")) for part in _FOLDERS)


SOURCE = Source(
    "the folder of mMARCO's TSV files, French or with --language", load, PUBLISHED, recognises=_recognises
)
