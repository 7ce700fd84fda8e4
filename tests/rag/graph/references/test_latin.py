"""References in five languages: which expressions are read, and what they name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

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


_MARKED = re.compile(r"\[([^\]]*)\]")


def sentences() -> Iterator[tuple[str, str, list[Read]]]:
    """Yield the language, the text and the references of each sentence of sentences.txt."""
    lines = Path(__file__).with_name("sentences.txt").read_text(encoding="utf-8").splitlines()
    rows = iter([line.replace("\\n", "\n") for line in lines if line and not line.startswith("#")])
    for row in rows:
        language, _, marked = row.partition(": ")
        wanted: list[Read] = []
        for found in _MARKED.finditer(marked):
            kind, numbers, law, role = [*(part.strip() for part in next(rows).split("|")), "", "", ""][:4]
            wanted.append((found[1], kind, law, tuple(numbers.split()), role))
        yield language, _MARKED.sub(r"\1", marked), wanted


CASES = list(sentences())


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
        ("de", "Absatz 1 und Satz 2 gelten. Nummer 3 auch. Ein Bundesgesetz regelt es."),
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
    ("nl", "artikel 1, "), ("nl", "Wetboek van de "), ("en", "Housing, and of the "),
    ("en", "section 1(a)(b)"),
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
