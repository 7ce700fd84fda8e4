"""Chinese references: sentences written for the test, each with what a reader of the law would mark."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.graph.references.chinese import chinese_code, chinese_short_names, read_chinese
from rag.graph.references.chinese_grammar import chinese_grammar
from rag.graph.references.reference import TextReference
from rag.text.code_names import CodeNames

OWN = "苹果买卖条例"
CODES = (
    "中华人民共和国刑法",
    "中华人民共和国民法典（2020年）",
    "中华人民共和国公司法",
    "中华人民共和国立法法",
    "中华人民共和国专利法",
    "最高人民法院关于适用《中华人民共和国公司法》若干问题的规定（二）",
    OWN,
)
NAMES = CodeNames(CODES, chinese_short_names(CODES), "zh")
GRAMMAR = chinese_grammar(NAMES)


def read(text: str, own: str = OWN) -> list[tuple[str, str, str, str]]:
    """Return the references as their words, kind, law and articles."""
    found = read_chinese(text, GRAMMAR, own)
    return [(text[r.start : r.end], r.kind, r.law, " ".join(r.articles)) for r in found]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("卖方违反本法第十二条第二款的", ("本法第十二条第二款", "internal", "", "12")),
        ("适用本条例第三条至第七条。", ("本条例第三条至第七条", "internal", "", "3..7")),
        ("依照第三、四条办理", ("第三、四条", "internal", "", "3 4")),
        ("依照本办法第一至第三条办理", ("本办法第一至第三条", "internal", "", "1..3")),
        (
            "按本法第十二条、第十三条和第十五条第一款办",
            ("本法第十二条、第十三条和第十五条第一款", "internal", "", "12 13 15"),
        ),
        (
            "本法第八条，第九条第二款，第十条的规定",
            ("本法第八条，第九条第二款，第十条", "internal", "", "8 9 10"),
        ),
        ("有第一百二十条之一情形", ("第一百二十条之一", "internal", "", "120-1")),
        ("有第１２０条第（三）项情形", ("第１２０条第（三）项", "internal", "", "120")),
        ("数量达到第二条第（一）项两项以上", ("第二条第（一）项", "internal", "", "2")),
        ("参照本法第二章第九条", ("本法第二章第九条", "internal", "", "9")),
        ("以前条规定的价格为准", ("前条", "relative", "", "-1")),
        ("前两条第一款的果农", ("前两条第一款", "relative", "", "-2 -1")),
        ("违反本条前款的", ("本条前款", "relative", "", "0")),
        ("见下一条第二项", ("下一条第二项", "relative", "", "+1")),
        ("实施本解释前五条的行为", ("本解释前五条", "relative", "", "-5 -4 -3 -2 -1")),
        ("依照本法制定果园规则", ("本法", "level", "", "")),
        ("构成本法规定的欺诈", ("本法", "level", "", "")),
        ("本实施细则由果业局解释", ("本实施细则", "level", "", "")),
        ("适用本章第一节至第三节", ("本章第一节至第三节", "level", "", "")),
        ("适用刑法分则第三章", ("刑法分则第三章", "level", "刑法", "")),
        ("适用刑法第三章、第二百条", ("刑法第三章、第二百条", "external", "刑法", "200")),
        ("根据《水果法》，制定", ("《水果法》", "law", "水果法", "")),
        ("依照立法法第五条", ("立法法第五条", "external", "立法法", "5")),
        ("依照专利法实施细则第五条", ("专利法实施细则第五条", "external", "专利法实施细则", "5")),
        ("按照果树法第三条付款", ("果树法第三条", "external", "果树法", "3")),
        (
            "依照《关于适用〈公司法〉的规定（二）》第三条",
            ("《关于适用〈公司法〉的规定（二）》第三条", "external", "关于适用〈公司法〉的规定（二）", "3"),
        ),
        (
            "依照《中华人民共和国刑法》第七十八条第二款、第八十一条第一款减刑",
            (
                "《中华人民共和国刑法》第七十八条第二款、第八十一条第一款",
                "external",
                "中华人民共和国刑法",
                "78 81",
            ),
        ),
        ("违反《苹果买卖条例》第四条", ("《苹果买卖条例》第四条", "internal", "", "4")),
        ("原《苹果买卖条例》同时废止", ("《苹果买卖条例》", "law", "苹果买卖条例", "")),
        ("依照该法第三条处理", ("该法第三条", "external", "?", "3")),
    ],
)
def test_one_reference(text: str, expected: tuple[str, str, str, str]) -> None:
    assert read(text) == [expected]


@pytest.mark.parametrize(
    "text",
    [
        "依照前款办理，第二款、第（三）项另算。",  # paragraphs of the same article
        "具备下列基本条件，符合基本规定和成本规则",
        "公司法人和公司法定代表人填写《苹果登记表》",
        "签订以下条款，按不同法律处理，该法院、该规定",
        "第五条 卖方应当交付苹果。",  # its own number
        "修改为：“第五条 卖方应当交付苹果。”",
        "《没有写完的题目",
        "第三款第三人第三级",
        "",
    ],
)
def test_no_reference(text: str) -> None:
    assert read(text) == []


def test_an_article_of_an_annex_is_none_of_the_law() -> None:
    assert read("违反本规定附录第三条的") == [("本规定", "level", "", "")]


def test_the_law_changes_within_a_list() -> None:
    assert read("依照本法第三十条、《公司法》第十二条和本章规定") == [
        ("本法第三十条", "internal", "", "30"),
        ("《公司法》第十二条", "external", "公司法", "12"),
        ("本章", "level", "", ""),
    ]


def test_an_article_alone_is_of_the_law_of_the_article_before_it_in_its_sentence() -> None:
    text = (
        "符合刑法第三条规定的盗窃罪、第四条规定的诈骗罪的，从重。符合第五条的，依照刑法从轻，按第六条登记。"
    )
    assert [law for *_, law, _ in read(text)] == ["刑法", "刑法", "", "刑法", ""]


def test_the_same_law_is_the_one_named_before() -> None:
    text = "依照公司法第三条设立，本条例没有规定的，适用同法第五条；合同法第六条除外，该法另有规定。"
    assert [law for *_, law, _ in read(text)] == ["公司法", "", "公司法", "合同法", "合同法"]


def test_a_short_name_stands_for_the_law_it_was_given_to() -> None:
    text = "根据《果树保护法》（以下简称《树法》）第三条，制定本条例。《树法》没有规定的，适用树法第九条。"
    assert read(text) == [
        ("《果树保护法》（以下简称《树法》）第三条", "external", "果树保护法", "3"),
        ("本条例", "level", "", ""),
        ("《树法》", "law", "果树保护法", ""),
        ("树法第九条", "external", "果树保护法", "9"),
    ]


@pytest.mark.parametrize(
    ("text", "role"),
    [
        ("除本法第三条规定的情形外，不得退货", "exception"),
        ("卖方应当退款，但是本条例另有规定的除外", "exception"),
        ("除依照本法第三条退款外，还应当赔偿", ""),
        ("卖给邻居的苹果，不适用本法第三条", "derogates"),
        ("退货不受本法第三条规定期限的限制", "derogates"),
        ("本法第三条的规定不适用于梨", "derogates"),
        ("果业局不再受理本法第三条的申请", ""),
        ("本法所称苹果，是指成熟的果实", "definition"),
        ("本法第三条规定的“成熟”，是指变红", "definition"),
        ("解除本法第三条的合同以外的合同", ""),
        ("依照本法第三条付款", ""),
    ],
)
def test_role(text: str, role: str) -> None:
    assert [reference.role for reference in read_chinese(text, GRAMMAR, OWN)] == [role]


@pytest.mark.parametrize(
    ("law", "code"),
    [
        ("刑法", CODES[0]),
        ("《中华人民共和国刑法》", CODES[0]),
        ("中华人民共和国刑法（2018修正）", CODES[0]),
        ("民法典", CODES[1]),
        ("中华人民共和国民法典（2020年）", CODES[1]),
        ("最高人民法院关于适用〈中华人民共和国公司法〉若干问题的规定(二)", CODES[5]),
        ("关于适用《中华人民共和国公司法》若干问题的规定（二）", CODES[5]),
        ("水果法", None),
        ("", None),
    ],
)
def test_a_law_resolves_against_a_corpus(law: str, code: str | None) -> None:
    assert chinese_code(law, NAMES) == code


def in_order(found: Sequence[TextReference], length: int) -> bool:
    ends = [0, *(reference.end for reference in found)]
    starts = [*(reference.start for reference in found), length]
    return all(end <= start for end, start in zip(ends, starts, strict=True))


WORDS = (
    "第 一 十 条 之 款 、 至 ， 。 本 前 法 同 《 》 〈 〉 （ ） 刑法 章 除 外 以下简称 规定 不适用 1 １ 𠀀 a"
)
PIECES = st.sampled_from([*WORDS.split(), "\n", " "])


@given(st.one_of(st.text(), st.lists(PIECES, max_size=60).map("".join)), st.text(max_size=8))
def test_any_text_is_read(text: str, own: str) -> None:
    found = read_chinese(text, GRAMMAR, own)
    assert in_order(found, len(text))
    assert all(reference.start < reference.end for reference in found)


@pytest.mark.slow
@pytest.mark.parametrize(
    "piece",
    [
        "第一、",
        "第一条",
        "《",
        "《刑法",
        "法",
        "除第一条",
        "第一条第一款、",
        "（以下简称刑法）",
        "但第一条除外",
    ],
)
def test_a_long_text_of_one_piece_is_read(piece: str) -> None:
    text = (piece * 100_000)[:100_000]
    assert in_order(read_chinese(text, GRAMMAR, OWN), len(text))
