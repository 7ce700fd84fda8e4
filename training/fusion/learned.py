"""Fit a learned fusion: trees and networks over what all systems say of their first 1,000 candidates.

What it learns from are features of questions that none of the systems had seen: the questions to learn
from are split into inner folds, each is asked of systems, neighbours and citation counts made from the
others alone (`training.fusion.inner_folds.inner_folds`). At question time the systems have learnt from all
of them, and nothing of the questions asked has been seen by anything.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from indexes.corpus.corpus import human_or_synthetic
from rag.errors import BadInput, MissingExtra, install_hint
from rag.fusion.rank_fusion import Fuse
from rag.ltr.features import GROUPS, NAMES, REFERENCES, WEIGHTED_SUFFIXES
from rag.ltr.networks import Network
from rag.ltr.ranker import Ranker
from rag.ltr.reranker import first_stage_lists
from rag.ltr.trees import LEAVES, Tree, Trees
from rag.retrieval.hybrid import damped
from rag.types import ArticleOrder, Bools, Floats, Ints, Question, Ranking, rank
from training.eval.context import BenchLike, BenchSettings
from training.eval.metrics import per_question
from training.fusion.inner_folds import FOLDS, FoldOf, inner_folds
from training.fusion.listwise import NetworkSettings, fitted

TO_LEARN_FROM = 100  # questions with gold articles, for some forty features
MOST = 3000  # questions that are asked: the features of each take some 300 KB, and more teach little
FITS = 2  # of trees
NETWORKS = 4
# Networks gain by what the question's terms weigh, trees overfit to it; trees gain by what articles refer to,
# networks lose by it (docs/results.md).
_OF_NETWORKS = frozenset(name for name in NAMES if name.endswith(WEIGHTED_SUFFIXES))
_OF_TREES = frozenset(REFERENCES)
_SPREAD_OF = 300  # lists, of whose scores the spread is looked at
MEASURES = ("R@10", "R@100", "MRR@10")
MEASURED = 100  # articles of a ranking
MAX_SINGLE_THREAD_ROWS = 100_000  # rows; of fewer, threads wait for each other longer than they work
Values: TypeAlias = npt.NDArray[np.float64]
# of the questions that it learns from: of a question and the positions of n candidates, (n, n_added)
MoreFeatures: TypeAlias = Callable[[Sequence[Question]], Callable[[str, Ints], Floats]]


@dataclass(frozen=True, slots=True)
class LearnedSettings:
    """How trees and networks are fitted."""

    rounds: int = 300  # trees of a fit
    fits: int = FITS  # of different seeds, averaged: one alone is a matter of luck in the first ranks
    leaves: int = LEAVES
    rate: float = 0.05
    min_in_leaf: int = 50  # candidates
    features: float = 0.5  # share that a tree may use
    rows: float = 0.7  # share of candidates that a tree sees
    truncation: int = 30  # ranks that the gradient looks at
    networks: int = NETWORKS  # each with a seed of its own and its share of what the trees count
    leave_out: tuple[str, ...] = ()  # groups of features; "prior" is how often articles are cited
    seed: int = 1

    def __post_init__(self) -> None:
        """Refuse what nothing can be fitted with."""
        if self.rounds < 1 or self.fits < 1 or not 2 <= self.leaves <= LEAVES or self.seed < 0:
            raise BadInput(
                f"{self.fits} fits of {self.rounds} trees of {self.leaves} leaves, seed {self.seed}: "
                f"give 1 tree or more, 1 fit or more, of 2 to {LEAVES} leaves, a seed of 0 or more"
            )
        if self.networks < 0:
            raise BadInput(f"{self.networks} networks: give 0 or more")


@dataclass(frozen=True)
class Example:
    """The candidates for one question, and which of them are gold."""

    question: Question
    fold: int  # in which it was asked
    order: ArticleOrder = field(repr=False)  # the n candidates, best first by reciprocal rank
    features: Floats = field(repr=False)  # (n, len(rag.ltr.features.NAMES)), and those that were added
    gold: Bools = field(repr=False)  # (n,)
    fused: Ranking = field(repr=False)  # what a fusion that learns nothing makes of the same lists


def columns(settings: LearnedSettings) -> list[str]:
    """Return the names of the features that are used.

    Raises:
        BadInput: no such group, or nothing is left.
    """
    groups = set(GROUPS.values())
    if unknown := sorted(set(settings.leave_out) - groups):
        raise BadInput(f"no group of features {', '.join(unknown)}: choose among {', '.join(sorted(groups))}")
    used = [name for name in NAMES if GROUPS[name] not in settings.leave_out]
    if not used:
        raise BadInput("a learned fusion of no features: leave fewer groups out")
    return used


def examples(
    bench: BenchLike,
    learn: Sequence[Question],
    settings: BenchSettings,
    *,
    fuse: Fuse = damped,
    most: int = MOST,
    more: MoreFeatures | None = None,
    fold_of: FoldOf | None = None,
) -> Iterator[Example]:
    """Yield questions to learn from, each asked of systems that learnt from all but those of its fold.

    At most so many are asked, drawn evenly from the folds where there are more. The learned fusion is held
    against `fuse`, of the lists of BM25 and the encoder. Features of `more` stand behind the others. Folds
    are those of `inner_folds`.

    Raises:
        BadInput: too few questions with gold articles.
        MissingExtra: LightGBM is not installed: told before the work, not after it.
    """
    gold = [q for q in learn if q.article_ids]
    people, _ = human_or_synthetic(gold)
    if len(people) < TO_LEARN_FROM:
        raise BadInput(f"{len(people)} questions to fit a learned fusion to: give at least {TO_LEARN_FROM}")
    library()
    order = bench.order
    for fold, (held, others) in enumerate(inner_folds(gold, fold_of)):
        sample, share = held, -(-most // FOLDS)
        if len(held) > share:
            drawn = np.random.default_rng(fold).choice(len(held), share, replace=False)
            sample = tuple(held[i] for i in sorted(drawn.tolist()))
        evidence = bench.evidence(others, settings)
        added = more(others) if more is not None else None
        bench.progress("asking what was not learnt", 0, len(sample))
        for done, question in enumerate(sample, start=1):
            [lists] = first_stage_lists(evidence, [question.text])
            rankings = tuple(lists.values())
            found = evidence.candidates(question.text, rankings)
            candidates = order.subset(found.positions)
            right = np.array([id_ in question.article_ids for id_ in candidates.ids], dtype=np.bool_)
            features = found.features
            if added is not None:
                features = np.hstack([features, added(question.text, found.positions)])
            yield Example(question, fold, candidates, features, right, fuse(rankings, MEASURED))
            bench.progress("asking what was not learnt", done, len(sample))


def fit(
    found: Sequence[Example],
    settings: LearnedSettings | None = None,
    about: dict[str, Any] | None = None,
    added: Sequence[str] = (),
) -> Ranker:
    """Fit trees and networks that put gold candidates first.

    The networks together count about as much as the trees (`Ranker.balanced`). Questions with no gold among
    their candidates teach nothing and are left out; `about` is what is to be said of where it comes from.
    `added` names the features that stand behind those of `rag.ltr.features.NAMES`.

    Raises:
        BadInput: no question has gold among its candidates; or no feature is left.
        MissingExtra: LightGBM is not installed.
    """
    chosen = settings or LearnedSettings()
    names = [*columns(chosen), *added]
    known = (*NAMES, *added)
    at = [known.index(name) for name in names]
    telling = [example for example in found if example.gold.any()]
    if not telling:
        raise BadInput(f"none of {len(found)} questions has a gold article among its candidates")
    rows = np.concatenate([example.features[:, at] for example in telling])  # list after list
    gold = np.concatenate([example.gold for example in telling])
    sizes = [len(example.gold) for example in telling]
    record = {
        "settings": asdict(chosen),
        "network": asdict(NetworkSettings()),
        "questions": len(telling),
        "lightgbm": library().__version__,  # told before the work if it is missing
    }
    parameters = {
        "num_leaves": chosen.leaves,
        "learning_rate": chosen.rate,
        "min_data_in_leaf": chosen.min_in_leaf,
        "feature_fraction": chosen.features,
        "bagging_fraction": chosen.rows,
        "bagging_freq": 1,
        "lambdarank_truncation_level": chosen.truncation,
        "seed": chosen.seed,
    }
    seeds = range(chosen.seed, chosen.seed + chosen.networks)
    networks: tuple[Network, ...] = ()
    if seeds:
        with _without(_OF_TREES, rows, names) as some:
            networks = fitted(some, gold, sizes, seeds)
    with _without(_OF_NETWORKS, rows, names) as some:
        trees = boosted(some, gold, sizes, parameters, chosen.rounds, chosen.fits)
    ranker = Ranker(Trees(tuple(names), trees, record | (about or {})), networks)
    return ranker.balanced(rows[: sum(sizes[:_SPREAD_OF])], sizes[:_SPREAD_OF])


@contextmanager
def _without(left_out: Collection[str], rows: Floats, names: Sequence[str]) -> Iterator[Floats]:
    """Give the rows with nothing in these features for a while: where all are equal, none is learnt from.

    In place, for a copy of a million rows would be as much again.
    """
    columns = np.flatnonzero([name in left_out for name in names])
    reduced = rows[:, columns]
    rows[:, columns] = 0
    try:
        yield rows
    finally:
        rows[:, columns] = reduced


def out_of_fold_rankings(
    found: Sequence[Example], settings: LearnedSettings | None = None
) -> tuple[Mapping[str, Values], Mapping[str, Values]]:
    """Return of each measure a value a question, of the ranker fitted to other folds and of `Example.fused`.

    The systems of the other folds have seen labels of this one; its own features have not. So it
    tells whether to use the trees; published numbers come from folds around all of it
    (`python -m training.eval`).
    """
    learned: dict[str, Ranking] = {}
    for fold in sorted({example.fold for example in found}):
        ranker = fit([example for example in found if example.fold != fold], settings)
        at = [NAMES.index(name) for name in ranker.features]
        for n, example in enumerate(found):
            if example.fold == fold:
                learned[str(n)] = rank(ranker.scores(example.features[:, at]), example.order, MEASURED)
    plain = {str(n): example.fused for n, example in enumerate(found)}
    qrels = {str(n): frozenset(example.question.article_ids) for n, example in enumerate(found)}
    return per_question(qrels, learned, MEASURES), per_question(qrels, plain, MEASURES)


def boosted(
    rows: Floats, gold: Bools, sizes: Sequence[int], parameters: Mapping[str, Any], rounds: int, fits: int = 1
) -> tuple[Tree, ...]:
    """Fit LambdaMART's trees (Burges 2010), whose sum puts gold rows before the others of their list.

    Rows are (n, n_features), list after list, gold is (n,), sizes are the rows of each list. The same rows
    and parameters give the same trees, whatever the number of threads. Parameters are LightGBM's, past those
    that make this LambdaMART over two grades. Each fit, of so many rounds, has the next seed; what they say
    is averaged.

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
