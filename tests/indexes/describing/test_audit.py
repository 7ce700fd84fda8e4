from __future__ import annotations

import json
import random
from dataclasses import replace
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


def test_what_is_found_is_foretold_of_law_that_nobody_has_asked_about() -> None:
    engine = engine_of(LAW, CUT, BM25.build(count(LAW, CUT), BM25Settings(), Mask(LAW), CUT))
    asked, unasked = audit.audit(engine, ASKED), audit.audit(engine)

    assert unasked.recall is not None
    assert (unasked.success, unasked.recall) == (asked.success, asked.recall)
    assert (unasked.per_heading, unasked.terms) == (5 / 4, 7)  # under four headings; of five texts
    assert {AuditKind.EXPECTED, AuditKind.EXPECTED_RECALL} <= {each.kind for each in audit.findings(unasked)}


def test_the_title_of_an_article_is_not_what_it_is_asked_by() -> None:
    law = [
        article(str(n), "Der Mieter zahlt die Miete.", "Mietrecht", f"§ {n} Pflicht {n}") for n in range(40)
    ]
    engine = engine_of(law, CUT, BM25.build(count(law, CUT), BM25Settings(), Mask(law), CUT))

    assert audit.articles_per_heading(engine) == 40
    found = audit.found_by_heading(engine, random.Random(1))
    assert found == 10 / 40  # ten of those that share "Mietrecht"; by its title each would be found


def test_nothing_is_foretold_without_a_heading() -> None:
    law = (article("1", "Les arbres"),)
    engine = engine_of(law, CUT, BM25.build(count(law, CUT), BM25Settings(), Mask(law), CUT))
    found = audit.audit(engine)

    assert found.success is None
    assert found.recall is None
    assert list(audit.lines(found))[-1].startswith("how much will be found cannot be foretold")


@given(st.floats(0, 1), st.floats(0, 1), st.floats(1, 50), st.floats(0, 500))
def test_more_found_by_heading_foretells_more(a: float, b: float, per_heading: float, terms: float) -> None:
    for foretold in (audit.success, partial(audit.recall, per_heading=per_heading, terms=terms)):
        low, high = (foretold(share) for share in sorted((a, b)))
        assert 0 <= low.low <= low.share <= low.high <= 1
        assert low.share <= high.share


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
    [(MEASURES["Success@10"], Curve(-2.0, (4.0,))), (MEASURES["R@10"], Curve(-1.0, (3.0, -1.5, 0.5)))],
)
def test_a_curve_is_fitted_to_parts_and_a_collection_left_out_teaches_nothing(
    measure: Measure, true: Curve
) -> None:
    def part(name: str, found: float, per_heading: float, terms: float) -> Part:
        blank = Part(name, 10, 1, 1000, found, per_heading, terms, 1, 0, 0)
        share = true(measure.features(blank))
        return replace(blank, hit=share, recall=share)

    parts = [
        part(name, x / 10, under, terms)
        for name in "ab" for x in range(11) for under in (1, 2, 8) for terms in (20, 100)
    ]  # fmt: skip
    fitted = fit(parts, measure)

    assert (fitted.bias, *fitted.weights) == pytest.approx((true.bias, *true.weights), abs=0.1)
    odd = Part("c", 10, 1, 1000, 0.5, 2, 50, 1, 0.01, 0.01)
    ((_, share),) = (each for each in leave_one_out([*parts, odd], measure) if each[0].collection == "c")
    assert share == pytest.approx(true(measure.features(odd)), abs=0.02)
