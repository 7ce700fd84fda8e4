"""The profile of questions: numbers worked by hand, and the command."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indexes.corpus.corpus import write
from rag.errors import BadInput
from rag.types import Article, Question
from tests.fakes.models.published import PUBLISHED
from tests.fakes.ranking.benchmark import CORPUS, questions_as_records, write_lines
from tests.paths import ROOT
from training.profile import main, table
from training.synthetic.profile import MEASURES, effect, longest_run, profile, variety

LAW = {
    "1": Article("1", "Code civil", "1", "Le locataire est tenu de payer le loyer aux termes convenus."),
    "2": Article("2", "Code civil", "2", "Le bailleur délivre la chose."),
}


def one(text: str, language: str = "fr", gold: tuple[str, ...] = ("1",)) -> dict[str, float]:
    made = profile("x", [Question("q", text, gold)], LAW, language)
    return {measure: float(values[0]) for measure, values in made.values.items()}


def test_a_question_is_counted() -> None:
    row = one("Je dois payer le loyer. Quand ?")
    assert (row["words"], row["characters"], row["sentences"]) == (6, 31, 2)
    assert row["characters a word"] == pytest.approx((2 + 4 + 5 + 2 + 5 + 5) / 6)
    assert (row["question words"], row["question mark"]) == (1, 1)
    assert (row["first person"], row["second person"]) == (1, 0)
    assert row["longest copy"] == 3  # payer le loyer
    assert row["overlap"] == 1.0  # its content terms are payer and loyer
    assert row["names an article"] == 0


def test_what_there_is_not_has_no_number() -> None:
    row = one("Vous payez ?", gold=())
    assert math.isnan(row["overlap"])
    assert math.isnan(row["longest copy"])
    assert (row["second person"], row["first person"], row["question words"]) == (1, 0, 0)
    assert one("le loyer", gold=("1", "2"))["overlap"] == 1.0  # the article that has most counts
    assert one("Que dit l'article 1728 ?")["names an article"] == 1
    assert one("?!")["words"] == 0


def test_chinese_is_looked_at_as_it_is_written() -> None:
    row = one("我想知道怎么办？", "zh", ())
    assert (row["first person"], row["question words"], row["question mark"]) == (1, 1, 1)


def test_runs_variety_and_effect() -> None:
    assert longest_run(["a", "b", "c", "d"], ["x", "b", "c", "d", "b", "c"]) == 3
    assert longest_run([], ["a"]) == longest_run(["a"], []) == 0
    assert variety(list("abab"), window=2) == 1.0
    assert variety(list("aab"), window=2) == pytest.approx((0.5 + 1.0) / 2)
    assert math.isnan(variety(["a"], window=2))
    assert effect(np.array([1.0, 3.0, math.nan]), np.array([4.0, 6.0])) == pytest.approx(3 / math.sqrt(2))
    assert math.isnan(effect(np.array([1.0, 1.0]), np.array([1.0, 1.0])))


@settings(max_examples=50)
@given(st.lists(st.sampled_from("ab"), max_size=9), st.lists(st.sampled_from("abc"), max_size=9))
def test_the_longest_run_is_that_of_all_runs(words: list[str], among: list[str]) -> None:
    text = "".join(among)
    runs = ["".join(words[i:j]) for i in range(len(words)) for j in range(i + 1, len(words) + 1)]
    assert longest_run(words, among) == max((len(r) for r in runs if r in text), default=0)


@settings(max_examples=50)
@given(st.lists(st.sampled_from("abcd"), min_size=3, max_size=20))
def test_variety_is_the_mean_of_its_windows(words: list[str]) -> None:
    shares = [len(set(words[i : i + 3])) / 3 for i in range(len(words) - 2)]
    assert variety(words, window=3) == pytest.approx(np.mean(shares))


def test_languages_without_words_and_sets_without_questions() -> None:
    with pytest.raises(BadInput, match="no words of questions"):
        profile("x", [Question("q", "Quid ?")], LAW, "la")
    with pytest.raises(BadInput, match="no questions"):
        profile("x", [], LAW, "fr")


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    corpus = str(write(CORPUS, tmp_path / "corpus"))
    real = write_lines(tmp_path / "real.jsonl", questions_as_records())
    lay = write_lines(
        tmp_path / "lay.jsonl", [{"id": "1", "question": "je paie mon loyer", "article_ids": ["a2"]}]
    )
    out = tmp_path / "profile.json"
    assert main(["--corpus", corpus, f"real={real}", f"lay={lay}", "--output", str(out)]) == 0
    printed = capsys.readouterr().out
    assert "| measure | real (18) | lay (1) | d |" in printed  # those without an answer have no article
    entry = json.loads(out.read_text(encoding="utf-8"))
    assert entry["sets"][1]["measures"]["first person"] == {"mean": 1.0, "sd": 0.0, "d": None}
    assert entry["sets"][0]["measures"]["question mark"]["mean"] == 1.0
    assert set(entry["sets"][0]["measures"]) == set(MEASURES)
    for words, told in (
        ([f"real={real}", "--output", str(out)], "there already"),
        (["real"], "expected NAME=FILE"),
        ([f"x={tmp_path / 'absent'}"], "does not exist"),
    ):
        assert main(["--corpus", corpus, *words]) == 2
        assert told in capsys.readouterr().err


def test_a_table_has_a_row_a_measure() -> None:
    sets = [profile(n, [Question("q", "Qui paie ?", ("1",))], LAW, "fr") for n in ("a", "b")]
    assert len(table(sets).splitlines()) == 2 + len(MEASURES) + 1


@pytest.mark.data
def test_what_stands_beside_the_profile_is_what_was_printed() -> None:
    [printed] = [
        t for t in json.loads((PUBLISHED / "jurifindit.json").read_text("utf-8")) if t["table"] == "9"
    ]
    rows = {row["system"]: row["values"] for row in printed["rows"]}
    said = (ROOT / "docs" / "train.md").read_text(encoding="utf-8")
    for name, row, digits in (
        ("words", "n_tokens", 1), ("characters a word", "char_per_tok", 2),
        ("content words", "lexical_density", 2),
    ):  # fmt: skip
        cells = [
            f"{rows[row][f'{kind}_mean']:.{digits}f} ± {rows[row][f'{kind}_sd']:.{digits}f}"
            for kind in ("real", "synthetic")
        ]
        assert f"| {name} | {' | '.join(cells)} |" in said
