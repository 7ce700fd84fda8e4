"""The written answer in a real Chromium: states that test_accessibility.py leaves out, and servers that fail.

PANDECT_SCREENSHOTS=FOLDER keeps a picture of every state, 1280 and 360 pixels wide.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from indexes.corpus.corpus import read
from indexes.store.paths import builtin
from rag.answer.passages import units
from rag.types import Article
from tests.fakes.answers import model_server as scripted
from tests.fakes.pages.browser import IN_A_BROWSER, Server, ask, opened, picture, served, tab, visit
from tests.fakes.pages.ui_answers import ARREST, FOLLOW_UP, SPLIT
from tests.fakes.pages.ui_engine import QUESTION
from tests.paths import ROOT

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

pytestmark = [*IN_A_BROWSER, pytest.mark.slow]
WITHIN = 0.3  # seconds: what the page promises
TRIES = 5  # a busy machine may stand still for longer than that; one try in which it does not is enough
KEY = "clef-tres-secrete-0123456789"
WRITE = re.compile("^(?:Choisir les passages|Rédiger une réponse)$")
PASSAGE = ".st-key-written .pd-quote"
NEXT = "Votre question suivante"
WIDTHS = (1280, 360)


def write(page: Page) -> None:
    page.get_by_role("button", name=WRITE).click()


# state -> query, question, what must be on the page
STATES = {
    "quoted": ("answers=quoted", QUESTION, ".pd-quoted"),
    "quoted-official": ("answers=quoted&engine=official", QUESTION, ".pd-quoted q"),
    "urgent-arrest": ("answers=quoted", ARREST, ".pd-urgent"),
    "other-country-offered": ("answers=written", "droit belge : quel arbre planter ?", ".pd-short"),
}
ENDED = {
    "written-official": ("answers=written&engine=official", ".pd-machine"),
    "refused": ("answers=refused", ".pd-short"),
    "removed": ("answers=removed", ".pd-short"),
    "unreadable": ("answers=unreadable", ".pd-short"),
    "waiting": ("answers=waiting", ".pd-dot"),
}


def _fits(page: Page, name: str) -> None:
    main = page.locator("[data-testid=stMain]")
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        picture(page, name, width)
        assert main.evaluate("e => e.scrollWidth - e.clientWidth") <= 0, width


@pytest.fixture(scope="module")
def comer(browser: Browser, fake: Server) -> Iterator[Page]:
    """One browser that comes anew for every state, to a session without a past; it has the scripts."""
    with visit(browser, fake.url) as page:
        yield page


def come(page: Page, address: str) -> None:
    page.goto(address)
    page.locator(".pd-notice").first.wait_for()


@pytest.mark.parametrize("state", STATES)
def test_every_state_before_an_answer(comer: Page, fake: Server, state: str) -> None:
    query, question, shown = STATES[state]
    come(comer, f"{fake.url}/?{query}")
    ask(comer, question)
    comer.locator(shown).first.wait_for()
    comer.locator(".pd-loaded").wait_for()
    _fits(comer, state)


@pytest.mark.parametrize("state", ENDED)
def test_every_state_of_an_answer(comer: Page, fake: Server, state: str) -> None:
    query, shown = ENDED[state]
    come(comer, f"{fake.url}/?{query}")
    ask(comer, QUESTION)
    comer.locator(".pd-card >> nth=2").wait_for()
    write(comer)
    comer.locator(shown).first.wait_for()
    comer.wait_for_timeout(200)
    assert comer.locator(".pd-card").count() == 3
    assert comer.get_by_role("button", name=WRITE).count() == 0
    _fits(comer, state)


def test_a_follow_up_is_asked_whole_and_stands_in_the_box(browser: Browser, fake: Server) -> None:
    with visit(browser, f"{fake.url}/?answers=quoted") as page:
        ask(page, QUESTION)
        box = page.get_by_role("textbox", name=NEXT)
        box.fill(FOLLOW_UP)
        box.press("Enter")
        page.wait_for_function(
            "said => document.querySelector('.st-key-question textarea').value.endsWith(said)", arg=FOLLOW_UP
        )
        page.get_by_text("Votre question a été jointe à la précédente").wait_for()
        # the box stands at the end of the page, and the run that empties it may still be under way
        page.wait_for_function(
            "name => document.querySelector(`[aria-label='${name}']`).value === ''", arg=NEXT
        )
        _fits(page, "followup")


def test_a_choice_can_be_taken_back(browser: Browser, fake: Server) -> None:
    with visit(browser, f"{fake.url}/?answers=quoted&engine=sides") as page:
        ask(page, SPLIT)
        page.get_by_role("button", name="locataire").click()
        back = page.get_by_role("button", name="Annuler ce choix")
        back.wait_for()
        _fits(page, "chosen")
        back.click()
        page.get_by_role("button", name="locataire").wait_for()


# --- a real page, a real client, and a server that does as it is told ---


@dataclass(frozen=True)
class Site:
    """The page that ships, over a scripted model."""

    server: Server
    model: scripted.Server
    lines: tuple[str, ...]  # of a line and two passages, and what is no passage between them
    texts: tuple[str, str]  # that begin the passages


def _article(number: str) -> Article:
    corpus = read(builtin() / "corpus")
    return next(a for a in corpus.articles if a.article_no == number and a.code == "Code civil")


def _first(article: Article) -> str:
    return article.text[slice(*units(article.text, article.language).spans[0])]


def _environ(model: scripted.Server) -> dict[str, str]:
    """The three variables that turn answers on, and waits and limits that suit a test."""
    return {
        "PANDECT_MODEL": "openai:scripted",
        "PANDECT_MODEL_URL": model.url,
        "PANDECT_MODEL_KEY": KEY,
        "PANDECT_MODEL_RETRIES": "0",
        "PANDECT_MODEL_FIRST_TOKEN": "3",
        "PANDECT_MODEL_BETWEEN": "3",
        "PANDECT_MODEL_PER_HOST": "off",
        "PANDECT_MODEL_PER_SESSION": "2/hour",
        "NO_PROXY": "127.0.0.1",
    }


OWN = "Le voisin doit payer mille euros."  # a model's own words, which no article has


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    first, second = (_article(number) for number in ("671", "672"))
    texts = (_first(first), _first(second))
    lines = (
        scripted.say("rule"),
        scripted.quote(f"{first.id}.1"),
        scripted.sentence(OWN),
        scripted.quote(f"{second.id}.1"),
    )
    folder = tmp_path_factory.mktemp("site")
    with (
        scripted.serving(scripted.silent()) as model,
        served(ROOT / "app.py", folder, **_environ(model)) as server,
    ):
        yield Site(server, model, lines, texts)
        log = server.said()
    for word in (KEY, "planté", "clôture", *texts, "mille euros"):
        assert word not in log
    assert model.seen[0].headers["authorization"] == f"Bearer {KEY}"


@pytest.fixture(scope="module")
def context(browser: Browser) -> Iterator[BrowserContext]:
    """What one person's tabs share: the scripts of the page are loaded once."""
    with opened(browser, viewport={"width": 1280, "height": 900}) as context:
        yield context


@contextmanager
def asked(context: BrowserContext, site: Site) -> Iterator[Page]:
    """A tab with its articles; nothing has been sent yet."""
    before = len(site.model.seen)
    with tab(context, site.server.url) as page:
        ask(page, QUESTION)
        page.locator(".pd-card >> nth=9").wait_for(state="attached")
        page.get_by_role("button", name=WRITE).wait_for()
        assert len(site.model.seen) == before
        yield page
        assert page.locator(".pd-card").count() == 10


def _everything(page: Page) -> str:
    return page.locator("[data-testid=stMain]").inner_text()


WATCH = """texts => {
  window.seen = {};
  const look = () => {
    const panel = document.querySelector(".st-key-written");
    const said = panel ? panel.innerText : "";
    for (const text of texts)
      if (!(text in window.seen) && said.includes(text))
        window.seen[text] = performance.timeOrigin + performance.now();
  };
  new MutationObserver(look).observe(document.body, {subtree: true, childList: true, characterData: true});
}"""


def _late(page: Page, site: Site) -> dict[str, float]:
    """Seconds from a token's departure to what it brings about on the screen."""
    working = "Le modèle de langue travaille…"
    site.model.sent.clear()
    page.evaluate(WATCH, [working, *site.texts])
    write(page)
    page.get_by_text("La réponse est terminée.").wait_for()
    seen = {text: at / 1000 for text, at in page.evaluate("window.seen").items()}
    offset = time.time() - time.monotonic()
    late = {"working": seen[working] - site.model.sent[0].at - offset}
    for number, (text, line) in enumerate(zip(site.texts, site.lines[1::2], strict=True)):
        late[f"passage {number}"] = seen[text] - site.model.sent_by(line.rstrip("\n")) - offset
    return late


def test_work_is_said_with_the_first_token_and_each_passage_with_its_last(
    context: BrowserContext, site: Site, record_property: Callable[[str, object], None]
) -> None:
    site.model.behaviour = scripted.good(site.lines, pause=0.02)
    measured = []
    for _ in range(TRIES):
        with asked(context, site) as page:
            measured.append(_late(page, site))
            assert page.locator(PASSAGE).count() == 2
            assert page.locator(".pd-line").inner_text().startswith("La règle")
            assert OWN not in _everything(page)
        if max(measured[-1].values()) <= WITHIN:
            break
    record_property("seconds late", measured)
    print(measured)  # noqa: T201 - told with -s
    assert max(measured[-1].values()) <= WITHIN, measured


@pytest.mark.parametrize(
    ("name", "behaviour", "told"),
    [
        ("silent", scripted.silent(), "n’a pas répondu à temps"),
        ("limited", scripted.limited("7"), "Réessayez dans 7 secondes"),
        ("broken", scripted.fails(500), "est en panne"),
        ("garbage", scripted.garbage, "n’a rien écrit qui ait pu être vérifié"),
        ("no-protocol", scripted.no_protocol, ""),
        ("refusing", scripted.refusing, "ces articles ne suffisent pas"),
        ("refusing in prose", scripted.good(["Les articles fournis ne permettent pas de répondre."]), ""),
    ],
)
def test_a_server_that_fails_leaves_the_articles_and_a_clear_word(
    context: BrowserContext, site: Site, name: str, behaviour: scripted.Behaviour, told: str
) -> None:
    site.model.behaviour = behaviour
    with asked(context, site) as page:
        write(page)
        short = page.locator(".st-key-written .pd-short")
        short.wait_for()
        assert told in short.inner_text()
        assert page.locator(PASSAGE).count() == 0


@pytest.mark.parametrize(
    "lines",
    [
        [scripted.sentence(OWN)],
        [OWN],
        [f"Voici la réponse. {OWN}\n", f"- {OWN} [A1.1]\n", f"Article 671 : {OWN}\n"],
        ['{"say": "Le voisin doit payer mille euros."}\n', '{"quote": "Le voisin doit payer mille euros."}'],
    ],
)
def test_nothing_that_a_lying_model_writes_is_shown(
    context: BrowserContext, site: Site, lines: list[str]
) -> None:
    site.model.behaviour = scripted.good(lines)
    with asked(context, site) as page:
        write(page)
        page.locator(".st-key-written .pd-progress:not(:has(.pd-dot))").wait_for()
        said = page.locator(".st-key-written").inner_text()
        assert "mille euros" not in said
        assert "Voici" not in said
        law = [" ".join(article.text.split()) for article in read(builtin() / "corpus").articles]
        for words in page.locator(f"{PASSAGE} .pd-told").all_inner_texts():
            for part in words.split("[…]"):
                assert any(" ".join(part.split()) in text for text in law)


def test_a_sloppy_model_is_read_and_the_law_is_shown(context: BrowserContext, site: Site) -> None:
    site.model.behaviour = scripted.good(
        [f"Bien sûr ! Voici ce qui compte :\n\n* {site.texts[0]} (Article 671)\n", "* Voir aussi CC-672.1\n"]
    )
    with asked(context, site) as page:
        write(page)
        page.get_by_text("La réponse est terminée.").wait_for()
        told = page.locator(f"{PASSAGE} .pd-told").all_inner_texts()
        assert all(any(text.startswith(own) for text in told) for own in site.texts)
        assert "Bien sûr" not in page.locator(".st-key-written").inner_text()


def test_stopping_hangs_up_and_keeps_what_had_come(context: BrowserContext, site: Site) -> None:
    site.model.behaviour = scripted.stalls(site.lines[:2])
    site.model.hung_up.clear()
    with asked(context, site) as page:
        write(page)
        page.locator(PASSAGE).wait_for()
        page.get_by_role("button", name="Arrêter").click()
        page.get_by_text("Arrêté.").wait_for()

        assert site.model.hung_up.wait(5)
        assert page.locator(PASSAGE).count() == 1
        assert page.get_by_role("button", name="Arrêter").count() == 0


def test_after_a_failure_one_may_ask_again(context: BrowserContext, site: Site) -> None:
    site.model.behaviour = scripted.in_turn(scripted.fails(500), scripted.good(site.lines))
    with asked(context, site) as page:
        write(page)
        page.get_by_text("est en panne").wait_for()
        page.get_by_role("button", name="Réessayer").click()
        write(page)
        page.get_by_text("La réponse est terminée.").wait_for()

        assert page.locator(PASSAGE).count() == 2


def test_a_page_that_is_drawn_anew_while_it_is_written_goes_on(context: BrowserContext, site: Site) -> None:
    site.model.behaviour = scripted.good(site.lines, pause=0.05)
    before = len(site.model.seen)
    with asked(context, site) as page:
        write(page)
        page.locator(".pd-progress").wait_for()
        page.get_by_role("button", name="Langue").click()
        page.get_by_text("English", exact=True).click()
        page.get_by_text("The answer is finished.").wait_for()

        assert page.locator(PASSAGE).count() == 2
        assert page.locator(".pd-line").inner_text() == "The rule:"
        assert len(site.model.seen) == before + 1


def test_whoever_asks_something_else_hangs_up(browser: Browser, site: Site) -> None:
    site.model.behaviour = scripted.stalls(site.lines)
    site.model.hung_up.clear()
    with visit(browser, site.server.url) as page:
        ask(page, QUESTION)
        page.get_by_role("button", name=WRITE).click()
        page.locator(PASSAGE).first.wait_for()
        page.get_by_role("textbox", name="Votre question", exact=True).fill("un arbre mort")
        page.get_by_role("button", name="Trouver les articles").click()

        assert site.model.hung_up.wait(10)


def test_whoever_leaves_hangs_up(context: BrowserContext, site: Site) -> None:
    site.model.behaviour = scripted.good((*site.lines, *[scripted.sentence(OWN)] * 400), pause=0.05)
    site.model.hung_up.clear()
    with asked(context, site) as page:
        write(page)
        page.locator(PASSAGE).first.wait_for()

    assert site.model.hung_up.wait(30)


def test_one_session_may_ask_so_often(browser: Browser, site: Site) -> None:
    site.model.behaviour = scripted.refusing
    with visit(browser, site.server.url) as page:
        for question in (QUESTION, "un arbre du voisin", "un arbre mort du voisin"):
            page.get_by_role("textbox", name="Votre question", exact=True).fill(question)
            page.get_by_role("button", name="Trouver les articles").click()
            page.get_by_role("button", name=WRITE).click()
            page.locator(".st-key-written .pd-short").wait_for()
        assert "Trop de réponses ont été demandées." in page.locator(".pd-short").inner_text()


# --- with a judge: a second scripted server ---

TRUE = "Le voisin peut demander que l'arbre soit arraché."
ALSO = "L'arbre peut aussi être réduit."
DOUBTED = "Cette règle vaut aussi pour les pots de fleurs."
DENIED = "Le voisin doit garder l'arbre."


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Site, scripted.Server]]:
    law = _article("672")
    text = _first(law)
    lines = tuple(scripted.sentence(claim, (law.id, text)) for claim in (TRUE, ALSO, TRUE, DOUBTED, DENIED))
    folder = tmp_path_factory.mktemp("judged")
    with scripted.serving(scripted.good(lines)) as model, scripted.serving(scripted.silent()) as judge:
        environ = _environ(model) | {
            "PANDECT_JUDGE": "openai:judge",
            "PANDECT_JUDGE_URL": judge.url,
            "PANDECT_JUDGE_KEY": KEY[::-1],
        }
        with served(ROOT / "app.py", folder, **environ) as server:
            yield Site(server, model, lines, (text, text)), judge
            log = server.said()
    for word in (KEY, KEY[::-1], "planté", text, "pots de fleurs"):
        assert word not in log
    assert judge.seen[0].headers["authorization"] == f"Bearer {KEY[::-1]}"


def _verdicts(words: str, *, first: str = "supported", slow: float = 0.0) -> scripted.Behaviour:
    """Judge each claim by itself: what the law says, what it does not, and what it denies."""

    def behave(exchange: scripted.Exchange) -> None:
        prompt = exchange.seen.prompt
        exchange.pause(slow)
        said = "contradicted" if DENIED in prompt else "absent" if DOUBTED in prompt else "supported"
        said = first if TRUE in prompt else said
        scripted.good([scripted.verdict(said, words)])(exchange)

    return behave


def test_claims_are_shown_once_they_have_been_judged(
    context: BrowserContext, judged: tuple[Site, scripted.Server]
) -> None:
    site, judge = judged
    judge.behaviour = _verdicts(site.texts[0], slow=0.7)
    with asked(context, site) as page:
        assert "judge compare chaque phrase aux articles." in page.locator(".st-key-offer").inner_text()
        write(page)
        page.locator(".pd-progress >> text=4 phrases pour l’instant").wait_for()
        assert page.locator(".pd-said").count() == 0
        page.get_by_text("La réponse est terminée.").wait_for()

        said = page.locator(".pd-said > p").all_inner_texts()
        assert [words.split(" (")[0] for words in said] == [TRUE, ALSO, f"non vérifié {DOUBTED}"]
        assert DENIED not in _everything(page)
        assert "les articles disent le contraire" in page.locator(".pd-left-out").inner_text()
        page.locator(".pd-said summary").first.click()
        assert page.locator(".pd-said details[open] .pd-told").inner_text().startswith(site.texts[0])


@pytest.mark.parametrize(
    ("behaviour", "told"),
    [("doubts", "n’a pas pu être vérifié"), ("dead", "le vérificateur ne s’est pas prononcé")],
)
def test_what_a_judge_does_not_confirm_gives_way_to_the_law(
    context: BrowserContext, judged: tuple[Site, scripted.Server], behaviour: str, told: str
) -> None:
    site, judge = judged
    doubts = _verdicts(site.texts[0], first="absent")
    judge.behaviour = doubts if behaviour == "doubts" else scripted.fails(500)
    with asked(context, site) as page:
        write(page)
        short = page.locator(".st-key-written .pd-short")
        short.wait_for()
        assert told in short.inner_text()
        assert page.locator(".pd-said").count() == 0
        assert page.locator(f"{PASSAGE} .pd-told").first.inner_text().startswith(site.texts[0])
        assert TRUE not in _everything(page)
