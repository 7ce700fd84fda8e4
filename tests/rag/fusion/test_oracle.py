"""A second library, where it implements the same definitions, on random cases.

ranx agrees on reciprocal rank (of lists without ties: it ranks by position), min-max, CombSUM, CombMNZ
and weighted sums of min-max scores (of lists with a spread: it divides by 1e-9 where there is none). It
differs, and is not asked, on Borda (it counts all candidates of the question and shares what is left
among the missing; ours is length - rank + 1, and 0) and on what a missing article adds under z-scores
(0 there, the list's minimum here), so z-scores are compared on lists of the same articles.

What ranx 0.3.21 says stands in ranx.json.gz, with its cases. To make it anew, with ranx installed:
`NUMBA_DISABLE_JIT=1 python -m tests.rag.fusion.test_oracle` (compiling its loops takes most of a minute).
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rag.fusion.normalisation import z_score
from rag.fusion.rank_fusion import comb_mnz, comb_sum, normalised, reciprocal_rank
from rag.types import Ranking

FIXTURE = Path(__file__).with_name("ranx.json.gz")


def test_a_second_library_agrees() -> None:
    compared = 0
    for case in json.loads(gzip.decompress(FIXTURE.read_bytes())):
        said = case["ranx"]
        lists: list[Ranking] = [
            Ranking.of(sorted(mine.items(), key=lambda pair: -pair[1])) for mine in case["lists"]
        ]
        weights = case["weights"]
        ours = {
            "rrf": reciprocal_rank(lists, 99),
            "sum": comb_sum(lists, 99),
            "mnz": comb_mnz(lists, 99),
            "wsum": normalised(lists, 99, weights=weights, decimals=None),
        }
        if case["full"]:
            ours["zmuv"] = normalised(lists, 99, by=z_score, weights=weights, decimals=None)
        assert ours.keys() == said.keys()
        for method, fused in ours.items():
            within = 1e-5 if method in ("sum", "mnz") else 1e-9  # those are rounded to 5 decimals
            assert {hit.article_id: hit.score for hit in fused} == pytest.approx(said[method], abs=within)
            compared += 1
    assert compared == 60 * 4 + 20


def _cases() -> list[dict[str, Any]]:
    rng = np.random.default_rng(5)
    cases = []
    for number in range(60):
        full = number % 3 == 0
        systems = int(rng.integers(2, 5))
        ids = [f"d{i}" for i in range(12)]
        lists = []
        for _ in range(systems):
            chosen = ids if full else list(rng.choice(ids, size=int(rng.integers(2, 12)), replace=False))
            lists.append(
                {str(i): float(s) for i, s in zip(chosen, rng.permutation(100)[: len(chosen)], strict=True)}
            )
        weights = rng.dirichlet(np.ones(systems)).tolist()
        cases.append({"lists": lists, "weights": weights, "full": full})
    return cases


def _by_ranx(case: dict[str, Any]) -> dict[str, dict[str, float]]:
    from ranx import Run, fuse  # type: ignore[import-not-found, unused-ignore]  # only to make the fixture

    runs = [Run({"q": mine}, name=str(i)) for i, mine in enumerate(case["lists"])]
    wanted = {
        "rrf": ("rrf", None, {"k": 60}),
        "sum": ("sum", "min-max", None),
        "mnz": ("mnz", "min-max", None),
    }
    wanted["wsum"] = ("wsum", "min-max", {"weights": tuple(case["weights"])})
    if case["full"]:
        wanted["zmuv"] = ("wsum", "zmuv", {"weights": tuple(case["weights"])})
    return {
        name: {k: float(v) for k, v in fuse(runs=runs, method=m, norm=n, params=p).run["q"].items()}
        for name, (m, n, p) in wanted.items()
    }


if __name__ == "__main__":
    lines = [json.dumps(case | {"ranx": _by_ranx(case)}) for case in _cases()]
    FIXTURE.write_bytes(gzip.compress(("[\n" + ",\n".join(lines) + "\n]\n").encode(), mtime=0))
