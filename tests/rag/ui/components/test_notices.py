"""What the page says above the cards: how sure it is, in which language the law is, where a number went."""

from __future__ import annotations

from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from rag.corpus.card import Contact, CorpusCard, Moved, Step
from rag.engine.result import Result
from rag.engine.topic_view import TopicCase
from rag.text import SpellingCorrection
from rag.text.patterns import data
from rag.types import KnownItem, Shown, Why
from rag.ui.html import plain_label
from rag.ui.i18n import LANGUAGES
from tests.fakes.pages.ask_page_driver import ask, body, cards, headings, page, press
from tests.fakes.pages.html_reader import read
from tests.fakes.pages.ui_engine import ARTICLES, CARD, MOVED, QUESTION, FakeEngine, FakeFacets, many_laws

DOUBT = {
    "fr": "Il est probable qu’aucun article du Code civil ne réponde à cette question.",
    "en": "Probably no article of the Code civil answers this.",
}
UNSURE = {
    "fr": "Il n’est pas sûr qu’un de ces articles réponde.",
    "en": "One of these may answer; it is not certain.",
}

SURE = {
    "fr": "La réponse est parmi les 2 premiers (9 fois sur 10).",
    "en": "The answer is among the first 2 (9 times in 10).",
}

WORDS = "arbre planté voisin clôture"  # of no language that is told


def asked(
    language: str = "fr",
    question: str = QUESTION,
    *,
    confidence: float | None = None,
    doubtful: bool = False,
    answer_set: int | None = None,
) -> AppTest:
    engine = FakeEngine(confidence=confidence, doubtful=doubtful, answer_set=answer_set)
    return ask(page(engine, lang=language), question)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("language", "closest"), [("fr", "Les 3 plus proches"), ("en", "The 3 closest articles")]
)
def test_a_doubtful_answer_is_said_above_its_cards(language: str, closest: str) -> None:
    app = asked(language, WORDS, confidence=0.31, doubtful=True)
    box = body(app).one(class_="pd-doubt")

    assert headings(app)[:2] == [DOUBT[language], closest]
    assert len(box.all("li")) == 3
    assert "31" not in box.text
    assert not box.all("strong")
    assert "%" not in box.text
    assert UNSURE[language] not in body(app).text
    assert len(cards(app)) == 3


def test_a_question_in_another_language_is_not_told_to_mind_its_spelling() -> None:
    typed = (SpellingCorrection("tree", "arbr", "arbre"),)
    engine = FakeEngine(mended=typed, doubtful=True, confidence=0.3)
    foreign = body(
        ask(
            page(engine, lang="en"),
            "my neighbour put an arbre against the fence of our garden, what can I do?",
        )
    )

    assert foreign.one(class_="pd-asked-in").text == "Your question is in English; the law here is in French."
    assert not foreign.all(class_="pd-doubt")  # what its words in French find is not known yet
    assert "Check the spelling" not in foreign.text
    assert "Read as" not in foreign.text


@pytest.mark.slow
@pytest.mark.parametrize(
    ("language", "question", "lang", "said", "label", "asked"),
    [
        (
            "fr",
            "My landlord won't give the deposit back",
            "en",
            "Your question is in English; the law here is in French.",
            "Ask in French: propriétaire, dépôt de garantie du locataire",
            "propriétaire, dépôt de garantie du locataire",
        ),
        (
            "en",
            "صاحب البيت لا يريد إرجاع مبلغ الضمان",
            "ar",
            "سؤالك بالعربية، والقانون هنا بالفرنسية.",
            "اسأل بالفرنسية: propriétaire, dépôt de garantie du locataire",
            "propriétaire, dépôt de garantie du locataire",
        ),
        (
            "fr",
            "Komşum her gece gürültü yapıyor",
            "tr",
            "Sorunuz Türkçe; buradaki yasalar Fransızca.",
            "Fransızca sor: voisin, trouble de voisinage",
            "voisin, trouble de voisinage",
        ),
        (
            "en",
            "房东不退押金怎么办？",
            "zh-Hans",
            "您的问题是中文的，这里的法律文本是法文的。",
            "用法文提问：propriétaire、dépôt de garantie du locataire",
            "propriétaire, dépôt de garantie du locataire",
        ),
    ],
)
def test_a_question_in_another_language_is_told_so_and_asked_in_french_by_one_press(
    language: str, question: str, lang: str, said: str, label: str, asked: str
) -> None:
    app = ask(page(FakeEngine(), lang=language), question)
    notice = body(app).one(class_="pd-asked-in")

    assert (notice.text, notice.attributes["lang"]) == (said, lang)
    assert app.button(key="ask-terms").label == plain_label(label)
    press(app, "ask-terms")
    assert app.text_area(key="question").value == asked
    assert not body(app).all(class_="pd-asked-in")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("engine", "question", "notices"),
    [
        (FakeEngine(), QUESTION, 0),
        (FakeEngine(), "What is the name of this?", 1),  # in no legal term
        (FakeEngine(card=replace(CARD, language="de")), "My landlord won't give the deposit back", 1),
        (FakeEngine(), "my husband hits me and the landlord wants the rent", 0),  # under an alarm
    ],
)
def test_no_words_of_french_are_offered(engine: FakeEngine, question: str, notices: int) -> None:
    app = ask(page(engine), question)

    assert len(body(app).all(class_="pd-asked-in")) == notices
    assert "ask-terms" not in [button.key for button in app.button]


@pytest.mark.parametrize(
    "question", ["xylophone of the landlord", "the law of Belgium on my landlord's tree"]
)
def test_the_language_is_said_once_where_nothing_is_found(question: str) -> None:
    told = body(ask(page(FakeEngine(doubtful=True), lang="en"), question)).text
    assert told.count("the law here is in French") == 1
    assert told.count("ask in French") == 0  # above the box it is told until something is asked


@pytest.mark.slow
@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("fr", "Compris comme\u00a0: «\u00a0arbre\u00a0» (vous avez écrit «\u00a0abre\u00a0»)"),
        ("en", "Read as: “arbre” (you wrote “abre”)"),
    ],
)
def test_a_word_that_was_read_as_another_is_told_as_the_law_writes_it(language: str, said: str) -> None:
    typed = (SpellingCorrection("abre", "arbr", "arbre"), SpellingCorrection("<i>x", "rare", "rare"))
    app = ask(page(FakeEngine(mended=typed), lang=language), WORDS)
    [line] = [p.text for p in body(app).all("p") if "abre" in p.text]
    assert line.startswith(said)
    assert "<i>x" in line  # what was typed is text, not markup
    assert "rare" in line
    assert said not in body(asked(language, WORDS)).text


def test_a_notice_speaks_the_language_of_the_question() -> None:
    app = ask(page(FakeEngine(doubtful=True), locale="en-GB"), QUESTION)

    box = body(app).one(class_="pd-doubt")
    assert box.one("h2").text == DOUBT["fr"]
    assert box.attributes["lang"] == "fr"
    assert (
        app.text_area(key="question").label == "Your question"
    )  # the rest of the page stays as it was chosen


@pytest.mark.slow
def test_a_doubt_points_to_people_only_where_some_are_named_and_takes_the_title_of_many_codes() -> None:
    card = replace(CARD, contacts=(), title="Lois de Belgique")
    facets = FakeFacets(codes={"Code civil": 5, "Code rural": 2})
    app = ask(page(FakeEngine(card=card, offers=facets, doubtful=True)), QUESTION)

    assert headings(app)[0] == (
        "Il est probable qu’aucun article de «\u00a0Lois de Belgique\u00a0» ne réponde à cette question."
    )
    assert len(body(app).one(class_="pd-doubt").all("li")) == 2


@pytest.mark.slow
def test_of_many_laws_the_themes_are_told_and_no_title() -> None:
    engine = many_laws(doubtful=True)
    app = ask(page(engine, locale="en-GB"), WORDS)
    assert headings(app)[0] == "Probably no article loaded here answers this."

    scope = (
        "Searched here are 6 laws and codes: housing, work, family, road, land and neighbours, other matters."
    )
    assert scope in body(ask(app, "xylophone")).one(class_="pd-box").text
    assert (
        "Searched here"
        not in body(ask(app, "droit belge : quel arbre planter ?")).one(class_="pd-doubt").text
    )
    assert "The 4 closest articles" in headings(ask(app, "le dépôt et l'arbre voisin planté"))


@pytest.mark.slow
@pytest.mark.parametrize("language", ["fr", "en"])
@pytest.mark.parametrize(
    ("confidence", "answer_set", "unsure", "sure"), [(0.9, None, 1, 0), (0.7, 2, 0, 1), (None, None, 0, 0)]
)
def test_a_confidence_is_one_line(
    language: str, confidence: float | None, answer_set: int | None, unsure: int, sure: int
) -> None:
    app = asked(language, confidence=confidence, answer_set=answer_set)

    assert [p.text for p in body(app).all(class_="pd-unsure")] == [UNSURE[language]] * unsure
    assert [p.text for p in body(app).all(class_="pd-sure")] == [SURE[language]] * sure
    assert not body(app).all(class_="pd-doubt")


@pytest.mark.parametrize("doubtful", [True, False])
def test_a_topic_of_another_law_says_enough(doubtful: bool) -> None:
    app = asked(question="le dépôt de garantie et l'arbre", confidence=0.3, doubtful=doubtful)

    assert body(app).all(class_="pd-elsewhere")
    told = body(app)
    assert not told.all(class_="pd-doubt") + told.all(class_="pd-unsure") + told.all(class_="pd-sure")


@pytest.mark.parametrize(
    ("language", "law", "said"),
    [
        ("en", "fr", ["The law loaded here is in French: ask in French."]),
        ("fr", "zh", ["Les textes chargés ici sont en chinois\u00a0: posez votre question en chinois."]),
        ("fr", "fr", []),
        ("en", "en", []),
        ("en", "xx", []),
    ],
)
def test_the_language_of_the_law_is_said_where_it_is_another(
    language: str, law: str, said: list[str]
) -> None:
    engine = FakeEngine(card=replace(CARD, language=law))
    app = page(engine, lang=language)
    assert [p.text for p in body(app).all(class_="pd-spoken")] == said

    box = body(ask(app, "xylophone")).one(class_="pd-box")
    assert [p.text for p in box.all("strong")] == said


def known(
    found: tuple[str, ...], move: Moved, shown: tuple[int, ...], card: CorpusCard = CARD, language: str = "fr"
) -> str:
    """What is said of one number that the question names."""

    def script(result: object, card: object, language: str) -> None:
        from rag.corpus.card import CorpusCard
        from rag.engine.result import Result
        from rag.ui.components import article_history
        from rag.ui.i18n import words

        assert isinstance(result, Result)
        assert isinstance(card, CorpusCard)
        article_history.renumbering_notices(result, card, words(language))

    items = tuple(Shown(n, ARTICLES[i], 1.0, Why()) for n, i in enumerate(shown, 1))
    item = KnownItem(move.old, move.old, move.code, found, (move,))
    result = Result(move.old, "found", items, (item,))
    app = AppTest.from_function(script, args=(result, card, language), default_timeout=30).run()
    assert not app.exception
    return read("".join(block.body for block in app.html)).one(class_="pd-box").text


PAID = Moved("Code civil", "1240", ("1342-3",), "2016-10-01", "paiement à un créancier apparent")


def test_a_number_in_use_leads_with_what_it_is_now() -> None:
    assert known(("1240",), PAID, (3,)) == (
        "L’article 1240 du Code civil est affiché ci-dessous. Avant le 1er octobre 2016, ce numéro "
        "désignait autre chose\u00a0: paiement à un créancier apparent. "
        "Ce qu’il disait se trouve maintenant à l’article 1342-3."
    )
    assert known(("1382",), MOVED, (4, 3)).endswith("à l’article 1240 (affiché aussi).")


def test_a_number_that_a_filter_hides_is_not_promised() -> None:
    assert known(("1240",), PAID, ()).startswith(
        "L’article 1240 du Code civil existe, mais ne fait pas partie des articles affichés."
    )


@pytest.mark.parametrize(
    ("move", "said"),
    [
        (MOVED, "Before 1 October 2016, this number stood for this: réparer le dommage que l'on cause par sa "
         "faute. "),
        (replace(MOVED, since=None, about="la faute."), "This number used to stand for this: la faute. "),
        (replace(MOVED, since=None, about=None), ""),
    ],
)  # fmt: skip
def test_a_number_that_nothing_bears_says_so_first(move: Moved, said: str) -> None:
    assert known((), move, (3,), language="en") == (
        f"Article 1382 of the Code civil no longer exists. {said}"
        "What it used to say has moved to article 1240 (shown below)."
    )


def test_no_heading_stands_for_what_an_article_is_about() -> None:
    said = known(("1382",), MOVED, (4, 3))

    assert not [h for article in ARTICLES for h in article.headings if h in said]


@pytest.mark.slow
def test_numbers_of_a_law_of_paragraphs_are_not_called_articles() -> None:
    german = CorpusCard("x", "X", "de", "DE")
    move = Moved("BGB", "611", ("611a", "612"), None, "Dienste <b>")

    assert known((), move, (3,), german, "de") == (
        "§\u00a0611 (BGB) gibt es nicht mehr. Unter dieser Nummer stand früher: Dienste <b>. "
        "Was dort stand, steht jetzt in §\u00a0611a, §\u00a0612."
    )
    assert known((), move, (3,), german, "en").endswith("has moved to §\u00a0611a, §\u00a0612.")
    assert known((), replace(move, code="Grundgesetz"), (3,), german, "de").endswith(
        "steht jetzt in den Artikeln 611a, 612."
    )


STEPS = (
    Step("letter", {"fr": "Écrivez au voisin.", "en": "Write to the neighbour."}, ("67?",)),
    Step("judge", {"fr": "Allez au tribunal."}, ("672",), "https://law.example/court"),
    Step("notary", {"fr": "Voyez un notaire."}, ("7*",)),
)


def test_what_can_be_done_is_told_where_the_first_article_is_likely() -> None:
    engine = FakeEngine(card=replace(CARD, steps=STEPS))
    box = body(ask(page(engine, locale="en-GB"), WORDS)).one(class_="pd-steps")

    assert box.one("h2").text == "What you can do"
    assert [li.text for li in box.all("li")] == ["Write to the neighbour.", "Allez au tribunal. law.example"]
    assert box.one("a").attributes["href"] == "https://law.example/court"
    assert box.all("li")[1].one("span").attributes["lang"] == "fr"  # this text stands in no English


@pytest.mark.parametrize(
    ("engine", "question"),
    [
        (FakeEngine(card=replace(CARD, steps=STEPS), doubtful=True), QUESTION),
        (FakeEngine(card=replace(CARD, steps=STEPS)), "le dépôt de garantie et l'arbre"),
        (FakeEngine(card=replace(CARD, steps=STEPS[2:])), QUESTION),
        (FakeEngine(), QUESTION),
    ],
)
def test_nothing_can_be_done_is_told_of_unlikely_articles(engine: FakeEngine, question: str) -> None:
    assert not body(ask(page(engine), question)).all(class_="pd-steps")


def test_under_an_alarm_nothing_else_speaks_and_the_order_of_protection_is_told() -> None:
    order = Step("order", {"en": "Ask the judge for protection."}, ("671", "9*"), dangers=("violence",))
    engine = FakeEngine(
        card=replace(CARD, steps=(order, *STEPS)),
        doubtful=True,
        confidence=0.1,
        mended=(SpellingCorrection("abre", "arbre", "arbre"),),
        topic=(TopicCase("who ?", "Section"),),
    )
    app = ask(page(engine, locale="en-GB"), "mon mari me frappe, dépôt de garantie, arbre du voisin")
    alarm = body(app).one(class_="pd-urgent")

    assert headings(app)[0] == "Si cela vous arrive, cherchez d’abord de l’aide"  # as the question is asked
    assert "Ask the judge for protection. Article 671" in alarm.text
    assert "article=671" in str(alarm.all("a")[-1].attributes["href"])
    for other in ("pd-elsewhere", "pd-doubt", "pd-read-as", "pd-steps"):
        assert not body(app).all(class_=other)
    assert not [b for b in app.button if (b.key or "").startswith("case-")]
    assert cards(app)


LIMITS = (
    Step("one", {"en": "A month in this law."}, ("671", "672", "none"), "https://law.example/", ("removal",)),
    Step("two", {"en": "Not of this."}, ("671",), dangers=("dismissal",)),
)
ORDER = "I received an OQTF yesterday, arbre du voisin, dépôt"


def test_a_time_limit_is_a_notice_of_its_own_with_its_articles_and_who_helps() -> None:
    people = tuple(Contact(name, topics=("removal",)) for name in ("First", "Second", "Third"))
    card = replace(CARD, contacts=people, steps=LIMITS, jurisdiction="FR")
    app = ask(page(FakeEngine(card=card), locale="en-GB"), ORDER)
    box = body(app).one(class_="pd-running")

    assert headings(app)[0] == "A time limit may be running"
    assert "A month in this law. Article 671" in box.text
    assert "law.example" in box.text
    assert "Not of this." not in box.text
    assert [li.text for li in box.all("li")] == ["First", "Second"]
    assert box.attributes["role"] == "status"
    assert cards(app)
    assert not body(app).all(class_="pd-urgent")
    assert "A month in this law." not in "".join(steps.text for steps in body(app).all(class_="pd-steps"))


def test_under_an_alarm_time_limits_are_quiet_but_for_arrest_and_housing() -> None:
    engine = FakeEngine(card=replace(CARD, steps=LIMITS))
    violence = ask(page(engine, locale="en-GB"), f"my husband beats me. {ORDER}")
    assert not body(violence).all(class_="pd-running")
    assert "A month in this law." not in body(violence).one(class_="pd-urgent").text

    arrest = ask(page(engine, locale="en-GB"), f"my brother was arrested by the police. {ORDER}")
    assert not body(arrest).all(class_="pd-running")
    assert "A month in this law." in body(arrest).one(class_="pd-urgent").text


@pytest.mark.parametrize(
    ("question", "heading", "lang"),
    [
        (
            "mein Mann schlägt mich jeden Tag",
            "Wenn Ihnen das gerade passiert, holen Sie sich zuerst Hilfe",
            "de",
        ),
        ("my husband beats me every day", "If this is happening to you, get help first", None),
    ],
)
def test_the_help_box_speaks_the_language_of_the_question(
    question: str, heading: str, lang: str | None
) -> None:
    box = body(ask(page(FakeEngine(), lang="en"), question)).one(class_="pd-urgent")
    assert box.one("h2").text == heading
    assert box.attributes.get("lang") == lang


@pytest.mark.parametrize(
    ("question", "line", "way"),
    [
        ("mi marido me pega y tengo miedo", "Llame ahora al", None),
        ("زوجي يضربني كل يوم ماذا أفعل", "اتصل", "rtl"),
    ],
)
def test_whom_to_call_is_said_in_a_language_that_the_page_has_not(
    question: str, line: str, way: str | None
) -> None:
    contacts = (Contact("Hotline", phone="3919", topics=("violence",)),)
    app = ask(page(FakeEngine(card=replace(CARD, contacts=contacts)), lang="en"), question)
    first = body(app).one(class_="pd-urgent").all("p")[0]
    assert first.text.startswith(line)
    assert "3919" in first.text
    assert first.attributes.get("dir") == way
    assert headings(app)[0] == "If this is happening to you, get help first"


@pytest.mark.parametrize(
    ("question", "line", "way"),
    [
        ("he recibido una orden de expulsión del territorio francés, OQTF", "Puede que esté corriendo", None),
        ("وصلني قرار بمغادرة الأراضي الفرنسية OQTF", "قد تكون هناك مهلة", "rtl"),
    ],
)
def test_a_time_limit_is_told_in_a_language_that_the_page_has_not(
    question: str, line: str, way: str | None
) -> None:
    first = body(ask(page(FakeEngine(), lang="en"), question)).one(class_="pd-running").all("p")[0]
    assert first.text.startswith(line)
    assert first.attributes.get("dir") == way


def test_what_is_said_in_other_languages_is_said_in_the_same_of_a_danger_and_of_a_time_limit() -> None:
    said = data("rag.screening", "sentences")
    assert len({frozenset(texts) for texts in said.values()}) == 1
    assert not set(said["limit"]) & set(LANGUAGES)
    assert all(text.strip() == text != "" for texts in said.values() for text in texts.values())
