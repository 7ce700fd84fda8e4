"""The layout of BEIR: corpus.jsonl, queries.jsonl and qrels/*.tsv (Thakur et al. 2021)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Unpack

from indexes.corpus.card import CardOptions, with_options
from indexes.corpus.corpus import Corpus
from indexes.formats.jsonl import Record, records
from indexes.formats.validation import ImportReport, Inspection
from indexes.sources import judged
from indexes.sources.source import Source, assembled, first_file, read_adjacent_card
from rag.errors import BadInput
from rag.types import Progress, no_progress

CORPUS, QUERIES, QRELS = "corpus.jsonl", "queries.jsonl", "qrels"


def load(
    path: Path,
    *,
    lenient: bool = False,
    progress: Progress = no_progress,
    code: str | None = None,
    **card: Unpack[CardOptions],
) -> tuple[Corpus, ImportReport]:
    """Load the folder; queries without a judgement are left out.

    A document has no code or number there: its title becomes the heading. What our own export put
    into "metadata" (code, number, headings, dates, ...) is taken back from it.

    Args:
        path: the folder.
        lenient: skip and count bad lines.
        progress: called with bytes read and bytes in all, for each file.
        code: of all articles that tell none; None takes the folder's name.
        card: what the card shall say; the language must be given where there is no card.json.
    """
    made = with_options(read_adjacent_card(path), card, path.resolve().name)
    inspection = Inspection(lenient=lenient)
    corpus = _file(path, CORPUS)
    found = records(corpus, inspection, progress)
    named = code or path.resolve().name
    articles = ((at, _article(record, named)) for at, record in found)
    files = [
        (judged.split_name(file.name.removesuffix(".gz").removesuffix(".tsv")), file) for file in _qrels(path)
    ]
    queries = ((at, _query(record)) for at, record in records(_file(path, QUERIES), inspection, progress))
    questions = judged.questions(queries, judged.gold(files, inspection))
    return assembled(made, articles, questions, inspection, corpus)


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


def _qrels(folder: Path) -> Iterator[Path]:
    found = sorted((folder / QRELS).glob("*.tsv*"))
    if not found:
        raise BadInput(f"{folder / QRELS}: no .tsv in it. Give a folder of BEIR, its judgements in {QRELS}/.")
    yield from found


def _file(folder: Path, name: str) -> Path:
    return first_file(folder, (name,), f"Give a folder of BEIR: {CORPUS}, {QUERIES} and {QRELS}/")


def _recognises(path: Path) -> bool:
    return (
        (path / QRELS).is_dir()
        and any((path / f"{CORPUS}{end}").is_file() for end in ("", ".gz"))
        and any((path / f"{QUERIES}{end}").is_file() for end in ("", ".gz"))
    )


SOURCE = Source("a folder in BEIR's layout", load, recognises=_recognises)
