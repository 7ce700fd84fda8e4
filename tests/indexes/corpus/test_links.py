"""Which articles refer to each other: read from texts by hand, and never out of bounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexes.corpus.links import ROLES, read_references
from rag.corpus.card import CorpusCard
from rag.types import Article

CARDS = {language: CorpusCard(language, "Codes", language) for language in ("fr", "de", "zh", "it")}
CIVIL, LABOUR = "Code civil", "Code du travail"
OWN = "安全生产许可证条例"
NUMBERS = ("1", "2", "3", "4", "205")


def law(*texts: str, code: str = CIVIL) -> list[Article]:
    return [Article(f"{code}-{n}", code, n, text) for n, text in zip(NUMBERS, texts, strict=False)]


def named(articles: Sequence[Article], language: str = "fr") -> list[tuple[str, str]]:
    ids = [article.id for article in articles]
    return [(ids[a], ids[b]) for a, b in read_references(articles, CARDS[language]).pairs.tolist()]


def test_a_number_alone_is_of_the_same_code_and_another_code_is_named() -> None:
    civil = law("Comme l'article 2 le dit.", "Rien.", "Voir l'article 2 du code du travail et l'article 1.")
    both = [*civil, *law("L'article 2.", "Rien.", code=LABOUR)]
    assert named(both) == [
        ("Code civil-1", "Code civil-2"),
        ("Code civil-3", "Code du travail-2"),
        ("Code civil-3", "Code civil-1"),
        ("Code du travail-1", "Code du travail-2"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Voir l'article 9.",  # no such article
        "Voir l'article 2 du code de la route.",  # a law that is not loaded
        "Il doit 2 euros.",
        "L'ancien article 2.",
        "Le présent article 1.",  # itself
    ],
)
def test_what_names_no_article_of_the_law(text: str) -> None:
    assert named(law(text, "Rien.")) == []


def test_ranges_and_repeats() -> None:
    assert named(law("Les articles 2 à 4, et encore l'article 3.", "a", "b", "c")) == [
        ("Code civil-1", "Code civil-2"),
        ("Code civil-1", "Code civil-3"),
        ("Code civil-1", "Code civil-4"),
    ]


def test_a_long_text_is_read_to_its_end() -> None:
    line = "Ceci ne dit rien du tout.\n"
    long = line * 200 + "Voir l'article 2.\n" + "sans point " * 2000 + "article 3"
    assert named(law(long, "Rien.", "Rien.")) == [("Code civil-1", f"Code civil-{n}") for n in (2, 3)]


def test_other_languages() -> None:
    german = law("Das gilt nach § 2 Absatz 1.", "Nichts.", code="Bürgerliches Gesetzbuch")
    assert [pair[1][-1] for pair in named(german, "de")] == ["2"]
    chinese = [Article("a", "民法典", "第一条", "依照本法第二条。"), Article("b", "民法典", "第二条", "无。")]
    assert named(chinese, "zh") == [("a", "b")]


@pytest.mark.parametrize(
    "text",
    [
        "违反本条例第二条",
        "但当事人依照本法第二条的规定",
        "依照本规定第二条",
        "本实施细则第二条所称",
        "按照本解释第二条处理",
    ],
)
def test_a_law_means_itself_however_it_says_so(text: str) -> None:
    law_ = [Article("a", OWN, "第一条", text), Article("b", OWN, "第二条", "无。")]
    assert named(law_, "zh") == [("a", "b")]


@pytest.mark.parametrize(
    "text", ["依照香港特别行政区基本法第二条", "依照《未知的法律》第二条", "依照日本法第二条"]
)
def test_another_law_is_not_taken_for_its_own(text: str) -> None:
    law_ = [Article("a", OWN, "第一条", text), Article("b", OWN, "第二条", "无。")]
    assert named(law_, "zh") == []


def test_in_english_too() -> None:
    act = law("As section 2 of this Act says.", "Nothing.", code="Housing Act 1988")
    assert [b for _, b in read_references(act, CorpusCard("en", "Acts", "en")).pairs.tolist()] == [1]


def test_where_each_pair_is_first_made_and_what_for() -> None:
    text = "Par dérogation à l'article 2, vu les articles 2 et 205."
    articles = law(text, "Rien.", "Voir l'article 2.", "Rien.", "Rien.")
    read = read_references(articles, CARDS["fr"])
    assert (
        read.pairs.tolist()
        == read_references(articles, CARDS["fr"]).pairs.tolist()
        == [[0, 1], [0, 4], [2, 1]]
    )
    assert [articles[i].text[a:b] for (i, _), (a, b) in zip(read.pairs, read.spans, strict=True)] == [
        "article 2", "articles 2 et 205", "article 2"
    ]  # fmt: skip
    assert [ROLES[role] for role in read.roles] == ["derogates", "", ""]
    assert (read.spans.dtype, read.roles.dtype) == ("int32", "int8")
    some = read_references(articles, CARDS["fr"], of=[2])
    assert (some.pairs.tolist(), some.spans.tolist()) == ([[2, 1]], [[7, 16]])


def test_pairs_of_the_source_have_their_place_in_the_text_where_it_makes_them() -> None:
    articles = law("Sauf l'article 2 et l'article 3.", "Rien.", "Rien.", "Rien.")
    given_ = [replace(articles[0], references=("Code civil-4", "Code civil-2")), *articles[1:]]
    read = read_references(given_, CARDS["fr"])
    assert read.pairs.tolist() == read_references(given_, CARDS["fr"]).pairs.tolist() == [[0, 3], [0, 1]]
    assert read.spans.tolist() == [[-1, -1], [7, 16]]
    assert [ROLES[role] for role in read.roles] == ["", "exception"]


def test_an_act_that_marks_some_references_has_the_others_by_its_text() -> None:
    articles = law("Voir l'article 2.", "Voir l'article 1.", "Rien.")
    marked = [replace(articles[0], references=("Code civil-3", "Code civil-2")), *articles[1:]]
    akn = replace(CARDS["fr"], origin="akoma-ntoso")
    read = read_references(marked, akn)
    assert read.pairs.tolist() == read_references(marked, akn).pairs.tolist() == [[0, 2], [0, 1], [1, 0]]
    assert read.spans.tolist() == [[-1, -1], [7, 16], [7, 16]]
    assert read_references(marked, akn, of=[1]).pairs.tolist() == [[1, 0]]


def test_what_the_source_says_goes_before_what_is_read() -> None:
    read = law("Voir l'article 2.", "Voir l'article 1.", "Rien.")
    given_ = [
        replace(read[0], references=("Code civil-3", "elsewhere", "Code civil-1", "Code civil-3")),
        *read[1:],
    ]
    assert named(given_) == [("Code civil-1", "Code civil-3")]
    assert read_references([], CARDS["fr"]).pairs.shape == (0, 2)


@given(
    st.sampled_from(sorted(CARDS)),
    st.lists(
        st.text() | st.sampled_from(["article 1, 2 et 205", "§ 3", "第四条", "art. 1 à 205"]), max_size=5
    ),
)
def test_no_pair_is_out_of_bounds_or_of_one_article_or_there_twice(language: str, texts: list[str]) -> None:
    articles = law(*texts)
    pairs = read_references(articles, CARDS[language]).pairs.tolist()
    assert all(0 <= a < len(articles) and 0 <= b < len(articles) and a != b for a, b in pairs)
    assert len(set(map(tuple, pairs))) == len(pairs)
    assert [a for a, _ in pairs] == sorted(a for a, _ in pairs)
