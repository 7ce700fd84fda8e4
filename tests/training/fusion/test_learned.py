"""Fitting a learned fusion: nothing that a feature says was learnt from the question it is asked for."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import lightgbm
import numpy as np
import pytest

from indexes.build.fit_settings import FitSettings
from indexes.corpus.corpus import SYNTHETIC
from rag.errors import BadInput, MissingExtra
from rag.fusion.settings import FusionSettings
from rag.ltr.features import GROUPS, NAMES, PRIORS, REFERENCES, WEIGHED, WEIGHTED_SUFFIXES, Evidence
from rag.ltr.ranker import Ranker
from rag.ltr.reranker import KEYWORD, MEANING, LearnedReranker
from rag.types import Article, ArticleOrder, Question
from tests.fakes.ranking.benchmark import ARTICLES, CORPUS
from tests.fakes.ranking.features import evidence_of
from tests.fakes.ranking.ltr_examples import made_up
from training.eval import workbench as bench_module
from training.eval.context import BenchSettings
from training.eval.workbench import Bench
from training.fusion.inner_folds import FOLDS
from training.fusion.learned import (
    MEASURES,
    TO_LEARN_FROM,
    Example,
    LearnedSettings,
    columns,
    examples,
    fit,
    out_of_fold_rankings,
)
from training.fusion.listwise import NetworkSettings

WORDS = ("loyer", "caution", "mur", "haie", "loup", "vol")
LAW = tuple(
    Article(f"a{n:02}", f"code {n % 3}", str(n), f"{WORDS[n % 6]} {WORDS[n % 5]} mot{n}", (f"titre {n % 4}",))
    for n in range(30)
)
ASKED = tuple(
    Question(f"q{n}", f"{WORDS[n % 6]} {WORDS[n % 5]} {'mur' if n % 7 else 'vol'}", (LAW[n % 20].id,))
    for n in range(TO_LEARN_FROM + 7)
)
FEW = LearnedSettings(rounds=12, min_in_leaf=5, networks=1)
SMALL = FitSettings(dim=8, passes=1, question_passes=1, random_negatives=4, min_count=1)


class Records:
    """A bench whose systems remember exactly what they learnt from."""

    def __init__(self, articles: Sequence[Article] = LAW) -> None:
        self.articles = articles
        self.order = ArticleOrder.of([a.id for a in articles])
        self.learnt: list[tuple[Question, ...]] = []
        self.told: list[tuple[str, int, int]] = []

    def progress(self, what: str, done: int, total: int | None) -> None:
        self.told.append((what, done, total))

    def evidence(self, learn: Sequence[Question], settings: BenchSettings) -> Evidence:
        self.learnt.append(tuple(learn))
        return evidence_of(self.articles, learn)


def found_by(bench: Any, learn: Sequence[Question] = ASKED, **options: Any) -> list[Example]:
    return list(examples(bench, learn, BenchSettings(), **options))


@pytest.fixture(scope="module")
def found() -> list[Example]:
    return found_by(Records())


def test_no_system_has_learnt_from_the_question_that_it_is_asked() -> None:
    bench, seen = Records(), []
    for example in examples(bench, ASKED, BenchSettings()):  # type: ignore[arg-type]
        learnt = bench.learnt[-1]  # what the systems that were just asked had learnt from
        assert len(bench.learnt) == example.fold + 1
        assert example.question not in learnt
        seen.append(example)
        cited = dict.fromkeys(bench.order.ids, 0)
        for question in learnt:
            cited[question.article_ids[0]] += 1
        told = example.features[:, NAMES.index("cited")].tolist()
        assert told == [cited[id_] for id_ in example.order.ids]  # the other folds' citations alone
        assert [id_ in example.question.article_ids for id_ in example.order.ids] == example.gold.tolist()
    assert len(bench.learnt) == FOLDS
    assert sorted(e.question.id for e in seen) == sorted(q.id for q in ASKED)
    for fold, learnt in enumerate(bench.learnt):
        held = {e.question for e in seen if e.fold == fold}
        assert set(learnt) == set(ASKED) - held
    assert bench.told[-1] == ("asking what was not learnt", bench.told[-1][1], bench.told[-1][1])


def test_what_a_machine_wrote_is_no_citation_and_no_question_to_fit_to() -> None:
    people = [
        Question(f"q{n}", f"Que dire de {ARTICLES[n % 30].text} ?", (f"a{n % 25}",)) for n in range(100)
    ]
    written = [
        Question(f"w{n}", f"et {ARTICLES[29].text} {n}", ("a29", "a28"), split=SYNTHETIC) for n in range(40)
    ]
    bench = Bench(CORPUS, fit=SMALL)
    found = found_by(bench, [*written, *people])
    assert {e.question.id for e in found} == {q.id for q in people}
    at = {name: NAMES.index(name) for name in ("cited", "asked", "near_words")}
    of_written = [e.features[e.order.ids.index("a29")] for e in found if "a29" in e.order.ids]
    assert all(row[at["cited"]] == 0 for row in of_written)
    assert any(row[at["asked"]] > 0 and row[at["near_words"]] > 0 for row in of_written), "yet it is learnt"
    around = bench.evidence([*people, *written], BenchSettings()).around
    assert around.together.nnz == 0, "cited together by a machine is not cited together"
    few = f"{TO_LEARN_FROM - 1} questions to fit a learned fusion to"
    with pytest.raises(BadInput, match=few):
        found_by(Bench(CORPUS, fit=SMALL), [*written, *people[: TO_LEARN_FROM - 1]])


def test_features_of_a_question_do_not_depend_on_its_labels() -> None:
    """The whole of the bench: encoder, expansion, neighbours and priors, with one gold article changed."""
    learn = [Question(f"q{n}", f"Que dire de {ARTICLES[n % 30].text} ?", (f"a{n % 25}",)) for n in range(100)]
    changed = [replace(q, article_ids=("a29", "a3")) if q.id == "q7" else q for q in learn]
    one, other = (
        {e.question.id: e for e in found_by(Bench(CORPUS, fit=SMALL), asked)} for asked in (learn, changed)
    )
    assert one["q7"].features.tolist() == other["q7"].features.tolist()
    assert one["q7"].order.ids == other["q7"].order.ids
    assert one["q7"].gold.tolist() != other["q7"].gold.tolist()
    others = [n for n in one if one[n].fold != one["q7"].fold]
    assert any(one[n].features.tolist() != other[n].features.tolist() for n in others)  # these may know it


def test_trees_alone_are_those_of_the_same_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    fitted: list[tuple[str, ...]] = []

    def quick(found: Sequence[Example], settings: LearnedSettings) -> Ranker:
        fitted.append(settings.leave_out)
        return fit(found, replace(FEW, leave_out=settings.leave_out))

    monkeypatch.setattr(bench_module, "fit", quick)
    learn = [Question(f"q{n}", f"Que dire de {ARTICLES[n % 30].text} ?", (f"a{n % 25}",)) for n in range(100)]
    names = ["learned-without:networks", "learned", "learned-without:prior,networks"]
    trees, both, no_priors = Bench(CORPUS, fit=SMALL).systems(names, learn).values()
    assert isinstance(trees, LearnedReranker)
    assert isinstance(both, LearnedReranker)
    assert isinstance(no_priors, LearnedReranker)
    assert trees.ranker == Ranker(both.ranker.trees)
    assert both.ranker.networks
    assert not no_priors.ranker.networks
    assert not set(PRIORS) & set(no_priors.ranker.features)
    assert fitted == [(), ("prior",)]


def test_questions_without_gold_take_no_part() -> None:
    bench = Records()
    assert len(found_by(bench, [*ASKED, Question("none", "mur", ())])) == len(ASKED)
    assert all(q.article_ids for learnt in bench.learnt for q in learnt)


def test_of_very_many_questions_some_are_asked_and_all_are_learnt_from() -> None:
    bench = Records()
    some = found_by(bench, most=25)
    assert [sum(e.fold == fold for e in some) for fold in range(FOLDS)] == [5] * FOLDS
    assert [len(learnt) for learnt in bench.learnt] == [85, 85, 86, 86, 86]
    assert [e.question.id for e in found_by(Records(), most=25)] == [e.question.id for e in some]  # the same
    assert len(found_by(Records(), most=len(ASKED) * 2)) == len(ASKED)


def test_what_it_is_held_against_is_the_fusion_that_was_named(found: list[Example]) -> None:
    borda = FusionSettings("borda", {KEYWORD: 1.0, MEANING: 0.0}).fuse((KEYWORD, MEANING))
    by_words = found_by(Records(), fuse=borda)
    assert [e.features.tolist() for e in by_words] == [e.features.tolist() for e in found]
    assert [e.fused for e in by_words] != [e.fused for e in found]
    for example in found:  # the default is what the candidates come in the order of
        assert [hit.article_id for hit in example.fused] == list(example.order.ids[:100])


@pytest.mark.slow
def test_an_obvious_rule_is_learnt() -> None:
    made = made_up()
    learned, plain = out_of_fold_rankings(made, FEW)
    assert learned["MRR@10"].mean() > 0.95
    assert learned["R@10"].mean() > 0.95
    assert plain["MRR@10"].mean() < 0.5  # by id alone
    trees = fit(made, FEW)
    moved = np.abs(trees.contributions(made[0].features)).sum(axis=0)
    assert trees.features[int(moved[:-1].argmax())] in ("votes",)


def test_our_trees_score_as_lightgbm_does(monkeypatch: pytest.MonkeyPatch, found: list[Example]) -> None:
    models: list[Any] = []
    train = lightgbm.train

    def spy(*given: Any) -> Any:
        models.append(train(*given))
        return models[-1]

    monkeypatch.setattr(lightgbm, "train", spy)
    for made in (found, made_up()):
        models.clear()
        trees = fit(made, LearnedSettings(rounds=40, min_in_leaf=3, networks=0))
        assert len(models) == LearnedSettings().fits > 1
        at = [NAMES.index(name) for name in trees.features]
        rows = np.concatenate([example.features[:, at] for example in made[:30]])
        each = [model.predict(rows) for model in models]
        assert not np.allclose(each[0], each[1])  # each has a seed of its own
        scores = np.mean(each, axis=0)
        assert len(set(np.round(scores, 6))) > 10  # they do tell candidates apart
        assert trees.scores(rows) == pytest.approx(scores, abs=1e-9)
        assert Ranker.from_json(trees.to_json()).scores(rows) == pytest.approx(scores, abs=1e-9)
        assert trees.contributions(rows).sum(axis=1) == pytest.approx(scores, abs=1e-9)


@pytest.mark.slow
def test_the_same_seed_gives_the_same_trees() -> None:
    made = made_up()
    assert fit(made, FEW).to_json() == fit(made, FEW).to_json()
    other = fit(made, replace(FEW, seed=2))
    assert other.trees != fit(made, FEW).trees
    assert other.networks != fit(made, FEW).networks


def test_features_that_are_left_out_are_not_there() -> None:
    made = made_up()
    without = fit(made, replace(FEW, leave_out=("prior",)))
    assert set(without.features) == set(NAMES) - set(PRIORS)
    places = columns(LearnedSettings(leave_out=("place", "general")))
    assert {GROUPS[name] for name in places} == set(GROUPS.values()) - {"place", "general"}
    assert columns(LearnedSettings()) == list(NAMES)
    changed = [replace(e, features=e.features.copy()) for e in made]
    for example in changed:
        example.features[:, [NAMES.index(name) for name in PRIORS]] = 7.0
    assert fit(changed, replace(FEW, leave_out=("prior",))) == without


def test_each_network_counts_a_share_of_what_the_trees_count() -> None:
    made = made_up()
    ranker = fit(made, replace(FEW, networks=3))
    rows = [example.features for example in made]
    trees = np.mean([ranker.trees.scores(each).std() for each in rows])
    assert trees == pytest.approx(1)
    for network in ranker.networks:
        assert np.mean([network.scores(each).std() for each in rows]) == pytest.approx(1 / 3)
    alone = fit(made, replace(FEW, networks=0))
    assert alone.networks == ()
    spread = np.mean([alone.scores(each).std() for each in rows])
    assert alone.scores(rows[0]) == pytest.approx(spread * ranker.trees.scores(rows[0]))  # the same trees


def test_trees_do_not_split_what_is_for_networks_alone() -> None:
    made = [replace(example, features=example.features.copy()) for example in made_up()]
    weighed = [n for n, name in enumerate(NAMES) if name.endswith(WEIGHTED_SUFFIXES)]
    assert len(weighed) == len(WEIGHTED_SUFFIXES) * len(WEIGHED)
    for example in made:
        example.features[:, weighed] = 9.0 * example.gold[:, None]  # nothing tells more
    ranker = fit(made, FEW)
    split = {feature for tree in ranker.trees.trees for feature in tree.feature if feature >= 0}
    assert split
    assert split.isdisjoint(weighed)
    moved = np.abs(ranker.networks[0].contributions(made[0].features)).sum(axis=0)
    assert moved[weighed].mean() > np.delete(moved[:-1], weighed).mean()


def test_networks_do_not_look_at_what_is_for_trees_alone() -> None:
    made = [replace(example, features=example.features.copy()) for example in made_up()]
    of_trees = [NAMES.index(name) for name in REFERENCES]
    for example in made:
        example.features[:, of_trees] = 9.0 * example.gold[:, None]
    ranker = fit(made, FEW)
    assert {feature for tree in ranker.trees.trees for feature in tree.feature} & set(of_trees)
    moved = np.abs(ranker.networks[0].contributions(made[0].features)).sum(axis=0)
    assert not moved[of_trees].any()
    assert moved.any()
    assert made[0].features[:, of_trees].any()  # what was found is left as it is


def test_it_tells_where_it_comes_from() -> None:
    ranker = fit(made_up(), FEW, {"corpus_sha256": "abc"})
    assert ranker.trees.about["corpus_sha256"] == "abc"
    assert ranker.trees.about["questions"] == 60
    assert ranker.trees.about["settings"]["rounds"] == FEW.rounds
    assert ranker.trees.about["network"]["hidden"] == NetworkSettings().hidden
    assert ranker.trees.about["lightgbm"] == lightgbm.__version__
    again = Ranker.from_json(ranker.to_json()).trees.about
    assert again["settings"]["seed"] == FEW.seed
    assert again["network"]["passes"] == NetworkSettings().passes


@pytest.mark.slow
def test_what_is_held_back_is_measured_as_everything_else(found: list[Example]) -> None:
    learned, plain = out_of_fold_rankings(found, FEW)
    fitted = {fold: fit([e for e in found if e.fold != fold], FEW) for fold in range(FOLDS)}
    for n, example in enumerate(found):
        scores = fitted[example.fold].scores(example.features).round(5).tolist()
        ranking = [id_ for _, id_ in sorted((-s, i) for s, i in zip(scores, example.order.ids, strict=True))]
        gold = set(example.question.article_ids)
        for values, ids in ((learned, ranking), (plain, [hit.article_id for hit in example.fused])):
            first = next((place for place, id_ in enumerate(ids[:10], 1) if id_ in gold), None)
            told = [float(values[measure][n]) for measure in MEASURES]
            recall = [len(gold & set(ids[:k])) / len(gold) for k in (10, 100)]
            assert told == pytest.approx([*recall, 1 / first if first else 0.0])


def test_a_ranking_that_is_held_back_is_that_of_the_retriever(found: list[Example]) -> None:
    """What `out_of_fold_rankings` measures is what a page would show."""
    bench = Records()
    trees = fit([e for e in found if e.fold], FEW)
    example = next(iter(examples(bench, ASKED, BenchSettings())))  # type: ignore[arg-type]
    learned = LearnedReranker(evidence_of(LAW, bench.learnt[0]), trees)
    [ranking] = learned.search([example.question.text], 100)
    scores = trees.scores(example.features)
    assert {h.article_id: h.score for h in ranking} == pytest.approx(
        dict(zip(example.order.ids, scores.round(5).tolist(), strict=True))
    )


def test_what_cannot_be_fitted_is_refused() -> None:
    bench = Records()
    with pytest.raises(BadInput, match=f"99 questions .* at least {TO_LEARN_FROM}"):
        found_by(bench, [*ASKED[:99], Question("none", "mur", ())])
    assert bench.learnt == []  # before any work
    blind = [replace(e, gold=np.zeros_like(e.gold)) for e in made_up(5)]
    with pytest.raises(BadInput, match="none of 5 questions has a gold article"):
        fit(blind, FEW)
    with pytest.raises(BadInput, match="no group of features luck: choose among both"):
        fit(made_up(5), LearnedSettings(leave_out=("luck", "prior")))
    with pytest.raises(BadInput, match="no features"):
        fit(made_up(5), LearnedSettings(leave_out=tuple(set(GROUPS.values()))))
    for odd in ({"rounds": 0}, {"fits": 0}, {"leaves": 9}, {"leaves": 1}, {"seed": -1}):
        with pytest.raises(BadInput, match="give 1 tree or more"):
            LearnedSettings(**odd)
    with pytest.raises(BadInput, match="-1 networks: give 0 or more"):
        LearnedSettings(networks=-1)


def test_a_question_whose_gold_is_no_candidate_teaches_nothing() -> None:
    made = made_up()
    blind = replace(made[3], gold=np.zeros_like(made[3].gold))
    without = [*made[:3], *made[4:]]
    assert fit([*made[:3], blind, *made[4:]], FEW) == fit(without, FEW)


def test_a_missing_library_is_told_before_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    bench = Records()
    with pytest.raises(MissingExtra, match=r"pip install '\.\[eval\]'"):
        found_by(bench)
    assert bench.learnt == []
