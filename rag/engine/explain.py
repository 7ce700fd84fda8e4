"""Why this article: each system's score of one article taken apart, exactly.

BM25 is a sum over the question's terms; its fields are summed before they saturate, so that a term's
share belongs to each field by its weighted count there. A static encoder's vector is a sum too, and a
cosine with it the sum of what each term adds. What an index does not keep (counts by field) is counted
anew from the one article, whose contents stay at hand for a while.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from operator import itemgetter
from typing import TypeAlias

import numpy as np

from rag.corpus.articles import Articles
from rag.encoders.static import StaticEncoder
from rag.engine.result import Explanation, MeaningShare, Mode, ResultPlace, SimilarQuestion
from rag.retrieval.bm25 import BM25
from rag.retrieval.dense import Dense
from rag.retrieval.query_expansion import ExpandedBM25
from rag.retrieval.question_knn import QuestionKNN
from rag.retrieval.term_counts import ANSWERS_FIELD, PRECEDING_FIELD, QUESTIONS_FIELD, TermCounts, term_ids
from rag.text import Analyser, surface_forms
from rag.types import Article, Floats, Question, Retriever, WordShare

RECENT = 512  # articles, and questions, whose terms stay at hand: those of some fifty questions asked
KEPT = 4096  # annotated questions whose terms stay at hand
QUESTIONS = 4  # asked: who asks has the answer explained next
MAX_QUESTIONS = 3  # annotated questions that are shown
COMPARED = 12  # questions of one article that a static encoder compares: those that share most words


Counts: TypeAlias = Callable[[Sequence[str], frozenset[str]], Sequence[TermCounts]]


class Explainer:
    """Explains articles of one index; a retriever of a kind that it does not know is passed over."""

    def __init__(
        self,
        articles: Sequence[Article],
        questions: Sequence[Question],
        analyser: Analyser,
        keyword: Retriever,
        meaning: Retriever | None = None,
        counts: Counts | None = None,
        nearest: QuestionKNN | None = None,
    ) -> None:
        """Take an index and the annotated questions that it learnt from apart.

        A BM25 tells what each word adds, a dense retriever cosines. `counts` gives how often terms stand in
        the fields of articles where the index stores it; `nearest` has the terms and vectors of the
        annotated questions.
        """
        self.articles = Articles.of(articles).by_id
        self.cited: dict[str, list[Question]] = {}  # article id -> annotated questions, each once
        for question in questions:
            for article_id in dict.fromkeys(question.article_ids):
                self.cited.setdefault(article_id, []).append(question)
        self.analyser = analyser
        self._bm25 = keyword if isinstance(keyword, BM25) else None
        self._dense = meaning if isinstance(meaning, Dense) else None
        self._encode_questions = nearest.vectors if nearest is not None else None
        self._counts = lru_cache(maxsize=QUESTIONS)(counts or self._counted)
        self._analysed = lru_cache(maxsize=RECENT)(self._analyse)
        self._overlaps = lru_cache(maxsize=RECENT)(self._compared)
        terms = nearest.terms if nearest is not None else analyser.terms
        self._question_terms = lru_cache(maxsize=RECENT)(terms)  # articles shown together share questions
        self.term_set = lru_cache(maxsize=KEPT)(lambda text: frozenset(terms(text)))

    def forget(self) -> None:
        """Clear what was looked up for the last questions."""
        for looked_up in (self._counts, self._analysed, self._overlaps, self._question_terms, self.term_set):
            looked_up.cache_clear()

    def counts(self, article_ids: Iterable[str], terms: frozenset[str]) -> Mapping[str, TermCounts]:
        """Return article id -> field -> how often those of the terms stand there that do."""
        ids = tuple(article_ids)
        return dict(zip(ids, self._counts(ids, terms), strict=True))

    def _counted(self, ids: Sequence[str], terms: frozenset[str]) -> list[TermCounts]:
        """Return what `Counts` does, by analysing the articles."""
        return [
            {name: {term: of[term] for term in terms & of.keys()} for name, of in self._analysed(id_).items()}
            for id_ in ids
        ]

    def _analyse(self, article_id: str) -> TermCounts:
        article, terms = self.articles[article_id], self.analyser.terms
        cited = self.cited.get(article_id, ())
        answers = [question.answer for question in cited if question.answer]
        return {
            "text": Counter(terms(article.text)),
            "headings": Counter(chain.from_iterable(map(terms, article.headings))),
            "code": Counter(terms(article.code)),
            QUESTIONS_FIELD: Counter(chain.from_iterable(self._question_terms(q.text) for q in cited)),
            ANSWERS_FIELD: Counter(chain.from_iterable(map(self._question_terms, answers))),
        }

    def _compared(self, article_id: str, terms: frozenset[str]) -> list[tuple[str, float, int]]:
        """Return the annotated questions of an article, the most similar first.

        Of each its text, the terms in common as a part of those of either (Jaccard 1901), and their number.
        """
        found = []
        for text in dict.fromkeys(question.text for question in self.cited.get(article_id, ())):
            own = self.term_set(text)
            shared = len(own & terms)
            found.append((text, shared / (len(own) + len(terms) - shared or 1), shared))
        return sorted(found, key=itemgetter(1), reverse=True)

    def similar_questions(self, article_id: str, terms: frozenset[str], most: int = 2) -> tuple[str, ...]:
        """Return annotated questions of an article that share terms with these, the most similar first.

        One term in common says nothing, unless the question has only that one.
        """
        least = max(1, min(2, len(terms)))
        return tuple(text for text, _, shared in self._overlaps(article_id, terms) if shared >= least)[:most]

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
        shares: dict[str, list[WordShare]] = {id_: [] for id_ in positions}
        found, known = list(positions), bm25.index.vocab_dict
        asked = Counter(self.analyser.terms(question))
        law = {pair.law for pair in expanded.used(question)} if expanded is not None else set()
        counts = self.counts(positions, frozenset(asked.keys() | law))
        terms = [term for term in asked if term in known]
        adds = bm25.postings.of_terms(term_ids(terms, known), rows)
        for row, column in np.argwhere(~np.isnan(adds)).tolist():
            term, article_id = terms[row], found[column]
            share = asked[term] * float(adds[row, column])
            fields = counts[article_id].items()
            held = {f: bm25.weights.get(f, 0.0) * of[term] for f, of in fields if term in of}
            total = sum(held.values())
            parts = {f: share * (value / total) for f, value in held.items() if value > 0}
            shares[article_id].append(WordShare(term, surface.get(term, term), share, parts))
        lent = bm25.from_preceding(term_ids(terms, known), rows)
        for row, column in np.argwhere(~np.isnan(lent)).tolist():
            term, share = terms[row], asked[terms[row]] * float(lent[row, column])
            shares[found[column]].append(
                WordShare(term, surface.get(term, term), share, {PRECEDING_FIELD: share})
            )
        if expanded is not None:
            for id_, own in expanded.shares(question, positions, counts).items():
                shares[id_].extend(own)
        return {id_: tuple(sorted(own, key=lambda s: (-s.share, s.term))) for id_, own in shares.items()}

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
        known = {
            id_: sorted(sorted(self._overlaps(id_, terms)), key=itemgetter(1), reverse=True)
            for id_ in article_ids
        }
        cosines: dict[str, float | None] = {}
        if vector is not None and self._dense is not None:
            encoder = self._dense.encoder
            # a large model takes its time: it compares only those that are shown
            most = COMPARED if isinstance(encoder, StaticEncoder) else MAX_QUESTIONS
            known = {id_: nearest[:most] for id_, nearest in known.items()}
            texts = sorted({text for nearest in known.values() for text, _, _ in nearest})
            encode = self._encode_questions or encoder.encode_questions
            vectors = encode(texts) if texts else np.zeros((0, encoder.dim), np.float32)
            alike, read = np.vecdot(vectors, vector).tolist(), np.any(vectors, axis=1)
            cosines = {t: cosine if r else None for t, cosine, r in zip(texts, alike, read, strict=True)}
        similar = {}
        for id_, own in known.items():
            near = ((cosines.get(text), overlap, text) for text, overlap, _ in own)
            # by the cosine where there is one
            best = sorted(near, key=lambda of: (-(of[1] if of[0] is None else of[0]), -of[1], of[2]))
            similar[id_] = tuple(
                SimilarQuestion(text, tuple(sorted(self.term_set(text) & terms)), overlap, cosine)
                for cosine, overlap, text in best[:MAX_QUESTIONS]
            )
        return similar
