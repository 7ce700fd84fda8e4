"""Questions that name an article by its number."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.corpus.card import CorpusCard, Moved
from rag.retrieval.known_item import KnownItems
from rag.types import Article, KnownItem
from tests.paths import ROOT

CIVIL, LABOUR, MINFA = "Code civil", "Code du travail", "中华人民共和国民法典"
OLD_FAULT = Moved(CIVIL, "1382", ("1240",), "2016-10-01", "la faute")
OLD_LOST = Moved(CIVIL, "1244-1", ("1343-5",), "2016-10-01")
TABLE = ROOT / "indexes" / "builtin" / "moved.json"


def articles(*rows: tuple[str, str]) -> list[Article]:
    return [Article(f"{code[:8]}/{number}", code, number, "Texte.") for code, number in rows]


FRENCH = KnownItems(
    articles(
        (CIVIL, "1er"), (CIVIL, "2 bis"), (CIVIL, "205"), (CIVIL, "1240"), (CIVIL, "1382"), (CIVIL, "515-1"),
        (LABOUR, "1"), (LABOUR, "L1234-5"), (LABOUR, "R1234-5"), (LABOUR, "205"),
    ),
    CorpusCard("fr", "Codes", "fr", moved=(OLD_FAULT, OLD_LOST), aliases={LABOUR: ("Travail",)}),
)  # fmt: skip
CHINESE = KnownItems(
    articles((MINFA, "第五十四条"), (MINFA, "第一千零三十二条"), ("中华人民共和国刑法", "第五十四条")),
    CorpusCard("zh", "法", "zh"),
)


@pytest.mark.parametrize(
    ("question", "ids"),
    [
        ("article 515-1 du code civil", ["Code civ/515-1"]),
        ("art. 1 C. civ.", ["Code civ/1er"]),
        ("article premier du code civil", ["Code civ/1er"]),
        ("article 2-bis du code civil", ["Code civ/2 bis"]),
        ("ARTICLE L. 1234-5 DU CODE DU TRAVAIL", ["Code du /L1234-5"]),
        ("1234-5 code du travail", ["Code du /L1234-5", "Code du /R1234-5"]),
        ("art. L1234-5 du Travail", ["Code du /L1234-5"]),
        ("article 205", ["Code civ/205", "Code du /205"]),
        ("205", ["Code civ/205", "Code du /205"]),
    ],
)
def test_a_number_finds_its_articles(question: str, ids: list[str]) -> None:
    [item] = FRENCH.find(question)
    assert list(item.found) == ids


def test_chinese_numerals_and_digits_meet() -> None:
    for question in ("民法典第1032条", "中华人民共和国民法典第一千零三十二条", "《民法典》第１０３２条"):
        [item] = CHINESE.find(question)
        assert item.found == (f"{MINFA[:8]}/第一千零三十二条",)
        assert item.article_no == "第一千零三十二条"
    [item] = CHINESE.find("第54条")
    assert len(item.found) == 2


def test_an_old_number_shows_what_bears_it_and_where_its_content_went() -> None:
    assert FRENCH.find("article 1382 code civil") == (
        KnownItem("article 1382 code civil", "1382", CIVIL, ("Code civ/1382",), (OLD_FAULT,)),
    )
    assert FRENCH.find("1382") == (KnownItem("1382", "1382", None, ("Code civ/1382",), (OLD_FAULT,)),)
    assert FRENCH.find("art. 1244-1 du code civil")[0].moved == (OLD_LOST,)
    assert FRENCH.find("art. 1382 du code du travail")[0].moved == ()


def test_a_number_that_nothing_bears() -> None:
    [item] = FRENCH.find("article 9999 du code civil")
    assert (item.article_no, item.found, item.moved) == ("9999", (), ())
    assert FRENCH.find("9998 code civil") == ()  # not marked as an article's: perhaps a year
    [item] = FRENCH.find("article 205 du code de commerce")
    assert (item.code, item.found) == ("code de commerce", ())


@pytest.mark.parametrize(
    ("question", "number", "code"),
    [
        ("L. 1234-9 du code de commerce", "L1234-9", "code de commerce"),
        ("indemnité article L. 1234-9 du code de commerce", "L1234-9", "code de commerce"),
        ("article 22 loi 6 juillet 1989", "22", "loi 6 juillet 1989"),
    ],
)
def test_a_law_that_is_not_loaded_comes_as_typed(question: str, number: str, code: str) -> None:
    [item] = FRENCH.find(question)
    assert (item.article_no, item.code, item.found) == (number, code, ())


def test_a_range_names_the_articles_between() -> None:
    numbers = ["515-1", "515-1-1", "515-2", "515-7", *map(str, range(600, 640))]
    held = [row for number in numbers for row in ((CIVIL, number), (LABOUR, f"9{number}"))]
    items = KnownItems(articles(*held), CorpusCard("fr", "Codes", "fr"))
    for question in ("articles 515-1 à 515-7", "pacs, articles 515-1 à 515-7 du code civil"):
        named = items.find(question)
        assert [item.article_no for item in named] == ["515-1", "515-1-1", "515-2", "515-7"]
        assert all(len(item.found) == 1 and item.found[0].startswith("Code civ/") for item in named)
    assert len(items.find("articles 600 à 619 du code civil")) == 20
    assert [item.article_no for item in items.find("articles 600 à 620")] == ["600", "620"]
    assert [item.article_no for item in items.find("articles 619 à 600")] == ["619", "600"]
    assert [item.article_no for item in items.find("articles 600 et 603")] == ["600", "603"]


def test_each_article_is_named_once_and_in_order() -> None:
    items = FRENCH.find("articles 1240 et 205 du code civil, donc l'article 1240 du Code civil")
    assert [item.article_no for item in items] == ["1240", "205"]


@pytest.mark.parametrize(
    "question", ["j'ai 205 euros", "", "mon voisin a 1382 arbres", "depuis 1382", "en 1240 mon mur est tombé"]
)
def test_a_sum_or_a_year_names_nothing(question: str) -> None:
    assert FRENCH.find(question) == ()
    assert FRENCH.remainder(question) == question


@pytest.mark.parametrize(
    ("question", "left"),
    [
        ("Que dit l'article 1240 du code civil ?", ""),
        ("1382", ""),
        ("c'est quoi l’art. 205 cc svp", ""),
        ("articles 205 et 1240 du code civil", ""),
        ("article 1240 du code civil et mur mitoyen", "et mur mitoyen"),
        ("mon mur est tombé", "mon mur est tombé"),
    ],
)
def test_the_remainder_is_what_else_was_asked(question: str, left: str) -> None:
    assert FRENCH.remainder(question) == left


def test_the_remainder_in_chinese() -> None:
    assert CHINESE.remainder("民法典第1032条规定了什么内容？") == ""
    assert CHINESE.remainder("民法典第1032条 邻居偷拍我") == "邻居偷拍我"


@given(question=st.text())
def test_any_question_has_an_answer(question: str) -> None:
    assert isinstance(FRENCH.find(question), tuple)
    assert isinstance(FRENCH.remainder(question), str)


def test_an_empty_corpus_knows_nothing() -> None:
    empty = KnownItems([], CorpusCard("x", "X", "fr"))
    assert empty.find("article 5")[0].found == ()


def rows() -> list[Moved]:
    return [
        Moved(r["code"], r["old"], tuple(r["new"]), r["since"], r["about"])
        for r in json.loads(TABLE.read_text("utf-8"))
    ]


def test_an_heir_without_a_number_is_shown_too() -> None:
    card = CorpusCard("fr", "Codes", "fr", moved=(Moved("C", "9", ("Section",)),))
    items = KnownItems(articles(("C", "Section"), ("C", "10")), card)
    [shown] = items.pinned(items.find("article 9 C"), None)
    assert (shown.article.article_no, shown.why.moved_from) == ("Section", "9")


def test_the_table_of_moved_articles_is_sound() -> None:
    table = rows()
    assert len(table) >= 60
    assert len({row.old for row in table}) == len(table)
    for row in table:
        assert row.new
        assert row.about
        assert row.old not in row.new
        assert len(set(row.new)) == len(row.new)
        assert date.fromisoformat(row.since or "") < date(2025, 1, 1)
    moved = {row.old: row.new for row in table}
    assert moved["1382"] == ("1240",)
    assert moved["1386-1"] == ("1245",)
    assert moved["1134"] == ("1103", "1104", "1193")


@pytest.mark.slow
@pytest.mark.data
def test_every_moved_article_stands_where_the_table_says(data: Path) -> None:
    import gzip

    with gzip.open(data / "fr" / "articles.jsonl.gz", "rt", encoding="utf-8") as lines:
        numbers = {row["article_no"] for row in map(json.loads, lines) if row["code"] == CIVIL}
    assert [row.old for row in rows() if not set(row.new) <= numbers] == []
    assert sum(row.old in numbers for row in rows()) > 100  # borne by another content today


@pytest.mark.slow
@pytest.mark.parametrize(
    ("question", "former"),
    [
        ("ancien article 1382", (True,)),
        ("Que disait l'ancien article 1382 du Code civil ?", (True,)),
        ("ex-article 1382 code civil", (True,)),
        ("les anciens articles 1382 et 1383 du code civil", (True, True)),
        ("article 1382", (False,)),
        ("un ancien bail et l'article 1382", (False,)),
    ],
)
def test_the_article_of_then_is_told_from_the_one_of_today(question: str, former: tuple[bool, ...]) -> None:
    import indexes

    engine = indexes.open()
    result = engine.ask(question)
    assert tuple(item.former for item in result.known) == former
    first = result.shown[0].article.article_no
    assert first == ("1240" if former[0] else "1382")


@pytest.mark.slow
def test_nothing_is_left_to_search_for_beside_a_former_article() -> None:
    import indexes

    assert [s.article.article_no for s in indexes.open().ask("ancien article 1382").shown] == ["1240", "1382"]
