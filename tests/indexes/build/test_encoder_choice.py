"""Questions of another corpus of the same language: the encoder learns them, nothing else does."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from indexes import __main__ as command
from indexes.build.encoder_choice import fit_encoder, merged_articles, merged_questions, read_lending_corpora
from indexes.build.fit_settings import LARGE, MANY_QUESTIONS, FitSettings, suited
from indexes.corpus.corpus import Corpus
from indexes.store import paths, versions
from indexes.store.manifest import read as read_manifest
from rag.errors import BadInput
from rag.text.analysers import analyser
from rag.types import Question
from tests.fakes.law.corpus import FIT, VILLAGE, install
from training.eval.workbench import Bench

CUT = analyser("fr")
SMALL = FitSettings(dim=16, min_count=1, passes=1, question_passes=30, batch=8, random_negatives=4)
# another village, where people call a well a "trou d'eau": the word stands in no article of either
ASKED = (
    Question("q1", "le trou d'eau est resté ouvert", ("v-1",), split="train"),
    Question("q2", "on lave dans le trou d'eau", ("v-2",), split="train"),
    Question("q3", "jamais apprise: tilleul", ("v-12",), split="test"),
)
NEIGHBOUR = replace(VILLAGE, card=replace(VILLAGE.card, name="neighbour"), questions=ASKED)


def test_ids_are_nobody_else_s_and_test_questions_stay_out() -> None:
    lent = (NEIGHBOUR, NEIGHBOUR)
    ids = [a.id for a in (*VILLAGE.articles, *merged_articles(lent))]
    assert len(set(ids)) == len(ids) == 36
    told = merged_questions(lent)
    assert [q.text for q in told] == [q.text for q in ASKED[:2]] * 2
    assert {id_ for q in told for id_ in q.article_ids} <= set(ids[12:])
    assert told[0].article_ids != told[2].article_ids  # each cites the articles of its own corpus


def test_the_encoder_knows_their_words_and_says_whose_they_are() -> None:
    alone, _ = fit_encoder(VILLAGE, VILLAGE.questions, CUT, SMALL, lambda *step: None)
    both, entry = fit_encoder(VILLAGE, VILLAGE.questions, CUT, SMALL, lambda *step: None, [NEIGHBOUR])
    (word,) = CUT.terms("trou")
    assert word not in alone.vocabulary
    assert word in both.vocabulary
    assert [each["name"] for each in entry["learnt_from"]] == ["village", "neighbour"]
    assert entry["lent"] == [
        {
            "name": "neighbour",
            "corpus_sha256": NEIGHBOUR.sha256,
            "questions_sha256": NEIGHBOUR.questions_sha256,
        }
    ]
    scores = both.encode_articles(VILLAGE.articles) @ both.encode_questions(["un trou ouvert"])[0]
    assert scores.argmax() == 0  # the well


def test_a_benchmark_s_law_alone_learns_from_none() -> None:
    bench = Bench(VILLAGE, fit=SMALL, fitted_to=[VILLAGE, NEIGHBOUR])
    (word,) = CUT.terms("trou")
    assert word in bench.encoder(()).vocabulary
    assert word not in bench.encoder(None).vocabulary
    systems = bench.systems(["dense", "dense-law", "bm25+questions"], VILLAGE.questions[:2])
    found = {name: system.search(["trou"], 3)[0] for name, system in systems.items()}
    assert found["dense"][0].article_id in {"v-1", "v-2"}
    assert found["dense-law"] == ()
    assert found["bm25+questions"] == ()  # no evidence for this law


def test_an_index_is_built_and_built_again_with_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PANDECT_HOME", str(tmp_path))
    install(NEIGHBOUR, "neighbour", None)
    version = install(settings=replace(FIT, lending=read_lending_corpora(["neighbour"], "fr")))
    entry = read_manifest(version, "again").encoder
    assert entry is not None
    assert [each["name"] for each in entry["lent"]] == ["neighbour"]
    # an encoder that is fitted anew learns from the same; without them it is said what is missing
    law = paths.corpus_folder("village")
    assert command.main(["update", "village", str(law), "--refit"]) == 0
    again = read_manifest(paths.current("village"), "again").encoder
    assert again is not None
    assert again["lent"] == entry["lent"]
    versions.remove("neighbour")
    capsys.readouterr()
    assert command.main(["update", "village", str(law), "--refit"]) == 2
    assert "--lent neighbour: no corpus is called so" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("lent", "says"),
    [
        (replace(NEIGHBOUR, card=replace(NEIGHBOUR.card, language="nl")), "its language is 'nl'"),
        (replace(NEIGHBOUR, questions=ASKED[2:]), "no annotated questions to learn from"),
    ],
)
def test_what_cannot_be_lent(
    lent: Corpus, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PANDECT_HOME", str(tmp_path))
    install(lent, "neighbour", None)
    with pytest.raises(BadInput, match=f"--lent neighbour: .*{says}"):
        read_lending_corpora(["neighbour"], "fr")


@pytest.mark.parametrize("encoder", ["none", "borrow", "some/model"])
def test_an_encoder_that_is_not_fitted_learns_from_nobody(
    encoder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PANDECT_HOME", str(tmp_path))
    with pytest.raises(BadInput, match="--lent"):
        install(settings=replace(FIT, encoder=encoder, lending=(NEIGHBOUR,)))


def test_how_it_is_fitted_goes_by_the_number_of_questions() -> None:
    assert suited(0) == suited(MANY_QUESTIONS - 1) == FitSettings()
    assert suited(MANY_QUESTIONS).drop_question < suited(MANY_QUESTIONS - 1).drop_question
    assert suited(MANY_QUESTIONS).id != FitSettings().id
    assert suited(0, LARGE - 1) == FitSettings()
    assert suited(0, LARGE) == replace(FitSettings(), passes=2)
    assert suited(MANY_QUESTIONS, LARGE) == replace(suited(MANY_QUESTIONS), passes=2)
