"""mMARCO: the passages and queries of MS MARCO in other languages, in TSV (Bonifacio et al. 2021).

No law, but what published systems were first trained on. Each passage becomes an article without a
number, of a code named MS MARCO.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Unpack

from indexes import articles as articles_
from indexes import questions as questions_
from indexes.card import CardOptions, with_options
from indexes.corpus import Corpus, gathered
from indexes.inspection import ImportReport, Inspection, Place
from indexes.jsonl import Progress, Record
from indexes.sources.source import Source
from indexes.tabbed import cells
from indexes.trec import judgements
from rag.card import CorpusCard
from rag.errors import BadInput

CARD = CorpusCard(
    name="mmarco-fr",
    title="mMARCO, passages from the web",
    language="fr",
    licence="Apache-2.0 for the translation; MS MARCO: non-commercial research only",
    licence_url="https://microsoft.github.io/msmarco/",
    source="mMARCO (unicamp-dl, 2021), from MS MARCO (Microsoft, 2016)",
    note="Passages from web pages, translated by machine: no law. For training and measuring only.",
)
PUBLISHED = {"articles": 8_841_823, "questions (dev)": 6_980}
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
    progress: Progress | None = None,
    splits: str = "dev",
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
        card: what the card shall say instead; its language chooses the files.
    """
    language = card.get("language") or CARD.language
    if language not in LANGUAGES:
        raise BadInput(f"the language is {language!r}. Pass --language with one of: {', '.join(LANGUAGES)}.")
    inspection = Inspection(lenient=lenient)
    file = _file(path, f"collections/{LANGUAGES[language]}_collection.tsv")
    found = cells(file, ("pid", "passage"), inspection, progress)
    articles = articles_.collect(((place, _article(*row)) for place, row in found), inspection, file)
    asked = questions_.collect(_questions(path, LANGUAGES[language], splits, inspection), inspection)
    questions = questions_.resolve(asked, articles, inspection)
    base = replace(CARD, name=f"mmarco-{language}", language=language)
    corpus = gathered(with_options(base, card, base.name), articles, questions, inspection)
    return corpus, inspection.report(len(articles), len(questions))


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


def _article(pid: str, passage: str) -> Record:
    return {"id": pid.strip(), "code": CODE, "article_no": "", "text": passage.strip()}


def _questions(
    folder: Path, language: str, splits: str, inspection: Inspection
) -> Iterator[tuple[Place, Record]]:
    wanted = [split.strip() for split in splits.split(",") if split.strip()]
    unknown = [split for split in wanted if split not in _SPLITS]
    if unknown:
        raise BadInput(f"no split {', '.join(unknown)}. Use some of: {', '.join(_SPLITS)}.")
    for split in dict.fromkeys(wanted):
        gold = _gold(folder, split, inspection)
        names = [f"queries/{split}/{language}_queries.{split}.tsv"]
        names += [f"queries/{split}/{language}_queries.{split}.small.tsv"]
        for place, (id_, text) in cells(_file(folder, *names), ("qid", "query"), inspection):
            judged = gold.get(id_.strip())
            if judged is not None:
                asked = {"id": id_.strip(), "question": text.strip(), "article_ids": list(judged)}
                yield place, {**asked, "split": split}


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
