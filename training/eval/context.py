"""What a bench is told: settings, what systems may learn from, what is fitted, and systems brought along."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, TypeAlias

from indexes.corpus.corpus import Corpus
from rag.encoders.static import StaticEncoder
from rag.fusion.settings import DAMPING, FusionSettings
from rag.ltr.features import Evidence
from rag.ltr.ranker import Ranker
from rag.retrieval.base import Mask
from rag.retrieval.bm25 import BM25Settings
from rag.retrieval.term_counts import FieldCounts
from rag.retrieval.translation_model import TranslationModel
from rag.text import Analyser
from rag.types import ArticleOrder, Progress, Question, Reranker, Retriever
from training.eval.encoders import FitCache

if TYPE_CHECKING:
    import faiss


@dataclass(frozen=True, slots=True)
class BenchSettings:
    """What `--tune` may choose; the defaults are those of the index that ships."""

    bm25: BM25Settings = field(default_factory=BM25Settings)
    stop_words: bool = True
    damping: float = DAMPING  # the c of reciprocal rank fusion
    method: str = "rrf"  # of the hybrid
    bridged: bool = True  # whether its words go over the bridge, as an index's do
    beside: float = 0.0  # share of the best score under its headings that an article has at least, there


@dataclass(frozen=True)
class FoldContext:
    """What the systems of one fold may learn from."""

    learn: tuple[Question, ...]
    settings: BenchSettings
    dev: tuple[Question, ...]  # none of the systems learns from these: weights may be tuned on them


@dataclass(frozen=True)
class FittedParts:
    """The parts of an index that are fitted already."""

    encoder: StaticEncoder | None = None
    ranker: Ranker | None = None  # of its learned fusion
    fusion: FusionSettings | None = None  # that it answers with
    translation: TranslationModel | None = None
    counts: FieldCounts | None = None  # of the law's own fields: what is searched may not be what is shown
    vectors: faiss.Index | None = None  # of the articles, by the encoder


class BenchLike(Hashable, Protocol):
    """What a system that is made for a bench, or fitted to what others return, asks of it."""

    corpus: Corpus
    order: ArticleOrder
    mask: Mask
    progress: Progress
    cache: FitCache

    def analyser(self, *, stop_words: bool = True) -> Analyser:
        """Return the analyser of the corpus's language."""
        ...

    def evidence(self, learn: Sequence[Question], settings: BenchSettings) -> Evidence:
        """Return what a learned fusion looks at, of systems that learnt from these questions alone."""
        ...


System: TypeAlias = Callable[[str], Retriever]  # the name of a system -> it, of the same lesson


@dataclass(frozen=True, slots=True)
class Extra:
    """A system that an evaluation brings along: word vectors, a pretrained encoder, a model that re-ranks."""

    make: Callable[[BenchLike, FoldContext, System], Retriever]
    parts: tuple[str, ...] = ()  # the systems that it asks
    model: str | None = None  # of the hub, ID@COMMIT
    # what it is made of, besides the law and the questions: manifests, a file, how a model is read
    made_of: tuple[str, ...] = ()


@dataclass(frozen=True)
class RerankMethod:
    """One way to put the first articles of a system in order."""

    make: Callable[[BenchLike, FoldContext], Reranker]
    depth: int  # articles of the system below
    model: str | None = None  # of the hub, ID@COMMIT


Extras: TypeAlias = Mapping[str, Extra]  # by name
