"""Rule 1 of the check of summaries: numbers in words and figures, with what they count."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexes.digest.quantities import PART, quantities
from indexes.digest.text import wording
from rag.text.numerals import FRENCH_RUN, french_numbers_in, french_ordinal
from tests.fakes.law.digest import details

UNITS = [
    "zéro", "un", "deux", "trois", "quatre", "cinq", "six", "sept", "huit", "neuf", "dix", "onze", "douze",
    "treize", "quatorze", "quinze", "seize",
]  # fmt: skip
TENS = {2: "vingt", 3: "trente", 4: "quarante", 5: "cinquante", 6: "soixante", 8: "quatre-vingt"}


def spelt(value: int) -> str:
    """Write a number below 10,000 as French does: the way back from what is tested."""
    if value >= 1000:
        thousands, rest = divmod(value, 1000)
        before = f"{spelt(thousands)} mille" if thousands > 1 else "mille"
        return f"{before} {spelt(rest)}" if rest else before
    if value >= 100:
        hundreds, rest = divmod(value, 100)
        before = f"{UNITS[hundreds]} cent" if hundreds > 1 else "cent"
        return f"{before} {spelt(rest)}" if rest else before + ("s" if hundreds > 1 else "")
    if value <= 16:
        return UNITS[value]
    if value < 20:
        return f"dix-{UNITS[value - 10]}"
    ten = value // 10
    base, rest = (ten - 1, value - 10 * (ten - 1)) if ten in (7, 9) else (ten, value % 10)
    if not rest:
        return TENS[base] + ("s" if base == 8 else "")
    joint = " et " if rest in (1, 11) and base != 8 else "-"
    return f"{TENS[base]}{joint}{spelt(rest)}"


def read(words: str) -> list[int]:
    plain = wording(words).plain
    return [value for run in FRENCH_RUN.finditer(plain) for value, _, _ in french_numbers_in(run[0])]


@given(st.integers(0, 9999))
def test_number_words_come_back(value: int) -> None:
    assert read(spelt(value)) == [value]
    assert read(spelt(value).replace(" ", "-")) == [value], "hyphens everywhere, as since 1990"


@pytest.mark.parametrize(
    ("words", "value"),
    [
        ("soixante et onze", 71),
        ("quatre-vingt-dix-neuf", 99),
        ("deux cent quatre-vingts", 280),
        ("mille neuf cent quatre-vingt-quatre", 1984),
        ("dix-sept mille", 17_000),
        ("trois millions deux cent mille", 3_200_000),
        ("septante-deux", 72),
    ],
)
def test_number_words(words: str, value: int) -> None:
    assert read(words) == [value]


def test_words_that_make_no_one_number_are_several() -> None:
    assert read("deux trois") == [2, 3]
    assert read("vingt trente") == [20, 30]
    assert read("un neuvième huitain") == [1], "whole words alone"


@pytest.mark.parametrize(
    ("word", "value"),
    [("premier", 1), ("seconde", 2), ("cinquieme", 5), ("neuvieme", 9), ("vingt et unieme", 21),
     ("quatre-vingt-dixieme", 90), ("trois centieme", 300), ("problème", None), ("dernier", None)],
)  # fmt: skip
def test_ordinals(word: str, value: int | None) -> None:
    assert french_ordinal(word) == value


def found(text: str) -> list[tuple[Fraction, str]]:
    return [(quantity.value, quantity.unit) for quantity in quantities(wording(text))]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("pendant deux ans", [(24, "mois")]),
        ("18 mois", [(18, "mois")]),
        ("un an et demi", [(18, "mois")]),
        ("à quinze ou vingt jours", [(15, "jour"), (20, "jour")]),
        ("de dix-huit à vingt et un ans", [(216, "mois"), (252, "mois")]),
        ("une semaine", [(7, "jour")]),
        ("une durée trentenaire", [(360, "mois")]),
        ("3 000 euros", [(3000, "euro")]),
        ("4,5 euros", [(Fraction(9, 2), "euro")]),
        ("5 % du prix", [(5, "%")]),
        ("dix-neuf décimètres", [(190, "cm")]),
        ("1,90 mètre", [(190, "cm")]),
        ("au sixième degré", [(6, "degre")]),
        ("au 6e degré", [(6, "degre")]),
        ("la moitié des voix", [(Fraction(1, 2), PART)]),
        ("les deux tiers des voix", [(Fraction(2, 3), PART)]),
        ("un tiers des voix", [(Fraction(1, 3), PART)]),
        ("3/4 des voix", [(Fraction(3, 4), PART)]),
        ("un vingtième en plus", [(Fraction(1, 20), PART)]),
        ("trois témoins", [(3, "")]),
        ("le 300e jour", [(300, "")]),
    ],
)
def test_quantities(text: str, expected: list[tuple[Fraction, str]]) -> None:
    assert found(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "un moulin",
        "les deux meuniers",
        "l'un des deux",
        "un bâtiment neuf",
        "un tiers de bonne foi",
        "le tiers acquéreur",
        "le quatrième alinéa",
        "la troisième vanne",
        "selon les articles 12, 14-1 à 16 et 18",
        "d'un degré supérieur",
        "deux exceptions : la crue et le gel",
    ],
)
def test_what_is_no_quantity(text: str) -> None:
    assert found(text) == []


LAW = "Le meunier a quinze jours pour vider le bief, ou deux mois en hiver. Il a dix-huit ans au moins."


def test_the_same_numbers_in_figures_are_nothing_to_look_at() -> None:
    ours = "Vous avez 15 jours pour vider le bief (2 mois en hiver), si vous avez au moins 18 ans."
    assert not details(LAW, ours, "number added") | details(LAW, ours, "number lost")


def test_another_number_is_added_and_the_one_of_the_law_lost() -> None:
    ours = "Vous avez 50 jours pour vider le bief, 2 mois en hiver, dès 18 ans."
    assert details(LAW, ours, "number added") == {"50 jours"}
    assert details(LAW, ours, "number lost") == {"quinze jours"}


def test_another_unit_is_another_quantity() -> None:
    ours = "Vous avez 15 mois pour vider le bief, 2 mois en hiver, dès 18 ans."
    assert details(LAW, ours, "number added") == {"15 mois"}
    assert details(LAW, ours, "number lost") == {"quinze jours"}


def test_counts_can_be_added_but_not_lost() -> None:
    assert details("Trois gardiens suffisent.", "Quatre gardiens suffisent.", "number added") == {"Quatre"}
    assert not details("Trois gardiens suffisent.", "Des gardiens suffisent.", "number lost")


@pytest.mark.parametrize(
    ("law", "ours"),
    [
        ("Il agit dans l'année.", "Vous avez un an."),
        ("Il paie deux ans de loyer.", "Vous payez 24 mois de loyer."),
        ("Il a un mois, ou deux mois en hiver.", "Vous avez un mois (deux en hiver)."),
        ("Le meunier majeur vote.", "À 18 ans, vous votez."),
        ("Le bief se partage par moitié.", "Le bief se partage à parts égales."),
        ("L'erreur excède un vingtième en plus.", "L'erreur dépasse le vingtième."),
        ("Il agit avant un demi-siècle.", "Vous agissez avant 50 ans."),
    ],
)
def test_other_ways_to_say_a_quantity(law: str, ours: str) -> None:
    assert not details(law, ours, "number added") | details(law, ours, "number lost")
