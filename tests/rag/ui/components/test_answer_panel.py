from __future__ import annotations

import gc
import logging
import time
from collections.abc import Callable
from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from rag.answer.generation.errors import FailureReason
from rag.answer.types import Answer, Ending, PassagePart, WritingStarted
from rag.types import Article
from rag.ui import engine_cache
from rag.ui.background import BackgroundAnswer
from rag.ui.search import Answers
from tests.fakes.pages.ask_page_driver import ask, body, cards, checked, headings, page, press
from tests.fakes.pages.html_reader import Element
from tests.fakes.pages.ui_answers import (
    ANSWERS,
    ARREST,
    CUT,
    DEAD_TREE,
    DISTANCE,
    EVIL,
    FOLLOW_UP,
    GOOD,
    HOSTILE,
    HOSTILE_LAW,
    LIE,
    MAY_CUT,
    OFFICIAL,
    PERSONAL,
    RULE,
    SIDES,
    SPLIT,
    TRIMMED,
    TWO_METRES,
    UNSURE,
    UNVERIFIED,
    WRITTEN,
    FakeModel,
    FakeQuoter,
    ending,
    judged,
)
from tests.fakes.pages.ui_engine import ARTICLES, HOSTILE_CARD, QUESTION, FakeEngine, FakeFacets, many_laws
from tests.fakes.pages.ui_engine import HOSTILE as HOSTILE_ARTICLES

SHOWN = ("672", "671", "673")  # for QUESTION


def opened(
    model: FakeModel | None, question: str = QUESTION, engine: FakeEngine | None = None, locale: str = "fr-FR"
) -> AppTest:
    """The page with its articles; a model that is there has not been asked."""
    return ask(page(engine, locale, Answers(FakeQuoter(), model)), question)


def written(model: FakeModel, question: str = QUESTION, engine: FakeEngine | None = None) -> AppTest:
    """The page after the button was pressed."""
    return press(opened(model, question, engine), "write")


def panel(app: AppTest) -> list[str]:
    """What an answer shows, by the class of each part."""
    kinds = ("pd-line", "pd-quote", "pd-said", "pd-left-out")
    parts = [each for box in body(app).all(class_="pd-composed") for each in box.children]
    return [kind for each in parts for kind in kinds if kind in each.attributes.get("class", "").split()]


def said(app: AppTest) -> list[Element]:
    """The sentences of a model's own."""
    return body(app).all(class_="pd-said")


def law(app: AppTest) -> list[str]:
    """The passages of law that an answer shows by themselves."""
    parts = [each for box in body(app).all(class_="pd-composed") for each in box.children]
    return [part.one(class_="pd-told").text for part in parts if part.attributes.get("class") == "pd-quote"]


def slices(*parts: PassagePart) -> list[str]:
    """The same, from the articles."""
    texts = {article.id: article.text for article in ARTICLES}
    between = {CUT: "", DISTANCE: "", DEAD_TREE: "\n[…]\n"}
    return [between[part].join(texts[part.article_id][a:b] for a, b in part.spans) for part in parts]


def progress(app: AppTest) -> str:
    return body(app).one(class_="pd-progress").text


def keys(app: AppTest) -> list[str]:
    return [button.key or "" for button in app.button]


def until(happens: Callable[[], bool]) -> None:
    end = time.monotonic() + 10
    while not happens():
        assert time.monotonic() < end
        time.sleep(0.01)


# --- without a model ---


def test_without_a_model_the_likely_articles_own_sentences_answer() -> None:
    app = opened(None, engine=FakeEngine(confidence=0.9, answer_set=3))
    box = body(app).one(class_="pd-quoted")

    assert headings(app)[0] == "3 articles à regarder"
    assert box.attributes["aria-label"] == "Ce que disent ces articles"
    assert [item.one("a").attributes["href"] for item in box.all("li")] == ["#pd-1"]
    assert [item.one("a").text for item in box.all("li")] == ["Article 672"]
    assert box.all("li")[0].one(class_="pd-brought").text == ARTICLES[1].text[20:40]
    other = FakeEngine(articles=(ARTICLES[0], *ARTICLES[2:]))
    [item] = body(opened(None, engine=other)).one(class_="pd-quoted").all("li")
    assert [mark.text for mark in item.all("mark")] == ["arbre", "de p"]
    assert [mark.attributes.get("class") for mark in item.all("mark")] == [None, "pd-law"]
    assert item.one("blockquote").text == ARTICLES[0].text[:40]
    assert not item.all(class_="pd-brought")
    assert "write" not in keys(app)
    assert "#pd-written" not in [a.attributes["href"] for a in body(app).all("a")]


def test_a_summary_is_labelled_and_never_quoted_as_law() -> None:
    box = body(opened(None)).one(class_="pd-quoted")

    assert [badge.text for badge in box.all(class_="pd-badge")] == ["résumé"]
    assert not box.all("q")
    assert "Seul le texte officiel fait foi." in box.text


def test_two_time_limits_of_the_quoted_article_are_told() -> None:
    box = body(opened(None, engine=many_laws(), locale="en-GB")).one(class_="pd-quoted")

    assert [[each.text for each in limits.all("strong")] for limits in box.all(class_="pd-limits")] == [
        ["2 mois", "3 ans"]
    ]
    assert "(from: la lettre du voisin)" in box.all(class_="pd-limits")[0].text
    assert "Otherwise" not in box.text  # its card says it
    assert len(box.all("blockquote")) == 1


@pytest.mark.slow
def test_a_model_is_given_articles_with_a_text_alone() -> None:
    model = FakeModel()
    app = written(model, engine=many_laws())
    assert model.sent[0].articles == SHOWN
    assert "#pd-written" in [a.attributes["href"] for a in body(app).all("a")]

    engine = many_laws()
    engine.alone = True
    app = opened(FakeModel(), engine=engine)
    assert len(cards(app)) == 1
    assert "write" not in keys(app)
    assert headings(app)[0] == "Un article à regarder"
    assert "#pd-written" not in [a.attributes["href"] for a in body(app).all("a")]


def test_the_model_is_told_from_which_address_it_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rag.visits.network", lambda _: "192.0.2.7")
    model = FakeModel()
    written(model)
    assert model.addresses == ["192.0.2.7"]


def test_official_law_is_quoted_and_not_labelled() -> None:
    box = body(opened(None, engine=FakeEngine(card=OFFICIAL))).one(class_="pd-quoted")

    assert len(box.all("q")) == 1
    assert not box.all(class_="pd-badge")


@pytest.mark.parametrize(
    ("question", "engine"),
    [
        (QUESTION, FakeEngine(confidence=0.2, doubtful=True)),
        ("droit belge : quel arbre planter ?", FakeEngine()),
        ("recette de tarte aux pommes avec un arbre", FakeEngine()),
        ("xylophone", FakeEngine()),
    ],
)
def test_what_probably_does_not_answer_is_not_quoted(question: str, engine: FakeEngine) -> None:
    quoter = FakeQuoter()
    app = ask(page(engine, answers=Answers(quoter)), question)

    assert not quoter.asked
    assert not body(app).all(class_="pd-quoted")


def test_sentences_that_have_nothing_to_do_with_the_question_are_no_answer() -> None:
    app = ask(page(answers=Answers(FakeQuoter(score=0.0))), QUESTION)

    assert not body(app).all(class_="pd-quoted")
    assert len(cards(app)) == 3


def test_of_a_passage_that_is_too_long_the_beginning_is_no_answer() -> None:
    app = ask(page(answers=Answers(FakeQuoter(long=True))), QUESTION)

    assert not body(app).all(class_="pd-quoted")
    assert len(cards(app)) == 3


# --- what comes before a model ---


def test_nothing_leaves_the_machine_before_the_button_is_pressed() -> None:
    model = FakeModel()
    app = opened(model)

    assert not model.sent
    told = body(app).all(class_="pd-hint")
    assert any("Scribe 1" in each.text and "Rien n’a encore été envoyé." in each.text for each in told)
    checked(app.radio(key="interface").set_value("en").run())
    assert not model.sent
    press(app, "write")
    assert [(s.question, s.articles, s.as_of, s.language) for s in model.sent] == [
        (QUESTION, SHOWN, "2025-01-01", "fr")
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "told", "not_told"),
    [
        (FakeModel(), "none of the model’s own words", "Juge 1"),
        (judged(), "Juge 1 checks each sentence against them. What it does not confirm is marked", "goes to"),
        (judged(withholds=True), "What it does not confirm is left out, and the gap", "marked “not"),
        (judged(judge_local=False), "these articles go to Juge 1. Another machine may run that too.", "?!"),
    ],
)
def test_the_offer_says_what_will_be_shown(model: FakeModel, told: str, not_told: str) -> None:
    offer = body(opened(model, locale="en-GB")).text

    assert told in offer
    assert not_told not in offer


@pytest.mark.slow
def test_where_it_goes_is_told() -> None:
    there, here = (body(opened(FakeModel(local=local), locale="en-GB")).text for local in (False, True))

    assert "Another machine may run it" in there
    assert "It runs on the machine of this page" in here


def test_the_model_is_shown_no_more_articles_than_its_setting() -> None:
    model = FakeModel(articles=2)
    written(model)

    assert model.sent[0].articles == SHOWN[:2]


@pytest.mark.slow
def test_how_many_articles_may_follow_from_their_scores() -> None:
    engine = FakeEngine(articles=ARTICLES + tuple(replace(ARTICLES[3], id=f"x{n}") for n in range(5)))
    model = FakeModel(articles=None)
    written(model, "Un arbre planté trop près du voisin, quel dommage", engine)

    assert model.sent[0].articles[:2] == ("672", "671")
    assert len(model.sent[0].articles) == 3  # one that shares a word alone is far below half of the first


@pytest.mark.slow
@pytest.mark.parametrize(
    ("question", "engine", "told"),
    [
        (QUESTION, FakeEngine(confidence=0.2, doubtful=True), "probable qu’aucun de ces articles ne réponde"),
        (
            "le dépôt et l'arbre",
            FakeEngine(confidence=0.2, doubtful=True),
            "un autre texte règle cette question",
        ),
        ("droit belge : quel arbre planter ?", FakeEngine(), "le droit d’un autre pays n’est pas chargé ici"),
        (
            "recette de tarte aux pommes avec un arbre",
            FakeEngine(),
            "ne semble pas être une question de droit",
        ),
    ],
)
def test_a_model_is_not_asked_what_these_articles_cannot_answer(
    question: str, engine: FakeEngine, told: str
) -> None:
    model = FakeModel()
    app = opened(model, question, engine)

    assert told in progress(app)
    assert "write" not in keys(app)
    assert not model.sent
    assert cards(app)
    assert body(app).all("ul")  # what to try


@pytest.mark.slow
def test_what_is_no_law_is_said_once() -> None:
    app = opened(None, "recette de tarte aux pommes avec un arbre", FakeEngine(confidence=0.2, doubtful=True))

    assert len(body(app).all(class_="pd-doubt")) == 1
    assert headings(app)[1].endswith("plus proches") or headings(app)[1] == "L’article le plus proche"


def test_another_country_s_law_is_said_above_the_cards() -> None:
    app = opened(None, "droit belge : quel arbre planter ?")

    assert headings(app)[0] == "Votre question semble porter sur le droit d’un autre pays"
    assert "Code civil (fictif)" in body(app).one(class_="pd-doubt").text


def test_help_comes_first_of_all() -> None:
    for app in (opened(None, ARREST), opened(None, "mon mari me frappe et menace de me tuer xylophone")):
        box = body(app).one(class_="pd-urgent")

        assert headings(app)[0] == "Si cela vous arrive, cherchez d’abord de l’aide"
        assert box.attributes["role"] == "alert"
        assert "tel:17" in [link.attributes["href"] for link in box.all("a")]


def test_a_short_time_limit_is_said_and_is_no_alarm() -> None:
    app = opened(None, "J'ai reçu une OQTF à cause de l'arbre")

    assert headings(app)[0] == "Un délai court peut-être déjà"
    assert "gardez la lettre" in body(app).one(class_="pd-running").text
    assert not body(app).all(class_="pd-urgent")


def test_personal_data_are_taken_out_unless_the_person_wants_otherwise() -> None:
    model = FakeModel()
    app = opened(model, PERSONAL)

    assert "un nom, un numéro de téléphone" in body(app).one(class_="pd-personal").text
    without = body(app).one(class_="pd-sent").text
    assert "Dupont" not in without
    assert "06 12" not in without
    press(app, "write")
    [sent] = model.sent
    assert sent.question == without
    assert without in body(app).text  # what was sent is told afterwards


@pytest.mark.slow
def test_personal_data_may_be_sent_as_typed() -> None:
    model = FakeModel()
    app = opened(model, PERSONAL)
    checked(app.radio(key="sent_as").set_value("as typed").run())
    assert body(app).one(class_="pd-sent").text == PERSONAL
    press(app, "write")

    assert model.sent[0].question == PERSONAL


def test_personal_data_may_be_changed_by_hand_and_are_looked_for_again() -> None:
    model = FakeModel()
    app = opened(model, PERSONAL)
    checked(app.radio(key="sent_as").set_value("edited").run())
    assert "Dupont" not in app.text_area(key="sent_text").value
    checked(app.text_area(key="sent_text").set_value("Mon voisin M. Martin plante un arbre").run())
    assert "Elle semble encore contenir\u00a0: un nom." in body(app).text
    checked(app.text_area(key="sent_text").set_value("Mon voisin plante un arbre").run())
    press(app, "write")

    assert model.sent[0].question == "Mon voisin plante un arbre"


@pytest.mark.slow
@pytest.mark.parametrize("emptied", ["", " \n"])
def test_a_question_that_was_emptied_is_sent_without_personal_data(emptied: str) -> None:
    model = FakeModel()
    app = opened(model, PERSONAL)
    without = body(app).one(class_="pd-sent").text
    checked(app.radio(key="sent_as").set_value("edited").run())
    checked(app.text_area(key="sent_text").set_value(emptied).run())
    assert body(app).one(class_="pd-sent").text == without  # said before anything leaves
    press(app, "write")

    assert model.sent[0].question == without


# --- an answer ---


def test_an_answer_of_passages_stands_among_the_articles() -> None:
    app = written(FakeModel(name="Scribe 2"))

    assert len(cards(app)) == 3
    told = "La réponse est terminée. Chaque passage figure mot pour mot dans le résumé de son article."
    assert progress(app) == told
    assert panel(app) == ["pd-line", "pd-quote", "pd-line", "pd-quote", "pd-quote"]
    assert [each.text for each in body(app).all(class_="pd-line")] == ["La règle\u00a0:", "Mais\u00a0:"]
    assert law(app) == slices(CUT, DISTANCE, DEAD_TREE)
    [box] = body(app).all(class_="pd-composed")
    quotes = box.all(class_="pd-quote")
    assert [each.one("a").attributes["href"] for each in quotes] == ["#pd-1", "#pd-2", "#pd-1"]
    assert [each.one(class_="pd-badge").text for each in quotes] == ["résumé"] * 3
    assert not box.all("q")
    assert [each.text for each in quotes[1].all(class_="pd-brought")] == [ARTICLES[0].text[122:173]]
    assert not quotes[0].all(class_="pd-brought")
    notice = body(app).one(class_="pd-machine").text
    assert "(Scribe 2) a désigné ces passages. Aucun mot de lui n’est affiché." in notice
    assert "une information juridique, pas un conseil" in notice
    assert "1er janvier 2025" in notice


def test_what_the_answer_says_in_the_end_replaces_what_had_come() -> None:
    app = written(FakeModel((WritingStarted(), RULE, CUT, Answer(Ending.WRITTEN, (DISTANCE,)))))

    assert law(app) == slices(DISTANCE)
    assert not body(app).all(class_="pd-line")
    assert len(body(app).all(class_="pd-quote")) == 1 + 1  # the one above the cards


def test_lines_are_in_the_language_of_the_page() -> None:
    app = opened(FakeModel(), locale="en-GB")
    press(app, "write")

    assert [each.text for each in body(app).all(class_="pd-line")] == ["The rule:", "But:"]


def test_passages_of_official_law_are_quoted() -> None:
    app = written(FakeModel(), engine=FakeEngine(card=OFFICIAL))
    [box] = body(app).all(class_="pd-composed")

    assert [each.text for each in box.all("q")] == slices(CUT, DISTANCE, DEAD_TREE)
    assert not box.all(class_="pd-badge")


@pytest.mark.slow
def test_claims_stand_with_the_law_that_carries_them() -> None:
    app = written(judged(name="Scribe 2"))
    first, second, doubted = said(app)

    assert panel(app) == ["pd-said", "pd-said", "pd-left-out", "pd-said", "pd-left-out"]
    assert first.all("p")[0].text == f"{MAY_CUT.text} (Article 672)"
    assert [link.attributes["href"] for link in second.all("p")[0].all("a")] == ["#pd-2", "#pd-1"]
    [carried] = first.one("details").all(class_="pd-told")
    assert carried.text == ARTICLES[1].text[:79]
    assert [each.text for each in second.one("details").all(class_="pd-told")] == [
        ARTICLES[0].text[:121],
        ARTICLES[1].text[:79],
    ]
    assert first.one("details").one(class_="pd-badge").text == "résumé"
    assert doubted.one(class_="pd-doubted").text == "non vérifié"
    assert UNSURE.text in doubted.text
    assert not doubted.all("details")
    assert not first.all(class_="pd-doubted")
    assert [each.text for each in body(app).all(class_="pd-left-out")] == [
        "Une phrase a été retirée ici.",
        "Une phrase a été retirée ici\u00a0: les articles disent le contraire.",
    ]
    assert "non vérifié" in progress(app)
    notice = body(app).one(class_="pd-machine").text
    assert "Scribe 2" in notice
    assert "Juge 1" in notice
    assert LIE.statement.text not in body(app).text


def test_claims_that_were_all_verified_say_so() -> None:
    answer = Answer(Ending.WRITTEN, (MAY_CUT, TWO_METRES), judge="Juge 1")

    assert progress(written(judged(answer))).startswith("La réponse est terminée. Chaque phrase")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("reason", "told"),
    [("", "n’a pas pu être vérifié"), (str(FailureReason.JUDGE), "le vérificateur ne s’est pas prononcé")],
)
def test_of_an_answer_that_was_not_verified_the_law_is_shown(reason: str, told: str) -> None:
    app = written(judged(replace(UNVERIFIED, reason=reason)))

    assert told in progress(app)
    assert progress(app).endswith("Vous voyez à la place les passages qu’il a cités.")
    assert law(app) == slices(CUT, DISTANCE)
    assert not said(app)
    assert "Juge 1" not in body(app).one(class_="pd-machine").text
    assert "rewrite" in keys(app)
    assert LIE.statement.text not in body(app).text


def test_what_was_not_read_and_not_shown_is_told() -> None:
    app = written(FakeModel((WritingStarted(), *GOOD, TRIMMED)))
    everything = body(app).text

    assert "Une ligne du modèle de langue n’a pas pu être lue." in everything
    assert "2 passages n’apparaissent que sur leur fiche." in everything
    assert "Le modèle n’a vu qu’une partie de\u00a0: Article 672." in everything
    assert "Le modèle n’a pas vu\u00a0: Article 673." in everything
    assert progress(app) == "La réponse du modèle de langue a été coupée. Ce qui est affiché a été vérifié."
    assert "rewrite" in keys(app)


def test_a_finished_answer_is_not_asked_for_again() -> None:
    assert "rewrite" not in keys(written(FakeModel((WritingStarted(), *GOOD, WRITTEN))))


@pytest.mark.parametrize(
    ("model", "heading", "button"),
    [
        (
            FakeModel((WritingStarted(), *GOOD, WRITTEN)),
            "Des passages pour votre question",
            "Choisir les passages",
        ),
        (judged(), "Une réponse rédigée", "Rédiger une réponse"),
    ],
)
def test_what_is_chosen_is_not_called_written(model: FakeModel, heading: str, button: str) -> None:
    app = opened(model)

    assert heading in headings(app)
    assert [each.label for each in app.button if each.key == "write"] == [button]


@pytest.mark.parametrize(
    ("model", "told"),
    [
        (ending(Ending.REFUSED), "Selon le modèle de langue, ces articles ne suffisent pas"),
        (
            ending(Ending.EMPTY, removed=(LIE,), judge="Juge 1"),
            "Rien de ce que le modèle de langue a écrit n’a pu être vérifié.",
        ),
        (ending(Ending.EMPTY, FailureReason.UNREADABLE), "n’a rien écrit qui ait pu être vérifié"),
        (ending(Ending.FAILED, FailureReason.DEAD), "Le modèle de langue est injoignable."),
        (ending(Ending.FAILED, FailureReason.SLOW), "n’a pas répondu à temps"),
        (ending(Ending.LIMITED, FailureReason.BUSY, wait=42), "Réessayez dans 42 secondes."),
        (FakeModel((WritingStarted(), WRITTEN), breaks=True), "La réponse n’a pas pu être écrite."),
    ],
)
def test_whatever_goes_wrong_the_articles_stay_and_it_is_said(model: FakeModel, told: str) -> None:
    app = written(model)

    assert told in progress(app)
    assert "rewrite" in keys(app)
    assert len(cards(app)) == 3
    assert not panel(app)
    assert not body(app).all(class_="pd-machine")


def test_what_passed_before_it_broke_off_stays() -> None:
    broken = Answer(Ending.FAILED, (CUT,), reason=str(FailureReason.BROKEN))
    app = written(FakeModel((WritingStarted(), CUT, broken)))

    assert law(app) == slices(CUT)
    assert "s’est rompue" in progress(app)
    assert body(app).one(class_="pd-machine")


def test_trying_again_goes_back_to_the_offer() -> None:
    model = ending(Ending.FAILED, FailureReason.DEAD)
    app = press(written(model), "rewrite")

    assert "write" in keys(app)
    assert len(model.sent) == 1


def test_an_answer_is_kept_and_never_asked_for_twice() -> None:
    model = FakeModel()
    app = written(model)
    checked(app.radio(key="interface").set_value("en").run())
    checked(app.run())

    assert law(app) == slices(CUT, DISTANCE, DEAD_TREE)
    assert progress(app).startswith("The answer is finished.")
    assert len(model.sent) == 1


def test_a_failure_is_told_in_the_language_that_the_page_has_now() -> None:
    app = written(ending(Ending.LIMITED, FailureReason.BUSY, wait=42))
    checked(app.radio(key="interface").set_value("en").run())

    assert progress(app) == "Too many answers were asked for. Try again in 42 seconds."


def test_another_question_forgets_the_answer() -> None:
    model = FakeModel()
    app = ask(written(model), "un arbre mort et le voisin")

    assert not panel(app)
    assert "write" in keys(app)
    press(app, "write")
    assert [each.question for each in model.sent] == [QUESTION, "un arbre mort et le voisin"]
    assert len({each.session for each in model.sent}) == 1  # counted as one person's calls


@pytest.mark.parametrize(
    "other", ["un arbre mort et le voisin", "recette de tarte avec un arbre", "xylophone"]
)
def test_another_question_ends_the_answer_that_is_being_written(other: str) -> None:
    model = FakeModel(waits=2)
    app = opened(model)
    kept = app.session_state["answer"]
    kept.running = BackgroundAnswer(model.for_session("a", str, None).write(QUESTION, ARTICLES, "fr"))
    ask(app, other)

    assert model.closed.wait(10)


@pytest.mark.slow
def test_two_people_are_counted_apart() -> None:
    model = FakeModel()
    written(model)
    written(model)

    assert len({each.session for each in model.sent}) == 2


def test_a_hostile_model_over_a_hostile_corpus_is_only_text() -> None:
    engine = FakeEngine(card=HOSTILE_CARD, articles=HOSTILE_ARTICLES)
    events = (WritingStarted(), HOSTILE_LAW, Answer(Ending.WRITTEN, (HOSTILE, HOSTILE_LAW), reason=EVIL))
    app = written(FakeModel(events, name=EVIL, judge=EVIL), "arbre", engine)
    [first] = said(app)

    assert EVIL in first.text
    assert not [found for name in ("img", "script", "iframe", "svg", "b") for found in body(app).all(name)]
    assert not [a for a in first.all("a") if not a.attributes["href"].startswith("#pd-")]
    assert EVIL in body(app).one(class_="pd-machine").text


def test_an_article_that_is_not_shown_is_never_cited() -> None:
    odd = replace(
        MAY_CUT,
        article_ids=("672", "nowhere"),
        passages=(*MAY_CUT.passages, replace(MAY_CUT.passages[0], article_id="nowhere")),
    )
    nowhere = replace(CUT, article_id="nowhere")
    app = written(judged(Answer(Ending.WRITTEN, (odd, nowhere), judge="Juge 1")))
    [first] = said(app)

    assert first.all("p")[0].text == f"{MAY_CUT.text} (Article 672)"
    assert len(first.one("details").all(class_="pd-told")) == 1
    assert not law(app)


# --- while it is written ---


def test_an_answer_that_is_dropped_ends_its_request() -> None:
    model = FakeModel(waits=1)
    underway = BackgroundAnswer(model.for_session("a", str, None).write(QUESTION, ARTICLES, "fr"))
    assert underway.after(0, 10) == [WritingStarted()]
    del underway
    gc.collect()

    assert model.closed.wait(10)


def test_an_answer_that_is_stopped_keeps_what_had_passed() -> None:
    model = FakeModel(waits=3)
    underway = BackgroundAnswer(model.for_session("a", str, None).write(QUESTION, ARTICLES, "fr"))
    until(lambda: len(underway.after(0, 0)) == 3)
    underway.stop()
    until(lambda: len(underway.after(0, 0)) == 4)

    assert underway.after(3, 0) == [Answer(Ending.STOPPED, (RULE, CUT))]
    assert model.closed.is_set()


def test_an_answer_that_nobody_looks_at_any_more_is_stopped() -> None:
    model = FakeModel(waits=1)
    underway = BackgroundAnswer(model.for_session("a", str, None).write(QUESTION, ARTICLES, "fr"), unread=0.2)

    assert model.closed.wait(10)
    until(lambda: len(underway.after(0, 0)) == 2)
    assert underway.after(1, 0) == [Answer(Ending.STOPPED)]


def test_events_are_waited_for_no_longer_than_said() -> None:
    underway = BackgroundAnswer(
        FakeModel(waits=0).for_session("a", str, None).write(QUESTION, ARTICLES, "fr")
    )

    assert underway.after(0, 0.01) == []


def test_a_page_that_is_drawn_anew_meets_the_same_answer() -> None:
    # AppTest waits for a run to end, so the answer is begun beside it, as another run of the page would have.
    model = FakeModel(waits=2)
    app = opened(model)
    kept = app.session_state["answer"]
    kept.sent = QUESTION
    kept.running = BackgroundAnswer(model.for_session("a", str, None).write(QUESTION, ARTICLES, "fr"))
    until(lambda: len(kept.running.after(0, 0)) == 2)
    model.go.set()
    app = checked(app.run())

    for text in slices(CUT, DISTANCE, DEAD_TREE):
        assert text in body(app).text
    assert len(model.sent) == 1


# --- what is wrong with the settings ---


def test_a_wrong_setting_leaves_the_articles_and_a_word_for_whoever_runs_the_page() -> None:
    wrong = ANSWERS["problem"]
    app = ask(page(answers=wrong), QUESTION)

    assert "Les réponses rédigées ne sont pas disponibles" in body(app).text
    assert body(app).one("pre").text == wrong.problem
    assert len(cards(app)) == 3
    assert "write" not in keys(app)


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("PANDECT_MODEL", "nothing", "PANDECT_MODEL: got 'nothing'"),
        ("PANDECT_MODEL_FROMAT", "lines", "PANDECT_MODEL_FROMAT is no setting"),
        ("PANDECT_MODEL_KEY", "sk-geheim mit leerzeichen", "PANDECT_MODEL_KEY: got a value of 25 characters"),
    ],
)
def test_a_mistyped_setting_is_told_without_a_key(
    name: str, value: str, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PANDECT_MODEL", "openai:scripted")
    monkeypatch.setenv(name, value)
    engine_cache.model.clear()
    found, problem = engine_cache.model()
    engine_cache.model.clear()

    assert found is None
    assert told in problem
    assert "geheim" not in problem


def test_a_missing_extra_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PANDECT_MODEL", "openai:scripted")
    monkeypatch.setattr(
        "rag.answer.generation.writer.find_spec", lambda name: None if name == "langchain" else object()
    )
    engine_cache.model.clear()
    found, problem = engine_cache.model()
    engine_cache.model.clear()

    assert found is None
    assert problem.startswith("written answers need langchain: run pip install '.[llm]'")


def test_without_a_named_model_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PANDECT_MODEL", raising=False)
    engine_cache.model.clear()
    assert engine_cache.model() == (None, "")
    engine_cache.model.clear()


# --- a question back ---


def test_a_question_back_is_asked_and_the_choice_can_be_taken_back() -> None:
    engine = FakeEngine(articles=SIDES)
    app = opened(None, SPLIT, engine)
    options = [b.label for b in app.button if (b.key or "").startswith("option-")]
    assert options == ["locataire", "propriétaire"]

    press(app, "option-0")
    asked = engine.asked[-1][0]
    assert asked == f"Je suis locataire. {SPLIT}"
    assert app.text_area(key="question").value == asked
    assert "Votre choix a été ajouté" in body(app).text
    assert not [b for b in app.button if (b.key or "").startswith("option-")]

    press(app, "unclarify")
    assert engine.asked[-1][0] == SPLIT
    assert [b.label for b in app.button if (b.key or "").startswith("option-")] == options


@pytest.mark.parametrize(("long", "stands"), [(False, "above"), (True, "below")])
def test_a_question_back_stands_below_the_quote_or_the_first_card(*, long: bool, stands: str) -> None:
    app = ask(page(FakeEngine(articles=SIDES), answers=Answers(FakeQuoter(long=long))), SPLIT)
    said = [block.body for block in app.html]
    [back] = [n for n, html in enumerate(said) if 'class="pd-small"' in html and "propriétaire ?" in html]
    card = next(n for n, html in enumerate(said) if "<article" in html)
    assert ("above" if back < card else "below") == stands


REGIONS = tuple(
    Article(region, "Code wallon et flamand", "1", "Le bail du logement se fait par écrit.", region=region)
    for region in ("Flandre", "Wallonie", "Bruxelles")
)
LEASE = "Le bail de mon logement doit-il être écrit ?"


def asked_back(**query: str) -> AppTest:
    """The page where the first articles are those of several regions."""
    regions = {article.region or "": 1 for article in REGIONS}
    engine = FakeEngine(articles=REGIONS, offers=FakeFacets(regions=regions))
    return ask(page(engine, answers=Answers(FakeQuoter()), **query), LEASE)


def region_of(app: AppTest) -> tuple[list[str], list[str]]:
    """What the box of regions says, and what the address says of it."""
    told = app.query_params.get("regions", [])
    return app.multiselect(key="regions").value, [told] if isinstance(told, str) else told


def test_a_region_that_was_chosen_in_a_question_back_stands_in_the_address() -> None:
    app = asked_back()
    labels = [b.label for b in app.button if (b.key or "").startswith("option-")]
    assert labels == ["Bruxelles", "Flandre", "Wallonie"]
    press(app, "option-1")
    assert region_of(app) == (["Flandre"], ["Flandre"])

    press(app, "unclarify")
    assert region_of(app) == ([], [])


def test_taking_a_region_back_leaves_those_that_the_person_had_chosen() -> None:
    own = ["Wallonie", "Flandre"]
    app = asked_back(regions=own)  # type: ignore[arg-type]  # several values of one name
    press(app, "option-0")
    assert region_of(app) == (["Flandre"], ["Flandre"])
    press(app, "unclarify")
    assert region_of(app) == (own, own)

    press(app, "option-0")
    checked(app.multiselect(key="regions").set_value(["Bruxelles"]).run())
    press(app, "unclarify")
    assert region_of(app) == (["Bruxelles"], ["Bruxelles"])  # chosen since, by hand


# --- asking further ---


@pytest.mark.slow
def test_a_follow_up_is_asked_with_what_it_leans_on_by_one_press_and_can_be_changed() -> None:
    engine = FakeEngine()
    app = opened(None, engine=engine)
    app.text_input(key="further").set_value(FOLLOW_UP)
    [go] = [b for b in app.button if b.label == "Continuer"]
    checked(go.click().run())

    whole = f"{QUESTION.removesuffix(' ?')} — {FOLLOW_UP}"
    assert engine.asked[-1][0] == whole
    assert app.text_area(key="question").value == whole
    assert "Votre question a été jointe à la précédente" in body(app).text
    assert app.text_input(key="further").value == ""
    assert app.session_state["conversation"].questions == (QUESTION, whole)

    ask(app, whole + " Et après ?")
    assert engine.asked[-1][0] == whole + " Et après ?"
    assert "Votre question a été jointe à la précédente" not in body(app).text


@pytest.mark.slow
def test_a_follow_up_that_was_begun_goes_with_its_question() -> None:
    app = opened(None)
    app.text_input(key="further").set_value(FOLLOW_UP)
    ask(app, "Mon voisin peut-il creuser un puits ?")

    assert app.text_input(key="further").value == ""


def test_a_follow_up_that_stands_alone_is_asked_at_once() -> None:
    engine = FakeEngine()
    app = opened(None, engine=engine)
    alone = "Les branches du cerisier de ma voisine tombent chez moi, puis-je les couper moi-même ?"
    app.text_input(key="further").set_value(alone)
    [go] = [b for b in app.button if b.label == "Continuer"]
    checked(go.click().run())

    assert engine.asked[-1][0] == alone


# --- the log ---


@pytest.mark.slow
def test_no_question_and_no_answer_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    written(FakeModel((WritingStarted(), *GOOD, TRIMMED), breaks=True), PERSONAL)
    written(FakeModel(), PERSONAL)

    assert "the answer failed with KeyError" in caplog.text
    written(judged(breaks=True), PERSONAL)
    for word in ("Dupont", "clôture", "arraché", "mille euros"):
        assert word not in caplog.text
