"""Evidence over a law of six articles, which can be worked by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rag.corpus.structure import Surroundings
from rag.encoders.static import StaticEncoder
from rag.ltr.features import NAMES, Candidates, Evidence
from rag.ltr.reranker import bm25_over, first_stage_lists
from rag.ltr.trees import Tree
from rag.retrieval.base import Mask
from rag.retrieval.bm25 import BM25, BM25Settings
from rag.retrieval.dense import Dense, build_vectors
from rag.retrieval.question_knn import QuestionKNN
from rag.retrieval.term_counts import ANNOTATED_FIELDS, LAW_FIELDS, count
from rag.text import Analyser, Token
from rag.types import Article, Encoder, Filter, Question


@dataclass(frozen=True)
class Blanks:
    """Words are what blanks separate."""

    id: str = "blanks"
    language: str = "fr"

    def tokens(self, text: str) -> list[Token]:
        raise NotImplementedError

    def terms(self, text: str) -> list[str]:
        return text.split()


CUT = Blanks()
LAW = (
    Article("a1", "civil", "1", "loyer", ("du louage",)),
    Article("a2", "civil", "2", "loyer caution", ("du louage",)),
    Article("a3", "civil", "3", "mur", ("des servitudes",)),
    Article("b1", "rural", "1", "mur haie"),
    Article("b2", "rural", "2", "haie loup"),
    Article("c1", "penal", "1", "vol"),
)
QUESTIONS = (
    Question("q1", "loyer", ("a1", "a2")),
    Question("q2", "mur", ("a3",)),
    Question("q3", "haie loup", ("b2", "b2", "elsewhere")),
)
# one direction for houses, one for what stands between neighbours, one for the rest
WAYS = {"loyer": 0, "caution": 0, "mur": 1, "haie": 1, "loup": 2, "vol": 2}
ENCODER = StaticEncoder.of(
    "by hand", CUT, {word: i for i, word in enumerate(WAYS)}, np.eye(3, dtype=np.float32)[list(WAYS.values())]
)


def evidence_of(
    articles: Sequence[Article] = LAW,
    questions: Sequence[Question] = QUESTIONS,
    cut: Analyser = CUT,
    encoder: Encoder = ENCODER,
) -> Evidence:
    counts, mask = count(articles, cut).with_questions(questions, cut.terms), Mask(articles)
    vectors = encoder.encode_articles(articles)
    return Evidence(
        BM25.build(counts, BM25Settings(), mask, cut),
        bm25_over(LAW_FIELDS, counts, BM25Settings(), mask, cut),
        bm25_over(ANNOTATED_FIELDS, counts, BM25Settings(), mask, cut),
        Dense(encoder, build_vectors(vectors), counts.order, mask),
        QuestionKNN(questions, counts.order, mask, cut, encoder),
        Surroundings.of(articles, questions),
    )


def asked(evidence: Evidence, question: str, where: Filter | None = None) -> Candidates:
    [lists] = first_stage_lists(evidence, [question], where)
    return evidence.candidates(question, tuple(lists.values()))


def column(evidence: Evidence, found: Candidates, name: str) -> dict[str, float]:
    """Article id -> the value of one feature."""
    ids = evidence.keyword.order.ids
    values = found.features[:, NAMES.index(name)].tolist()
    return {ids[p]: value for p, value in zip(found.positions, values, strict=True)}


def stump(feature: int, threshold: float, below: float, above: float) -> Tree:
    middle = (below + above) / 2
    return Tree((feature, -1, -1), (threshold, 0.0, 0.0), (1, -1, -1), (2, -1, -1), (middle, below, above))
