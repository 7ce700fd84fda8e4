"""Systems of an evaluation that put the first articles of another one in order: HOW:SYSTEM."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from rag.errors import BadInput
from rag.types import Reranker, Retriever
from training.extra import Extra, Extras, System
from training.names import RERANKED
from training.rerank_llm import Asker, LLMReranker, Reranked

if TYPE_CHECKING:
    from training.bench import Bench
    from training.lesson import Lesson

YES_NO = "yes-no"
MakeReranker = Callable[["Bench"], Reranker]


def reranked(names: Sequence[str], depth: int, how: Callable[[str], MakeReranker]) -> Extras:
    """Return the systems of these names.

    Args:
        names: HOW:SYSTEM, such as "listwise:bm25"; SYSTEM is any name of `training.names`.
        depth: articles of SYSTEM that are looked at.
        how: gives what makes a reranker, by HOW.

    Raises:
        BadInput: a name of another form.
    """
    made = {}
    for name in names:
        kind, colon, first = name.partition(":")
        if kind not in RERANKED or not colon or not first:
            raise BadInput(
                f"--rerank {name}: expected HOW:SYSTEM with HOW of {', '.join(RERANKED)}, such as "
                "listwise:bm25"
            )
        made[name] = Extra(partial(_make, first, depth, how(kind)), over=(first,))
    return made


def _make(
    first: str, depth: int, make: MakeReranker, bench: Bench, lesson: Lesson, system: System
) -> Retriever:
    return Reranked(system(first), make(bench), depth)


def by_model(asker: Asker, kind: str) -> MakeReranker:
    """Return what makes the reranker of a chat model: pointwise or listwise."""

    def make(bench: Bench) -> Reranker:
        articles = {a.id: a for a in bench.corpus.articles}
        return LLMReranker(
            "listwise" if kind == "listwise" else "pointwise", asker, articles, bench.analyser()
        )

    return make
