"""Choose the weights of a fusion on questions that are not asked afterwards.

Weights are points of a grid over the simplex (each a multiple of the step, together 1); every point is
measured, none is guessed.

A measure needs only the places of the gold articles, and an article can only pass a gold one if some
system prefers it: so nothing is sorted, and yet every value is the one that `normalised` of
`rag.fusion.rank_fusion` and `training.eval.metrics` give (near ties are summed again exactly).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np
import numpy.typing as npt

from rag.errors import BadInput
from rag.fusion.matrix_fusion import exact_sum
from rag.fusion.normalisation import Matrix, ScoreDistribution, Share, min_max, percentile
from rag.fusion.rank_fusion import as_matrix
from rag.types import DECIMALS, EMPTY, Bools, Qrels, Run

NOWHERE = np.iinfo(np.int64).max  # the place of an article that is not in the ranking
_BLOCK = 256  # weights looked at together, so that what is compared stays in the processor's cache


def gold_places(
    shares: Matrix,
    held: Bools,
    gold: Sequence[int],
    weights: npt.NDArray[np.float64],
    *,
    decimals: int | None,
    cutoff: int,
) -> npt.NDArray[np.int64]:
    """Return the places, from 1, of a question's gold articles in each fused ranking.

    Only rivals that some system puts above a gold article are weighed against it, and nothing is
    where more rivals than the cut are above it in all systems.

    Args:
        shares: (n_systems, n_articles), what each system adds; articles in the order of their ids.
        held: (n_systems, n_articles), which system returned which article.
        gold: positions of the gold articles.
        weights: (n_points, n_systems).
        decimals: that the sums are rounded to, None for not at all.
        cutoff: places below it need not be told apart.

    Returns:
        (n_points, n_gold) of int; NOWHERE where no system of a weight above 0 returned the article,
        and where it cannot be among the first `cutoff` under any weights.
    """
    places = np.full((len(weights), len(gold)), NOWHERE, dtype=np.int64)
    if not gold:
        return places
    margin = _margin(shares, decimals)
    for column, article in enumerate(gold):
        lead = shares - shares[:, article, None]
        surely = np.asarray((lead > margin).all(axis=0))  # above it under any weights
        always = int(surely.sum())
        if always >= cutoff:
            continue
        undecided = np.asarray((lead >= -margin).any(axis=0)) & ~surely
        rivals = np.array([r for r in np.flatnonzero(undecided) if r != article], dtype=np.int64)
        for begin in range(0, len(weights), _BLOCK):
            points = weights[begin : begin + _BLOCK]
            present = ((points > 0) & held[:, article]).any(axis=1)
            ahead = points @ lead[:, rivals]
            above = (ahead > margin).astype(np.float32) @ np.ones(len(rivals), np.float32)  # counted by BLAS
            place = 1 + always + above.astype(np.int64)
            # A place that is beyond the cut without near ties needs none of them.
            near = (np.abs(ahead) <= margin) & (present & (place <= cutoff))[:, None]
            place += _passed(shares, held, article, rivals, points, near, decimals)
            places[begin : begin + _BLOCK, column] = np.where(present, place, NOWHERE)
    return places


def contenders(
    shares: Matrix, held: Bools, *, least: float, decimals: int | None, cutoff: int
) -> npt.NDArray[np.int64]:
    """Return the positions of a question's articles that some weights can bring among the first `cutoff`.

    Left out is what so many of the likely best pass in every system that returned it: they are before it
    under any weights of which none but 0 is below `least`. What is left keeps its places up to the cut.
    """
    likely = np.unique(np.argsort(-np.vstack([shares, shares.sum(axis=0)]), axis=1)[:, : 3 * cutoff])
    gap = _margin(shares, decimals) / least
    before = np.ones((len(likely), shares.shape[1]), dtype=np.bool_)
    for own, has in zip(shares, held, strict=True):
        before &= (own[likely, None] > own + gap) | ~has
    return np.flatnonzero(before.sum(axis=0) < cutoff)


def _margin(shares: Matrix, decimals: int | None) -> float:
    """Return by how much sums differ at least that are in the same order when summed exactly and rounded."""
    return (0.0 if decimals is None else 1.5 * 10.0**-decimals) + 1e-9 * (1 + float(np.abs(shares).max()))


def _passed(
    shares: Matrix,
    held: Bools,
    article: int,
    rivals: npt.NDArray[np.int64],
    points: npt.NDArray[np.float64],
    near: Bools,
    decimals: int | None,
) -> npt.NDArray[np.int64]:
    """Count, point by point, the near ties that are before the article once summed exactly."""
    point, rival = np.nonzero(near)
    if not len(point):
        return np.zeros(len(points), dtype=np.int64)
    other = rivals[rival]
    own = rounded_sums(points.T * shares[:, article, None], decimals)[point]
    theirs = rounded_sums(points[point].T * shares[:, other], decimals)
    # An article that only systems of weight 0 returned is not in the ranking. Its sum is the least
    # possible, so that it is never above the margin, and only here can it be taken for one that is.
    ranked = ((points[point].T > 0) & held[:, other]).any(axis=0)
    ahead = ranked & ((theirs > own) | ((theirs == own) & (other < article)))
    return np.bincount(point[ahead], minlength=len(points)).astype(np.int64)


def rounded_sums(terms: Matrix, decimals: int | None) -> Matrix:
    """Sum over the first axis and round, as exact sums would be rounded."""
    if decimals is None:
        return exact_sum(terms)
    sums = np.asarray(terms.sum(axis=0), dtype=np.float64)
    scaled = sums * 10.0**decimals
    halfway = np.abs(scaled - np.floor(scaled) - 0.5) < 1e-6 * (1 + np.abs(sums))
    sums[halfway] = exact_sum(terms[:, halfway])
    return np.round(sums, decimals) + 0.0


def parse(name: str) -> tuple[str, int]:
    """Split R@k or MRR@k; raise BadInput for a measure of another kind."""
    stem, _, cutoff = name.partition("@")
    if stem not in ("R", "MRR") or not cutoff.isdecimal():
        raise BadInput(f"weights cannot be tuned for {name!r}: give R@k or MRR@k, such as R@10")
    return stem, int(cutoff)


DEPTH = 1000  # how far down each list fusion looks
MEASURES = ("R@10", "MRR@10")  # their mean is what tuning makes as large as it can be


@dataclass(frozen=True)
class SystemRankings:
    """The rankings of several systems for the same questions.

    Scores are (n_systems, n_questions, n_candidates) float64, nan where a system did not return the article;
    each question's articles come first, what follows is nan.
    """

    systems: tuple[str, ...]
    questions: tuple[str, ...]  # ids
    articles: tuple[tuple[str, ...], ...] = field(repr=False)  # that any system returned, sorted as strings
    scores: Matrix = field(repr=False)

    @classmethod
    def of(cls, runs: Mapping[str, Run], questions: Sequence[str]) -> SystemRankings:
        """Lay runs out; a question that is missing from one was answered by nothing.

        Raises:
            BadInput: a question is there twice.
        """
        if len(set(questions)) < len(questions):
            raise BadInput("lists of one question twice: give each question once")
        laid = [as_matrix([run.get(question, EMPTY) for run in runs.values()]) for question in questions]
        width = max((len(ids) for ids, _ in laid), default=0)
        scores = np.full((len(runs), len(questions), width), np.nan)
        for i, (ids, mine) in enumerate(laid):
            scores[:, i, : len(ids)] = mine
        return cls(tuple(runs), tuple(questions), tuple(ids for ids, _ in laid), scores)

    def positions(self, parts: Sequence[tuple[int, Mapping[str, ScoreDistribution]]]) -> SystemRankings:
        """Return the lists with each score's position in its system's distribution instead of the score.

        Each part has so many of the questions, in order, and the distributions of its own systems. Fused by
        `as_they_are` they give what the scores give by `rag.fusion.normalisation.percentile`.
        """
        found, begin = np.full_like(self.scores, np.nan), 0
        for size, distributions in parts:
            scores = self.scores[:, begin : begin + size]
            shares = percentile(scores, [distributions[name] for name in self.systems])
            found[:, begin : begin + size] = np.where(np.isfinite(scores), shares, np.nan)
            begin += size
        return replace(self, scores=found)


def as_they_are(scores: Matrix) -> Matrix:
    """Return scores that are on one scale already; a missing article has 0."""
    return np.where(np.isfinite(scores), scores, 0.0)


def values_at(
    lists: SystemRankings,
    qrels: Qrels,
    weights: npt.NDArray[np.float64],
    measures: Sequence[str] = MEASURES,
    *,
    share: Share = min_max,
    decimals: int | None = DECIMALS,
) -> dict[str, npt.NDArray[np.float64]]:
    """Return measure -> (n_points, n_questions), one column a question that has gold articles.

    The columns are in the order of qrels, as `training.eval.metrics.per_question` has them; labels of
    other questions are not looked at.

    Each row of the weights, (n_points, n_systems), adds up to 1; measures are R@k and MRR@k. The share brings
    scores to one scale; decimals are as in `rag.types.rank`, None for shares that are functions of ranks.

    Raises:
        BadInput: a question without lists, or a measure of another kind.
    """
    row = {question: i for i, question in enumerate(lists.questions)}
    answerable = [question for question, gold in qrels.items() if gold]
    if missing := [question for question in answerable if question not in row]:
        raise BadInput(
            f"{len(missing)} questions were not asked of the systems, such as {missing[0]!r}: ask them first"
        )
    parsed = {name: parse(name) for name in measures}
    most = max((cutoff for _, cutoff in parsed.values()), default=0)
    least = float(weights[weights > 0].min(initial=1.0))
    found = {name: np.zeros((len(weights), len(answerable))) for name in measures}
    for column, question in enumerate(answerable):
        i = row[question]
        ids, gold = lists.articles[i], qrels[question]
        mine = lists.scores[:, i : i + 1, : len(ids)]
        shares, held = share(mine)[:, 0], np.isfinite(mine[:, 0])
        if len(ids):
            some = contenders(shares, held, least=least, decimals=decimals, cutoff=most)
            shares, held, ids = shares[:, some], held[:, some], tuple(ids[place] for place in some.tolist())
        at = [place for place, article_id in enumerate(ids) if article_id in gold]
        places = gold_places(shares, held, at, weights, decimals=decimals, cutoff=most)
        first = places.min(axis=1, initial=NOWHERE)
        for name, (stem, cutoff) in parsed.items():
            recall = (places <= cutoff).sum(axis=1) / len(gold)
            found[name][:, column] = recall if stem == "R" else np.where(first <= cutoff, 1 / first, 0.0)
    return found


STEP = 0.05


@dataclass(frozen=True)
class Tuned:
    """The weights that served the dev questions best, and what every other choice would have given."""

    weights: Mapping[str, float]  # system -> its weight; together 1
    value: float  # mean of the measures at these weights, a fraction, on the questions tuned on
    questions: int
    values: npt.NDArray[np.float64] = field(repr=False)  # of each point of the grid


@dataclass(frozen=True, slots=True)
class Point:
    """One place of a curve over alpha."""

    alpha: float  # weight of the pair's first system; the second has 1 - alpha
    values: Mapping[str, float]  # measure -> mean, a fraction


def simplex(systems: int, step: float = STEP) -> npt.NDArray[np.float64]:
    """Return all weights that are multiples of the step and add up to 1, (n_points, n_systems).

    Raises:
        BadInput: no system, or a step of which a whole number does not make 1.
    """
    parts = round(1 / step) if step > 0 else 0
    if systems < 1 or parts < 1 or abs(parts * step - 1) > 1e-9:
        raise BadInput(
            f"weights of {systems} systems in steps of {step}: give a step such as 0.05, 0.1 or 0.25"
        )
    # Stars and bars: where the bars between systems stand.
    bars = np.array(list(combinations(range(parts + systems - 1), systems - 1)), dtype=np.int64)
    bars = bars.reshape(len(bars), systems - 1)
    return (np.diff(bars, axis=1, prepend=-1, append=parts + systems - 1) - 1) / parts


def tune(
    lists: SystemRankings,
    qrels: Qrels,
    measures: Sequence[str] = MEASURES,
    *,
    share: Share = min_max,
    decimals: int | None = DECIMALS,
    step: float = STEP,
) -> Tuned:
    """Return the grid's best weights for these questions.

    The mean of the measures is made as large as it can be on dev questions, and no others, of which the
    systems have learnt nothing. Of weights that serve equally well the ones nearest to equal are taken, and
    of those the ones that give most to the system whose name comes first: neither the order of the systems
    nor that of the questions decides.

    Raises:
        BadInput: no measure, no question with gold articles, or what `values_at` and `simplex` refuse.
    """
    questions = sum(bool(gold) for gold in qrels.values())
    if not questions or not measures:
        raise BadInput(
            f"weights tuned on {questions} questions for {list(measures)}: give at least one of each"
        )
    grid = simplex(len(lists.systems), step)
    found = values_at(lists, qrels, grid, measures, share=share, decimals=decimals)
    values = np.mean([found[name].mean(axis=1) for name in measures], axis=0)
    best = best_point(grid, values, lists.systems)
    weights = dict(zip(lists.systems, grid[best].tolist(), strict=True))
    return Tuned(weights, float(values[best]), questions, values)


def best_point(grid: npt.NDArray[np.float64], values: npt.NDArray[np.float64], systems: Sequence[str]) -> int:
    """Return which row of a grid, (n_points, n_systems), serves best by its values, as `tune` chooses."""
    by_name = sorted(range(len(systems)), key=systems.__getitem__)

    def worth(p: int) -> tuple[float, float, list[float]]:
        point = grid[p]
        return -round(float(values[p]), 12), round(float((point**2).sum()), 9), (-point[by_name]).tolist()

    return min(range(len(grid)), key=worth)


def curves(
    lists: SystemRankings,
    qrels: Qrels,
    measures: Sequence[str] = MEASURES,
    *,
    pairs: Sequence[tuple[str, str]] | None = None,
    share: Share = min_max,
    decimals: int | None = DECIMALS,
    step: float = STEP,
) -> dict[tuple[str, str], tuple[Point, ...]]:
    """Return what every alpha from 0 to 1 gives, of these pairs or of all; to be shown, not to choose by."""
    points = simplex(2, step)
    drawn = {}
    for pair in combinations(lists.systems, 2) if pairs is None else pairs:
        of_pair = replace(
            lists, systems=pair, scores=lists.scores[[lists.systems.index(one) for one in pair]]
        )
        found = values_at(of_pair, qrels, points, measures, share=share, decimals=decimals)
        means = {name: values.mean(axis=1) for name, values in found.items()}
        drawn[pair] = tuple(
            Point(float(alpha), {name: float(mean[p]) for name, mean in means.items()})
            for p, alpha in enumerate(points[:, 0])
        )
    return drawn
