"""What the page asks of the engine behind it; `rag.engine.Engine` is one, a test's fake another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from rag.bridge import KEEP_ALL, Removed
from rag.browsing import Law
from rag.card import CorpusCard
from rag.explanation import Explanation
from rag.result import Mode, Result
from rag.text import Analyser
from rag.types import Filter, Question


class LoadedIndex(Protocol):
    """What is known of the index that is open."""

    @property
    def name(self) -> str:
        """The name it is opened by."""
        ...

    @property
    def version(self) -> str:
        """Which build of it this is."""
        ...

    @property
    def articles(self) -> int:
        """How many articles it holds."""
        ...

    @property
    def questions(self) -> int:
        """How many annotated questions it learnt from."""
        ...

    @property
    def corpus_sha256(self) -> str:
        """Which corpus it was built from."""
        ...

    @property
    def encoder(self) -> str | None:
        """What compares by meaning; None when there is only the comparison by words."""
        ...

    @property
    def built(self) -> str:
        """ISO date of the build."""
        ...


class Facets(Protocol):
    """What the loaded corpus can be filtered by, with the number of articles of each value."""

    @property
    def codes(self) -> Mapping[str, int]:
        """Code -> articles."""
        ...

    @property
    def law_types(self) -> Mapping[str, int]:
        """Type of law ("national", "regional") -> articles; empty when the corpus does not say."""
        ...

    @property
    def regions(self) -> Mapping[str, int]:
        """Region -> articles; empty when the corpus does not say."""
        ...

    @property
    def dated(self) -> bool:
        """Whether articles say from when to when they are in force."""
        ...


class AskEngine(Protocol):
    """Answers questions over one corpus."""

    @property
    def card(self) -> CorpusCard:
        """Whose law this is, of what date, under which licence."""
        ...

    @property
    def info(self) -> LoadedIndex:
        """The index that is open."""
        ...

    @property
    def analyser(self) -> Analyser:
        """Cuts text into terms, as the index did; highlighting needs it."""
        ...

    @property
    def modes(self) -> tuple[Mode, ...]:
        """The ways to search that this index has; the first is the default."""
        ...

    @property
    def law(self) -> Law:
        """The articles by code and heading, for who leafs through them."""
        ...

    def facets(self) -> Facets:
        """Return what the corpus can be filtered by."""
        ...

    def ask(
        self,
        question: str,
        *,
        k: int = 10,
        where: Filter | None = None,
        mode: Mode = "hybrid",
        without: Removed = KEEP_ALL,
    ) -> Result:
        """Return at most k articles for the question, best first; see `rag.engine.Engine.ask`."""
        ...

    def explain(self, result: Result) -> list[Explanation]:
        """Return why each article of a result stands where it does, in the order it is shown."""
        ...


class Benchmark(Protocol):
    """Gives test questions, each with the articles that are known to answer it."""

    def __call__(self) -> Sequence[Question]:
        """Return them; asked at every run of the page, so whoever gives it keeps them."""
        ...
