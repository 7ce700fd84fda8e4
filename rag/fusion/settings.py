"""Fusions by name, with their weights: what a command line names, tuning chooses and an index carries."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeAlias

from rag.corpus.structure import Sections
from rag.errors import BadInput
from rag.fusion.matrix_fusion import alphas
from rag.fusion.normalisation import (
    ScoreDistribution,
    Share,
    borda_points,
    min_max,
    percentile,
    reciprocals,
    z_score,
)
from rag.fusion.rank_fusion import Fuse, borda, comb_mnz, comb_sum, normalised, reciprocal_rank
from rag.fusion.section_boost import boosted
from rag.types import DECIMALS, Ranking

Distributions: TypeAlias = Mapping[str, ScoreDistribution] | None  # system -> its scores over the corpus
METHODS = ("rrf", "borda", "min-max", "z-score", "percentile", "comb-sum", "comb-mnz")
SCALES = ("rrf", "min-max", "z-score", "percentile")  # those whose weights can be tuned
_UNSCALED: Mapping[str, Callable[..., Ranking]] = {"borda": borda, "comb-sum": comb_sum, "comb-mnz": comb_mnz}
# of a static encoder beside words, where hardly any question has taught it (docs/results.md)
LAW_ONLY_WEIGHT = 0.5
DAMPING = 20.0  # of reciprocal rank: on the folds of two corpora 20 beat the usual 60 (docs/results.md)


@dataclass(frozen=True, slots=True)
class FusionSettings:
    """Which fusion, and how much each system counts."""

    method: str = "rrf"
    weights: Mapping[str, float] = field(default_factory=dict)  # system -> weight; empty: all alike
    damping: float = DAMPING  # the c of reciprocal rank; the others do without
    section_boost: float = 0.0  # share of the best score under its headings that an article has at least

    def __post_init__(self) -> None:
        """Refuse an unknown method, a weight or damping below 0, a share outside 0 to 1."""
        if self.method not in METHODS:
            raise BadInput(f"no fusion {self.method!r}: choose among {', '.join(METHODS)}")
        if not all(math.isfinite(w) and w >= 0 for w in (*self.weights.values(), self.damping)):
            raise BadInput(
                f"fusion weights {dict(self.weights)} and damping {self.damping}: each must be 0 or more"
            )
        if not 0 <= self.section_boost <= 1:
            raise BadInput(f"a fusion's share beside of {self.section_boost}: give 0 (none) to 1")

    def fuse(
        self,
        systems: Sequence[str],
        distributions: Distributions = None,
        sections: Callable[[], Sections] | None = None,
    ) -> Fuse:
        """Return the fusion of rankings that come in the order of these systems.

        It is `BadInput` where the weights are those of other systems, percentiles lack a distribution, or
        neighbours are to be lifted and no sections say who they are.
        """
        if self.section_boost and sections is None:
            raise BadInput("a fusion that lifts articles beside others needs to know which stand together")
        if self.weights and set(self.weights) != set(systems):
            raise BadInput(
                f"fusion weights of {', '.join(self.weights)} for {', '.join(systems)}: give one a system"
            )
        weights = tuple(self.weights[name] for name in systems) if self.weights else None
        fuse: Fuse
        if self.method == "rrf":
            fuse = partial(reciprocal_rank, c=self.damping, weights=weights)
        elif self.method in _UNSCALED:
            fuse = partial(_UNSCALED[self.method], weights=weights)
        else:
            by, decimals = scale(self.method, damping=self.damping, of=systems, distributions=distributions)
            fuse = partial(normalised, by=by, weights=weights, decimals=decimals)
        return boosted(fuse, sections, self.section_boost) if sections is not None else fuse

    @property
    def systems(self) -> tuple[str, ...]:
        """The systems that are fused, where the weights name them."""
        return tuple(self.weights)

    def among(self, systems: Collection[str]) -> FusionSettings:
        """Return the same fusion of these systems alone."""
        return replace(self, weights={name: w for name, w in self.weights.items() if name in systems})

    def shares(
        self, lists: Mapping[str, Ranking], wanted: Collection[str], distributions: Distributions = None
    ) -> Mapping[str, Mapping[str, float]]:
        """Return what each list adds to the fused score of articles; one that lacks the article adds nothing.

        `lists` are those that were fused, by system. Returned is article id -> system -> its share; they add
        up to the score. Empty for a fusion whose score is no sum (CombMNZ), or where absence adds too
        (z-scores).
        """
        if self.method in ("comb-mnz", "z-score"):
            return {}
        given = [self.weights.get(name, 1.0) for name in lists]
        if self.method in ("min-max", "percentile"):
            given = list(alphas(given, len(given)))
        shares_by_id: dict[str, dict[str, float]] = {article_id: {} for article_id in wanted}
        for (name, ranking), weight in zip(lists.items(), given, strict=True):
            rows = ranking.rows(shares_by_id)
            if not (rows >= 0).any():
                continue
            share: Share = borda_points
            if self.method != "borda":
                method = "min-max" if self.method == "comb-sum" else self.method
                share, _ = scale(method, damping=self.damping, of=(name,), distributions=distributions)
            adds = share(ranking.scores[None, None])[0, 0]
            for own, row in zip(shares_by_id.values(), rows.tolist(), strict=True):
                if row >= 0:
                    own[name] = weight * float(adds[row])
        return shares_by_id

    def to_json(self) -> dict[str, Any]:
        """Return it as what JSON can hold."""
        weights = dict(self.weights)
        return {
            "method": self.method, "weights": weights, "damping": self.damping, "beside": self.section_boost
        }  # fmt: skip

    @classmethod
    def from_json(cls, entry: Mapping[str, Any]) -> FusionSettings:
        """Read what `to_json` returned; anything else is `BadInput`."""
        try:
            weights = {str(name): float(w) for name, w in entry["weights"].items()}
            share = float(entry.get("beside", 0.0))  # files of before it was there have none
            method, damping = str(entry["method"]), float(entry["damping"])
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise BadInput(
                f"not the settings of a fusion ({error!r}): it needs method, weights and damping"
            ) from error
        return cls(method, weights, damping, share)


def scale(
    method: str, *, damping: float = DAMPING, of: Sequence[str] = (), distributions: Distributions = None
) -> tuple[Share, int | None]:
    """Return what a method of `SCALES` adds for each article, and the decimals its sums are rounded to.

    Functions of whole ranks are not rounded; nor are percentiles: of 50,000 articles the best ten
    lie within 0.0002 of each other. The systems are in the order of the rankings. No such scale, or
    percentiles without a distribution, is `BadInput`.
    """
    if method == "rrf":
        return partial(reciprocals, c=damping), None
    if method in ("min-max", "z-score"):
        return min_max if method == "min-max" else z_score, DECIMALS
    if method != "percentile":
        raise BadInput(f"no scale {method!r}: choose among {', '.join(SCALES)}")
    known = distributions or {}
    if lacking := [name for name in of if name not in known]:
        raise BadInput(
            f"percentiles of {', '.join(lacking)} need their score distributions over the corpus: "
            "build the index again, or choose another fusion"
        )
    return partial(percentile, distributions=tuple(known[name] for name in of)), None
