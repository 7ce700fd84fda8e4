"""Systems that an evaluation brings along beside those that the bench knows by name.

Word vectors, pretrained encoders, a classifier, a language model that re-ranks: each is a name and what makes
the system, so that the bench needs to know none of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from rag.types import Retriever
from training.eval.context import BenchLike, FoldContext

System: TypeAlias = Callable[[str], Retriever]  # the name of a system -> it, of the same lesson
Make: TypeAlias = Callable[[BenchLike, FoldContext, System], Retriever]


@dataclass(frozen=True, slots=True)
class Extra:
    """A system that the bench does not know."""

    make: Make
    over: tuple[str, ...] = ()  # the systems that it asks
    learns: bool = False  # it makes no sense without questions to learn from


Extras: TypeAlias = Mapping[str, Extra]


def cached_per_bench(extra: Extra) -> Extra:
    """Return the extra made once for each bench: for what learns from no question."""
    made: dict[int, Retriever] = {}

    def make(bench: BenchLike, context: FoldContext, system: System) -> Retriever:
        if id(bench) not in made:
            made[id(bench)] = extra.make(bench, context, system)
        return made[id(bench)]

    return replace(extra, make=make)
