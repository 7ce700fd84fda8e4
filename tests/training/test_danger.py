"""What fits the classifier of danger: cases, models, network, and what decides by them."""

from __future__ import annotations

import json
import lzma
import re
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.errors import BadInput, MissingExtra
from rag.screening.danger import CLASSES
from rag.screening.danger_classifier import (
    EVIDENCE,
    SHARE,
    Classifier,
    Decider,
    Network,
    Trees,
    plain_words,
    subword_buckets,
)
from training.danger import __main__ as fitting
from training.danger import cases, decision, models, network
from training.danger.cases import Example
from training.danger.decision import Judged


def test_a_small_fit_tells_its_classes_apart() -> None:
    told = [
        Example(f"{word} {n}", name, is_case, writer)
        for n in range(10)
        for writer in ("first", "second")
        for name, is_case, word in (
            ("threat", True, "il me menace"),
            ("threat", False, "menace de pluie"),
            ("", False, "quel est le loyer"),
        )
    ]  # fmt: skip
    grams = models.weigh([each.text for each in told])
    labels = np.array([[each.danger == "threat" and each.is_case] for each in told])
    weights, bias = models.fit(grams.rows, labels)
    scores = grams.rows @ weights + bias

    assert grams.rows.shape == (len(told), len(grams.buckets)) == (len(told), len(grams.idf))
    assert ((scores[:, 0] > 0) == labels[:, 0]).all()


def test_cases_stand_beside_ordinary_questions_of_their_language_and_are_held_out_with_their_writer() -> None:
    of = [
        Example(f"{language} {writer} {name or 'loyer'} {n} {is_case}", name, is_case, writer, language)
        for language in ("fr", "de")
        for writer in ("second", "third")
        for name, is_case in (("threat", True), ("threat", False), ("", False))
        for n in range(20)
    ]
    of += [Example("loyer " * 60 + str(n), "", is_case=False, writer="long-1") for n in range(20)]
    made = cases.joined(of, seed=1)
    assert made == cases.joined(of, seed=1) != cases.joined(of, seed=2)
    by_text = {each.text: each for each in of}
    kinds, marks = Counter[tuple[str, bool]](), set[str]()
    for each in made:
        texts = re.findall(r"(?:fr|de) .*?(?:True|False)|(?:loyer )+\d+", each.text)
        parts = [by_text[text] for text in texts]
        first, second, *_ = texts
        marks.add(each.text[len(first) : each.text.index(second, len(first))])
        kinds[each.danger, each.is_case] += 1
        assert {part.language for part in parts} == {each.language}
        own = [part for part in parts if part.danger]
        assert len(own) == bool(each.danger) < len(parts)
        assert not own or all(len(part.text) < 100 for part in parts)  # none is cut off
        for part in own:
            written = (part.danger, part.is_case, f"{cases.JOINED}{part.writer}")
            assert (each.danger, each.is_case, each.writer) == written
    assert marks == {". ", ", ", " "}
    assert set(kinds) == {("threat", True), ("threat", False), ("", False)}
    assert cases.joined([each for each in of if each.danger], seed=1) == []


def test_what_was_fitted_is_read_for_the_same_texts_alone(tmp_path: Path) -> None:
    of = [Example(str(n), "threat", n < 5, "second") for n in range(10)]
    rows = np.zeros((2, len(CLASSES), len(EVIDENCE)), np.float32)
    judged, folds = np.array([3, 7]), np.array([0, 1])
    made = fitting.Fit({"names": np.array(["threat"])}, judged, folds, rows, fitting._checksum(of))
    made.save(tmp_path / "fit.npz")
    again = fitting.Fit.read(tmp_path / "fit.npz", of)
    assert again.arrays["names"].tolist() == ["threat"]
    assert (again.judged.tolist(), again.folds.tolist()) == ([3, 7], [0, 1])
    assert np.array_equal(again.rows, rows)
    with pytest.raises(BadInput, match="other texts"):
        fitting.Fit.read(tmp_path / "fit.npz", [*of[:-1], replace(of[-1], is_case=True)])
    (tmp_path / "fit.npz").write_bytes(b"none")
    with pytest.raises(BadInput, match=r"fit\.npz"):
        fitting.Fit.read(tmp_path / "fit.npz", of)


def test_cases_that_are_not_there_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert fitting.main(["--written", str(tmp_path / "none.xz")]) == 2
    assert "none.xz" in capsys.readouterr().err


KNOWN = network.WordVectors(
    {"cogne": 0, "frappe": 1, "pluie": 2, "soleil": 3},
    np.array([[1, 0, 0.1], [1, 0.1, 0], [-0.7, 0.7, 0], [-0.7, -0.7, 0.1]], np.float32),
)


def test_words_of_the_same_company_have_like_vectors() -> None:
    texts = [
        f"{who} {what} {whom} {where}"
        for who, acts, whom, where in (
            ("il", ("cogne", "frappe"), "moi", "fort"), ("elle", ("lit", "parcourt"), "livre", "chambre")
        )
        for what in acts
    ]  # fmt: skip
    known = network.WordVectors.of(texts * network.SEEN, dim=4)
    near = known.vectors @ known.vectors.T
    cogne, frappe, parcourt = (known.rows[word] for word in ("cogne", "frappe", "parcourt"))
    assert near[cogne, frappe] > 0.9 > near[cogne, parcourt]
    assert np.allclose(np.diag(near), 1, atol=1e-5)
    assert "jamais" not in network.WordVectors.of(["jamais dit", *texts * network.SEEN], dim=4).rows


def test_a_word_that_no_case_has_is_read_as_the_nearest() -> None:
    vocabulary = network.Vocabulary.of(["Il frappe, pluie soleil"] * network.SEEN, KNOWN)
    assert vocabulary.rows["cogne"] == vocabulary.rows["frappe"] != vocabulary.rows["pluie"]
    read = network.Texts.read(["cogne xyz", ""], vocabulary)
    assert [read.rows[text].tolist() for text in read.texts] == [[vocabulary.rows["frappe"], 0], [0]]


@given(st.lists(st.text(max_size=30), min_size=1, max_size=5))
def test_the_subwords_of_words_are_those_of_each(texts: list[str]) -> None:
    read = network.Texts.read(texts, network.Vocabulary.of(texts, KNOWN))
    ids, lengths = read.padded(np.arange(len(texts)))
    for text, row, length in zip(texts, ids, lengths, strict=True):
        words = plain_words(text)
        parts, begins = read.parts(row[:length])
        found = [part.tolist() for part in np.split(parts, begins[1:])]
        assert (
            found == [subword_buckets(word, network.SUBWORD_BUCKETS).tolist() for word in words] or not words
        )
        assert not row[length:].any()


def test_a_word_with_a_typing_error_shares_subwords_with_the_one_that_is_meant() -> None:
    typed, meant, other = (set(subword_buckets(w, 2**20)) for w in ("menasse", "menace", "loyer"))
    assert len(typed & meant) > 3 > len(typed & other)
    assert len(subword_buckets("他", 2**20)) == 1  # "<他>"


@pytest.mark.models
@pytest.mark.slow
def test_what_is_packed_scores_as_what_was_fitted(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    texts = ["elle frappe fort", "pluie et soleil", "frappe encore", "soleil et pluie fort"] * network.SEEN
    labels = np.array([["frappe" in text, "soleil" in text] for text in texts])
    vocabulary = network.Vocabulary.of(texts, KNOWN)
    read = network.Texts.read(texts, vocabulary)
    costs = np.ones(labels.shape, np.float32)
    learnt, again = (
        network.fit_network(read, labels, costs, vocabulary.vectors, seed=0, epochs=15) for _ in range(2)
    )
    assert all(np.array_equal(learnt[name], again[name]) for name in learnt)
    assert not learnt["words.weight"][0].any()  # unknown words stay 0
    fitted = network.assemble(vocabulary, learnt)
    expected = np.array([fitted.scores(text) for text in texts])
    assert ((expected > 0) == labels).all()

    np.savez(tmp_path / "net.npz", allow_pickle=False, **network.packed(fitted))
    with np.load(tmp_path / "net.npz") as data:
        shipped = Network.read(data)
    assert np.allclose([shipped.scores(text) for text in texts], expected, atol=0.1)
    assert shipped.scores("elle cogne")[0] > 0  # a word that was never learnt
    assert shipped.scores("").shape == (2,)


@pytest.mark.models
def test_numpy_scores_as_torch_does() -> None:
    """Texts of many lengths, which torch reads side by side, padded; some words are unknown."""
    torch = pytest.importorskip("torch")
    texts = ["frappe", "", "il frappe pluie soleil xyz encore", "cogne " * 12]
    vocabulary = network.Vocabulary.of(["il frappe pluie encore"] * network.SEEN, KNOWN)
    read = network.Texts.read(texts, vocabulary)
    torch.manual_seed(3)
    module = network._module(vocabulary.vectors, 4).eval()
    with torch.no_grad():
        expected = module(read, *read.padded(np.arange(len(texts)))).numpy()
    learnt = {name: each.detach().numpy() for name, each in module.named_parameters()}
    fitted = network.assemble(vocabulary, learnt)
    assert np.allclose([fitted.scores(text) for text in texts], expected, atol=1e-5)


@pytest.mark.models
def test_what_is_not_to_be_learnt_from_changes_nothing() -> None:
    pytest.importorskip("torch")
    taught = ["elle frappe fort", "pluie et soleil"]
    vocabulary, costs = network.Vocabulary.of(taught * network.SEEN, KNOWN), np.ones((4, 1), np.float32)
    costs[2:] = 0
    fits = []
    for others in (["soleil fort", "frappe"], ["pluie pluie pluie elle", "et"]):
        read, labels = network.Texts.read([*taught, *others], vocabulary), np.array([[1], [0], [1], [0]]) > 0
        fits.append(network.fit_network(read, labels, costs, vocabulary.vectors, seed=0, epochs=3))
    assert all(np.array_equal(fits[0][name], fits[1][name]) for name in fits[0])


def test_without_torch_the_command_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtra, match="models"):
        network.require()


@pytest.mark.models
@pytest.mark.slow
def test_a_text_is_scored_by_what_other_writers_teach(monkeypatch: pytest.MonkeyPatch) -> None:
    """The third writer's texts are scored alike whatever their labels are, by a mean of both models."""
    pytest.importorskip("torch")
    monkeypatch.setattr(models, "FEWEST", 2)
    monkeypatch.setattr(models, "WEAK", 0.0)
    words = {"threat": "menace", "violence": "mari frappe", "": "loyer"}
    scores = []
    for turned in (False, True):
        of = [
            Example(
                f"il {words[name]} {n}", name, (name == "threat") != (turned and writer == "third"), writer
            )
            for writer in ("first", "second", "third")
            for name in words
            for n in range(6)
        ]
        made = models.TrainingSet.of(of, KNOWN, seed=0)
        learnt = np.flatnonzero([each.writer != "third" for each in of])
        arrays = made.arrays(learnt)
        by, net = Classifier.read(arrays), Network.read(arrays)
        held = [each.text for each in of if each.writer == "third"]
        scores.append(np.array([by.scores(text).classes for text in held]))
        weights, bias = made.linear(learnt)
        alone = made.grams.rows[[each.writer == "third" for each in of]] @ weights + bias
        expected = (1 - SHARE) * alone + SHARE * np.array([net.scores(text)[: len(CLASSES)] for text in held])
        assert np.allclose(scores[-1], expected, atol=0.05)  # the file's weights are rounded
        assert made.tasks.shape == (len(of), 2 * len(CLASSES) + 1)
        assert made.tasks[:, len(CLASSES)].tolist() == [each.is_case for each in of]
    assert np.allclose(*scores, atol=1e-4)
    monkeypatch.setattr(models, "WEAK", 0.4)
    kept = Classifier.read(made.arrays(learnt)).buckets
    assert set(kept) < set(by.buckets)
    assert 0.5 < len(kept) / len(by.buckets) < 1


def judged(count: int, seed: int = 0) -> Judged:
    """Return texts, cases with more evidence; each fourth is ordinary, each eighth a story."""
    chance = np.random.default_rng(seed)
    own = np.where(np.arange(count) % 4, np.arange(count) % len(CLASSES), -1)
    case = (own >= 0) & (chance.random(count) < 0.5)
    rows = chance.normal(-4, 1.5, (count, len(CLASSES), len(EVIDENCE))).astype(np.float32)
    rows[case, own[case]] += 5 * np.where(np.array(EVIDENCE) < 0, -1, 1)
    return Judged(own, case, np.ones(count, np.bool_), np.arange(count) % 8 == 0, rows)


@pytest.mark.models
def test_trees_tell_as_those_that_were_fitted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    ensemble = pytest.importorskip("sklearn.ensemble")
    made = []
    fit = ensemble.HistGradientBoostingClassifier.fit
    monkeypatch.setattr(
        ensemble.HistGradientBoostingClassifier,
        "fit",
        lambda self, *of: made.append(fit(self, *of)) or made[-1],
    )
    of = judged(2_000)
    trees = of.fit(seed=0)
    rows = judged(50, seed=1).rows.reshape(-1, len(EVIDENCE))
    assert np.allclose(trees.log_odds(rows), made[0].decision_function(rows), atol=1e-4)

    np.savez(tmp_path / "trees.npz", allow_pickle=False, **decision.packed(Decider(trees, 1.0, 0.5)))
    with np.load(tmp_path / "trees.npz") as data:
        again = Trees.read(data)
        assert (float(data["raises"]), float(data["hints"])) == (1.0, 0.5)
    assert np.array_equal(again.log_odds(rows), trees.log_odds(rows))


@pytest.mark.models
def test_more_evidence_never_speaks_against_a_class() -> None:
    pytest.importorskip("sklearn")
    trees = judged(2_000).fit(seed=0)
    rows = judged(200, seed=1).rows.reshape(-1, len(EVIDENCE))
    before = trees.log_odds(rows)
    for at, sign in enumerate(EVIDENCE):
        more = rows.copy()
        more[:, at] += 2 * sign
        assert (trees.log_odds(more) >= before).all()
    more = rows.copy()
    more[:, np.array(EVIDENCE) == 1] += 6
    assert (trees.log_odds(more) > before).any()


def test_thresholds_are_above_nearly_all_near_misses_and_ordinary_questions() -> None:
    of = judged(4_000)
    odds = np.random.default_rng(2).normal(-3, 1, of.rows.shape[:2]).astype(np.float32)
    raises, hints = of.thresholds(odds)
    near = odds[np.flatnonzero((of.own >= 0) & ~of.is_case), of.own[(of.own >= 0) & ~of.is_case]]
    ordinary = odds[(of.own < 0) & ~of.is_story].max(1)
    stories = odds[of.is_story].max(1)
    for least, of_near, of_ordinary, of_stories in (
        (raises, decision.ALARMS, decision.ORDINARY_ALARMS, decision.STORY_ALARMS),
        (hints, decision.HINTS, decision.ORDINARY_HINTS, decision.STORY_HINTS),
    ):
        assert (near > least).mean() <= of_near
        assert (ordinary > least).mean() <= of_ordinary
        assert (stories > least).mean() <= of_stories
    assert hints < raises
    # who wrote against a classifier sets none
    against = replace(of, is_counted=of.is_counted & (np.arange(len(of.own)) % 2 == 0))
    odds[1::2] = 50
    assert against.thresholds(odds)[0] < 50 == of.thresholds(odds)[0]


@pytest.mark.models
def test_a_fold_is_decided_by_what_others_teach(monkeypatch: pytest.MonkeyPatch) -> None:
    """Turned labels of one fold change what is told of the others, and nothing that is told of its own."""
    pytest.importorskip("sklearn")
    monkeypatch.setattr(decision, "ROUNDS", 10)
    of, folds = judged(3_000), np.arange(3_000) % 3
    turned = replace(of, is_case=of.is_case ^ ((of.own >= 0) & (folds == 0)))
    first, second = decision.decide(of, folds, 0)[1], decision.decide(turned, folds, 0)[1]
    assert np.array_equal(first[folds == 0], second[folds == 0])
    assert not np.array_equal(first[folds != 0], second[folds != 0])


def test_without_scikit_learn_the_command_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn.ensemble", None)
    with pytest.raises(MissingExtra, match="models"):
        judged(100).fit(seed=0)


def test_stories_are_what_their_writers_told_and_no_question_of_the_law(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cases, "_questions", lambda engine: [f"combien coûte l'acte {n} ?" for n in range(9)])
    line = {"class": "", "danger": None, "language": "fr"}
    told = [line | {"text": f"mon voisin {n}", "writer": f"{cases.STORY}{n % 2}"} for n in range(4)]
    with lzma.open(tmp_path / "cases.xz", "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(each) + "\n" for each in told)
    monkeypatch.setattr(cases, "read_cases", lambda folder: ())
    of = cases.examples(tmp_path, tmp_path / "cases.xz", seed=42)
    assert {each.text for each in of if cases.is_story(each)} == {each["text"] for each in told}
    assert {each.writer for each in of if each.is_law_question} == {"story-0", "story-1"}  # they stand beside
    assert "is_law_question" not in repr(of[-1])  # the checksum of a fit is of what is learnt
