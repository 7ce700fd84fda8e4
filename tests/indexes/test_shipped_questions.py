"""The questions that ship go to whoever imports the official law that they are about, and to nobody else."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from indexes.__main__ import main
from indexes.corpus.corpus import SYNTHETIC, Corpus, read
from indexes.shipped_questions import shipped, with_shipped_questions
from indexes.sources import registry
from indexes.store import paths
from rag.corpus.card import CorpusCard
from rag.types import Article, Question

CARD = CorpusCard(name="essai", title="Essai", language="fr", jurisdiction="FR")
LAW = (
    Article("a", "Code civil", "671", "Les arbres se plantent à distance."),
    Article("b", "Code civil", "1240", "Qui cause un tort le répare."),
    Article("c", "Code du vent", "671", "Rien."),
)


@pytest.mark.slow
def test_questions_follow_the_number_of_the_article_whatever_its_id() -> None:
    made = with_shipped_questions(Corpus(CARD, LAW, (Question("mine", "Et moi ?", ("b",)),)))
    assert made.questions[0].id == "mine"
    cited = {article for question in made.questions for article in question.article_ids}
    assert cited == {"a", "b"}, "both articles of the Code civil, not the one of another code"
    assert len(made.questions) > 3
    assert made.sha256 == Corpus(CARD, LAW).sha256, "the law is the same law"


@pytest.mark.parametrize("card", [replace(CARD, jurisdiction="BE"), replace(CARD, jurisdiction="")])
def test_another_country_has_a_code_civil_of_its_own(card: CorpusCard) -> None:
    corpus = Corpus(card, LAW)
    assert with_shipped_questions(corpus) is corpus


def test_a_question_of_the_corpus_keeps_its_id() -> None:
    shipped = with_shipped_questions(Corpus(CARD, LAW)).questions[0]
    own = replace(shipped, text="Autre question ?")
    again = with_shipped_questions(Corpus(CARD, LAW, (own,)))
    assert [q.text for q in again.questions if q.id == own.id] == ["Autre question ?"]


def test_import_attaches_them_and_says_so_unless_told_not_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PANDECT_HOME", str(tmp_path / "home"))
    line = '{"id": "1", "code": "Code civil", "article_no": "671", "text": "Arbres et distances."}\n'
    (tmp_path / "articles.jsonl").write_text(line, encoding="utf-8")
    typed = ["import", str(tmp_path / "articles.jsonl"), "--language", "fr", "--jurisdiction", "FR"]
    assert main([*typed, "--name", "avec"]) == 0
    assert "shipped questions attached" in capsys.readouterr().out
    assert main([*typed, "--name", "sans", "--no-shipped-questions"]) == 0
    assert "shipped questions attached" not in capsys.readouterr().out


def test_chinese_national_law_gets_what_was_written_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PANDECT_HOME", str(tmp_path / "home"))
    line = {"id": "x", "code": "中华人民共和国民法典", "article_no": "第一千零七十九条", "text": "离婚。"}
    (tmp_path / "articles.jsonl").write_text(json.dumps(line, ensure_ascii=False) + "\n", encoding="utf-8")
    typed = ["import", str(tmp_path / "articles.jsonl"), "--language", "zh", "--name"]
    assert main([*typed, "cn", "--jurisdiction", "CN"]) == 0
    assert "shipped questions attached" in capsys.readouterr().out
    questions = read(paths.corpus_folder("cn")).questions
    assert questions
    assert {q.article_ids for q in questions} == {("x",)}
    assert {q.split for q in questions} == {SYNTHETIC}
    assert main([*typed, "tw", "--jurisdiction", "TW"]) == 0
    assert "shipped questions attached" not in capsys.readouterr().out


@pytest.mark.parametrize("origin", ["stard", "stard-original"])
def test_a_benchmark_stays_as_it_was_published_wherever_it_was_read_from(origin: str) -> None:
    law = (Article("x", "中华人民共和国民法典", "第一千零七十九条", "离婚。"),)
    card = CorpusCard(name="cn", title="", language="zh", jurisdiction="CN")
    assert with_shipped_questions(Corpus(card, law)).questions
    benchmark = Corpus(replace(card, origin=origin), law)
    assert with_shipped_questions(benchmark) is benchmark


@pytest.mark.slow
@pytest.mark.data
def test_a_published_data_set_stays_as_it_was_published(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PANDECT_HOME", str(tmp_path / "home"))
    assert main(["import", str(data / "stard"), "--from", "stard", "--name", "stard"]) == 0
    assert "shipped questions attached" not in capsys.readouterr().out
    assert len(read(paths.corpus_folder("stard")).questions) == 1235


@pytest.mark.slow
@pytest.mark.data
def test_the_official_code_civil_gets_every_one_of_its_own(data: Path) -> None:
    corpus, _ = registry.load("fr", data / "fr")
    there = {(article.code, article.article_no) for article in corpus.articles}
    ships = [q for q in shipped() if there.intersection(q.cites)]
    assert len(with_shipped_questions(corpus).questions) - len(corpus.questions) == len(ships) > 14_000
