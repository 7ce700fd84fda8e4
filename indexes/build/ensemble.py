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
from rag.types import Progress, Question, named, no_progress

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
    first, as to the law before them, so that what people asked has the last word. Where the fitter was given
    settings, they are used, fits and all. `begin` gives what comes before the questions that people asked,
    where that is kept; left out, it is fitted.

    Raises:
        BadInput: fewer than one fit.
    """
    people, written = human_or_synthetic(questions)
    settings = fitter.given or resolve_settings(fits, len(people), fitter.n_articles)
    each = [fitter]
    if settings.fits > 1:
        looked_at = zip(settings.each, views(settings, fitter.analyser), strict=True)
        each = [fitter.with_settings(replace(single, units=units)) for single, units in looked_at]

    def reported(nth: int) -> Progress:
        """Return the progress of one fit of several, counted over all of them."""
        of = len(each)
        return lambda what, done, total: progress(what, nth * (total or 0) + done, of * (total or 0))

    made = [
        begin(one, written) if begin else pretrain(one, written, progress=reported(n))
        for n, one in enumerate(each)
    ]
    if people:
        made = [
            one.fit_questions(start, people, reported(n))
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
    """Fit once to the law, unless what that gives is known, and to synthetic questions, or none."""
    fitted = of_law or fitter.fit_corpus(progress)
    if not written:
        return fitted
    suiting = fitter.with_settings(for_written(fitter.settings, len(written)))
    return suiting.fit_questions(fitted, written, named(progress, "fitting the encoder to written questions"))


def views(settings: FitSettings, analyser: Analyser) -> tuple[Units, ...]:
    """Return what each of the fits looks at, in order.

    All of it where there is one fit, where a text is cut in one way alone, or as the settings say where
    they name other units than both.
    """
    apart = settings.fits > 1 and settings.units == "both" and uses_words_and_bigrams(analyser)
    return tuple(_VIEWS[nth % len(_VIEWS)] if apart else settings.units for nth in range(settings.fits))


def concatenate(fits: Sequence[FittedParameters], articles: Bags) -> FittedParameters:
    """Return one encoder of all fits over one vocabulary: vectors (n_terms, dim of all), weights of 1.

    Each counts alike: its vectors are divided by the mean length of the sums of those articles, given as
    counts (n_articles, n_terms), that have terms with one.
    """
    parts = []
    for each in fits:
        vectors = each.folded()
        units, lengths = embed(articles, vectors)
        nonzero = units.any(axis=1)
        parts.append(np.asarray(vectors / lengths[nonzero].mean(), np.float32) if nonzero.any() else vectors)
    joined = np.concatenate(parts, axis=1)
    return replace(fits[0], vectors=joined, log_weights=np.zeros(len(joined), np.float32))
