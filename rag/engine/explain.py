"""Why this article: each system's score of one article taken apart, exactly.

BM25 is a sum over the question's terms; its fields are summed before they saturate, so that a term's
share belongs to each field by its weighted count there. A static encoder's vector is a sum too, and a
cosine with it the sum of what each term adds. What an index does not keep (counts by field) is counted
anew from the one article, whose contents stay at hand for a while.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain

import numpy as np

from rag.encoders.static import StaticEncoder
from rag.engine.result import Explanation, MeaningShare, Mode, ResultPlace, SimilarQuestion
from rag.retrieval.bm25 import BM25
from rag.retrieval.dense import Dense
from rag.retrieval.query_expansion import ExpandedBM25
from rag.retrieval.question_knn import QuestionKNN
from rag.retrieval.term_counts import ANSWERS_FIELD, LAW_FIELDS, QUESTIONS_FIELD, Frequencies, term_ids
from rag.text import Analyser, surface_forms
from rag.types import Article, Floats, Question, Retriever, WordShare

RECENT = 512  # articles whose contents stay at hand: those of some fifty questions
MAX_QUESTIONS = 3  # annotated questions that are shown
COMPARED = 12  # questions of one article that a static encoder compares: those that share most words


class AnalysedText(Counter[str]):
    """The terms of a text that was analysed for this explanation."""

    def of(self, terms: frozenset[str]) -> Mapping[str, int]:
        """Return those of the terms that stand there, and how often."""
        return {term: self[term] for term in terms if term in self}


@dataclass(frozen=True, slots=True)
class Contents:
    """The terms of one article by field, and of each annotated question that cites it."""

    counts: Mapping[str, Frequencies]  # field -> term -> how often
    questions: tuple[tuple[Question, frozenset[str]], ...]  # those that cite it, with their terms

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
        articles: Sequence[Article],
        questions: Sequence[Question],
        analyser: Analyser,
        keyword: Retriever,
        meaning: Retriever | None = None,
        counts: Callable[[str], Mapping[str, Frequencies] | None] | None = None,
        nearest: QuestionKNN | None = None,
    ) -> None:
        """Take an index and the annotated questions that it learnt from apart.

        A BM25 tells what each word adds, a dense retriever cosines. `counts` gives how often terms stand in
        an article's fields where the index stores it, else None; `nearest` has the terms and vectors of the
        annotated questions.
        """
        self.articles = {article.id: article for article in articles}
        self.cited: dict[str, list[Question]] = {}  # article id -> annotated questions, each once
        for question in questions:
            for article_id in dict.fromkeys(question.article_ids):
                self.cited.setdefault(article_id, []).append(question)
        self.analyser = analyser
        self._bm25 = keyword if isinstance(keyword, BM25) else None
        self._dense = meaning if isinstance(meaning, Dense) else None
        self._counts = counts
        self._encode_questions = nearest.vectors if nearest is not None else None
        self.contents = lru_cache(maxsize=RECENT)(self._contents)
        terms = nearest.terms if nearest is not None else analyser.terms
        self._question_terms = lru_cache(maxsize=RECENT)(terms)  # articles shown together share questions

    def _contents(self, article_id: str) -> Contents:
        article, terms = self.articles[article_id], self.analyser.terms
        cited = self.cited.get(article_id, ())
        question_terms = [self._question_terms(question.text) for question in cited]
        questions = tuple(zip(cited, map(frozenset, question_terms), strict=True))
        stored = self._counts(article_id) if self._counts is not None else None
        if stored is not None:
            return Contents(stored, questions)
        answers = (self._question_terms(q.answer) for q in cited if q.answer)
        counts = {
            "text": AnalysedText(terms(article.text)),
            "headings": AnalysedText(chain.from_iterable(map(terms, article.headings))),
            "code": AnalysedText(terms(article.code)),
            QUESTIONS_FIELD: AnalysedText(chain.from_iterable(question_terms)),
            ANSWERS_FIELD: AnalysedText(chain.from_iterable(answers)),
        }
        return Contents(counts, questions)

    def similar_questions(self, article_id: str, terms: frozenset[str], most: int = 2) -> tuple[str, ...]:
        """Return annotated questions of an article that share terms with these, the most similar first.

        One term in common says nothing, unless the question has only that one.
        """
        found = []
        for n, (question, own) in enumerate(self.contents(article_id).questions):
            shared = len(own & terms)
            if shared >= min(2, len(terms)) and shared:
                found.append((-shared / (len(own) + len(terms) - shared), n, question.text))
        return tuple(dict.fromkeys(text for _, _, text in sorted(found)))[:most]

    def explain(
        self,
        question: str,
        ranks: Mapping[str, Mapping[str, int]],
        mode: Mode,
        shares: Mapping[str, Mapping[str, float]] | None = None,
        expanded: ExpandedBM25 | None = None,
    ) -> list[Explanation]:
        """Explain where articles stand for one question; what did not count in this mode is left out.

        Of each article id, `ranks` are those in the systems' lists, and `shares` what these lists add to the
        fused score, where that is known. `expanded` searched by the words, where they were expanded.
        """
        if not ranks:
            return []
        surface = surface_forms(question, self.analyser)
        vector = None if self._dense is None else self._dense.vector(question)
        if vector is not None and not vector.any():
            vector = None  # none of its words is known
        similar = self._similar_questions(question, list(ranks), vector)
        words = self._word_shares(question, list(ranks), surface, expanded) if mode != "meaning" else {}
        cosines = self._cosine_shares(question, list(ranks), vector, surface) if mode != "keyword" else {}
        explained = []
        for id_, places in ranks.items():
            adds = (shares or {}).get(id_, {})
            systems = tuple(ResultPlace(name, places[name], adds.get(name)) for name in sorted(places))
            cosine, meaning = cosines.get(id_, (None, ()))
            explained.append(Explanation(id_, words.get(id_, ()), cosine, meaning, systems, similar[id_]))
        return explained

    def _word_shares(
        self, question: str, ids: Sequence[str], surface: Mapping[str, str], expanded: ExpandedBM25 | None
    ) -> Mapping[str, tuple[WordShare, ...]]:
        bm25 = self._bm25
        if bm25 is None:
            return {}
        positions = {id_: bm25.order.positions[id_] for id_ in ids if id_ in bm25.order.positions}
        rows = np.array(list(positions.values()), dtype=np.int64)
        shares: dict[str, list[WordShare]] = {}
        terms = Counter(self.analyser.terms(question))
        counts = self._field_counts(positions, frozenset(terms))
        for term, times in terms.items():
            if (number := bm25.index.vocab_dict.get(term)) is None:
                continue
            adds = bm25.postings.of_term(number, rows).tolist()
            for article_id, added in zip(positions, adds, strict=True):
                if math.isnan(added):
                    continue
                share = times * added
                fields = counts[article_id].items()
                held = {f: bm25.weights.get(f, 0.0) * of[term] for f, of in fields if term in of}
                total = sum(held.values())
                parts = {f: share * (value / total) for f, value in held.items() if value > 0}
                word = WordShare(term, surface.get(term, term), share, parts)
                shares.setdefault(article_id, []).append(word)
        if expanded is not None:
            counts = self._field_counts(positions, frozenset(pair.law for pair in expanded.used(question)))
            for id_, own in expanded.shares(question, positions, counts).items():
                shares.setdefault(id_, []).extend(own)
        return {id_: tuple(sorted(own, key=lambda s: (-s.share, s.term))) for id_, own in shares.items()}

    def _field_counts(
        self, article_ids: Iterable[str], terms: frozenset[str]
    ) -> dict[str, dict[str, Mapping[str, int]]]:
        return {id_: {f: c.of(terms) for f, c in self.contents(id_).counts.items()} for id_ in article_ids}

    def _cosine_shares(
        self, question: str, article_ids: Sequence[str], vector: Floats | None, surface: Mapping[str, str]
    ) -> Mapping[str, tuple[float, tuple[MeaningShare, ...]]]:
        """Return the cosine of each article, and what each term adds to it if the encoder is a sum."""
        if self._dense is None or vector is None:
            return {}
        positions = self._dense.order.positions
        known = [id_ for id_ in article_ids if id_ in positions]
        if not known:
            return {}
        rows = np.array([positions[id_] for id_ in known], dtype=np.int64)
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
        found = {}
        for id_, cosine, own in zip(known, cosines, adds, strict=True):
            shares = (MeaningShare(t, surface.get(t, t), s) for t, s in zip(times, own, strict=True))
            found[id_] = cosine, tuple(sorted(shares, key=lambda s: (-s.share, s.term)))
        return found

    def _similar_questions(
        self, question: str, article_ids: Sequence[str], vector: Floats | None
    ) -> Mapping[str, tuple[SimilarQuestion, ...]]:
        """Return the annotated questions nearest to this one, by article; all are encoded in one batch."""
        terms = frozenset(self.analyser.terms(question))
        known: dict[str, list[SimilarQuestion]] = {}
        for id_ in article_ids:
            found: dict[str, SimilarQuestion] = {}  # by text: without repeats
            for annotated, own in self.contents(id_).questions:
                shared, overlap = tuple(sorted(own & terms)), len(own & terms) / (len(own | terms) or 1)
                found.setdefault(annotated.text, SimilarQuestion(annotated.text, shared, overlap))
            known[id_] = sorted(found.values(), key=lambda a: (-a.overlap, a.text))
        if vector is not None and self._dense is not None:
            encoder = self._dense.encoder
            # a large model takes its time: it compares only those that are shown
            most = COMPARED if isinstance(encoder, StaticEncoder) else MAX_QUESTIONS
            known = {id_: nearest[:most] for id_, nearest in known.items()}
            texts = sorted({similar.text for nearest in known.values() for similar in nearest})
            encode = self._encode_questions or encoder.encode_questions
            vectors = encode(texts) if texts else np.zeros((0, encoder.dim), np.float32)
            cosines = {t: float(v @ vector) if v.any() else None for t, v in zip(texts, vectors, strict=True)}
            known = {id_: [replace(a, cosine=cosines[a.text]) for a in own] for id_, own in known.items()}
        return {
            id_: tuple(sorted(own, key=lambda a: (-a.nearness, -a.overlap, a.text))[:MAX_QUESTIONS])
            for id_, own in known.items()
        }
