"""A second library, where it implements the same definitions, on random cases.

ranx agrees on reciprocal rank (of lists without ties: it ranks by position), min-max, CombSUM, CombMNZ
and weighted sums of min-max scores (of lists with a spread: it divides by 1e-9 where there is none). It
differs, and is not asked, on Borda (it counts all candidates of the question and shares what is left
among the missing; ours is length - rank + 1, and 0) and on what a missing article adds under z-scores
(0 there, the list's minimum here), so z-scores are compared on lists of the same articles.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from rag.fusion.normalisation import z_score
from rag.fusion.rank_fusion import comb_mnz, comb_sum, normalised, reciprocal_rank
from rag.types import Hit, Ranking

pytest.importorskip("ranx", reason="the second library comes with the extra [dev]")

ORACLE = """
import json, sys
from ranx import Run, fuse
cases = json.load(sys.stdin)
said = []
for case in cases:
    runs = [Run({"q": mine}, name=str(i)) for i, mine in enumerate(case["lists"])]
    weights = {"weights": tuple(case["weights"])}
    def ask(method, norm, params=None):
        fused = fuse(runs=runs, method=method, norm=norm, params=params).run["q"]
        return {k: float(v) for k, v in fused.items()}
    one = {"rrf": ask("rrf", None, {"k": 60}), "sum": ask("sum", "min-max"), "mnz": ask("mnz", "min-max")}
    one["wsum"] = ask("wsum", "min-max", weights)
    if case["full"]:
        one["zmuv"] = ask("wsum", "zmuv", weights)
    said.append(one)
json.dump(said, sys.stdout)
"""


def _cases() -> list[dict[str, object]]:
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


def test_a_second_library_agrees() -> None:
    cases = _cases()
    # Uncompiled: compiling its loops takes most of a minute.
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", ORACLE],
        input=json.dumps(cases),
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    compared = 0
    for case, said in zip(cases, json.loads(done.stdout), strict=True):
        lists: list[Ranking] = [
            tuple(sorted((Hit(i, s) for i, s in mine.items()), key=lambda hit: -hit.score))
            for mine in case["lists"]
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
