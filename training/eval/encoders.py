"""Encoders that are fitted to a corpus and to the questions of a fold, the last few of them kept.

What takes minutes to make, kept in a folder: made once, read the next time.
"""

from __future__ import annotations

import json
import sys
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TypeVar

import numpy as np

from indexes.build import ensemble
from indexes.build.encoder_choice import merged_articles, merged_questions
from indexes.build.fit_settings import FitSettings, FitSpec, FittedParameters
from indexes.build.static_encoder import Fitter
from indexes.corpus.corpus import Corpus, appearing
from rag.encoders.static import StaticEncoder, article_terms
from rag.errors import BadInput
from rag.text import Analyser
from rag.types import Floats, Progress, Question

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


MAX_CACHED_FITS = 8  # fitted to different questions: of one fold and its inner folds


class EncoderFits:
    """The encoders fitted to one corpus, by questions and settings."""

    def __init__(
        self,
        corpora: Sequence[Corpus],
        cut: Callable[[], Analyser],
        how: FitSpec,
        cache: Path | None,
        progress: Progress,
    ) -> None:
        """Take what is fitted to.

        Args:
            corpora: the law first; then others of the language, whose articles and questions are learnt too.
            cut: gives the analyser of the language.
            how: settings, or how many fits, as is suited to the number of questions.
            cache: folder that keeps what is fitted to the law, by the corpora's hashes; None keeps nothing.
            progress: called as the work goes on.
        """
        self.law, self._other_corpora = corpora[0], tuple(corpora[1:])
        self._cut, self._how, self._progress = cut, how, progress
        hashes = "+".join(each.sha256[:16] for each in corpora)
        self._cache = FitCache(cache / hashes if cache is not None else None)
        self._law_fits: dict[str, FittedParameters] = {}  # to the law alone, by settings
        self._written: tuple[tuple[Question, ...], dict[str, FittedParameters]] = (
            (),
            {},
        )  # then to these, the same
        self._made: OrderedDict[tuple[Question, ...], StaticEncoder] = OrderedDict()

    @cached_property
    def _other_questions(self) -> tuple[Question, ...]:
        return tuple(merged_questions(self._other_corpora))

    @cached_property
    def _fitter(self) -> Fitter:
        articles = [*self.law.articles, *merged_articles(self._other_corpora)]
        return Fitter(articles, self._cut(), self._how if isinstance(self._how, FitSettings) else None)

    def _of_law(self, fitter: Fitter) -> FittedParameters:
        """Return what is fitted to the law alone, with the settings of this fitter."""
        settings = fitter.settings
        if settings.id not in self._law_fits:
            self._law_fits[settings.id] = self._cache(
                f"fitted-{self._cut().id}-{settings.id}",
                lambda: fitter.fit_corpus(self._progress),
                save_fitted,
                load_fitted,
            )
        return self._law_fits[settings.id]

    def _pretrained(self, fitter: Fitter, written: Sequence[Question]) -> FittedParameters:
        """Return what is fitted to the law and to written questions, which folds share as they do the law."""
        law = self._of_law(fitter)
        if not written:
            return law
        if self._written[0] != tuple(written):
            self._written = tuple(written), {}
        made, key = self._written[1], fitter.settings.id
        if key not in made:
            made[key] = ensemble.pretrain(fitter, written, law, self._progress)
        return made[key]

    def encoder(self, learn: Sequence[Question] | None) -> StaticEncoder:
        """Return the encoder fitted to the law and to these questions.

        Args:
            learn: the questions, beside which it learns those that others lend; None for the law alone.
        """
        questions = () if learn is None else (*learn, *self._other_questions)
        if questions not in self._made:
            fitted = ensemble.fit(
                self._fitter,
                questions,
                self._how if isinstance(self._how, int) else 1,
                begin=self._pretrained,
                progress=self._progress,
            )
            self._made[questions] = fitted.encoder("static", self._cut())
        self._made.move_to_end(questions)  # folds that learn from the same questions share it
        while len(self._made) > MAX_CACHED_FITS:
            self._made.popitem(last=False)
        return self._made[questions]


class EncodedArticles:
    """The vectors of a corpus's articles, which are cut once for every encoder."""

    def __init__(self, corpus: Corpus, cut: Callable[[], Analyser]) -> None:
        """Take the articles, and what gives the analyser of their language."""
        self._articles, self._cut = corpus.articles, cut

    @cached_property
    def _terms(self) -> list[tuple[str, ...]]:
        cut = self._cut()
        return [tuple(map(sys.intern, article_terms(a, cut))) for a in self._articles]

    def by(self, encoder: StaticEncoder) -> Floats:
        """Return what `encode_articles` does."""
        if encoder.analyser.id != self._cut().id:
            return encoder.encode_articles(self._articles)
        return encoder.encode_terms(self._terms)
