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
from collections.abc import Callable, Iterator, Mapping
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
    """Write a corpus as a new folder of another format, whole or not at all, and return the folder.

    Args:
        corpus: what to write.
        folder: where.
        to: a key of `FORMATS`.
        extras: write the columns that nothing uses too.

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
    write_lines(folder / beir.CORPUS, (dump(_document(corpus, article)) for article in corpus.articles))
    write_lines(folder / beir.QUERIES, (dump(_query(corpus, question)) for question in corpus.questions))
    (folder / beir.QRELS).mkdir()
    for split, gold in (_by_split(corpus, _ALL) or {_ALL: {}}).items():
        trec.write_qrels(folder / beir.QRELS / f"{split}.tsv", gold, beir=True)


def _document(corpus: Corpus, article: Article) -> Record:
    metadata = {**_about(article), **corpus.extras.get(article.id, {})}
    title = f"{article.code} {article.article_no}".strip()
    id_ = trec.fit(article.id, tabs=True)
    return {"_id": id_, "title": title, "text": article.text, "metadata": metadata}


def _query(corpus: Corpus, question: Question) -> Record:
    rest = corpus.question_extras.get(question.id, {})
    metadata = {**_about_question(question), "split": question.split, **rest}
    if not question.article_ids:
        metadata["article_ids"] = []  # annotated: no article answers; without judgements it would be left out
    return {"_id": trec.fit(question.id, tabs=True), "text": question.text, "metadata": metadata}


def _trec(corpus: Corpus, folder: Path) -> None:
    articles, questions = corpus.articles, corpus.questions
    rows = (f"{trec.fit(a.id)}\t{_line(a.text)}\n".encode() for a in articles)
    write_lines(folder / trec_source.COLLECTION, rows)
    rows = (f"{trec.fit(q.id)}\t{_line(q.text)}\n".encode() for q in questions)
    write_lines(folder / trec_source.QUERIES, rows)
    write_lines(folder / trec_source.ABOUT_ARTICLES, _article_extras(corpus))
    write_lines(folder / trec_source.ABOUT_QUESTIONS, _question_extras(corpus))
    for split, gold in (_by_split(corpus, "") or {"": {}}).items():
        trec.write_qrels(folder / (f"qrels.{split}.txt" if split else "qrels.txt"), gold)


def _article_extras(corpus: Corpus) -> Iterator[bytes]:
    for article in corpus.articles:
        lost = {} if _line(article.text) == article.text else {"text": article.text}
        yield dump({"id": article.id, **_about(article), **lost, **corpus.extras.get(article.id, {})})


def _question_extras(corpus: Corpus) -> Iterator[bytes]:
    for question in corpus.questions:
        lost = {} if _line(question.text) == question.text else {"question": question.text}
        about = {**_about_question(question), "split": question.split, **lost}
        yield dump({"id": question.id, **about, **corpus.question_extras.get(question.id, {})})


def _parquet(corpus: Corpus, folder: Path) -> None:
    kinds = {key: "texts" if key in _LISTS else "day" if key in _DAYS else "text" for key in articles_.KEYS}
    types = {key: "texts" if key in _LISTS else "text" for key in questions_.KEYS}
    described = {parquet_source.MARK: corpus.sha256, "licence": corpus.card.licence}
    rows = (_row(_fields_of(a, articles_.KEYS), corpus.extras.get(a.id)) for a in corpus.articles)
    name = parquet_source.ARTICLES
    parquet.write(folder / name, rows, {**kinds, parquet_source.EXTRAS: "text"}, described)
    if corpus.questions:
        name = parquet_source.QUESTIONS
        rows = (
            _row(questions_.question_record(q), corpus.question_extras.get(q.id)) for q in corpus.questions
        )
        parquet.write(folder / name, rows, {**types, parquet_source.EXTRAS: "text"}, described)


def _row(record: Record, extras: Mapping[str, object] | None) -> Record:
    return {**record, parquet_source.EXTRAS: json.dumps(extras, ensure_ascii=False) if extras else None}


def _fields_of(article: Article, keys: tuple[str, ...]) -> Record:
    """Return the fields of an article with the types that they have."""
    return {key: getattr(article, key) for key in keys}


def _about(article: Article) -> Record:
    record = articles_.article_record(article)
    return {key: value for key, value in record.items() if key not in ("id", "text")}


def _about_question(question: Question) -> Record:
    record = questions_.question_record(question)
    return {key: value for key, value in record.items() if key not in ("id", "question", "article_ids")}


def _by_split(corpus: Corpus, none: str) -> dict[str, dict[str, tuple[str, ...]]]:
    """Return split -> question -> gold; a split whose name can be no file's goes to those of none."""
    found: dict[str, dict[str, tuple[str, ...]]] = {}
    for question in corpus.questions:
        split = question.split if question.split and _SPLIT.fullmatch(question.split) else none
        found.setdefault(split, {})[question.id] = question.article_ids
    return found


def _line(text: str) -> str:
    return _BREAKS.sub(" ", text)


FORMATS: Mapping[str, Callable[[Corpus, Path], object]] = MappingProxyType(
    {"jsonl": corpus_.write, "parquet": _parquet, "beir": _beir, "trec": _trec}
)
