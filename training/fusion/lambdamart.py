"""LambdaMART (Burges 2010) by LightGBM, whose trees become ours: it fits, `rag.ltr.trees` scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rag.errors import MissingExtra, install_hint
from rag.ltr.trees import Tree
from rag.types import Bools, Floats

MAX_SINGLE_THREAD_ROWS = 100_000  # rows; of fewer, threads wait for each other longer than they work


def boosted(
    rows: Floats, gold: Bools, sizes: Sequence[int], parameters: Mapping[str, Any], rounds: int, fits: int = 1
) -> tuple[Tree, ...]:
    """Fit trees whose sum puts gold rows before the others of their list; rows are list after list.

    The same rows and parameters give the same trees, whatever the number of threads. Parameters are
    LightGBM's, past those that make this LambdaMART over two grades. Each fit, of so many rounds, has the
    next seed; what they say is averaged.

    Raises:
        MissingExtra: LightGBM is not installed.
    """
    lightgbm = library()
    data = lightgbm.Dataset(rows, gold.astype(np.int32), group=list(sizes), params={"verbose": -1})
    settings = {
        "objective": "lambdarank",
        "label_gain": [0, 1],  # gold or not
        "deterministic": True,
        "force_row_wise": True,
        "num_threads": 1 if len(rows) < MAX_SINGLE_THREAD_ROWS else 0,  # 0: as many as there are cores
        "verbose": -1,
        **parameters,
    }
    trees = []
    for nth in range(fits):
        model = lightgbm.train({**settings, "seed": parameters.get("seed", 0) + nth}, data, rounds)
        trees += [_tree(of["tree_structure"], fits) for of in model.dump_model()["tree_info"]]
    return tuple(trees)


def library() -> Any:  # noqa: ANN401 - loaded where it is used
    """Return LightGBM.

    Raises:
        MissingExtra: it is not installed, or not whole.
    """
    try:
        import lightgbm
    except (ImportError, OSError) as error:  # OSError: a library of the system that it links to
        raise MissingExtra(
            f"LightGBM cannot be loaded ({error}): run {install_hint('eval')}, and where libgomp is missing "
            "apt-get install libgomp1"
        ) from error
    return lightgbm


def _tree(root: dict[str, Any], share: int) -> Tree:
    """Turn LightGBM's nested nodes into ours, each before its children, each value one share of it."""
    nodes: list[tuple[int, float, int, int, float]] = []

    def add(node: dict[str, Any]) -> int:
        number = len(nodes)
        value = float(node["leaf_value"] if "leaf_value" in node else node["internal_value"]) / share
        nodes.append((-1, 0.0, -1, -1, value))
        if "leaf_value" not in node:
            left, right = add(node["left_child"]), add(node["right_child"])
            nodes[number] = (int(node["split_feature"]), float(node["threshold"]), left, right, value)
        return number

    add(root)
    feature, threshold, left, right, value = zip(*nodes, strict=True)
    return Tree(feature, threshold, left, right, value)
