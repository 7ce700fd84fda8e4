"""Encoders fitted to a corpus and to the questions of a fold; what takes minutes stays in a folder."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TypeVar

import numpy as np

from indexes.build import ensemble
from indexes.build.encoder_choice import merged_articles, merged_questions
from indexes.build.fit_settings import FitSettings, FitSpec, FittedParameters
from indexes.build.static_encoder import Fitter
from indexes.corpus.corpus import Corpus, appearing
from rag.encoders.static import StaticEncoder
from rag.errors import BadInput
from rag.text import Analyser
from rag.types import Progress, Question

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class FitCache:
    """A folder of cached fits; None caches nothing."""

    folder: Path | None

    def __call__(
        self, key: str, make: Callable[[], _T], save: Callable[[_T, Path], None], load: Callable[[Path], _T]
    ) -> _T:
        """Return what is kept under this key; make and keep it where there is nothing."""
        if self.folder is None:
            return make()
        folder = self.folder / "".join(c if c.isalnum() or c in "-." else "_" for c in key)
        if not folder.is_dir():
            made = make()
            try:
                with appearing(folder) as part:
                    save(made, part)
            except (BadInput, OSError):
                if not folder.is_dir():  # else another evaluation was first, with the same
                    raise
            return made
        return load(folder)


def save_fitted(fitted: FittedParameters, folder: Path) -> None:
    """Write the parameters of an encoder, unrounded, into an empty folder."""
    words = sorted(fitted.vocabulary, key=fitted.vocabulary.__getitem__)
    (folder / "vocabulary.json").write_text(json.dumps(words, ensure_ascii=False), encoding="utf-8")
    np.save(folder / "vectors.npy", fitted.vectors, allow_pickle=False)
    np.save(folder / "log_weights.npy", fitted.log_weights, allow_pickle=False)


def load_fitted(folder: Path) -> FittedParameters:
    """Read what `save_fitted` wrote."""
    words = json.loads((folder / "vocabulary.json").read_text(encoding="utf-8"))
    vocabulary: Mapping[str, int] = {word: i for i, word in enumerate(words)}
    return FittedParameters(vocabulary, np.load(folder / "vectors.npy"), np.load(folder / "log_weights.npy"))


MAX_CACHED_FITS = 8  # learnt from different questions: of one fold and its inner folds


class EncoderFits:
    """The encoders fitted to one corpus, by questions and settings; the last few are kept."""

    def __init__(
        self,
        corpora: Sequence[Corpus],
        analyser: Callable[[], Analyser],
        how: FitSpec,
        cache: Path | None,
        progress: Progress,
    ) -> None:
        """Fit to the law, which comes first, and to the articles and questions of others of the language.

        `cache` is a folder that keeps what is fitted to the law, by the corpora's hashes; `how` is settings,
        or how many fits, as is suited to the number of questions.
        """
        self._corpora, self._analyser, self._how, self._progress = corpora, analyser, how, progress
        hashes = "+".join(each.sha256[:16] for each in corpora)
        self._cache = FitCache(cache / hashes if cache is not None else None)
        self._lending_questions = tuple(merged_questions(corpora[1:]))
        self._law_fits: dict[str, FittedParameters] = {}  # to the law alone, by settings
        self._written: tuple[Question, ...] = ()  # that a machine wrote
        self._written_fits: dict[str, FittedParameters] = {}  # then to these, the same
        self._fitted = lru_cache(MAX_CACHED_FITS)(self._fit)  # folds that learn from the same share it

    @cached_property
    def _fitter(self) -> Fitter:
        law, *others = self._corpora
        articles = [*law.articles, *merged_articles(others)]
        return Fitter(articles, self._analyser(), self._how if isinstance(self._how, FitSettings) else None)

    def _pretrained(self, fitter: Fitter, written: Sequence[Question]) -> FittedParameters:
        """Return what is fitted to the law and to written questions, which folds share as they do the law."""
        key = fitter.settings.id
        if key not in self._law_fits:
            self._law_fits[key] = self._cache(
                f"fitted-{self._analyser().id}-{key}",
                lambda: fitter.fit_corpus(self._progress),
                save_fitted,
                load_fitted,
            )
        if not written:
            return self._law_fits[key]
        if self._written != tuple(written):
            self._written, self._written_fits = tuple(written), {}
        if key not in self._written_fits:
            law = self._law_fits[key]
            self._written_fits[key] = ensemble.pretrain(fitter, written, law, self._progress)
        return self._written_fits[key]

    def encoder(self, learn: Sequence[Question] | None) -> StaticEncoder:
        """Return the encoder fitted to the law, these questions and those lent; None for the law alone."""
        return self._fitted(() if learn is None else (*learn, *self._lending_questions))

    def _fit(self, questions: tuple[Question, ...]) -> StaticEncoder:
        fits = self._how if isinstance(self._how, int) else 1
        begin, progress = self._pretrained, self._progress
        fitted = ensemble.fit(self._fitter, questions, fits, begin=begin, progress=progress)
        return fitted.encoder("static", self._analyser())
