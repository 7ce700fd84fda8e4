"""References in five languages: which expressions are read, and what they name."""

from __future__ import annotations

import pytest

from rag.corpus.card import CorpusCard
from rag.graph.references.reader import ReferenceReader, TextReference
from rag.types import Article

OWN = {
    "fr": "Code civil",
    "nl": "Burgerlijk Wetboek",
    "it": "Codice civile",
    "de": "BGB",
    "en": "Housing Act 1988",
}
Read = tuple[str, str, str, tuple[str, ...], str]  # the expression, kind, law, numbers, role


def read(text: str, language: str) -> list[Read]:
    article = Article("a", OWN[language], "1000", text, language=language)
    found = ReferenceReader([article], CorpusCard("x", "Law", language)).read(article)
    return [(text[r.start : r.end], r.kind, r.law, r.articles, r.role) for r in found]


def one(expression: str, kind: str, law: str = "", articles: str = "", role: str = "") -> Read:
    return expression, kind, law, tuple(articles.split()), role


CASES = [
    # French: numbers, lists, ranges
    ("fr", "Voir l'article 12.", [one("article 12", "internal", "", "12")]),
    ("fr", "Vu l'article premier et l'art. 1er.", [one("article premier", "internal", "", "1"), one("art. 1er", "internal", "", "1")]),
    ("fr", "Les articles 515-1 à 515-7 et 516 restent.", [one("articles 515-1 à 515-7 et 516", "internal", "", "515-1..515-7 516")]),
    ("fr", "Selon les articles L. 123-4-1, R.* 421-2 et D. 9.", [one("articles L. 123-4-1, R.* 421-2 et D. 9", "internal", "", "l123-4-1 r421-2 d9")]),
    ("fr", "Les articles 3 bis à 3 quater.", [one("articles 3 bis à 3 quater", "internal", "", "3bis..3quater")]),
    ("fr", "L'article 25 et suivants.", [one("article 25 et suivants", "internal", "", "25")]),
    ("fr", "À l'article 5 et 3 enfants.", [one("article 5", "internal", "", "5")]),
    ("fr", "L'article 199 undecies B, l'article 1649 quater-0 B bis.", [one("article 199 undecies B", "internal", "", "199undeciesb"), one("article 1649 quater-0 B bis", "internal", "", "1649quater-0bbis")]),
    ("fr", "Les articles 8 (2° à 4°), 9, alinéa 2, et 10.", [one("articles 8 (2° à 4°), 9, alinéa 2, et 10", "internal", "", "8 9 10")]),
    ("fr", "L'article 4, deuxième alinéa, et le reste.", [one("article 4, deuxième alinéa", "internal", "", "4")]),
    # French: laws
    ("fr", "L'article 17, alinéa 2, du code pénal.", [one("article 17, alinéa 2, du code pénal", "external", "code pénal", "17")]),
    ("fr", "L'article 3 du code pénal et l'article 4 du même code.", [one("article 3 du code pénal", "external", "code pénal", "3"), one("article 4 du même code", "external", "code pénal", "4")]),
    ("fr", "Le code de la route et l'article 9 dudit code.", [one("code de la route", "law", "code de la route"), one("article 9 dudit code", "external", "code de la route", "9")]),
    ("fr", "L'article 2 du code civil, l'article 3 du présent code et l'article 4 du même code.", [one("article 2 du code civil", "internal", "", "2"), one("article 3 du présent code", "internal", "", "3"), one("article 4 du même code", "internal", "", "4")]),
    ("fr", "La loi n° 89-462 du 6 juillet 1989 et son article 7.", [one("loi n° 89-462 du 6 juillet 1989", "law", "loi n° 89-462 du 6 juillet 1989"), one("article 7", "internal", "", "7")]),
    ("fr", "L'article 3 de la loi du 1er août 1905.", [one("article 3 de la loi du 1er août 1905", "external", "loi du 1er août 1905", "3")]),
    ("fr", "L'article 6 du règlement (UE) 2016/679 du Parlement européen et du Conseil du 27 avril 2016.", [one("article 6 du règlement (UE) 2016/679 du Parlement européen et du Conseil du 27 avril 2016", "external", "règlement (UE) 2016/679", "6")]),
    ("fr", "L'article 5 de la même loi.", [one("article 5 de la même loi", "external", "?", "5")]),
    ("fr", "L'ancien article 12.", [one("article 12", "external", "?", "12")]),
    ("fr", "Les articles 2 du code pénal et L. 511-6 du présent code.", [one("articles 2 du code pénal", "external", "code pénal", "2"), one("L. 511-6 du présent code", "internal", "", "l511-6")]),
    ("fr", "Au titre II du livre III du code pénal.", [one("titre II du livre III du code pénal", "level", "code pénal")]),
    ("fr", "Les règles du présent titre et de la section 2.", [one("présent titre", "level"), one("section 2", "level")]),
    ("fr", "L'article précédent, les deux articles suivants, le présent article.", [one("article précédent", "relative", "", "-1"), one("deux articles suivants", "relative", "", "+1 +2"), one("présent article", "relative", "", "0")]),
    # French: what they are for
    ("fr", "Par dérogation aux articles 3 et 4, il paie.", [one("articles 3 et 4", "internal", "", "3 4", "derogates")]),
    ("fr", "Par dérogation à l'article 3, l'article 5 reste.", [one("article 3", "internal", "", "3", "derogates"), one("article 5", "internal", "", "5")]),
    ("fr", "Sous réserve de l'article 9, il paie.", [one("article 9", "internal", "", "9", "exception")]),
    ("fr", "Hors les cas prévus à l'article 9, il paie.", [one("article 9", "internal", "", "9", "exception")]),
    ("fr", "Une chose au sens de l'article 9.", [one("article 9", "internal", "", "9", "definition")]),
    ("fr", "Le prix tel que défini à l'article 9.", [one("article 9", "internal", "", "9", "definition")]),
    ("fr", "Sans préjudice de l'article 9, il paie.", [one("article 9", "internal", "", "9")]),
    ("fr", "Le délai défini à l'article 9. Il part. Selon l'article 8.", [one("article 9", "internal", "", "9"), one("article 8", "internal", "", "8")]),
    # German
    ("de", "Nach § 312 und §§ 313 bis 313k BGB.", [one("§ 312 und §§ 313 bis 313k BGB", "internal", "", "312 313..313k")]),
    ("de", "Nach § 3 Abs. 2 Satz 1 Nr. 4 und Abs. 5 in Verbindung mit § 7.", [one("§ 3 Abs. 2 Satz 1 Nr. 4 und Abs. 5", "internal", "", "3"), one("§ 7", "internal", "", "7")]),
    ("de", "Die §§ 18, 19 Absatz 2, 3 und 5, § 20 Absatz 1 sowie § 21 gelten.", [one("§§ 18, 19 Absatz 2, 3 und 5, § 20 Absatz 1 sowie § 21", "internal", "", "18 19 20 21")]),
    ("de", "Art. 6 EGBGB gilt.", [one("Art. 6 EGBGB", "external", "EGBGB", "6")]),
    ("de", "Nach § 26 oder des § 30 der Insolvenzordnung.", [one("§ 26", "external", "Insolvenzordnung", "26"), one("§ 30 der Insolvenzordnung", "external", "Insolvenzordnung", "30")]),
    ("de", "§ 12 in Verbindung mit Artikel 5 des Grundgesetzes.", [one("§ 12", "internal", "", "12"), one("Artikel 5 des Grundgesetzes", "external", "Grundgesetzes", "5")]),
    ("de", "Gemäß Artikel 248 §§ 7, 10 des Einführungsgesetzes zum Bürgerlichen Gesetzbuche.", [one("Artikel 248 §§ 7, 10 des Einführungsgesetzes zum Bürgerlichen Gesetzbuche", "external", "Einführungsgesetzes zum Bürgerlichen Gesetzbuche", "248")]),
    ("de", "§ 5 des Zweiten Buches Sozialgesetzbuch und § 6 desselben Gesetzes.", [one("§ 5 des Zweiten Buches Sozialgesetzbuch", "external", "Zweiten Buches Sozialgesetzbuch", "5"), one("§ 6 desselben Gesetzes", "external", "Zweiten Buches Sozialgesetzbuch", "6")]),
    ("de", "Dieses Gesetz und die Vorschriften dieses Abschnitts.", [one("Dieses Gesetz", "level"), one("dieses Abschnitts", "level")]),
    ("de", "Das Waffengesetz und die Verordnung (EU) Nr. 12/2014.", [one("Waffengesetz", "law", "Waffengesetz"), one("Verordnung (EU) Nr. 12/2014", "law", "Verordnung (EU) Nr. 12/2014")]),
    ("de", "Die Fälle dieses Paragraphen und des vorstehenden Paragraphen.", [one("dieses Paragraphen", "relative", "", "0"), one("vorstehenden Paragraphen", "relative", "", "-1")]),
    ("de", "Abweichend von § 5 gilt das.", [one("§ 5", "internal", "", "5", "derogates")]),
    ("de", "Vorbehaltlich des § 5 gilt das.", [one("§ 5", "internal", "", "5", "exception")]),
    ("de", "Eine Sache im Sinne des § 5.", [one("§ 5", "internal", "", "5", "definition")]),
    ("de", "Unbeschadet des § 5 gilt das.", [one("§ 5", "internal", "", "5")]),
    ("de", "Nach § 54 Absatz 1 bis 5,\n4. nach § 3\na) für alle.", [one("§ 54 Absatz 1 bis 5", "internal", "", "54"), one("§ 3", "internal", "", "3")]),
    # Italian
    ("it", "L'articolo 17, comma 2, del codice penale.", [one("articolo 17, comma 2, del codice penale", "external", "codice penale", "17")]),
    ("it", "Gli artt. 3, 4 e 5; gli articoli da 5 a 9.", [one("artt. 3, 4 e 5", "internal", "", "3 4 5"), one("articoli da 5 a 9", "internal", "", "5..9")]),
    ("it", "Gli articoli 27, 24, comma 3, e 42 bis.", [one("articoli 27, 24, comma 3, e 42 bis", "internal", "", "27 24 42bis")]),
    ("it", "L'articolo 1, commi 9, 56 e 57, della legge 3 marzo 2005, n. 26, e l'articolo 4 della stessa legge.", [one("articolo 1, commi 9, 56 e 57, della legge 3 marzo 2005, n. 26", "external", "legge 3 marzo 2005, n. 26", "1"), one("articolo 4 della stessa legge", "external", "legge 3 marzo 2005, n. 26", "4")]),
    ("it", "I due articoli precedenti e il presente articolo.", [one("due articoli precedenti", "relative", "", "-2 -1"), one("presente articolo", "relative", "", "0")]),
    ("it", "Le norme del titolo primo del libro secondo di questo codice.", [one("titolo primo del libro secondo di questo codice", "level")]),
    ("it", "In deroga all'articolo 3 si paga.", [one("articolo 3", "internal", "", "3", "derogates")]),
    ("it", "Fatto salvo quanto previsto dall'articolo 3.", [one("articolo 3", "internal", "", "3", "exception")]),
    ("it", "Ai sensi dell'articolo 3 si paga.", [one("articolo 3", "internal", "", "3")]),
    ("it", "Le cose come definite dall'articolo 3.", [one("articolo 3", "internal", "", "3", "definition")]),
    # Dutch
    ("nl", "De artikelen 3 en 4 van Boek 7.", [one("artikelen 3 en 4 van Boek 7", "external", "Boek 7", "3 4")]),
    ("nl", "Artikel 7:201, eerste lid, en artikel 3.", [one("Artikel 7:201, eerste lid, en artikel 3", "internal", "", "7:201 3")]),
    ("nl", "De artikelen 3 tot en met 9 van de wet van 3 juli 1978 en artikel 4 van dezelfde wet.", [one("artikelen 3 tot en met 9 van de wet van 3 juli 1978", "external", "wet van 3 juli 1978", "3..9"), one("artikel 4 van dezelfde wet", "external", "wet van 3 juli 1978", "4")]),
    ("nl", "Dit artikel en het vorige artikel; deze afdeling.", [one("Dit artikel", "relative", "", "0"), one("het vorige artikel", "relative", "", "-1"), one("deze afdeling", "level")]),
    ("nl", "In afwijking van artikel 3, in de zin van artikel 4, behoudens artikel 5.", [one("artikel 3", "internal", "", "3", "derogates"), one("artikel 4", "internal", "", "4", "definition"), one("artikel 5", "internal", "", "5", "exception")]),
    # English
    ("en", "Under sections 3 to 7 of this Act.", [one("sections 3 to 7 of this Act", "internal", "", "3..7")]),
    ("en", "Article 28 TFEU applies.", [one("Article 28 TFEU", "external", "TFEU", "28")]),
    ("en", "Section 5(2)(a) of the Data Protection Act 1998 and section 9 of that Act.", [one("Section 5(2)(a) of the Data Protection Act 1998", "external", "Data Protection Act 1998", "5"), one("section 9 of that Act", "external", "Data Protection Act 1998", "9")]),
    ("en", "Section 6 of the Housing Act 1988 and Part II of this Act.", [one("Section 6 of the Housing Act 1988", "internal", "", "6"), one("Part II of this Act", "level")]),
    ("en", "In this section and the preceding section.", [one("this section", "relative", "", "0"), one("the preceding section", "relative", "", "-1")]),
    ("en", "Notwithstanding section 3 he pays.", [one("section 3", "internal", "", "3", "derogates")]),
    ("en", "Subject to section 3 he pays.", [one("section 3", "internal", "", "3", "exception")]),
    ("en", "A tenant within the meaning of section 3.", [one("section 3", "internal", "", "3", "definition")]),
    ("en", "A tenant as defined in section 3.", [one("section 3", "internal", "", "3", "definition")]),
]  # fmt: skip


@pytest.mark.parametrize(("language", "text", "wanted"), CASES, ids=[text for _, text, _ in CASES])
def test_what_a_text_refers_to(language: str, text: str, wanted: list[Read]) -> None:
    assert read(text, language) == wanted


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("fr", "Le deuxième alinéa et l'alinéa précédent s'appliquent aux 3 articles de sport."),
        ("fr", "Il paie 515 euros le 6 juillet 1989, note 2016/679, au titre de 2020."),
        ("fr", "Ce décret fixe le prix ; cette loi aussi, et l'acte de constitution."),
        ("fr", "La loi dit : « Art. 12. Il paie. »"),
        ("fr", "Il est écrit.\nArt. 12\nIl paie.\nArt. 13. - Il ne paie pas."),
        ("fr", "l'article de presse, article par article, à titre gratuit, en partie"),
        ("de", "Absatz 1 und Satz 2 gelten. Nummer 3 auch. Ein Bundesgesetz und eine Rechtsverordnung regeln."),
        ("de", "Am 1. Januar 2020 zahlt er 5 Euro. Artikel des täglichen Bedarfs."),
        ("it", "Il comma 2 e la lettera a) valgono. Paga 5 euro entro 30 giorni."),
        ("it", "TITOLO I DISPOSIZIONI GENERALI"),
        ("nl", "Het eerste lid en het tweede lid gelden. Hij betaalt 5 euro."),
        ("en", "Subsection (2) and paragraph (a) apply. He pays 5 pounds in 2020."),
    ],
)  # fmt: skip
def test_what_is_none(language: str, text: str) -> None:
    assert read(text, language) == []


def test_the_heading_of_the_article_itself_is_none() -> None:
    article = Article("a", "Codice civile", "9", "Articolo 9 Si paga come dice l'articolo 8.", language="it")
    found = ReferenceReader([article], CorpusCard("x", "Law", "it")).read(article)
    assert [reference.articles for reference in found] == [("8",)]


HOSTILE = [
    ("fr", "article "), ("fr", "article 1, "), ("fr", "article 1 à "), ("fr", "code de la maison et "),
    ("fr", "premier et "), ("fr", "titre I du "), ("fr", "du même code civil "), ("fr", "1-"), ("fr", " "),
    ("fr", "\n"), ("fr", "a"), ("fr", "convention de la x "), ("fr", "article 1 (I, "), ("fr", "titre « a "),
    ("de", "§ "), ("de", "§ 1 Abs. 1, "), ("de", "Gesetz über Haus und "), ("de", "Haus- und "), ("de", "A-"),
    ("it", "articolo 1, "), ("it", "commi 1, 2, "), ("it", "decreto del Ministro x "), ("it", "primo e "),
    ("nl", "artikel 1, "), ("nl", "Wetboek van de "), ("en", "Housing, and of the "), ("en", "section 1(a)(b)"),
]  # fmt: skip


@pytest.mark.parametrize(("language", "piece"), HOSTILE)
def test_a_text_made_to_be_slow_is_read(language: str, piece: str) -> None:
    text = piece * (100_000 // len(piece))
    article = Article("a", OWN[language], "1000", text, language=language)
    found = ReferenceReader([article], CorpusCard("x", "Law", language)).read(article)
    assert in_order(found, text)


def in_order(found: tuple[TextReference, ...], text: str) -> bool:
    places = [place for reference in found for place in (reference.start, reference.end)]
    full = all(reference.start < reference.end for reference in found)
    return full and places == sorted(places) and (not places or 0 <= places[0] <= places[-1] <= len(text))
