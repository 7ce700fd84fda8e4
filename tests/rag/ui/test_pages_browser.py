"""The pages beside "Ask" in a real Chromium: deep links, the way back, the keyboard, hostile addresses."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.fakes.pages.browser import IN_A_BROWSER, Server, ask, visit
from tests.fakes.pages.ui_engine import QUESTION

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Route

pytestmark = [*IN_A_BROWSER, pytest.mark.slow]
LANDED = "text => document.querySelector('[data-arrive]')?.textContent === text"


def landed(page: Page, heading: str) -> None:
    page.wait_for_function(LANDED, arg=heading)


def loads(page: Page) -> list[str]:
    """Addresses that the browser loads anew from now on; a link within the session loads none."""
    seen: list[str] = []
    page.on("request", lambda r: seen.append(r.url) if r.is_navigation_request() else None)
    return seen


def test_a_deep_link_leafing_and_the_way_back(browser: Browser, app: Server) -> None:
    with visit(browser, f"{app.url}/browse?article=CC-671&lang=en") as page:
        landed(page, "Article 671")
        anew = loads(page)
        page.locator("a[rel=next]").click()
        landed(page, "Article 672")
        assert page.url == f"{app.url}/browse?article=CC-672&lang=en"
        page.locator(".pd-trail a").last.click()
        page.locator(".pd-shelf").first.wait_for()
        assert "at=" in page.url
        page.go_back()
        landed(page, "Article 672")
        page.go_back()
        landed(page, "Article 671")
        page.go_forward()
        landed(page, "Article 672")
        assert not anew
        page.reload()
        landed(page, "Article 672")
        assert page.locator("html").get_attribute("lang") == "en"

        page.goto(f"{app.url}/browse?code=Code+civil&lang=en")
        box = page.get_by_role("textbox", name="Search in this code")
        box.fill("clôture")
        box.press("Enter")
        page.locator(".pd-within").wait_for()
        page.reload()
        page.locator(".pd-within").wait_for()  # searched again, and in no address
        assert box.input_value() == "clôture"
        assert page.url == f"{app.url}/browse?code=Code+civil&lang=en"


def test_the_keyboard_alone_goes_from_the_codes_to_an_article(browser: Browser, app: Server) -> None:
    with visit(browser, f"{app.url}/browse?lang=en") as page:
        landed(page, "Browse the codes")
        named = page.get_by_role("link", name="Code civil", exact=True, include_hidden=True)
        theme = page.locator(".pd-laws details", has=named).first
        assert not named.first.is_visible()  # until its theme is unfolded
        theme.locator("summary").focus()
        page.keyboard.press("Enter")
        named.first.wait_for()
        page.keyboard.press("Tab")  # to the first code of the theme
        for _ in range(3):  # down to the first article of the first title
            target = page.evaluate("document.activeElement.closest('a').innerText")
            page.keyboard.press("Enter")
            landed(page, target)
            # from the heading that has the keyboard, the next link is one or two steps away
            page.wait_for_function("document.activeElement.hasAttribute('data-arrive')")
            if page.locator(".pd-reading").count():
                break
            page.locator(".pd-shelf a").first.focus()
        else:
            pytest.fail("three steps down there is an article")
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.closest('.pd-leaf') !== null")


def test_a_question_survives_the_way_to_an_article_and_back(browser: Browser, app: Server) -> None:
    with visit(browser, f"{app.url}/?lang=en") as page:
        ask(page, QUESTION)
        page.locator(".pd-card").nth(9).wait_for(state="attached")
        page.locator(".pd-around summary").first.click()
        page.get_by_role("link", name="Read it in its code").first.click()
        page.locator(".pd-reading").wait_for()
        page.go_back()
        page.wait_for_url(f"{app.url}/?lang=en")
        page.locator(".pd-card").nth(9).wait_for(state="attached")
        same = "asked => document.querySelector('.st-key-question textarea')?.value === asked"
        page.wait_for_function(same, arg=QUESTION)

        page.go_forward()
        page.locator(".pd-reading").wait_for()
        for _ in range(2):  # a reload there, and one more, take nothing of it away
            page.reload()
            page.locator(".pd-reading").wait_for()
        page.locator(".pd-reading h2").click()  # nor does a click on another page
        page.go_back()
        page.locator(".pd-card").nth(9).wait_for(state="attached")
        page.wait_for_function(same, arg=QUESTION)
        assert page.url == f"{app.url}/?lang=en"

        box = page.locator(".st-key-question textarea")
        box.fill("Something else that I only began")
        page.reload()
        page.wait_for_function(same, arg="Something else that I only began")
        page.wait_for_timeout(500)  # what was asked would be sent within a tenth of a second
        assert page.locator(".pd-card").count() == 0  # nobody asked this


def test_a_shared_link_opens_its_articles_alone(browser: Browser, app: Server) -> None:
    with visit(browser, f"{app.url}/?lang=en") as page:
        ask(page, QUESTION)
        page.locator(".pd-card").nth(9).wait_for(state="attached")
        page.locator(".stExpander summary", has_text="Share, keep or print").click()
        address = page.locator(".pd-address code").inner_text()
    assert address.startswith(f"{app.url}/?articles=CC-")
    assert "voisin" not in address
    with visit(browser, address) as page:
        page.locator(".pd-card").nth(9).wait_for(state="attached")
        assert page.locator(".pd-why").count() == 0
        ask(page, QUESTION)
        page.locator(".pd-why").first.wait_for(state="attached")
        page.wait_for_url(f"{app.url}/?lang=en")
        page.go_back()
        page.get_by_text("10 articles were shared").wait_for()


def test_the_sheet_prints_what_stands_in_the_box(browser: Browser, app: Server) -> None:
    with visit(browser, f"{app.url}/sheet?articles=CC-671,CC-1240&lang=en") as page:
        page.get_by_role("textbox").fill("On 3 March\n<b>a tree</b>")
        page.evaluate("window.dispatchEvent(new Event('beforeprint'))")  # as the browser's own print does
        assert page.locator(".pd-facts").inner_text() == "On 3 March\n<b>a tree</b>"
        page.emulate_media(media="print")
        for hidden in (".st-key-pages", ".st-key-facts", ".pd-loaded", ".pd-screen >> nth=0"):
            assert not page.locator(hidden).is_visible()
        assert page.locator(".pd-sheet h4").count() == 2
        assert "tree" not in page.url


LONGEST = "CC-373-2-2,CC-515-11,CC-375-7,CC-63,CC-377,CC-1397,CC-515-7,CC-16-11,CC-57,CC-1799-1"  # ten
MARGINS = dict.fromkeys(("top", "right", "bottom", "left"), "10mm")  # as the style sheet asks for


@pytest.mark.parametrize("articles", [LONGEST, "CC-373-2-2"])
def test_the_sheet_is_one_page_however_much_is_told(browser: Browser, app: Server, articles: str) -> None:
    with visit(browser, f"{app.url}/sheet?articles={articles}&lang=fr") as page:
        page.locator(".pd-sheet").wait_for()
        for told in ("Le 3 mars, mon voisin a coupé ma haie. " * 110, "MON VOISIN\n" * 400):
            page.get_by_role("textbox").fill(told)  # and printed at once: nothing has been sent
            printed = page.pdf(format="A4", margin=MARGINS)  # type: ignore[arg-type]
            assert len(re.findall(rb"/Type */Page\b", printed)) == 1
        facts = page.locator(".pd-facts")
        assert facts.inner_text().count("MON VOISIN") > 300  # cut by the style sheet, which writes "…"
        page.get_by_role("textbox").blur()
        page.wait_for_function("document.querySelector('.pd-facts').textContent.endsWith(' …')")
        assert "un texte a été coupé" in page.locator(".pd-sheet").inner_text()


HOSTILE = [
    "browse?article=%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E",
    "browse?code=%22%3E%3Cscript%3Ealert(1)%3C/script%3E&at=1.1.1&part=99999",
    "?articles=%3Cscript%3Ealert(1)%3C/script%3E,CC-671&index=%3Cb%3E&q=%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E",
    "?add=%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E",
    "sheet?articles=%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E,CC-671",
    "quality?x=%3Cscript%3E",
]


def test_a_hostile_address_does_nothing(browser: Browser, app: Server) -> None:
    with visit(browser, app.url) as page:
        for address in HOSTILE:
            page.goto(f"{app.url}/{address}")
            page.locator(".pd-loaded").wait_for()
            page.wait_for_timeout(200)
            own = page.locator(".stHtml")

            assert own.locator("img:not(.pd-plot), iframe, svg, object, form").count() == 0, address
            assert own.locator("script").count() == 1, address


def test_a_slow_line_takes_no_choice_for_one_that_was_made(browser: Browser, app: Server) -> None:
    """Streamlit loads the box of the day apart; it may come after the run that set it, once empty."""
    with visit(browser, f"{app.url}/browse?lang=en") as page:
        held: list[Route] = []
        page.route("**/DateInput.*.js", lambda route: held.append(route))
        page.goto(f"{app.url}/?lang=en")
        ask(page, QUESTION)
        page.locator(".pd-card").nth(9).wait_for(state="attached")
        assert held, "the box of the day has no file of its own any more"
        held[0].continue_()
        page.locator(".stDateInput input").wait_for(state="attached")
        box = page.get_by_role("textbox", name="Your question", exact=True)
        box.fill("Qui paie les grosses réparations du toit ?")
        box.press("Enter")
        page.locator(".pd-card", has_text="réparations").first.wait_for()
        page.wait_for_timeout(500)  # whatever the box sends, it would have sent by now
        assert page.locator(".stDateInput input").input_value()
        assert page.url == f"{app.url}/?lang=en"
