"""Numbers with what they count, in six languages."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.text.numerals import parse_number_words
from rag.text.quantities import flat, quantities, telling


def _keys(text: str, language: str) -> list[tuple[Fraction, str]]:
    return [each.key for each in quantities(flat(text), language)]


@pytest.mark.parametrize(
    ("language", "one", "other"),
    [
        ("fr", "deux mois", "2 mois"),
        ("fr", "deux ans", "vingt-quatre mois"),
        ("fr", "trois mille euros", "3\u202f000 €"),
        ("fr", "2,5 %", "2,50 pour cent"),
        ("fr", "deux tiers", "2/3"),
        ("fr", "deux ou trois ans", "2 ans ou 3 ans"),
        ("fr", "2 millions d'euros", "2 000 000 euros"),
        ("en", "twenty-one days", "21 days"),
        ("en", "one hundred and fifty euros", "€ 150"),
        ("en", "two years", "24 months"),
        ("de", "zwei Wochen", "14 Tagen"),
        ("de", "einundzwanzig Jahre", "21 Jahren"),
        ("de", "zweitausendfünfhundert Euro", "2.500 EUR"),
        ("de", "zwei Drittel", "2/3"),
        ("nl", "eenentwintig dagen", "21 dagen"),
        ("nl", "tweehonderdvijftig euro", "€ 250"),
        ("it", "ventuno giorni", "21 giorni"),
        ("it", "duemilacinquecento euro", "2500 euro"),
        ("zh", "三十日", "30日"),
        ("zh", "三分之二", "2/3"),
        ("zh", "百分之五", "5%"),
        ("zh", "五万元", "50000元"),
        ("zh", "二年", "24个月"),
    ],
)
def test_words_and_figures_are_one(language: str, one: str, other: str) -> None:
    assert _keys(one, language) == _keys(other, language) != []


@pytest.mark.parametrize(
    ("language", "one", "other"),
    [
        ("fr", "deux mois", "deux ans"),
        ("fr", "un mois", "deux mois"),
        ("fr", "500 euros", "500 francs"),
        ("fr", "le troisième jour", "le quatrième jour"),
        ("en", "two weeks", "two months"),
        ("de", "zwei Wochen", "zwei Monate"),
        ("de", "zwei Drittel", "drei Viertel"),
        ("nl", "een maand", "twee maanden"),
        ("it", "un mese", "due mesi"),
        ("zh", "三十日", "三十年"),
        ("zh", "十日", "三十日"),
    ],
)
def test_another_number_or_unit_is_another_quantity(language: str, one: str, other: str) -> None:
    assert _keys(one, language) != _keys(other, language)


def test_small_words_are_no_numbers_without_a_unit() -> None:
    assert (
        _keys("un bail neuf", "fr")
        == _keys("ein Mieter hat acht zu geben", "de")
        == _keys("tu sei uno", "it")
        == []
    )
    assert _keys("", "fr") == []
    assert telling("chaque annuel versement") == {"annue"}


@given(st.integers(2, 9_999))
def test_german_dutch_and_italian_compounds(value: int) -> None:
    """Worked the other way round: spelt here, read there."""
    for language, spelt in (("de", _german(value)), ("nl", _dutch(value)), ("it", _italian(value))):
        assert [found[0] for found in parse_number_words(flat(spelt), language)] == [value], spelt


_DE = (
    "null ein zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn"
    " fünfzehn sechzehn siebzehn"
)
_DE_TENS = "zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig"
_NL = (
    "nul een twee drie vier vijf zes zeven acht negen tien elf twaalf dertien veertien"
    " vijftien zestien zeventien"
)
_NL_TENS = "twintig dertig veertig vijftig zestig zeventig tachtig negentig"
_IT = (
    "zero uno due tre quattro cinque sei sette otto nove dieci undici dodici tredici"
    " quattordici quindici sedici"
)
_IT_TENS = "venti trenta quaranta cinquanta sessanta settanta ottanta novanta"


def _german(value: int) -> str:
    small = [*_DE.split(), "achtzehn", "neunzehn"]
    if value >= 1000:
        return small[value // 1000] + "tausend" + (_german(value % 1000) if value % 1000 else "")
    if value >= 100:
        return small[value // 100] + "hundert" + (_german(value % 100) if value % 100 else "")
    if value < 20:
        return small[value]
    tens = _DE_TENS.split()[value // 10 - 2]
    return f"{small[value % 10]}und{tens}" if value % 10 else tens


def _dutch(value: int) -> str:
    small = [*_NL.split(), "achttien", "negentien"]
    if value >= 1000:
        head = "" if value // 1000 == 1 else small[value // 1000]
        return head + "duizend" + (_dutch(value % 1000) if value % 1000 else "")
    if value >= 100:
        head = "" if value // 100 == 1 else small[value // 100]
        return head + "honderd" + (_dutch(value % 100) if value % 100 else "")
    if value < 20:
        return small[value]
    tens = _NL_TENS.split()[value // 10 - 2]
    unit = small[value % 10]
    return (f"{unit}ën{tens}" if unit.endswith("e") else f"{unit}en{tens}") if value % 10 else tens


def _italian(value: int) -> str:
    small = [*_IT.split(), "diciassette", "diciotto", "diciannove"]
    if value >= 1000:
        head = "mille" if value // 1000 == 1 else small[value // 1000] + "mila"
        return head + (_italian(value % 1000) if value % 1000 else "")
    if value >= 100:
        head = "" if value // 100 == 1 else small[value // 100]
        return head + "cento" + (_italian(value % 100) if value % 100 else "")
    if value < 20:
        return small[value]
    tens = _IT_TENS.split()[value // 10 - 2]
    unit = small[value % 10] if value % 10 else ""
    return (tens[:-1] if unit in ("uno", "otto") else tens) + unit


def test_an_ordinal_is_none_where_it_only_says_before() -> None:
    assert _keys("you must first ask", "en") == _keys("puoi prima chiedere", "it") == []
    assert _keys("the first day", "en") == _keys("il primo giorno", "it") != []
    assert _keys("auf das Auto achten", "de") == []


def test_never_in_italian_is_no_month() -> None:
    assert telling(flat("non paga mai"), "it") == frozenset()
    assert telling(flat("le premier mai"), "fr") == {"mai"}
