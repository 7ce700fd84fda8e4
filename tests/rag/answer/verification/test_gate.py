"""What the gate lets through and what it stops, one fault at a time."""

from __future__ import annotations

import time

import pytest

from rag.answer.types import AcceptedSentence, Fault, Passage, Quote, RejectedSentence, Statement
from rag.answer.verification.gate import LONGEST, CitationGate
from rag.types import Article

BAIL = Article(
    "a1",
    "Code du bail",
    "12",
    "Le locataire doit payer le loyer au bailleur dans un délai de deux mois. Le bailleur ne peut"
    " résilier le "
    "bail avant trois ans, sauf si le locataire cesse de payer. Le délai est de dix jours pour le"
    " locataire et "
    "de vingt jours pour le bailleur. L'article 15 s'applique aux dépôts d'au moins 1 500 euros.",
)
MIETE = Article(
    "d1",
    "MG",
    "5",
    "Der Vermieter darf die Miete nicht erhöhen, wenn\n1. der Vertrag befristet ist oder\n2. der"
    " Mieter widerspricht.",
)
RENT = Article("e1", "Rent Act", "7", "The tenant must keep the garden. The landlord must mend the roof.")
SHOWN = (BAIL, MIETE, RENT)
FIRST = "Le locataire doit payer le loyer au bailleur dans un délai de deux mois."
SECOND = "Le bailleur ne peut résilier le bail avant trois ans, sauf si le locataire cesse de payer."
THIRD = "Le délai est de dix jours pour le locataire et de vingt jours pour le bailleur."
FOURTH = "L'article 15 s'applique aux dépôts d'au moins 1 500 euros."


def _check(text: str, quote: str = FIRST, id_: str = "a1") -> AcceptedSentence | RejectedSentence:
    return CitationGate().check(Statement(text, (id_,), (Quote(id_, quote),)), SHOWN)


def _faults(text: str, quote: str = FIRST, id_: str = "a1") -> tuple[Fault, ...]:
    found = _check(text, quote, id_)
    return found.faults if isinstance(found, RejectedSentence) else ()


def test_a_true_sentence_comes_with_the_passage_of_the_law() -> None:
    found = _check(
        "Le  locataire doit payer\nle loyer dans un délai de 2 mois.", "LE LOCATAIRE DOIT PAYER LE LOYER"
    )
    assert found == AcceptedSentence(
        "Le locataire doit payer le loyer dans un délai de 2 mois.", ("a1",), (Passage("a1", 0, 32),)
    )
    assert BAIL.text[0:32] == "Le locataire doit payer le loyer"


def test_each_article_cited_needs_a_quote_and_each_quote_an_article_cited() -> None:
    gate = CitationGate()
    check = lambda ids, quotes: gate.check(Statement(FIRST, ids, quotes), SHOWN)  # noqa: E731
    own = Quote("a1", FIRST)
    assert isinstance(check(("a1",), (own,)), AcceptedSentence)
    assert isinstance(check(("[a1] ",), (own,)), AcceptedSentence)
    for ids, quotes, fault in (
        ((), (own,), Fault.UNCITED),
        ((), (), Fault.UNCITED),
        (("a2",), (Quote("a2", FIRST),), Fault.NOT_SHOWN),
        (("A1",), (own,), Fault.NOT_SHOWN),
        (("а1",), (own,), Fault.NOT_SHOWN),  # a Cyrillic a
        (("a1", "zz"), (own,), Fault.NOT_SHOWN),
        (("a1",), (), Fault.UNQUOTED),
        (("a1",), (Quote("a1", "le loyer"),), Fault.UNQUOTED),
        (("a1", "e1"), (own,), Fault.UNQUOTED),
        (("a1",), (own, Quote("e1", RENT.text)), Fault.UNCITED),
        (("a1",), (own, Quote("a1", "Le loyer est libre et sans limite.")), Fault.ALTERED),
        (("a1", "e1"), (own, Quote("e1", "The tenant must keep the garden.")), Fault.UNSUPPORTED),  # for show
    ):
        found = check(ids, quotes)
        assert isinstance(found, RejectedSentence), (ids, quotes)
        assert fault in found.faults, (ids, quotes)


def test_every_fault_is_listed_in_order() -> None:
    text = "Le bailleur peut payer 900 euros <b>ici</b>."
    found = CitationGate().check(
        Statement(text, ("a1", "x"), (Quote("a1", "Le bailleur paie neuf cents euros."),)), SHOWN
    )
    assert isinstance(found, RejectedSentence)
    assert found.faults == (Fault.NOT_SHOWN, Fault.ALTERED, Fault.UNSUPPORTED, Fault.MARKUP)
    found = CitationGate().check(Statement(text, ("a1",), (Quote("a1", FIRST),)), SHOWN)
    assert isinstance(found, RejectedSentence)
    assert found.faults == (Fault.NUMBER, Fault.FORCE, Fault.UNSUPPORTED, Fault.MARKUP)


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ("Le bailleur peut résilier le bail avant trois ans.", "résilier le bail avant trois ans"),
        ("Le bailleur ne peut résilier le bail avant trois ans.", "ne peut résilier le bail avant trois ans"),
        ("Le bailleur peut résilier le bail.", "Le bailleur ne peut résilier le bail"),
        ("Le locataire peut payer le loyer.", FIRST),
        ("Le locataire paie le loyer.", FIRST),
    ],
)
def test_a_quote_cut_short_is_read_with_its_sentence(text: str, quote: str) -> None:
    assert Fault.FORCE in _faults(text, quote)


def test_what_leads_into_a_list_goes_with_its_items() -> None:
    found = _faults(
        "Der Vermieter darf die Miete erhöhen, wenn der Vertrag befristet ist.",
        "1. der Vertrag befristet ist oder",
        "d1",
    )
    assert Fault.FORCE in found
    assert not _faults(
        "Der Vermieter darf die Miete nicht erhöhen, wenn der Vertrag befristet ist.",
        "1. der Vertrag befristet ist oder",
        "d1",
    )


@pytest.mark.parametrize(
    "text",
    [
        "Le délai est de vingt jours pour le locataire.",  # the other one's
        "Le délai est de vingt jours pour le locataire et de dix jours pour le bailleur.",
        "Le délai est de 10 semaines pour le locataire.",
        "Le délai est de onze jours pour le locataire.",
    ],
)
def test_a_number_belongs_to_what_the_law_gives_it_to(text: str) -> None:
    assert Fault.NUMBER in _faults(text, THIRD)


def test_a_number_told_rightly_passes() -> None:
    assert not _faults("Le délai est de 20 jours pour le bailleur.", THIRD)
    assert not _faults("Le délai est de 10 jours pour le locataire.", THIRD)


@pytest.mark.parametrize(
    ("text", "stopped"),
    [
        ("L'article 15 s'applique aux dépôts d'au moins 1500 euros.", False),
        ("L'article 15 s'applique aux dépôts d'au moins mille cinq cents €.", False),
        ("L'article 12 prévoit que l'article 15 s'applique aux dépôts d'au moins 1 500 euros.", False),
        ("L'article 16 s'applique aux dépôts d'au moins 1 500 euros.", True),
        ("L'article 15 du Code pénal s'applique aux dépôts d'au moins 1 500 euros.", True),
        ("L'article 15 s'applique aux dépôts d'au plus 1 500 euros.", True),
        ("L'article 15 s'applique aux dépôts de 1 500 euros.", True),
        ("L'article 15 s'applique aux dépôts d'au moins 1 500 francs.", True),
        ("L'article 15 s'applique aux dépôts d'au moins 2 500 euros.", True),
    ],
)
def test_articles_and_amounts(text: str, stopped: bool) -> None:
    assert (Fault.NUMBER in _faults(text, FOURTH)) is stopped


def test_a_claim_of_the_sentence_beside_is_not_supported() -> None:
    assert _faults("The landlord must mend the roof.", "The tenant must keep the garden.", "e1") == (
        Fault.UNSUPPORTED,
    )
    assert _faults("The tenant must mend the roof.", RENT.text, "e1") == (Fault.UNSUPPORTED,)
    assert _faults("The tenant must keep the garden.", RENT.text, "e1") == ()


def test_odd_statements_are_removed_and_never_raise() -> None:
    gate = CitationGate()
    for text in ("", " ", "\ud800", "…", "Oui.", "x" * (LONGEST + 1), "nul " * 300, "a\x00b"):
        for quote in ("", FIRST, "\ud800", "x" * 10_000):
            found = gate.check(Statement(text, ("a1",), (Quote("a1", quote),)), SHOWN)
            assert isinstance(found, RejectedSentence), text[:20]
    assert isinstance(gate.check(Statement(FIRST, ("a1",), (Quote("a1", FIRST),)), ()), RejectedSentence)
    empty = Article("a1", "", "", "")
    assert isinstance(
        gate.check(Statement(FIRST, ("a1",), (Quote("a1", FIRST),)), (empty,)), RejectedSentence
    )
    many = tuple(Quote("a1", FIRST) for _ in range(1_000))
    assert isinstance(gate.check(Statement(FIRST, ("a1",), many), SHOWN), RejectedSentence)


def test_a_support_model_can_only_remove_more() -> None:
    class Counting:
        threshold = 0.5

        def __init__(self, score: float) -> None:
            self.answer, self.asked = score, list[tuple[str, str]]()

        def score(self, claim: str, premise: str) -> float:
            self.asked.append((claim, premise))
            return self.answer

    unsure, sure = Counting(0.4), Counting(0.5)
    true = Statement(FIRST, ("a1",), (Quote("a1", "Le locataire doit payer le loyer"),))
    assert CitationGate(unsure).check(true, SHOWN) == RejectedSentence(true, (Fault.UNSUPPORTED,))
    assert isinstance(CitationGate(sure).check(true, SHOWN), AcceptedSentence)
    assert sure.asked == [(FIRST, FIRST)]
    false = Statement(FIRST.replace("deux", "trois"), ("a1",), true.quotes)
    assert isinstance(CitationGate(sure).check(false, SHOWN), RejectedSentence)
    assert len(sure.asked) == 1  # what code has stopped is not asked


def test_a_statement_costs_little_once_its_articles_are_known() -> None:
    gate = CitationGate()
    texts = [
        f"Dans un délai de 2 mois, le locataire doit payer le loyer au bailleur{' ' * n}." for n in range(40)
    ]
    gate.check(Statement(FIRST, ("a1",), (Quote("a1", FIRST),)), SHOWN)
    begun = time.perf_counter()
    for text in texts:
        gate.check(Statement(text + "!", ("a1",), (Quote("a1", FIRST),)), SHOWN)
    assert (time.perf_counter() - begun) / len(texts) < 0.05  # measured: 1 to 6 ms
