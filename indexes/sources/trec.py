"""A collection in TSV with TREC's judgements: collection.tsv, queries.tsv and qrels*.txt."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Unpack

from indexes.corpus.articles import name
from indexes.corpus.card import CardOptions, with_options
from indexes.corpus.corpus import Corpus
from indexes.formats.csv import cells
from indexes.formats.jsonl import Record, records
from indexes.formats.validation import ImportReport, Inspection, UnfitError
from indexes.sources import judged
from indexes.sources.source import Source, assembled, first_file, read_adjacent_card
from rag.errors import BadInput
from rag.types import Progress, no_progress

COLLECTION, QUERIES = "collection.tsv", "queries.tsv"
# What the format cannot hold: our own export writes it beside, one record a line.
ABOUT_ARTICLES, ABOUT_QUESTIONS = "collection_metadata.jsonl.gz", "queries_metadata.jsonl.gz"


def load(
    path: Path,
    *,
    lenient: bool = False,
    progress: Progress = no_progress,
    code: str | None = None,
    **card: Unpack[CardOptions],
) -> tuple[Corpus, ImportReport]:
    """Load the folder; queries without a judgement are left out.

    Judgements lie in qrels.txt, or one file a split: qrels.train.txt, qrels_test.tsv.

    Args:
        path: the folder.
        lenient: skip and count bad lines.
        progress: called with bytes read and bytes in all, for each file.
        code: of all articles that tell none; None takes the folder's name.
        card: what the card shall say; the language must be given where there is no card.json.
    """
    made = with_options(read_adjacent_card(path), card, path.resolve().name)
    inspection = Inspection(lenient=lenient)
    file, named = _file(path, COLLECTION), code or path.resolve().name
    about = _about(path / ABOUT_ARTICLES, inspection)
    lines = cells(file, ("id", "text"), inspection, progress)
    articles = ((at, _article(row, named, about)) for at, row in lines)
    queries = ((at, _query(row)) for at, row in cells(_file(path, QUERIES), ("id", "query"), inspection))
    columns = _about(path / ABOUT_QUESTIONS, inspection)
    questions = judged.questions(queries, judged.gold(_qrels(path), inspection), columns)
    return assembled(made, articles, questions, inspection, file)


def _article(row: list[str], code: str, about: Mapping[str, Record]) -> Record:
    id_ = row[0].strip()
    return {"code": code, "article_no": "", "text": row[1], **about.get(id_, {}), "id": id_}


def _query(row: list[str]) -> Record:
    return {"id": row[0].strip(), "question": row[1]}


def _about(path: Path, inspection: Inspection) -> dict[str, Record]:
    """Return what lies beside, by id; nothing where there is no such file."""
    found: dict[str, Record] = {}
    if path.is_file():
        for place, record in records(path, inspection):
            try:
                id_ = name({"id": None, **record}, "id")
            except UnfitError as unfit:
                inspection.refuse(unfit.reason, place, unfit.problem, unfit.cure)
                continue
            found[id_] = {key: value for key, value in record.items() if key != "id"}
    return found


def _qrels(folder: Path) -> Iterator[tuple[str, Path]]:
    found = sorted(file for file in folder.glob("qrels*") if file.is_file())
    if not found:
        raise BadInput(f"{folder}: no qrels in it. Give {COLLECTION}, {QUERIES} and qrels.txt.")
    for file in found:
        name = file.name.removesuffix(".gz").removesuffix(".txt").removesuffix(".tsv").removesuffix(".qrels")
        yield judged.split_name(name.removeprefix("qrels").strip("._-")), file


def _file(folder: Path, name: str) -> Path:
    return first_file(folder, (name,), f"Give {COLLECTION}, {QUERIES} and qrels.txt")


def _recognises(path: Path) -> bool:
    return (path / COLLECTION).is_file() and (path / QUERIES).is_file()


SOURCE = Source("a folder with collection.tsv, queries.tsv and TREC's qrels", load, recognises=_recognises)
