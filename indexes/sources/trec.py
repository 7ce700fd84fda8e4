"""A collection in TSV with TREC's judgements: collection.tsv, queries.tsv and qrels*.txt."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from indexes.corpus.corpus import Corpus
from indexes.corpus.extras import owner_id
from indexes.formats.csv import cells
from indexes.formats.jsonl import Record, records
from indexes.formats.validation import Inspection
from indexes.sources import judged
from indexes.sources.source import Reading, Source, first_file, read_adjacent_card
from rag.errors import BadInput

COLLECTION, QUERIES = "collection.tsv", "queries.tsv"
# What the format cannot hold: our own export writes it beside, one record a line.
ABOUT_ARTICLES, ABOUT_QUESTIONS = "collection_metadata.jsonl.gz", "queries_metadata.jsonl.gz"


def read(path: Path, reading: Reading, *, code: str | None = None) -> Corpus:
    """Read the folder; queries without a judgement are left out.

    Judgements lie in qrels.txt, or one file a split: qrels.train.txt, qrels_test.tsv. `code` is that of
    all articles that tell none; None takes the folder's name.
    """
    inspection, folder = reading.inspection, path.resolve().name
    cure = f"Give {COLLECTION}, {QUERIES} and qrels.txt"
    collection, queries_file = (first_file(path, (file,), cure) for file in (COLLECTION, QUERIES))
    common: Record = {"code": code or folder, "article_no": ""}
    about, more = (_about(path / file, inspection) for file in (ABOUT_ARTICLES, ABOUT_QUESTIONS))
    articles = (
        (at, {**common, "text": text, **about.get(id_.strip(), {}), "id": id_.strip()})
        for at, (id_, text) in cells(collection, ("id", "text"), inspection, reading.progress)
    )
    queries = (
        (at, {"id": id_.strip(), "question": text})
        for at, (id_, text) in cells(queries_file, ("id", "query"), inspection)
    )
    questions = judged.questions(queries, list(_qrels(path)), inspection, more)
    return reading.corpus(read_adjacent_card(path) or folder, articles, questions, path=collection)


def _about(path: Path, inspection: Inspection) -> dict[str, Record]:
    """Return what lies beside, by id; nothing where there is no such file."""
    if not path.is_file():
        return {}
    return {
        id_: {key: value for key, value in record.items() if key != "id"}
        for _, record, id_ in inspection.parsed(records(path, inspection), owner_id)
    }


def _qrels(folder: Path) -> Iterator[tuple[str, Path]]:
    found = sorted(file for file in folder.glob("qrels*") if file.is_file())
    if not found:
        raise BadInput(f"{folder}: no qrels in it. Give {COLLECTION}, {QUERIES} and qrels.txt.")
    for file in found:
        stem = file.name.removesuffix(".gz").removesuffix(".txt").removesuffix(".tsv").removesuffix(".qrels")
        yield judged.split_name(stem.removeprefix("qrels").strip("._-")), file


def _recognises(path: Path) -> bool:
    return (path / COLLECTION).is_file() and (path / QUERIES).is_file()


SOURCE = Source("a folder with collection.tsv, queries.tsv and TREC's qrels", read, recognises=_recognises)
