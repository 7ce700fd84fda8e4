"""bBSARD as published: Belgian law and citizens' questions in French and in Dutch (Lotfi et al. 2025)."""

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
from indexes.delimited import rows
from indexes.inspection import ImportReport, Inspection, Place
from indexes.jsonl import Progress, Record
from indexes.sources import bsard
from indexes.sources.source import Source
from rag.card import CorpusCard
from rag.errors import BadInput

_FRENCH = CorpusCard(
    name="bbsard-fr",
    title="Droit belge : codes fédéraux, wallons et bruxellois (bBSARD)",
    language="fr",
    jurisdiction="BE",
    licence="CC BY-NC-SA 4.0",
    licence_url="https://creativecommons.org/licenses/by-nc-sa/4.0/",
    source="bBSARD, CLiPS, University of Antwerp (2025), from BSARD, Maastricht Law & Tech Lab (2022)",
    official_site="https://www.ejustice.just.fgov.be",
    note="As published in 2025, for measuring: do not show it as the law in force.",
    contacts=bsard.CARD.contacts,
)
CARDS: Mapping[str, CorpusCard] = MappingProxyType(
    {
        "fr": _FRENCH,
        "nl": replace(
            _FRENCH,
            name="bbsard-nl",
            title="Belgisch recht: federale, Waalse en Brusselse wetboeken (bBSARD)",
            language="nl",
            note="As published in 2025, for measuring: do not show it as the law in force. The Dutch "
            "questions were translated from French by a language model.",
            contacts=(),  # those of the French part answer in French
        ),
    }
)
# The articles as its data card counts them; the questions are those of BSARD, translated.
PUBLISHED = {"articles": 22_417, "questions": 1_108, "questions (test)": 222, "questions (train)": 886}
SPLITS = ("train", "test")


def load(
    path: Path,
    *,
    lenient: bool = False,
    progress: Progress | None = None,
    splits: str = "train,test",
    extra_description: bool = False,
    **card: Unpack[CardOptions],
) -> tuple[Corpus, ImportReport]:
    """Load one language: the folder fr or nl, or the folder of both with the language given.

    Args:
        path: the folder.
        lenient: skip and count bad rows.
        progress: called with bytes read and bytes in all, for each file.
        splits: which questions, of train and test, with commas.
        extra_description: put the situation of the asker in front of the question.
        card: what the card shall say instead; its language chooses the folder.
    """
    folder, language = _folder(path, card.get("language"))
    inspection = Inspection(lenient=lenient)
    file = folder / "corpus.csv"
    found = rows(file, inspection, required=("id", "article"), progress=progress)
    articles = articles_.collect(((place, _article(row)) for place, row in found), inspection, file)
    asked = questions_.collect(_questions(folder, splits, extra_description, inspection), inspection)
    questions = questions_.resolve(asked, articles, inspection)
    made = with_options(CARDS[language], card, CARDS[language].name)
    corpus = gathered(made, articles, questions, inspection)
    return corpus, inspection.report(len(articles), len(questions))


def _folder(path: Path, language: str | None) -> tuple[Path, str]:
    """Return the folder of one language and the language."""
    here = (path / "corpus.csv").is_file()
    wanted = language or (path.resolve().name if here else None)
    if wanted is None or wanted not in CARDS:
        came = f"the language is {language!r}" if language else f"{path} does not tell the language"
        raise BadInput(f"{came}. Pass --language fr or --language nl.")
    folder = path if here else path / wanted
    if not (folder / "corpus.csv").is_file():
        raise BadInput(
            f"{folder}: no corpus.csv in it. Give the folder that holds fr and nl, or one of them."
        )
    return folder, wanted


def _article(row: Record) -> Record:
    """Read a row as BSARD's; where no column names the code, the reference does, behind its first comma."""
    code = str(row.get("code") or "").strip()
    if not code:
        code = str(row.get("reference") or row.get("description") or "").partition(",")[2].strip()
    return bsard.article_of({**row, "code": code})


def _questions(
    folder: Path, splits: str, extra_description: bool, inspection: Inspection
) -> Iterator[tuple[Place, Record]]:
    wanted = [split.strip() for split in splits.split(",") if split.strip()]
    unknown = [split for split in wanted if split not in SPLITS]
    if unknown:
        raise BadInput(f"no split {', '.join(unknown)}. Use some of: {', '.join(SPLITS)}.")
    for split in dict.fromkeys(wanted):
        file = folder / f"{split}.csv"
        for place, row in rows(file, inspection, required=("id", "question", "article_ids")):
            yield place, bsard.question_of(row, split, extra_description)


def _recognises(path: Path) -> bool:
    names = ("corpus.csv", "train.csv", "test.csv")
    return any(
        all((folder / name).is_file() for name in names) for folder in (path, path / "fr", path / "nl")
    )


SOURCE = Source("the folder of bBSARD, with --language fr or nl", load, PUBLISHED, recognises=_recognises)
