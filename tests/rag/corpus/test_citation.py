from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.corpus.card import CorpusCard
from rag.corpus.citation import citation, numeral
from rag.text.article_numbers import chinese_number
from rag.types import Article


@pytest.mark.parametrize(
    ("country", "language", "code", "number", "cited"),
    [
        ("FR", "fr", "Code civil", "1240", "C. civ., art. 1240"),
        ("FR", "fr", "Code de l’urbanisme", "L111-1", "C. urb., art. L111-1"),
        ("FR", "fr", "Code forestier", "L1", "Code forestier, art. L1"),
        ("FR", "fr", "Code civil", "Annexe", "C. civ., Annexe"),
        ("BE", "fr", "Code civil", "1382", "art. 1382 C. civ."),
        ("BE", "fr", "Code Judiciaire", "20", "art. 20 C. jud."),
        ("BE", "nl", "Burgerlijk Wetboek", "1382", "art. 1382 BW"),
        ("BE", "fr", "Code wallon du logement", "3", "art. 3, Code wallon du logement"),
        ("LU", "fr", "Code civil", "1382", "art. 1382 C. civ."),
        ("LU", "fr", "Loi du 12 novembre 2004", "3", "art. 3, Loi du 12 novembre 2004"),
        ("CH", "de", "Obligationenrecht", "41", "Art. 41 OR"),
        ("CH", "fr", "Code des obligations", "41", "art. 41 CO"),
        ("CH", "it", "Codice civile", "1", "art. 1 CC"),
        ("DE", "de", "BGB", "573c", "§ 573c BGB"),
        ("DE", "de", "Bürgerliches Gesetzbuch", "§ 573c", "§ 573c BGB"),
        ("DE", "de", "Grundgesetz", "1", "Art. 1 GG"),
        ("AT", "de", "ABGB", "1295", "§ 1295 ABGB"),
        ("IT", "it", "Codice civile", "2043", "art. 2043 c.c."),
        ("IT", "it", "Legge 354/1975", "Art. 4-bis", "Art. 4-bis, Legge 354/1975"),
        ("NL", "nl", "Burgerlijk Wetboek", "6:162", "art. 6:162 BW"),
        ("NL", "nl", "Burgerlijk Wetboek Boek 6", "162", "art. 6:162 BW"),
        ("NL", "nl", "Participatiewet", "5", "art. 5, Participatiewet"),
        ("GB", "en", "Data Protection Act 1998", "7", "Data Protection Act 1998, s 7"),
        ("GB", "en", "Data Protection Act 1998", "Section 7", "Data Protection Act 1998, s 7"),
        ("GB", "en", "Data Protection Act 1998", "Schedule 1", "Data Protection Act 1998, Schedule 1"),
        ("GB-ENG", "en", "Housing Act 1988", "s. 21", "Housing Act 1988, s 21"),
        ("CN", "zh", "中华人民共和国民法典", "1165", "《中华人民共和国民法典》第一千一百六十五条"),
        ("CN", "zh", "中华人民共和国民法典", "第五十四条", "《中华人民共和国民法典》第五十四条"),
        ("CN", "zh", "刑法", "133-1", "《刑法》第一百三十三条之一"),
        ("CN", "zh", "刑法", "12345", "《刑法》第12345条"),
        ("KE", "en", "Retirement Benefits Act", "5", "Retirement Benefits Act, art. 5"),
        ("", "de", "BGB", "1", "§ 1 BGB"),  # the language's own country, where the card names none
        ("", "xx", "Code", "1", "Code, art. 1"),
        ("FR", "fr", "", "1", "art. 1"),
    ],
)  # fmt: skip
def test_each_country_has_its_form(country: str, language: str, code: str, number: str, cited: str) -> None:
    card = CorpusCard("x", "X", language, country)

    assert citation(Article("x", code, number, "t"), card) == cited
    other = CorpusCard("x", "X", "fr", "FR")  # what the article says of itself counts more than the card
    assert (
        country == ""
        or citation(Article("x", code, number, "t", language=language, jurisdiction=country), other) == cited
    )


def test_the_card_s_own_short_form_comes_first() -> None:
    card = CorpusCard("x", "X", "fr", "FR", aliases={"Code civil": ("CCiv", "CC")})

    assert citation(Article("x", "Code civil", "9", "t"), card) == "CCiv, art. 9"


def test_what_is_longer_than_the_name_is_no_short_form() -> None:
    card = CorpusCard("x", "X", "de", "DE", aliases={"BGB": ("Bürgerliches Gesetzbuch",)})

    assert citation(Article("x", "BGB", "551", "t"), card) == "§ 551 BGB"


@given(st.integers(1, 9999))
def test_chinese_numerals_are_read_back(value: int) -> None:
    assert chinese_number(numeral(value)) == value


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (1165, "一千一百六十五"),
        (12, "十二"),
        (110, "一百一十"),
        (1005, "一千零五"),
        (10, "十"),
        (3020, "三千零二十"),
    ],
)
def test_chinese_numerals_by_hand(value: int, said: str) -> None:
    assert numeral(value) == said


@given(
    st.builds(Article, st.text(), st.text(), st.text(), st.text()),
    st.sampled_from(["FR", "NL", "IT", "CH", ""]),
)
def test_any_article_can_be_cited_and_keeps_its_number(article: Article, country: str) -> None:
    for language in ("fr", "nl", "de", "xx"):
        assert article.article_no.strip() in citation(article, CorpusCard("x", "X", language, country))
