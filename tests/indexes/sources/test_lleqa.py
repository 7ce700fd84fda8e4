"""LLeQA's JSON files, in small: arrays and JSON Lines, both names of the dev split."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from indexes.sources.registry import detect, load
from rag.errors import BadInput

ARTICLES: list[dict[str, Any]] = [
    {
        "id": 7,
        "article": "Le four est commun.\nNul ne le garde plus d'une heure.",
        "description": "Livre II, Du four",
        "authority": "Village",
        "reference": "Art. 12, Code du Four (Livre II)",
        "code": "Code du Four",
        "article_no": "12",
        "book": "Livre II : Du four",
        "part": None,
        "act": None,
        "chapter": "Chapitre 1",
        "section": None,
        "subsection": None,
        "paragraphs": {"1": "Le four est commun.", "2": "Nul ne le garde plus d'une heure."},
    },
    {
        "id": 8,
        "description": "Du pain",
        "authority": "Région",
        "reference": "Art. 3bis, Code Wallon du Pain",
        "code": "Code Wallon du Pain",
        "paragraphs": {"1": "Le pain est pesé.", "2": "Le poids est affiché."},
    },
]
ASKED: dict[str, Any] = {
    "id": 1,
    "question": "Combien de temps puis-je garder le four ?",
    "answer": "Une heure au plus.",
    "regions": ["Wallonie"],
    "topics": ["Logement", "Four"],
    "article_ids": [7, 8, 7],
    "paragraph_ids": ["7§2"],
}


def folder(at: Path, dev: str = "dev", *, as_lines: bool = False) -> Path:
    def write(name: str, records: list[dict[str, Any]]) -> None:
        text = "\n".join(map(json.dumps, records)) if as_lines else json.dumps(records, indent=2)
        (at / name).write_text(text, encoding="utf-8")

    write("articles.json", ARTICLES)
    write("questions_train.json", [ASKED])
    write(f"questions_{dev}.json", [{**ASKED, "id": 2, "article_ids": [8]}])
    write("questions_test.json", [{**ASKED, "id": 3, "article_ids": "8", "topics": []}])
    return at


@pytest.mark.parametrize("as_lines", [False, True])
@pytest.mark.parametrize("dev", ["dev", "validation"])
def test_articles_and_questions(tmp_path: Path, dev: str, as_lines: bool) -> None:
    path = folder(tmp_path, dev, as_lines=as_lines)
    assert detect(path) == "lleqa"
    corpus, report = load("lleqa", path)
    oven, bread = corpus.articles
    assert (oven.id, oven.code, oven.article_no) == ("7", "Code du Four", "12")
    assert oven.headings == ("Livre II : Du four", "Chapitre 1")
    assert (bread.text, bread.article_no) == ("Le pain est pesé.\nLe poids est affiché.", "3bis")
    assert (bread.headings, bread.law_type, bread.region) == (("Du pain",), "regional", "BE-WAL")
    train, _, test = corpus.questions
    assert (train.article_ids, train.answer, train.category) == (("7", "8"), "Une heure au plus.", "Logement")
    assert [q.split for q in corpus.questions] == ["train", "validation", "test"]
    assert (test.article_ids, test.category) == (("8",), None)
    assert corpus.question_extras["1"]["paragraph_ids"] == ["7§2"]
    assert corpus.extras["8"]["paragraphs"] == {"1": "Le pain est pesé.", "2": "Le poids est affiché."}
    assert (report.articles, report.questions, report.skipped) == (2, 3, ())


def test_splits(tmp_path: Path) -> None:
    corpus, _ = load("lleqa", folder(tmp_path), splits="dev")
    assert [q.id for q in corpus.questions] == ["2"]
    with pytest.raises(BadInput, match=r"no split tes\. Use some of: train, validation, test"):
        load("lleqa", tmp_path, splits="tes")


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    (folder(tmp_path) / "questions_test.json").unlink()
    with pytest.raises(BadInput, match=r"no questions_test\.json and no questions_test\.jsonl in it"):
        load("lleqa", tmp_path)
