"""The names of systems: single ones, and fusions that name their method and, if need be, their parts."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import inf

from rag.errors import BadInput
from rag.fusion.settings import METHODS
from rag.graph.smoothing import COCITED, KINDS, PAGERANK
from rag.ltr.features import GROUPS
from training.eval.context import Extra
from training.fusion.inner_folds import LEAST
from training.fusion.learned import TO_LEARN_FROM

# words bridged: typed words and those that the law has for them; the latter alone
EXPANDED_SYSTEMS = {"bm25+bridge": "bm25", "bm25+questions+bridge": "bm25+questions", "bridge": ""}
EXPANDED_BM25 = "bm25+questions+bridge"  # the words of an index that has a bridge
PRECEDING = "bm25+preceding"  # the words of an index that has no questions
SINGLE = (
    "bm25",
    PRECEDING,
    "bm25+questions",
    "tfidf",
    "ql",
    "dense",
    "dense-law",
    "nearest",
    *EXPANDED_SYSTEMS,
)
# those measured unless named
SYSTEMS = ("bm25", "bm25+questions", "tfidf", "ql", "dense", "hybrid", "tuned", "learned")
UNTRAINED = ("bm25", PRECEDING, "tfidf", "ql", "dense-law")  # these learn from no question
HYBRID = "hybrid"
UNBRIDGED = "hybrid-without-bridge"  # what the index would answer with if it had none
TUNED = "tuned"
LEARNED = "learned"
NETWORKS = "networks"  # of a learned fusion, beside its trees: what learned-without:networks does without
_WITHOUT = f"{LEARNED}-without:"
MODEL = "model:"  # and the name that --trained gives a trained model
ENCODER = "encoder:"  # and the name of a pretrained model of --encoder
# these make no sense without questions to learn from
LEARNING = ("bm25+questions", "nearest", *EXPANDED_SYSTEMS, TUNED, LEARNED)
GRAPH_WAYS = ", ".join(KINDS)
RERANKED = ("pointwise", "listwise", "yes-no")  # HOW:SYSTEM, systems that an evaluation brings along
_METHODS = ", ".join((*METHODS, TUNED))
GRAMMAR = (
    f"{', '.join(SYSTEMS)}, {_WITHOUT}GROUP, dense-law, nearest, "
    f"{', '.join(EXPANDED_SYSTEMS)}, {UNBRIDGED}, {MODEL}NAME of --trained NAME=FOLDER, "
    f"WAY:SYSTEM or WAY@WEIGHT:SYSTEM with WAY of {GRAPH_WAYS}, "
    f"or METHOD:PART,PART with METHOD of {_METHODS}"
)


@dataclass(frozen=True, slots=True)
class Fused:
    """What a fusion's name says."""

    method: str  # of rag.fusion.settings.METHODS, or tuned
    parts: tuple[str, ...] = ()  # empty: those of the hybrid


def fused(name: str, more: Collection[str] | None = None) -> Fused | None:
    """Return what the name of a fusion says, None for another name.

    "hybrid" is reciprocal rank of the encoder and the best BM25, over the bridge as in an index, or what the
    index answers with that is measured; "rrf" is that without the bridge, "borda" Borda of the same two,
    "borda:bm25,dense-law" of those named.

    `more` are names of single systems that an evaluation brings along; None takes any name for one.

    Raises:
        BadInput: a part that is no single system, one part alone, or one part twice.
    """
    method, colon, listed = name.partition(":")
    if name in (HYBRID, UNBRIDGED):
        return Fused("rrf")
    if method not in (*METHODS, TUNED):
        return None
    if not colon:
        return Fused(method)
    parts = tuple(listed.split(","))
    known = set(parts) if more is None else {*SINGLE, *more}
    if len(parts) < 2 or len(set(parts)) < len(parts) or not set(parts) <= known:
        raise BadInput(
            f"{name}: name two or more different systems to fuse of {', '.join((*SINGLE, *(more or ())))}, "
            f"such as {method}:bm25,dense"
        )
    return Fused(method, parts)


def excluded_features(name: str) -> tuple[str, ...] | None:
    """Return which groups of features a learned fusion does without; None for another system's name.

    "learned" has all, "learned-without:prior" all but how often articles are cited; "networks" is no group of
    features but what ranks beside the trees.

    Raises:
        BadInput: a group that is none.
    """
    if name == LEARNED:
        return ()
    if not name.startswith(_WITHOUT):
        return None
    groups = tuple(name.removeprefix(_WITHOUT).split(","))
    if not set(groups) <= {*GROUPS.values(), NETWORKS}:
        known = ", ".join(sorted({*GROUPS.values(), NETWORKS}))
        raise BadInput(f"{name}: name groups of features that it does without, of {known}")
    return groups


@dataclass(frozen=True, slots=True)
class ByGraph:
    """What the name of a system that is ranked by the legislative graph says."""

    kind: str  # of rag.graph.smoothing.KINDS
    system: str  # that is ranked so
    weight: float | None  # None: chosen inside folds of the questions to learn from


def by_graph(name: str) -> ByGraph | None:
    """Return what a name such as "siblings:hybrid" or "pagerank@0.3:hybrid" says; None for another name.

    Raises:
        BadInput: no system is named, or the weight is none that the way takes.
    """
    how, _, system = name.partition(":")
    kind, at, typed = how.partition("@")
    if kind not in KINDS:
        return None
    if not system:
        raise BadInput(f"{name}: name the system that is ranked by the graph, such as {kind}:{HYBRID}")
    if not at:
        return ByGraph(kind, system, None)
    most = "0 to under 1" if kind == PAGERANK else "0 or more"
    try:
        weight = float(typed)
    except ValueError:
        weight = -1.0
    if not (0 <= weight < (1 if kind == PAGERANK else inf)):
        raise BadInput(f"{name}: {typed!r} is no weight of {kind}: give {most}, such as {kind}@0.2:{system}")
    return ByGraph(kind, system, weight)


def parse_rerank(name: str) -> tuple[str, str] | None:
    """Return by what a system is re-ranked and which, of a name HOW:SYSTEM; None for another name.

    HOW is one of RERANKED, or a model that reads question and article together: "model:NAME" of --trained,
    "encoder:NAME" of --encoder. "model:mono:rrf:bm25,dense" is ("model:mono", "rrf:bm25,dense").
    """
    how, _, first = name.partition(":")
    if f"{how}:" in (MODEL, ENCODER):
        of, _, first = first.partition(":")
        how = f"{how}:{of}"
    elif how not in RERANKED:
        return None
    return (how, first) if first else None


def single(name: str) -> bool:
    """Tell whether a system is made of no other: no fusion, learned or not, and none that is ranked again."""
    others = fused(name), excluded_features(name), parse_rerank(name), by_graph(name)
    return all(of is None for of in others)


def runnable(learning: int, *, given: bool = False, ranker: bool = False) -> list[str]:
    """Return which of the usual systems can run with so many questions with gold articles to learn from.

    Where the encoder is given it is not fitted here: it has learnt already; and so for a ranker.
    """
    none = set(() if learning else LEARNING)
    if given or learning < LEAST:  # of questions that its parts do not know, it needs some
        none.add(TUNED)
    if not ranker and (given or learning < TO_LEARN_FROM):
        none.add(LEARNED)
    return [name for name in SYSTEMS if name not in none]


def refuse_unfit(
    names: Sequence[str],
    *,
    learning: bool,
    given: bool = False,
    ranker: bool = False,
    more: Mapping[str, Extra] | None = None,
) -> None:
    """Check the names of systems, some of which an evaluation brings along, before any work is done for them.

    `learning` says that there are questions to learn from; `given` that the encoder is not fitted here, it
    has learnt already; `ranker` that nor is a learned fusion: it has all features that it was fitted to.

    Raises:
        BadInput: no such system, or one that learns and there is nothing to learn from.
    """
    more = more or {}
    check = partial(refuse_unfit, learning=learning, given=given, ranker=ranker, more=more)
    for name in names:
        if name in more:
            check(more[name].parts)
            continue
        if (way := by_graph(name)) is not None:
            check([way.system])
            if not learning and (way.weight is None or way.kind == COCITED):
                raise BadInput(f"{name} has no questions to learn from: add --folds 5 or --annotated PATH")
            if given and way.weight is None:
                raise BadInput(
                    f"{name} needs questions that its system has not learnt from, and the encoder that ships "
                    f"has learnt from all: type {way.kind}@0.2:{way.system}, or add --corpus and --folds"
                )
            continue
        of, groups = fused(name, more), excluded_features(name)
        if of is None and groups is None and name not in SINGLE:
            brought = "".join(f", {one}" for one in more)
            raise BadInput(f"no system {name!r}: choose among {GRAMMAR}{brought}")
        used = (of.method, *of.parts) if of else (name if groups is None else LEARNED,)
        check([part for part in used if part in more])
        if not learning and (lacking := [part for part in used if part in LEARNING]):
            raise BadInput(f"{lacking[0]} has no questions to learn from: add --folds 5 or --annotated PATH")
        if given and "dense-law" in used:
            raise BadInput("dense-law is fitted to the law here, an encoder was given: leave it out")
        made = ranker and name == LEARNED
        if given and not made and (fitted := [part for part in used if part in (TUNED, LEARNED)]):
            raise BadInput(
                f"{fitted[0]} needs questions that its parts have not learnt from, and the encoder that "
                "ships has learnt from all: add --corpus and --folds to fit one anew"
            )
