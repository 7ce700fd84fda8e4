"""What is known of the candidates for one question: the features that a learned fusion ranks them by.

Every system says three things of a candidate: its score, its rank among the candidates, and its score
as a share of the best one's. Beside them stand what is known of the articles around it (under the
same headings, in the same code, right beside it, cited along with it, referring to it), of the article
and question themselves, and how often annotated questions cite it (a prior). Features are named so that
people can be shown them: `GROUPS` says to which reason each belongs.

The rule and its exception, the duty and its sanction stand one after the other, or one names the other, and a
lawyer who cites the one often cites the other: the first two are known from the law, the last from annotated
questions. Candidates alone speak, for candidates.

BM25 knows how rare a term is, not whether it matters to the question: *the travel contract's content* is not
answered by the content of another contract, however well the other words fit. Term weights that are learnt
tell so (Zheng & Callan 2015); here they only describe candidates, and a learned fusion weighs what they say.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from rag.corpus.structure import Surroundings
from rag.encoders.static import StaticEncoder
from rag.fusion.rank_fusion import reciprocal_rank
from rag.retrieval.bm25 import BM25
from rag.retrieval.dense import Dense
from rag.retrieval.query_expansion import ExpandedBM25
from rag.retrieval.question_knn import QuestionKNN
from rag.retrieval.term_counts import Postings, columns, term_ids
from rag.types import Floats, Ints, Ranking

DEPTH = 1000  # candidates
DAMPING = 20.0  # of the reciprocal ranks that choose and first order them
BITS = 18  # of a score that its rank looks at
TOP = 50  # first candidates that speak for their companions; a page shows ten
VOTED = 30  # with the most votes, that do; few questions are near enough to count
_SOFT = 5.0  # what the candidate in place r says, from 0, counts 1 / (5 + r)
STEPS = ((1,), (2, 3))  # how far away in the corpus's order: right beside; close
_REASON = {
    "keyword": "words",
    "law": "words",
    "asked": "questions",
    "meaning": "meaning",
    "near_meaning": "questions",
    "near_words": "questions",
    "votes": "questions",
}
SYSTEMS = tuple(_REASON)
SECTION_SOURCES = ("law", "meaning", "near_meaning", "votes")  # of which the neighbours' scores are looked at
WEIGHED = ("law", "keyword", "asked")  # of which the question's terms are weighed as the encoder weighs them
WEIGHTED_SUFFIXES = ("_weighed", "_covered", "_heaviest", "_missed")
EXPANSION_FEATURES = ("bridge", "bridge_rank", "bridge_share", "bridge_likelihood")
PRIORS = ("cited", "cited_in_code", "cited_beside")
ADJACENT_SOURCES = ("law", "meaning", "near_meaning", "fused")  # whose scores right beside are looked at
TOGETHER = ("together_best", "together_sum", "together_votes")  # with what they are cited
PLACES = ("before", "share_before")  # where they stand under their headings
REFERENCES = ("refers_best", "referred_best", "references_sum", "refers", "referred")  # to each other
GROUPS: Mapping[str, str] = {  # feature, in the order of the columns -> the reason that people are shown
    **{system + kind: _REASON[system] for system in SYSTEMS for kind in ("", "_rank", "_share")},
    **dict.fromkeys(
        (of + kind for of in SECTION_SOURCES for kind in ("_best_beside", "_mean_beside", "_best_in_code")),
        "place",
    ),
    **dict.fromkeys(("fused", "fused_rank"), "both"),
    **dict.fromkeys(("article_length", "question_length"), "general"),
    **dict.fromkeys(("code_in_50", "beside_in_50"), "place"),
    **dict.fromkeys(("best_meaning", "best_near_meaning"), "general"),
    **dict.fromkeys(PRIORS, "prior"),
    **dict.fromkeys(EXPANSION_FEATURES, "bridge"),
    **{system + kind: _REASON[system] for system in WEIGHED for kind in WEIGHTED_SUFFIXES},
    **dict.fromkeys((of + kind for kind in ("_next", "_close") for of in ADJACENT_SOURCES), "place"),
    **dict.fromkeys(TOGETHER, "questions"),
    **dict.fromkeys(PLACES, "place"),
    **dict.fromkeys(REFERENCES, "references"),
}
NAMES = tuple(GROUPS)
Places: TypeAlias = npt.NDArray[np.int32]  # (n_articles,), where each stands among the candidates, or -1


def adjacent_scores(scores: Floats, positions: Ints, at: Places, around: Surroundings) -> list[Floats]:
    """Return for each of `STEPS`, and each kind of score, (n_kinds, n), the best candidate's so far away.

    (n,) each, all kinds of the first distance before those of the next, as `NAMES` has them; 0 where no
    neighbour is a candidate, or none has more. Positions are in the order of the law,
    in which another code's article is no neighbour.
    """
    last = len(around.code) - 1
    code = around.code[positions]
    known = np.vstack([scores.T, np.zeros((1, len(scores)), scores.dtype)])  # the last: of none
    found: list[Floats] = []
    for steps in STEPS:
        best = np.zeros((len(positions), len(scores)), scores.dtype)
        for step in (way * far for far in steps for way in (-1, 1)):
            neighbours = np.clip(positions + step, 0, last)  # past an end it is its own neighbour: left out
            neighbour = (around.code[neighbours] == code) & (neighbours == positions + step)
            best = np.maximum(best, known[np.where(neighbour, at[neighbours], -1)])
        found += list(best.T)
    return found


def cocited_votes(votes: Floats, positions: Ints, at: Places, around: Surroundings) -> list[Floats]:
    """Return what the first candidates say for those that annotated questions cite along with them.

    Of the questions that cite a first candidate, the share that cite this one too (of one more than there
    are: of a single question little is learnt), times what that candidate's place counts.

    Returns:
        (n,) each: the most that one of the first 50 says, the sum of what they say, the most that one of
        the 30 with the most votes of annotated questions, (n,), says, by its share of the most votes.
    """
    first = np.arange(min(TOP, len(positions)))
    voted = np.argsort(-votes, kind="stable")[:VOTED]
    most = max(float(votes.max(initial=0)), 1e-9)
    cited, together = around.cited[positions] + 1, around.together
    best, total = _reference_sums(together, positions[first], 1 / (_SOFT + first) / cited[first], at)
    of_voted, _ = _reference_sums(together, positions[voted], votes[voted] / most / cited[voted], at)
    return [best, total, of_voted]


def reference_counts(positions: Ints, at: Places, around: Surroundings) -> list[Floats]:
    """Return what candidates say, as their places count, for those they refer to and are referred to by.

    Returns:
        (n,) each: the most that one which it refers to says, the most that one which refers to it says, the
        sum of what all of them say; log(1 + articles of the law that it refers to), and of those that refer
        to it.
    """
    n = len(positions)
    counts = 1 / (_SOFT + np.arange(n))
    links = around.refers, around.referred
    (best_forth, sum_forth), (best_back, sum_back) = (
        _reference_sums(of, positions, counts, at) for of in links
    )
    degrees = [np.log1p(of.indptr[positions + 1] - of.indptr[positions]).astype(np.float32) for of in links]
    return [best_back, best_forth, sum_back + sum_forth, *degrees]


def _reference_sums(
    links: sp.csr_array, speaking: Ints, counts: npt.NDArray[np.floating], at: Places
) -> tuple[Floats, Floats]:
    """Return the most and the sum of what some articles say for each candidate, (n,).

    Each says for each, (n_articles, n_articles), a share of what it counts, (n_speaking,). `at` has where
    each article stands among the candidates.
    """
    where, row = Postings(links.indptr, links.indices, links.data).of_each(speaking)
    number = at[links.indices[where]]
    held = number >= 0
    number, n = number[held], int(at.max()) + 1
    weighted = (links.data[where[held]] * counts[row[held]]).astype(np.float32)
    best = np.zeros(n, np.float32)
    np.maximum.at(best, number, weighted)
    return best, np.bincount(number, weights=weighted, minlength=n).astype(np.float32)


def term_parts(bm25: BM25, terms: Sequence[str], positions: Ints) -> Floats:
    """Return what each term, given once, adds to each article's BM25, (n_terms, n); 0 where it is not."""
    added = np.zeros((len(terms), len(positions)), dtype=np.float32)
    known, postings = bm25.index.vocab_dict, bm25.postings
    rows = np.array([row for row, term in enumerate(terms) if term in known], dtype=np.int64)
    where, row = postings.of_each(term_ids(terms, known))
    column = columns(positions, len(bm25.order.ids))[postings.indices[where]]
    held = np.flatnonzero(column >= 0)
    added[rows[row[held]], column[held]] = postings.data[where[held]]
    return added


def summed_parts(parts: Floats, times: Sequence[int]) -> Floats:
    """Return the BM25 of each article, (n,), from what each term adds, (n_terms, n), as often as it is asked.

    Terms are added in their order, so that a score does not depend on which other articles are there.
    """
    often = np.array(times, np.float64)[:, None]
    return np.asarray((parts * often).sum(axis=0), np.float32)


def weighted_parts(parts: Floats, weights: Floats) -> list[Floats]:
    """Describe articles by the weight, 0 or more, of the terms that add to their BM25, (n_terms, n).

    Returns:
        Four arrays, (n,) each: BM25 with each term times its weight; the share of all weight that is there;
        the heaviest term that is there, and the heaviest that is not, as shares of the heaviest of all.
    """
    present = parts != 0  # one variant of BM25 counts what most articles have against them
    weighed = present * weights[:, None]
    whole, most = float(weights.sum(dtype=np.float64)), float(weights.max(initial=0))
    if most <= 0:  # nothing is known of any term
        return [np.zeros(parts.shape[1], np.float32) for _ in range(4)]
    absent = np.where(present, np.float32(0), weights[:, None])
    return [
        np.asarray(weights.astype(np.float64) @ parts, np.float32),
        np.asarray(weighed.sum(axis=0, dtype=np.float64) / whole, np.float32),
        weighed.max(axis=0) / np.float32(most),
        absent.max(axis=0) / np.float32(most),
    ]


@dataclass(frozen=True)
class Candidates:
    """The candidates for one question and their features."""

    positions: Ints  # (n,), best first by reciprocal rank
    features: Floats = field(repr=False)  # (n, len(NAMES))


@dataclass(frozen=True)
class Evidence:
    """The systems that give the features of a corpus."""

    keyword: BM25 = field(repr=False)  # over all fields
    law: BM25 = field(repr=False)  # over the law's own fields
    questions: BM25 = field(repr=False)  # over the annotated questions of each article and their answers
    meaning: Dense = field(repr=False)
    nearest: QuestionKNN = field(repr=False)
    around: Surroundings = field(repr=False)
    expansion: ExpandedBM25 | None = field(default=None, repr=False)  # without one it says nothing

    def candidates(self, question: str, lists: Sequence[Ranking]) -> Candidates:
        """Return the first 1,000 articles of the lists, fused by reciprocal rank, with their features.

        The lists are what `keyword` and `meaning` return for the question, with whatever filter.
        """
        ranking = reciprocal_rank([mine.within(self.keyword.order) for mine in lists], DEPTH, c=DAMPING)
        positions, fused = ranking.positions, ranking.scores
        if not len(positions):
            return Candidates(positions, np.zeros((0, len(NAMES)), np.float32))
        terms = self.keyword.analyser.terms(question)
        often = Counter(terms)
        of_words = {"law": self.law, "keyword": self.keyword, "asked": self.questions}
        n, at = len(positions), columns(positions, len(self.around.code))
        parts = {system: term_parts(of_words[system], list(often), positions) for system in WEIGHED}
        scores = self._scores(question, terms, positions)
        scores |= {system: summed_parts(parts[system], list(often.values())) for system in ("law", "asked")}
        values = list(_each(np.array([scores[system] for system in SYSTEMS])))
        # numbers among the candidates: few, so arrays are small
        _, code = np.unique(self.around.code[positions], return_inverse=True)
        _, sections = np.unique(self.around.headings[positions], return_inverse=True)
        for system in SECTION_SOURCES:
            values += _section_scores(scores[system], sections, code)
        # a term weighs as much as its vector is long, which the encoder learns from questions; one that it
        # does not know weighs nothing, and by an encoder of another kind all weigh alike
        encoder = self.meaning.encoder
        weights = np.ones(len(often), np.float32)
        if isinstance(encoder, StaticEncoder):
            weights = encoder.weights(often)
        added = likely = np.zeros(n, np.float32)
        if self.expansion is not None:
            added, likely = (part.astype(np.float32) for part in self.expansion.of_articles(terms, positions))
        adjacent = [fused if of == "fused" else scores[of] for of in ADJACENT_SOURCES]
        values += [
            fused.astype(np.float32),
            np.log1p(np.arange(n, dtype=np.float32)),
            self.around.length[positions],
            np.full(n, len(terms), np.float32),
            np.bincount(code[:TOP], minlength=n)[code].astype(np.float32),
            np.bincount(sections[:TOP], minlength=n)[sections].astype(np.float32),
            np.full(n, scores["meaning"].max(), np.float32),
            np.full(n, scores["near_meaning"].max(), np.float32),
            self.around.cited[positions],
            self.around.cited_in_code[positions],
            self.around.cited_beside[positions],
            *_each(added[None]),
            likely,
            *(part for system in WEIGHED for part in weighted_parts(parts[system], weights)),
            *adjacent_scores(np.array(adjacent, np.float32), positions, at, self.around),
            *cocited_votes(scores["votes"], positions, at, self.around),
            self.around.offset[positions],
            self.around.share[positions],
            *reference_counts(positions, at, self.around),
        ]
        # each feature in one piece: they are made and looked at one by one
        return Candidates(positions, np.array(values, dtype=np.float32).T)

    def _scores(self, question: str, terms: Sequence[str], positions: Ints) -> dict[str, Floats]:
        """Return what all systems but `law` and `asked` say of the candidates, (n,) each; 0 for nothing."""
        vector = self.meaning.vector(question)
        stored = self.meaning.index.reconstruct_batch(positions)
        near = self.nearest.index.nearness(terms, vector)
        cited = np.append(self.nearest.index.cited, -1)  # no article is at -1: where the others are found
        at = np.searchsorted(cited[:-1], positions)
        at[cited[at] != positions] = -1
        words = self.keyword.scores_at(question, positions)  # it has just been searched
        return {
            "keyword": np.where(np.isfinite(words), words, np.float32(0)),
            "meaning": np.vecdot(stored, vector).astype(np.float32),  # row by row, whatever the others are
            "near_meaning": np.append(near.cosine, np.float32(0))[at],
            "near_words": np.append(near.words, np.float32(0))[at],
            "votes": np.append(near.votes, np.float32(0))[at],
        }


def _each(scores: Floats) -> Iterator[Floats]:
    """Yield of each row, (n_systems, n), score, log of the rank from 0, and share of the best.

    Ties keep their order; what differs by the rounding of a sum alone is one. Scores are cut to so many bits,
    not decimals, for the votes of questions that are far away are small, and still tell one from the other.
    """
    rank = np.empty_like(scores)
    part, power = np.frexp(scores)
    order = np.argsort(-np.ldexp(np.round(part * 2.0**BITS), power), axis=1, kind="stable")
    np.put_along_axis(rank, order, np.arange(scores.shape[1], dtype=np.float32)[None], axis=1)
    top = scores.max(axis=1, keepdims=True)
    share = np.where(top > 0, scores / np.where(top > 0, top, np.float32(1)), np.float32(0))
    for row in zip(scores, np.log1p(rank), share, strict=True):
        yield from row


def _section_scores(
    scores: Floats, section: npt.NDArray[np.intp], code: npt.NDArray[np.intp]
) -> list[Floats]:
    """Return best and mean of the candidates under the same headings, and best of the same code."""
    best, best_in_code = (np.full(int(of.max()) + 1, -np.inf, np.float32) for of in (section, code))
    np.maximum.at(best, section, scores)
    np.maximum.at(best_in_code, code, scores)
    mean = np.bincount(section, weights=scores) / np.bincount(section)
    return [best[section], mean[section].astype(np.float32), best_in_code[code]]
