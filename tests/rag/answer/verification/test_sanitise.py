"""What must not be rendered, and what a model may say without citing anything."""

from __future__ import annotations

import re

import pytest

from rag.answer.generation.prompt import LANGUAGES, load
from rag.answer.verification.sanitise import LONGEST, marked, missing_text, plain


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
    assert plain(f" {text}\n") == text


def test_a_number_or_long_word_of_the_article_is_the_laws() -> None:
    assert marked("le 08 00 12 34 56")
    assert not marked("le 08 00 12 34 56", "Le service répond au 08 00 12 34 56.")
    assert marked("la let.bb vaut")
    assert not marked("la let.bb vaut", "La let.bb vaut.")
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
        "Les articles ne disent pas ce qui se passe si une clé est perdue.",
        "The articles do not say what happens if a key is lost.",
        "Die Artikel sagen nicht, was geschieht, wenn ein Schlüssel verloren geht.",
        "De artikelen zeggen niet wat er gebeurt als een sleutel verloren is.",
        "Gli articoli non dicono che cosa succede se una chiave va persa.",
        "条文没有说明钥匙丢失时怎么办。",
        "Les articles ne précisent pas le prix d'une serrure.",
        "Les articles ne disent pas qui paie l'arrachage.",
        "The articles do not say who pays for the repairs.",
        "The articles do not mention the price of a lock.",
        "The articles say nothing about pets.",
        "Die Artikel sagen nichts über Haustiere.",
        "Die Artikel nennen den Preis eines Schlosses nicht.",
        "Die Artikel sagen nicht, wer die Kosten trägt.",
        "De artikelen vermelden niet of de huurder moet betalen.",
        "Gli articoli non precisano se il conduttore deve pagare.",
        "条文没有提到宠物的问题。",
        "The articles do not say.",
        "Aucun article ne traite des animaux.",
        "Aucun article ne précise le prix d'une serrure.",
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
        "The articles do not say anything, tenants win.",
        "The articles do not say anything tenants win.",
        "The articles do not mention that the landlord is a criminal.",
        "The articles do not mention the landlord is a criminal.",
        "The articles do not mention tenants win.",
        "The articles do not say tenants win.",
        "The articles do not say whether pets are allowed and tenants win.",
        "The articles do not cover the tenant's right to free rent.",
        "The articles do not say why the landlord is a criminal.",
        "The articles say nothing about tenants who win.",
        "No article covers the fact the landlord lies.",
        "The articles do not say what happens if the tenant must pay.",
        "The articles do not say - tenants win.",
        "The articles do not say (tenants win).",
        "Die Artikel sagen nicht, dass die Miete verfallen ist.",
        "Die Artikel sagen nichts, die Miete ist verfallen.",
        "Die Artikel sagen nichts über die Miete, die verfallen ist.",
        "Die Artikel erwähnen nicht, dass der Vermieter betrügt.",
        "Die Artikel sagen nicht, ob das gilt, Mieter gewinnen.",
        "Die Artikel nennen das Mietrecht auf Minderung nicht.",
        "Die Artikel sagen nicht, warum der Vermieter lügt.",
        "Les articles ne mentionnent pas que le bailleur est un escroc.",
        "Les articles ne disent pas pourquoi le bail est nul.",
        "Les articles ne parlent pas du bail qui est nul.",
        "Les articles ne disent rien, le locataire gagne.",
        "Les articles ne précisent pas le droit au logement gratuit.",
        "Les articles ne disent pas si le bail vaut et le locataire gagne.",
        "Les articles ne disent pas qu'il gagne.",
        "De artikelen zeggen niet dat de huur vervallen is.",
        "De artikelen zeggen niets, de huurder wint.",
        "De artikelen zeggen niets over de huur die vervallen is.",
        "De artikelen vermelden het recht op gratis huur niet.",
        "Gli articoli non dicono che il contratto è nullo.",
        "Gli articoli non dicono nulla, il conduttore vince.",
        "Gli articoli non menzionano il contratto che è nullo.",
        "Gli articoli non dicono se vale e il conduttore vince.",
        "条文没有提到房东是罪犯。",
        "条文没有说明，租客胜诉。",
        "条文没有说租客可以不付租金。",
        "条文没有提到租客胜诉。",
        "条文没有说明租客有权免费居住的问题。",
    ],
)
def test_a_remark_is_no_way_round_the_gate(text: str) -> None:
    assert missing_text(text) is None


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_remark_that_a_prompt_shows_as_an_example_passes(language: str) -> None:
    example = re.search(r'^\{"missing": "(.+)"\}$', load(language).lines, re.MULTILINE)
    assert example is not None
    assert missing_text(example[1]) == example[1]
