"""Choosing settings on training questions."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import pytest

from indexes.build.fit_settings import FitSettings
from indexes.corpus.corpus import Corpus, write
from rag.errors import BadInput
from rag.retrieval.bm25 import BM25Settings
from rag.types import Article, Question
from tests.fakes.ranking.benchmark import (
    CORPUS,
    QUESTIONS,
    articles_as_records,
    questions_as_records,
    write_lines,
)
from training.eval.context import BenchSettings
from training.eval.workbench import Bench
from training.fusion.bm25_tuning import GRID, choose, main

SMALL = FitSettings(dim=8, passes=1, question_passes=1, random_negatives=4)

# what is asked stands in the headings; the texts hold the same words for other articles, twice
MISLED = Corpus(
    CORPUS.card,
    tuple(
        Article(f"a{n}", "Code", str(n), f"sujet{chr(97 + (n + 1) % 12)} " * 2, (f"sujet{chr(97 + n)}",))
        for n in range(12)
    ),
    tuple(Question(f"q{n}", f"sujet{chr(97 + n)}", (f"a{n}",)) for n in range(12)),
)  # fmt: skip


def test_it_finds_the_field_that_answers() -> None:
    told: list[tuple[str, int, int]] = []
    chosen = choose(Bench(MISLED, fit=SMALL), MISLED.questions, progress=lambda *step: told.append(step))
    assert chosen.bm25.weights["headings"] > chosen.bm25.weights["text"]
    steps = [(done, total) for what, done, total in told if what == "tuning BM25"]
    assert steps[-1][0] == steps[-1][1] == len(steps)
    assert chosen.damping in GRID["damping"]


def test_what_is_best_already_stays() -> None:
    """Nothing is gained by change where every answer is right: the defaults are kept."""
    easy = Corpus(
        CORPUS.card, tuple(Article(f"a{n}", "Code", str(n), f"sujet{chr(97 + n)}") for n in range(12))
    )
    chosen = choose(Bench(easy, fit=SMALL), MISLED.questions)
    assert chosen == BenchSettings(method="min-max", bridged=True)  # what is tuned answers as an index does


def test_other_questions_to_learn_from_leave_all_to_tune_on() -> None:
    chosen = choose(Bench(MISLED, fit=SMALL), MISLED.questions, annotated=QUESTIONS[:3])
    assert chosen.bm25.weights["headings"] > 1


def test_too_few_questions() -> None:
    with pytest.raises(BadInput, match="at least 10"):
        choose(Bench(CORPUS), QUESTIONS[:9])


def test_the_command_writes_what_the_build_reads(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = write(MISLED, tmp_path / "corpus")
    asked = write_lines(tmp_path / "train.jsonl", questions_as_records(MISLED.questions))
    output = tmp_path / "tuned.json"
    assert main(["--corpus", str(folder), "--questions", str(asked), "--output", str(output)]) == 0
    written = json.loads(output.read_text(encoding="utf-8"))
    assert asdict(BM25Settings(**written["bm25"])) == written["bm25"]
    assert isinstance(written["analyser"]["stop_words"], bool)
    assert f"--bm25 {output}" in capsys.readouterr().out


def test_errors_say_what_to_type(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    law = write_lines(tmp_path / "articles.jsonl", articles_as_records())
    asked = write_lines(tmp_path / "train.jsonl", questions_as_records(QUESTIONS[:4]))
    rest = ["--questions", str(asked), "--output", str(tmp_path / "tuned.json")]
    assert main(["--corpus", str(tmp_path / "absent"), *rest]) == 2
    assert main(["--corpus", str(law), *rest]) == 2
    assert main(["--corpus", str(law), "--language", "fr", *rest]) == 2
    first, second, third = capsys.readouterr().err.splitlines()
    assert "does not exist" in first
    assert "--language" in second
    assert "4 questions to tune on: give at least 10" in third
    assert not (tmp_path / "tuned.json").exists()


def test_neighbours_are_lifted_where_a_run_of_articles_answers() -> None:
    """Of a section one article has the question's word; the others answer too."""
    sections = [f"Section {chr(97 + n)}" for n in range(12)]
    articles = tuple(
        Article(f"{s[-1]}{i}", "Code", f"{n}{i}", f"sujet{s[-1]}" if i == 0 else f"suite{n}{i}", (s,))
        for n, s in enumerate(sections)
        for i in range(3)
    )
    asked = tuple(
        Question(f"q{n}", f"sujet{s[-1]}", tuple(f"{s[-1]}{i}" for i in range(3)))
        for n, s in enumerate(sections)
    )
    law = Corpus(CORPUS.card, articles, asked)
    chosen = choose(Bench(law, fit=SMALL), asked)
    assert chosen.beside in GRID["beside"]
    assert chosen.method == "min-max"
