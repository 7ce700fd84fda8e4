"""Fusions by name: the same as the functions, and what is refused."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.errors import BadInput
from rag.fusion.normalisation import percentile, z_score
from rag.fusion.rank_fusion import Fuse, borda, comb_mnz, comb_sum, normalised, reciprocal_rank
from rag.fusion.settings import DAMPING, METHODS, SCALES, FusionSettings, scale
from rag.retrieval.hybrid import Hybrid, damped
from rag.types import EMPTY, Ranking
from tests.fakes.ranking.rankings import SHAPE, lists

PAIR = ("a", "b")
BOTH = {"a": SHAPE, "b": SHAPE}
FUNCTIONS: dict[str, Fuse] = {
    "rrf": partial(reciprocal_rank, c=DAMPING),
    "borda": borda,
    "min-max": normalised,
    "z-score": partial(normalised, by=z_score),
    "percentile": partial(normalised, by=partial(percentile, distributions=[SHAPE, SHAPE]), decimals=None),
    "comb-sum": comb_sum,
    "comb-mnz": comb_mnz,
}


def test_every_method_is_there() -> None:
    assert tuple(FUNCTIONS) == METHODS
    assert set(SCALES) < set(METHODS)


# Drawing lists takes many times as long as fusing them: each example is held against every method.
@pytest.mark.slow
@given(systems=lists(2, 2), weights=st.lists(st.sampled_from([0.0, 0.05, 0.7, 2.0]), min_size=2, max_size=2))
def test_a_name_gives_the_function(systems: list[Ranking], weights: list[float]) -> None:
    for method in METHODS:
        function = FUNCTIONS[method]
        assert FusionSettings(method).fuse(PAIR, BOTH)(systems, 20) == function(systems, 20), method
        settings = FusionSettings(method, {"b": weights[1], "a": weights[0]})  # by name, not by place
        weighted = partial(function, weights=weights)(systems, 20)
        assert settings.fuse(PAIR, BOTH)(systems, 20) == weighted, method


@given(systems=lists(2, 2))
def test_a_scale_with_weights_is_its_fusion(systems: list[Ranking]) -> None:
    for method in SCALES:
        share, decimals = scale(method, of=PAIR, distributions=BOTH)
        tuned = normalised(systems, 20, by=share, weights=(0.25, 0.75), decimals=decimals)
        by_name = FusionSettings(method, {"a": 0.25, "b": 0.75})
        assert tuned == by_name.fuse(PAIR, BOTH)(systems, 20), method


def test_the_default_is_the_hybrid_s() -> None:
    systems = [(), ()]
    assert FusionSettings().fuse(PAIR)(systems, 3) == damped(systems, 3)
    assert Hybrid.__init__.__defaults__ is not None
    assert damped.keywords == {"c": DAMPING}  # type: ignore[attr-defined]


@given(systems=lists(2, 2))
def test_what_each_list_adds_makes_the_score(systems: list[Ranking]) -> None:
    for method in sorted(set(METHODS) - {"comb-mnz", "z-score"}):
        chosen = FusionSettings(method, {"a": 0.5, "b": 2.0})
        fused = chosen.fuse(PAIR, BOTH)(systems, 99)
        shares = chosen.shares(dict(zip(PAIR, systems, strict=True)), [h.article_id for h in fused], BOTH)
        assert list(shares) == [hit.article_id for hit in fused], method
        for hit in fused:
            assert sum(shares[hit.article_id].values()) == pytest.approx(hit.score, abs=6e-6), method


def test_what_a_rank_adds() -> None:
    ranking = Ranking.of([("x", 3.0), ("y", 2.0)])
    assert FusionSettings(damping=20).shares({"a": ranking}, ["x"]) == {"x": {"a": 1 / 21}}
    assert FusionSettings("rrf", {"a": 0.3}, 10).shares({"a": ranking}, ["y"])["y"]["a"] == 0.3 / 12
    lists = {"a": ranking, "b": EMPTY}
    assert FusionSettings("min-max").shares(lists, ["x", "z"]) == {"x": {"a": 0.5}, "z": {}}


def test_where_a_score_is_no_sum_nothing_is_said() -> None:
    ranking = Ranking.of([("x", 3.0), ("y", 2.0)])
    for method in ("comb-mnz", "z-score"):
        assert FusionSettings(method).shares({"a": ranking, "b": ranking}, ["x"]) == {}


@pytest.mark.parametrize(
    ("method", "weights", "damping"),
    [("magic", {}, 20), ("rrf", {"a": -1}, 20), ("rrf", {"a": float("nan")}, 20), ("rrf", {}, -1)],
)
def test_no_fusion(method: str, weights: dict[str, float], damping: float) -> None:
    with pytest.raises(BadInput, match="fusion"):
        FusionSettings(method, weights, damping)


def test_weights_of_other_systems() -> None:
    with pytest.raises(BadInput, match="give one a system"):
        FusionSettings("rrf", {"a": 1, "c": 1}).fuse(PAIR)
    with pytest.raises(BadInput, match="no scale 'borda'"):
        scale("borda")
    with pytest.raises(BadInput, match="percentiles of b need"):
        FusionSettings("percentile").fuse(PAIR, {"a": SHAPE})


def test_it_survives_json() -> None:
    settings = FusionSettings("z-score", {"a": 0.35, "b": 0.65}, 12.5)
    assert FusionSettings.from_json(json.loads(json.dumps(settings.to_json()))) == settings


@pytest.mark.parametrize(
    "entry",
    [
        {},
        {"method": "rrf"},
        {"method": "rrf", "weights": [], "damping": 1},
        {"method": "rrf", "weights": {"a": "x"}, "damping": 1},
        {"method": 3, "weights": {}, "damping": 1},
    ],
)
def test_not_settings(entry: dict[str, Any]) -> None:
    with pytest.raises(BadInput, match="fusion"):
        FusionSettings.from_json(entry)
