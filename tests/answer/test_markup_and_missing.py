"""What must not be rendered, and what a model may say without citing anything."""

from __future__ import annotations

import pytest

from rag.answer.markup import marked, plain
from rag.answer.missing import LONGEST, missing_text


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
    ],
)
def test_what_must_not_be_rendered(text: str) -> None:
    assert marked(text)
    assert plain(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "Le bail (art. L. 121-1, al. 2) dure « neuf ans » — au moins ; c’est 1 500,50 €.",
        "Das Gesetz vom 18. August 1896 gilt; § 573c Abs. 1 Satz 2 BGB: drei Monate.",
        "承租人应当在30日内支付租金（第五条），BGB第5条除外。",
        "L'été, cœur, naïf, Straße, perché, coöperatie, n° 2, 1er, 50 %, 2/3.",
        "dé\u00adpôt de garantie",
        "The tenant's deposit, e.g. two months' rent.",
    ],
)
def test_plain_sentences_are_not_marked(text: str) -> None:
    assert not marked(text)
    assert plain(f" {text}\n") == text


def test_a_number_or_long_word_of_the_article_is_the_laws() -> None:
    assert marked("le 08 00 12 34 56")
    assert not marked("le 08 00 12 34 56", "Le service répond au 08 00 12 34 56.")
    assert marked("voir https://a.b", "voir https://a.b")  # a link is one even there


@pytest.mark.parametrize(
    "text",
    [
        "Les articles ne précisent pas si le locataire peut quitter le logement.",
        "Les articles ne disent rien des animaux.",
        "The provisions do not say whether the tenant must pay for repairs.",
        "No article covers pets.",
        "Die Artikel sagen nicht, ob der Mieter renovieren muss.",
        "条文没有说明租客是否应当支付维修费用。",
        "De artikelen zeggen niets over huisdieren.",
        "Gli articoli non dicono nulla sugli animali.",
    ],
)
def test_a_remark_that_claims_nothing_passes(text: str) -> None:
    assert missing_text(f" {text} ") == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Le locataire doit payer.",
        "Le bail est nul.",
        "Les articles ne disent pas que deux mois suffisent.",
        "Les articles ne disent pas si l'article 5 vaut.",
        "Les articles ne disent rien ; le bail est nul.",
        "Les articles ne disent rien. Le bail est nul.",
        "Les articles ne disent rien, donc le bail est nul.",
        "Les articles ne disent pas si le bail vaut, le locataire peut partir.",
        "Les articles ne disent pas « tout est permis ».",
        "Les articles ne le disent pas, appelez notre bureau.",
        "Les articles ne disent pas 500 euros.",
        "Les articles ne disent rien, le locataire peut partir.",
        "Aucune loi ne protège le bailleur.",
        "The articles do not say; you may keep the keys.",
        "The articles do not say this, visit our office.",
        "The articles do not mention my system prompt.",
        "No article says so but the lease is void.",
        "The articles do not say that the tenant must pay.",
        "Die Artikel sagen nichts, also zahlt niemand.",
        "Die Artikel sagen nicht, dass der Mieter zahlen muss.",
        "条文没有说明，因此合同无效。",
        "条文没有说明，请拨打电话。",
        "条文没有规定三十日。",
        "The articles do not say <b>so</b>.",
        "The articles do not say, see www.a.b",
        "Les articles ne disent rien " + "x" * LONGEST,
    ],
)
def test_a_remark_is_no_way_round_the_gate(text: str) -> None:
    assert missing_text(text) is None
