"""axe-core finds nothing on any page in any state, light and dark; what axe cannot see is tried beside it.

PANDECT_SCREENSHOTS=FOLDER keeps a picture of every state, 1280 and 360 pixels wide, light and dark.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import page_states
import pytest
from browsing import CHROMIUM, FAKE, ROOT, Server, ask, served, visit
from page_fakes import QUESTION
from page_states import State

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on the PATH: apt-get install chromium"),
]
PHONE = {"width": 360, "height": 800}
SCREEN = {"width": 1280, "height": 900}
ZOOMED = {"width": 640, "height": 450}  # a screen of 1280 × 900 pixels at 200 %
FIRST_SCREENS = 3600  # pixels of a picture: what lies deeper is more of the same cards
RUN = "options => axe.run(document, options)"
LINES = """element => {
  // characters of every full line: the last of a paragraph is as long as what is left
  const lines = new Map();
  const walk = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  while (walk.nextNode()) {
    const node = walk.currentNode;
    for (let n = 0; n < node.length; n += 1) {
      range.setStart(node, n);
      range.setEnd(node, n + 1);
      const box = range.getBoundingClientRect();
      if (!box.width) continue;
      const line = Math.round(box.bottom / 8);
      lines.set(line, (lines.get(line) || 0) + 1);
    }
  }
  return [...lines.entries()].sort((a, b) => a[0] - b[0]).map((entry) => entry[1]).slice(0, -1);
}"""


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with served(ROOT / "app.py", tmp_path_factory.mktemp("app")) as server:
        yield server


@pytest.fixture(scope="module")
def fake(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with served(FAKE, tmp_path_factory.mktemp("fake")) as server:
        yield server


@pytest.fixture(scope="module")
def walker(browser: Browser, app: Server) -> Iterator[Page]:
    """One session that goes through all the pages, as a person does; loading each anew takes a minute."""
    with visit(browser, app.url, viewport=SCREEN, reduced_motion="reduce") as page:
        yield page


def axe(page: Page) -> list[str]:
    """What axe-core says against the page, in light, and of contrast in dark too."""
    bundled = pytest.importorskip("axe_playwright_python.base", reason="needs pip install 'pandect[dev]'")
    if not page.evaluate("'axe' in window"):
        page.evaluate(bundled.AXE_SCRIPT)
    said: list[str] = []
    for scheme, options in (("light", {}), ("dark", {"runOnly": ["color-contrast"]})):
        dressed(page, scheme)
        found = page.evaluate(RUN, {"resultTypes": ["violations"], **options})
        if found["violations"]:  # a busy machine is seen half way between two themes; people see what stays
            page.wait_for_timeout(1000)
            found = page.evaluate(RUN, {"resultTypes": ["violations"], **options})
        said += [
            f"{scheme}, {v['impact']}: {v['id']} at {node['target']}: {node['html'][:200]}"
            for v in found["violations"]
            for node in v["nodes"]
        ]
    dressed(page, "light")
    return said


def dressed(page: Page, scheme: str) -> None:
    """Have the page in light or dark; Streamlit's script takes its time to switch."""
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")  # type: ignore[arg-type]
    page.wait_for_function(
        "scheme => getComputedStyle(document.querySelector('.stApp')).colorScheme === scheme", arg=scheme
    )
    page.wait_for_timeout(250)  # its parts follow one after the other


def fits(page: Page) -> bool:
    return bool(page.evaluate("document.querySelector('.stMain').scrollWidth <= document.body.clientWidth"))


def pictures(page: Page, name: str, look: str) -> None:
    """Keep pictures of the page, if they are wanted; of what stands deep below, a selector tells."""
    folder = os.environ.get("PANDECT_SCREENSHOTS")
    if not folder:
        return
    Path(folder).mkdir(parents=True, exist_ok=True)
    for size in (SCREEN, PHONE):
        page.set_viewport_size(size)  # type: ignore[arg-type]
        height = page.locator("[data-testid=stMainBlockContainer]").evaluate("e => e.scrollHeight")
        page.set_viewport_size({"width": size["width"], "height": min(int(height) + 40, FIRST_SCREENS)})
        if look:
            page.locator(look).evaluate("e => e.scrollIntoView({block: 'center'})")
        for scheme in ("light", "dark"):
            dressed(page, scheme)
            page.screenshot(path=Path(folder) / f"{name}-{size['width']}-{scheme}.png")
    page.set_viewport_size(SCREEN)  # type: ignore[arg-type]


def looked_at(page: Page, name: str, state: State) -> None:
    page.set_viewport_size(SCREEN)  # type: ignore[arg-type]
    state.reach(page)
    page.locator(state.shown).first.wait_for()
    page.wait_for_function("document.querySelector('.stApp').dataset.testScriptState === 'notRunning'")
    page.wait_for_function("!document.querySelector('[data-stale=true]')")  # what goes is faded first
    pictures(page, name, state.look)
    assert axe(page) == []
    page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    assert fits(page)


@pytest.mark.parametrize("name", page_states.APP)
def test_axe_finds_nothing_on_any_page(walker: Page, app: Server, name: str) -> None:
    state = page_states.APP[name]
    walker.evaluate(
        "to => { history.pushState({}, '', to); dispatchEvent(new PopStateEvent('popstate', {state: {}})) }",
        f"{app.url}/{state.address}",
    )
    looked_at(walker, name, state)


@pytest.mark.parametrize("name", page_states.FAKE)
def test_axe_finds_nothing_in_any_state(browser: Browser, fake: Server, name: str) -> None:
    state = page_states.FAKE[name]
    with visit(browser, f"{fake.url}/{state.address}", viewport=SCREEN, reduced_motion="reduce") as page:
        looked_at(page, name, state)


def focused(page: Page) -> str:
    # Streamlit's <main> takes the keyboard too, so that it can be scrolled; its text is all of the page
    said = "e.matches('main, body') ? e.tagName : e.getAttribute('aria-label') || e.innerText || e.tagName"
    return str(page.evaluate(f"(e => {said})(document.activeElement)"))


def tab_to(page: Page, wanted: str, most: int = 40) -> None:
    """Press Tab until what is wanted has the keyboard; every stop on the way must be seen."""
    for _ in range(most):
        page.keyboard.press("Tab")
        if wanted in focused(page):
            seen = page.evaluate(
                "(e => getComputedStyle(e).outlineStyle !== 'none')(document.activeElement.matches('input')"
                " ? document.activeElement.closest('label') : document.activeElement)"
            )
            assert seen, f"nobody sees that the keyboard is at {wanted}"
            return
    pytest.fail(f"{most} steps and no {wanted}; the keyboard is at {focused(page)}")


def test_the_keyboard_alone_asks_reads_why_and_takes_it_away(browser: Browser, app: Server) -> None:
    with visit(browser, app.url, viewport=SCREEN, reduced_motion="reduce") as page:
        page.locator(".st-key-examples button").first.wait_for()
        tab_to(page, "Aller au contenu", 2)
        page.keyboard.press("Enter")
        page.wait_for_function("document.activeElement.id === 'pd-content'")
        page.keyboard.press("Tab")
        assert focused(page) == "Votre question"
        page.keyboard.type(page_states.BRIDGED)
        page.keyboard.press("Enter")
        page.wait_for_function("document.activeElement.textContent.includes('articles à regarder')")
        page.keyboard.press("Shift+Tab")
        assert "cette loi dit" in focused(page)  # a word of the law, searched too: taken out again
        page.keyboard.press("Enter")
        page.get_by_role("button", name="remettre").wait_for()
        tab_to(page, "En savoir plus sur ce classement")
        page.keyboard.press("Enter")
        assert page.locator(".pd-card").first.locator(".pd-more[open] table").count() > 1
        page.keyboard.press("Space")
        assert page.locator(".pd-more[open]").count() == 0
        tab_to(page, "Texte officiel")
        assert page.evaluate("document.activeElement.href").startswith("https://www.legifrance.gouv.fr/")
        tab_to(page, "Partager, garder ou imprimer", 120)
        page.keyboard.press("Enter")
        page.locator(".pd-address code").wait_for()
        tab_to(page, "Enregistrer le texte (Markdown)")
        with page.expect_download() as saved:
            page.keyboard.press("Enter")
        assert saved.value.suggested_filename.endswith(".md")


def test_what_is_typed_and_where_the_keyboard_is_outlive_a_rerun(browser: Browser, app: Server) -> None:
    typed = "document.querySelector('.st-key-question textarea')?.value"
    with visit(browser, app.url, viewport=SCREEN) as page:
        page.get_by_role("textbox", name="Votre question").fill("Un arbre")
        page.locator(".stExpander summary").last.click()
        page.get_by_role("radio", name="Mots seulement").focus()
        page.keyboard.press("Space")
        page.wait_for_url("**/?mode=keyword")
        assert page.evaluate(typed) == "Un arbre"
        assert page.evaluate("document.activeElement.closest('.st-key-mode') !== null")
        page.reload()
        page.wait_for_function(typed + " === 'Un arbre'")
        page.locator(".stExpander summary").last.click()
        assert page.get_by_role("radio", name="Mots seulement").is_checked()
        page.go_back()
        page.wait_for_url(app.url + "/")
        page.wait_for_function("!document.querySelector('.st-key-mode input[value=\"1\"]').checked")
        ask(page, QUESTION)
        page.locator(".pd-card").nth(9).wait_for()
        page.reload()
        page.locator(".pd-card").nth(9).wait_for()  # asked again, and in no address
        page.wait_for_function("asked => " + typed + " === asked", arg=QUESTION)
        assert page.url == app.url + "/"
        page.goto(app.url + "/about")
        page.goto(app.url)  # whoever comes anew, in the same tab too, finds nothing of it
        page.locator(".st-key-examples button").first.wait_for()
        assert page.evaluate(typed) == ""
        assert page.evaluate("sessionStorage.length") == 0


def test_lines_of_law_have_sixty_to_seventy_five_characters(browser: Browser, app: Server) -> None:
    with visit(browser, f"{app.url}/browse?article=CC-671", viewport=SCREEN) as page:
        text = page.locator(".pd-text p").first
        text.wait_for()
        read = text.evaluate(LINES)
        ask_here = f"{app.url}/?lang=fr"
        page.goto(ask_here)
        ask(page, QUESTION)
        page.locator(".pd-card").nth(9).wait_for()
        for passage in page.locator(".pd-passage").all():
            read += passage.evaluate(LINES)
        page.set_viewport_size(ZOOMED)  # type: ignore[arg-type]
        assert fits(page)
    middle = sorted(read)[len(read) // 2]
    assert len(read) > 20
    assert 60 <= middle <= 75, sorted(read)
    assert max(read) <= 78, sorted(read)  # a line of narrow letters


def test_without_a_server_the_page_says_so_in_its_language(browser: Browser, tmp_path: Path) -> None:
    with served(FAKE, tmp_path) as server, visit(browser, server.url) as page:
        page.get_by_role("textbox", name="Votre question").fill("Un arbre")
        os.kill(server.process, signal.SIGKILL)
        told = page.locator(".pd-offline")
        told.filter(has_text="Pas de connexion.").wait_for()
        page.wait_for_timeout(1000)
        assert page.get_by_role("dialog").count() == 0
        assert page.get_by_role("textbox", name="Votre question").input_value() == "Un arbre"


def test_who_wants_no_motion_gets_none(browser: Browser, fake: Server) -> None:
    with visit(browser, fake.url, reduced_motion="reduce") as page:
        moving: list[Any] = page.evaluate(
            "[...document.querySelectorAll('.stApp *')].filter(e => { const s = getComputedStyle(e);"
            " return parseFloat(s.transitionDuration) > .01 || parseFloat(s.animationDuration) > .01 })"
            ".map(e => e.outerHTML.slice(0, 80))"
        )
        assert moving == []


def test_the_bundled_axe_is_not_old() -> None:
    bundled = import_module("axe_playwright_python.base")
    major, minor = bundled.AXE_SCRIPT.partition("axe v")[2].split(".")[:2]
    assert (int(major), int(minor)) >= (4, 10)
