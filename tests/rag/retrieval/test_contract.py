"""What holds of every retriever, whatever it ranks by."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from functools import partial
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rag.encoders.static import StaticEncoder
from rag.graph.graph import Graph
from rag.graph.smoothing import KINDS, GraphSmoothed, smoothing
from rag.ltr.features import Evidence
from rag.ltr.ranker import Ranker
from rag.ltr.reranker import LearnedReranker
from rag.ltr.trees import Trees
from rag.retrieval.base import Mask
from rag.retrieval.bm25 import BM25, BM25Settings, Variant
from rag.retrieval.colbert import ColBERT, Propose
from rag.retrieval.dense import Dense, Int8Vectors, Kind, build_vectors
from rag.retrieval.hybrid import Hybrid
from rag.retrieval.lexical_baselines import QueryLikelihood, TfIdf
from rag.retrieval.query_expansion import ExpandedBM25, LawWords
from rag.retrieval.question_knn import QuestionKNN
from rag.retrieval.splade import Splade
from rag.retrieval.term_counts import count, term_ids
from rag.retrieval.token_index import Neighbourhoods, TokenSearch, TokenVectors
from rag.retrieval.translation_model import Pair, TranslationModel
from rag.retrieval.vector_store import StoredBM25, StoredDense, StoredExpandedBM25
from rag.types import Article, ArticleOrder, Encoder, Filter, Floats, Ints, Question, Ranking, Retriever
from tests.fakes.law.law import SPLIT, Words, law, random_encoder
from tests.fakes.ranking.features import evidence_of, stump
from tests.fakes.ranking.stores import REAL, fill, store

EVEN = {"text": 1.0, "headings": 1.0, "code": 1.0}
Make = Callable[[Sequence[Article], Path], Retriever]

QUESTIONS = [
    "bail loyer",
    "voisin arbre mur",
    "dette",
    "mur",
    "unheard words",
    "",
    "bail bail bail enfant",
    "mariage enfant dette clause7",
]


def bm25(articles: Sequence[Article], folder: Path, *, variant: Variant, disk: bool = False) -> Retriever:
    counts, mask = count(articles, SPLIT), Mask(articles)
    counts = counts.with_questions([Question("q", "propriétaire loyer", ("9", "e"))], SPLIT.terms)
    made = BM25.build(counts, BM25Settings(variant=variant), mask, SPLIT)
    if not disk:
        return made
    made.save(folder)
    return BM25.load(folder, counts.order, mask, SPLIT)


def tfidf(articles: Sequence[Article], folder: Path, *, normalised: bool) -> Retriever:
    return TfIdf(count(articles, SPLIT), EVEN, Mask(articles), SPLIT, normalised=normalised)


def likelihood(articles: Sequence[Article], folder: Path) -> Retriever:
    return QueryLikelihood(count(articles, SPLIT), EVEN, Mask(articles), SPLIT, mu=10)


def dense(articles: Sequence[Article], folder: Path, *, kind: Kind, disk: bool = False) -> Retriever:
    encoder, order = random_encoder(SPLIT, law()), ArticleOrder.of([a.id for a in articles])
    index = build_vectors(encoder.encode_articles(articles), kind)
    made = Dense(encoder, index, order, Mask(articles))
    if not disk:
        return made
    made.save(folder / "vectors.faiss")
    encoder.save(folder / "encoder")
    Int8Vectors.of(encoder.encode_articles(articles)).save(folder)
    read, int8 = StaticEncoder.load(folder / "encoder", SPLIT), Int8Vectors.load(folder)
    return Dense(read, Dense.load_index(folder / "vectors.faiss"), order, Mask(articles), int8)


def hybrid(articles: Sequence[Article], folder: Path) -> Hybrid:
    return Hybrid(
        {"bm25": bm25(articles, folder, variant="lucene"), "dense": dense(articles, folder, kind="flat")}
    )


def nested(articles: Sequence[Article], folder: Path) -> Retriever:
    return Hybrid({"hybrid": hybrid(articles, folder), "tfidf": tfidf(articles, folder, normalised=True)})


def annotated(articles: Sequence[Article]) -> list[Question]:
    """One question an article, in its own words."""
    texts = ((a.id, " ".join((a.code, *a.headings, a.text))) for a in articles)
    return [Question(f"of {id_}", text, (id_,)) for id_, text in texts]


def nearest(articles: Sequence[Article], folder: Path, *, encoder: Encoder | None) -> Retriever:
    order = ArticleOrder.of([a.id for a in articles])
    return QuestionKNN(annotated(articles), order, Mask(articles), SPLIT, encoder)


def learned(
    articles: Sequence[Article],
    folder: Path,
    over: Callable[[Evidence], Evidence] = lambda evidence: evidence,
) -> Retriever:
    """Trees over scores alone: by rank, equal articles differ, for one of them comes first."""
    trees = [stump(0, t / 4, 0.0, 1 / 4) for t in range(12)] + [stump(1, t / 8, 0.0, 1 / 8) for t in range(8)]
    evidence = evidence_of(articles, annotated(articles), SPLIT, random_encoder(SPLIT, law()))
    return LearnedReranker(over(evidence), Ranker(Trees(("keyword", "meaning"), tuple(trees))))


def bridged(articles: Sequence[Article], folder: Path) -> Retriever:
    counts, mask = count(articles, SPLIT), Mask(articles)
    pairs = {"mur": (Pair("mur", "arbre", 0.5),), "bail": (Pair("bail", "dette", 0.4),)}
    bridge = TranslationModel({lay: p for lay, p in pairs.items() if p[0].law in counts.vocabulary})
    words = LawWords.of(counts, BM25Settings(), bridge.law_terms)
    return ExpandedBM25(BM25.build(counts, BM25Settings(), mask, SPLIT), bridge, words)


def stored(articles: Sequence[Article], folder: Path, *, kind: str, part: str) -> Retriever:
    """BM25, its expansion, vectors or both over a vector store, with weights by a mean length 3 % off."""
    counts, mask = count(articles, SPLIT), Mask(articles)
    counts = counts.with_questions([Question("q", "propriétaire loyer", ("9", "e"))], SPLIT.terms)
    keyword, encoder = BM25.build(counts, BM25Settings(), mask, SPLIT), random_encoder(SPLIT, law())
    vectors = Dense(encoder, build_vectors(encoder.encode_articles(articles)), counts.order, mask)
    pairs = {"mur": (Pair("mur", "arbre", 0.5),), "bail": (Pair("bail", "dette", 0.4),)}
    model = TranslationModel({lay: p for lay, p in pairs.items() if p[0].law in counts.vocabulary})
    candidates = fill(store(kind, folder), keyword, counts, model.law_terms, vectors, stale=0.97)
    words = StoredBM25(keyword, candidates, "lucene")
    expanded = StoredExpandedBM25(words, model, LawWords.of(counts, BM25Settings(), model.law_terms))
    meaning = StoredDense(vectors, candidates)
    parts = {"words": words, "expanded": expanded, "meaning": meaning}
    if part == "learned":
        return learned(articles, folder, lambda of: replace(of, keyword=words, meaning=meaning))
    return Hybrid({"bm25": words, "dense": meaning}) if part == "both" else parts[part]


class Counting:
    """Weighs a question's terms by how often they stand in it, as SPLADE would by what they mean."""

    def __init__(self, vocabulary: Mapping[str, int]) -> None:
        self.vocabulary = vocabulary

    def encode_questions(self, questions: Sequence[str]) -> sp.csr_array:
        rows = np.zeros((len(questions), len(self.vocabulary)), dtype=np.float32)
        for row, question in zip(rows, questions, strict=True):
            np.add.at(row, term_ids(SPLIT.terms(question), self.vocabulary), 0.5)
        return sp.csr_array(rows)


def splade(articles: Sequence[Article], folder: Path) -> Retriever:
    counts = count(articles, SPLIT)
    weights = sp.csr_array(counts.weighted(EVEN)).astype(np.float32)
    return Splade(Counting(counts.vocabulary), weights, counts.order, Mask(articles))


def colbert(articles: Sequence[Article], folder: Path, *, by: str) -> Retriever:
    """Late interaction over vectors on disk: of all articles, or of those that something proposes."""
    words, mask = Words(SPLIT, law()), Mask(articles)
    order = ArticleOrder.of([a.id for a in articles])
    batches = (words.encode_articles(articles[i : i + 3]) for i in range(0, len(articles), 3))
    vectors = TokenVectors.write(folder, words.dim, batches)
    propose: Propose | None = None
    if by == "words":
        keyword = bm25(articles, folder, variant="lucene")

        def first_of_keyword(question: str, query: Floats, n: int, where: Filter | None) -> Ints:
            [ranking] = keyword.search([question], n, where)
            return np.array([order.positions[hit.article_id] for hit in ranking], dtype=np.int64)

        propose = first_of_keyword
    elif by == "tokens":
        Neighbourhoods.build(vectors).save(folder)
        propose = TokenSearch(Neighbourhoods.load(folder), order, mask, probes=1000)
    return ColBERT(words, vectors, order, mask, propose)


def by_graph(articles: Sequence[Article], folder: Path, *, kind: str, weight: float) -> Retriever:
    at = {article.id: i for i, article in enumerate(articles)}
    cited = [(n, at[id_]) for n, ids in enumerate((("9", "e"), ("e", "f1"))) for id_ in ids if id_ in at]
    named = [(at[one], at[other]) for one, other in (("a", "b"), ("e", "f2")) if {one, other} <= set(at)]
    cites, links = (np.array(each, np.int64).reshape(-1, 2) for each in (cited, named))
    graph = Graph.of(articles, links)
    smooth = smoothing(kind, graph, cites)
    base, order = bm25(articles, folder, variant="lucene"), ArticleOrder.of([a.id for a in articles])
    return GraphSmoothed(base, smooth, weight, order, Mask(articles))


MAKERS: dict[str, Make] = {
    **{f"bm25 {v}": partial(bm25, variant=v) for v in get_args(Variant)},
    "bm25 from disk": partial(bm25, variant="lucene", disk=True),
    "tfidf cosine": partial(tfidf, normalised=True),
    "tfidf sum": partial(tfidf, normalised=False),
    "ql": likelihood,
    **{f"dense {kind}": partial(dense, kind=kind) for kind in get_args(Kind)},
    "dense from disk": partial(dense, kind="flat", disk=True),
    "hybrid": hybrid,
    "hybrid of hybrid": nested,
    "nearest": partial(nearest, encoder=random_encoder(SPLIT, law())),
    "nearest by words": partial(nearest, encoder=None),
    "learned": learned,
    "bridged": bridged,
    **{f"by graph: {kind}": partial(by_graph, kind=kind, weight=0.3) for kind in KINDS},
    **{
        f"{part} in a store: {kind}": partial(stored, kind=kind, part=part)
        for kind in (*REAL, "shards")
        for part in ("words", "expanded", "meaning", "both", "learned")
    },
    "splade": splade,
    "colbert": partial(colbert, by=""),
    "colbert by words": partial(colbert, by="words"),
    "colbert by tokens": partial(colbert, by="tokens"),
}


BY_PROCESSES = ("shards", "postgres")
SLOW = [
    pytest.param(name, marks=pytest.mark.slow) if name.endswith(BY_PROCESSES) else name for name in MAKERS
]


@pytest.fixture(scope="module", params=SLOW, ids=lambda name: name.replace(" ", "-"))
def make(request: pytest.FixtureRequest) -> Make:
    return MAKERS[request.param]


@pytest.fixture(scope="module")
def retriever(make: Make, tmp_path_factory: pytest.TempPathFactory) -> Retriever:
    return make(law(), tmp_path_factory.mktemp("index"))


def ask(retriever: Retriever, question: str, k: int = 10, where: Filter | None = None) -> Ranking:
    [ranking] = retriever.search([question], k, where)
    return ranking


def ids(ranking: Ranking) -> list[str]:
    return [hit.article_id for hit in ranking]


@pytest.mark.parametrize("question", ["", " ", "\t\n \u00a0", "\u3000"])
def test_a_blank_question_has_no_answer(retriever: Retriever, question: str) -> None:
    assert ask(retriever, question) == ()


@pytest.mark.parametrize(
    "question", ["🏠🌳", "\x00\x07\x1b[31m", "\ud800 \udfff", "<b>&amp;", "\u202e\u200b"]
)
def test_what_no_article_holds_has_no_answer(retriever: Retriever, question: str) -> None:
    assert ask(retriever, question) == ()
    assert ask(retriever, f"bail {question} loyer") == ask(retriever, "bail loyer")


def test_no_question_has_no_ranking(retriever: Retriever) -> None:
    assert retriever.search([], 10) == []


def test_ten_thousand_words(retriever: Retriever) -> None:
    [long, short] = retriever.search(["bail loyer mur voisin " * 2500, "bail loyer mur voisin"], 5)
    assert len(long) == len(short) == 5
    assert len(set(ids(long))) == 5
    again = "mur voisin loyer bail " * 2500  # the same words, so the same answer
    assert ids(ask(retriever, again, 5)) == ids(long)


@pytest.mark.parametrize("k", [0, -1, -1000])
def test_no_hit_asked_for_gives_none(retriever: Retriever, k: int) -> None:
    assert retriever.search(["bail", "mur"], k) == [(), ()]
    assert retriever.search(["bail"], k, Filter(codes=frozenset({"civil"}))) == [()]


def test_more_hits_than_articles_asked_for(retriever: Retriever) -> None:
    every = ask(retriever, "mur bail", 10_000_000)
    assert 0 < len(every) <= len(law())
    assert ask(retriever, "mur bail", len(law())) == every


def test_k_only_cuts(retriever: Retriever) -> None:
    every = ask(retriever, "mur dette voisin", 1000)
    for k in range(1, len(every) + 2):
        assert ask(retriever, "mur dette voisin", k) == every[:k]


def test_equal_articles_come_by_id_as_a_string(retriever: Retriever) -> None:
    alike = {"10", "100", "2"}  # "9" has an annotated question of its own in the BM25s
    hits = [hit for hit in ask(retriever, "bail dette", 100) if hit.article_id in alike]
    assert ids(tuple(hits)) == ["10", "100", "2"]
    assert len({hit.score for hit in hits}) == 1


def test_the_order_of_the_corpus_changes_nothing(make: Make, retriever: Retriever, tmp_path: Path) -> None:
    backwards = make(law()[::-1], tmp_path)
    assert backwards.search(QUESTIONS, 12) == retriever.search(QUESTIONS, 12)


@pytest.mark.parametrize(
    ("where", "admitted"),
    [
        (Filter(codes=frozenset({"rural"})), {"c", "d"}),
        (Filter(codes=frozenset({"rural", "penal"})), {"c", "d", "e"}),
        (Filter(law_types=frozenset({"regional"}), codes=frozenset({"civil"})), {"2", "100", "a", "b"}),
        (
            Filter(regions=frozenset({"Wallonie"}), codes=frozenset({"civil", "rural"})),
            {*"abcd", "9", "10", "100"},
        ),
        (
            Filter(in_force_on=date(2020, 1, 1), codes=frozenset({"civil", "rural"})),
            {*"acd", "9", "10", "2", "100"},
        ),
        (
            Filter(in_force_on=date(1700, 1, 1), codes=frozenset({"civil", "rural"})),
            {*"bc", "9", "10", "2", "100"},
        ),
        (Filter(in_force_on=date(2024, 1, 1), codes=frozenset({"rural"})), {"c"}),
    ],
)
def test_filters(retriever: Retriever, where: Filter, admitted: set[str]) -> None:
    question = "bail voisin mariage enfant mur arbre rural penal civil"
    found = ask(retriever, question, 100, where)
    assert set(ids(found)) == admitted
    if not isinstance(
        retriever, Hybrid | LearnedReranker | GraphSmoothed
    ):  # ranks, and so a fusion, are those of the admitted
        everything = ask(retriever, question, 100)
        assert found == tuple(hit for hit in everything if hit.article_id in admitted)


@pytest.mark.parametrize(
    "where",
    [
        Filter(codes=frozenset({"no such code"})),
        Filter(frozenset({"rural"}), frozenset({"national"}), frozenset({"Bruxelles"}), date(2030, 1, 1)),
    ],
)
def test_a_filter_that_leaves_nothing(retriever: Retriever, where: Filter) -> None:
    assert retriever.search(["bail", "mur voisin", ""], 5, where) == [(), (), ()]


def test_an_empty_filter_filters_nothing(retriever: Retriever) -> None:
    assert retriever.search(QUESTIONS, 9, Filter()) == retriever.search(QUESTIONS, 9)


def test_the_batch_changes_nothing(retriever: Retriever) -> None:
    many = QUESTIONS * 3  # more than FAISS is asked on one thread
    together = retriever.search(many, 10)
    assert together == [ask(retriever, q) for q in many]
    shuffled = sorted(range(len(many)), key=lambda i: (i * 7) % len(many))
    assert retriever.search([many[i] for i in shuffled], 10) == [together[i] for i in shuffled]
    where = Filter(codes=frozenset({"civil"}))
    assert retriever.search(many, 10, where) == [ask(retriever, q, 10, where) for q in many]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=30)
@given(
    question=st.text() | st.lists(st.sampled_from([*"abc", "bail", "mur", "🏠", "\ud83d"])).map(" ".join),
    k=st.integers(-2, 40),
)
def test_a_ranking_is_well_formed(retriever: Retriever, question: str, k: int) -> None:
    found = ask(retriever, question, k)
    assert len(found) <= max(k, 0)
    assert len(set(ids(found))) == len(found)
    assert set(ids(found)) <= {a.id for a in law()}
    assert found == tuple(sorted(found, key=lambda hit: (-hit.score, hit.article_id)))
    assert all(isinstance(hit.score, float) and hit.score == hit.score for hit in found)


def test_one_article_is_corpus_enough(make: Make, tmp_path: Path) -> None:
    alone = make([replace(law()[0], references=())], tmp_path)
    assert ids(ask(alone, "bail loyer")) == ["9"]
