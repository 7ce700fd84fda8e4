"""Learn which words of the law stand for a layperson's: IBM Model 1 over questions and what they cite.

Berger & Lafferty (1999) took retrieval for translation; Xue, Jeon & Croft (2008) learnt how words translate
from questions and their answers. Here a question is the one side and an article that it cites the other: by
expectation maximisation (Brown et al. 1993) each term of the article is laid to the terms of the
question, or to an empty word, that best account for it over all pairs. What two terms share by chance is
taken out by the likelihood ratio of Dunning (1993), as Moore (2004) found rare words to need. The nearest
terms of the static encoder join them, the only ones that a word has which no question holds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from rag.encoders.static import StaticEncoder, unit
from rag.retrieval.term_counts import FieldCounts, document_frequency
from rag.retrieval.translation_model import Pair, TranslationModel
from rag.types import Floats, Ints, Question

Doubles = npt.NDArray[np.float64]
_Nearest = dict[str, dict[str, tuple[float, float]]]  # lay term -> law term -> its part of 1, its cosine
LEARNT_FIELDS = ("text", "headings")  # the name of a code is no word for anything
_CHUNK = 512  # lay terms that are compared with all terms of the law at a time


@dataclass(frozen=True, slots=True)
class TranslationSettings:
    """How a bridge is learnt; tried on the dev half of the builtin test questions (docs/ranking.md)."""

    rounds: int = 5  # of expectation maximisation: later ones fit rare words to their one article
    article_terms: int = 40  # of one article, by term frequency times idf
    least_questions: int = 2  # that a pair needs
    least_articles: int = 2  # that those questions cite
    surprise: float = 10.83  # of the likelihood ratio: a chance of one in a thousand (chi-squared, 1 degree)
    common: float = 0.2  # share of articles; a term in more of them tells none apart
    max_terms: int = 10  # law terms of a lay term
    least: float = 0.02  # probability of a pair that is kept
    synonyms: float = 0.15  # of the probability that the encoder's nearest terms share
    nearest: int = 8  # terms that are taken for synonyms
    nearness: float = 0.4  # cosine from which one is,
    near: float = 0.7  # and at which the nearest has made its case: below, all share less
    sharpness: float = 0.1  # a synonym that is this much farther in cosine counts e times less


@dataclass(frozen=True)
class _Sides:
    """Questions and the articles that they cite, pair by pair, as numbers of terms."""

    question: Ints  # (n_pairs,) which question
    article: Ints  # (n_pairs,) position
    weight: Doubles = field(repr=False)  # (n_pairs,) a question's articles share 1
    lay: sp.csr_array = field(repr=False)  # (n_questions, n_lay), 1 where the question has the term
    law: sp.csr_array = field(repr=False)  # (n_articles, n_law), 1 for the article's telling terms


def learn(
    counts: FieldCounts,
    questions: Sequence[Question],
    tokenised: Sequence[Sequence[str]],
    encoder: StaticEncoder | None = None,
    settings: TranslationSettings | None = None,
    stop: frozenset[str] = frozenset(),
) -> TranslationModel:
    """Return the bridge of a corpus, of annotated questions and the terms of each.

    A gold id that is no article's is passed over. Without an encoder fitted to the corpus it is learnt from
    questions alone; stop terms are neither expanded nor expanded to.
    """
    chosen = settings or TranslationSettings()
    often = document_frequency(counts.weighted(dict.fromkeys(LEARNT_FIELDS, 1.0)))
    most = max(chosen.common * len(counts.order.ids), 2.0)
    law = {  # the terms that may be reached, and the column of each
        term: column
        for term, column in sorted(counts.vocabulary.items())
        if 0 < often[column] <= most and _is_word(term, stop)
    }
    lay = sorted({t for terms in tokenised for t in terms if _is_word(t, stop)})
    sides = _sides(counts, questions, tokenised, lay, law, chosen)
    learnt = _translated(sides, lay, list(law), chosen)
    nearest: _Nearest = {}
    if encoder is not None and chosen.synonyms > 0:
        unwritten = (t for t in encoder.vocabulary if t not in counts.vocabulary and _is_word(t, stop))
        nearest = _synonyms(encoder, sorted({*lay, *unwritten}), law, chosen)
    share = chosen.synonyms if nearest else 0.0
    pairs: dict[str, tuple[Pair, ...]] = {}
    for term in sorted({*learnt, *nearest}):
        by_questions, by_nearness = learnt.get(term, {}), nearest.get(term, {})
        found = []
        for word in sorted({*by_questions, *by_nearness}):
            probability, evidence = by_questions.get(word, (0.0, 0))
            likely, cosine = by_nearness.get(word, (0.0, 0.0))
            mixed = (1 - share) * probability + share * likely
            if mixed >= chosen.least:
                found.append(Pair(term, word, round(mixed, 4), evidence, round(cosine, 2)))
        best = sorted(found, key=lambda p: (-p.probability, p.law))[: chosen.max_terms]
        if best:
            pairs[term] = tuple(best)
    return TranslationModel(pairs)


def _is_word(term: str, stop: frozenset[str]) -> bool:
    return term not in stop and not any(letter.isdigit() for letter in term)


def _translated(
    sides: _Sides, lay: Sequence[str], words: Sequence[str], settings: TranslationSettings
) -> dict[str, dict[str, tuple[float, int]]]:
    """Return lay term -> law term -> probability and number of questions."""
    if not len(sides.question) or not sides.law.nnz:
        return {}
    # one entry for every term of a question, or the empty word, the last lay term, beside every term of an
    # article it cites
    lefts, rights, pairs = [], [], []
    for number, (q, a) in enumerate(zip(sides.question.tolist(), sides.article.tolist(), strict=True)):
        mine = np.append(sides.lay.indices[sides.lay.indptr[q] : sides.lay.indptr[q + 1]], len(lay))
        theirs = sides.law.indices[sides.law.indptr[a] : sides.law.indptr[a + 1]]
        lefts.append(np.tile(mine, len(theirs)))
        rights.append(np.repeat(theirs, len(mine)))
        pairs.append(np.full(len(mine) * len(theirs), number))
    left, right, pair = (np.concatenate(parts).astype(np.int64) for parts in (lefts, rights, pairs))
    keys, of = np.unique(left * len(words) + right, return_inverse=True)
    lays, laws = keys // len(words), keys % len(words)
    _, held = np.unique(pair * len(words) + right, return_inverse=True)
    weight = sides.weight[pair]
    likely = 1.0 / np.bincount(lays)[lays]  # P(law term | lay term), from even beginnings
    for _ in range(settings.rounds):
        each = likely[of]
        expected = np.bincount(of, weights=weight * each / np.bincount(held, weights=each)[held])
        likely = expected / np.bincount(lays, weights=expected)[lays]
    questions = _distinct(of, sides.question[pair], len(keys))
    cited = _distinct(of, sides.article[pair], len(keys))
    surprise = _likelihood_ratio(sides, lays, laws, np.bincount(of, minlength=len(keys)).astype(np.float64))
    mask = (
        (lays < len(lay))
        & (questions >= settings.least_questions)
        & (cited >= settings.least_articles)
        & (surprise >= settings.surprise)
        & (likely >= settings.least / 2)  # what is less is pruned whatever the synonyms add
    )
    found: dict[str, dict[str, tuple[float, int]]] = {}
    for i in np.flatnonzero(mask).tolist():
        found.setdefault(lay[lays[i]], {})[words[laws[i]]] = float(likely[i]), int(questions[i])
    return found


def _sides(
    counts: FieldCounts,
    questions: Sequence[Question],
    tokenised: Sequence[Sequence[str]],
    lay: Sequence[str],
    law: Mapping[str, int],
    settings: TranslationSettings,
) -> _Sides:
    position = {id_: i for i, id_ in enumerate(counts.order.ids)}
    number = {term: i for i, term in enumerate(lay)}
    pairs: dict[tuple[str, tuple[str, ...]], list[int]] = {}  # asked twice of the same articles counts once
    for question, own in zip(questions, tokenised, strict=True):
        gold = tuple(sorted({id_ for id_ in question.article_ids if id_ in position}))
        columns_of = sorted({number[t] for t in own if t in number})
        if gold and columns_of and (question.text, gold) not in pairs:
            pairs[question.text, gold] = columns_of
    ordered = sorted(pairs)  # sums do not depend on the order of the questions
    often = [len(gold) for _, gold in ordered]
    article = np.array([position[id_] for _, gold in ordered for id_ in gold], dtype=np.int64)
    terms = [pairs[key] for key in ordered]
    indptr = np.concatenate([[0], np.cumsum([len(t) for t in terms])]).astype(np.int64)
    columns = np.array([t for own in terms for t in own], dtype=np.int64)
    incidence = sp.csr_array((np.ones(len(columns)), columns, indptr), shape=(len(terms), len(lay)))
    telling = _telling(counts, np.unique(article), law, settings)
    weight = np.repeat(1 / np.array(often, dtype=np.float64), often)
    return _Sides(np.repeat(np.arange(len(often)), often), article, weight, incidence, telling)


def _telling(
    counts: FieldCounts, articles: Ints, law: Mapping[str, int], settings: TranslationSettings
) -> sp.csr_array:
    """Return which terms tell most of these articles, (n_articles, n_law); others have none."""
    columns = np.array(list(law.values()), dtype=np.int64)
    total = counts.weighted(dict.fromkeys(LEARNT_FIELDS, 1.0))[:, columns]
    idf = np.log(total.shape[0] / np.maximum(document_frequency(sp.csr_array(total)), 1)) + 1e-9
    rows, found = [], []
    for row in articles.tolist():
        begin, end = total.indptr[row], total.indptr[row + 1]
        mine = total.indices[begin:end]
        worth = np.round(np.log1p(total.data[begin:end].astype(np.float64)) * idf[mine], 9)
        best = mine[np.lexsort((mine, -worth))[: settings.article_terms]]  # columns are in the terms' order
        rows += [row] * len(best)
        found += best.tolist()
    return sp.csr_array((np.ones(len(rows)), (rows, found)), shape=total.shape)


def _distinct(of: Ints, what: Ints, n: int) -> Ints:
    """Count the different values that stand beside each key."""
    size = int(what.max(initial=0)) + 1
    both = np.sort(of * size + what)  # numpy.unique takes several times as long
    fresh = both[np.append(True, both[1:] != both[:-1])[: len(both)]]
    return np.bincount(fresh // size, minlength=n).astype(np.int64)


def _likelihood_ratio(sides: _Sides, lays: Ints, laws: Ints, both: Doubles) -> Doubles:
    """Return Dunning's G² of each pair of terms that is together more often than by chance; else 0."""
    n = len(sides.question)
    has_lay = np.append(np.asarray(sides.lay[sides.question].sum(axis=0)).ravel(), n)[lays]
    has_law = np.asarray(sides.law[sides.article].sum(axis=0)).ravel()[laws]
    table = (both, has_lay - both, has_law - both, n - has_lay - has_law + both)
    chance = [lay * law / n for lay in (has_lay, n - has_lay) for law in (has_law, n - has_law)]
    total = np.zeros(len(both))
    for seen, expected in zip(table, chance, strict=True):
        present = (seen > 0) & (expected > 0)
        total[present] += 2 * seen[present] * np.log(seen[present] / expected[present])
    return np.where(both > chance[0], total, 0.0)


def _synonyms(
    encoder: StaticEncoder, lay: Sequence[str], law: Mapping[str, int], settings: TranslationSettings
) -> _Nearest:
    known, law_known = ([t for t in terms if t in encoder.vocabulary] for terms in (lay, law))
    if not known or not law_known:
        return {}

    def vectors(terms: Sequence[str]) -> Floats:
        return unit(encoder.codes[[encoder.vocabulary[t] for t in terms]].astype(np.float32))

    targets = vectors(law_known)
    found: _Nearest = {}
    for begin in range(0, len(known), _CHUNK):
        part = known[begin : begin + _CHUNK]
        cosines = np.round(vectors(part) @ targets.T, 5)
        for term, row in zip(part, cosines, strict=True):
            near = np.flatnonzero(row >= settings.nearness)
            near = near[[law_known[i] != term for i in near.tolist()]]  # none is its own synonym
            near = near[np.lexsort((near, -row[near]))][: settings.nearest]
            words = [law_known[i] for i in near.tolist()]
            if words:
                each = np.exp((row[near].astype(np.float64) - 1) / settings.sharpness)
                # that nearest is near by chance alone where it is hardly near
                sure = (float(row[near[0]]) - settings.nearness) / (settings.near - settings.nearness)
                parts = (np.clip(sure, 0.0, 1.0) * each / each.sum()).tolist()
                cosine = row[near].tolist()
                found[term] = dict(zip(words, zip(parts, cosine, strict=True), strict=True))
    return found
