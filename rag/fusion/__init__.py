"""Fusing rankings into one: pure functions, of rankings here, of whole benchmarks in `matrices`.

`Hybrid(parts, fuse=partial(normalised, by=z_score, weights=(0.4, 0.6)))` is how one is used.
"""

from rag.fusion.normalisation import (
    Distribution,
    Matrix,
    Share,
    borda_points,
    min_max,
    percentile,
    places,
    reciprocals,
    z_score,
)
from rag.fusion.rank_fusion import (
    Fuse,
    borda,
    comb_mnz,
    comb_sum,
    normalised,
    ranks,
    reciprocal_rank,
)
from rag.fusion.section_boost import BESIDE, lift, lifted
from rag.fusion.settings import DAMPING, METHODS, SCALES, FusionSettings, scale

__all__ = [
    "BESIDE",
    "DAMPING",
    "METHODS",
    "SCALES",
    "Distribution",
    "Fuse",
    "FusionSettings",
    "Matrix",
    "Share",
    "borda",
    "borda_points",
    "comb_mnz",
    "comb_sum",
    "lift",
    "lifted",
    "min_max",
    "normalised",
    "percentile",
    "places",
    "ranks",
    "reciprocal_rank",
    "reciprocals",
    "scale",
    "z_score",
]
