"""Score distributions: drawn, estimated, kept with the index, and fused by at question time."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import indexes
from indexes.build import score_distributions
from indexes.corpus.corpus import to_learn_from
from indexes.store import paths
from rag.errors import BadInput, DamagedIndex
from rag.fusion import matrix_fusion
from rag.fusion.normalisation import ScoreDistribution, percentile
from rag.fusion.settings import FusionSettings
from rag.ltr.reranker import KEYWORD, MEANING
from rag.retrieval.dense import Dense
from rag.retrieval.question_knn import QUESTION_KNN
from rag.types import Article, Floats, Question, rank
from tests.fakes.law.corpus import FIT, GOAT, NONE, VILLAGE, install

LEARNT = to_learn_from(VILLAGE.questions)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PANDECT_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("PANDECT_INDEX", raising=False)


def many(n: int) -> list[Question]:
    return [Question(f"q{i}", f"question {i}", ("v-1",)) for i in range(n)]


def test_annotated_questions_are_drawn_where_there_are_enough() -> None:
    drawn = score_distributions.sample(many(250), VILLAGE.articles)
    assert len(drawn) == len(set(drawn)) == score_distributions.QUESTIONS
    assert set(drawn) <= {q.text for q in many(250)}
    assert drawn == score_distributions.sample(many(250), VILLAGE.articles)
    assert drawn != score_distributions.sample(many(250), VILLAGE.articles, seed=1)


def test_the_law_s_own_words_stand_in_for_the_rest() -> None:
    drawn = score_distributions.sample(LEARNT, VILLAGE.articles)
    assert {q.text for q in LEARNT} <= set(drawn)
    rest = set(drawn) - {q.text for q in LEARNT}
    headings = {h for a in VILLAGE.articles for h in a.headings}
    assert rest & headings
    assert any(text in a.text for text in rest - headings for a in VILLAGE.articles)
    assert all(text in headings or any(text in a.text for a in VILLAGE.articles) for text in rest)


def test_a_large_corpus_is_asked_less() -> None:
    articles = [Article(str(i), "Code", str(i), f"Texte {i}.") for i in range(60_000)]
    assert len(score_distributions.sample(many(250), articles)) == score_distributions.SCORES // 60_000
    assert score_distributions.sample(many(250), []) == ()


class Knows:
    """Scores five articles, as many as a question has letters above them."""

    def scores(self, question: str) -> Floats:
        return np.array([-np.inf, 0.0, 0.123456789, 1.0, len(question)], dtype=np.float32)


class Silent:
    def scores(self, question: str) -> Floats:
        return np.full(5, -np.inf, dtype=np.float32)


def test_estimated_from_every_score_of_every_question() -> None:
    found = score_distributions.estimate({"knows": Knows(), "silent": Silent()}, ["aa", "bbb"])
    assert set(found) == {"knows"}
    assert found["knows"].size == 10
    assert found["knows"].scores == (0.0, 0.12346, 1.0, 2.0, 3.0)  # rounded as hits are
    assert found["knows"].levels == (0.4, 0.6, 0.8, 0.9, 1.0)  # two of ten were not matched
    assert score_distributions.estimate({"knows": Knows()}, []) == {}


def test_they_are_kept_with_the_index_and_read_when_it_is_opened() -> None:
    folder = install(settings=FIT)
    engine = indexes.open("village")
    assert set(engine.searcher.distributions) == {KEYWORD, MEANING}
    asked = score_distributions.sample(LEARNT, VILLAGE.articles)
    meaning = engine.searcher.meaning
    assert isinstance(meaning, Dense)
    parts = {KEYWORD: engine.searcher.keyword, MEANING: meaning}
    assert score_distributions.estimate(parts, asked) == engine.searcher.distributions  # type: ignore[arg-type]
    assert engine.searcher.distributions[MEANING].size == len(asked) * len(VILLAGE.articles)
    assert score_distributions.load(folder) == engine.searcher.distributions
    listed = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))["files"]
    assert score_distributions.FILE in listed
    (folder / score_distributions.FILE).write_text("{}", encoding="utf-8")
    with pytest.raises(DamagedIndex, match=score_distributions.FILE):
        indexes.open("village")


def test_an_index_of_keywords_has_one() -> None:
    install(settings=NONE)
    assert set(indexes.open("village").searcher.distributions) == {KEYWORD}


def test_all_cosines_are_those_of_the_search() -> None:
    install(settings=FIT)
    meaning = indexes.open("village").searcher.meaning
    assert isinstance(meaning, Dense)
    for question in (GOAT, "le puits du voisin"):
        [found] = meaning.search([question], 99)
        assert len(found) == len(VILLAGE.articles)
        every = dict(zip(meaning.order.ids, meaning.scores(question).tolist(), strict=True))
        assert all(hit.score == pytest.approx(every[hit.article_id], abs=2e-5) for hit in found)
    assert np.isneginf(meaning.scores("zzz")).all()


def test_percentiles_at_question_time_are_those_of_whole_benchmarks() -> None:
    install(settings=replace(FIT, fusion=FusionSettings("percentile", {KEYWORD: 0.3, MEANING: 0.7})))
    engine = indexes.open("village")
    assert engine.searcher.fusion.method == "percentile"
    meaning = engine.searcher.meaning
    assert isinstance(meaning, Dense)
    questions = [GOAT, "le puits", "un chien mord", "musique la nuit"]
    scores = np.full((2, len(questions), len(VILLAGE.articles)), np.nan)
    for row, system in enumerate((engine.searcher.keyword, meaning)):
        for column, ranking in enumerate(system.search(questions, 1000)):
            for hit in ranking:
                scores[row, column, meaning.order.ids.index(hit.article_id)] = hit.score
    shapes = [engine.searcher.distributions[KEYWORD], engine.searcher.distributions[MEANING]]
    fused = matrix_fusion.weighted(scores, partial(percentile, distributions=shapes), (0.3, 0.7))
    for question, mine in zip(questions, fused, strict=True):
        expected = rank(mine, meaning.order, 5, decimals=None)
        result = engine.ask(question, k=5)
        assert [(s.article.id, s.score) for s in result.shown] == [(h.article_id, h.score) for h in expected]


@pytest.mark.parametrize(
    "fusion",
    [
        FusionSettings("rrf", {KEYWORD: 1.0, MEANING: 3.0}, damping=5.0),
        FusionSettings("min-max"),
        FusionSettings("percentile", {KEYWORD: 0.3, MEANING: 0.7}),
        FusionSettings("min-max", {KEYWORD: 1.0, MEANING: 1.0, QUESTION_KNN: 0.5}),
        FusionSettings("rrf", {QUESTION_KNN: 2.0, MEANING: 1.0}),
    ],
)
def test_what_each_list_adds_is_told_and_makes_the_score(fusion: FusionSettings) -> None:
    install(settings=replace(FIT, fusion=fusion))
    engine = indexes.open("village")
    result = engine.ask(GOAT)
    assert result.shown
    for shown, why in zip(result.shown, engine.explain(result), strict=True):
        assert why.fused == pytest.approx(shown.score, abs=6e-6)
        assert {place.system for place in why.places} <= set(fusion.systems or (KEYWORD, MEANING))
    assert {p.system for why in engine.explain(result) for p in why.places} == set(
        fusion.systems or (KEYWORD, MEANING)
    )


def test_where_the_score_is_no_sum_no_list_is_given_a_part() -> None:
    install(settings=replace(FIT, fusion=FusionSettings("z-score")))
    engine = indexes.open("village")
    result = engine.ask(GOAT)
    assert result.shown
    assert all(why.fused is None for why in engine.explain(result))


def test_an_index_of_before_has_none_and_says_what_to_do(tmp_path: Path) -> None:
    assert score_distributions.load(tmp_path) == {}
    assert score_distributions.load_fusion(tmp_path) is None
    with pytest.raises(BadInput, match=r"percentiles of dense .* build the index again"):
        FusionSettings("percentile").fuse(["dense"], {})


@pytest.mark.parametrize("text", ["[]", "{", '{"bm25": {}}', '{"bm25": 3}'])
def test_not_distributions(tmp_path: Path, text: str) -> None:
    (tmp_path / score_distributions.FILE).write_text(text, encoding="utf-8")
    with pytest.raises(BadInput, match=score_distributions.FILE):
        score_distributions.load(tmp_path)


@pytest.mark.parametrize("text", ["[]", "{", '{"method": "magic", "weights": {}, "damping": 3}'])
def test_not_a_fusion(tmp_path: Path, text: str) -> None:
    (tmp_path / score_distributions.FUSION).write_text(text, encoding="utf-8")
    with pytest.raises(BadInput, match=score_distributions.FUSION):
        score_distributions.load_fusion(tmp_path)


def test_they_survive_the_disk(tmp_path: Path) -> None:
    kept = {
        "a": ScoreDistribution.of([-math.inf, 1.0, 2.5]),
        "b": ScoreDistribution.of(np.random.default_rng(0).random(999)),
    }
    score_distributions.save(kept, tmp_path)
    assert score_distributions.load(tmp_path) == kept
    settings = FusionSettings("z-score", {"a": 0.05, "b": 0.95}, 7.0)
    score_distributions.save_fusion(settings, tmp_path)
    assert score_distributions.load_fusion(tmp_path) == settings


def test_the_command_builds_with_a_fusion(capsys: pytest.CaptureFixture[str]) -> None:
    from indexes.__main__ import main
    from indexes.corpus.corpus import write

    install(settings=NONE)
    write(VILLAGE, paths.corpus_folder("town"))
    assert main(["build", "town", "--encoder", "borrow", "--fusion", "percentile"]) == 0, (
        capsys.readouterr().err
    )
    assert indexes.open("town").searcher.fusion == FusionSettings("percentile")


@pytest.mark.parametrize(
    ("fusion", "said"),
    [
        (FusionSettings("min-max", {KEYWORD: 1.0}), "name two or three of"),
        (FusionSettings("rrf", {KEYWORD: 1.0, "colbert": 1.0}), "name two or three of"),
        (FusionSettings("percentile", {KEYWORD: 1.0, MEANING: 1.0, QUESTION_KNN: 1.0}), "leave it out"),
    ],
)
def test_a_fusion_that_no_index_could_answer_with_is_refused_before_it_is_built(
    fusion: FusionSettings, said: str
) -> None:
    install(settings=FIT)
    before = indexes.open("village").info.version
    with pytest.raises(BadInput, match=said):
        install(settings=replace(FIT, fusion=fusion))
    assert indexes.open("village").info.version == before
