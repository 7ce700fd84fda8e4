"""Tuned fusion: chosen on what systems have not learnt, and told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from indexes.build.fit_settings import FitSettings
from rag.fusion.normalisation import ScoreDistribution
from rag.fusion.settings import SCALES, FusionSettings
from rag.retrieval.bm25 import BM25Settings
from rag.retrieval.dense import Dense
from rag.retrieval.hybrid import Hybrid
from rag.types import Filter, Question, Ranking
from tests.fakes.ranking.benchmark import CORPUS, QUESTIONS
from training.eval.context import BenchSettings
from training.eval.workbench import Bench
from training.fusion.inner_folds import InnerAnswers
from training.fusion.tuned import Choice, TunedHybrid, choose

SMALL = FitSettings(dim=8, passes=1, question_passes=1, random_negatives=4, min_count=1)
ASKED = tuple(Question(f"q{n}", f"about g{n}", (f"g{n}",)) for n in range(6))
ANY = {name: ScoreDistribution.of(np.linspace(0, 4, 50)) for name in ("good", "bad")}


def ranking(**scores: float) -> Ranking:
    return Ranking.of((i, s) for i, s in sorted(scores.items(), key=lambda pair: (-pair[1], pair[0])))


def answered(
    runs: Mapping[str, Sequence[Ranking]],
    questions: Sequence[Question] = ASKED,
    distributions: Mapping[str, ScoreDistribution] = ANY,
) -> InnerAnswers:
    named = {
        name: dict(zip([q.id for q in questions], rankings, strict=True)) for name, rankings in runs.items()
    }
    return InnerAnswers(tuple(questions), (), named, distributions)


def good_and_bad() -> dict[str, list[Ranking]]:
    """Good has gold first; bad has it last of three, after its own two."""
    return {
        "good": [ranking(**{q.article_ids[0]: 3.0, "x": 1.0}) for q in ASKED],
        "bad": [ranking(**{"x": 3.0, "y": 2.9, q.article_ids[0]: 0.1}) for q in ASKED],
    }  # fmt: skip


def test_the_better_system_counts_more() -> None:
    choice = choose([answered(good_and_bad())], ["good", "bad"], ["MRR@10"])
    assert choice.value == 1.0
    assert choice.questions == 6
    assert set(choice.tried) == set(SCALES)
    assert choice.settings.weights["good"] >= 0.5
    assert sum(choice.settings.weights.values()) == pytest.approx(1)
    assert choice.to_json()["method"] == choice.settings.method


def test_the_scale_is_chosen_too() -> None:
    """By rank the two tie, by score they do not: a is sure of gold, b hardly prefers x."""
    runs = {
        "a": [ranking(**{q.article_ids[0]: 9.0, "x": 8.9, "z": 0.0}) for q in ASKED],
        "b": [ranking(**{"x": 5.0, q.article_ids[0]: 4.99, "z": 0.0}) for q in ASKED],
    }
    choice = choose([answered(runs, distributions={})], ["a", "b"], ["MRR@10"])
    assert "percentile" not in choice.tried  # nobody told the distributions
    assert choice.tried[choice.settings.method] == choice.value == max(choice.tried.values())


def test_percentiles_are_those_of_the_systems_that_were_asked() -> None:
    """The same scores in two folds whose systems have other scales: placed by their own, they agree."""
    first, second = ASKED[:3], ASKED[3:]
    low, high = ScoreDistribution.of(np.linspace(0, 1, 100)), ScoreDistribution.of(np.linspace(0, 100, 100))

    def runs(questions: Sequence[Question], times: float) -> dict[str, list[Ranking]]:
        return {
            "m": [ranking(**{q.article_ids[0]: 0.9 * times, "x": 0.2 * times}) for q in questions],
            "n": [ranking(x=0.5 * times, y=0.4 * times) for q in questions],
        }  # fmt: skip

    parts = [
        answered(runs(first, 1), first, {"m": low, "n": low}),
        answered(runs(second, 100), second, {"m": high, "n": high}),
    ]
    choice = choose(parts, ["m", "n"], ["MRR@10"])
    assert choice.tried["percentile"] == 1.0  # gold 0.9 w against x 0.2 w + 0.5 (1 - w), in both


class Fixed:
    def __init__(self, mine: Ranking) -> None:
        self.mine = mine

    def search(self, questions: Sequence[str], k: int, where: Filter | None = None) -> list[Ranking]:
        return [self.mine[:k] for _ in questions]


def chosen(method: str, **weights: float) -> Choice:
    return Choice(FusionSettings(method, weights), 0.5, 10, {method: 0.5})


@pytest.mark.parametrize("method", SCALES)
def test_a_part_of_weight_zero_is_not_asked_and_changes_nothing(method: str) -> None:
    parts = {"a": Fixed(ranking(x=3, y=1)), "b": Fixed(ranking(z=9)), "c": Fixed(ranking(y=5, x=0.5))}
    shapes = {name: ScoreDistribution.of(np.linspace(0, 9, 30)) for name in parts}
    tuned = TunedHybrid(parts, chosen(method, a=0.4, b=0.0, c=0.6), shapes)
    assert list(tuned.parts) == ["a", "c"]
    weights = FusionSettings(method, {"a": 0.4, "b": 0.0, "c": 0.6})
    assert tuned.search(["?"], 9) == Hybrid(parts, weights.fuse(list(parts), shapes)).search(["?"], 9)


def test_one_system_alone() -> None:
    parts = {"a": Fixed(ranking(x=3, y=1)), "b": Fixed(ranking(z=9))}
    tuned = TunedHybrid(parts, chosen("min-max", a=1.0, b=0.0), {})
    assert [hit.article_id for hit in tuned.search(["?"], 9)[0]] == ["x", "y"]


def test_the_bench_tunes_without_the_questions_asked() -> None:
    learn, held = list(QUESTIONS[:14]), QUESTIONS[14:18]
    bench = Bench(CORPUS, fit=SMALL)
    systems = bench.systems(["tuned", "hybrid"], learn)
    tuned = systems["tuned"]
    assert isinstance(tuned, TunedHybrid)
    assert tuned.choice.questions == 9  # three inner folds of 14
    other = Bench(CORPUS, fit=SMALL).systems(["tuned"], learn)["tuned"]
    assert isinstance(other, TunedHybrid)
    assert other.choice == tuned.choice  # the same again
    assert other.search([q.text for q in held], 5) == tuned.search([q.text for q in held], 5)


def test_a_dev_split_serves_where_there_is_one() -> None:
    learn, dev = QUESTIONS[:8], [*QUESTIONS[8:18], QUESTIONS[19]]
    bench = Bench(CORPUS, fit=SMALL)
    tuned = bench.systems(["tuned:bm25,ql"], learn, BenchSettings(), dev)["tuned:bm25,ql"]
    assert isinstance(tuned, TunedHybrid)
    assert tuned.choice.questions == 10
    assert set(tuned.choice.settings.weights) == {"bm25", "ql"}


def test_articles_are_encoded_as_the_encoder_would() -> None:
    bench = Bench(CORPUS, fit=SMALL)
    for learn in ((), QUESTIONS[:14]):
        encoder = bench.encoder(learn)
        dense = bench.systems(["dense"], learn)["dense"]
        assert isinstance(dense, Dense)
        stored = dense.index.reconstruct_n(0, len(CORPUS.articles))
        assert (stored == encoder.encode_articles(CORPUS.articles)).all()


def test_what_learns_nothing_is_made_once_for_the_same_settings() -> None:
    bench = Bench(CORPUS, fit=SMALL)
    first, second = (bench.systems(["bm25", "dense-law", "dense"], QUESTIONS[:n]) for n in (12, 14))
    assert first["bm25"] is second["bm25"]
    assert first["dense-law"] is second["dense-law"]
    assert first["dense"] is not second["dense"]
    other = bench.systems(["bm25"], QUESTIONS[:14], BenchSettings(bm25=BM25Settings(k1=0.1)))
    assert other["bm25"] is not first["bm25"]
