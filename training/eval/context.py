"""What a bench is told: settings of systems, what they may learn from, and what is fitted already."""

from __future__ import annotations

from dataclasses import dataclass, field

from rag.encoders.static import StaticEncoder
from rag.fusion import DAMPING, FusionSettings
from rag.ltr.ranker import Ranker
from rag.retrieval.bm25 import BM25Settings
from rag.retrieval.translation_model import Bridge
from rag.types import Question


@dataclass(frozen=True, slots=True)
class Settings:
    """What `--tune` may choose; the defaults are those of the index that ships."""

    bm25: BM25Settings = field(default_factory=BM25Settings)
    stop_words: bool = True
    damping: float = DAMPING  # the c of reciprocal rank fusion
    method: str = "rrf"  # of the hybrid
    bridged: bool = True  # whether its words go over the bridge, as an index's do
    beside: float = 0.0  # share of the best score under its headings that an article has at least, there


@dataclass(frozen=True)
class Lesson:
    """What the systems of one fold may know."""

    learn: tuple[Question, ...]
    settings: Settings
    dev: tuple[Question, ...]  # none of the systems learns from these: weights may be tuned on them


@dataclass(frozen=True)
class Ready:
    """What an index has fitted already."""

    encoder: StaticEncoder
    ranker: Ranker | None = None  # of its learned fusion
    fusion: FusionSettings | None = None  # that it answers with
    bridge: Bridge | None = None
