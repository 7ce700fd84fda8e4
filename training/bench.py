"""A corpus made ready for measuring: analysed once, fitted once, its systems by name."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import TypeVar

import numpy as np
import scipy.sparse as sp

from indexes.corpus import Corpus
from indexes.fit import FitSettings, Fitted, Fitter
from indexes.folder import appearing
from rag.encoders.static import StaticEncoder
from rag.errors import BadInput
from rag.fusion import reciprocal_rank
from rag.retrieval.bm25 import BM25, BM25Settings
from rag.retrieval.dense import Dense, build_vectors
from rag.retrieval.fields import QUESTIONS_FIELD, FieldCounts, count
from rag.retrieval.hybrid import DAMPING, Hybrid
from rag.retrieval.query_likelihood import QueryLikelihood
from rag.retrieval.scored import Mask
from rag.retrieval.tfidf import TfIdf
from rag.text import Analyser
from rag.text.analysers import analyser
from rag.types import ArticleOrder, Question, Retriever

SYSTEMS = ("bm25", "bm25+questions", "tfidf", "ql", "dense", "hybrid")
LEARNING = ("bm25+questions",)  # these make no sense without questions to learn from
Tell = Callable[[str, int, int], object]
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Settings:
    """What `--tune` may choose; the defaults are those of the index that ships."""

    bm25: BM25Settings = field(default_factory=BM25Settings)
    stop_words: bool = True
    damping: float = DAMPING  # the c of reciprocal rank fusion


def refuse_unfit(names: Sequence[str], *, learning: bool) -> None:
    """Check the names of systems before any work is done for them.

    Raises:
        BadInput: no such system, or one that learns and there is nothing to learn from.
    """
    for name in names:
        if name not in SYSTEMS:
            raise BadInput(f"no system {name!r}: choose among {', '.join(SYSTEMS)}")
        if name in LEARNING and not learning:
            raise BadInput(f"{name} has no questions to learn from: add --folds 5 or --annotated PATH")


class Bench:
    """One corpus and everything about it that does not depend on the questions."""

    def __init__(
        self,
        corpus: Corpus,
        cache: Path | None = None,
        *,
        encoder: StaticEncoder | None = None,
        fit: FitSettings | None = None,
        tell: Tell | None = None,
    ) -> None:
        """Take a corpus.

        Args:
            corpus: its articles are used, its questions are not.
            cache: folder that keeps what is analysed and fitted, by the corpus's hash; None keeps
                nothing.
            encoder: one that is ready (that of an index), instead of fitting one here.
            fit: how to fit.
            tell: called as the work goes on.
        """
        self.corpus = corpus
        self.cache = cache
        self.given = encoder
        self.fit = fit or FitSettings()
        self.tell = tell or (lambda what, done, total: None)
        self.order = ArticleOrder.of([a.id for a in corpus.articles])
        self.mask = Mask(corpus.articles)
        self._counts: dict[bool, FieldCounts] = {}
        self._last: tuple[tuple[Question, ...], StaticEncoder] | None = None

    def analyser(self, *, stop_words: bool = True) -> Analyser:
        """Return the analyser of the corpus's language."""
        return analyser(self.corpus.card.language, stop_words=stop_words)

    def counts(self, *, stop_words: bool = True) -> FieldCounts:
        """Return the term counts of the law's own fields."""
        if stop_words not in self._counts:
            cut = self.analyser(stop_words=stop_words)
            made = self._cached(
                f"counts-{_safe(cut.id)}",
                lambda: count(self.corpus.articles, cut, partial(self._analysed, len(self.corpus.articles))),
                _save_counts,
                partial(_load_counts, order=self.order),
            )
            self._counts[stop_words] = made
        return self._counts[stop_words]

    def _analysed(self, total: int, done: int) -> None:
        self.tell("analysing articles", done, total)

    @cached_property
    def fitter(self) -> Fitter:
        """The corpus as the encoder sees it."""
        return Fitter(self.corpus.articles, self.analyser(), self.fit)

    @cached_property
    def fitted(self) -> Fitted:
        """The encoder fitted to the law alone."""
        return self._cached(
            f"fitted-{_safe(self.analyser().id)}-{self.fit.id}",
            lambda: self.fitter.fit_corpus(
                lambda done, total, loss: self.tell("fitting to the law", done, total)
            ),
            _save_fitted,
            _load_fitted,
        )

    def encoder(self, learn: Sequence[Question]) -> StaticEncoder:
        """Return the encoder fitted to the law and to these questions, or the one that was given."""
        if self.given is not None:
            return self.given
        asked = tuple(learn)
        if self._last is not None and self._last[0] == asked:  # folds that learn from the same questions
            return self._last[1]
        fitted = self.fitted
        if learn:
            fitted = self.fitter.fit_questions(
                fitted, learn, lambda done, total, loss: self.tell("fitting to questions", done, total)
            )
        self._last = (asked, fitted.encoder("static", self.analyser()))
        return self._last[1]

    def systems(
        self, names: Sequence[str], learn: Sequence[Question], settings: Settings | None = None
    ) -> dict[str, Retriever]:
        """Return the named systems, those that learn having learnt from these questions alone.

        Raises:
            BadInput: no such system, or one that learns has nothing to learn from.
        """
        refuse_unfit(names, learning=bool(learn))
        chosen = settings or Settings()
        made: dict[str, Retriever] = {}
        for name in names:
            self._system(name, learn, chosen, made)
        return {name: made[name] for name in names}

    def _system(
        self, name: str, learn: Sequence[Question], chosen: Settings, made: dict[str, Retriever]
    ) -> Retriever:
        if name in made:
            return made[name]
        if name == "dense":
            encoder = self.encoder(learn)
            vectors = build_vectors(encoder.encode_articles(self.corpus.articles))
            made[name] = Dense(encoder, vectors, self.order, self.mask)
        elif name == "hybrid":
            keyword = "bm25+questions" if learn else "bm25"
            parts = {part: self._system(part, learn, chosen, made) for part in (keyword, "dense")}
            made[name] = Hybrid(parts, fuse=partial(reciprocal_rank, c=chosen.damping))
        else:
            made[name] = self._lexical(name, learn, chosen)
        return made[name]

    def _lexical(self, name: str, learn: Sequence[Question], chosen: Settings) -> Retriever:
        cut = self.analyser(stop_words=chosen.stop_words)
        counts = self.counts(stop_words=chosen.stop_words)
        if name == "bm25+questions":
            return BM25.build(counts.with_questions(learn, cut.terms), chosen.bm25, self.mask, cut)
        law = {f: w for f, w in chosen.bm25.weights.items() if f != QUESTIONS_FIELD}
        if name == "bm25":
            return BM25.build(counts, chosen.bm25, self.mask, cut)
        if name == "tfidf":
            return TfIdf(counts, law, self.mask, cut)
        return QueryLikelihood(counts, law, self.mask, cut)

    def _cached(
        self, key: str, make: Callable[[], _T], save: Callable[[_T, Path], None], load: Callable[[Path], _T]
    ) -> _T:
        """Return what the cache holds under this key of this corpus; make and keep it where it does not."""
        if self.cache is None:
            return make()
        folder = self.cache / self.corpus.sha256[:16] / key
        if not folder.is_dir():
            made = make()
            try:
                with appearing(folder) as part:
                    save(made, part)
            except (BadInput, OSError):
                if not folder.is_dir():  # else another evaluation was first, with the same
                    raise
            return made
        return load(folder)


def _safe(text: str) -> str:
    return "".join(c if c.isalnum() or c in "-." else "_" for c in text)


def _save_counts(counts: FieldCounts, folder: Path) -> None:
    words = sorted(counts.vocabulary, key=counts.vocabulary.__getitem__)
    (folder / "vocabulary.json").write_text(json.dumps(words, ensure_ascii=False), encoding="utf-8")
    for name, matrix in counts.fields.items():
        for part in ("data", "indices", "indptr"):
            np.save(folder / f"{name}.{part}.npy", getattr(matrix, part), allow_pickle=False)


def _load_counts(folder: Path, order: ArticleOrder) -> FieldCounts:
    words = json.loads((folder / "vocabulary.json").read_text(encoding="utf-8"))
    fields: dict[str, sp.csr_array] = {}
    for path in sorted(folder.glob("*.data.npy")):
        name = path.name.removesuffix(".data.npy")
        arrays = tuple(np.load(folder / f"{name}.{part}.npy") for part in ("data", "indices", "indptr"))
        fields[name] = sp.csr_array(arrays, shape=(len(order.ids), len(words)))
    return FieldCounts(order, {word: i for i, word in enumerate(words)}, fields)


def _save_fitted(fitted: Fitted, folder: Path) -> None:
    words = sorted(fitted.vocabulary, key=fitted.vocabulary.__getitem__)
    (folder / "vocabulary.json").write_text(json.dumps(words, ensure_ascii=False), encoding="utf-8")
    np.save(folder / "vectors.npy", fitted.vectors, allow_pickle=False)
    np.save(folder / "log_weights.npy", fitted.log_weights, allow_pickle=False)


def _load_fitted(folder: Path) -> Fitted:
    words = json.loads((folder / "vocabulary.json").read_text(encoding="utf-8"))
    vocabulary: Mapping[str, int] = {word: i for i, word in enumerate(words)}
    return Fitted(vocabulary, np.load(folder / "vectors.npy"), np.load(folder / "log_weights.npy"))
