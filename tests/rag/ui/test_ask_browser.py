"""The page in a real Chromium: from `streamlit run` to the first card, and what must not happen on it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.fakes.pages.browser import IN_A_BROWSER, Server, ask, served, visit
from tests.fakes.pages.ui_engine import QUESTION
from tests.paths import ROOT
from training.pages.length import PHONE

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = IN_A_BROWSER


@pytest.mark.slow
def test_the_first_card_answers_and_the_question_is_nowhere(browser: Browser, tmp_path: Path) -> None:
    with served(ROOT / "app.py", tmp_path) as server, visit(browser, server.url) as page:
        box = page.locator(".st-key-question textarea")
        box.fill("Mon voisin")  # the law is being opened: nobody was here before
        page.locator(".pd-loaded").wait_for()
        assert box.input_value() == "Mon voisin"
        ask(page, QUESTION)
        first = page.locator(".pd-card").first
        first.wait_for()

        assert re.search(r"Article 67[12]\s+Code civil", first.locator("h3").inner_text())
        assert first.locator(".pd-badge:not(.pd-likely)").inner_text() == "résumé non officiel"
        assert page.locator("html").get_attribute("lang") == "fr"
        assert "voisin" not in page.url
        page.wait_for_timeout(500)  # what is logged late
    log = server.said()
    assert "Uvicorn" in log or "URL" in log  # it was listening
    for word in ("voisin", "planté", "clôture"):
        assert word not in log
        assert word.encode().hex(" ") not in log.lower()  # as the frames of a socket are printed
        assert word.encode("unicode_escape").decode() not in log


@pytest.mark.slow
def test_the_keyboard_is_enough(browser: Browser, fake: Server) -> None:
    with visit(browser, fake.url) as page:
        box = page.get_by_role("textbox", name="Votre question")
        box.fill("arbre")
        box.press("Shift+Enter")
        box.press_sequentially("trop près")
        assert box.input_value() == "arbre\ntrop près"
        assert page.locator(".pd-card").count() == 0
        box.press("Enter")
        summary = page.locator(".pd-card summary").first
        summary.wait_for()
        summary.focus()
        summary.press("Enter")

        assert page.locator(".pd-card details[open]").count() == 1


@pytest.mark.slow
def test_a_citation_is_copied_in_one_click(browser: Browser, fake: Server) -> None:
    with visit(browser, fake.url, permissions=["clipboard-read", "clipboard-write"]) as page:
        ask(page, QUESTION)
        copy = page.locator(".pd-copy").first
        copy.click()
        page.wait_for_function("document.querySelector('.pd-copy').textContent === 'Copié'")

        assert page.evaluate("navigator.clipboard.readText()") == (
            "C. civ., art. 672 (résumé non officiel, texte\u00a0: janvier 2025, source\u00a0: DILA, LEGI)"
        )
        page.wait_for_function("document.querySelector('.pd-copy').textContent === 'Copier la référence'")


@pytest.mark.slow
def test_the_language_changes_the_page_and_the_address(browser: Browser, fake: Server) -> None:
    with visit(browser, fake.url, locale="en-GB") as page:
        assert page.locator("html").get_attribute("lang") == "en"
        ask(page, QUESTION)
        page.locator(".pd-card").first.wait_for()
        page.get_by_role("button", name="Language").click()
        page.get_by_text("Français", exact=True).click()
        page.get_by_role("heading", name="3 articles à regarder").wait_for()
        page.wait_for_function("document.documentElement.lang === 'fr'")

        assert page.url.endswith("?lang=fr")
        assert page.get_by_role("textbox", name="Votre question").input_value() == QUESTION
        assert page.locator(".pd-card").count() == 3


@pytest.mark.slow
def test_the_question_goes_along_to_the_page_that_compares_and_back(browser: Browser, app: Server) -> None:
    with visit(browser, f"{app.url}/?lang=en") as page:
        ask(page, QUESTION)
        page.locator(".pd-card").first.wait_for()
        page.get_by_role("link", name="About", exact=True).click()
        page.get_by_role("link", name="Compare", exact=True).click()
        page.locator(".pd-column").nth(2).wait_for()

        assert page.url == f"{app.url}/compare?lang=en"
        same = "asked => document.querySelector('.st-key-question textarea')?.value === asked"
        page.wait_for_function(same, arg=QUESTION)
        page.get_by_text("Or take a test question, whose answer is known").wait_for()
        arrow = page.locator("a.pd-move").last
        target = page.locator(arrow.get_attribute("href") or "")
        arrow.click()
        page.wait_for_function("e => e.matches(':target')", arg=target.element_handle())
        details = page.locator(".pd-more").first
        details.locator("summary").click()
        assert details.locator("table").count() >= 2
        page.set_viewport_size({"width": 390, "height": 800})
        main = page.locator("[data-testid=stMain]")
        assert main.evaluate("e => e.scrollWidth - e.clientWidth") <= 0
        tops = {page.locator(".pd-column").nth(n).evaluate("e => e.offsetLeft") for n in range(3)}
        assert len(tops) == 1  # one below the other

        page.get_by_role("link", name="Ask", exact=True).click()
        page.locator(".pd-card").first.wait_for()
        page.wait_for_function(same, arg=QUESTION)
        assert page.url == f"{app.url}/?lang=en"
        assert page.locator(".pd-column").count() == 0
    assert "voisin" not in app.said()


@pytest.mark.slow
def test_a_long_story_gives_way_to_its_answer_and_is_whole_where_it_is_changed(
    browser: Browser, fake: Server
) -> None:
    with visit(browser, fake.url, viewport=PHONE) as page:
        box = page.locator(".st-key-question textarea")
        ask(page, QUESTION + " Et son mur penche, depuis des mois." * 20)
        page.locator(".st-key-question textarea[data-short]").wait_for()
        height = box.evaluate("e => e.clientHeight")
        line = box.evaluate("e => parseFloat(getComputedStyle(e).lineHeight)")
        assert round(height / line, 1) == 3  # whole lines: none is cut through
        assert box.evaluate("e => e.scrollTop") == 0

        box.focus()
        page.wait_for_function("e => !('short' in e.dataset)", arg=box.element_handle())
        assert box.evaluate("e => e.clientHeight") > 2 * height
        box.press_sequentially(" Et le mur ?")
        # left, it stays as it is: what is pressed does not move away
        page.get_by_role("button", name="Trouver les articles").click()
        page.locator(".st-key-question textarea[data-short]").wait_for()


@pytest.mark.slow
def test_the_first_screen_of_a_phone_has_the_box_its_button_and_the_examples(
    browser: Browser, app: Server
) -> None:
    with visit(browser, app.url, viewport=PHONE) as page:
        page.locator(".st-key-examples button").first.wait_for()
        box = page.locator(".st-key-question textarea").bounding_box()
        button = page.get_by_role("button", name="Trouver les articles").bounding_box()
        examples = page.locator(".st-key-examples h2").bounding_box()
        assert box is not None
        assert button is not None
        assert examples is not None
        assert box["y"] + box["height"] < button["y"] < examples["y"] < PHONE["height"]
        assert page.get_by_text("Langue : Français").is_visible()


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_on_paper_stand_the_question_and_its_articles_and_nothing_to_press(
    browser: Browser, fake: Server, scheme: str
) -> None:
    with visit(browser, fake.url) as page:
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        ask(page, QUESTION)
        page.locator(".pd-card").first.wait_for()
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        page.emulate_media(media="print")

        assert page.locator(".pd-print-only").inner_text() == QUESTION
        assert page.locator(".pd-card").first.is_visible()
        pressed = ".pd-skip, .stForm, .stExpander, .st-key-pages, .st-key-languages, .pd-down-to, .pd-copy"
        assert not [each for each in page.locator(pressed).all() if each.is_visible()]
        ground = page.locator(".stApp").evaluate("e => getComputedStyle(e).backgroundColor")
        assert ground == "rgb(255, 255, 255)"  # no beige
        ink = page.locator(".pd-card p").first.evaluate("e => getComputedStyle(e).color")
        assert ink == "rgb(17, 17, 17)"
