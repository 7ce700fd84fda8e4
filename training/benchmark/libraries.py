"""Ours and the well-known libraries that `--peers` measures: each built over the same material, and asked.

Nothing is cut or encoded here. Every system gets the same terms and the same vectors, spelt as it wants them,
so that what is compared is the search; what a question costs to cut and to encode is the same for all.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from rag.fusion.settings import DAMPING
from rag.retrieval.base import Mask
from rag.retrieval.bm25 import BM25, EVEN_WEIGHTS, BM25Settings, term_scores
from rag.retrieval.dense import WALK, Dense, Int8Vectors, build_vectors
from rag.retrieval.hybrid import DEPTH, Hybrid
from rag.retrieval.lexical_baselines import TfIdf
from rag.retrieval.term_counts import count_texts
from rag.types import ArticleOrder, Doubles, Floats, Reals, Retriever

SETTINGS = BM25Settings()
POINTS = 1000  # that are sent to Qdrant at once
Search: TypeAlias = Callable[[int, int], Any]  # (number of a question, k) -> what the library returns
Found: TypeAlias = tuple[npt.NDArray[np.int64], Doubles]  # positions of articles, best first; their scores


@dataclass(frozen=True)
class Material:
    """Law and questions, cut and encoded once for all systems; articles and questions go by number."""

    rows: Sequence[list[str]]  # terms of each article: its text, headings and code
    vectors: Floats  # (n_articles, dim), l2-normalised
    asked: Sequence[list[str]]  # terms of each question
    asked_vectors: Floats  # (n_questions, dim), l2-normalised
    folder: Path  # for what a library writes

    def terms(self, question: str) -> list[str]:
        """Return the terms of the question of this number, as an analyser would."""
        return self.asked[int(question)]

    def encode_questions(self, questions: Sequence[str]) -> Floats:
        """Return the vectors of the questions of these numbers, as an encoder would."""
        return self.asked_vectors[[int(question) for question in questions]]


@dataclass(frozen=True)
class System:
    """What is measured: `make` builds it and returns how it is asked, `read` makes a ranking of an answer."""

    name: str
    kind: str  # compared with ours of the same kind
    make: Callable[[Material], Search]
    read: Callable[[Any], Found]
    module: str = ""  # that must be there; none where all that it needs always is
    part: bool = False  # finds what a fusion needs: asked for its depth too
    most: int = 10**9  # questions that there is time for


def first(scores: Reals, k: int) -> tuple[Any, Any]:
    """Return where the k largest scores stand, best first, and the scores: what numpy has for it."""
    k = min(k, len(scores))
    best = np.argpartition(scores, len(scores) - k)[len(scores) - k :]
    best = best[np.argsort(-scores[best])]
    return best, scores[best]


def _found(positions: Iterable[Any], scores: Iterable[Any]) -> Found:
    return np.array([*positions], dtype=np.int64), np.array(scores, dtype=np.float64)


# --- ours ---


def _words(given: Material) -> BM25:
    known: Any = given  # it cuts as an analyser does, and has nothing else of one
    return BM25.build(count_texts(given.rows), SETTINGS, Mask(()), known)


def _meaning(given: Material, order: ArticleOrder | None = None) -> Dense:
    known: Any = given
    order = order or ArticleOrder.of([str(n) for n in range(len(given.rows))])
    return Dense(known, build_vectors(given.vectors), order, Mask(()), Int8Vectors.of(given.vectors))


def _tfidf(given: Material) -> TfIdf:
    known: Any = given
    return TfIdf(count_texts(given.rows), EVEN_WEIGHTS, Mask(()), known)


def _hybrid(given: Material) -> Hybrid:
    words = _words(given)
    return Hybrid({"words": words, "meaning": _meaning(given, words.order)})


def _ours(build: Callable[[Material], Retriever], given: Material) -> Search:
    retriever = build(given)
    return lambda n, k: retriever.search([str(n)], k)


def _hits(answer: Any) -> Found:  # noqa: ANN401 - of any library, as in what follows
    [ranking] = answer
    return _found(map(int, ranking.ids), ranking.scores)


# --- words ---


def _bm25s(backend: str, given: Material) -> Search:
    import bm25s

    index = bm25s.BM25(method="lucene", k1=SETTINGS.k1, b=SETTINGS.b, backend=backend)
    index.index(given.rows, show_progress=False)
    n_articles = len(given.rows)  # it refuses a larger k
    return lambda n, k: index.retrieve([given.asked[n]], k=min(k, n_articles), show_progress=False)


def _arrays(answer: Any) -> Found:  # noqa: ANN401
    return _found(*answer)


def _batch(answer: Any) -> Found:  # noqa: ANN401
    """Read the arrays of a batch of one; bm25s fills its own up with articles that share no term."""
    positions, scores = (each[0] for each in answer)
    return _found(positions[scores != 0], scores[scores != 0])


def _pairs(answer: Any) -> Found:  # noqa: ANN401
    return _found([position for position, _ in answer], [score for _, score in answer])


def _tantivy(given: Material) -> Search:
    import tantivy as t

    fields = t.SchemaBuilder().add_text_field("terms", tokenizer_name="terms", index_option="freq")
    schema = fields.add_integer_field("position", fast=True).build()
    index = t.Index(schema)  # in memory
    index.register_tokenizer("terms", t.TextAnalyzerBuilder(t.Tokenizer.whitespace()).build())
    writer = index.writer(num_threads=1)
    for position, row in enumerate(given.rows):
        writer.add_document(t.Document(terms=" ".join(row), position=position))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    searcher = index.searcher()

    def search(n: int, k: int) -> list[tuple[Any, float]]:
        parts = [(t.Occur.Should, t.Query.term_query(schema, "terms", term)) for term in given.asked[n]]
        found = searcher.search(t.Query.boolean_query(parts), k, count=False).hits
        positions = searcher.fast_field_values("position", [address for _, address in found])
        return [(position, score) for position, (score, _) in zip(positions, found, strict=True)]

    return search


def _fts5(given: Material) -> Search:
    law = sqlite3.connect(":memory:")
    law.execute("CREATE VIRTUAL TABLE law USING fts5(terms, content='', tokenize='ascii')")
    rows = ((position, " ".join(row)) for position, row in enumerate(given.rows))
    law.executemany("INSERT INTO law (rowid, terms) VALUES (?, ?)", rows)
    law.execute("INSERT INTO law (law) VALUES ('optimize')")
    query = "SELECT rowid, -rank FROM law WHERE law MATCH ? ORDER BY rank LIMIT ?"
    return lambda n, k: law.execute(query, (" OR ".join(given.asked[n]), k)).fetchall()


def _rank_bm25(given: Material) -> Search:
    from rank_bm25 import BM25Okapi

    index = BM25Okapi(given.rows, k1=SETTINGS.k1, b=SETTINGS.b)

    def search(n: int, k: int) -> Any:  # noqa: ANN401
        scores = index.get_scores(given.asked[n])
        best = np.argsort(scores)[::-1][:k]  # as its own `get_top_n`
        return best, scores[best]

    return search


def _scikit_learn(given: Material) -> Search:
    from sklearn.feature_extraction.text import TfidfVectorizer

    cut = TfidfVectorizer(analyzer=list)  # the terms are there
    by_term = cut.fit_transform(given.rows).T.tocsr()  # so that a product looks at the question's terms alone

    def search(n: int, k: int) -> Any:  # noqa: ANN401
        return first((cut.transform([given.asked[n]]) @ by_term).toarray()[0], k)

    return search


# --- vectors ---


def _faiss(graph: bool, given: Material) -> Search:
    import faiss

    faiss.omp_set_num_threads(1)
    index: Any = build_vectors(given.vectors, "hnsw" if graph else "flat")  # with what a person would choose

    def search(n: int, k: int) -> Any:  # noqa: ANN401
        if graph:
            index.hnsw.efSearch = max(WALK, k)
        scores, positions = index.search(given.asked_vectors[n][None], k)
        return positions, scores

    return search


# --- both ---


def _qdrant(parts: frozenset[str], given: Material) -> Search:
    """Give Qdrant's engine our own weights of terms, the vectors, or both, and have it search in the same."""
    import qdrant_edge as q

    counts = count_texts(given.rows)
    weights = term_scores(counts, SETTINGS).tocsr()
    folder = given.folder / "-".join(sorted(parts))
    folder.mkdir()
    vector = {"meaning": q.EdgeVectorParams(given.vectors.shape[1], q.Distance.Dot)}
    graph = q.HnswIndexConfig(16, 100, 10_000, max_indexing_threads=1)  # its own defaults
    config = q.EdgeConfig(
        vector if "meaning" in parts else None,
        {"words": q.EdgeSparseVectorParams()} if "words" in parts else None,
        hnsw_config=graph,
        max_search_threads=1,
    )
    shard = q.EdgeShard.create(str(folder), config)

    def point(position: int) -> Any:  # noqa: ANN401
        own = slice(weights.indptr[position], weights.indptr[position + 1])
        words = q.SparseVector(weights.indices[own].tolist(), weights.data[own].tolist())
        whole = {"words": words, "meaning": given.vectors[position].tolist()}
        return q.Point(position, {part: whole[part] for part in parts})

    for begin in range(0, len(given.rows), POINTS):
        some = range(begin, min(begin + POINTS, len(given.rows)))
        shard.update(q.UpdateOperation.upsert_points([point(position) for position in some]))
    while shard.optimize():
        pass

    def nearest(part: str, n: int) -> Any:  # noqa: ANN401
        if part == "meaning":
            return q.Query.Nearest(given.asked_vectors[n].tolist(), using=part)
        known = [counts.vocabulary[term] for term in given.asked[n] if term in counts.vocabulary]
        often = {term: float(known.count(term)) for term in known}
        return q.Query.Nearest(q.SparseVector(list(often), list(often.values())), using=part)

    def search(n: int, k: int) -> Any:  # noqa: ANN401
        queries = [nearest(part, n) for part in parts]
        if len(queries) == 1:
            return shard.query(q.QueryRequest(k, query=queries[0]))
        lists = [q.Prefetch(DEPTH, query=query) for query in queries]
        return shard.query(q.QueryRequest(k, query=q.Fusion.Rrf(int(DAMPING) + 1), prefetches=lists))

    return search


def _points(answer: Any) -> Found:  # noqa: ANN401
    return _found([point.id for point in answer], [point.score for point in answer])


WORDS, TFIDF, MEANING, BOTH = "words", "TF-IDF", "meaning", "both"
OURS = {WORDS: "ours: BM25", TFIDF: "ours: TF-IDF", MEANING: "ours: dense", BOTH: "ours: hybrid"}
PLAIN, COMPILED, SPARSE = "bm25s, numpy", "bm25s, numba", "qdrant-edge, sparse, our weights"
SAME = (PLAIN, COMPILED, SPARSE)  # find what our BM25 finds


def _edge(*parts: str) -> Callable[[Material], Search]:
    return partial(_qdrant, frozenset(parts))


SYSTEMS: tuple[System, ...] = (  # of each kind ours first
    System(OURS[WORDS], WORDS, partial(_ours, _words), _hits, part=True),
    System(PLAIN, WORDS, partial(_bm25s, "numpy"), _batch, part=True),
    System(COMPILED, WORDS, partial(_bm25s, "numba"), _batch, "numba", part=True),
    System("tantivy", WORDS, _tantivy, _pairs, "tantivy", part=True),
    System(SPARSE, WORDS, _edge(WORDS), _points, "qdrant_edge", part=True),
    System("SQLite FTS5", WORDS, _fts5, _pairs),
    System("rank_bm25", WORDS, _rank_bm25, _arrays, "rank_bm25", most=50),
    System(OURS[TFIDF], TFIDF, partial(_ours, _tfidf), _hits),
    System("scikit-learn, TF-IDF", TFIDF, _scikit_learn, _arrays, "sklearn"),
    System(OURS[MEANING], MEANING, partial(_ours, _meaning), _hits, part=True),
    System("FAISS, flat", MEANING, partial(_faiss, False), _batch, part=True),
    System("FAISS, HNSW", MEANING, partial(_faiss, True), _batch),
    System("qdrant-edge, dense, HNSW", MEANING, _edge(MEANING), _points, "qdrant_edge"),
    System(OURS[BOTH], BOTH, partial(_ours, _hybrid), _hits),
    System("qdrant-edge, both, reciprocal rank", BOTH, _edge(WORDS, MEANING), _points, "qdrant_edge"),
)
