"""Fit an encoder several times, each with its own seed, and lay the fits side by side.

What one fit makes of a word that stands in few texts is a matter of luck; what several say of it
together is less so (bagging: Breiman 1996). Where Chinese is cut into words and pairs of characters,
the second fit looks at pairs alone and the third at words alone: fits that do not
see the same err elsewhere (random subspaces: Ho 1998). Side by side they are one encoder of so many times the
length. To turn that to the directions which articles fill most, and keep as many as one fit has, costs
a third to a half of what the others bring (docs/results.md, what was tried).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from indexes.build.contrastive import Bags, embed
from indexes.build.fit_settings import FitSettings, FittedParameters, for_written, resolve_settings
from indexes.build.static_encoder import Fitter
from indexes.build.training_pairs import bag
from indexes.corpus.corpus import human_or_synthetic
from rag.text import Analyser
from rag.text.chinese import Units, uses_words_and_bigrams
from rag.types import Floats, Progress, Question, named, no_progress

_VIEWS: tuple[Units, ...] = ("both", "bigrams", "words")  # and from the beginning again
# Fits to the law, of whatever seed, and then to questions that a machine wrote, if there are any.
Begin = Callable[[Fitter, Sequence[Question]], FittedParameters]


def fit(
    fitter: Fitter,
    questions: Sequence[Question],
    fits: int = 1,
    *,
    begin: Begin | None = None,
    progress: Progress = no_progress,
) -> FittedParameters:
    """Fit to the law, then to questions where there are any, as often as is wanted.

    Where some were asked by people and others written by a machine, it is fitted to the written ones
    first, as to the law before them, so that what people asked has the last word.

    Args:
        fitter: the corpus, analysed. Where it was given settings, they are used, fits and all.
        questions: none fits to the law alone.
        fits: how often, where it was given none.
        begin: gives what comes before the questions that people asked, where that is kept; left out, it
            is fitted.
        progress: called as the fits go on, those that are made here.

    Raises:
        BadInput: fewer than one fit.
    """
    people, written = human_or_synthetic(questions)
    each = _each(fitter, len(people), fits)
    made = [
        begin(one, written) if begin else pretrain(one, written, progress=_part(progress, n, len(each)))
        for n, one in enumerate(each)
    ]
    if people:
        made = [
            one.fit_questions(start, people, _part(progress, n, len(each)))
            for n, (one, start) in enumerate(zip(each, made, strict=True))
        ]
    if len(made) == 1:
        return made[0]
    articles = [fitter.texts.whole(i) for i in range(fitter.n_articles)]
    return concatenate(made, bag(articles, len(made[0].vocabulary)))


def pretrain(
    fitter: Fitter,
    written: Sequence[Question],
    of_law: FittedParameters | None = None,
    progress: Progress = no_progress,
) -> FittedParameters:
    """Fit once to the law and to synthetic questions.

    Args:
        fitter: the corpus, analysed, with the settings of one fit.
        written: the questions, or none.
        of_law: what is fitted to the law, where that is known.
        progress: called as the fits go on.
    """
    fitted = of_law or fitter.fit_corpus(progress)
    if not written:
        return fitted
    suiting = fitter.with_settings(for_written(fitter.settings, len(written)))
    return suiting.fit_questions(fitted, written, named(progress, "fitting the encoder to written questions"))


def views(settings: FitSettings, cut: Analyser) -> tuple[Units, ...]:
    """Return what each of the fits looks at, in order.

    All of it where there is one fit, where a text is cut in one way alone, or as the settings say where
    they name other units than both.
    """
    apart = settings.fits > 1 and settings.units == "both" and uses_words_and_bigrams(cut)
    return tuple(_VIEWS[nth % len(_VIEWS)] if apart else settings.units for nth in range(settings.fits))


def _each(fitter: Fitter, n_questions: int, fits: int) -> Sequence[Fitter]:
    settings = fitter.given or resolve_settings(fits, n_questions, fitter.n_articles)
    if settings.fits == 1:
        return [fitter]
    looked_at = views(settings, fitter.analyser)
    return [
        fitter.with_settings(replace(single, units=units))
        for single, units in zip(settings.each, looked_at, strict=True)
    ]


def concatenate(fits: Sequence[FittedParameters], articles: Bags) -> FittedParameters:
    """Return one encoder whose vectors are those of all fits, concatenated.

    Each counts alike: its vectors are divided by the mean length of an article's sum.

    Args:
        fits: over the same vocabulary, at least one.
        articles: (n_articles, n_terms) counts.

    Returns:
        Vectors (n_terms, dim of all) with weights of 1.
    """
    vectors = np.concatenate([_even(each.folded(), articles) for each in fits], axis=1)
    return replace(fits[0], vectors=vectors, log_weights=np.zeros(len(vectors), np.float32))


def _even(vectors: Floats, articles: Bags) -> Floats:
    """Return the vectors with 1 as the mean length of the sums of articles that have terms with one."""
    units, lengths = embed(articles, vectors)
    nonzero = units.any(axis=1)
    if not nonzero.any():
        return vectors
    return np.asarray(vectors / lengths[nonzero].mean(), np.float32)


def _part(progress: Progress, nth: int, of: int) -> Progress:
    """Return the progress of one fit of several, counted over all of them."""
    return lambda what, done, total: progress(what, nth * (total or 0) + done, of * (total or 0))
