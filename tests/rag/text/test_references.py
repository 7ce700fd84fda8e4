"""References to articles as people type them, in six languages."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag.text.code_names import CodeNames
from rag.text.references import find_references

NAMES = {
    "fr": CodeNames(
        ["Code civil", "Code du travail", "Code pénal", "Code de l'action sociale et des familles"],
        {"Code civil": ("Civil",)},
        "fr",
    ),
    "de": CodeNames(["BGB", "StGB", "SGB 2"], language="de"),
    "it": CodeNames(["Codice penale (R.D. 1398/1930)", "Codice civile"], language="it"),
    "nl": CodeNames(["Burgerlijk Wetboek", "Oud Burgerlijk Wetboek"], language="nl"),
    "en": CodeNames(["Civil Code", "Data Protection Act 1998"], language="en"),
    "zh": CodeNames(
        ["中华人民共和国民法典", "中华人民共和国刑法", "中华人民共和国民事诉讼法"], language="zh"
    ),
}
SCRAPS = [
    *(
        "art.",
        "article",
        "§",
        "5",
        "515-1",
        "L.",
        ",",
        "et",
        "du",
        "code",
        "civil",
        "BGB",
        "bis",
        "'",
        "1er",
        "(",
        ")",
    ),
    *("第", "五", "条", "民法典", "《", "》", "、"),
]
CIVIL, LABOUR = "Code civil", "Code du travail"
MINFA = "中华人民共和国民法典"


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("fr", "article 515-1 du Code civil", [("515-1", CIVIL)]),
        ("fr", "art. 515-1 C. civ.", [("515-1", CIVIL)]),
        ("fr", "que dit l’art 1240 cc ?", [("1240", CIVIL)]),
        ("fr", "art.1240 CODE CIVIL", [("1240", CIVIL)]),
        ("fr", "articles 205 et 207 du code civil", [("205", CIVIL), ("207", CIVIL)]),
        ("fr", "articles 205, 206 et 207 du code civil", [("205", CIVIL), ("206", CIVIL), ("207", CIVIL)]),
        ("fr", "515-1 code civil", [("515-1", CIVIL)]),
        ("fr", "code civil 1240", [("1240", CIVIL)]),
        ("fr", "code civil, article 1240 alinéa 2", [("1240", CIVIL)]),
        ("fr", "art L1234-5 code du travail", [("l1234-5", LABOUR)]),
        ("fr", "Art. L. 1234-5 C. trav.", [("l1234-5", LABOUR)]),
        ("fr", "que dit le L1234-5", [("l1234-5", None)]),
        ("fr", "article L. 262-2 du CASF", [("l262-2", "Code de l'action sociale et des familles")]),
        ("fr", "art. 5 du code penal et art 7 du Civil", [("5", "Code pénal"), ("7", CIVIL)]),
        ("fr", "1382", [("1382", None)]),
        ("fr", " 515-1 ? ", [("515-1", None)]),
        ("fr", "article 1er", [("1", None)]),
        ("fr", "articles 205 et 207 donnent quoi", [("205", None), ("207", None)]),
        ("fr", "articles 515-1 jusqu'à 515-7", [("515-1", None), ("515-7", None)]),
        ("fr", "article 2 bis", [("2bis", None)]),
        ("fr", "art. 205 et 3 enfants", [("205", None)]),
        ("fr", "l'article 1242 al. 1er du C. civ.", [("1242", CIVIL)]),
        ("de", "§ 573c BGB", [("573c", "BGB")]),
        ("de", "§573 c BGB", [("573c", "BGB")]),
        ("de", "§§ 433, 434 BGB", [("433", "BGB"), ("434", "BGB")]),
        ("de", "Paragraph 823 bgb", [("823", "BGB")]),
        ("de", "§ 823 Abs. 1 Satz 2 BGB", [("823", "BGB")]),
        ("de", "§ 823 I BGB", [("823", "BGB")]),
        ("de", "§ 7 SGB II", [("7", "SGB 2")]),
        ("de", "BGB § 823", [("823", "BGB")]),
        ("it", "articolo 17 codice penale", [("17", "Codice penale (R.D. 1398/1930)")]),
        ("it", "art. 2 bis c.p.", [("2bis", "Codice penale (R.D. 1398/1930)")]),
        ("it", "art. 1218 c.c.", [("1218", "Codice civile")]),
        ("nl", "artikel 6:162 BW", [("6:162", "Burgerlijk Wetboek")]),
        ("nl", "art. 1382 oud BW", [("1382", "Oud Burgerlijk Wetboek")]),
        ("en", "section 21", [("21", None)]),
        ("en", "s. 5", [("5", None)]),
        ("en", "article 12 of the Civil Code", [("12", "Civil Code")]),
        ("en", "s. 7(2)(a) DPA 1998", [("7", "Data Protection Act 1998")]),
        ("zh", "民法典第1032条", [("1032", MINFA)]),
        ("zh", "《民法典》第１０３２条第二款", [("1032", MINFA)]),
        ("zh", "第五十四条", [("54", None)]),
        ("zh", "中华人民共和国民法典第一千零三十二条", [("1032", MINFA)]),
        ("zh", "民法典第32条、第33条", [("32", MINFA), ("33", MINFA)]),
        ("zh", "民法典1032条", [("1032", MINFA)]),
        ("zh", "民法典婚姻家庭编第1042条", [("1042", MINFA)]),
        ("zh", "民诉法第一百条", [("100", "中华人民共和国民事诉讼法")]),
        ("zh", "刑法第二百三十四条之一", [("234-1", "中华人民共和国刑法")]),
    ],
)
def test_references_that_count(language: str, text: str, expected: list[tuple[str, str | None]]) -> None:
    found = find_references(text, NAMES[language])
    assert [(ref.number, ref.code) for ref in found] == expected
    assert all(text[ref.start : ref.end] == ref.text for ref in found)
    assert not any(ref.unresolved for ref in found)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("fr", "j'ai 1500 euros de dettes"),
        ("fr", "30 jours de préavis"),
        ("fr", "marié en 2019"),
        ("fr", "il a 1240 du code civil"),
        ("fr", "en 2016 le code civil a changé"),
        ("fr", "la section 2 du code"),
        ("fr", "2 enfants, 3 chiens et 100 %"),
        ("fr", ""),
        ("fr", "le 06/07/1989"),
        ("de", "ich warte 3 bis 5 Tage"),
        ("en", "the landlord's 5 rooms"),
        ("zh", "我借了3000元"),
        ("zh", "有3条狗"),
    ],
)
def test_numbers_that_do_not(language: str, text: str) -> None:
    assert find_references(text, NAMES[language]) == ()


@pytest.mark.parametrize(
    ("language", "text", "named"),
    [
        ("fr", "article 7 de la loi du 6 juillet 1989", "loi du 6 juillet 1989"),
        ("fr", "article 12 du code de la route", "code de la route"),
        ("fr", "article 700 CPC", "CPC"),
        ("fr", "article 22 loi 6 juillet 1989", "loi 6 juillet 1989"),
        ("fr", "article 22 loi de 1989", "loi de 1989"),
        ("fr", "loi du 6 juillet 1989, article 22", "loi du 6 juillet 1989"),
        ("fr", "L. 1234-9 du code des poissons", "code des poissons"),
        ("fr", "article L. 1234-9 du code de commerce", "code de commerce"),
        ("de", "Art. 14 GG", "GG"),
        ("de", "§ 9 EnWG", "EnWG"),
        ("it", "art. 3 d.lgs. 81/2008", "d.lgs. 81/2008"),
        ("nl", "artikel 5 lid 2 Huisvestingswet", "Huisvestingswet"),
        ("en", "section 21 of the Rent Act 1977", "Rent Act 1977"),
        ("zh", "劳动合同法第三十九条", "劳动合同法"),
        ("zh", "《没有的条例》第五条", "《没有的条例》"),
    ],
)
def test_a_law_that_is_not_loaded_is_said_to_be(language: str, text: str, named: str) -> None:
    [found] = find_references(text, NAMES[language])
    assert found.unresolved
    assert (found.code, found.code_named) == (None, named)


def test_only_the_end_of_a_range_is_told_to_be_one() -> None:
    for text in ("articles 515-1 à 515-7", "articles 515-1 à 515-7 du code civil et pacs"):
        assert [ref.through for ref in find_references(text, NAMES["fr"])] == [False, True]
    assert [ref.through for ref in find_references("art. 205, 206 et 207", NAMES["fr"])] == [False] * 3


@pytest.mark.parametrize("language", NAMES)
@settings(max_examples=60, deadline=None)
@given(text=st.one_of(st.text(max_size=60), st.lists(st.sampled_from(SCRAPS), max_size=14).map(" ".join)))
def test_references_stand_in_the_text_and_apart(language: str, text: str) -> None:
    found = find_references(text, NAMES[language])
    assert all(text[ref.start : ref.end] == ref.text and ref.number for ref in found)
    assert all(a.end <= b.start for a, b in pairwise(found))


def test_a_long_question_is_read_fast() -> None:
    assert find_references("article " * 10_000 + "5", NAMES["fr"]) == ()
    assert find_references("1 et " * 10_000, NAMES["fr"]) == ()
    assert len(find_references("article 1 et " + "2 et " * 10_000, NAMES["fr"])) > 100


def test_a_code_between_two_numbers_goes_to_the_first() -> None:
    found = find_references("0 民法典 0", NAMES["zh"])
    assert [(ref.start, ref.end) for ref in found] == [(0, 5), (6, 7)]
