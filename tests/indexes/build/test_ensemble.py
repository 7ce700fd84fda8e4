"""Several fits of an encoder, side by side in one: each counts alike, however long its vectors are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array, vstack

from indexes import __main__ as command
from indexes.build import ensemble
from indexes.build.build import BuildSettings
from indexes.build.contrastive import Bags, embed
from indexes.build.encoder_choice import choose
from indexes.build.fit_settings import FitSettings, FittedParameters, for_written, resolve_settings, suited
from indexes.build.static_encoder import Fitter
from indexes.build.training_pairs import bag
from indexes.corpus.corpus import SYNTHETIC, to_learn_from, write
from indexes.store import paths
from indexes.store.manifest import read
from rag.errors import BadInput
from rag.text.analysers import analyser
from rag.types import Floats, Question
from tests.fakes.law.corpus import TINY, VILLAGE, install

CUT = analyser("fr")
QUESTIONS = to_learn_from(VILLAGE.questions)
DIM = 6


def fitter(chosen: FitSettings | None = TINY) -> Fitter:
    return Fitter(VILLAGE.articles, CUT, chosen)


def drawn(seed: int, n_articles: int, n_terms: int = 9) -> tuple[list[FittedParameters], Bags]:
    rng = np.random.default_rng(seed)
    words = {f"w{i}": i for i in range(n_terms)}
    fits = [
        FittedParameters(
            words,
            rng.standard_normal((n_terms, DIM)).astype(np.float32),
            rng.standard_normal(n_terms).astype(np.float32),
        )
        for _ in range(3)
    ]
    return fits, bag([rng.integers(0, n_terms, 5).astype(np.int32) for _ in range(n_articles)], n_terms)


def side_by_side(fits: list[FittedParameters], articles: Bags) -> Floats:
    """The vectors of all fits in one row, each divided by the mean length of its article's sums."""
    told = []
    for fitted in fits:
        vectors = fitted.vectors * np.exp(fitted.log_weights)[:, None]
        told.append(vectors / np.linalg.norm(articles @ vectors, axis=1).mean())
    return np.concatenate(told, axis=1)


@given(seed=st.integers(0, 10_000), n_articles=st.integers(1, 12))
@settings(max_examples=50)
def test_they_lie_side_by_side(seed: int, n_articles: int) -> None:
    fits, articles = drawn(seed, n_articles)
    made = ensemble.concatenate(fits, articles)
    assert made.vectors.shape == (9, 3 * DIM)
    assert np.allclose(made.folded(), side_by_side(fits, articles), atol=1e-5)
    # two texts are as alike as the fits find them together, each by what it makes of them
    whole = sum(part @ part.T for part in np.split(np.asarray(articles @ made.folded()), 3, axis=1))
    lengths = np.sqrt(np.diag(whole))
    units, _ = embed(articles, made.folded())
    assert np.allclose(units @ units.T, whole / np.outer(lengths, lengths), atol=1e-5)


def test_each_fit_counts_alike_however_long_its_vectors_are() -> None:
    fits, articles = drawn(1, 40)
    louder = [fits[0], replace(fits[1], vectors=fits[1].vectors * 50), fits[2]]
    assert np.allclose(
        ensemble.concatenate(fits, articles).vectors,
        ensemble.concatenate(louder, articles).vectors,
        atol=1e-4,
    )


def test_one_fit_is_the_fit_as_it_was() -> None:
    plain = fitter()
    alone = plain.fit_questions(plain.fit_corpus(), QUESTIONS)
    made = ensemble.fit(fitter(), QUESTIONS)
    assert np.array_equal(made.vectors, alone.vectors)
    assert np.array_equal(made.log_weights, alone.log_weights)
    assert FitSettings().id == "339ef8a8"  # what was fitted and kept before there were several is found


def test_three_fits_are_of_three_seeds_and_make_one_of_three_times_the_length() -> None:
    chosen = replace(TINY, fits=3)
    assert [each.seed for each in chosen.each] == [0, 10, 20]
    assert {each.fits for each in chosen.each} == {1}
    steps: list[tuple[str, int, int | None]] = []
    made = ensemble.fit(fitter(chosen), QUESTIONS, progress=lambda *step: steps.append(step))
    one = ensemble.fit(fitter(), QUESTIONS)
    assert made.vectors.shape == (len(one.vectors), 3 * TINY.dim)
    assert made.vocabulary == one.vocabulary
    assert np.isfinite(made.vectors).all()
    told = [step for step in steps if step[0] == "fitting the encoder to the law"]
    assert [done for _, done, _ in told] == list(range(1, len(told) + 1))
    assert {total for *_, total in told} == {len(told)}
    again = ensemble.fit(fitter(chosen), QUESTIONS)
    assert np.array_equal(again.vectors, made.vectors)
    assert len({settings.id for settings in (TINY, chosen, replace(TINY, fits=2))}) == 3


def test_what_was_fitted_to_the_law_may_be_given() -> None:
    seeds = []

    def begin(one: Fitter, written: Sequence[Question]) -> FittedParameters:
        assert not written
        seeds.append(one.settings.seed)
        return one.fit_corpus()

    made = ensemble.fit(fitter(replace(TINY, fits=2)), QUESTIONS, begin=begin)
    assert seeds == [0, 10]
    assert np.array_equal(made.vectors, ensemble.fit(fitter(replace(TINY, fits=2)), QUESTIONS).vectors)


def test_what_a_machine_wrote_comes_before_what_people_asked() -> None:
    written = [replace(q, split=SYNTHETIC) for q in QUESTIONS[::2]]
    people = QUESTIONS[1::2]
    one = fitter()
    law = one.fit_corpus()
    taught = one.with_settings(for_written(TINY, len(written))).fit_questions(law, written)
    expected = one.fit_questions(taught, people)
    for mixed in ([*people, *written], [*written, *people]):
        made = ensemble.fit(fitter(), mixed)
        assert made.vocabulary == expected.vocabulary
        assert np.array_equal(made.vectors, expected.vectors)
    given = ensemble.fit(fitter(), [*people, *written], begin=lambda one, of: ensemble.pretrain(one, of))
    assert np.array_equal(given.vectors, expected.vectors)
    assert not np.array_equal(ensemble.fit(fitter(), people).vectors[: len(law.vectors)],
                              expected.vectors[: len(law.vectors)])  # fmt: skip


def test_what_a_machine_wrote_is_fitted_to_like_any_question_where_people_asked_none() -> None:
    written = [replace(q, split=SYNTHETIC) for q in QUESTIONS]
    assert np.array_equal(ensemble.fit(fitter(), written).vectors, ensemble.fit(fitter(), QUESTIONS).vectors)


def test_written_questions_are_fitted_to_as_suits_their_number_alone() -> None:
    chosen = FitSettings(seed=20, units="words", question_passes=2)
    many = for_written(chosen, 10**6)
    assert (many.seed, many.units, many.question_passes) == (20, "words", 2)
    assert many.question_batch == suited(10**6).question_batch
    assert many.drop_question == suited(10**6).drop_question
    assert for_written(FitSettings(), 10) == FitSettings()


def test_without_questions_it_is_fitted_to_the_law_alone() -> None:
    made = ensemble.fit(fitter(replace(TINY, fits=2)), ())
    assert made.vocabulary == fitter().vocabulary


def test_as_is_suited_so_many_times() -> None:
    assert resolve_settings(3, 10) == FitSettings(fits=3)
    assert resolve_settings(3, 10**6).each[0] == suited(10**6)
    assert resolve_settings(TINY, 10**6) == TINY
    plain = ensemble.fit(fitter(None), QUESTIONS, 1)
    assert np.array_equal(plain.vectors, ensemble.fit(fitter(FitSettings()), QUESTIONS).vectors)
    twice = ensemble.fit(fitter(None), QUESTIONS, 2)
    assert np.array_equal(twice.vectors, ensemble.fit(fitter(FitSettings(fits=2)), QUESTIONS).vectors)


@pytest.mark.parametrize("fits", [0, -1])
def test_no_fit_at_all_is_refused(fits: int) -> None:
    with pytest.raises(BadInput, match="give 1 or more"):
        FitSettings(fits=fits)


@pytest.mark.slow
def test_an_index_of_several_fits_is_fitted_as_often_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PANDECT_HOME", str(tmp_path))
    law = write(VILLAGE, tmp_path / "law")
    assert command.main(["import", str(law)]) == 0
    assert command.main(["build", "village", "--encoder", "fit", "--fits", "2"]) == 0
    entry = read(paths.current("village"), "again").encoder
    assert entry is not None
    assert entry["settings"]["fits"] == 2
    assert entry["dim"] == 2 * FitSettings().dim
    assert command.main(["update", "village", str(law), "--refit"]) == 0
    assert read(paths.current("village"), "again").encoder == entry


def test_a_corpus_that_would_get_no_fitted_encoder_gets_one_of_several_fits(tmp_path: Path) -> None:
    chosen = choose("auto", VILLAGE, QUESTIONS, CUT, 2, lambda what, done, total: None)
    assert chosen is not None
    assert chosen.entry["settings"]["fits"] == 2


def test_each_fit_counts_alike_whatever_articles_say_nothing() -> None:
    fits, articles = drawn(2, 12)
    silent = vstack([articles, csr_array((40, articles.shape[1]), dtype=np.float32)], format="csr")
    louder = [fits[0], replace(fits[1], vectors=fits[1].vectors * 50), fits[2]]
    first, second = (ensemble.concatenate(each, silent).vectors for each in (fits, louder))
    assert np.allclose(first, second, atol=1e-4)
    assert np.allclose(first, ensemble.concatenate(fits, articles).vectors, atol=1e-4)
    nothing = ensemble.concatenate(fits, csr_array((0, articles.shape[1]), dtype=np.float32))
    assert np.isfinite(nothing.vectors).all()


@pytest.mark.parametrize("encoder", ["borrow", "none", "some/model"])
def test_what_is_not_fitted_is_not_fitted_several_times(encoder: str) -> None:
    with pytest.raises(BadInput, match="--fits 3"):
        install(settings=BuildSettings(encoder=encoder, fit=3))
