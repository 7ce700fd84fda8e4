"""Networks and rankers: scored, taken apart, written and read back."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.errors import BadInput
from rag.ltr.networks import BOUND, Network
from rag.ltr.ranker import Ranker
from rag.ltr.trees import Tree, Trees
from tests.fakes.ranking.networks import network
from tests.rag.ltr.test_trees import N_FEATURES, forests, tables

seeds = st.integers(0, 50)
rankers = st.builds(
    lambda trees, of: Ranker(trees, tuple(network(N_FEATURES, seed) for seed in of)),
    forests,
    st.lists(seeds, max_size=3),
)
STUMP = Trees(("x",), (Tree((0, -1, -1), (0.5, 0.0, 0.0), (1, -1, -1), (2, -1, -1), (0.25, -1.0, 1.5)),))
# |x|, of one feature in units of 2 around 1: two units, one for each side
AROUND_ONE = Network(
    np.array([1.0]),
    np.array([2.0]),
    (np.array([[1.0, -1.0]]), np.ones((2, 1))),
    (np.zeros(2), np.array([0.5])),
)


def one_by_one(of: Network, row: list[float]) -> float:
    """What a network makes of a row, number by number."""
    given = [
        min(max((x - m) / s, -BOUND), BOUND)
        for x, m, s in zip(row, of.mean.tolist(), of.scale.tolist(), strict=True)
    ]
    for last, (weight, bias) in enumerate(zip(of.weights, of.biases, strict=True), 1 - len(of.weights)):
        told = [
            b + sum(x * w for x, w in zip(given, weight[:, n].tolist(), strict=True))
            for n, b in enumerate(bias.tolist())
        ]
        given = told if last == 0 else [max(x, 0.0) for x in told]
    return given[0]


@given(seeds, tables)
def test_scoring_all_at_once_is_scoring_number_by_number(seed: int, rows: np.ndarray) -> None:
    of = network(N_FEATURES, seed)
    assert of.scores(rows).tolist() == pytest.approx([one_by_one(of, row) for row in rows.tolist()])


def test_a_network_by_hand() -> None:
    rows = np.array([[1.0], [3.0], [-3.0], [99.0]])
    assert AROUND_ONE.scores(rows).tolist() == [0.5, 1.5, 2.5, BOUND + 0.5]  # what is far out is cut
    assert AROUND_ONE.contributions(rows).tolist() == [[0, 0.5], [1, 0.5], [2, 0.5], [BOUND, 0.5]]
    assert AROUND_ONE.times(2).scores(rows).tolist() == [1.0, 3.0, 5.0, 2 * BOUND + 1]


@given(seeds, tables)
def test_contributions_add_up_to_the_score(seed: int, rows: np.ndarray) -> None:
    of = network(N_FEATURES, seed)
    parts = of.contributions(rows)
    assert parts.shape == (len(rows), N_FEATURES + 1)
    assert parts.sum(axis=1).tolist() == pytest.approx(of.scores(rows).tolist(), abs=1e-9)
    assert set(parts[:, -1].round(9)) <= {round(of.scores(of.mean[None])[0], 9)}
    at_mean = np.where(np.arange(N_FEATURES) == 1, of.mean, rows)
    assert not of.contributions(at_mean)[:, 1].any()  # what is as it mostly is moves nothing


@given(rankers, tables, st.lists(st.integers(0, 2), min_size=N_FEATURES, max_size=N_FEATURES))
def test_a_ranker_is_the_sum_of_its_parts(ranker: Ranker, rows: np.ndarray, into: list[int]) -> None:
    wanted = ranker.trees.scores(rows) + sum(n.scores(rows) for n in ranker.networks)
    assert ranker.scores(rows).tolist() == pytest.approx(wanted.tolist(), abs=1e-9)
    alone, summed = ranker.contributions(rows), ranker.contributions(rows, tuple(into))
    for parts in (alone, summed):
        assert parts.sum(axis=1).tolist() == pytest.approx(wanted.tolist(), abs=1e-8)
    for n in range(max(into) + 1):
        own = alone[:, [feature for feature, sum_ in enumerate(into) if sum_ == n]].sum(axis=1)
        assert summed[:, n].tolist() == pytest.approx(own.tolist(), abs=1e-8)


@given(rankers, tables, st.integers(1, 25), st.integers(1, 6))
def test_what_is_chosen_is_scored_by_all(ranker: Ranker, rows: np.ndarray, n: int, beginning: int) -> None:
    chosen, scores = ranker.best(rows, n, beginning)
    assert scores.tolist() == pytest.approx(ranker.scores(rows)[chosen].tolist(), abs=1e-9)
    trees = ranker.trees
    if trees.trees:  # they choose; networks alone leave nothing out
        assert chosen.tolist() == trees.best(rows, n, -(-len(trees.trees) // beginning))[0].tolist()
    else:
        assert chosen.tolist() == list(range(len(rows)))


@given(rankers)
def test_what_is_written_is_read_back(ranker: Ranker) -> None:
    again = Ranker.from_json(ranker.to_json())
    assert again == ranker
    assert again.id == ranker.id
    assert ranker.id == Ranker(ranker.trees).id or ranker.networks


def test_trees_alone_are_written_and_known_as_before() -> None:
    alone = Ranker(STUMP)
    written = json.dumps(STUMP.to_record()) + "\n"
    assert alone.to_json() == written
    assert alone.id == STUMP.id
    assert Ranker.from_json(written) == alone
    assert Ranker(STUMP, (AROUND_ONE,)).id != Ranker(STUMP, (AROUND_ONE.times(2),)).id


def test_halves_are_brought_to_one_spread() -> None:
    rows = np.random.default_rng(0).normal(1, 2, (60, 1))
    sizes = [10, 20, 30]
    ranker = Ranker(STUMP, (AROUND_ONE, AROUND_ONE.times(7))).balanced(rows, sizes)
    lists = [np.split(part.scores(rows), [10, 30]) for part in (ranker.trees, *ranker.networks)]
    assert [np.mean([each.std() for each in of]) for of in lists] == pytest.approx([1, 0.5, 0.5])
    assert ranker.networks[0].scores(rows) == pytest.approx(ranker.networks[1].scores(rows))
    assert Ranker(STUMP).balanced(rows, sizes) == Ranker(STUMP)  # nothing to balance
    flat = Ranker(Trees(("x",), ()), (AROUND_ONE,)).balanced(rows, sizes)  # no division by nothing
    assert np.isfinite(flat.scores(rows)).all()
    dead = Network(np.array([1.0]), np.array([2.0]), (np.array([[0.0]]),), (np.array([0.3]),))
    assert Ranker(STUMP, (dead,)).balanced(rows, sizes).networks == (dead,)  # nor by what rounding leaves


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("mean", [1.0, 2.0]),
        ("scale", [0.0]),
        ("scale", [-1.0]),
        ("mean", [float("nan")]),
        ("weights", []),
        ("weights", [[[1.0]], [[1.0]]]),
        ("weights", [[[1.0, -1.0]], [[1.0, 2.0], [1.0, 2.0]]]),
        ("biases", [[0.0, 0.0]]),
        ("biases", [[0.0], [0.5]]),
        ("weights", [[[float("inf"), 1.0]], [[1.0], [1.0]]]),
    ],
)
def test_what_is_no_network_is_refused(part: str, value: object) -> None:
    with pytest.raises(
        BadInput, match=r"no network: fit it again with python -m training\.train fusion INDEX"
    ):
        Network.from_record(AROUND_ONE.to_record() | {part: value})


def test_another_number_of_features_or_another_file_is_refused() -> None:
    with pytest.raises(BadInput, match="a network of 3 features beside trees of 1"):
        Ranker(STUMP, (network(3),))
    with pytest.raises(BadInput, match="1 features"):
        Ranker(STUMP, (AROUND_ONE,)).scores(np.zeros((2, 2)))
    record = json.loads(Ranker(STUMP, (AROUND_ONE,)).to_json())
    odd = [
        record | {"format": 3},
        record | {"networks": [{}]},
        record | {"trees": [{}]},
        record | {"networks": 7},
    ]
    with pytest.raises(BadInput, match=r"^a learned fusion of format 3, this version reads 1 and 2: fit it"):
        Ranker.from_json(json.dumps(record | {"format": 3}))
    for text in ("", "[]", "{}", json.dumps({"format": 2}), *map(json.dumps, odd)):
        with pytest.raises(BadInput, match="python -m training"):
            Ranker.from_json(text)
