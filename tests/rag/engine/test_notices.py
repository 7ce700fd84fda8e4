"""What is said beside the articles, from each part alone."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rag.corpus.card import CorpusCard, Elsewhere
from rag.corpus.out_of_scope import Topics
from rag.engine.notices import UNKNOWN, Notices
from rag.text.analysers import analyser
from rag.text.spelling import tolerant
from rag.types import EMPTY, Ranking
from tests.rag.engine.test_confidence import MODEL

CUT = analyser("fr")
TAX = Elsewhere("tax", {"fr": "Impôts"}, "Code général des impôts", ("impôt sur le revenu",), {"fr": ""})
CARD = CorpusCard("small", "Petit corpus", "fr", elsewhere=(TAX,))
READS = tolerant(CUT, dict.fromkeys(CUT.terms("impôt revenu clôture voisin arbre"), 3))
NOTICES = Notices(Topics(CARD, set(), READS), READS)


def test_a_topic_of_another_law_and_a_typing_error_are_told() -> None:
    assert [topic.id for topic in NOTICES.topics.find("quel impôt sur mon revenu ?")] == ["tax"]
    assert NOTICES.topics.find("la clôture du voisin") == ()
    assert [(c.typed, c.read) for c in NOTICES.corrections("la clotrue du voisin")] == [
        ("clotrue", "cloture")
    ]
    assert Notices(NOTICES.topics, CUT).corrections("la clotrue du voisin") == ()


@pytest.mark.parametrize("lists", [{}, {"dense": Ranking.of([("a", 1.0)])}])
def test_nothing_is_calibrated_for_a_list_that_is_missing(lists: dict[str, Ranking]) -> None:
    features = NOTICES.features("arbre", lists)
    assert features is None
    assert NOTICES.likelihood(EMPTY, lists, features, elsewhere=False) == UNKNOWN
    sure = replace(NOTICES, confidence=MODEL)
    assert sure.likelihood(EMPTY, lists, features, elsewhere=False) == UNKNOWN
    assert not UNKNOWN.doubtful


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("How do I pay my income tax?", ["tax"]),
        ("Wie zahle ich meine Steuern, und brauche ich einen Anwalt?", ["tax"]),  # who helps in all
        ("who pays the taxes after our divorce?", []),  # the divorce may be what is asked about
        ("my neighbour's hedge is too high", []),
        ("how much TVA is there on my landlord's invoice?", ["tax"]),  # a name tells more than all terms
        ("WHERE IS THE TVA OF MY LANDLORD?", []),  # of capitals alone nothing is a name
        ("quel impôt sur mon revenu ?", None),
    ],
)
def test_a_question_in_another_language_names_a_topic_by_its_legal_terms(
    question: str, told: list[str] | None
) -> None:
    card = replace(CARD, elsewhere=(replace(TAX, terms=("impôt",), names=("TVA",)),))
    found = Notices(Topics(card, set(), CUT), CUT).foreign_topics(question)
    assert (found if found is None else [topic.id for topic in found]) == told
