"""bBSARD's two languages, in small."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

import pytest

from indexes.sources.registry import detect, load
from rag.errors import BadInput

HEADER = ["id", "category", "subcategory", "question", "extra_description", "article_ids"]


def table(path: Path, rows: Sequence[Sequence[str]]) -> None:
    path.parent.mkdir(exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for language, code, text, asked in (
        ("fr", "Code Wallon du Four", "Le four est commun.", "Qui garde le four ?"),
        ("nl", "Waals Ovenwetboek", "De oven is van allen.", "Wie houdt de oven?"),
    ):
        part = tmp_path / language
        table(
            part / "corpus.csv",
            [["id", "reference", "article", "law_type"], ["5", f"Art. 12, {code}", text, "regional"]],
        )
        table(part / "train.csv", [HEADER, ["1", "Logement", "", asked, "Locataire", "5"]])
        table(part / "test.csv", [HEADER, ["2", "Logement", "", f"{asked} 2", "", "[5]"]])
    return tmp_path


def test_each_language_is_a_corpus(folder: Path) -> None:
    assert detect(folder) == detect(folder / "nl") == "bbsard"
    french, _ = load("bbsard", folder, language="fr")
    dutch, _ = load("bbsard", folder / "nl")
    assert (french.card.name, french.card.language) == ("bbsard-fr", "fr")
    assert (dutch.card.name, dutch.card.language) == ("bbsard-nl", "nl")
    [article] = dutch.articles
    assert (article.id, article.code, article.article_no) == ("5", "Waals Ovenwetboek", "12")
    assert (article.text, article.law_type) == ("De oven is van allen.", "regional")
    assert article.region == french.articles[0].region == "BE-WAL"  # whatever the language of the title
    assert [(q.id, q.split, q.article_ids) for q in dutch.questions] == [
        ("1", "train", ("5",)),
        ("2", "test", ("5",)),
    ]
    assert french.questions[0].text == "Qui garde le four ?"


def test_the_situation_goes_in_front_when_asked(folder: Path) -> None:
    corpus, _ = load("bbsard", folder, language="fr", tags="true", splits="train")
    assert [q.text for q in corpus.questions] == ["Locataire. Qui garde le four ?"]


@pytest.mark.parametrize(("language", "told"), [(None, "does not tell the language"), ("de", "is 'de'")])
def test_the_language_must_be_one_of_two(folder: Path, language: str | None, told: str) -> None:
    with pytest.raises(BadInput, match=rf"{told}.*--language fr or --language nl"):
        load("bbsard", folder, language=language)
