"""Networks of small layers, drawn at random."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from rag.ltr.networks import Network


def network(features: int, seed: int = 0, hidden: tuple[int, ...] = (5, 3)) -> Network:
    """Draw one."""
    rng = np.random.default_rng(seed)
    sizes = (features, *hidden, 1)
    return Network(
        rng.standard_normal(features),
        rng.uniform(0.5, 2, features),
        tuple(rng.standard_normal(each) for each in pairwise(sizes)),
        tuple(rng.standard_normal(n) for n in sizes[1:]),
    )
