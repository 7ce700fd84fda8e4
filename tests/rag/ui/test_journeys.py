"""Whole ways through the page in a real Chromium: from a question to a file, on a phone, with hostile text.

PANDECT_SCREENSHOTS=FOLDER keeps a picture of each stop. The keyboard's way is in test_accessibility.py; a
model that writes, or fails, in test_answer_browser.py.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.fakes.pages.browser import IN_A_BROWSER, Server, answered, ask, at_rest, picture, visit
from tests.fakes.pages.ui_engine import EVIL, QUESTION

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = [*IN_A_BROWSER, pytest.mark.slow]


def saved(page: Page, name: str) -> str:
    button = page.get_by_role("button", name=name)
    button.wait_for()
    at_rest(page)  # Streamlit forgets a file that is asked for while its part is drawn anew
    with page.expect_download() as download:
        button.click()
    return Path(download.value.path()).read_text(encoding="utf-8")


def test_from_a_question_to_the_official_text_and_a_file(browser: Browser, fake: Server) -> None:
    with visit(browser, f"{fake.url}/?lang=en", accept_downloads=True) as page:
        page.context.route("https://law.example/**", lambda route: route.fulfill(body="the law itself"))
        ask(page, QUESTION)
        card = page.locator(".pd-card").first
        card.wait_for()
        assert page.locator("#pd-written, .st-key-write").count() == 0  # no model is named: none is spoken of
        why = card.locator("details.pd-more").first
        why.locator("summary").first.click()
        assert why.locator("table, li").first.is_visible()
        picture(page, "journey-why", 1280)

        with page.expect_popup() as opened:
            card.get_by_role("link", name="Official text").click()
        assert opened.value.url == "https://law.example/article/672"
        assert opened.value.evaluate("window.opener") is None
        opened.value.close()

        page.locator(".stExpander summary", has_text="Share, keep or print").click()
        text = saved(page, "Save as text (Markdown)")
        assert "672" in text
        assert "voisin a planté" not in text
        card.evaluate("e => { e.sameAsBefore = true; }")
        page.get_by_text("Include my question").click()
        page.wait_for_function("document.querySelector('.pd-address code').textContent.includes('q=')")
        # drawn last: a file that is asked for before is forgotten when its part is drawn anew
        page.get_by_role("button", name="Save a receipt to check (JSON)").wait_for()
        assert QUESTION in saved(page, "Save as text (Markdown)")
        told = json.loads(saved(page, "Save for a program (JSON)"))
        assert [article["id"] for article in told["articles"]] == ["672", "671", "673"]
        assert told["question"] == QUESTION
        proof = json.loads(saved(page, "Save a receipt to check (JSON)"))
        assert (proof["question"], proof["index"]["version"]) == (QUESTION, "3")
        assert card.evaluate("e => e.sameAsBefore")  # nothing flickers: the click has drawn its part alone
        assert why.evaluate("e => e.open")  # a click elsewhere has not closed what was being read
        picture(page, "journey-share", 1280)


def test_a_phone_is_enough(browser: Browser, fake: Server) -> None:
    phone = {"viewport": {"width": 360, "height": 740}, "has_touch": True, "is_mobile": True}
    with visit(browser, fake.url, **phone) as page:
        box = page.get_by_role("textbox", name="Votre question")
        box.tap()
        box.press_sequentially("Un arbre")
        box.press("Enter")  # glass has no other way to a new line
        box.press_sequentially("trop près")
        assert box.input_value() == "Un arbre\ntrop près"
        assert page.locator(".pd-card").count() == 0
        page.get_by_role("button", name="Trouver les articles").tap()
        card = page.locator(".pd-card").first
        card.wait_for()
        card.locator("details.pd-more summary").first.tap()
        assert card.locator("details[open]").count() == 1
        picture(page, "journey-phone", 360)
        assert page.locator("[data-testid=stMain]").evaluate("e => e.scrollWidth - e.clientWidth") <= 0

        page.get_by_role("button", name="Langue").tap()
        page.get_by_text("English", exact=True).tap()
        page.get_by_role("heading", name="2 articles to look at").wait_for()
        assert box.count() == 0  # it has another name now
        assert page.get_by_role("textbox", name="Your question").input_value() == "Un arbre\ntrop près"


HOSTILE = [
    "<script>window.hit = 1</script> arbre <img src=x onerror=window.hit=7>",
    "arbre ![x](https://evil.example/x.png) [y](javascript:window.hit=2) <https://evil.example>",
    "arbre &lt;img src=x onerror=window.hit=3&gt; &#60;svg/onload=window.hit=4&#62;",
    "\"'></textarea></p><iframe srcdoc='<script>parent.hit=5</script>'></iframe> arbre",
    "arbre $$\\href{javascript:window.hit=6}{x}$$ :material/home: :red[x] {{7*7}} ${7*7}",
    "\u202earbre \u2066planté\u2069 " + "é" * 600,
]
SAFE = ("[href^=http]", "[href^='./']", "[href^='#pd-']")  # where a link of the page may lead


def test_nothing_that_is_asked_and_nothing_that_is_found_runs(browser: Browser, fake: Server) -> None:
    small = {"viewport": {"width": 360, "height": 740}}
    with visit(browser, f"{fake.url}/?engine=hostile&answers=hostile", **small) as page:
        for number, question in enumerate(HOSTILE):
            box = page.locator(".st-key-question textarea")
            box.fill(question)
            box.press("Enter")
            answered(page, question)
            if number == 0:
                page.locator(".st-key-write button").click()
                page.locator(".pd-said").wait_for()
            picture(page, f"journey-hostile-{number}", 360)
            main = page.locator("[data-testid=stMain]")
            if page.locator("details[data-more][open]").count() == 0:
                page.locator(".pd-card details", has=page.locator("details[data-more]")).first.locator(
                    "summary"
                ).first.click()
                page.locator("details[data-more] > summary").first.click()  # made only now
            assert EVIL in page.locator(".pd-more[open] q").first.inner_text()
            assert main.locator("img, iframe, object, embed, .katex").count() == 0
            own = page.locator(".stHtml")
            assert own.locator("img, iframe, svg, object, b, form").count() == 0
            assert own.locator("script").count() == 1  # the page's own
            assert own.locator(f"a:not(.pd-skip, {', '.join(SAFE)})").count() == 0
            assert page.locator(".pd-passage").first.inner_text().startswith("<img src=x onerror=alert(4)>")
            assert page.locator("[href^='javascript'], [src^='javascript'], [href*=evil]").count() == 0
            assert main.evaluate("e => e.scrollWidth - e.clientWidth") <= 0
            assert page.evaluate("window.hit") is None
            assert "evil" not in page.url
            assert not re.search("[\u202a-\u202e]", main.inner_text())


OTHER = "Les branches qui dépassent chez moi"


def test_back_and_forward_lead_from_question_to_question(browser: Browser, fake: Server) -> None:
    def stands(question: str) -> None:
        page.wait_for_function(
            "q => document.querySelector('.st-key-question textarea')?.value === q", arg=question
        )
        if question:
            answered(page, question)

    with visit(browser, fake.url) as page:
        ask(page, QUESTION)
        answered(page, QUESTION)
        ask(page, OTHER)
        answered(page, OTHER)
        at_rest(page)
        assert "arbre" not in page.url

        page.go_back()
        stands(QUESTION)
        page.go_forward()
        stands(OTHER)
        page.go_back()
        stands(QUESTION)
        page.reload()  # what was asked is asked again, and the way back still holds
        stands(QUESTION)
        at_rest(page)
        page.go_back()
        stands("")
        page.locator(".pd-card").first.wait_for(state="detached")
        assert page.locator(".pd-box").count() == 0  # nothing is wrong with a page that asks nothing


def test_who_adds_an_article_stays_in_place(browser: Browser, fake: Server) -> None:
    with visit(browser, fake.url) as page:
        ask(page, QUESTION)
        answered(page, QUESTION)
        card = page.locator(".pd-card").nth(2)
        around = card.locator("details.pd-around")
        around.locator("summary").click()
        link = around.locator("a.pd-add").first
        link.scroll_into_view_if_needed()  # a click would
        top = (link.bounding_box() or {})["y"]
        link.click()
        added = around.locator("[data-added]:focus")
        added.wait_for()

        assert added.text_content() == "Déjà dans votre liste"
        assert abs((added.bounding_box() or {})["y"] - top) < 40
        assert page.get_by_text("Vous avez ajouté un article").count() == 1
        # drawn once more, as a busy page is, it keeps the focus
        page.evaluate(
            "document.activeElement.replaceWith(Object.assign("
            "document.activeElement.cloneNode(true), {id: 'drawn-anew'}))"
        )
        page.locator("#drawn-anew:focus").wait_for()


def test_a_tab_that_knows_its_place_and_not_its_questions_writes_no_history_without_end(
    browser: Browser, fake: Server
) -> None:
    with visit(browser, fake.url) as page:
        page.evaluate("history.replaceState({...history.state, pandect: 3}, '')")
        page.evaluate("window.onpagehide = null; sessionStorage.clear()")
        page.reload()
        page.evaluate("sessionStorage.clear()")
        ask(page, QUESTION)
        answered(page, QUESTION)
        at_rest(page)
        before = page.evaluate("history.length")
        for _ in range(3):
            page.evaluate("document.body.append(document.createElement('i'))")
            page.wait_for_timeout(60)

        assert page.evaluate("history.length") == before
