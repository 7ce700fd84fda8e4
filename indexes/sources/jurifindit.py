"""JuriFindIT as published: Italian and European law, experts' questions, in Parquet (Noce et al. 2026)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from indexes.corpus.corpus import SYNTHETIC, Corpus
from indexes.formats import parquet
from indexes.formats.jsonl import Record
from indexes.formats.validation import Inspection
from indexes.sources import source
from indexes.sources.bsard import parse_ids
from indexes.sources.source import Reading, Records, Source, chosen
from indexes.sources.tags import NO_TAGS, chosen_tags, tagged
from rag.graph.graph import Node

CARD = source.card_of("jurifindit")
FILES: Mapping[str, str] = {
    "train": "questions/train.parquet",
    "validation": "questions/validation.parquet",
    SYNTHETIC: "synth_questions/synth.parquet",
}
_TAGS = ("topics",)
_TAG_COLUMNS = ("normative_area", *_TAGS)
_CORPUS = "corpus/corpus.parquet"
_REQUIRED = ("id", "content", "path")
_ROOT = "<< file root node >>"  # content of the rows that stand for a whole act
_NUMBER = re.compile(r"art(?:icolo|\.|(?=[_ \d]))[_ ]*(.+)", re.IGNORECASE)


def read(path: Path, reading: Reading, *, splits: str = "train,validation", tags: str = NO_TAGS) -> Corpus:
    """Read the folder that holds corpus, questions and synth_questions.

    Questions have no id there: theirs is the split and the number of the row from 0, "validation-17".
    References are kept as published, those to acts (see `nodes`) and of an article to itself too.

    `splits` names train, validation and synthetic, with commas; `tags`, if true, puts topics in front
    of the question, or else the columns that it names, of normative_area and topics.
    """
    law = path / _CORPUS
    found = parquet.rows(law, reading.inspection, required=_REQUIRED, progress=reading.progress)
    articles = ((place, _article(row)) for place, row in found if not _is_root(row))
    questions = _questions(path, splits, chosen_tags(tags, _TAGS, _TAG_COLUMNS), reading)
    return reading.corpus(CARD, articles, questions, path=law)


def nodes(path: Path, *, lenient: bool = False) -> tuple[Node, ...]:
    """Return the rows that stand for a whole act: articles refer to them, nobody may find them.

    Of the folder that `read` takes; of a damaged file, a lenient call keeps those before the damage.
    """
    made = []
    for _, row in parquet.rows(path / _CORPUS, Inspection(lenient=lenient), required=_REQUIRED):
        if _is_root(row):
            title, *headings = _parts(str(row["path"] or "")) or [str(row.get("file_name") or row["id"])]
            made.append(Node(str(row["id"]), title, tuple(headings), tuple(_references(row))))
    return tuple(made)


def split_path(path: str) -> tuple[str, tuple[str, ...], str]:
    """Return code, headings and article number of a path such as "Codice__LIBRO I__Art. 5"."""
    parts = _parts(path)
    if not parts:
        return "", (), ""
    numbered = _NUMBER.fullmatch(parts[-1]) if len(parts) > 1 else None
    number = numbered[1].strip(" .") if numbered else ""
    return parts[0], tuple(parts[1:-1] if numbered else parts[1:]), number


def published_counts(corpus: Corpus) -> dict[str, int]:
    """Count as the paper does: synthetic questions apart, and the references."""
    found = source.published_counts(corpus)
    found["references"] = sum(len(article.references) for article in corpus.articles)
    found["articles with references"] = sum(bool(article.references) for article in corpus.articles)
    known = {article.id for article in corpus.articles}
    found["references to no article"] = sum(  # to acts, which are kept apart, or to nothing
        id_ not in known for article in corpus.articles for id_ in article.references
    )
    found["references of an article to itself"] = sum(a.id in a.references for a in corpus.articles)
    return found


def _article(row: Record) -> Record:
    content = row["content"]
    code, headings, number = split_path(str(row["path"] or ""))
    return {
        **{key: value for key, value in row.items() if key not in ("content", "reference")},
        "code": code or row.get("file_name"),
        "article_no": number,
        "headings": list(headings),
        "text": content.strip() if isinstance(content, str) else content,
        "references": _references(row),
    }


def _questions(folder: Path, splits: str, tags: Sequence[str], reading: Reading) -> Records:
    needed = ("question", "relevant_doc_ids")
    for split in chosen(splits, list(FILES)):
        file = folder / FILES[split]
        for place, row in parquet.rows(file, reading.inspection, required=needed, progress=reading.progress):
            rest = {key: value for key, value in row.items() if key not in (*needed, "normative_area", "id")}
            gold, area = row["relevant_doc_ids"], row.get("normative_area")
            made = {
                "id": f"{split}-{place.line - 1}",
                "question": tagged(row, tags),
                "article_ids": None if gold is None else parse_ids(gold),
                "category": area if isinstance(area, str) else None,
                "split": split,
            }
            yield place, {**rest, **made}


def _is_root(row: Record) -> bool:
    return isinstance(row["content"], str) and row["content"].strip() == _ROOT


def _parts(path: str) -> list[str]:
    return [part.strip() for part in path.split("__") if part.strip()]


def _references(row: Record) -> list[str]:
    cited = row.get("reference")
    return [] if cited is None else parse_ids(cited)


def _recognises(path: Path) -> bool:
    return (path / _CORPUS).is_file() and (path / FILES["validation"]).is_file()


SOURCE = Source(
    "the folder of JuriFindIT's Parquet files",
    read,
    source.published("jurifindit"),
    counts=published_counts,
    recognises=_recognises,
    nodes=nodes,
)
