from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexes.describing import audit
from rag.retrieval.base import Mask
from rag.retrieval.bm25 import BM25, BM25Settings
from rag.retrieval.term_counts import count
from rag.text.analysers import analyser
from rag.types import Article, Question
from tests.fakes.ranking.engines import engine_of
from tests.paths import ROOT
from training.audit import Curve, Part, fit, leave_one_out

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


def test_nothing_is_foretold_without_a_heading() -> None:
    law = (article("1", "Les arbres"),)
    engine = engine_of(law, CUT, BM25.build(count(law, CUT), BM25Settings(), Mask(law), CUT))
    found = audit.audit(engine)

    assert found.expected is None
    assert list(audit.lines(found))[-1].startswith("how much will be found cannot be foretold")


@given(st.floats(0, 1), st.floats(0, 1))
def test_more_found_by_heading_foretells_more(a: float, b: float) -> None:
    low, high = (audit.expected(share) for share in sorted((a, b)))
    assert 0 <= low.low <= low.share <= low.high <= 1
    assert low.share <= high.share


def test_what_ships_is_what_was_fitted() -> None:
    record = json.loads((ROOT / "docs/results/everyday/audit.json").read_text(encoding="utf-8"))
    assert pytest.approx((record["bias"], record["weight"]), abs=1e-4) == (audit.BIAS, audit.WEIGHT)
    assert pytest.approx(record["error"], abs=1e-3) == audit.ERROR


def test_a_curve_is_fitted_to_parts_and_a_collection_left_out_teaches_nothing() -> None:
    curve = Curve(-2.0, 4.0)
    parts = [
        Part(name, 10, 1, 1000, x / 10, curve(Part(name, 10, 1, 1000, x / 10, 0)))
        for name in "ab"
        for x in range(11)
    ]
    fitted = fit(parts)

    assert (fitted.bias, fitted.weight) == pytest.approx((-2, 4), abs=0.1)
    odd = [Part("c", 10, 1, 1000, 0.5, 0.01)]
    ((_, share),) = (each for each in leave_one_out([*parts, *odd]) if each[0].collection == "c")
    assert share == pytest.approx(0.5, abs=0.02)
