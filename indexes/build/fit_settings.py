"""What an encoder is fitted with, and what comes of it before it is rounded to bytes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import TypeAlias, get_args

import numpy as np

from rag.encoders.static import StaticEncoder
from rag.errors import BadInput
from rag.text import Analyser
from rag.text.chinese import Units
from rag.types import Floats

_APART = 10  # seeds of fits: a fit draws from its own and from a few after it


@dataclass(frozen=True, slots=True)
class FitSettings:
    """How an encoder is fitted; all of it goes into the manifest."""

    dim: int = 256
    min_count: int = 2  # a term in fewer articles and questions gets no vector
    max_terms: int = 100_000  # the most frequent ones
    passes: int = 3
    batch: int = 512  # of pairs cut from the law
    question_passes: int = 6
    question_batch: int = 512  # pairs of a question, or its answer, and an article that it cites
    random_negatives: int = 1024  # articles that join each batch of questions
    hard_negatives: int = 3  # for each pair, of the articles that are wrongly near
    alike_every: int = 0  # one step more after so many, on questions of the same article; 0: none
    drop_question: float = 0.4  # share of a question's terms that a step leaves out
    drop_article: float = 0.5
    temperature: float = 0.05  # of pairs cut from the law
    question_temperature: float = 0.1
    rate: float = 0.01
    weight_start: float = 0.3  # first term weight = this times idf
    seed: int = 0
    units: Units = "both"  # what is looked at where Chinese is cut both ways; other terms get no vector
    fits: int = 1  # side by side in one encoder (`indexes.build.ensemble`)
    max_articles: int = 100_000  # of a larger law so many are drawn to fit to, and those that questions cite

    def __post_init__(self) -> None:
        """Refuse to fit nothing, or to what nobody knows."""
        refuse_no_fit(self.fits)
        if self.max_articles < 1:
            raise BadInput(f"max_articles={self.max_articles}: an encoder is fitted to an article or more")
        if self.units not in get_args(Units):
            raise BadInput(f"units={self.units!r}: expected one of {', '.join(get_args(Units))}")

    @property
    def id(self) -> str:
        """Short hash of every value; of a single fit of all terms the same as before there were others."""
        plain = {"fits": 1, "units": "both", "max_articles": 100_000}
        values = {name: value for name, value in asdict(self).items() if plain.get(name) != value}
        return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()[:8]

    @property
    def each(self) -> tuple[FitSettings, ...]:
        """The settings of each fit, by itself."""
        return tuple(replace(self, seed=self.seed + _APART * nth, fits=1) for nth in range(self.fits))


def refuse_no_fit(fits: int) -> None:
    """Raise BadInput for what would fit nothing."""
    if fits < 1:
        raise BadInput(f"--fits {fits}: an encoder is fitted once or more: give 1 or more")


FitSpec: TypeAlias = FitSettings | int  # settings; or how many fits, as is suited to the number of questions
MANY_QUESTIONS = 5000  # annotated questions; between a thousand and seven thousand nothing was measured
_FOR_MANY = FitSettings(
    question_batch=256, random_negatives=512, alike_every=4, drop_question=0.2, drop_article=0.3
)
LARGE = 30_000  # articles; nothing was measured between fifteen thousand and fifty-five thousand


def suited(n_questions: int, n_articles: int = 0) -> FitSettings:
    """Return how an encoder is fitted to so many annotated questions, and to law of so many articles.

    A thousand questions would be learnt by heart, so much of each is left out; thousands cannot be, and say
    more whole. A large law says in two passes what a smaller one does in three (docs/results.md).
    """
    settings = _FOR_MANY if n_questions >= MANY_QUESTIONS else FitSettings()
    return replace(settings, passes=2) if n_articles >= LARGE else settings


def for_written(settings: FitSettings, n_questions: int) -> FitSettings:
    """Return how to fit to so many questions that a machine wrote, before those that people asked.

    Seed, rate, temperature and what is looked at stay; what depends on how many there are is as suits them.
    """
    suits = suited(n_questions)
    return replace(
        settings,
        question_batch=suits.question_batch,
        random_negatives=suits.random_negatives,
        alike_every=suits.alike_every,
        drop_question=suits.drop_question,
        drop_article=suits.drop_article,
    )


def resolve_settings(how: FitSpec, n_questions: int, n_articles: int = 0) -> FitSettings:
    """Return the settings, or as many fits as asked for, suited to the numbers of questions and articles."""
    return how if isinstance(how, FitSettings) else replace(suited(n_questions, n_articles), fits=how)


@dataclass(frozen=True)
class FittedParameters:
    """Parameters of a static encoder, still in float32 so that fitting can go on."""

    vocabulary: Mapping[str, int] = field(repr=False)
    vectors: Floats = field(repr=False)  # (n_terms, dim)
    log_weights: Floats = field(repr=False)  # (n_terms,)

    def encoder(self, name: str, analyser: Analyser) -> StaticEncoder:
        """Fold the weights into the vectors and round them to bytes."""
        return StaticEncoder.of(name, analyser, self.vocabulary, self.folded())

    def folded(self) -> Floats:
        """Return the vectors times their weights, (n_terms, dim)."""
        return np.asarray(self.vectors * np.exp(self.log_weights)[:, None], np.float32)
