from __future__ import annotations

from datetime import date

from streamlit.testing.v1 import AppTest

from rag.types import Filter
from tests.fakes.pages.ask_page_driver import SCRIPT, ask, body, cards, checked, headings, page
from tests.fakes.pages.ui_engine import MANY_FACETS, QUESTION, FakeEngine, FakeInfo, many_laws


def test_filters_show_only_when_the_corpus_has_them() -> None:
    plain, many = page(), page(FakeEngine(offers=MANY_FACETS))

    assert not plain.multiselect
    assert [box.key for box in many.multiselect] == ["codes", "law_types", "regions"]
    assert many.date_input(key="in_force_on").value == date.today()


def test_without_an_encoder_there_is_no_switch() -> None:
    engine = FakeEngine(info=FakeInfo(encoder=None))
    app = ask(page(engine), QUESTION)

    assert [radio.key for radio in app.radio] == ["interface"]
    assert [box.label for box in app.expander] == [
        "Comment lire cette liste", "Partager, garder ou imprimer ces articles",
    ]  # fmt: skip
    assert engine.asked[0][3] == "keyword"
    assert "mots communs" in body(app).one(class_="pd-loaded").text


def test_the_switch_asks_again_in_another_way() -> None:
    engine = FakeEngine()
    app = ask(page(engine), QUESTION)
    checked(app.radio(key="mode").set_value("meaning").run())

    assert [mode for _, _, _, mode in engine.asked] == ["hybrid", "meaning"]


def test_filters_reach_the_engine() -> None:
    engine = FakeEngine(offers=MANY_FACETS)
    app = page(engine)
    app.multiselect(key="codes").set_value(["Code civil"])
    app.multiselect(key="law_types").set_value(["national"])
    app.multiselect(key="regions").set_value(["Flandre"])
    app.date_input(key="in_force_on").set_value(date(2020, 5, 1))
    ask(app, QUESTION)

    wanted = Filter(
        frozenset({"Code civil"}), frozenset({"national"}), frozenset({"Flandre"}), date(2020, 5, 1)
    )
    assert engine.asked[-1][2] == wanted


def test_filters_that_leave_nothing_can_be_removed() -> None:
    app = page(FakeEngine(offers=MANY_FACETS))
    app.multiselect(key="codes").set_value(["Code rural"])
    ask(app, QUESTION)
    assert headings(app)[0] == "Aucun article avec ces filtres"

    checked(app.button(key="unfilter").click().run())
    assert app.multiselect(key="codes").value == []
    assert app.date_input(key="in_force_on").value == date.today()  # what holds no more is not shown unasked
    assert len(cards(app)) == 3


def test_a_dated_corpus_is_searched_as_it_is_in_force_today() -> None:
    engine = FakeEngine(offers=MANY_FACETS)
    app = ask(page(engine), QUESTION)

    assert engine.asked[-1][2] == Filter(in_force_on=date.today())
    checked(app.date_input(key="in_force_on").set_value(None).run())
    assert engine.asked[-1][2] is None


def test_a_day_that_nobody_chose_is_not_blamed_for_finding_nothing() -> None:
    app = ask(page(FakeEngine(offers=MANY_FACETS)), "xylophone")

    assert headings(app)[0] == "Je n’ai trouvé aucun article qui réponde à cela"


def test_what_was_chosen_outlives_a_visit_to_another_page() -> None:
    engine = FakeEngine(offers=MANY_FACETS)
    app = AppTest.from_file(SCRIPT, default_timeout=30)  # as Streamlit leaves a session that comes back
    app.session_state["engine"] = engine
    app.session_state["answers"] = None
    app.session_state["asked"] = QUESTION
    app.session_state["address_of"] = {"mode": ("keyword",), "codes": ("Code rural", "Code perdu")}
    checked(app.run())

    [(_, _, where, mode)] = engine.asked
    assert (mode, where.codes if where else None) == ("keyword", frozenset({"Code rural"}))
    assert app.multiselect(key="codes").value == ["Code rural"]


def test_themes_offer_their_codes_and_order_them() -> None:
    engine = many_laws()
    app = page(engine, locale="en-GB")
    themes, codes = app.multiselect(key="themes"), app.multiselect(key="codes")
    assert themes.options == ["Housing", "Work", "Family", "Road", "Land and neighbours", "Other matters"]
    assert codes.options == [
        "Loi des baux", "Code du travail", "Code rural", "Code civil", "Code de la route", "Code des jeux",
    ]  # fmt: skip

    themes.set_value(["housing", "work"])
    codes.set_value(["Code des jeux"])
    ask(app, QUESTION)
    assert engine.asked[-1][2] == Filter(
        frozenset({"Loi des baux", "Code du travail", "Code rural", "Code des jeux"})
    )
    assert app.query_params["themes"] == ["housing", "work"]
    assert headings(app)[0] == "No article with these filters"
    checked(app.button(key="unfilter").click().run())
    assert app.multiselect(key="themes").value == []
    assert engine.asked[-1][2] is None


def test_an_address_names_a_theme() -> None:
    engine = many_laws()
    ask(page(engine, themes="land"), QUESTION)

    assert engine.asked[-1][2] == Filter(frozenset({"Code civil", "Code rural"}))
