"""The layout of BEIR: corpus.jsonl, queries.jsonl and qrels/*.tsv (Thakur et al. 2021)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from indexes.corpus.corpus import Corpus
from indexes.formats.jsonl import Record, records
from indexes.sources import judged
from indexes.sources.source import Reading, Source, first_file, read_adjacent_card
from rag.errors import BadInput

CORPUS, QUERIES, QRELS = "corpus.jsonl", "queries.jsonl", "qrels"


def read(path: Path, reading: Reading, *, code: str | None = None) -> Corpus:
    """Read the folder; queries without a judgement are left out.

    A document has no code or number there: its title becomes the heading. What our own export put
    into "metadata" (code, number, headings, dates, ...) is taken back from it. `code` is that of all
    articles that tell none; None takes the folder's name.
    """
    name, inspection, progress = path.resolve().name, reading.inspection, reading.progress
    cure = f"Give a folder of BEIR: {CORPUS}, {QUERIES} and {QRELS}/"
    corpus, queries_file = (first_file(path, (file,), cure) for file in (CORPUS, QUERIES))
    files = sorted((path / QRELS).glob("*.tsv*"))
    if not files:
        raise BadInput(f"{path / QRELS}: no .tsv in it. Give a folder of BEIR, its judgements in {QRELS}/.")
    splits = [judged.split_name(file.name.removesuffix(".gz").removesuffix(".tsv")) for file in files]
    articles = ((at, _article(each, code or name)) for at, each in records(corpus, inspection, progress))
    queries = ((at, _query(each)) for at, each in records(queries_file, inspection, progress))
    questions = judged.questions(queries, zip(splits, files, strict=True), inspection)
    return reading.corpus(read_adjacent_card(path) or name, articles, questions, path=corpus)


def _article(record: Record, code: str) -> Record:
    rest, ours = _parted(record, "text")
    known = {**rest, **ours, "id": record.get("_id"), "text": record.get("text")}
    if "code" in ours and "article_no" in ours:  # our own export: the title was made of code and number
        return known
    title = record.get("title")
    headings = [title] if isinstance(title, str) and title.strip() else []
    columns = {key: value for key, value in known.items() if value is not None}
    return {"article_no": "", "headings": headings, "code": code, **columns}


def _query(record: Record) -> Record:
    rest, ours = _parted(record, "question")
    return {**rest, **ours, "id": record.get("_id"), "question": record.get("text")}


def _parted(record: Record, text: str) -> tuple[Record, Record]:
    """Return the columns that the format does not know, and those of "metadata"."""
    rest = {key: value for key, value in record.items() if key not in ("_id", "title", "text", "metadata")}
    metadata = record.get("metadata")
    if not isinstance(metadata, Mapping):
        return rest, {}
    return rest, {key: value for key, value in metadata.items() if key not in ("id", text)}


def _recognises(path: Path) -> bool:
    return (path / QRELS).is_dir() and all(
        any((path / f"{name}{end}").is_file() for end in ("", ".gz")) for name in (CORPUS, QUERIES)
    )


SOURCE = Source("a folder in BEIR's layout", read, recognises=_recognises)
