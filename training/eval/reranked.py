"""Systems of an evaluation that put the first articles of another one in order: HOW:SYSTEM."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from rag.errors import BadInput
from rag.types import Reranker, Retriever
from training.eval.external_system import Extra, Extras, System
from training.eval.system_names import ENCODER, MODEL, RERANKED, rerank_of
from training.llm_reranking import Asker, LLMReranker, Reranked

if TYPE_CHECKING:
    from training.eval.context import Lesson
    from training.eval.workbench import Bench

YES_NO = "yes-no"


@dataclass(frozen=True, slots=True)
class Way:
    """One HOW: what makes its reranker, given what may be learnt from, and how far down it looks."""

    make: Callable[[Bench, Lesson], Reranker]
    depth: int  # articles of the system below


def reranked(names: Sequence[str], how: Callable[[str], Way]) -> Extras:
    """Return the systems of these names.

    Args:
        names: HOW:SYSTEM, such as "listwise:bm25"; SYSTEM is any name of `training.eval.system_names`.
        how: gives the way of a HOW.

    Raises:
        BadInput: a name of another form, or a HOW that cannot be used.
    """
    made = {}
    for name in names:
        parts = rerank_of(name)
        if parts is None:
            raise BadInput(
                f"--rerank {name}: expected HOW:SYSTEM with HOW of {', '.join(RERANKED)}, {MODEL}NAME of "
                f"--trained or {ENCODER}NAME of --encoder, such as listwise:bm25"
            )
        kind, first = parts
        made[name] = Extra(partial(_make, first, how(kind)), over=(first,))
    return made


def _make(first: str, way: Way, bench: Bench, lesson: Lesson, system: System) -> Retriever:
    return Reranked(system(first), way.make(bench, lesson), way.depth)


def by_model(asker: Asker, kind: str) -> Way:
    """Return the way of a chat model: pointwise or listwise."""

    def make(bench: Bench, lesson: Lesson) -> Reranker:
        articles = {a.id: a for a in bench.corpus.articles}
        return LLMReranker(
            "listwise" if kind == "listwise" else "pointwise", asker, articles, bench.analyser()
        )

    return Way(make, asker.settings.depth)
