"""What the pages ask of whoever stands behind them; `rag.engine.engine.Engine` is one, a fake another."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from rag.corpus.asker_situations import Situation
from rag.corpus.card import CorpusCard
from rag.corpus.contents import Law
from rag.engine.result import Explanation, Mode, Result
from rag.retrieval.translation_model import KEEP_ALL, Removed
from rag.text import Analyser
from rag.types import Article, Filter, Question

if TYPE_CHECKING:  # the page is on the screen before they are loaded
    from rag.answer.extractive import Extract
    from rag.answer.generation.session import Draft
    from rag.engine.engine import EncoderTraining


class LoadedIndex(Hashable, Protocol):
    """What is known of the index that is open; it can be a key of what is kept."""

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
    def encoder_knows(self) -> EncoderTraining:
        """What that knows of law."""
        ...

    @property
    def built(self) -> str:
        """ISO date of the build."""
        ...


class FacetsProtocol(Protocol):
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

    @property
    def situations(self) -> Sequence[Situation]:
        """What a person may say of themselves: of whom the corpus speaks."""
        ...

    def facets(self) -> FacetsProtocol:
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
        """Return at most k articles for the question, best first; see `rag.engine.engine.Engine.ask`."""
        ...

    def explain(self, result: Result) -> list[Explanation]:
        """Return why each article of a result stands where it does, in the order it is shown."""
        ...


class Benchmark(Protocol):
    """Gives test questions, each with the articles that are known to answer it."""

    def __call__(self) -> Sequence[Question]:
        """Return them; asked at every run of the page, so whoever gives it keeps them."""
        ...


class ExtractiveQuoter(Protocol):
    """Chooses a sentence of each article without any model; `rag.answer.extractive.Extractor` is one."""

    def extract(
        self, question: str, articles: Iterable[Article], law_words: Mapping[str, float] | None = None
    ) -> Sequence[Extract]:
        """Return one extract for each article that has a text, in their order."""
        ...


class SessionWriter(Protocol):
    """Writes answers for one person."""

    def write(self, question: str, articles: Sequence[Article], language: str) -> Draft:
        """Return the events of one answer; nothing is sent before the first is wanted."""
        ...


class ModelProtocol(Protocol):
    """A language model that writes answers; `rag.answer.generation.writer.ModelWriter` is one."""

    @property
    def name(self) -> str:
        """What the page calls it."""
        ...

    @property
    def local(self) -> bool:
        """Whether a question stays on the machine that serves the page."""
        ...

    @property
    def articles(self) -> int | None:
        """How many articles it is shown; None: as many as the scores call for."""
        ...

    def for_session(self, session: Hashable, say: Callable[..., str], as_of: str | None) -> SessionWriter:
        """Return what writes for one person, whose calls are counted, from the law of a date."""
        ...


@dataclass(frozen=True, slots=True)
class Answers:
    """What the page has to answer with beside the articles."""

    quoter: ExtractiveQuoter | None = None
    model: ModelProtocol | None = None  # None: nothing is ever sent anywhere
    problem: str = ""  # why a model that was asked for is not there, for whoever runs the page
