from __future__ import annotations

from dataclasses import replace

from streamlit.testing.v1 import AppTest

from rag.corpus.asker_situations import situations
from rag.types import Article, Filter
from tests.fakes.pages.ask_page_driver import SCRIPT, ask, body, cards, checked, page, press
from tests.fakes.pages.ui_engine import ARTICLES, QUESTION, FakeEngine, FakeFacets

TENANT, OWNER = (each for each in situations("fr") if each.id in ("tenant", "owner"))
BELGIUM = FakeFacets(regions={"BE-BRU": 2, "BE-WAL": 1})


def belgian() -> FakeEngine:
    return FakeEngine(situations=(TENANT, OWNER), offers=BELGIUM)


def chips(app: AppTest) -> list[str]:
    return [b.label for b in app.button if (b.key or "").startswith("situated-")]


def address(app: AppTest) -> str:
    """What the address keeps of a choice."""
    written = app.query_params["situation"]
    return written if isinstance(written, str) else written[-1]


def choose(app: AppTest, *keys: str) -> None:
    app.pills(key="situation").set_value(list(keys))


def test_nothing_is_offered_that_the_corpus_does_not_hold() -> None:
    assert not page(FakeEngine()).pills
    one = page(FakeEngine(offers=FakeFacets(regions={"BE-BRU": 2})))  # one region is no choice
    assert not one.pills
    assert page(belgian()).pills(key="situation").options == [
        "Je suis locataire", "Je suis propriétaire", "J’habite à Bruxelles", "J’habite en Wallonie",
    ]  # fmt: skip


def test_chips_speak_the_interface_and_the_search_the_law() -> None:
    engine = belgian()
    app = page(engine, locale="en-GB")
    assert app.pills(key="situation").options[:3] == [
        "I am a tenant", "I am the owner", "I live in Brussels",
    ]  # fmt: skip
    choose(app, "in:BE-BRU", "tenant")
    ask(app, QUESTION)

    [(question, _, where, _)] = engine.asked
    assert question == f"Je suis locataire. J'habite à Bruxelles. {QUESTION}"
    assert where == Filter(regions=frozenset({"BE-BRU"}))
    assert chips(app) == ["I am a tenant ✕", "I live in Brussels ✕"]
    assert address(app) == "tenant,in:BE-BRU"
    assert app.text_area(key="question").value == QUESTION  # what was typed stays as it was typed


def test_a_choice_counts_once_it_is_sent_and_goes_by_one_press() -> None:
    engine = belgian()
    app = page(engine)
    choose(app, "tenant", "owner")
    ask(app, QUESTION)
    press(app, "situated-owner")

    assert [question for question, *_ in engine.asked] == [
        f"Je suis locataire. Je suis propriétaire. {QUESTION}",
        f"Je suis locataire. {QUESTION}",
    ]
    assert app.pills(key="situation").value == ["tenant"]
    press(app, "situated-tenant")
    assert engine.asked[-1][0] == QUESTION
    assert not chips(app)
    assert "situation" not in app.query_params


def test_the_address_brings_a_choice_and_back_takes_it_along() -> None:
    engine = belgian()
    app = ask(page(engine, situation="owner,nobody,<b>"), QUESTION)
    assert engine.asked[-1][0] == f"Je suis propriétaire. {QUESTION}"
    assert address(app) == "owner"

    app.query_params["situation"] = "tenant"  # "back" changes the address under the page
    checked(app.run())
    assert engine.asked[-1][0] == f"Je suis locataire. {QUESTION}"
    del app.query_params["situation"]
    checked(app.run())
    assert engine.asked[-1][0] == QUESTION


def test_a_choice_outlives_a_visit_to_another_page() -> None:
    engine = belgian()
    app = AppTest.from_file(SCRIPT, default_timeout=30)  # Streamlit drops the address and forgets the chips
    app.session_state["engine"] = engine
    app.session_state["answers"] = None
    app.session_state["asked"] = QUESTION
    app.session_state["address_of"] = {"situation": ("tenant",)}
    checked(app.run())

    assert engine.asked[-1][0] == f"Je suis locataire. {QUESTION}"
    assert address(app) == "tenant"


def test_nothing_asked_is_still_nothing_asked() -> None:
    engine = belgian()
    app = page(engine)
    choose(app, "tenant")
    ask(app, "  ")

    assert not engine.asked
    assert not chips(app)


def test_a_region_hides_other_regions_and_not_the_law_of_all() -> None:
    law = (*ARTICLES[:1], *(_in(a, r) for a, r in zip(ARTICLES[1:3], ("BE-BRU", "BE-WAL"), strict=True)))
    app = page(FakeEngine(articles=law, offers=BELGIUM))
    choose(app, "in:BE-BRU")
    ask(app, QUESTION)

    assert sorted(card.one("h3").text for card in cards(app)) == [
        "Article 671 Code civil", "Article 672 Code civil",
    ]  # fmt: skip
    assert "Bruxelles" in [badge.text for card in cards(app) for badge in card.all(class_="pd-badge")]


def test_removing_the_filters_removes_the_region_too() -> None:
    law = tuple(_in(a, "BE-WAL") for a in ARTICLES)
    app = page(FakeEngine(articles=law, offers=BELGIUM, situations=(TENANT,)))
    choose(app, "in:BE-BRU", "tenant")
    ask(app, QUESTION)
    assert not cards(app)
    press(app, "unfilter")

    assert cards(app)
    assert chips(app) == ["Je suis locataire ✕"]


def test_an_article_added_keeps_what_was_said() -> None:
    app = page(belgian(), situation="tenant")
    ask(app, QUESTION)
    add = body(app).all(class_="pd-add")

    assert add
    assert all("situation=tenant" in (link.attributes["href"] or "") for link in add)


def test_a_link_to_share_tells_nothing_of_the_asker() -> None:
    app = page(belgian())
    choose(app, "tenant")
    ask(app, QUESTION)

    assert "tenant" not in body(app).one(class_="pd-address").text


def _in(article: Article, region: str) -> Article:
    return replace(article, region=region)
