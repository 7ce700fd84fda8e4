"""BSARD as published: Belgian law in French and citizens' questions, in CSV (Louis and Spanakis 2022)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Unpack

from indexes.corpus.card import CardOptions, with_options
from indexes.corpus.corpus import SYNTHETIC, Corpus
from indexes.formats.csv import rows
from indexes.formats.jsonl import Record, decode
from indexes.formats.validation import ImportReport, Inspection, SourceLocation
from indexes.sources.source import Source, assembled, card_of, chosen, first_file, published, published_counts
from indexes.sources.tags import NONE as NO_TAGS
from indexes.sources.tags import chosen_tags, tagged
from rag.errors import BadInput
from rag.types import Progress, no_progress

CARD = card_of("bsard")
PUBLISHED = published("bsard")
SPLITS = ("train", "test", SYNTHETIC)
HEADINGS = ("book", "part", "act", "chapter", "section", "subsection")
_USED = ("id", "article", "code", "article_no", "reference", "law_type", "description", *HEADINGS)
# Codes of a region, by the word in their title that tells, in French and in Dutch; ISO 3166-2.
_REGIONS = {
    "wallon": "BE-WAL",
    "waals": "BE-WAL",
    "bruxellois": "BE-BRU",
    "brussels": "BE-BRU",
    "flamand": "BE-VLG",
    "vlaams": "BE-VLG",
    "code de la démocratie locale et de la décentralisation": "BE-WAL",
    "wetboek van de plaatselijke democratie en de decentralisatie": "BE-WAL",
}
_ARTICLE = re.compile(r"\s*(?:art(?:icles?)?\b\.?)\s*", re.IGNORECASE)
TAGS = ("extra_description",)  # the situation of the asker
TAG_COLUMNS = ("category", "subcategory", *TAGS)


def load(
    path: Path,
    *,
    lenient: bool = False,
    progress: Progress = no_progress,
    splits: str = "train,test",
    tags: str = NO_TAGS,
    negatives: bool = False,
    **card: Unpack[CardOptions],
) -> tuple[Corpus, ImportReport]:
    """Load the folder of CSV files, with the names of today or those of 2021 (articles_fr.csv ...).

    Args:
        path: the folder.
        lenient: skip and count bad rows.
        progress: called with bytes read and bytes in all, for each file.
        splits: which questions, of train, test and synthetic, with commas; the ids of synthetic
            ones begin with "synthetic-", for they are numbered from 1 again.
        tags: true puts the situation of the asker ("I am a tenant in Brussels", extra_description) in
            front of the question; or the columns to put there, of category, subcategory and it.
        negatives: keep with each question, as the extra column "negatives", the articles that the
            published files of BM25's hard negatives list for it; the test questions have none.
        card: what the card shall say instead.
    """
    inspection = Inspection(lenient=lenient)
    file = _file(path, "articles")
    found = rows(file, inspection, required=("id", "article", "code"), progress=progress)
    articles = ((place, article_record(row)) for place, row in found)
    questions = _questions(path, splits, chosen_tags(tags, TAGS, TAG_COLUMNS), inspection)
    if negatives:
        questions = _with_negatives(path, questions)
    return assembled(with_options(CARD, card, CARD.name), articles, questions, inspection, file)


def classify_law(code: str, law_type: str = "") -> tuple[str, str | None]:
    """Return law type and region of a code: the published type if there is one, else by its title."""
    title = code.casefold()
    region = next((region for word, region in _REGIONS.items() if word in title), None)
    kind = law_type.strip().casefold() or ("regional" if region else "national")
    return kind, region if kind == "regional" else None


def article_number(reference: str, code: str) -> str:
    """Return the article number of a reference such as "Art. 1.1.1, Code ... (Livre 1er)"."""
    at = reference.casefold().find(code.casefold()) if code else -1
    numbered = reference[:at] if at > 0 else reference.partition(",")[0]
    return _ARTICLE.sub("", numbered, count=1).strip(" ,")


def parse_ids(value: object) -> list[str]:
    """Return the ids of "123,456", "[123, 456]", [123, 456] or 123, each once."""
    parts = value if isinstance(value, list) else str(value).strip("[] ").split(",")
    ids = (str(part).strip(" '\"") for part in parts)
    return list(dict.fromkeys(id_ for id_ in ids if id_))


def hard_negatives(path: Path, split: str) -> Mapping[str, list[str]]:
    """Return question id, as `load` has it -> ids of articles that BM25 finds and that do not answer.

    Args:
        path: the folder that `load` takes.
        split: train or synthetic.

    Raises:
        BadInput: the file is not there, or is not one JSON object of lists of ids.
    """
    name = f"bm25_negatives_{split}.json"
    file = first_file(path, (f"negatives/{name}", name), "Fetch the folder negatives, or import without them")
    try:
        found = json.loads(decode(file.read_bytes(), SourceLocation(file, 1), Inspection()) or "")
        json.dumps(found, ensure_ascii=False).encode()  # half a surrogate pair could not be written again
    except BadInput:
        raise
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{file}: not JSON ({error}). Fetch the file again.") from None
    listed = isinstance(found, dict) and all(isinstance(ids, list) for ids in found.values())
    if not listed or not all(isinstance(id_, int | str) for ids in found.values() for id_ in ids):
        raise BadInput(
            f'{file}: an object of lists of ids was expected. Give the file as published: {{"1": [2, 3]}}.'
        )
    return {_id(question, split): parse_ids(ids) for question, ids in found.items()}


def _with_negatives(
    folder: Path, questions: Iterator[tuple[SourceLocation, Record]]
) -> Iterator[tuple[SourceLocation, Record]]:
    known: dict[str, Mapping[str, list[str]]] = {}
    for place, record in questions:
        split = str(record["split"])
        if split != "test" and split not in known:
            known[split] = hard_negatives(folder, split)
        yield place, {**record, "negatives": known.get(split, {}).get(str(record["id"]), [])}


def _id(question: object, split: str) -> str:
    return f"{split}-{question}" if split == SYNTHETIC else str(question)


def _file(folder: Path, stem: str) -> Path:
    kind, split = stem.partition("_")[::2]
    of_2021 = f"{kind}_fr_{split}.csv" if split else f"{kind}_fr.csv"
    return first_file(folder, (f"{stem}.csv", of_2021), "Give the folder of CSV files")


def article_record(row: Record) -> Record:
    """Return a row of articles.csv as a record of the project's own keys."""
    values = {key: str(value).strip() for key, value in row.items()}
    code = values["code"]
    law_type, region = classify_law(code, values.get("law_type", ""))
    headings = [values[key] for key in HEADINGS if values.get(key)]
    if not headings and values.get("description"):
        headings = [values["description"]]  # the headings run together, as in the files of 2021
    return {
        **{key: value for key, value in values.items() if key not in _USED},
        "id": values["id"],
        "code": code,
        "article_no": values.get("article_no") or article_number(values.get("reference", ""), code),
        "text": values["article"],
        "headings": headings,
        "law_type": law_type,
        "region": region,
    }


def _questions(
    folder: Path, splits: str, tags: Sequence[str], inspection: Inspection
) -> Iterator[tuple[SourceLocation, Record]]:
    for split in chosen(splits, SPLITS):
        file = _file(folder, f"questions_{split}")
        for place, row in rows(file, inspection, required=("id", "question", "article_ids")):
            record = question_record(row, split, tags)
            yield place, {**record, "id": _id(record["id"], split)}


def question_record(row: Record, split: str, tags: Sequence[str] = ()) -> Record:
    """Return a row of questions as a record of the project's own keys.

    Args:
        row: of the CSV.
        split: to which it belongs.
        tags: columns that go in front of the question.
    """
    values = {key: str(value).strip() for key, value in row.items()}
    text = tagged(values, tags)
    return {**values, "question": text, "article_ids": parse_ids(values["article_ids"]), "split": split}


def _recognises(path: Path) -> bool:
    return any((path / name).is_file() for name in ("articles.csv", "articles_fr.csv")) and any(
        (path / name).is_file() for name in ("questions_test.csv", "questions_fr_test.csv")
    )


SOURCE = Source(
    "the folder of BSARD's CSV files", load, PUBLISHED, counts=published_counts, recognises=_recognises
)
