"""How fast the pages feel to one person, measured inside a real Chromium by its own clock."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rag.errors import MissingExtra, PandectError, install_hint
from training.pages.serving import RunningServer
from training.pages.users import times

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking",
    "--no-first-run", "--disable-component-update", "--disable-sync",
)  # fmt: skip
WAIT = 60_000  # milliseconds; what takes longer is an error
PAGES: Mapping[str, str] = {  # page -> what is there when it can be used
    "": ".st-key-question textarea",
    "browse": ".pd-shelf, .pd-leaf",
    "compare": ".st-key-question textarea",
    "quality": ".pd-found",
    "about": ".pd-loaded",
    "sheet": ".pd-loaded",
}
REPETITIONS = 5  # each click

# Notes by the page's own clock (milliseconds since the address was opened) when something is first there.
_FIRST = """
window.pandectFirst = {};
window.pandectWanted = {masthead: ".pd-masthead", ready: READY};
new MutationObserver(() => {
  for (const [name, selector] of Object.entries(window.pandectWanted))
    if (!(name in window.pandectFirst) && document.querySelector(selector))
      window.pandectFirst[name] = performance.now();
}).observe(document, {childList: true, subtree: true});
"""
_PAINTED = "() => performance.getEntriesByName('first-contentful-paint').map(e => e.startTime)[0]"
# From the key that sends to the first article that was not there before. An article of the former answer may
# be put into the page anew while the new one is drawn: only one of another content counts. "painted" is the
# end of the frame after it: a task that comes before all that wait for the frame to be done, such as parts of
# the page that have arrived meanwhile.
_ARM = """() => {
  const cards = () => [...document.querySelectorAll("article.pd-card")];
  const before = new Set(cards().map((card) => card.outerHTML));
  const app = document.querySelector("[data-testid=stApp]");
  const seen = window.pandectAsked = {};
  let begun = null, ran = false;
  document.addEventListener("keydown", (event) => { begun = event.timeStamp; }, {capture: true, once: true});
  const watch = new MutationObserver(() => {
    if (begun === null) return;
    const now = performance.now() - begun;
    if (!("card" in seen) && cards().some((card) => !before.has(card.outerHTML))) {
      seen.card = now;
      const drawn = () => { seen.painted = performance.now() - begun; };
      requestAnimationFrame(() => scheduler.postTask(drawn, {priority: "user-blocking"}));
    }
    const state = app.getAttribute("data-test-script-state");
    ran = ran || "card" in seen || state === "running";
    if (ran && state === "notRunning" && !("whole" in seen)) {
      seen.whole = now;
      watch.disconnect();
      requestAnimationFrame(() => setTimeout(() => { seen.done = true; }));
    }
  });
  watch.observe(document, {childList: true, subtree: true, attributes: true});
}"""
# From a click to the change that it is for.
_CLICK = """(wanted) => {
  window.pandectClicked = null;
  let begun = null;
  document.addEventListener("click", (event) => { begun = event.timeStamp; }, {capture: true, once: true});
  const there = new Function("return " + wanted);
  const watch = new MutationObserver(() => {
    if (begun === null || !there()) return;
    window.pandectClicked = performance.now() - begun;
    watch.disconnect();
  });
  watch.observe(document, {childList: true, subtree: true, attributes: true, characterData: true});
}"""


def measure(page: RunningServer, questions: Sequence[str]) -> dict[str, Any]:
    """Return what one person waits for, in milliseconds: the pages, answers, clicks.

    Nobody has visited the page: the first view opens the index. All questions are asked in one session.

    Raises:
        MissingExtra: playwright is not installed.
        PandectError: there is no Chromium.
    """
    with chromium() as browser:
        visits = {"first visitor": visit(browser, page, "")}
        visits |= {f"second visitor, {name or 'ask'}": visit(browser, page, name) for name in PAGES}
        with opened(browser, page, "") as tab:
            tab.wait_for_timeout(2000)  # a person types; what the first question needs is made ready
            answered = [ask(tab, question) for question in questions]
            clicks = _clicks(tab)
    shown = [each for each in answered if "card" in each]
    return {
        "server_up_ms": round(1000 * page.up),
        "visits": visits,
        "answers": {
            name: times([each[name] / 1000 for each in shown if name in each])
            for name in ("card", "painted", "whole")
        },
        "first_answer_ms": round(answered[0].get("card", answered[0]["whole"]), 1) if answered else None,
        "without_a_card": len(answered) - len(shown),
        "clicks": {name: times([each / 1000 for each in found]) for name, found in clicks.items()},
    }


@contextmanager
def chromium() -> Iterator[Browser]:
    """Run a browser without a window until the block ends."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError as error:
        raise MissingExtra(f"the browser is driven by playwright: run {install_hint('dev')}") from error
    path = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if path is None:
        raise PandectError(f"none of {', '.join(BROWSERS)} is on the PATH: run apt-get install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        yield browser
        browser.close()


def visit(browser: Browser, page: RunningServer, name: str) -> dict[str, float | None]:
    """Open a page with an empty cache; return when it was painted, had its name, and could be used."""
    with opened(browser, page, name) as tab:
        first = tab.evaluate("() => window.pandectFirst")
        found = {"paint": tab.evaluate(_PAINTED), "masthead": first.get("masthead"), "ready": first["ready"]}
        return {key: None if at is None else round(at, 1) for key, at in found.items()}


@contextmanager
def opened(browser: Browser, page: RunningServer, name: str, **options: Any) -> Iterator[Page]:  # noqa: ANN401 - of a context
    """Open a page in a new session, in French, until it can be used; options are those of a context."""
    context = browser.new_context(locale="fr-FR", **options)
    context.set_default_timeout(WAIT)
    tab = context.new_page()
    tab.add_init_script(_FIRST.replace("READY", json.dumps(PAGES[name])))
    tab.goto(f"{page.url}/{name}")
    tab.wait_for_function("() => 'ready' in window.pandectFirst")
    tab.wait_for_selector("[data-testid=stApp][data-test-script-state=notRunning]", state="attached")
    yield tab
    context.close()


def ask(tab: Page, question: str) -> dict[str, float]:
    """Send a question with Enter; return when the first new article, its frame and the whole came."""
    box = tab.locator(".st-key-question textarea")
    box.fill(question)
    tab.evaluate(_ARM)
    box.press("Enter")
    tab.wait_for_function("() => window.pandectAsked.done")
    tab.wait_for_timeout(500)  # the page takes two messages a second of one person
    found: dict[str, float] = tab.evaluate("() => window.pandectAsked")
    found.pop("done")
    return found


def _clicks(tab: Page) -> dict[str, list[float]]:
    """Return how long each thing that a person does with an answer takes until it is seen."""
    condition = (
        "Array.from(document.querySelectorAll('.pd-address code')).some(e => e.textContent.includes('q='))"
    )
    tab.locator(".stExpander summary").last.click()
    box = tab.locator("[class*=st-key-told] label")
    if box.count() == 0:  # the last question found nothing
        return {}
    shares = [_click(tab, box, condition if n % 2 == 0 else f"!{condition}") for n in range(2 * REPETITIONS)]
    languages = []
    for name, code in (("English", "en"), ("Français", "fr")) * REPETITIONS:
        choice = tab.get_by_text(name, exact=True)
        if not choice.is_visible():
            tab.locator(".st-key-languages button").click()
        languages.append(_click(tab, choice, f"document.documentElement.lang === '{code}'"))
    opened, details = "document.querySelector('.pd-card details[open]')", tab.locator(".pd-card .pd-more")
    why = [_click(tab, each.locator("summary").first, opened) for each in details.all()[:1]]
    return {"the question goes along": shares, "language of the page": languages, "why": why}


def _click(tab: Page, what: Any, wanted: str) -> float:  # noqa: ANN401 - a locator
    tab.evaluate(_CLICK, wanted)
    what.click()
    tab.wait_for_function("() => window.pandectClicked !== null")
    tab.wait_for_timeout(500)  # the page takes two messages a second of one person
    return float(tab.evaluate("() => window.pandectClicked"))
