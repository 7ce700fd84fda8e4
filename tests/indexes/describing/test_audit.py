from __future__ import annotations

import json
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexes.describing import audit
from rag.library import AuditKind
from rag.retrieval.base import Mask
from rag.retrieval.bm25 import BM25, BM25Settings
from rag.retrieval.term_counts import count
from rag.text.analysers import analyser
from rag.types import Article, Question
from tests.fakes.ranking.engines import engine_of
from tests.paths import ROOT
from training.audit import MEASURES, Curve, Measure, Part, fit, leave_one_out

CUT = analyser("fr")


def article(id_: str, text: str, *headings: str) -> Article:
    return Article(id_, "Code", id_, text, headings)


LAW = (
    article("1", "Les arbres sont plantés à deux mètres de la clôture du voisin.", "Des plantations"),
    article("2", "Le bailleur délivre la chose louée au locataire en bon état.", "Du louage"),
    article("3", "Le bailleur délivre la chose louée au locataire en bon état.", "Du louage"),
    article("4", ""),
    article("5", "de la et les", "Des mots"),
    article("6", "The landlord shall deliver the premises to the tenant in good order.", "Of leases"),
)
ASKED = (Question("q1", "un chien mord", ("1",)), Question("q2", "mon voisin plante des arbres", ("1",)))


def test_what_is_wrong_with_a_law() -> None:
    engine = engine_of(LAW, CUT, BM25.build(count(LAW, CUT), BM25Settings(), Mask(LAW), CUT))
    found = audit.audit(engine, ASKED)

    assert found.textless == ("4",)
    assert found.termless == ("5",)
    assert found.without_heading == ("4",)
    assert found.twins == (("2", "3"),)
    assert found.languages == {"fr": 4, "en": 1}
    assert found.strangers == ("un chien mord",)
    assert not found.doubt
    assert found.found_by_heading is not None
    told = list(audit.lines(found))
    assert [line for line in told if line.startswith("WARNING")] == [
        "WARNING 1 (16.7%) have a text of which nothing can be searched: 5",
        "WARNING 1 (16.7%) have a text that others have too: 2",
        "WARNING languages of a sample of texts: fr 4, en 1 (the card says fr)",
    ]


def test_recall_is_foretold_where_annotated_questions_tell_how_many_articles_answer() -> None:
    engine = engine_of(LAW, CUT, BM25.build(count(LAW, CUT), BM25Settings(), Mask(LAW), CUT))
    asked, unasked = audit.audit(engine, ASKED), audit.audit(engine)

    assert (asked.answers, unasked.answers, unasked.recall) == (1.0, None, None)
    assert asked.recall is not None
    assert unasked.success == asked.success
    kinds = [{each.kind for each in audit.findings(found)} for found in (asked, unasked)]
    assert kinds[0] - kinds[1] >= {AuditKind.EXPECTED_RECALL}


def test_nothing_is_foretold_without_a_heading() -> None:
    law = (article("1", "Les arbres"),)
    engine = engine_of(law, CUT, BM25.build(count(law, CUT), BM25Settings(), Mask(law), CUT))
    found = audit.audit(engine)

    assert found.success is None
    assert found.recall is None
    assert list(audit.lines(found))[-1].startswith("how much will be found cannot be foretold")


@given(st.floats(0, 1), st.floats(0, 1), st.floats(1, 50))
def test_more_found_by_heading_foretells_more(a: float, b: float, answers: float) -> None:
    for foretold in (audit.success, partial(audit.recall, answers=answers)):
        low, high = (foretold(share) for share in sorted((a, b)))
        assert 0 <= low.low <= low.share <= low.high <= 1
        assert low.share <= high.share


@given(st.floats(0, 1), st.floats(1, 50), st.floats(1, 50))
def test_where_more_articles_answer_a_smaller_share_is_among_ten(found: float, a: float, b: float) -> None:
    few, many = sorted((a, b))
    assert audit.recall(found, few).share >= audit.recall(found, many).share


def test_what_ships_is_what_was_fitted() -> None:
    record = json.loads((ROOT / "docs/results/everyday/audit.json").read_text(encoding="utf-8"))["measures"]
    for name, curve, error in (
        ("Success@10", audit.SUCCESS, audit.SUCCESS_ERROR),
        ("R@10", audit.RECALL, audit.RECALL_ERROR),
    ):
        fitted = record[name]
        assert pytest.approx((fitted["bias"], *fitted["weights"]), abs=1e-4) == curve
        assert pytest.approx(fitted["error"], abs=1e-3) == error


@pytest.mark.parametrize(
    ("measure", "true"),
    [(MEASURES["Success@10"], Curve(-2.0, (4.0,))), (MEASURES["R@10"], Curve(-1.0, (3.0, -1.5)))],
)
def test_a_curve_is_fitted_to_parts_and_a_collection_left_out_teaches_nothing(
    measure: Measure, true: Curve
) -> None:
    def part(name: str, found: float, answers: float) -> Part:
        share = true(measure.features(Part(name, 10, 1, 1000, found, answers, 0, 0)))
        return Part(name, 10, 1, 1000, found, answers, share, share)

    parts = [part(name, x / 10, answers) for name in "ab" for x in range(11) for answers in (1, 2, 8)]
    fitted = fit(parts, measure)

    assert (fitted.bias, *fitted.weights) == pytest.approx((true.bias, *true.weights), abs=0.1)
    odd = Part("c", 10, 1, 1000, 0.5, 2, 0.01, 0.01)
    ((_, share),) = (each for each in leave_one_out([*parts, odd], measure) if each[0].collection == "c")
    assert share == pytest.approx(true(measure.features(odd)), abs=0.02)
