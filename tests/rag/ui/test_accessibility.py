"""axe-core finds nothing on any page in any state, light and dark; what axe cannot see is tried beside it.

PANDECT_SCREENSHOTS=FOLDER keeps four pictures of every state, 1280 and 390 pixels wide, light and dark.
PANDECT_REPORTS=FOLDER keeps what axe-core says of every state, with a summary, and one screen of each;
without it the reports go with the pictures.
"""

from __future__ import annotations

import json
import os
import signal
from collections import Counter
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.fakes.pages import page_states
from tests.fakes.pages.browser import FAKE, IN_A_BROWSER, Server, ask, at_rest, served, visit
from tests.fakes.pages.page_states import State
from tests.fakes.pages.ui_engine import QUESTION

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = [*IN_A_BROWSER, pytest.mark.slow]
PHONE = {"width": 360, "height": 800}
PICTURED_PHONE = {"width": 390, "height": 844}
NARROW = {"width": 320, "height": 640}  # 1280 pixels at 400 %, which WCAG 1.4.10 asks for
SCREEN = {"width": 1280, "height": 900}
ZOOMED = {"width": 640, "height": 450}  # a screen of 1280 × 900 pixels at 200 %
FIRST_SCREENS = 3600  # pixels of a picture: what lies deeper is more of the same cards
RUN = "options => axe.run(document, options)"
REPORTS = os.environ.get("PANDECT_REPORTS") or os.environ.get("PANDECT_SCREENSHOTS")
KEPT = ("violations", "incomplete")  # what axe-core finds, and what it leaves to a person's eye
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


# the outline of what has the keyboard, or of the box that it stands in; <main> is the whole page
SEEN = """(() => {
  const drawn = (e) => {
    const style = getComputedStyle(e);
    return style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0;
  };
  const at = document.activeElement;
  if (at.matches('main, body')) return true;
  if (!at.matches('input')) return drawn(at);
  for (let e = at; e && !e.matches('.stElementContainer'); e = e.parentElement) if (drawn(e)) return true;
  return false;
})()"""


@pytest.fixture(scope="module")
def walker(browser: Browser, app: Server) -> Iterator[Page]:
    """One session that goes through all the pages, as a person does; loading each anew takes a minute."""
    with visit(browser, app.url, viewport=SCREEN, reduced_motion="reduce") as page:
        yield page


@pytest.fixture(scope="module")
def comer(browser: Browser, fake: Server) -> Iterator[Page]:
    """One browser that comes anew for every state, to a session without a past; it has the scripts."""
    with visit(browser, fake.url, viewport=SCREEN, reduced_motion="reduce") as page:
        yield page


def axe(page: Page, name: str) -> list[str]:
    """What axe-core says against the page, in light, and of contrast in dark too."""
    bundled = pytest.importorskip("axe_playwright_python.base", reason="needs pip install '.[dev]'")
    if not page.evaluate("'axe' in window"):
        page.evaluate(bundled.AXE_SCRIPT)
    said: list[str] = []
    report: dict[str, Any] = {"state": name}
    for scheme, options in (("light", {}), ("dark", {"runOnly": ["color-contrast"]})):
        dressed(page, scheme)
        options = {"resultTypes": KEPT if REPORTS else KEPT[:1], **options}
        found = page.evaluate(RUN, options)
        if found["violations"]:  # a busy machine is seen half way between two themes; people see what stays
            page.wait_for_timeout(1000)
            found = page.evaluate(RUN, options)
        report |= {"axe": found["testEngine"]["version"], scheme: {kind: _told(found[kind]) for kind in KEPT}}
        said += [
            f"{scheme}, {v['impact']}: {v['id']} at {node['target']}: {node['html'][:200]}"
            for v in found["violations"]
            for node in v["nodes"]
        ]
    page.emulate_media(color_scheme="light", reduced_motion="reduce")  # while the next state is reached
    if REPORTS:
        Path(REPORTS).mkdir(parents=True, exist_ok=True)
        told = json.dumps(report, ensure_ascii=False, indent=1)
        (Path(REPORTS) / f"axe-{name}.json").write_text(told + "\n", encoding="utf-8")
    return said


def _told(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        {"rule": each["id"], "impact": each["impact"], "at": [node["target"] for node in each["nodes"]]}
        for each in found
    ]


@pytest.fixture(scope="module", autouse=True)
def summary() -> Iterator[None]:
    """Sum up the reports, if they are kept: how many states, what was found in how many of them."""
    yield
    if not REPORTS:
        return
    read = [json.loads(path.read_text("utf-8")) for path in sorted(Path(REPORTS).glob("axe-*.json"))]
    count = {kind: Counter[str]() for kind in KEPT}
    for report in read:
        for kind in KEPT:
            count[kind].update(
                {f"{scheme}: {one['rule']}" for scheme in ("light", "dark") for one in report[scheme][kind]}
            )
    told = {"states": len(read), "axe": sorted({report["axe"] for report in read}), **count}
    (Path(REPORTS) / "summary.json").write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")


def dressed(page: Page, scheme: str) -> None:
    """Have the page in light or dark; Streamlit's script takes its time to switch."""
    worn = page.evaluate("getComputedStyle(document.querySelector('.stApp')).colorScheme")
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")  # type: ignore[arg-type]
    if worn == scheme:
        return
    page.wait_for_function(
        "scheme => getComputedStyle(document.querySelector('.stApp')).colorScheme === scheme", arg=scheme
    )
    page.wait_for_timeout(250)  # its parts follow one after the other


def too_wide(page: Page) -> list[dict[str, int]]:
    """Return the screens on which one has to scroll sideways."""
    found = []
    for size in (SCREEN, ZOOMED, PHONE, NARROW):
        page.set_viewport_size(size)  # type: ignore[arg-type]
        if page.evaluate("document.querySelector('.stMain').scrollWidth > document.body.clientWidth"):
            found.append(size)
    return found


def pictures(page: Page, name: str, look: str) -> None:
    """Keep pictures of the page, if they are wanted; of what stands deep below, a selector tells."""
    folder = os.environ.get("PANDECT_SCREENSHOTS")
    if not folder:
        if REPORTS:  # one screen as it stands: next to nothing
            if look:
                page.locator(look).first.evaluate("e => e.scrollIntoView({block: 'center'})")
            Path(REPORTS).mkdir(parents=True, exist_ok=True)
            page.screenshot(path=Path(REPORTS) / f"{name}-1280-light.png")
        return
    Path(folder).mkdir(parents=True, exist_ok=True)
    for size in (SCREEN, PICTURED_PHONE):
        page.set_viewport_size(size)  # type: ignore[arg-type]
        height = page.locator("[data-testid=stMainBlockContainer]").evaluate("e => e.scrollHeight")
        page.set_viewport_size({"width": size["width"], "height": min(int(height) + 40, FIRST_SCREENS)})
        if look:
            page.locator(look).first.evaluate("e => e.scrollIntoView({block: 'center'})")
        for scheme in ("light", "dark"):
            dressed(page, scheme)
            page.screenshot(path=Path(folder) / f"{name}-{size['width']}-{scheme}.png")
    page.set_viewport_size(SCREEN)  # type: ignore[arg-type]


def looked_at(page: Page, name: str, state: State) -> None:
    page.set_viewport_size(SCREEN)  # type: ignore[arg-type]
    state.reach(page)
    page.locator(state.shown).first.wait_for()
    if state.ends:
        at_rest(page)
    pictures(page, name, state.look)
    assert axe(page, name) == []
    assert too_wide(page) == []


# Go to another page of the same session and wait until it has been drawn: what is typed before is typed
# into the page that is left. A page that is drawn at once may never say that it is being drawn.
GO = """to => new Promise((done, fail) => {
  const app = document.querySelector(".stApp");
  let began = false;
  const watch = new MutationObserver(() => {
    if (app.dataset.testScriptState !== "notRunning") began = true;
    else if (began) { watch.disconnect(); done(); }
  });
  watch.observe(app, {attributes: true, attributeFilter: ["data-test-script-state"]});
  setTimeout(() => { if (!began) { watch.disconnect(); done(); } }, 3000);
  setTimeout(() => fail(new Error("the page was not drawn within 30 s: " + to)), 30000);
  history.pushState({}, "", to);
  dispatchEvent(new PopStateEvent("popstate", {state: {}}));
})"""


@pytest.mark.parametrize("name", page_states.APP)
def test_axe_finds_nothing_on_any_page(walker: Page, app: Server, name: str) -> None:
    state = page_states.APP[name]
    at_rest(walker)
    walker.evaluate(GO, f"{app.url}/{state.address}")
    looked_at(walker, name, state)


@pytest.mark.parametrize("name", page_states.FAKE)
def test_axe_finds_nothing_in_any_state(comer: Page, fake: Server, name: str) -> None:
    state = page_states.FAKE[name]
    comer.goto(f"{fake.url}/{state.address}")
    comer.locator(".pd-notice").first.wait_for()
    looked_at(comer, name, state)


def focused(page: Page) -> str:
    # Streamlit's <main> takes the keyboard too, so that it can be scrolled; its text is all of the page
    said = "e.matches('main, body') ? e.tagName : e.getAttribute('aria-label') || e.innerText || e.tagName"
    return str(page.evaluate(f"(e => {said})(document.activeElement)"))


def step(page: Page) -> str:
    """Press Tab; say where the keyboard is now, which must be seen there."""
    page.keyboard.press("Tab")
    where = focused(page)
    assert page.evaluate(SEEN), f"nobody sees that the keyboard is at {where!r}"
    return where


def tab_to(page: Page, wanted: str, most: int = 40) -> None:
    """Press Tab until what is wanted has the keyboard; every stop on the way must be seen."""
    for _ in range(most):
        if wanted in step(page):
            return
    pytest.fail(f"{most} steps and no {wanted}; the keyboard is at {focused(page)}")


def test_the_keyboard_alone_asks_reads_why_and_takes_it_away(browser: Browser, app: Server) -> None:
    with visit(browser, app.url, viewport=SCREEN, reduced_motion="reduce") as page:
        page.locator(".st-key-examples button").first.wait_for()
        tab_to(page, "Aller au contenu", 2)
        page.keyboard.press("Enter")
        page.wait_for_function("document.activeElement.id === 'pd-content'")
        assert step(page) == "Votre question"
        page.keyboard.type(page_states.BRIDGED)
        page.keyboard.press("Enter")
        page.wait_for_function("document.activeElement.textContent.includes('articles à regarder')")
        tab_to(page, "Pourquoi cet article")
        page.keyboard.press("Enter")
        tab_to(page, "En savoir plus sur ce classement", 4)
        tables = page.locator(".pd-card").first.locator(".pd-more table")
        assert tables.count() == 0  # made when they are opened
        page.keyboard.press("Enter")
        assert (made := tables.count()) > 1
        assert page.locator("[data-more][open]").count() == 1
        page.keyboard.press("Space")
        assert page.locator("[data-more][open]").count() == 0
        page.keyboard.press("Enter")
        assert tables.count() == made  # once
        page.keyboard.press("Space")
        other = page.locator("details.pd-more[data-more]").nth(1)
        other.evaluate("e => { e.open = true; }")  # as a browser's own search or a script would
        page.wait_for_function("e => e.querySelector('table')", arg=other.element_handle())
        other.evaluate("e => { e.open = false; }")
        tab_to(page, "Texte officiel")
        assert page.evaluate("document.activeElement.href").startswith("https://www.legifrance.gouv.fr/")
        tab_to(page, "Partager, garder ou imprimer", 120)
        page.keyboard.press("Enter")
        page.locator(".pd-address code").wait_for()
        tab_to(page, "Enregistrer le texte (Markdown)")
        at_rest(page)
        with page.expect_download() as saved:
            page.keyboard.press("Enter")
        assert saved.value.suggested_filename.endswith(".md")


def test_what_is_typed_and_where_the_keyboard_is_outlive_a_rerun(browser: Browser, app: Server) -> None:
    typed = "document.querySelector('.st-key-question textarea')?.value"
    with visit(browser, app.url, viewport=SCREEN) as page:
        page.get_by_role("textbox", name="Votre question").fill("Un arbre")
        options = page.locator(".stExpander summary", has_text="Options de recherche")
        options.click()  # there once the law is open
        page.get_by_role("radio", name="Mots seulement").focus()
        page.keyboard.press("Space")
        page.wait_for_url("**/?mode=keyword")
        assert page.evaluate(typed) == "Un arbre"
        assert page.evaluate("document.activeElement.closest('.st-key-mode') !== null")
        page.reload()
        page.wait_for_function(typed + " === 'Un arbre'")
        options.click()
        assert page.get_by_role("radio", name="Mots seulement").is_checked()
        page.go_back()
        page.wait_for_url(app.url + "/")
        page.wait_for_function("document.querySelector('.st-key-mode input[value=\"1\"]')?.checked === false")
        ask(page, QUESTION)
        page.locator(".pd-card").nth(9).wait_for(state="attached")
        page.reload()
        page.locator(".pd-card").nth(9).wait_for(state="attached")  # asked again, and in no address
        page.wait_for_function("asked => " + typed + " === asked", arg=QUESTION)
        assert page.url == app.url + "/"
        page.goto(app.url + "/about")
        page.goto(app.url)  # whoever comes anew, in the same tab too, finds nothing of it
        page.locator(".st-key-examples button").first.wait_for()
        page.wait_for_function(typed + " === ''")  # Streamlit loads what draws a box when it needs it
        assert page.evaluate("sessionStorage.length") == 0


def test_lines_of_law_have_sixty_to_seventy_five_characters(browser: Browser, app: Server) -> None:
    with visit(browser, f"{app.url}/browse?article=CC-671", viewport=SCREEN) as page:
        text = page.locator(".pd-text p").first
        text.wait_for()
        read = text.evaluate(LINES)
        ask_here = f"{app.url}/?lang=fr"
        page.goto(ask_here)
        ask(page, QUESTION)
        page.locator(".pd-card").nth(9).wait_for(state="attached")
        page.evaluate("document.querySelectorAll('details.pd-row').forEach((row) => { row.open = true; })")
        for passage in page.locator(".pd-passage").all():
            read += passage.evaluate(LINES)
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
        pictures(page, page_states.OFFLINE, "")
        assert axe(page, page_states.OFFLINE) == []
        assert too_wide(page) == []
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
