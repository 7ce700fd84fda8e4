"""`python -m training.eval --in-force-on`: only the law of that day is searched and measured."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from indexes.corpus.corpus import Corpus, write
from rag.errors import BadInput
from tests.fakes.ranking.benchmark import CORPUS
from training.eval.__main__ import main
from training.eval.questions import describe_day, filter_on

CHANGED = date(2010, 1, 1)
GONE = CORPUS.articles[0].id


def dated() -> Corpus:
    """The small benchmark, of which the first article is no longer in force and the others have begun."""
    first, *others = CORPUS.articles
    articles = (replace(first, valid_to=CHANGED), *(replace(a, valid_from=date(2000, 1, 1)) for a in others))
    return replace(CORPUS, articles=articles)


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PANDECT_HOME", str(tmp_path / "home"))


def test_what_is_not_in_force_is_not_searched(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    corpus = write(dated(), tmp_path / "corpus")
    typed = ["--corpus", str(corpus), "--systems", "bm25", "--output"]
    assert main([*typed, str(tmp_path / "all")]) == 0
    assert main([*typed, str(tmp_path / "now"), "--in-force-on", "2024-05-01"]) == 0
    said = capsys.readouterr().out
    lost = sum(GONE in question.article_ids for question in CORPUS.questions)
    assert lost
    assert f"law in force on 2024-05-01: 29 of 30 articles; {lost} questions have gold" in said
    entries = [json.loads((tmp_path / name / "metrics.json").read_text("utf-8")) for name in ("all", "now")]
    assert [entry.get("in_force_on") for entry in entries] == [None, "2024-05-01"]
    recall = [entry["systems"]["bm25"]["R@100"]["value"] for entry in entries]
    assert recall[1] < recall[0]


def test_a_corpus_without_dates_is_told_of(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(BadInput, match=r"has valid_from or valid_to: leave --in-force-on away"):
        filter_on(CORPUS, CHANGED)
    assert filter_on(CORPUS, None) is None
    assert describe_day(CORPUS, CORPUS.questions, CHANGED).endswith("30 of 30 articles")  # no gold is lost
    corpus = write(CORPUS, tmp_path / "corpus")
    assert main(["--corpus", str(corpus), "--systems", "bm25", "--in-force-on", "2024-05-01"]) == 2
    assert "--in-force-on" in capsys.readouterr().err
