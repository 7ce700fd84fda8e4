"""BSARD's CSV files, in small: today's columns and those of 2021, all three spellings of article_ids."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from indexes.sources import bsard
from indexes.sources.registry import SOURCES, detect, load
from rag.errors import BadInput

ARTICLES = [
    [
        "id",
        "reference",
        "article",
        "description",
        "law_type",
        "code",
        "book",
        "part",
        "act",
        "chapter",
        "section",
        "subsection",
    ],
    [
        "1",
        "Art. 12, Code du Four (Livre II)",
        'Le four est "commun",\ndit le village.',
        "Livre II, Du four",
        "national",
        "Code du Four",
        "Livre II : Du four",
        "",
        "",
        "Chapitre 1",
        "",
        "",
    ],
    [
        "2",
        "Art. 1.1.1, Code Wallon du Four (Livre 1er)",
        "Un four par commune.",
        "",
        "regional",
        "Code Wallon du Four",
        "",
        "",
        "",
        "",
        "",
        "",
    ],
    [
        "3",
        "Article 3bis, Code Bruxellois du Pain",
        "Le pain est pesé.",
        "Du pain",
        "regional",
        "Code Bruxellois du Pain",
        "",
        "",
        "",
        "",
        "",
        "",
    ],
]
HEADER = ["id", "category", "subcategory", "question", "extra_description", "article_ids"]
TRAIN = [
    ["1", "Logement", "Four", "Puis-je utiliser le four ?", "Je suis locataire", "1,2,1"],
    ["2", "Argent", "", "Qui pèse le pain ?", "", "[3]"],
]
TEST = [["3", "Argent", "", "Et le dimanche ?", "", "3"]]
SYNTHETIC = [["1", "", "", "Combien de fours ?", "", "2"]]


def table(path: Path, rows: Sequence[Sequence[str]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    table(tmp_path / "articles.csv", ARTICLES)
    for split, asked in (("train", TRAIN), ("test", TEST), ("synthetic", SYNTHETIC)):
        table(tmp_path / f"questions_{split}.csv", [HEADER, *asked])
    return tmp_path


def test_todays_files(folder: Path) -> None:
    assert detect(folder) == "bsard"
    corpus, report = load("bsard", folder)
    oven, walloon, bread = corpus.articles
    assert (oven.id, oven.code, oven.article_no) == ("1", "Code du Four", "12")
    assert oven.text == 'Le four est "commun",\ndit le village.'
    assert oven.headings == ("Livre II : Du four", "Chapitre 1")
    assert (oven.law_type, oven.region) == ("national", None)
    assert (walloon.article_no, walloon.law_type, walloon.region) == ("1.1.1", "regional", "BE-WAL")
    assert (bread.article_no, bread.headings, bread.region) == ("3bis", ("Du pain",), "BE-BRU")
    assert [(q.id, q.split, q.article_ids) for q in corpus.questions] == [
        ("1", "train", ("1", "2")),  # the id that came twice counts once
        ("2", "train", ("3",)),
        ("3", "test", ("3",)),
    ]
    assert corpus.questions[0].category == "Logement"
    assert corpus.questions[0].text == "Puis-je utiliser le four ?"
    assert report.extra_columns == {"extra_description": 1, "subcategory": 1}


def test_the_situation_goes_in_front_when_asked(folder: Path) -> None:
    corpus, _ = load("bsard", folder, tags="true")
    texts = [question.text for question in corpus.questions]
    assert texts == [
        "Je suis locataire. Puis-je utiliser le four ?",
        "Qui pèse le pain ?",
        "Et le dimanche ?",
    ]


def test_synthetic_questions_keep_apart(folder: Path) -> None:
    corpus, _ = load("bsard", folder, splits="test, synthetic")
    assert [(q.id, q.split) for q in corpus.questions] == [("3", "test"), ("synthetic-1", "synthetic")]
    found = SOURCES["bsard"].counts(corpus)
    assert (found["questions"], found["relevant articles"], found["questions (synthetic)"]) == (1, 1, 1)
    with pytest.raises(BadInput, match=r"no split dev\. Use some of: train, test, synthetic"):
        load("bsard", folder, splits="dev")


def test_hard_negatives_are_kept_when_asked(folder: Path) -> None:
    (folder / "negatives").mkdir()
    (folder / "negatives" / "bm25_negatives_train.json").write_text('{"1": [3], "2": "12"}', "utf-8")
    with pytest.raises(BadInput, match=r"bm25_negatives_train\.json: an object of lists of ids was expected"):
        load("bsard", folder, negatives=True)
    (folder / "negatives" / "bm25_negatives_train.json").write_text('{"1": [3, 2], "9": [1]}', "utf-8")
    corpus, _ = load("bsard", folder, negatives="true")
    assert corpus.question_extras["1"]["negatives"] == ["3", "2"]
    assert all("negatives" not in corpus.question_extras.get(id_, {}) for id_ in ("2", "3"))
    assert "negatives" not in load("bsard", folder)[0].question_extras["1"]
    with pytest.raises(BadInput, match=r"no negatives/bm25_negatives_synthetic\.json .*Fetch the folder"):
        load("bsard", folder, splits="synthetic", negatives=True)
    (folder / "negatives" / "bm25_negatives_synthetic.json").write_text(json.dumps({"1": [1]}), "utf-8")
    corpus, _ = load("bsard", folder, splits="test,synthetic", negatives=True)
    assert corpus.question_extras["synthetic-1"]["negatives"] == ["1"]


@pytest.mark.parametrize(
    "content", [b"{", b"[" * 100_000, b"\xff", b"[1]", b"null", b'{"1": [[2]]}', b'{"1": ["\\ud800"]}']
)
def test_negatives_that_are_none(folder: Path, content: bytes) -> None:
    (folder / "bm25_negatives_train.json").write_bytes(content)
    with pytest.raises(BadInput, match=r"bm25_negatives_train\.json"):
        bsard.hard_negatives(folder, "train")


def test_files_of_2021(tmp_path: Path) -> None:
    table(
        tmp_path / "articles_fr.csv",
        [
            ["id", "article", "code", "article_no", "description", "law_type"],
            ["1", "Le four est commun.", "Code du Four", "12", "Livre II, Du four", "national"],
        ],
    )
    for split in ("train", "test"):
        table(tmp_path / f"questions_fr_{split}.csv", [HEADER, [split, "", "", "Le four ?", "", "1"]])
    assert detect(tmp_path) == "bsard"
    corpus, _ = load("bsard", tmp_path)
    [article] = corpus.articles
    assert (article.article_no, article.headings) == ("12", ("Livre II, Du four",))
    assert [question.split for question in corpus.questions] == ["train", "test"]


@pytest.mark.parametrize(
    ("value", "ids"),
    [
        ("123,456", ["123", "456"]),
        ("[123, 456]", ["123", "456"]),
        ("['1', '2']", ["1", "2"]),
        (7, ["7"]),
        ([7, "8", 7], ["7", "8"]),
        ("", []),
        ("5,5", ["5"]),
    ],
)
def test_article_ids_in_every_spelling(value: object, ids: list[str]) -> None:
    assert bsard.parse_ids(value) == ids


@pytest.mark.parametrize(
    ("code", "published", "law"),
    [
        ("Code Civil", "", ("national", None)),
        ("Code de la Fonction Publique Wallonne", "", ("regional", "BE-WAL")),
        ("Code Bruxellois du Logement", "", ("regional", "BE-BRU")),
        ("Code de la Démocratie Locale et de la Décentralisation", "regional", ("regional", "BE-WAL")),
        ("Code Forestier", "regional", ("regional", None)),
        ("Code Wallon du Four", "national", ("national", None)),  # what was published counts
    ],
)
def test_law_type_and_region(code: str, published: str, law: tuple[str, str | None]) -> None:
    assert bsard.classify_law(code, published) == law


def test_published_counts_stand_beside_those_found(folder: Path) -> None:
    source = SOURCES["bsard"]
    corpus, _ = load("bsard", folder)
    found = source.counts(corpus)
    assert set(source.published) <= set(found)
    assert (found["questions (train)"], source.published["questions (train)"]) == (2, 886)
    assert source.published["questions"] == 886 + 222


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda rows: [[*rows[0][:2], "texte", *rows[0][3:]], *rows[1:]],
            r"articles\.csv:1: no column article; the columns are: id, reference, texte.*Rename the column",
        ),
        (
            lambda rows: [*rows, rows[1]],
            r"articles\.csv:6: id '1' was already used at line 2\. Give every article",
        ),
        (
            lambda rows: [*rows, ["9", "x"]],
            r"articles\.csv:6: 2 values came for 12 columns\. Quote the values",
        ),
        (
            lambda rows: [*rows, ["9", "", " ", "", "", "Code", *[""] * 6]],
            r"articles\.csv:6: the text is empty",
        ),
    ],
)
def test_bad_articles(folder: Path, change: object, message: str) -> None:
    table(folder / "articles.csv", change(ARTICLES))  # type: ignore[operator]
    with pytest.raises(BadInput, match=message):
        load("bsard", folder)


def test_a_gold_article_that_is_not_there(folder: Path) -> None:
    table(folder / "questions_test.csv", [HEADER, *TEST, ["4", "", "", "Et le lundi ?", "", "3,99"]])
    with pytest.raises(BadInput, match=r"questions_test\.csv:3: question '4' cites article '99'"):
        load("bsard", folder)
    corpus, report = load("bsard", folder, lenient=True)
    assert corpus.questions[-1] == replace(corpus.questions[-1], id="4", article_ids=("3",))
    assert [skipped.count for skipped in report.skipped] == [1]


def test_missing_files(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"no articles\.csv and no articles_fr\.csv in it\. Give the folder"):
        load("bsard", tmp_path)
    table(tmp_path / "articles.csv", ARTICLES)
    with pytest.raises(BadInput, match=r"no questions_train\.csv and no questions_fr_train\.csv in it"):
        load("bsard", tmp_path)
