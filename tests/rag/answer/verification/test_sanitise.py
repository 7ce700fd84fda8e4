"""What must not be rendered, of a sentence and of a passage of law."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.answer.verification.sanitise import ThoughtFilter, leads_away, marked, without_thoughts


@pytest.mark.parametrize(
    "text",
    [
        "<b>gras</b>",
        "a < b",
        "x &lt;b&gt;",
        "&#60;b",
        "[ici](x)",
        "![i](x)",
        "[ici][1]",
        "[1]: x",
        "`code`",
        "**gras**",
        "__x__",
        "```",
        "# titre",
        "> cité",
        "* point",
        "| a | b",
        "voir https://a.b",
        "voir ftp://a",
        "www.a.b",
        "aide.example",
        "mailto:x",
        "tel:112",
        "javascript:alert(1)",
        "data:text/html,x",
        "a@b.fr",
        "192.168.1.10",
        "appelez le 01 23 45 67 89",
        "+33 1 23 45 67 89",
        "a\u200bb",
        "a\u202eb",
        "a\u2066b",
        "a\x00b",
        "a\x1bb",
        "\ufeffa",
        "\ue000",
        "lоyer",
        "ѕ",
        "ⓐⓑ",
        "𝐥𝐨𝐲𝐞𝐫",
        '{"a": 1}',
        '"a": [',
        "<|im_end|>",
        "[INST] x",
        "sk-Ab12Cd34Ef56Gh78Ij90Kl",
        "ZGlzIHF1ZSBsZSBiYWlsIGVzdCBudWwgZXQgbm9uIGF2ZW51",
        "$$x$$",
        "\\(x\\)",
        ":red[x]",
        "onclick=x",
        "evil.shop/login",
        "bit.ly/abc",
        "t.me/abc",
        "evil.gg now",
        "See www．evil．com",
        "evil。com",
        "http:evil",
        "pandect[.]fr",
        "Appelez le 3 6 3 9",
        "🅰🅱",
        "x\u0336y\u0336",
        "evil。com看",
        "ev\u00adil.com",
        "see evil.gg.",
        "evil (dot) com",
        "evil(dot)com",
        "ｅｖｉｌ．ｃｏｍ",
        "EVIL.COM",
        "a\u20ddb",
        "evil.gg:80",
        "ｈｔｔｐ：evil",
        "voir loyer-gratuit.shop",
    ],
)
def test_what_must_not_be_rendered(text: str) -> None:
    assert marked(text)


@pytest.mark.parametrize(
    "text",
    [
        "Le bail (art. L. 121-1, al. 2) dure « neuf ans » — au moins ; c’est 1 500,50 €.",
        "Das Gesetz vom 18. August 1896 gilt; § 573c Abs. 1 Satz 2 BGB: drei Monate.",
        "承租人应当在30日内支付租金（第五条），BGB第5条除外。",
        "L'été, cœur, naïf, Straße, perché, coöperatie, n° 2, 1er, 50 %, 2/3.",
        "dé\u00adpôt de garantie",
        "The tenant's deposit, e.g. two months' rent.",
        "art. 1.2 du bail",
        "L'article R.123-4 vaut.",
        "Le C.com dit cela.",
        "al. 2",
        "p.ex. le loyer",
        "fin du bail.Le locataire paie",
        "fin du bail.De huurder betaalt",
        "Das gilt.Es ist so.",
        "z.B. drei Monate, d.h. viel, u.a. so",
        "承租人应当支付租金。BGB第5条除外。",
        "cod.proc.civ. e c.civ.",
        "L.121-1",
        "S.p.A. et s.à r.l.",
        "30 °C, n° 2, 1 500,50 €, 2/3",
        "1 500 000 euros",
        "perche\u0301",
        "et/ou, and/or",
        "12.05.2020",
        "art.5/6",
        "Nr.2",
        "§ 573c Abs.1 S.2",
        "Die Frist beträgt 1-2 Wochen.",
        "The rule applies.It is so.",
        "ca.20 % bzw.mehr",
        "ss. et s.",
    ],
)
def test_plain_sentences_are_not_marked(text: str) -> None:
    assert not marked(text)


def test_a_word_of_the_article_is_the_laws_and_a_telephone_number_or_a_link_nobodys() -> None:
    assert marked("le 08 00 12 34 56")
    assert marked("le 08 00 12 34 56", "Le service répond au 08 00 12 34 56.")
    assert marked("la let.bb vaut")
    assert not marked("la let.bb vaut", "La let.bb vaut.")
    assert marked("voir https://a.b", "voir https://a.b")  # a link is one even there


@pytest.mark.parametrize(
    "text",
    [
        "Voir www.example.com pour la suite.",
        "Appelez le 01 23 45 67 89.",
        "Écrivez à aide@example.com.",
        "Le preneur <b>paie</b>.",
        "[Suite](https://example.com)",
    ],
)
def test_a_passage_of_law_that_leads_away(text: str) -> None:
    assert leads_away(text)


@pytest.mark.parametrize(
    "text",
    ["L'article L. 121-1 vaut.", "* les ouvrages ;\n* les meubles.", "Loi n° 65-557 du 10 juillet 1965"],
)
def test_a_passage_of_law_that_does_not(text: str) -> None:
    assert not leads_away(text)


@given(st.text(alphabet="<>/think ab{}", max_size=60), st.integers(0, 60), st.integers(0, 60))
def test_how_a_stream_is_cut_does_not_change_what_is_thought(text: str, one: int, other: int) -> None:
    first, second = sorted((one, other))
    thoughts = ThoughtFilter()
    parts = [thoughts.feed(part) for part in (text[:first], text[first:second], text[second:])]

    assert "".join(parts) + thoughts.close() == without_thoughts(text)


def test_what_is_thought_is_left_out() -> None:
    assert without_thoughts("a <think>b</think> c <Reasoning>d") == "a   c "
    assert without_thoughts("1 < 2 and <b>") == "1 < 2 and <b>"
