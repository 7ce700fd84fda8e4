"""A corpus written in other formats, each of which `python -m indexes import` reads back.

What a format cannot hold lies beside it, so that nothing is lost on the way back:

- jsonl: the project's own folder; holds everything.
- parquet: articles.parquet and questions.parquet; holds everything, the extra columns as one JSON text.
- beir: corpus.jsonl, queries.jsonl, qrels/*.tsv. A document has only a title and a text there: code,
  number, headings, dates and the rest go into "metadata". Ids with tabs or line breaks are refused.
- trec: collection.tsv, queries.tsv, qrels*.txt. A line has only an id and a text without line breaks:
  texts are put on one line, and what else there is goes into *_metadata.jsonl.gz, with the text as it
  was where a line break was lost. Ids with blanks are refused, for they would cut the line elsewhere.

Each folder has a card.json, so that the licence goes along.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

from indexes.corpus import articles as articles_
from indexes.corpus import corpus as corpus_
from indexes.corpus import questions as questions_
from indexes.corpus.card import FILE, card_bytes
from indexes.corpus.corpus import Corpus, appearing
from indexes.formats import parquet, trec
from indexes.formats.jsonl import Record, dump, write_lines
from indexes.sources import beir
from indexes.sources import parquet as parquet_source
from indexes.sources import trec as trec_source
from rag.errors import BadInput
from rag.types import Article, Question

_SPLIT = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,40}")
_BREAKS = re.compile(r"[\t\r\n]+")
_LISTS = ("headings", "references", "article_ids")
_DAYS = ("valid_from", "valid_to")
_ALL = "all"  # the file of BEIR's judgements for questions of no split


def export(corpus: Corpus, folder: Path, to: str, *, extras: bool = True) -> Path:
    """Write a corpus as a new folder of a format of `FORMATS`, whole or not at all, and return the folder.

    With `extras` go the columns that nothing uses.

    Raises:
        BadInput: no such format; the format cannot hold an id; or the folder is there and not empty.
        MissingExtra: parquet, and pyarrow is not installed.
    """
    if to not in FORMATS:
        raise BadInput(f"no format {to!r} to export to. Use one of: {', '.join(FORMATS)}.")
    if to == "jsonl":
        return corpus_.write(corpus, folder, extras=extras)
    exported = corpus if extras else Corpus(corpus.card, corpus.articles, corpus.questions)
    with appearing(folder) as part:
        try:
            FORMATS[to](exported, part)
        except UnicodeEncodeError as error:
            raise BadInput(f"{corpus.card.name}: half a surrogate pair ({error}). Remove it.") from None
        (part / FILE).write_bytes(card_bytes(corpus.card))
    return folder


def _beir(corpus: Corpus, folder: Path) -> None:
    def document(article: Article) -> Record:
        metadata = {**_about(article), **corpus.extras.get(article.id, {})}
        title = f"{article.code} {article.article_no}".strip()
        id_ = trec.fit(article.id, tabs=True)
        return {"_id": id_, "title": title, "text": article.text, "metadata": metadata}

    def query(question: Question) -> Record:
        metadata = {**_about_question(question), **corpus.question_extras.get(question.id, {})}
        if not question.article_ids:
            metadata["article_ids"] = []  # annotated: no article answers; else it would be left out
        return {"_id": trec.fit(question.id, tabs=True), "text": question.text, "metadata": metadata}

    write_lines(folder / beir.CORPUS, (dump(document(article)) for article in corpus.articles))
    write_lines(folder / beir.QUERIES, (dump(query(question)) for question in corpus.questions))
    (folder / beir.QRELS).mkdir()
    for split, gold in (_by_split(corpus, _ALL) or {_ALL: {}}).items():
        trec.write_qrels(folder / beir.QRELS / f"{split}.tsv", gold, beir=True)


def _trec(corpus: Corpus, folder: Path) -> None:
    def line(of: Article | Question) -> bytes:
        return f"{trec.fit(of.id)}\t{_BREAKS.sub(' ', of.text)}\n".encode()

    def lost(of: Article | Question, key: str) -> Record:
        return {key: of.text} if _BREAKS.search(of.text) else {}

    about = (
        {"id": a.id, **_about(a), **lost(a, "text"), **corpus.extras.get(a.id, {})} for a in corpus.articles
    )
    records = (
        {"id": q.id, **_about_question(q), **lost(q, "question"), **corpus.question_extras.get(q.id, {})}
        for q in corpus.questions
    )
    write_lines(folder / trec_source.COLLECTION, map(line, corpus.articles))
    write_lines(folder / trec_source.QUERIES, map(line, corpus.questions))
    write_lines(folder / trec_source.ABOUT_ARTICLES, map(dump, about))
    write_lines(folder / trec_source.ABOUT_QUESTIONS, map(dump, records))
    for split, gold in (_by_split(corpus, "") or {"": {}}).items():
        trec.write_qrels(folder / (f"qrels.{split}.txt" if split else "qrels.txt"), gold)


def _parquet(corpus: Corpus, folder: Path) -> None:
    def row(record: Record, extras: Mapping[str, object] | None) -> Record:
        return {**record, parquet_source.EXTRAS: json.dumps(extras, ensure_ascii=False) if extras else None}

    def types(keys: tuple[str, ...]) -> Mapping[str, str]:
        known = {key: "texts" if key in _LISTS else "day" if key in _DAYS else "text" for key in keys}
        return {**known, parquet_source.EXTRAS: "text"}

    described = {parquet_source.MARK: corpus.sha256, "licence": corpus.card.licence}
    rows = (
        row({key: getattr(a, key) for key in articles_.KEYS}, corpus.extras.get(a.id))
        for a in corpus.articles
    )
    parquet.write(folder / parquet_source.ARTICLES, rows, types(articles_.KEYS), described)
    if corpus.questions:
        rows = (
            row(questions_.question_record(q), corpus.question_extras.get(q.id)) for q in corpus.questions
        )
        parquet.write(folder / parquet_source.QUESTIONS, rows, types(questions_.KEYS), described)


def _about(article: Article) -> Record:
    record = articles_.article_record(article)
    return {key: value for key, value in record.items() if key not in ("id", "text")}


def _about_question(question: Question) -> dict[str, object]:
    record = {**questions_.question_record(question), "split": question.split}
    return {key: value for key, value in record.items() if key not in ("id", "question", "article_ids")}


def _by_split(corpus: Corpus, none: str) -> dict[str, dict[str, tuple[str, ...]]]:
    """Return split -> question -> gold; a split whose name can be no file's goes to those of none."""
    found: dict[str, dict[str, tuple[str, ...]]] = {}
    for question in corpus.questions:
        split = question.split if question.split and _SPLIT.fullmatch(question.split) else none
        found.setdefault(split, {})[question.id] = question.article_ids
    return found


FORMATS: Mapping[str, Callable[[Corpus, Path], object]] = MappingProxyType(
    {"jsonl": corpus_.write, "parquet": _parquet, "beir": _beir, "trec": _trec}
)
