"""The law that the benchmark changes: a share of it, drawn by seed, and still a corpus."""

from __future__ import annotations

from tests.fakes.ranking.benchmark import CORPUS
from training.benchmark.update import change, counts


def test_a_third_each_is_changed_removed_and_added() -> None:
    new = change(CORPUS, 0.3, seed=1)
    was = {article.id: article for article in CORPUS.articles}
    now = {article.id: article for article in new.articles}
    assert len(was.keys() - now.keys()) == 3
    assert len(now.keys() - was.keys()) == 3
    assert sum(was[id_].text != now[id_].text for id_ in was.keys() & now.keys()) == 3
    gone = was.keys() - now.keys()
    assert not any(gone & set(question.article_ids) for question in new.questions)
    assert [q.id for q in new.questions] == [q.id for q in CORPUS.questions]


def test_the_seed_decides() -> None:
    assert change(CORPUS, 0.1, seed=1) == change(CORPUS, 0.1, seed=1)
    assert change(CORPUS, 0.1, seed=1) != change(CORPUS, 0.1, seed=2)
    assert change(CORPUS, 0.0, seed=1) != CORPUS  # one of each at least
    assert change(CORPUS, 1.0, seed=1).articles


def test_what_an_upload_said_is_read() -> None:
    said = "law: 366 articles written, 55,131 there already, 185 removed\nlaw: version 2.3 is in use at place"
    assert counts(said) == [366, 55131, 185]
