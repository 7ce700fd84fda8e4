from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from rag.corpus.card import Contact, LoadedLaw
from rag.corpus.facts import ArticleFacts
from rag.engine.result import MAX_CHARS, shorten
from rag.engine.topic_view import TopicCase
from rag.errors import BadInput, DamagedIndex
from rag.text.spelling import SpellingCorrection
from rag.ui.components.question_form import MAX_TYPED
from rag.ui.i18n import words
from tests.fakes.pages.ask_page_driver import ask, body, cards, checked, examples, headings, page
from tests.fakes.pages.html_reader import read
from tests.fakes.pages.ui_engine import (
    ARTICLES,
    CARD,
    HOSTILE,
    HOSTILE_CARD,
    QUESTION,
    TENANCY,
    FakeEngine,
    many_laws,
)


def test_first_run_promises_explains_and_offers_examples() -> None:
    engine = FakeEngine()
    app = page(engine)

    assert body(app).one("h1").text == "Pandect"
    assert "Une information juridique, pas un conseil." in body(app).one(class_="pd-notice").text
    assert "Un programme classe les articles" in body(app).one(class_="pd-notice").text
    assert len(examples(app)) == 3
    assert not cards(app)
    assert not engine.asked


def test_what_is_loaded_is_always_said() -> None:
    said = body(page()).one(class_="pd-loaded")
    facts = dict(zip([d.text for d in said.all("dt")], [d.text for d in said.all("dd")], strict=True))

    assert facts == {
        "Textes de loi": "Code civil (fictif) (2\u202f889 articles)",
        "Droit en vigueur au": "1er janvier 2025",
        "Textes affichés": (
            "résumés non officiels en mots simples, chacun avec un lien vers le texte officiel"
        ),
        "Source": "DILA, LEGI",
        "Licence": "Licence Ouverte 2.0",
        "Site officiel": "law.example",
        "Classement par": "mots communs et sens (pandect-static-fr)",
        "Index": "civil, version 3, construit le 20 novembre 2026",
    }
    assert [li.text for li in body(page()).one(class_="pd-help").all("li")] == [
        "Point-justice · 39 39 · gratuit, près de chez vous",
        "Mairie · permanences d'avocats",
    ]


def test_a_question_gets_its_articles_in_order() -> None:
    engine = FakeEngine()
    app = ask(page(engine), QUESTION)

    assert engine.asked == [(QUESTION, 10, None, "hybrid")]
    assert [card.one("h3").text for card in cards(app)] == [
        "Article 672 Code civil", "Article 671 Code civil", "Article 673 Code civil",
    ]  # fmt: skip
    assert [len(card.all(class_="pd-badge")) for card in cards(app)] == [1, 0, 0]  # of a list, said once
    assert all("résumé non officiel" in card.one(class_="pd-source").text for card in cards(app))
    assert headings(app)[0] == "3 articles à regarder"
    assert not examples(app)
    assert body(app).one(class_="pd-notice").text


def test_examples_stand_by_what_happened() -> None:
    events = {"neighbours": QUESTION, "death": "Qui hérite ?"}
    app = page(FakeEngine(card=replace(CARD, events=events)))

    first, second = examples(app)
    assert first.startswith("**Voisins** · Mon voisin a planté")
    assert second.startswith("**Un décès** · Qui hérite")
    assert cards(checked(app.button(key="example-0").click().run()))


def test_who_advises_on_the_law_of_the_first_article_stands_above_the_list() -> None:
    adviser = Contact("Conseil du jardin", "https://law.example/garden", themes=("land",))
    law = {"Code civil": LoadedLaw(themes=("land",))}
    card = replace(CARD, contacts=(*CARD.contacts, adviser), laws=law)
    articles = (*ARTICLES, *(replace(ARTICLES[0], id=f"9{n}", article_no=f"9{n}") for n in range(4)))

    def ways(*, doubtful: bool) -> list[str]:
        app = ask(page(FakeEngine(card=card, articles=articles, doubtful=doubtful)), QUESTION)
        return [a.text for a in body(app).one("nav", "pd-down-to").all("a")]

    assert ways(doubtful=False) == ["Parler à quelqu’un", "Conseil du jardin"]
    assert ways(doubtful=True) == ["Parler à quelqu’un"]


def test_who_helps_with_what_is_said_before_anything_is_asked() -> None:
    garden = Contact("Conseil du jardin", "https://law.example/garden", "12 34", themes=("land", "family"))
    engine = FakeEngine(card=replace(CARD, contacts=(*CARD.contacts, garden)))
    app = page(engine, locale="en-GB")
    people = body(app).one("details", "pd-advisers")

    assert people.one("summary").text == "Talk to a person instead: land and neighbours, family…"
    danger, theme = people.all("dt")
    assert (danger.text, theme.text) == ("In danger", "Land and neighbours, family")
    assert {"3919", "119", "3114"} <= {a.text for a in people.all("dd")[0].all("a")}
    assert people.all("dd")[1].text.startswith("Conseil du jardin · 12 34")
    asked = ask(app, QUESTION)
    assert not body(asked).all("details", "pd-advisers")  # above the articles it would be in the way
    assert not body(page()).all("details", "pd-advisers")  # nobody advises on a theme


def test_how_the_list_was_made_is_folded_below_it() -> None:
    typed = (SpellingCorrection("abre", "arbr", "arbre"),)
    app = ask(page(FakeEngine(mended=typed)), "mon voisin a planté un abre")
    [fold] = [each for each in app.expander if each.label == "Comment lire cette liste"]
    inside = read("".join(str(each.proto.body) for each in fold.get("html")))

    assert "vous avez écrit" in inside.one(class_="pd-read-as").text
    assert inside.all(class_="pd-order")
    assert len(body(app).all(class_="pd-read-as")) == 1


def test_a_contact_speaks_the_language_of_the_page() -> None:
    contact = Contact("Point-justice", note="gratuit", notes={"en": "free of charge"})
    card = replace(CARD, contacts=(contact,))
    english, german = (
        body(page(FakeEngine(card=card), lang=each)).one("section", "pd-help") for each in ("en", "de")
    )

    assert "free of charge" in english.text
    assert "gratuit" in german.text  # which it does not stand in: the card's own


def test_an_example_asks_itself() -> None:
    engine = FakeEngine()
    app = page(engine)
    checked(app.button(key="example-0").click().run())

    assert engine.asked[0][0] == QUESTION
    assert app.text_area(key="question").value == QUESTION
    assert cards(app)


@pytest.mark.parametrize("nothing", ["", "   \n "])
def test_an_empty_question_is_met_kindly(nothing: str) -> None:
    engine = FakeEngine()
    app = ask(page(engine), nothing)

    assert headings(app)[0] == "Écrivez d’abord votre question"
    assert examples(app)
    assert not engine.asked


def test_no_result_says_what_to_try() -> None:
    app = ask(page(), "xylophone")

    assert headings(app)[0] == "Je n’ai trouvé aucun article qui réponde à cela"
    assert len(body(app).one(class_="pd-box").all("li")) == 4
    assert body(app).one(class_="pd-box").one("a").attributes["href"] == "#pd-help"
    assert CARD.title in body(app).one(class_="pd-box").text
    assert examples(app)


@pytest.mark.parametrize(
    ("locale", "heading", "topic", "below"),
    [
        ("fr-FR", "Un autre texte, non chargé ici, semble s’appliquer", "Louer son logement",
         "Code civil (fictif)\u00a0: peut-être sur un autre sujet"),
        ("en-GB", "This seems to belong to another law, which is not loaded here", "Renting a home",
         "Code civil (fictif): perhaps about something else"),
    ],
)  # fmt: skip
def test_a_topic_of_another_law_is_said_above_the_cards(
    locale: str, heading: str, topic: str, below: str
) -> None:
    app = ask(page(locale=locale), "dépôt garantie arbre")  # of no language that is told: the page's holds
    box = body(app).one(class_="pd-elsewhere")

    assert headings(app)[:2] == [heading, below]
    order = words(locale[:2])("The most likely first.")
    assert order not in body(app).text  # none of them is likely
    assert order in body(ask(page(locale=locale), QUESTION)).text
    assert topic in box.text
    assert "Loi du 6 juillet 1989" in box.text
    law, _, people = box.all("a")
    assert (law.attributes["href"], law.text) == ("https://law.example/1989", "Loi du 6 juillet 1989")
    assert people.attributes["href"] == "#" + body(app).one(class_="pd-help").attributes["id"]
    assert cards(app)


def test_another_law_is_told_with_its_time_limit_and_one_who_helps() -> None:
    limit, helper = (
        {"fr": "Un an, dès le fait.", "en": "One year, from the act."},
        Contact("Bureau", phone="12"),
    )
    engine = FakeEngine(other_law=replace(TENANCY, deadline=limit, contact=helper))
    box = body(ask(page(engine), "dépôt garantie arbre")).one(class_="pd-elsewhere")

    assert [(each.text, told.text) for each, told in zip(box.all("dt"), box.all("dd"), strict=True)] == [
        ("Délai", "Un an, dès le fait."),
        ("Qui aide", "Bureau · 12"),
    ]
    _, number, people = box.all("a")
    assert number.attributes["href"] == "tel:12"
    assert people.attributes["href"] == "#pd-help"  # one may not be reached by telephone


def test_a_topic_of_another_law_without_any_article() -> None:
    app = ask(page(), "dépôt")

    assert headings(app)[:2] == [
        "Un autre texte, non chargé ici, semble s’appliquer",
        "Je n’ai trouvé aucun article qui réponde à cela",
    ]


def test_an_old_number_shows_what_bears_it_and_where_its_content_went() -> None:
    app = ask(page(locale="en-GB"), "article 1382")

    assert body(app).all(class_="pd-box")[0].text == (
        "Article 1382 of the Code civil is shown below. Before 1 October 2016, this number stood for "
        "something else: réparer le dommage que l'on cause par sa faute. "
        "What it used to say has moved to article 1240 (shown too)."
    )
    assert [card.one(class_="pd-why").one("li").text for card in cards(app)] == [
        "Your question names it by its number.",
        "It now holds what article 1382 used to say.",
    ]


def test_the_one_article_that_is_named_needs_no_words_on_order() -> None:
    app = ask(page(locale="en-GB"), "seul article 672")

    assert body(app).one(class_="pd-found").text == "One article to look at"
    assert len(cards(app)) == 1
    assert not body(app).all(class_="pd-down-to") + body(app).all(class_="pd-quoted")


def test_links_lead_past_many_cards() -> None:
    many = tuple(replace(ARTICLES[0], id=f"a{n}") for n in range(4))
    said = body(ask(page(FakeEngine(articles=many)), QUESTION))

    assert len(said.all("article")) == 4
    told = [a.attributes["href"] for a in said.one(class_="pd-down-to").all("a")]
    assert told == ["#pd-help"]
    assert set(told) <= {f"#{each.attributes.get('id')}" for each in said.all()}
    assert not body(ask(page(), QUESTION)).all(class_="pd-down-to")  # three are no long way


def test_a_number_that_does_not_exist_is_said() -> None:
    app = ask(page(), "article 9999")

    assert body(app).all(class_="pd-box")[0].text == "Il n’y a pas d’article 9999 (Code civil) ici."


def test_a_long_question_is_cut_and_that_is_said() -> None:
    engine = FakeEngine()
    story = "arbre " * 10_000
    app = ask(page(engine), story)

    assert len(engine.asked[0][0]) <= MAX_CHARS
    assert "60\u202f000 caractères" in body(app).text
    assert app.text_area(key="question").value == story  # nothing that was typed is lost
    assert cards(app)


@pytest.mark.parametrize(
    ("text", "used", "cut"),
    [
        ("  short ", "short", False),
        ("a" * MAX_CHARS, "a" * MAX_CHARS, False),
        ("法" * (MAX_CHARS + 5), "法" * MAX_CHARS, True),
        ("b" * (MAX_CHARS - 3) + " c d e", "b" * (MAX_CHARS - 3) + " c", True),
        ("", "", False),
    ],
)
def test_shorten(text: str, used: str, cut: bool) -> None:
    assert shorten(text) == (used, cut)


@pytest.mark.parametrize("error", [RuntimeError, BadInput])
def test_a_search_that_breaks_stays_calm_and_discreet(
    error: type[Exception], caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    app = ask(page(FakeEngine(error=error(QUESTION))), QUESTION)
    said, logged = capfd.readouterr()

    assert headings(app)[0] == "Un problème est survenu"
    assert error.__name__ in caplog.text
    assert "voisin" not in body(app).one(class_="pd-box").text
    assert "voisin" not in caplog.text + said + logged


def test_who_is_in_danger_is_helped_though_nothing_can_be_searched() -> None:
    app = ask(page(FakeEngine(error=DamagedIndex("gone"))), "Mon mari me frappe")

    assert body(app).one(class_="pd-urgent").text
    assert headings(app)[1] == "Un problème est survenu"
    assert not examples(app)


def test_under_an_alarm_the_articles_are_lines_behind_one_fold() -> None:
    app = ask(page(FakeEngine()), "mon mari me frappe à cause d'un arbre")
    [fold] = body(app).all("details", "pd-closest")
    assert len(fold.all("details", "pd-row")) == len(cards(app)) > 1
    assert not body(ask(page(FakeEngine()), QUESTION)).all("details", "pd-closest")


@pytest.mark.parametrize(
    ("law", "links"),
    [
        ("Code A (articles L1-2 et L3), Code B (article 4)", ["Code A", "L1-2"]),
        ("Code A (article 4)", ["Code A", "4"]),
        ("Convention de la branche", ["Convention de la branche"]),
    ],
)
def test_another_law_links_its_page_and_its_first_article(law: str, links: list[str]) -> None:
    topic = replace(TENANCY, law=law, url="https://law.example/a", article_url="https://law.example/4")
    governing = body(ask(page(FakeEngine(other_law=topic)), "dépôt garantie arbre")).one(
        class_="pd-governing"
    )
    assert governing.text == law
    assert [link.text for link in governing.all("a")] == links
    assert [link.attributes["href"] for link in governing.all("a")] == [topic.url, topic.article_url][
        : len(links)
    ]
    assert governing.attributes["lang"] == CARD.language


def test_under_an_alarm_nothing_is_said_of_a_search_that_found_nothing() -> None:
    app = ask(page(lang="en"), "Quiero suicidarme")  # no article has these words
    assert body(app).one(class_="pd-urgent").all("p")[0].text.startswith("Llame ahora al")
    assert len(body(app).all(class_="pd-box")) == 1
    assert not examples(app)


def test_a_list_that_words_of_another_language_made_is_folded_and_nothing_is_denied() -> None:
    engine = FakeEngine(doubtful=True, confidence=0.01)
    app = ask(
        page(engine, lang="en"), "my neighbour put an arbre against the fence of our garden, what can I do?"
    )
    assert app.button(key="ask-terms")
    assert body(app).all("details", "pd-closest")
    assert not body(app).all(class_="pd-doubt")


@pytest.mark.parametrize(
    ("lang", "word", "offered"),
    [
        ("en", "mortgage", True),
        ("fr", "mortgage", False),
        ("en", "hypothèque", False),
        ("en", "pension alimentaire", False),
    ],
)
def test_one_word_is_of_the_pages_language(lang: str, word: str, *, offered: bool) -> None:
    app = ask(page(lang=lang), word)
    assert [button.key for button in app.button if button.key == "ask-terms"] == ["ask-terms"] * offered
    assert len(body(app).all(class_="pd-asked-in")) == offered
    assert len(body(app).all(class_="pd-box")) == (not offered)  # that nothing was found


def test_the_language_is_the_addresss_then_the_browsers_and_the_question_stays() -> None:
    assert body(page(locale="en-US")).one(class_="pd-motto").text == "Ask the law in your own words."
    app = ask(page(locale="en-US", lang="fr"), QUESTION)
    assert body(app).one(class_="pd-motto").text == "Interrogez la loi avec vos mots."

    checked(app.radio(key="interface").set_value("en").run())
    assert app.query_params["lang"] == "en"
    assert body(app).one(class_="pd-motto").text == "Ask the law in your own words."
    assert app.text_area(key="question").value == QUESTION
    assert headings(app)[0] == "3 articles to look at"


def test_the_question_is_in_its_box_and_nowhere_else() -> None:
    question = "<b>arbre</b> [x](https://evil.example) $$ zanzibar"
    app = ask(page(), question)
    elsewhere = [block.body for block in app.html] + [
        str(e.value) for e in (*app.markdown, *app.text, *app.code)
    ]

    assert cards(app)
    assert not [text for text in elsewhere if "zanzibar" in text]
    assert "zanzibar" not in str(app.query_params)


def test_a_hostile_corpus_stays_text() -> None:
    app = ask(page(FakeEngine(card=HOSTILE_CARD, articles=HOSTILE)), "arbre")
    elements = body(app).all()

    assert cards(app)
    assert not {e.name for e in elements} & {"img", "script", "iframe", "svg", "b", "style", "object", "form"}
    assert not [a for e in elements for a in e.attributes if a.startswith("on")]
    assert not [
        e
        for e in elements
        if e.name == "a" and not e.attributes["href"].startswith(("http", "./", "#pd-content"))
    ]


def test_a_hostile_example_is_a_plain_label() -> None:
    [label] = examples(page(FakeEngine(card=HOSTILE_CARD)))

    assert label.startswith(r"\<img src=x onerror=alert\(11\)\> \[c\]\(javascript\:alert")
    assert label.endswith(r"\$\$y\$\$")


def test_what_stands_around_an_article_leads_on_in_the_language_of_the_address() -> None:
    def ways(**query: str) -> list[str]:
        app = ask(page(locale="fr-FR", **query), QUESTION)
        links = [link for around in body(app).all(class_="pd-around") for link in around.all("a")]
        return [link.attributes["href"] for link in links]

    named, plain = ways(lang="fr"), ways()  # the same words: what is kept of one is not the other's
    assert named
    assert all("lang=fr" in way for way in named)
    assert not any("lang=" in way for way in plain)


def test_the_first_page_says_which_laws_are_searched() -> None:
    app = page(many_laws(), locale="en-GB")
    said = body(app).one("details", "pd-searched")

    assert said.children[0].text == (
        "6 laws and codes are searched here: housing, work, family, road, land and neighbours…"
    )
    [land] = [each for each in said.all("details") if each.children[0].text.startswith("Land")]
    assert land.children[0].text == "Land and neighbours 2 laws"
    assert [li.text.strip() for li in land.all("li")] == [
        "Code civil 3 articles · 10 March 2024", "Code rural one article · 13 March 2025",
    ]  # fmt: skip
    assert land.one("ul").all("a")[0].attributes["href"] == "./browse?code=Code%20civil"
    assert "10 March 2024 to 15 March 2025" in body(app).one(class_="pd-loaded").text

    assert not body(ask(app, QUESTION)).all(class_="pd-searched")
    assert not body(page()).all(class_="pd-searched")  # one code: its name is below


class FirstLook(FakeEngine):
    """Remembers that its facts were looked at, which reads them from a file."""

    looked = False

    @property
    def facts(self) -> Mapping[str, ArticleFacts]:  # type: ignore[override]  # a field of the other
        self.looked = True
        return {}

    @facts.setter
    def facts(self, facts: object) -> None: ...


def test_facts_are_read_when_a_card_is_shown_and_no_sooner() -> None:
    engine = FirstLook()
    app = page(engine)
    assert not engine.looked
    ask(app, QUESTION)
    assert engine.looked


def test_likely_articles_are_cards_and_the_others_lines_that_open() -> None:
    many = tuple(replace(ARTICLES[0], id=f"9{n}", article_no=f"9{n}") for n in range(8))
    app = ask(page(FakeEngine(articles=many, confidence=0.9, answer_set=4)), QUESTION)
    rows = body(app).all("details", "pd-row")

    assert len(cards(app)) == 8  # those of the lines are in them
    assert [row.all("summary")[0].one(class_="pd-rank").text for row in rows] == [
        f"Rang {n}" for n in (4, 5, 6, 7, 8)
    ]
    assert all(row.one(class_="pd-card") for row in rows)
    assert body(app).one(class_="pd-rest").one("h3", "pd-small").text == "5 autres articles"
    assert body(app).one(class_="pd-sure").text == "La réponse est parmi les 4 premiers (9 fois sur 10)."


def test_the_one_article_that_very_probably_answers_is_marked() -> None:
    app = ask(page(FakeEngine(confidence=0.9, answer_set=1), locale="en-GB"), QUESTION)
    assert [len(card.all(class_="pd-likely")) for card in cards(app)] == [1, 0, 0]
    assert not body(app).all(class_="pd-sure")  # its card says it


def test_a_topic_offers_questions_to_choose_from_and_asks_the_one_that_is_chosen() -> None:
    cases = (TopicCase("qui coupe les branches", "Section 1"), TopicCase(QUESTION, "Section 2"))
    app = ask(page(FakeEngine(topic=cases, doubtful=False), locale="en-GB"), "arbre voisin")

    assert headings(app)[:2] == ["“arbre voisin”: which question is yours?", "3 articles on this"]
    labels = [app.button(key=f"case-{n}").label for n in (0, 1)]
    assert [label.replace("\u202f", " ") for label in labels] == [case.question for case in cases]
    app.button(key="case-1").click().run()
    assert app.session_state["asked"] == QUESTION


def test_where_another_law_governs_the_articles_are_folded() -> None:
    app = ask(page(FakeEngine(), locale="en-GB"), "le dépôt de garantie et l'arbre voisin")
    assert body(app).all(class_="pd-elsewhere")
    [closest] = body(app).all("details", "pd-closest")
    assert closest.all("summary")[0].text == ("Articles of the loaded law that use these words")
    assert len(closest.all("details", "pd-row")) == len(cards(app))


@pytest.mark.slow
def test_of_a_paste_without_end_a_session_keeps_a_part_and_says_that_it_was_cut() -> None:
    engine = FakeEngine()
    app = ask(page(engine), "arbre voisin " * 50_000)

    assert len(app.session_state["asked"]) == len(app.session_state["question"]) == MAX_TYPED
    assert len(engine.asked[0][0]) <= MAX_CHARS
    assert "100\u202f000" in body(app).text
