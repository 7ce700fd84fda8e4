"""Why this article: each system's score of one article taken apart, exactly.

BM25 is a sum over the question's terms; its fields are summed before they saturate, so that a term's
share belongs to each field by its weighted count there. A static encoder's vector is a sum too, and a
cosine with it the sum of what each term adds. What an index does not keep (counts by field) is counted
anew from the one article, whose contents stay at hand for a while.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain
from typing import TypeAlias

import numpy as np

from rag.encoders.static import StaticEncoder
from rag.engine.result import Explanation, MeaningShare, Mode, ResultPlace, SimilarQuestion
from rag.retrieval.bm25 import BM25
from rag.retrieval.dense import Dense
from rag.retrieval.query_expansion import ExpandedBM25
from rag.retrieval.term_counts import ANSWERS_FIELD, LAW_FIELDS, QUESTIONS_FIELD, Frequencies, term_ids
from rag.text import Analyser
from rag.types import Article, Floats, Question, Retriever, WordShare

RECENT = 512  # articles whose contents stay at hand: those of some fifty questions
MAX_QUESTIONS = 3  # annotated questions that are told
COMPARED = (
    12  # annotated questions of one article that a static encoder compares, those that share most words
)


class AnalysedText(Counter[str]):
    """The terms of a text that was analysed for this explanation."""

    def of(self, terms: frozenset[str]) -> Mapping[str, int]:
        """Return those of the terms that stand there, and how often."""
        return {term: self[term] for term in terms if term in self}


# article id -> field -> term -> how often; None for an article whose counts are not kept
CountTerms: TypeAlias = Callable[[str], Mapping[str, Frequencies] | None]


@dataclass(frozen=True, slots=True)
class PrecomputedTerms:
    """Term counts and vectors that need no new analysis; None where they are unknown."""

    counted: CountTerms | None = None  # terms of articles
    cut_cited: Callable[[str], Sequence[str]] | None = None  # of an annotated question, by its text
    encode_cited: Callable[[Sequence[str]], Floats] | None = None  # annotated questions, by their texts


@dataclass(frozen=True, slots=True)
class Contents:
    """The terms of one article by field, and of each annotated question that cites it."""

    counts: Mapping[str, Frequencies]  # field -> term -> how often
    asked: tuple[tuple[Question, frozenset[str]], ...]

    def in_text(self, terms: frozenset[str]) -> frozenset[str]:
        """Return those of the terms that stand in the text."""
        return frozenset(self.counts["text"].of(terms))

    def in_law(self, terms: frozenset[str]) -> frozenset[str]:
        """Return those of the terms that stand in the law itself: text, headings or code."""
        return frozenset(chain.from_iterable(self.counts[name].of(terms) for name in LAW_FIELDS))


class Explainer:
    """Explains articles of one index; a retriever of a kind that it does not know is passed over."""

    def __init__(
        self,
        articles: Mapping[str, Article],
        cited: Mapping[str, Sequence[Question]],
        analyser: Analyser,
        keyword: Retriever,
        meaning: Retriever | None,
        kept: PrecomputedTerms | None = None,
    ) -> None:
        """Take an index apart.

        Args:
            articles: by id.
            cited: the annotated questions of each article, each question once.
            analyser: cut all of them.
            keyword: explained where it is BM25.
            meaning: explained where it has vectors of articles.
            kept: terms and vectors that are known; what is not is cut and encoded again.
        """
        self._counted = kept.counted if kept else None
        cut_cited = kept.cut_cited if kept else None
        self._encode_cited = kept.encode_cited if kept else None
        self._articles = articles
        self._cited = cited
        self._analyser = analyser
        self._bm25 = keyword if isinstance(keyword, BM25) else None
        self._dense = meaning if isinstance(meaning, Dense) else None
        self.contents = lru_cache(maxsize=RECENT)(self._contents)
        # articles that are shown together share questions
        self._cut_cited = lru_cache(maxsize=RECENT)(cut_cited or analyser.terms)

    @cached_property
    def _rows(self) -> Mapping[str, int]:
        """Position of each article in BM25's matrix."""
        return {} if self._bm25 is None else {id_: i for i, id_ in enumerate(self._bm25.order.ids)}

    @cached_property
    def _vectors(self) -> Mapping[str, int]:
        """Position of each article in the vector index."""
        return {} if self._dense is None else {id_: i for i, id_ in enumerate(self._dense.order.ids)}

    def _contents(self, article_id: str) -> Contents:
        article, cut, cited = self._articles[article_id], self._analyser.terms, self._cut_cited
        asked = [(question, cited(question.text)) for question in self._cited.get(article_id, ())]
        told = tuple((question, frozenset(terms)) for question, terms in asked)
        kept = self._counted(article_id) if self._counted is not None else None
        if kept is not None:
            return Contents(kept, told)
        counts = {
            "text": AnalysedText(cut(article.text)),
            "headings": AnalysedText(chain.from_iterable(map(cut, article.headings))),
            "code": AnalysedText(cut(article.code)),
            QUESTIONS_FIELD: AnalysedText(chain.from_iterable(terms for _, terms in asked)),
            ANSWERS_FIELD: AnalysedText(chain.from_iterable(cited(q.answer) for q, _ in asked if q.answer)),
        }
        return Contents(counts, told)

    def explain(
        self,
        question: str,
        ranks: Mapping[str, Mapping[str, int]],
        mode: Mode,
        shares: Mapping[str, Mapping[str, float]] | None = None,
        over: ExpandedBM25 | None = None,
    ) -> list[Explanation]:
        """Explain where articles stand for one question.

        Args:
            question: what was searched for.
            ranks: article id -> system -> rank in its list, as `rag.fusion.ranks` counts.
            mode: how it was searched: what did not count is not told.
            shares: article id -> system -> what its list adds to the fused score, where that is known.
            over: the bridge that the words were searched over, where they were.
        """
        if not ranks:
            return []
        written = self._written(question)
        vector = None if self._dense is None else self._dense.vector(question)
        if vector is not None and not vector.any():
            vector = None  # none of its words is known
        alike = self._alike(question, list(ranks), vector)
        words = self._words(question, list(ranks), written, over) if mode != "meaning" else {}
        explained = []
        near = self._meaning(question, list(ranks), vector, written) if mode != "keyword" else {}
        for article_id, places in ranks.items():
            cosine, meaning = near.get(article_id, (None, ()))
            adds = (shares or {}).get(article_id, {})
            told = tuple(ResultPlace(system, places[system], adds.get(system)) for system in sorted(places))
            found = words.get(article_id, ())
            explained.append(Explanation(article_id, found, cosine, meaning, told, alike[article_id]))
        return explained

    def _written(self, question: str) -> Mapping[str, str]:
        """Return each term as the question writes it first."""
        written: dict[str, str] = {}
        for token in self._analyser.tokens(question):
            written.setdefault(token.term, question[token.start : token.end])
        return written

    def _words(
        self, question: str, article_ids: Sequence[str], written: Mapping[str, str], over: ExpandedBM25 | None
    ) -> Mapping[str, tuple[WordShare, ...]]:
        """Return what each term adds to the BM25 of each article that holds one."""
        bm25 = self._bm25
        if bm25 is None:
            return {}
        known = [id_ for id_ in article_ids if id_ in self._rows]
        rows, vocabulary = np.array([self._rows[id_] for id_ in known], dtype=np.int64), bm25.index.vocab_dict
        # views: a slice of a memory-mapped array takes ten times as long to make as one of a plain array
        begins, where, adds = (np.asarray(bm25.index.scores[part]) for part in ("indptr", "indices", "data"))
        shares: dict[str, list[WordShare]] = {}
        rows = rows.astype(where.dtype)  # of one type: else numpy would first widen all postings of a term
        asked = Counter(self._analyser.terms(question))
        those = frozenset(asked)
        counts = {id_: {f: c.of(those) for f, c in self.contents(id_).counts.items()} for id_ in known}
        for term, times in asked.items():
            for number in term_ids([term], vocabulary):  # one, or none
                first, past = int(begins[number]), int(begins[number + 1])
                places = first + np.searchsorted(where[first:past], rows)  # articles come in their order
                for article_id, row, at in zip(known, rows.tolist(), places.tolist(), strict=True):
                    if at == past or where[at] != row:
                        continue
                    share = times * float(adds[at])
                    own = _parts(term, counts[article_id], bm25.weights)
                    parts = {f: share * p for f, p in own.items()}
                    word = WordShare(term, written.get(term, term), share, parts)
                    shares.setdefault(article_id, []).append(word)
        if over is not None:
            reached = frozenset(pair.law for pair in over.used(question))
            held = {id_: {f: c.of(reached) for f, c in self.contents(id_).counts.items()} for id_ in known}
            added = over.shares(question, {id_: self._rows[id_] for id_ in known}, held)
            shares = {id_: [*shares.get(id_, ()), *added.get(id_, ())] for id_ in {**shares, **added}}
        return {id_: tuple(sorted(own, key=lambda s: (-s.share, s.term))) for id_, own in shares.items()}

    def _meaning(
        self, question: str, article_ids: Sequence[str], vector: Floats | None, written: Mapping[str, str]
    ) -> Mapping[str, tuple[float, tuple[MeaningShare, ...]]]:
        """Return the cosine of each article, and what each term adds to it if the encoder is a sum."""
        known = [id_ for id_ in article_ids if id_ in self._vectors]
        if self._dense is None or vector is None or not known:
            return {}
        rows = np.array([self._vectors[id_] for id_ in known], dtype=np.int64)
        stored = self._dense.index.reconstruct_batch(rows).astype(np.float64)
        cosines = (stored @ vector.astype(np.float64)).tolist()
        encoder = self._dense.encoder
        if not isinstance(encoder, StaticEncoder):
            return {id_: (cosine, ()) for id_, cosine in zip(known, cosines, strict=True)}
        times = Counter(t for t in encoder.analyser.terms(question) if t in encoder.vocabulary)
        ids = term_ids(times, encoder.vocabulary)
        parts = encoder.codes[ids] * (encoder.scales[ids] * list(times.values()))[:, None].astype(np.float64)
        length = float(np.sqrt((parts.sum(axis=0) ** 2).sum()))
        adds = (stored @ parts.T / (length or 1.0)).tolist()
        told = {}
        for id_, cosine, own in zip(known, cosines, adds, strict=True):
            shares = (MeaningShare(t, written.get(t, t), s) for t, s in zip(times, own, strict=True))
            told[id_] = cosine, tuple(sorted(shares, key=lambda s: (-s.share, s.term)))
        return told

    def _alike(
        self, question: str, article_ids: Sequence[str], vector: Floats | None
    ) -> Mapping[str, tuple[SimilarQuestion, ...]]:
        """Return the annotated questions nearest to this one, by article; all are encoded in one batch."""
        terms = frozenset(self._analyser.terms(question))
        known = {
            article_id: _nearest_questions(terms, self.contents(article_id)) for article_id in article_ids
        }
        if vector is not None and self._dense is not None:
            encoder = self._dense.encoder
            # a large model takes its time: it compares those alone that are told
            most = COMPARED if isinstance(encoder, StaticEncoder) else MAX_QUESTIONS
            known = {article_id: found[:most] for article_id, found in known.items()}
            texts = sorted({alike.text for found in known.values() for alike in found})
            encode = self._encode_cited or encoder.encode_questions
            vectors = encode(texts) if texts else np.zeros((0, encoder.dim), np.float32)
            cosines = {t: float(v @ vector) if v.any() else None for t, v in zip(texts, vectors, strict=True)}
            known = {
                article_id: [SimilarQuestion(a.text, a.shared, a.overlap, cosines[a.text]) for a in found]
                for article_id, found in known.items()
            }
        return {
            article_id: tuple(sorted(found, key=lambda a: (-a.nearness, -a.overlap, a.text))[:MAX_QUESTIONS])
            for article_id, found in known.items()
        }


def _parts(
    term: str, counts: Mapping[str, Mapping[str, int]], weights: Mapping[str, float]
) -> Mapping[str, float]:
    """Return the part of a term's weighted count that each field has; they add up to 1."""
    held = {name: weights.get(name, 0.0) * of[term] for name, of in counts.items() if term in of}
    total = sum(held.values())
    return {name: value / total for name, value in held.items() if value > 0}


def _nearest_questions(terms: frozenset[str], contents: Contents) -> list[SimilarQuestion]:
    """Return the annotated questions of an article, the most similar first, without repeats."""
    found: dict[str, SimilarQuestion] = {}
    for question, own in contents.asked:
        shared, either = own & terms, own | terms
        overlap = len(shared) / (len(either) or 1)
        found.setdefault(question.text, SimilarQuestion(question.text, tuple(sorted(shared)), overlap))
    return sorted(found.values(), key=lambda a: (-a.overlap, a.text))
