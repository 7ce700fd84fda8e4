"""References resolved in a corpus: by number, code and neighbour; nothing is made up."""

from __future__ import annotations

import re
import tomllib
from datetime import date
from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.corpus.card import CorpusCard
from rag.errors import BadInput
from rag.graph.references.grammar import LANGUAGES, load_grammar
from rag.graph.references.reader import LONGEST_RANGE, ReferenceReader
from rag.types import Article
from tests.rag.graph.references.test_latin import in_order

CIVIL, LABOUR, RENTS = "Code civil", "Code du travail", "Loi n° 89-462 du 6 juillet 1989 (rapports locatifs)"
NUMBERS = ("1", "2", "2 bis", "3", "L123-4-1", "L123-4-2", "L123-5", "10")
LAW = [
    *(Article(f"c{n}", CIVIL, number, "Rien.") for n, number in enumerate(NUMBERS)),
    *(Article(f"t{n}", LABOUR, number, "Rien.") for n, number in enumerate(NUMBERS)),
    Article("r0", RENTS, "7", "Rien."),
]
_CLASS = re.compile(r"(?<!\\)\[[^\]]*\]")
CARD = CorpusCard("x", "Codes", "fr", aliases={LABOUR: ("CdT",)})


def found(text: str, at: str = "c0", law: list[Article] | None = None, card: CorpusCard = CARD) -> list[str]:
    articles = law or LAW
    place = next(n for n, each in enumerate(articles) if each.id == at)
    old = articles[place]
    article = Article(at, old.code, old.article_no, text, valid_from=old.valid_from, language=old.language)
    reader = ReferenceReader([*articles[:place], article, *articles[place + 1 :]], card)
    return [articles[to].id for each in reader.read(article) for to in reader.resolve(article, each)]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("L'article 2.", ["c1"]),
        ("Les articles 2 à 3 et 10.", ["c1", "c2", "c3", "c7"]),
        ("Les articles L. 123-4-1 à L. 123-5.", ["c4", "c5", "c6"]),
        ("Les articles 3 à 2.", ["c3", "c1"]),  # no range: its ends
        ("L'article 2 du code du travail.", ["t1"]),
        ("L'article 2 du CdT.", ["t1"]),
        ("L'article 7 de la loi n° 89-462 du 6 juillet 1989 et l'article 7 de la même loi.", ["r0", "r0"]),
        ("L'article 2 du code de la route et l'article 2 de la loi n° 75-1 du 6 juillet 1989.", []),
        ("L'article 99.", []),
        ("Le présent titre, le code du travail.", []),
        ("L'article 123-5.", ["c6"]),  # its letter left out
    ],
)
def test_what_is_meant(text: str, wanted: list[str]) -> None:
    assert found(text) == wanted


def test_neighbours_are_of_the_same_code() -> None:
    assert found("L'article précédent, les deux articles suivants, le présent article.", "c1") == [
        "c0",
        "c2",
        "c3",
        "c1",
    ]
    assert found("L'article précédent.", "t0") == []
    assert found("L'article suivant.", "c7") == []


def test_a_range_that_is_too_long_is_its_ends() -> None:
    law = [Article(str(n), CIVIL, str(n + 1), "Rien.") for n in range(LONGEST_RANGE + 5)]
    assert found("Les articles 2 à 400.", "0", law) == [str(n) for n in range(1, 400)]
    assert found(f"Les articles 2 à {LONGEST_RANGE + 3}.", "0", law) == ["1", str(LONGEST_RANGE + 2)]


def test_the_version_of_the_day_is_meant() -> None:
    day = date(2020, 1, 1)
    law = [
        Article("a", CIVIL, "1", "Rien.", valid_from=date(2021, 5, 5)),
        Article("b", CIVIL, "2", "Rien.", valid_to=day),
        Article("c", CIVIL, "2", "Rien.", valid_from=day),
        Article("d", CIVIL, "3", "Rien.", valid_from=date(2019, 1, 1)),
    ]
    assert found("Voir l'article 2.", "a", law) == ["c"]
    assert found("Voir l'article 2.", "d", law) == ["b"]
    assert found("Voir l'article précédent.", "d", law) == ["b"]


def test_each_article_is_read_in_its_language() -> None:
    law = [
        Article("f", CIVIL, "1", "Rien.", language="fr"),
        Article("d", "BGB", "1", "Nichts.", language="de"),
        Article("e", "BGB", "2", "Nichts.", language="de"),
        Article("z", "民法典", "第一条", "无。", language="zh"),
        Article("y", "民法典", "第二条", "无。", language="zh"),
    ]
    assert found("Nach § 2.", "d", law) == ["e"]
    assert found("Vu l'article 2 du BGB.", "f", law) == ["e"]
    assert found("依照本法第二条。", "z", law) == ["y"]
    unknown = [Article("p", "Kodeks", "1", "Artykuł 1.", language="pl")]
    assert found("Artykuł 1, article 1, § 1.", "p", unknown) == []


def test_a_language_without_a_grammar_is_told() -> None:
    with pytest.raises(BadInput, match=r"'pl'.*fr, nl, it, de, en"):
        load_grammar("pl")


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_grammar_has_no_blank_in_a_character_class(language: str) -> None:
    source = (files("rag.graph.references") / f"grammars/{language}.toml").read_text(encoding="utf-8")
    tables = [tomllib.loads(source)]
    while tables:
        values = tables.pop().values()
        tables += [value for value in values if isinstance(value, dict)]
        patterns = [each for value in values if isinstance(value, list) for each in value]
        assert not [each for each in patterns if any("_" in found for found in _CLASS.findall(each))]


PIECES = st.sampled_from(
    [
        "article ", "articles ", "1", "L. 12-3", " à ", ", ", " et ", "§ ", "§§ ", "Abs. 2 ",
        " du code civil", " BGB", "art. ",
        "articolo ", "comma 2", "sections ", " of the ", "précédent", "deux ", "présent ",
        "titre II ", "\n", "\u00a0", "»", "bis ", "premier", "du même code", "artikel ", "Act 1998",
        "loi n° 1 du 2 mai 2000", "Artikel 3 ", "第二条", "İ", "ﬁ", "²",
    ]
)  # fmt: skip


@given(
    st.sampled_from([*LANGUAGES, "zh"]), st.text(max_size=200) | st.lists(PIECES, max_size=30).map("".join)
)
def test_any_text_is_read_in_order_and_resolved(language: str, text: str) -> None:
    article = Article("a", CIVIL, "1", text, language=language)
    reader = ReferenceReader([article, *LAW], CARD)
    references = reader.read(article)
    assert in_order(references, text)
    for reference in references:
        positions = reader.resolve(article, reference)
        assert len(set(positions)) == len(positions)
        assert all(0 <= position <= len(LAW) for position in positions)
        assert bool(reference.articles) == (reference.kind in ("internal", "external", "relative"))
        assert bool(reference.law) == (reference.kind in ("external", "law")) or reference.kind == "level"
