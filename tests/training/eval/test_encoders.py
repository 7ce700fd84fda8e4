"""Encoders of folds: what they share is made once, and each is what fitting it alone would give."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from indexes.build import ensemble
from indexes.build.fit_settings import FitSettings
from indexes.build.static_encoder import Fitter
from indexes.corpus.corpus import SYNTHETIC
from rag.text.analysers import analyser
from rag.types import Question
from tests.fakes.ranking.benchmark import ANSWERED, CORPUS
from training.eval.encoders import EncoderFits

SMALL = FitSettings(dim=8, passes=1, question_passes=1, random_negatives=4, min_count=1)
CUT = analyser("fr")
WRITTEN = tuple(replace(q, id=f"w-{q.id}", split=SYNTHETIC) for q in ANSWERED[:8])
OTHER = tuple(replace(q, id=f"v-{q.id}", split=SYNTHETIC) for q in ANSWERED[8:12])


class Told:
    """Counts what is told of."""

    def __init__(self) -> None:
        self.begun: list[str] = []

    def __call__(self, what: str, done: int, total: int) -> None:
        if done == 1:
            self.begun.append(what)


def vectors_of(fits: EncoderFits, learn: tuple[Question, ...]) -> np.ndarray:
    encoder = fits.encoder(learn)
    return encoder.encode_articles(CORPUS.articles)


@pytest.mark.parametrize("how", [SMALL, replace(SMALL, fits=2)], ids=["one", "two"])
def test_folds_share_what_is_fitted_to_written_questions(how: FitSettings, tmp_path: Path) -> None:
    told = Told()
    fits = EncoderFits([CORPUS], lambda: CUT, how, tmp_path, told)
    parts = [(*ANSWERED[:9], *WRITTEN), (*ANSWERED[9:], *WRITTEN), (*ANSWERED[:9], *OTHER), ANSWERED[:9]]
    for learn in parts:
        alone = ensemble.fit(Fitter(CORPUS.articles, CUT, how), learn).encoder("static", CUT)
        assert np.array_equal(vectors_of(fits, learn), alone.encode_articles(CORPUS.articles))
    assert told.begun.count("fitting the encoder to the law") == how.fits
    assert told.begun.count("fitting the encoder to written questions") == 2 * how.fits  # of two sets of them
    assert told.begun.count("fitting the encoder to questions") >= len(parts)
