"""German tenancy law, the proof of how a country comes in: what was written, and what its index answers."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path

import pytest

import indexes
from indexes.__main__ import main
from indexes.corpus.corpus import SYNTHETIC
from indexes.corpus.digest import read_card, read_digest, read_laws
from indexes.shipped_questions import WRITTEN, written
from rag.text.analysers import analyser
from training.everyday import counts, outcomes, read
from training.splits.near_duplicates import near_duplicates

FOLDER = WRITTEN / "de"
TEST = FOLDER / "questions_test.jsonl"
DIGEST = read_digest(FOLDER)


def test_every_article_is_summarised_and_asked_three_times() -> None:
    assert len(DIGEST.summaries) == 103
    assert set(read_laws(FOLDER)) == {code for code, _ in DIGEST.summaries} == {"BGB"}
    asked = Counter(cite for each in DIGEST.questions for cite in each.cites)
    assert set(asked.values()) == {3}
    assert asked.keys() == DIGEST.summaries.keys()
    assert {each.question.split for each in DIGEST.questions} == {SYNTHETIC}
    assert tuple(DIGEST.questions) == written("de")


def test_time_limits_and_amounts_are_said_by_their_summaries() -> None:
    said = 0
    for cite, facts in DIGEST.facts.items():
        for each in (*facts.time_limits, *facts.amounts):
            assert each.clause in DIGEST.summaries[cite], cite
            said += 1
        assert facts.official
    assert said > 60


def test_no_question_that_is_learnt_is_nearly_a_test_question() -> None:
    learnt = [each.question.text for each in DIGEST.questions]
    texts = [*learnt, *(each.question for each in read(TEST))]
    pairs = near_duplicates(texts, analyser(language="de").terms)
    assert not [(texts[a], texts[b]) for a, b in pairs if a < len(learnt) <= b]


def test_the_test_questions_are_of_every_kind_and_cite_what_is_summarised() -> None:
    asked = read(TEST)
    kinds = Counter((each.split, each.kind == "answer") for each in asked)
    assert kinds == {("test", True): 20, ("test", False): 10, ("dev", True): 10, ("dev", False): 4}
    assert {cite for each in asked for cite in each.cites | each.helps} <= DIGEST.summaries.keys()
    assert not {each.question for each in asked} & set(read_card(FOLDER).examples)


@pytest.mark.data
def test_the_program_finds_nothing_that_is_left(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    law = str(data / "de" / "articles.jsonl.gz")
    assert main(["check-builtin", law, "--folder", str(FOLDER)]) == 0
    assert "0 findings left on 0 of 103 summaries" in capsys.readouterr().out


@pytest.mark.data
@pytest.mark.slow
def test_the_folder_and_the_official_law_make_an_index_that_answers(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PANDECT_HOME", str(tmp_path / "home"))
    law = data / "de"
    assert main(["import", str(law), "--name", "de"]) == 0
    typed = ["import", str(FOLDER), "--option", f"official={law}", "--build", "--lent", "de"]
    assert main(typed) == 0
    assert "encoder static-de" in capsys.readouterr().out

    engine = indexes.open("mietrecht-de")
    found = counts([*outcomes((q for q in read(TEST) if q.split == "test"), engine)])
    assert found["answer in 3"][0] >= 11
    assert found["answer in 10"][0] >= 16
    assert found["wrongly told"][0] <= 1  # the part "Miete" of "Monatsmieten" is in a phrase of another topic
    assert found["told"][0] >= 7
    asked = engine.ask("Mein Vermieter zahlt die Kaution nicht zurück")
    assert "551" in [shown.article.article_no for shown in asked.shown[:2]]
    assert engine.facts["BGB-551"].note
    assert [topic.id for topic in engine.ask("Bekomme ich Wohngeld?").elsewhere] == ["housing-benefit"]

    assert main(["update", "mietrecht-de", str(law), "--from", "de", "--dry-run"]) == 0
    assert "103 articles as they were, 0 changed, 0 gone" in capsys.readouterr().out
    rows = [json.loads(line) for line in _articles(law)]
    changed = [row | {"text": row["text"] + " Neu."} if row["id"] == "BGB-551" else row for row in rows]
    later = tmp_path / "later.jsonl"
    later.write_text("".join(json.dumps(row) + "\n" for row in changed), encoding="utf-8")
    assert main(["update", "mietrecht-de", str(later)]) == 0
    assert "changed: BGB, 551" in capsys.readouterr().out


def _articles(folder: Path) -> list[str]:
    with gzip.open(folder / "articles.jsonl.gz", "rt", encoding="utf-8") as file:
        return file.readlines()
