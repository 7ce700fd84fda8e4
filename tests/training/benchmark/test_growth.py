"""The law that is made larger, and what is said of an index of it; how long it took is no test's business."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from indexes.corpus.corpus import read, write
from rag.text.analysers import analyser
from tests.fakes.ranking.benchmark import CORPUS
from training.benchmark import __main__ as benchmark
from training.benchmark.growth import Growth, grown
from training.benchmark.growth import write as write_grown

CUT = analyser("fr")
KEPT = Growth(
    1_000_000,
    10**9,
    900,
    10**9,
    1.0,
    3.0,
    400.0,
    (40.0, 80.0, 120.0),
    (30.0, 40.0, 50.0),
    (45.0, 130.0, 240.0),
    10**9,
    1,
)


def test_more_law_is_the_law_and_then_others_of_its_words() -> None:
    made = list(grown(CORPUS.articles, 70, CUT, seed=1))
    assert made[:30] == list(CORPUS.articles)
    assert len({article.id for article in made}) == 70
    assert {article.code for article in made} == {"Code civil", "Code civil 2", "Code civil 3"}
    words = {word for article in CORPUS.articles for word in article.text.split()}
    assert {word for article in made for word in article.text.split()} <= words
    texts = {article.id: article.text for article in CORPUS.articles}
    assert any(article.text != texts[article.id.partition("-")[0]] for article in made[30:])


def test_the_seed_decides_and_fewer_are_drawn() -> None:
    assert list(grown(CORPUS.articles, 70, CUT, 1)) == list(grown(CORPUS.articles, 70, CUT, 1))
    assert list(grown(CORPUS.articles, 70, CUT, 1)) != list(grown(CORPUS.articles, 70, CUT, 2))
    few = list(grown(CORPUS.articles, 7, CUT, 1))
    assert [a for a in CORPUS.articles if a in few] == few


def test_it_is_a_corpus_with_the_questions_that_it_answers(tmp_path: Path) -> None:
    asked = write_grown(CORPUS, 7, tmp_path / "law", seed=1)
    made = read(tmp_path / "law")
    assert len(made.articles) == 7
    ids = {article.id for article in made.articles}
    answered = [q for q in CORPUS.questions if q.article_ids and ids.issuperset(q.article_ids)]
    assert list(made.questions) == answered
    assert sorted(asked) == sorted(q.text for q in CORPUS.questions)


@pytest.mark.slow  # two indexes, each opened by two processes
def test_what_it_says_of_a_small_index(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(CORPUS, tmp_path / "law")
    file = tmp_path / "growth.json"
    assert (
        benchmark.main(["--growth", str(tmp_path / "law"), "--sizes", "7", "70", "--output", str(file)]) == 0
    )
    assert capsys.readouterr().out.count("\n| ") == 2
    sizes = json.loads(file.read_text(encoding="utf-8"))["sizes"]
    assert [each["articles"] for each in sizes] == [7, 70]
    assert all(each["peak"] > each["anonymous"] > 0 and each["new_ms"][0] > 0 for each in sizes)


def test_a_size_that_cannot_be(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert benchmark.main(["--growth", str(tmp_path), "--sizes", "0"]) == 2
    assert "--sizes 0: give numbers of articles of 1 or more" in capsys.readouterr().err


def test_what_a_million_articles_must_keep_to() -> None:
    assert KEPT.missed() == []
    assert replace(KEPT, open_seconds=2.5).missed() == ["opened in 2.5 s, not 2"]
    assert replace(KEPT, new_ms=(40.0, 130.0, 200.0)).missed() == ["95 of 100 answered in 130 ms, not 100"]
    assert replace(KEPT, peak=3 * 10**9).missed() == ["3.0 GB of memory, not 2"]
    assert replace(KEPT, articles=100_000, open_seconds=9.0).missed() == []
