"""Names of systems: what they say, and what is refused."""

from __future__ import annotations

import pytest

from rag.errors import BadInput
from rag.fusion.settings import METHODS
from training.eval.system_names import (
    SINGLE,
    SYSTEMS,
    ByGraph,
    Fused,
    by_graph,
    excluded_features,
    fused,
    parse_rerank,
    refuse_unfit,
    runnable,
    single,
)


def test_what_a_name_says() -> None:
    assert fused("hybrid") == Fused("rrf")
    assert fused("tuned") == Fused("tuned")
    assert fused("comb-mnz") == Fused("comb-mnz")
    assert fused("z-score:bm25,dense-law") == Fused("z-score", ("bm25", "dense-law"))
    assert fused("tuned:bm25+questions,dense,ql") == Fused("tuned", ("bm25+questions", "dense", "ql"))
    assert all(fused(name) is None for name in SINGLE)
    assert all(fused(name) == Fused(name) for name in METHODS)


@pytest.mark.parametrize(("name", "said"), [
    ("listwise:bm25", ("listwise", "bm25")),
    ("yes-no:rrf:bm25,dense", ("yes-no", "rrf:bm25,dense")),
    ("model:mono:rrf:bm25,dense", ("model:mono", "rrf:bm25,dense")),
    ("encoder:monobert:model:dpr", ("encoder:monobert", "model:dpr")),
    ("model:mono", None),
    ("model:mono:", None),
    ("listwise:", None),
    ("rrf:bm25,dense", None),
    ("sideways:bm25", None),
])  # fmt: skip
def test_what_is_re_ranked_and_by_what(name: str, said: tuple[str, str] | None) -> None:
    assert parse_rerank(name) == said
    assert single(name) == (said is None and not name.startswith("rrf"))


def test_what_is_ranked_by_the_graph() -> None:
    assert by_graph("siblings:hybrid") == ByGraph("siblings", "hybrid", None)
    assert by_graph("pagerank@0.85:rrf:bm25,dense") == ByGraph("pagerank", "rrf:bm25,dense", 0.85)
    assert by_graph("references@0:cocited@2:bm25") == ByGraph("references", "cocited@2:bm25", 0.0)
    assert all(by_graph(name) is None for name in (*SINGLE, *SYSTEMS, "rrf:bm25,dense"))
    assert not single("siblings:bm25")
    refuse_unfit(["siblings@0.1:bm25", "pagerank@0.1:bm25"], learning=False)
    refuse_unfit(["siblings:bm25", "cocited@0.1:hybrid"], learning=True)
    refuse_unfit(["siblings@0.1:bm25"], learning=True, given=True)


@pytest.mark.parametrize(("name", "told"), [
    ("siblings", "name the system"),
    ("siblings:", "name the system"),
    ("siblings:bm26", "no system 'bm26'"),
    ("siblings@:bm25", "no weight of siblings"),
    ("siblings@much:bm25", "no weight of siblings"),
    ("siblings@-1:bm25", "0 or more"),
    ("siblings@nan:bm25", "0 or more"),
    ("pagerank@1:bm25", "0 to under 1"),
    ("cousins:bm25", "no system 'cousins:bm25'"),
])  # fmt: skip
def test_what_the_graph_cannot_rank(name: str, told: str) -> None:
    with pytest.raises(BadInput, match=told):
        refuse_unfit([name], learning=True)


@pytest.mark.parametrize("name", ["siblings:bm25", "cocited@0.1:bm25", "pagerank:bm25"])
def test_what_the_graph_learns_needs_questions(name: str) -> None:
    with pytest.raises(BadInput, match="add --folds 5 or --annotated"):
        refuse_unfit([name], learning=False)
    with pytest.raises(BadInput, match="encoder"):
        refuse_unfit(["pagerank:bm25"], learning=True, given=True)


@pytest.mark.parametrize("parts", ["", "bm25", "bm25,bm25", "bm25,hybrid", "bm25,", "bm25, dense"])
def test_parts_that_cannot_be_fused(parts: str) -> None:
    with pytest.raises(BadInput, match="two or more different systems"):
        refuse_unfit([f"rrf:{parts}"], learning=True)


@pytest.mark.parametrize("name", ["bm26", "hybrid:bm25,dense", "RRF", ""])
def test_names_of_nothing(name: str) -> None:
    with pytest.raises(BadInput, match=f"no system '{name}': choose among bm25"):
        refuse_unfit([name], learning=True)


@pytest.mark.parametrize(
    "name",
    [
        "bm25+questions",
        "tuned",
        "tuned:bm25,dense",
        "borda:bm25+questions,ql",
        "learned",
        "learned-without:prior",
    ],
)
def test_what_learns_needs_questions(name: str) -> None:
    with pytest.raises(BadInput, match="add --folds 5 or --annotated"):
        refuse_unfit([name], learning=False)
    refuse_unfit([name], learning=True)


@pytest.mark.parametrize("name", ["dense-law", "rrf:bm25,dense-law", "tuned", "tuned:bm25,ql", "learned"])
def test_what_a_given_encoder_forbids(name: str) -> None:
    with pytest.raises(BadInput, match="encoder"):
        refuse_unfit([name], learning=True, given=True)


def test_what_runs_by_itself() -> None:
    assert runnable(100) == list(SYSTEMS)
    assert runnable(100, given=True) == [name for name in SYSTEMS if name not in ("tuned", "learned")]
    assert runnable(9) == [name for name in SYSTEMS if name not in ("tuned", "learned")]
    assert runnable(99) == [name for name in SYSTEMS if name != "learned"]
    assert runnable(0) == ["bm25", "tfidf", "ql", "dense", "hybrid"]
    for learning in (0, 9, 100):
        refuse_unfit(runnable(learning), learning=learning > 0)


def test_a_learned_fusion_may_do_without_groups() -> None:
    assert excluded_features("learned") == ()
    assert excluded_features("learned-without:prior,place") == ("prior", "place")
    assert excluded_features("learned-without:networks") == (
        "networks",
    )  # no features, but what looks at them
    assert excluded_features("bm25") is None
    for groups in ("", "luck", "prior,"):
        with pytest.raises(BadInput, match="name groups of features"):
            excluded_features(f"learned-without:{groups}")
