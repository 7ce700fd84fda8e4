"""Bridges of a bench know the questions that they were learnt from, and no others."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from indexes.build import query_expansion as bridge
from indexes.build.fit_settings import FitSettings
from indexes.corpus.corpus import Corpus
from rag.corpus.card import CorpusCard
from rag.errors import BadInput
from rag.retrieval.query_expansion import Expanded, ExpandedBM25
from rag.types import Article, Question
from training.eval.context import BenchSettings
from training.eval.system_names import EXPANDED_SYSTEMS, refuse_unfit
from training.eval.workbench import Bench

TINY = FitSettings(dim=8, min_count=1, passes=1, question_passes=2, batch=8, random_negatives=4)
TEXTS = (
    "Celui qui tire de l'eau referme le puits.",
    "Nul ne lave son linge près du puits.",
    "Le four commun est chauffé le mardi.",
    "Qui laisse brûler le pain en doit un semblable.",
    "Une chèvre trouvée dans un jardin est rendue à son maître.",
    "Le chien qui a mordu est attaché.",
    "Les poules ne passent pas la nuit sur le chemin.",
    "Chaque voisin taille la haie.",
    "La charrette qui monte cède le passage.",
    "La musique cesse quand la lune passe.",
    "La chèvre est attachée la nuit.",
)
CORPUS = Corpus(
    CorpusCard(name="village", title="Village", language="fr"),
    tuple(Article(f"v-{n}", "Code du village", str(n), text) for n, text in enumerate(TEXTS, 1)),
    (),
)


def asked(word: str) -> list[Question]:
    goats = [Question(f"{word}{n}", f"{word} {n}", ("v-5" if n % 2 else "v-11",)) for n in range(8)]
    return goats + [Question(f"d{n}", f"toutou {n}", (f"v-{6 + n % 5}",)) for n in range(10)]


def words(bench: Bench, learn: Sequence[Question]) -> ExpandedBM25:
    made = bench.systems(list(EXPANDED_SYSTEMS), learn)
    assert isinstance(made["bridge"], Expanded)
    over = made["bm25+bridge"]
    assert isinstance(over, ExpandedBM25)
    return over


def test_a_bridge_has_seen_nothing_but_what_it_may_learn_from(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bridge, "LEAST", 6)
    bench = Bench(CORPUS, fit=TINY)
    one, other = words(bench, asked("bique")), words(bench, asked("cabri"))
    assert {"biqu", "cabr"} & set(one.model.pairs) == {"biqu"}
    assert {"biqu", "cabr"} & set(other.model.pairs) == {"cabr"}
    evidence = bench.evidence(asked("cabri"), BenchSettings())
    assert evidence.expansion is not None
    assert evidence.expansion.model is other.model
    first = one.search(["bique"], 3)[0]
    assert {hit.article_id for hit in first[:2]} == {"v-5", "v-11"}


def test_of_too_few_questions_none_is_learnt() -> None:
    over = words(Bench(CORPUS, fit=TINY), asked("bique"))
    assert over.model.pairs == {}
    assert over.search(["le puits"], 1) == over.keyword.search(["le puits"], 1)


@pytest.mark.parametrize("name", list(EXPANDED_SYSTEMS))
def test_it_needs_questions_to_learn_from(name: str) -> None:
    with pytest.raises(BadInput, match="no questions to learn from"):
        refuse_unfit([name], learning=False)
