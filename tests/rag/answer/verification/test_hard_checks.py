"""What code decides of a sentence: the same in every language, and no more than it can be sure of."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rag.answer.types import Fault, Passage, Quote, Statement
from rag.answer.verification.hard_checks import LONGEST, MOST_QUOTES, faults, passages
from rag.types import Article

DEPOSIT = (
    "Le dépôt de garantie ne peut dépasser un mois de loyer. Le bailleur le rend dans les deux mois de la "
    "remise des clés, selon l'article 1730, si l'état des lieux de sortie est conforme."
)
LAW = {
    "DEP": Article("DEP", "Code civil", "1907", DEPOSIT, language="fr"),
    "AGE": Article("AGE", "Code civil", "144", "Vous ne pouvez pas vous marier avant 18 ans.", language="fr"),
    "JUDGE": Article("JUDGE", "Code civil", "255", "Le juge peut fixer une pension.", language="fr"),
    "BGB": Article(
        "BGB", "BGB", "195", "Die regelmäßige Verjährungsfrist beträgt drei Jahre.", language="de"
    ),
    "ZH": Article("ZH", "民法典", "188", "诉讼时效期间为三年。", language="zh"),
}


def found(text: str, *ids: str, question: str = "") -> tuple[Fault, ...]:
    return faults(Statement(text, ids or ("DEP",)), LAW, question)


@pytest.mark.parametrize(
    ("text", "cited"),
    [
        ("Vous récupérez le dépôt au plus tard 2 mois après avoir rendu les clés.", "DEP"),
        ("The landlord pays the deposit back within two months.", "DEP"),
        ("Der Vermieter zahlt die Kaution innerhalb von zwei Monaten zurück.", "DEP"),
        ("Il deposito si restituisce entro due mesi.", "DEP"),
        ("De waarborg wordt binnen twee maanden teruggegeven.", "DEP"),
        ("押金应在两个月内退还。", "DEP"),
        ("L'article 1907 renvoie à l'article 1730.", "DEP"),
        ("Nobody may marry before turning eighteen.", "AGE"),
        ("Personne ne peut se marier avant dix-huit ans.", "AGE"),
        ("You may never marry before you are 18.", "AGE"),
        ("Un juge peut fixer une pension.", "JUDGE"),
        ("A court may set an allowance.", "JUDGE"),
        ("Claims lapse after 36 months.", "BGB"),
        ("Les actions se prescrivent par trois ans.", "ZH"),
        ("Le dépôt n'est pas toujours rendu.", "DEP"),
        ("Tout dépend de l'état des lieux.", "DEP"),
        ("Les deux parties y gagnent, tout de même.", "DEP"),
        ("Le bailleur le rend seulement si l'état des lieux est conforme.", "DEP"),
    ],
)
def test_honest_sentences_pass(text: str, cited: str) -> None:
    assert found(text, cited) == ()


@pytest.mark.parametrize(
    ("text", "cited", "fault"),
    [
        ("Le dépôt est rendu dans les trois mois.", "DEP", Fault.NUMBER),
        ("Le dépôt est rendu dans les deux ans.", "DEP", Fault.NUMBER),
        ("Le dépôt est rendu dans les soixante jours.", "DEP", Fault.NUMBER),  # two months are not sixty days
        ("The deposit may be 500 euros.", "DEP", Fault.NUMBER),
        ("L'article 1240 vous protège.", "DEP", Fault.NUMBER),
        ("You may marry at sixteen.", "AGE", Fault.NUMBER),
        ("Die Frist beträgt vier Jahre.", "BGB", Fault.NUMBER),
        ("时效期间为五年。", "ZH", Fault.NUMBER),
        ("Le délai court du premier jour du mois.", "DEP", Fault.NUMBER),
        ("Le bailleur rend toujours le dépôt.", "DEP", Fault.ABSOLUTE),
        ("Every landlord returns the deposit.", "DEP", Fault.ABSOLUTE),
        ("Alle Vermieter zahlen die Kaution zurück.", "DEP", Fault.ABSOLUTE),
        ("Il locatore deve sempre restituire il deposito al conduttore.", "DEP", Fault.ABSOLUTE),
        ("De verhuurder moet het bedrag altijd aan de huurder terugbetalen.", "DEP", Fault.ABSOLUTE),
        ("出租人一律退还押金。", "DEP", Fault.ABSOLUTE),
        ("Le juge ne refuse jamais une pension.", "JUDGE", Fault.ABSOLUTE),
        ("Only the judge sets the allowance.", "JUDGE", Fault.ABSOLUTE),
        ("Selon la Cour de cassation, le dépôt est rendu.", "DEP", Fault.AUTHORITY),
        ("According to settled case law the deposit is returned.", "DEP", Fault.AUTHORITY),
        ("Das Gericht ordnet die Rückgabe an.", "DEP", Fault.AUTHORITY),
        ("Il tribunale deve ordinare la restituzione del deposito al conduttore.", "DEP", Fault.AUTHORITY),
        ("De rechtspraak is duidelijk.", "DEP", Fault.AUTHORITY),
        ("最高人民法院认为应当退还。", "DEP", Fault.AUTHORITY),
        ("Le préfet peut fixer une pension.", "JUDGE", Fault.AUTHORITY),
        ("Le juge fixe une pension sans aucun délai ni formalité.", "JUDGE", Fault.ABSOLUTE),
        ("Le dépôt est rendu sans aucune exception.", "DEP", Fault.ABSOLUTE),
        ("L'article 1730 du Code pénal le dit.", "DEP", Fault.NUMBER),  # the law names that of its own code
        ("Voir https://example.com", "DEP", Fault.MARKUP),
        ("Le **dépôt** est rendu.", "DEP", Fault.MARKUP),
        ("x" * (LONGEST + 1), "DEP", Fault.MARKUP),
    ],
)
def test_what_the_law_does_not_have_is_found(text: str, cited: str, fault: Fault) -> None:
    assert found(text, cited) == (fault,)


def test_a_number_of_the_question_may_be_said_again() -> None:
    text = "Vos 700 euros de dépôt, payés il y a trente mois, sont rendus."

    money = "Vos 700 euros de dépôt sont rendus."

    assert found(money) == (Fault.NUMBER,)
    assert found(money, question="J'ai payé 700 €. Que faire ?") == ()
    assert found(money, question="I paid 700 euros.") == ()
    # the law sets two months: another time is not the person's to say
    assert found(text, question="J'ai payé 700 € il y a 30 mois. Que faire ?") == (Fault.NUMBER,)
    assert found("Le bailleur doit payer 900 euros.", question="J'ai payé 700 €.") == (Fault.NUMBER,)


@pytest.mark.parametrize(
    ("text", "language", "fault"),
    [
        ("Il locatore restituisce sempre il deposito.", "it", Fault.ABSOLUTE),
        ("De verhuurder betaalt altijd terug.", "nl", Fault.ABSOLUTE),
        ("Der Mieter zahlt immer.", "de", Fault.ABSOLUTE),
        ("Il tribunale ordina la restituzione.", "it", Fault.AUTHORITY),
        ("Il locatore restituisce in sei mesi.", "it", Fault.NUMBER),
    ],
)
def test_the_questions_language_tells_that_of_a_short_sentence(
    text: str, language: str, fault: Fault
) -> None:
    assert faults(Statement(text, ("DEP",)), LAW, "", language) == (fault,)


def test_what_it_cites_must_be_among_the_articles_shown() -> None:
    said = "Le bailleur rend le dépôt."

    assert faults(Statement(said), LAW) == (Fault.UNCITED,)
    assert faults(Statement(said, ("DEP", "GONE")), LAW) == (Fault.NOT_SHOWN,)
    assert faults(Statement(said, ("DEP",), (Quote("GONE", "le rend dans les deux mois"),)), LAW) == (
        Fault.NOT_SHOWN,
    )
    many = tuple(Quote("DEP", "le rend dans les deux mois") for _ in range(MOST_QUOTES + 1))
    assert faults(Statement(said, ("DEP",), many), LAW) == (Fault.NOT_SHOWN,)


def test_quotes_must_stand_in_their_article() -> None:
    sound = Statement("Le bailleur rend le dépôt.", ("DEP",), (Quote("DEP", "LE REND dans les deux mois"),))
    altered = Statement(
        "Le bailleur rend le dépôt.", ("DEP",), (Quote("DEP", "le rend dans les trois mois"),)
    )

    assert faults(sound, LAW) == ()
    assert faults(altered, LAW) == (Fault.ALTERED,)
    start = DEPOSIT.index("le rend dans")
    assert passages(sound, LAW) == (Passage("DEP", start, start + len("le rend dans les deux mois")),)
    assert passages(altered, LAW) == ()


def test_all_faults_of_a_sentence_are_told_in_one_order() -> None:
    bad = Statement("Selon la jurisprudence, tous paient 900 euros : **vite**.", ("GONE", "DEP"))

    assert faults(bad, LAW) == (Fault.NOT_SHOWN, Fault.NUMBER, Fault.ABSOLUTE, Fault.AUTHORITY, Fault.MARKUP)


WORDS = (
    "le toujours tous deux mois 3 000 € 第零 第三 un quart jamais not article 1907 § 0 1/0 2/3 nul seulement "
    "tribunal dans les selon l'article 12 zwei mai www.x.fr * \u200b \ud83d"
)
TEXTS = st.lists(st.sampled_from(WORDS.split(" ")) | st.text(max_size=6), max_size=12).map(" ".join)


@given(
    TEXTS, st.sampled_from([*LAW]), TEXTS, st.sampled_from([None, "fr", "en", "de", "it", "nl", "zh", "xx"])
)
@example("第零", "ZH", "", "zh")
def test_any_sentence_is_checked(text: str, cited: str, question: str, language: str | None) -> None:
    said = Statement(text, (cited,), (Quote(cited, text),))

    found = faults(said, LAW, question, language)

    assert list(found) == [fault for fault in Fault if fault in found]
    for place in passages(said, LAW):
        assert 0 <= place.start < place.end <= len(LAW[cited].text)
