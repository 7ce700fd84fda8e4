from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest

from rag.corpus.export import ArticleExtract, to_json, to_markdown
from rag.ui.components.share import labels
from rag.ui.i18n import words
from rag.ui.navigation import LONGEST, MOST, listed, parse_article_ids
from tests.fakes.pages.any_page_driver import open_page
from tests.fakes.pages.ask_page_driver import ask, body, cards, checked, headings, page
from tests.fakes.pages.ui_engine import (
    ARTICLES,
    CARD,
    FACTS,
    HOSTILE,
    HOSTILE_CARD,
    LAWS,
    QUESTION,
    SEVERAL,
    FakeEngine,
    many_laws,
)


def shared(**query: str) -> AppTest:
    return page(locale="en-GB", **query)


def titles(app: AppTest) -> list[str]:
    return [c.one("h3").text for c in cards(app)]


def link(app: AppTest) -> str:
    return body(app).one(class_="pd-address").one("code").text


@given(st.lists(st.text(min_size=1, max_size=20).map(str.strip).filter(bool), unique=True, max_size=MOST))
def test_ids_survive_an_address(ids: list[str]) -> None:
    assert parse_article_ids(listed(ids)) == tuple(ids)


@given(st.text())
def test_any_text_names_a_short_list(text: str) -> None:
    assert len(parse_article_ids(text)) <= MOST
    assert all(0 < len(i) <= LONGEST for i in parse_article_ids(text))


def test_a_link_shows_its_articles_without_a_question() -> None:
    app = shared(articles="1240,671", index="3")

    assert titles(app) == ["Article 1240 Code civil", "Article 671 Code civil"]
    assert headings(app)[0] == "2 articles were shared"
    assert "another version" not in body(app).text
    assert not [h for h in body(app).all("h4") if h.text == "Why this article"]
    assert not body(app).all(class_="pd-rank")
    assert not [b for b in app.button if (b.key or "").startswith("example-")]
    assert link(app).endswith("?articles=1240,671&index=3")


def test_a_link_of_another_version_and_articles_that_are_gone_are_told() -> None:
    app = shared(articles="671,gone", index="2")
    box = body(app).one(class_="pd-box").text

    assert "another version of this law" in box
    assert "These are not in the law that is loaded here: gone." in box
    assert titles(app) == ["Article 671 Code civil"]


def test_a_link_to_nothing_says_so() -> None:
    app = shared(articles="gone")

    assert headings(app)[0] == "Nothing to show"
    assert not cards(app)


def test_a_question_that_was_shared_is_shown_and_stands_in_the_box() -> None:
    app = shared(articles="671", q="<b>Un arbre ?</b>")

    assert body(app).one("blockquote").text == "<b>Un arbre ?</b>"
    assert app.text_area(key="question").value == "<b>Un arbre ?</b>"


def test_asking_leaves_the_link_and_its_address() -> None:
    app = ask(shared(articles="1240", index="3", q="x", lang="en"), QUESTION)

    assert dict(app.query_params) == {"lang": "en"}
    assert len(cards(app)) == 3
    assert "were shared" not in body(app).text


@pytest.mark.slow
@pytest.mark.parametrize(
    "query",
    [
        {"articles": ""},
        {"articles": ",,,%,%2"},
        {"articles": "<img src=x onerror=alert(1)>", "index": "<script>", "q": "<script>alert(1)</script>"},
        {"articles": "x," * 50_000},
        {"articles": "671", "q": "a" * 100_000, "index": "z" * 100_000},
        {"add": "<b>"},
        {"add": ""},
    ],
)
def test_hostile_addresses_are_harmless(query: dict[str, str]) -> None:
    app = shared(**query)
    elements = body(app).all()

    assert app.text_area(key="question")
    assert not {e.name for e in elements} & {"img", "script", "b"}
    assert len(body(app).text) < 20_000


def test_the_link_tells_the_question_only_when_it_is_ticked() -> None:
    app = ask(page(locale="en-GB"), QUESTION)
    assert link(app).endswith("?articles=672,671,673&index=3")
    assert "not your question" in body(app).text

    [tick] = app.checkbox
    checked(tick.check().run())
    assert "&q=Mon%20voisin" in link(app)
    assert "whoever gets the link or the files can read it" in body(app).text

    app = ask(app, "Les branches du voisin")  # a new question is not shared because the last one was
    assert "q=" not in link(app)


def test_the_articles_that_go_along_are_chosen() -> None:
    app = ask(page(locale="en-GB"), QUESTION)
    checked(app.multiselect[0].set_value(["673", "672"]).run())
    assert "?articles=672,673&" in link(app)
    to_sheet = [a.attributes["href"] for a in body(app).all("a") if a.text.startswith("One page to print")]
    assert to_sheet == ["./sheet?articles=672,673&index=3"]

    checked(app.multiselect[0].set_value([]).run())
    assert "Choose at least one article." in body(app).text
    assert not body(app).all(class_="pd-address")


def test_neighbours_are_on_every_card_and_one_click_adds_them() -> None:
    app = ask(page(locale="en-GB"), QUESTION)
    around = cards(app)[2].one("details", "pd-around")
    assert [a.attributes["href"] for a in around.all("a", "pd-add")] == ["./?add=1240"]
    assert [each.attributes["data-added"] for each in around.all("span", "pd-added")] == ["672"]

    app.query_params["add"] = "1240"
    checked(app.run())
    assert titles(app)[3:] == ["Article 1240 Code civil"]
    assert "You added one article" in headings(app)
    around = cards(app)[2].one("details", "pd-around")
    assert [each.text for each in around.all("span", "pd-added")] == ["Already in your list"] * 2
    assert "add" not in app.query_params
    assert "?articles=672,671,673,1240&" in link(app)

    app.query_params["add"] = "671"  # which is there
    checked(app.run())
    assert len(cards(app)) == 4
    checked(app.button(key="unadd").click().run())
    assert len(cards(app)) == 3


def test_what_was_added_goes_with_its_question() -> None:
    app = ask(page(), QUESTION)
    app.query_params["add"] = "1240"
    app = ask(checked(app.run()), "Les branches qui dépassent")

    assert "Article 1240 Code civil" not in titles(app)


def test_an_article_added_without_a_question_joins_the_link() -> None:
    assert titles(shared(articles="671", add="1240")) == ["Article 671 Code civil", "Article 1240 Code civil"]
    assert titles(shared(add="673")) == ["Article 673 Code civil"]


def test_an_article_added_to_a_link_leaves_what_else_was_shared() -> None:
    app = shared(articles="671", index="2", q="Un arbre ?", lang="en")
    app.query_params.clear()
    app.query_params.update({"add": "1240", "lang": "en"})  # all that the link on the card carries
    checked(app.run())

    assert titles(app) == ["Article 671 Code civil", "Article 1240 Code civil"]
    assert "another version of this law" in body(app).one(class_="pd-box").text
    assert body(app).one("blockquote").text == "Un arbre ?"
    assert {key: "".join(app.query_params[key]) for key in app.query_params} == {
        "lang": "en", "articles": "671,1240", "index": "2", "q": "Un arbre ?"
    }  # fmt: skip


def test_the_same_articles_with_another_question_are_another_link() -> None:
    app = shared(articles="671", q="Un arbre ?")
    app.query_params["q"] = "Une clôture ?"  # as "back" to an earlier link does
    checked(app.run())

    assert app.text_area(key="question").value == "Une clôture ?"


def test_an_article_added_to_a_link_leaves_what_stands_in_the_box() -> None:
    app = shared(articles="671", q="Un arbre ?")
    app.session_state["question"] = "Un arbre ? Et ma clôture ?"  # changed, and not asked yet
    app.query_params.clear()
    app.query_params["add"] = "1240"
    checked(app.run())

    assert app.text_area(key="question").value == "Un arbre ? Et ma clôture ?"


def test_markdown_says_what_must_be_said_in_the_reader_s_language() -> None:
    extract = ArticleExtract(CARD, "civil", "3", (ARTICLES[0],))
    written = to_markdown(extract, labels(extract, words("fr")))

    assert "Une information juridique, pas un conseil" in written
    assert "résumés en mots simples" in written
    assert "Source\u202f: DILA, LEGI" in written or "Source : DILA, LEGI" in written.replace("\xa0", " ")


# --- the sheet ---


def test_the_sheet_holds_facts_articles_dates_limits_and_contacts() -> None:
    app = open_page("sheet", articles="671,1240", index="3")
    checked(app.text_area(key="facts").set_value("Le 3 mars,\n<b>mon voisin</b>").run())
    sheet = body(app).one(class_="pd-sheet")

    assert sheet.one(class_="pd-facts").text == "Le 3 mars,\n<b>mon voisin</b>"
    assert [h.text for h in sheet.all("h4")] == ["C. civ., art. 671", "C. civ., art. 1240"]
    assert "Legal information, not legal advice." in sheet.text
    assert "Law as of 1 January 2025" in sheet.text
    assert "Point-justice · 39 39" in sheet.text
    assert "./?articles=671,1240&index=3"[2:] in sheet.text
    assert "voisin" not in str(dict(app.query_params))
    assert body(app).one("button", "pd-print").text == "Print"


def test_the_sheet_begins_with_what_was_asked() -> None:
    app = open_page("sheet", articles="671")
    assert app.text_area(key="facts").value == ""
    asked = AppTest.from_file(app._script_path, default_timeout=30)
    asked.session_state["page"], asked.session_state["engine"] = "sheet", FakeEngine()
    asked.session_state["asked"] = QUESTION
    asked.query_params["articles"] = "671"
    assert checked(asked.run()).text_area(key="facts").value == QUESTION


def test_a_sheet_without_articles_leads_back() -> None:
    app = open_page("sheet")

    assert not body(app).all(class_="pd-sheet")
    assert [a.attributes["href"] for a in body(app).all("a") if a.text == "Ask a question"] == ["./"]


def test_a_sheet_of_too_many_articles_says_so_and_long_ones_are_cut() -> None:
    many = tuple(replace(ARTICLES[0], id=str(n), text="mot " * 5000) for n in range(30))
    app = open_page("sheet", FakeEngine(articles=many), articles=listed([a.id for a in many]) + ",gone")

    assert "Only the first 10 articles fit on the page." in body(app).text
    assert "One article of the link is not in this law." in body(app).text
    assert len(body(app).one(class_="pd-sheet").text) < 5000


def test_the_sheet_of_a_hostile_corpus_stays_text() -> None:
    engine = FakeEngine(card=HOSTILE_CARD, articles=HOSTILE)
    elements = body(open_page("sheet", engine, articles=listed([HOSTILE[0].id]))).all()

    assert [e for e in elements if e.attributes.get("class") == "pd-sheet"]
    assert not {e.name for e in elements} & {"img", "script", "iframe", "svg", "b", "style", "form"}


def test_files_say_the_time_limits_the_days_and_what_has_no_text() -> None:
    card = replace(CARD, laws=LAWS)
    extract = ArticleExtract(card, "civil", "3", (SEVERAL[1], SEVERAL[2], SEVERAL[-1]), facts=FACTS)
    written = to_markdown(extract, labels(extract, words("en")))

    assert "*Time limit: 2 mois — faire couper l'arbre \\(from: la lettre du voisin\\)" in written
    assert written.count("Time limit") == 4  # none of the one that has changed
    assert "*This article has changed since the summary was written. Read the official text.*" in written
    assert "*Nobody has summarised this article yet. Read the official text.*" in written
    assert "*text: March 2024, more than a year old: check*" in written
    assert "look for “L5”" in written
    assert "[Official text](<https://law.example/code/5>)" in written
    assert "- Dates of the texts \\(10 March 2024 to 15 March 2025\\)" in written

    first, second, last = json.loads(to_json(extract))["articles"]
    assert first["time_limits"][0] == {
        "what": "faire couper l'arbre", "within": "2 mois", "start": "la lettre du voisin",
        "otherwise": "le voisin peut agir", "clause": "après trente ans",
    }  # fmt: skip
    assert (first["law_date"], first["note"], "code_url" in first) == ("2024-03-10", "Un décret.", False)
    assert (second["outdated"], "time_limits" in second) == (True, False)
    assert (last["text"], last["code_url"]) == ("", "https://law.example/code/5")


def test_the_files_and_the_sheet_of_many_laws() -> None:
    app = ask(page(many_laws(), locale="en-GB"), QUESTION)
    assert link(app).endswith("?articles=672,671,673,x5&index=3")

    sheet = body(open_page("sheet", many_laws(), articles="672,673,x5")).one(class_="pd-sheet")
    texts = [article.all("p")[0].text for article in sheet.all("article")]
    assert texts[0].startswith("Time limit: 2 mois — faire couper l'arbre · 3 ans — faire couper l'arbre")
    assert texts[1].startswith("This article has changed since the summary was written.")
    assert texts[2] == "Nobody has summarised this article yet. Read the official text."
    notes = [article.one(class_="pd-source").text for article in sheet.all("article")]
    assert "https://law.example/code/5 · page of the whole text: look for “L5”" in notes[2]
    assert "Dates of the texts (10 March 2024 to 15 March 2025)" in sheet.text


def test_a_link_to_what_nobody_has_summarised_shows_it() -> None:
    [shown] = cards(page(many_laws(), locale="en-GB", articles="x5"))

    assert "Nobody has summarised this article yet." in shown.one(class_="pd-untold").text
