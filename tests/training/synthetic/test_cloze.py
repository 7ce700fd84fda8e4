"""Sentences and headings of the law in the place of questions."""

from __future__ import annotations

from pathlib import Path

import pytest

from indexes.corpus.corpus import write
from indexes.corpus.questions import read_questions
from rag.types import Article
from tests.fakes.ranking.benchmark import ARTICLES, CORPUS
from training.synthetic.__main__ import main
from training.synthetic.cloze import cloze

LAW = [
    Article(
        f"a{n}", "Code", str(n), f"Première phrase {n}. Court. La seconde phrase du {n}.", ("Du bail entier",)
    )
    for n in range(40)
]


def test_each_is_a_sentence_or_the_last_heading_of_its_article() -> None:
    found = cloze(LAW, 40, seed=1)
    by_id = {article.id: article for article in LAW}
    assert len({q.article_ids for q in found}) == len(found) == 40
    headings = [q for q in found if q.text == "Du bail entier"]
    assert len(headings) == 10
    for question in found:
        article = by_id[question.article_ids[0]]
        assert question.text in (article.text, *article.headings) or question.text in article.text
        assert len(question.text) >= 8
        assert question.split == "synthetic"
    assert cloze(LAW, 40, seed=1) == found
    assert cloze(LAW, 40, seed=2) != found
    assert len(cloze(LAW, 5)) == 5
    assert cloze([Article("s", "Code", "1", "Kurz. So.")], 5) == []


def test_the_command_writes_what_trainings_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    law, file = write(CORPUS, tmp_path / "law"), tmp_path / "cloze.jsonl"
    assert main(["cloze", "--corpus", str(law), "--count", "7", "--output", str(file)]) == 0
    assert "7 questions of 30 articles" in capsys.readouterr().out
    assert len(read_questions(file, ARTICLES)) == 7
    assert main(["cloze", "--corpus", str(law), "--output", str(file)]) == 2
    assert "is there already" in capsys.readouterr().err
    assert main(["cloze", "--corpus", str(law), "--count", "0", "--output", str(tmp_path / "x")]) == 2
    assert "give 1 or more" in capsys.readouterr().err
