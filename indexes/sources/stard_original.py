"""STARD as its authors publish it: data/corpus.jsonl and data/queries.json (Su et al. 2024)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from indexes.corpus import articles as articles_
from indexes.corpus import questions as questions_
from indexes.corpus.card import with_options
from indexes.corpus.corpus import Corpus, gathered
from indexes.formats.jsonl import array, records, texts
from indexes.formats.validation import Inspection, SkipReason
from indexes.sources.source import Reading, Records, Source, card_of, published
from rag.types import Progress

CARD = card_of("stard-original")
_NUMBER = re.compile(r"第[〇零一二三四五六七八九十百千万两\d]+条(?:之[一二三四五六七八九十\d]+)?$")
_BLANK_LINES = re.compile(r"\n\s*\n")
# The columns of queries.json that are used, and {name: text} of the gold articles, which the corpus has too.
_USED = ("query_id", "问题", "match_id", "match_name", "相关法规")


def read(path: Path, reading: Reading) -> Corpus:
    """Read the repository's folder or its data folder.

    The name of an article ends with its number and begins with its law. Gold articles are those of
    match_id; match_name lists the same ones in another order, which is checked against the corpus.
    The split is that of example/train.query.txt and example/dev.query.txt where they are there.
    """
    folder, inspection = _data(path), reading.inspection
    corpus = folder / "corpus.jsonl"
    articles = articles_.collect(_articles(corpus, inspection, reading.progress), inspection, corpus)
    names = {article.id: _squeezed(article.code + article.article_no) for article in articles}
    questions = questions_.collect(_questions(folder, names, inspection), inspection)
    resolved = questions_.resolve(questions, articles, inspection)
    return gathered(with_options(CARD, reading.card), articles, resolved, inspection)


def _data(path: Path) -> Path:
    return path / "data" if (path / "data").is_dir() else path


def split_name(name: str) -> tuple[str, str]:
    """Return law and article number of a name; without a number at its end, the whole name and ""."""
    found = _NUMBER.search(name)
    return (name[: found.start()].strip(), found[0]) if found and found.start() else (name, "")


def _articles(path: Path, inspection: Inspection, progress: Progress) -> Records:
    for place, record in records(path, inspection, progress):
        rest = {key: value for key, value in record.items() if key not in ("name", "content")}
        name, content = record.get("name"), record.get("content")
        code, number = split_name(name.strip()) if isinstance(name, str) else (name, "")
        text = _BLANK_LINES.sub("\n", content).strip() if isinstance(content, str) else content
        yield place, {**rest, "code": code, "article_no": number, "text": text}


def _questions(folder: Path, names: Mapping[str, str], inspection: Inspection) -> Records:
    splits = {id_: split for split in ("train", "dev") for id_ in _ids(folder / "example", split, inspection)}
    for place, record in array(folder / "queries.json", inspection):
        gold, named = record.get("match_id"), record.get("match_name")
        if isinstance(gold, list) and isinstance(named, list):
            held = {names[str(id_)] for id_ in gold if str(id_) in names}
            odd = held - {_squeezed(str(name)) for name in named}
            if odd:
                problem = f"match_id leads to {min(odd)}, which match_name does not list"
                cure = "Take queries.json and corpus.jsonl of one and the same version"
                inspection.refuse(SkipReason.UNKNOWN_GOLD, place, problem, cure)
                continue
        rest = {key: value for key, value in record.items() if key not in _USED}
        id_ = record.get("query_id")
        split = {"split": splits[str(id_)]} if str(id_) in splits else {}
        yield place, {**rest, "id": id_, "question": record.get("问题"), "article_ids": gold, **split}


def _ids(folder: Path, split: str, inspection: Inspection) -> Iterator[str]:
    path = folder / f"{split}.query.txt"  # the id, a tab, the question
    if path.is_file():
        yield from (text.partition("\t")[0].strip() for _, text in texts(path, inspection))


def _squeezed(name: str) -> str:
    return "".join(name.split())


def _recognises(path: Path) -> bool:
    return all((_data(path) / name).is_file() for name in ("queries.json", "corpus.jsonl"))


SOURCE = Source(
    "the authors' folder of STARD (data/)", read, published("stard-original"), recognises=_recognises
)
