"""What a bench is told: settings of systems, what they may learn from, and what is fitted already.

And what those that it makes may ask of it: `BenchLike`, which `training.eval.workbench.Bench` is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from indexes.corpus.corpus import Corpus
from rag.encoders.static import StaticEncoder
from rag.fusion.settings import DAMPING, FusionSettings
from rag.ltr.features import Evidence
from rag.ltr.ranker import Ranker
from rag.retrieval.base import Mask
from rag.retrieval.bm25 import BM25Settings
from rag.retrieval.translation_model import TranslationModel
from rag.text import Analyser
from rag.types import ArticleOrder, Progress, Question
from training.eval.encoders import FitCache


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

    encoder: StaticEncoder
    ranker: Ranker | None = None  # of its learned fusion
    fusion: FusionSettings | None = None  # that it answers with
    bridge: TranslationModel | None = None


class BenchLike(Protocol):
    """What a system that is made for a bench, or fitted to what others return, asks of it."""

    @property
    def corpus(self) -> Corpus:
        """The corpus that is measured."""
        ...

    @property
    def order(self) -> ArticleOrder:
        """The ids of its articles in their positions."""
        ...

    @property
    def mask(self) -> Mask:
        """Which articles a filter admits."""
        ...

    @property
    def progress(self) -> Progress:
        """Called as the work goes on."""
        ...

    @property
    def cache(self) -> FitCache:
        """Keeps what takes minutes to make."""
        ...

    def analyser(self, *, stop_words: bool = True) -> Analyser:
        """Return the analyser of the corpus's language."""
        ...

    def evidence(self, learn: Sequence[Question], settings: BenchSettings) -> Evidence:
        """Return what a learned fusion looks at, of systems that learnt from these questions alone."""
        ...
