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
from typing import Any, TypeAlias

from indexes.corpus.corpus import Corpus
from indexes.formats.csv import cells
from indexes.formats.trec import judgements
from indexes.formats.validation import Inspection, SourceLocation
from indexes.sources.source import Reading, Source, card_of, chosen, first_file, published
from rag.errors import BadInput

CARD = card_of("mmarco-fr")
LANGUAGES: Mapping[str, str] = MappingProxyType(
    {"de": "german", "en": "english", "fr": "french", "it": "italian", "nl": "dutch", "zh": "chinese"}
)
_FOLDERS = (".", "data", "google", "data/google", "helsinki", "data/helsinki")  # where a file may lie
_Passages: TypeAlias = Iterable[tuple[SourceLocation, list[str]]]  # id and text of each


def read(
    path: Path,
    reading: Reading,
    *,
    splits: str = "dev",
    passages: int | str | None = None,
    queries: int | str | None = None,
) -> Corpus:
    """Read passages and judged queries of one language, French where none is given.

    The path is that of the folder that holds collections, queries and qrels, or of the clone of the
    repository. Queries without a judgement are left out, as everywhere. Those of train are judged by the
    first passages of the training triples.

    `splits` names dev (the small one) and train, with commas. `passages` takes only so many: those that
    answer the queries, and others drawn by the hash of their ids, so that the draw is the same everywhere;
    None takes all 8.8 million. `queries` takes only the first so many judged ones of each split.
    """
    language = reading.card.get("language") or CARD.language
    if language not in LANGUAGES:
        raise BadInput(f"the language is {language!r}. Pass --language with one of: {', '.join(LANGUAGES)}.")
    inspection = reading.inspection
    file = _file(path, f"collections/{LANGUAGES[language]}_collection.tsv")
    most, first = _whole("passages", passages), _whole("queries", queries)
    wanted = chosen(splits, ("dev", "train"))
    questions = list(_questions(path, LANGUAGES[language], wanted, first, inspection))
    found: _Passages = cells(file, ("pid", "passage"), inspection, reading.progress)
    base = replace(CARD, name=f"mmarco-{language}", language=language)
    if most is not None:
        found = _drawn(found, {id_ for _, query in questions for id_ in query["article_ids"]}, most)
        base = replace(base, note=f"{base.note} Only a part of the passages, drawn for a quick look.")
    articles = (
        (place, {"id": pid.strip(), "code": "MS MARCO", "article_no": "", "text": passage.strip()})
        for place, (pid, passage) in found
    )
    return reading.corpus(base, articles, questions, path=file)


def triples(path: Path, *, inspection: Inspection | None = None) -> Iterator[tuple[str, str, str]]:
    """Yield the training triples: ids of a query, of a passage that answers it, of one that does not.

    Raises:
        BadInput: the file is not in the folder that `read` takes, or a line is bad.
    """
    file, columns = _file(path, "triples.train.ids.small.tsv"), ("query", "positive", "negative")
    for _, row in cells(file, columns, inspection or Inspection()):
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


def _drawn(found: _Passages, needed: Collection[str], most: int) -> _Passages:
    """Yield the passages that are needed, and so many others that they are `most`, in the file's order.

    The others are those whose hashes are smallest: one pass, and never more in memory than are kept.
    """
    taken: list[tuple[int, SourceLocation, list[str]]] = []

    def others() -> Iterator[tuple[bytes, int, SourceLocation, list[str]]]:
        for number, (place, row) in enumerate(found):
            if (id_ := row[0].strip()) in needed:
                taken.append((number, place, row))
            else:
                yield hashlib.blake2b(id_.encode(), digest_size=8).digest(), number, place, row

    # one at least is drawn, or the file would not be read
    drawn = heapq.nsmallest(max(most - len(needed), 1), others())[: max(most - len(needed), 0)]
    yield from ((place, row) for _, place, row in sorted([*taken, *(other[1:] for other in drawn)]))


def _questions(
    folder: Path, language: str, splits: Iterable[str], first: int | None, inspection: Inspection
) -> Iterator[tuple[SourceLocation, dict[str, Any]]]:
    for split in splits:
        gold: dict[str, dict[str, None]] = {}
        for query, passage in _judged(folder, split, inspection):
            gold.setdefault(query, {})[passage] = None
        names = [f"queries/{split}/{language}_queries.{split}{size}.tsv" for size in ("", ".small")]
        found = cells(_file(folder, *names), ("qid", "query"), inspection)
        left = itertools.count() if first is None else iter(range(first))
        for place, (id_, text) in found:
            judged = gold.get(id_.strip())
            if judged is not None and next(left, None) is not None:
                record = {"id": id_.strip(), "question": text.strip(), "article_ids": list(judged)}
                yield place, {**record, "split": split}


def _judged(folder: Path, split: str, inspection: Inspection) -> Iterator[tuple[str, str]]:
    """Yield the ids of a query and of a passage that answers it."""
    if split == "train":
        yield from ((query, positive) for query, positive, _ in triples(folder, inspection=inspection))
        return
    for _, judged in judgements(_file(folder, "qrels.dev.small.tsv"), inspection):
        if judged.grade > 0:
            yield judged.question_id, judged.article_id


def _file(folder: Path, *names: str) -> Path:
    return first_file(folder, names, "Give the folder that holds collections", below=_FOLDERS)


def _recognises(path: Path) -> bool:
    return any(list((path / part / "collections").glob("*_collection.tsv*")) for part in _FOLDERS)


SOURCE = Source(
    "the folder of mMARCO's TSV files, French or with --language",
    read,
    published("mmarco"),
    recognises=_recognises,
)
