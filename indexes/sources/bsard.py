"""BSARD as published: Belgian law in French and citizens' questions, in CSV (Louis and Spanakis 2022)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Unpack

from indexes import articles as articles_
from indexes import questions as questions_
from indexes.card import CardOptions, with_options
from indexes.corpus import Corpus, counts, gathered
from indexes.delimited import rows
from indexes.inspection import ImportReport, Inspection, Place
from indexes.jsonl import Progress, Record
from indexes.sources.source import Source
from rag.card import Contact, CorpusCard
from rag.errors import BadInput

CARD = CorpusCard(
    name="bsard",
    title="Droit belge : codes fédéraux, wallons et bruxellois",
    language="fr",
    jurisdiction="BE",
    licence="CC BY-NC-SA 4.0",
    licence_url="https://creativecommons.org/licenses/by-nc-sa/4.0/",
    source="BSARD, Maastricht Law & Tech Lab, with Droits Quotidiens (2022)",
    law_date=None,  # the data set does not give one day for all codes
    official_site="https://www.ejustice.just.fgov.be",
    note="As published in 2022, for measuring: do not show it as the law in force.",
    contacts=(
        Contact(name="Droits Quotidiens", url="https://www.droitsquotidiens.be"),
        Contact(
            name="Avocats.be",
            url="https://avocats.be",
            note="Bureaux d'aide juridique de première et de deuxième ligne.",
        ),
    ),
)
# Of the training and test questions; the synthetic ones are not counted.
PUBLISHED = {
    "articles": 22_633,
    "codes": 32,
    "questions": 1_108,
    "questions (test)": 222,
    "questions (train)": 886,
    "relevant articles": 1_612,
    "most articles of one question": 109,
}
SPLITS = ("train", "test", "synthetic")
HEADINGS = ("book", "part", "act", "chapter", "section", "subsection")
_USED = ("id", "article", "code", "article_no", "reference", "law_type", "description", *HEADINGS)
# Codes of a region, by the word in their title that tells; ISO 3166-2.
_REGIONS = {
    "wallon": "BE-WAL",
    "bruxellois": "BE-BRU",
    "flamand": "BE-VLG",
    "code de la démocratie locale et de la décentralisation": "BE-WAL",
}
_ARTICLE = re.compile(r"\s*(?:art(?:icles?)?\b\.?)\s*", re.IGNORECASE)
_SENTENCE_END = (".", "!", "?", ":", "…")


def load(
    path: Path,
    *,
    lenient: bool = False,
    progress: Progress | None = None,
    splits: str = "train,test",
    extra_description: bool = False,
    **card: Unpack[CardOptions],
) -> tuple[Corpus, ImportReport]:
    """Load the folder of CSV files, with the names of today or those of 2021 (articles_fr.csv ...).

    Args:
        path: the folder.
        lenient: skip and count bad rows.
        progress: called with bytes read and bytes in all, for each file.
        splits: which questions, of train, test and synthetic, with commas; the ids of synthetic
            ones begin with "synthetic-", for they are numbered from 1 again.
        extra_description: put the situation of the asker ("I am a tenant in Brussels") in front
            of the question.
        card: what the card shall say instead.
    """
    inspection = Inspection(lenient=lenient)
    file = _file(path, "articles")
    found = rows(file, inspection, required=("id", "article", "code"), progress=progress)
    articles = articles_.collect(((place, article_of(row)) for place, row in found), inspection, file)
    asked = questions_.collect(_questions(path, splits, extra_description, inspection), inspection)
    questions = questions_.resolve(asked, articles, inspection)
    made = with_options(CARD, card, CARD.name)
    corpus = gathered(made, articles, questions, inspection)
    return corpus, inspection.report(len(articles), len(questions))


def law_of(code: str, law_type: str = "") -> tuple[str, str | None]:
    """Return law type and region of a code: the published type if there is one, else by its title."""
    title = code.casefold()
    region = next((region for word, region in _REGIONS.items() if word in title), None)
    kind = law_type.strip().casefold() or ("regional" if region else "national")
    return kind, region if kind == "regional" else None


def number_of(reference: str, code: str) -> str:
    """Return the article number of a reference such as "Art. 1.1.1, Code ... (Livre 1er)"."""
    at = reference.casefold().find(code.casefold()) if code else -1
    numbered = reference[:at] if at > 0 else reference.partition(",")[0]
    return _ARTICLE.sub("", numbered, count=1).strip(" ,")


def ids_of(value: object) -> list[str]:
    """Return the ids of "123,456", "[123, 456]", [123, 456] or 123, each once."""
    parts = value if isinstance(value, list) else str(value).strip("[] ").split(",")
    ids = (str(part).strip(" '\"") for part in parts)
    return list(dict.fromkeys(id_ for id_ in ids if id_))


def found_counts(corpus: Corpus) -> dict[str, int]:
    """Count as the paper does, without the synthetic questions."""
    asked = tuple(question for question in corpus.questions if question.split != "synthetic")
    return counts(replace(corpus, questions=asked))


def _file(folder: Path, stem: str) -> Path:
    today, of_2021 = folder / f"{stem}.csv", folder / f"{stem.replace('_', '_fr_', 1)}.csv"
    of_2021 = of_2021 if "_" in stem else folder / f"{stem}_fr.csv"
    for file in (today, of_2021):
        if file.is_file():
            return file
    raise BadInput(f"{folder}: no {today.name} and no {of_2021.name} in it. Give the folder of CSV files.")


def article_of(row: Record) -> Record:
    """Return a row of articles.csv as a record of the project's own keys."""
    values = {key: str(value).strip() for key, value in row.items()}
    code = values["code"]
    law_type, region = law_of(code, values.get("law_type", ""))
    headings = [values[key] for key in HEADINGS if values.get(key)]
    if not headings and values.get("description"):
        headings = [values["description"]]  # the headings run together, as in the files of 2021
    return {
        **{key: value for key, value in values.items() if key not in _USED},
        "id": values["id"],
        "code": code,
        "article_no": values.get("article_no") or number_of(values.get("reference", ""), code),
        "text": values["article"],
        "headings": headings,
        "law_type": law_type,
        "region": region,
    }


def _questions(
    folder: Path, splits: str, extra_description: bool, inspection: Inspection
) -> Iterator[tuple[Place, Record]]:
    wanted = [split.strip() for split in splits.split(",") if split.strip()]
    unknown = [split for split in wanted if split not in SPLITS]
    if unknown:
        raise BadInput(f"no split {', '.join(unknown)}. Use some of: {', '.join(SPLITS)}.")
    for split in wanted:
        file = _file(folder, f"questions_{split}")
        for place, row in rows(file, inspection, required=("id", "question", "article_ids")):
            record = question_of(row, split, extra_description)
            yield place, {**record, "id": f"{split}-{record['id']}"} if split == "synthetic" else record


def question_of(row: Record, split: str, extra_description: bool) -> Record:
    """Return a row of questions as a record of the project's own keys.

    Args:
        row: of the CSV.
        split: to which it belongs.
        extra_description: put the situation of the asker in front of the question.
    """
    values = {key: str(value).strip() for key, value in row.items()}
    asked = values["question"]
    situation = values.pop("extra_description", "") if extra_description else ""
    if situation and asked:
        asked = f"{situation}{'' if situation.endswith(_SENTENCE_END) else '.'} {asked}"
    return {**values, "question": asked, "article_ids": ids_of(values["article_ids"]), "split": split}


def _recognises(path: Path) -> bool:
    return any((path / name).is_file() for name in ("articles.csv", "articles_fr.csv")) and any(
        (path / name).is_file() for name in ("questions_test.csv", "questions_fr_test.csv")
    )


SOURCE = Source(
    "the folder of BSARD's CSV files", load, PUBLISHED, counts=found_counts, recognises=_recognises
)
