"""Fit an encoder several times, each with its own seed, and fold the fits into one of the same size.

What one fit makes of a word that stands in few texts is a matter of luck; what several say of it
together is less so (bagging: Breiman 1996). Side by side they are one encoder of so many times the
length. Articles fill few of its directions: it is turned to those that hold most of them (principal
components, not centred) and cut there, so that an index and a question cost what they cost with one fit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from indexes.asked import bag
from indexes.contrastive import Bags, embed
from indexes.fit import Fitter, Progress
from indexes.fitted import FitSettings, Fitted, suited
from rag.types import Floats, Question

Begin = Callable[[Fitter], Fitted]  # the fit to the law alone, of whatever seed


def fit(
    fitter: Fitter,
    questions: Sequence[Question],
    *,
    begin: Begin | None = None,
    law: Progress | None = None,
    asked: Progress | None = None,
) -> Fitted:
    """Fit to the law, then to questions where there are any, as often as the settings say.

    Args:
        fitter: the corpus, analysed.
        questions: none fits to the law alone.
        begin: gives what is fitted to the law, where that is kept; left out, it is fitted.
        law: called as the fits to the law go on.
        asked: called as those to questions do.
    """
    settings = fitter.given or suited(len(questions))
    made = [
        _one(one, questions, begin, _part(law, nth, settings.fits), _part(asked, nth, settings.fits))
        for nth, one in enumerate(_fitters(fitter, settings))
    ]
    if len(made) == 1:
        return made[0]
    articles = [fitter.texts.whole(i) for i in range(fitter.n_articles)]
    return folded(made, bag(articles, len(made[0].vocabulary)))


def _fitters(fitter: Fitter, settings: FitSettings) -> Sequence[Fitter]:
    return [fitter] if settings.fits == 1 else [fitter.with_settings(single) for single in settings.each]


def _one(
    fitter: Fitter,
    questions: Sequence[Question],
    begin: Begin | None,
    law: Progress | None,
    asked: Progress | None,
) -> Fitted:
    fitted = begin(fitter) if begin else fitter.fit_corpus(law)
    return fitter.fit_questions(fitted, questions, asked) if questions else fitted


def folded(fits: Sequence[Fitted], articles: Bags) -> Fitted:
    """Return one encoder of the length of the first, near to all of them side by side.

    Each counts alike: its vectors are divided by the mean length of an article's sum. The directions that
    are kept are those of the articles' unit vectors; what no article lies along, no question is near by.

    Args:
        fits: over the same vocabulary, at least one.
        articles: (n_articles, n_terms) counts.

    Returns:
        Vectors (n_terms, dim) with weights of 1.
    """
    dim = fits[0].vectors.shape[1]
    beside = np.concatenate(
        [_even(each.vectors * np.exp(each.log_weights)[:, None], articles) for each in fits], 1
    )
    units, _ = embed(articles, beside)
    _, axes = np.linalg.eigh((units.T @ units).astype(np.float64))
    axes = axes[:, ::-1][:, :dim]
    # which way a direction points is arbitrary: always that in which its largest part is above 0
    axes = axes * np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(axes.shape[1])])
    vectors = np.asarray(beside @ axes.astype(np.float32), np.float32)
    return replace(fits[0], vectors=vectors, log_weights=np.zeros(len(vectors), np.float32))


def _even(vectors: Floats, articles: Bags) -> Floats:
    _, lengths = embed(articles, vectors)
    return np.asarray(vectors / lengths.mean(), np.float32) if len(lengths) else vectors


def _part(progress: Progress | None, nth: int, of: int) -> Progress | None:
    """Return a progress that knows of the other fits."""
    if progress is None:
        return None
    return lambda done, total, loss: progress(nth * total + done, of * total, loss)
