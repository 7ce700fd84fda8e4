from __future__ import annotations

from dataclasses import replace
from datetime import date

from rag.corpus.card import THEMES, CorpusCard, LoadedLaw

PLAIN = CorpusCard("c", "C", "fr", law_date=date(2025, 1, 1))
LAWS = {
    "Loi A": LoadedLaw(None, date(2025, 7, 13), ("work", "housing")),
    "Loi B": LoadedLaw(None, None, ("housing",)),
    "Loi C": LoadedLaw(None, date(2026, 3, 27), ()),
}
CARD = replace(PLAIN, laws=LAWS)
NAMES = ("Loi A", "Loi B", "Loi C", "Loi D", "Loi E", "Loi F")


def test_the_texts_are_of_one_day_or_of_several() -> None:
    assert PLAIN.law_dates() == PLAIN.law_dates(["Loi A", "Loi B"]) == (date(2025, 1, 1),)
    assert CARD.law_dates() == (date(2025, 1, 1), date(2026, 3, 27))
    assert CARD.law_dates(["Loi A"]) == (date(2025, 7, 13),)
    assert CARD.law_dates(iter(["Loi B", "Loi C"])) == (date(2025, 1, 1), date(2026, 3, 27))
    assert CARD.law_dates([]) == replace(PLAIN, law_date=None).law_dates() == ()


def test_many_codes_stand_under_their_themes_in_one_order() -> None:
    found = CARD.by_theme(NAMES)

    assert list(found.items()) == [
        ("housing", ("Loi A", "Loi B")),
        ("work", ("Loi A",)),
        ("other", ("Loi C", "Loi D", "Loi E", "Loi F")),
    ]
    assert set(found) <= set(THEMES)
    assert CARD.by_theme(NAMES[:5]) == {}  # few enough to be read
    assert PLAIN.by_theme(NAMES) == {}
