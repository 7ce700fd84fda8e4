"""Articles of which only the word is left that they were repealed, told from law that repeals."""

from __future__ import annotations

from datetime import date

import pytest

from indexes.cleaning.repealed import has_expired, is_repealed

NOTE = "\n----------\n(1)<L 2013-03-17/14, art. 2, 057; En vigueur : 01-06-2014>"
GONE = (
    *("Abrogé", "(abrogé)", "[Abrogée.]", "ABROGÉ", "Article abrogé", "Cet article est abrogé."),
    *("Article 5 (abrogé).", "L'article 5 est abrogé.", "Art. 5. Abrogé"),
    *("Abrogé par la loi du 3 mai 2003, art. 5", "Abrogé à compter du 1er janvier 2016."),
    "Abrogé par Ordonnance n°2016-131 du 10 février 2016 - art. 3",
    "(Abrogé) <L 1987-03-31/52, art. 25, 007; En vigueur : 06-06-1987>",
    "<Abrogé par L 1998-07-05/57, art. 2; En vigueur : 01-01-1999>",
    f"[1 ...]1{NOTE}",
    f"[1 Abrogé]1{NOTE}",
    *("(Opgeheven)", "Opgeheven bij wet van 3 mei 2003", "[Vervallen per 01-01-2015]"),
    "<Opgeheven bij W 2003-05-03/41, art. 3; Inwerkingtreding : 01-01-2004>",
    *("(weggefallen)", "- aufgehoben -", "§ 5 (weggefallen)", "Aufgehoben durch Gesetz vom 3. Mai 2003"),
    "(aufgehoben mit Wirkung vom 1. Januar 2010)",
    *("((ARTICOLO ABROGATO DAL D.LGS. 26 AGOSTO 2016, N. 179))", "Articolo soppresso."),
    "((ARTICOLO ABROGATO DAL D.LGS. 1 MAGGIO 2017, N. 2))\n((29))\n-----\nAGGIORNAMENTO (29)\nIl D.Lgs. ha.",
    *("[Repealed]", "Repealed by the Act of 1998 s. 5", "This section has been repealed."),
    *("（废止）", "废止", "删除", "（删去）", "本条已废止。", "第十条　删除"),
)
LAW = (
    *("L'article 6 est abrogé.", "Est abrogée la loi du 3 mai 2003.", "Sont abrogés : la loi, le décret."),
    *("Les articles 3 à 5 sont abrogés.", "La loi du 3 mai 2003 est abrogée.", "Abrogés : la loi du 3 mai"),
    "Abrogé par la loi du 3 mai 2003, sauf pour les fours allumés avant ce jour.",
    "Abrogé. Les fours allumés avant le 3 mai 2003 le restent.",
    *("Opgeheven worden: de wet", "Die Verordnung wird aufgehoben.", "aufgehoben wird die Verordnung"),
    "(1) (weggefallen)\n(2) Die Frist beträgt zwei Wochen.",
    *("E' abrogato il decreto 5.", "Abrogato il decreto legislativo 5", "Articolo 7 abrogato dalla legge"),
    "1. COMMA ABROGATO DAL D.LGS. 1 MAGGIO 2017, N. 2.\n2. Il forno è comune.",
    *("The Act of 1998 is repealed.", "Repealed, the Act of 1998", "删除第五条。", "《炉灶条例》同时废止。"),
    *("", "   ", "...", "[...]", "[1 four]1", "12"),
)  # fmt: skip


@pytest.mark.parametrize("text", GONE)
def test_gone(text: str) -> None:
    assert is_repealed(text, "5", "it" if "ARTICOLO" in text else "fr")


@pytest.mark.parametrize("text", LAW)
def test_law(text: str) -> None:
    assert not is_repealed(text, "5", "fr")
    assert not is_repealed(text, "5", "it")


@pytest.mark.parametrize("number", ["", "6", "5bis", "(", "5 6"])
def test_another_number_is_another_article(number: str) -> None:
    assert not is_repealed("L'article 5 est abrogé.", number)
    assert is_repealed("(abrogé)", number)


def test_numbers_are_compared_without_their_signs() -> None:
    assert is_repealed("Article R. 123-4 abrogé", "R123-4") is False  # only its own spelling is sure
    assert is_repealed("Article R. 123-4 abrogé", "R. 123-4")
    assert is_repealed("Article R 123-4 abrogé", "R. 123-4")


def test_the_day_on_which_it_ended() -> None:
    day = date(2020, 1, 1)
    assert has_expired(date(2019, 12, 31), day)
    assert has_expired(day, day)  # valid_to is the first day on which it no longer holds
    assert not has_expired(date(2020, 1, 2), day)
    assert not has_expired(None, day)
    assert not has_expired(day, None)
