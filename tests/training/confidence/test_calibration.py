"""Fitting and measuring a probability, cross-fitted."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexes.corpus.corpus import read
from indexes.corpus.questions import read_questions
from indexes.describing import calibration
from indexes.describing.calibration import AnsweredQuestions, CalibrationPlan, Vector, cross_fit, fit_all
from indexes.store import paths
from rag.engine.confidence import NAMES, SIGNS, Confidence
from rag.errors import BadInput
from rag.types import Question
from training.confidence.__main__ import DEV, main, numbers

N = 120


def asked(seed: int = 1, *, fitted: bool = True) -> AnsweredQuestions:
    """Questions whose label hangs on two features; a third of them have no answer."""
    rng = np.random.default_rng(seed)
    rows = rng.random((N, len(NAMES)))
    pull = 6 * (rows[:, NAMES.index("meaning_top")] - rows[:, NAMES.index("elsewhere")])
    labels = (rng.random(N) < calibration.sigmoid(pull)).astype(np.float64)
    questions = tuple(
        Question(str(i), f"q{i}", ("a",) if labels[i] else (), "c", split="dev" if i % 2 else None)
        for i in range(N)
    )
    return AnsweredQuestions(questions, rows, labels, np.full(N, fitted))


def test_fit_finds_what_made_the_labels_and_keeps_the_signs() -> None:
    made = asked()
    model = calibration.fit(made.rows, made.labels, list(SIGNS.values()), 1.0)
    weights = dict(zip(NAMES, model.weights, strict=True))
    assert max(weights, key=lambda n: abs(weights[n])) in ("meaning_top", "elsewhere")
    assert all(weights[n] * sign >= 0 for n, sign in SIGNS.items())
    without = calibration.fit(made.rows, made.labels, [0] * len(NAMES), 1.0)
    assert not without.weights.any()
    assert without.probability(made.rows) == pytest.approx(np.full(N, made.labels.mean()), abs=1e-3)


def test_fit_is_at_the_minimum_of_its_loss() -> None:
    rows, labels = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0.0, 1.0, 0.0, 1.0])
    model = calibration.fit(rows, labels, [1], 1.0)
    unit = (rows - rows.mean(axis=0)) / rows.std(axis=0)
    off = model.probability(rows) - labels
    assert off.sum() == pytest.approx(0, abs=1e-4)
    assert float((unit.T @ off)[0] + model.weights[0]) == pytest.approx(0, abs=1e-4)


def test_a_constant_column_and_a_single_label_are_no_trouble() -> None:
    model = calibration.fit(np.ones((4, 2)), np.ones(4), [1, -1], 1.0)
    assert np.all(model.probability(np.ones((4, 2))) > 0.9)


def test_auc_worked_by_hand() -> None:
    found = calibration.roc_auc(np.array([0.9, 0.5, 0.5, 0.1]), np.array([1.0, 1.0, 0.0, 0.0]), 42, 500)
    assert found.value == pytest.approx(3.5 / 4)  # three pairs won, one tied
    assert 0 <= found.low <= found.value <= found.high <= 1
    assert np.isnan(calibration.roc_auc(np.array([0.5]), np.array([1.0]), 42, 10).value)


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=2, max_size=12))
def test_auc_equals_the_rank_sum(pairs: list[tuple[float, bool]]) -> None:
    p, labels = (np.array(x, dtype=np.float64) for x in zip(*pairs, strict=True))
    if 0 < labels.sum() < len(labels):
        smaller = (p[:, None] > p[None, :]).sum(axis=1) + 0.5 * (p[:, None] == p[None, :]).sum(axis=1) + 0.5
        ones, zeros = labels.sum(), (1 - labels).sum()
        expected = (smaller[labels == 1].sum() - ones * (ones + 1) / 2) / (ones * zeros)
        assert calibration.roc_auc(p, labels, 1, 20).value == pytest.approx(expected)


def test_brier_and_reliability_worked_by_hand() -> None:
    p, labels = np.array([0.1, 0.2, 0.95, 1.0]), np.array([0.0, 1.0, 1.0, 1.0])
    assert calibration.brier(p, labels) == pytest.approx((0.01 + 0.64 + 0.0025) / 4)
    bins = calibration.reliability(p, labels, bins=2)
    assert [(b.low, b.questions, b.observed) for b in bins] == [(0.0, 2, 0.5), (0.5, 2, 1.0)]
    assert calibration.calibration_error(bins) == pytest.approx((2 * 0.35 + 2 * 0.025) / 4)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=60), st.floats(0, 0.5))
def test_threshold_keeps_its_rate_of_false_alarms(values: list[float], rate: float) -> None:
    answerable = np.array(values)
    threshold = calibration.alarm_threshold(answerable, rate)
    assert (answerable < threshold).mean() <= rate + 1e-9
    higher = np.nextafter(threshold, 2)
    assert (answerable < higher).mean() > rate - 1e-9 or threshold == answerable.max()


def test_a_question_is_not_judged_by_weights_that_saw_it() -> None:
    made = asked()
    before = cross_fit(made, CalibrationPlan(3, 42)).probabilities
    turned = made.labels.copy()
    turned[7] = 1 - turned[7]
    after = cross_fit(replace(made, labels=turned), CalibrationPlan(3, 42)).probabilities
    assert after[7] == before[7]
    assert (after != before).any()


def test_what_may_not_be_fitted_changes_nothing_for_the_others() -> None:
    made = asked()
    barred = made.fitted.copy()
    barred[:20] = False
    rows, labels = made.rows.copy(), made.labels.copy()
    rows[:20], labels[:20] = 9.0, 1 - labels[:20]
    plan = CalibrationPlan(3, 42)
    a = cross_fit(replace(made, fitted=barred), plan)
    b = cross_fit(replace(made, fitted=barred, rows=rows, labels=labels), plan)
    assert np.array_equal(a.probabilities[20:], b.probabilities[20:])
    assert fit_all(replace(made, fitted=barred), plan, "x") == fit_all(
        replace(made, fitted=barred, rows=rows, labels=labels), plan, "x"
    )


def test_what_may_not_be_fitted_is_judged_by_the_weights_that_ship() -> None:
    made, plan = asked(), CalibrationPlan(3, 42)
    half = np.arange(N) % 2 == 1
    out = cross_fit(replace(made, fitted=half), plan)
    shipped, _ = fit_all(replace(made, fitted=half), plan, "sha", "trees")
    assert shipped.ranked_by == "trees"
    said = [shipped.probability(dict(zip(NAMES, row, strict=True))) for row in made.rows]
    assert out.probabilities[~half] == pytest.approx(np.array(said)[~half])
    assert out.probabilities[half] != pytest.approx(np.array(said)[half])


def test_fitted_weights_say_the_same_as_the_regression_and_are_deterministic() -> None:
    made, plan = asked(), CalibrationPlan(3, 42)
    shipped, ridge = fit_all(made, plan, "sha")
    model = calibration.fit(made.rows, made.labels, list(SIGNS.values()), ridge)
    values = [shipped.probability(dict(zip(NAMES, row, strict=True))) for row in made.rows]
    assert values == pytest.approx(list(model.probability(made.rows)))
    assert (shipped, ridge) == fit_all(made, plan, "sha")
    assert Confidence.from_json(shipped.to_json()) == shipped


def test_numbers_and_diagram() -> None:
    made = asked()
    found = numbers(made, cross_fit(made, CalibrationPlan(3, 42)), 42)
    assert (found["test"]["questions"], found["dev"]["questions"]) == (N // 2, N // 2)
    for half in ("test", "dev"):
        assert found[half]["auc"]["value"] > 0.7
        assert found[half]["brier"]["value"] < found[half]["brier_of_the_mean"]
    assert sum(row["questions"] for row in found["told_probably_nothing"].values()) == N
    bins = calibration.reliability(made.rows[:, 0], made.labels)
    drawn = ET.fromstring(calibration.reliability_diagram(bins, "title"))  # noqa: S314 - our own
    assert len([e for e in drawn if e.tag.endswith("circle")]) == len(bins)


def test_leaving_a_feature_out_takes_it_out() -> None:
    made = asked()
    at = NAMES.index("elsewhere")
    other: Vector = made.rows.copy()
    other[:, at] = other[::-1, at]
    plan = CalibrationPlan(3, 42)
    same = [cross_fit(replace(made, rows=r), plan, without="elsewhere") for r in (made.rows, other)]
    # the optimiser stops at a gradient of 1e-5, not at the very minimum
    assert same[0].probabilities == pytest.approx(same[1].probabilities, abs=1e-4)


@pytest.mark.slow
def test_the_dev_questions_that_ship_have_no_answer_and_are_not_those_of_the_test() -> None:
    folder, _ = paths.locate(paths.BUILTIN)
    articles = read(folder / "corpus").articles
    dev = read_questions(folder.parent / DEV, articles)
    test = {
        " ".join(q.text.casefold().split())
        for q in read_questions(folder.parent / "questions_test.jsonl", articles)
    }
    kinds = [q.category for q in dev]
    assert min(kinds.count(kind) for kind in kinds) >= 10
    assert set(kinds) == {"other_french_law", "other_country", "not_law", "too_vague"}
    assert all(q.split == "dev" and not q.article_ids for q in dev)
    assert not test & {" ".join(q.text.casefold().split()) for q in dev}


def test_bad_options_say_the_cure(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--rate", "1"]) == 2
    assert "--rate 1.0: give a share" in capsys.readouterr().err
    with pytest.raises(BadInput):
        cross_fit(asked(), CalibrationPlan(1, 42))


@pytest.mark.slow
def test_the_weights_that_ship_are_those_that_the_command_fits(tmp_path: Path) -> None:
    folder, _ = paths.locate(paths.BUILTIN)
    out = tmp_path / "out"
    assert main(["--output", str(out)]) == 0
    shipped = Confidence.from_json((folder.parent / "confidence.json").read_text(encoding="utf-8"))
    made = Confidence.from_json((out / "confidence.json").read_text(encoding="utf-8"))
    assert shipped.corpus_sha256 == made.corpus_sha256
    # another processor adds the same numbers up in another order: 5e-6 was seen
    assert shipped.threshold == pytest.approx(made.threshold, abs=1e-4)
    assert shipped.weights == pytest.approx(made.weights, abs=1e-4)
