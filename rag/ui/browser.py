"""The few lines that run in the browser: language, Enter, reload, links, copy, print, what is spoken."""

from __future__ import annotations

import json
from collections.abc import Mapping

from rag.ui.conventions import CONVENTIONS

# Static, and ours: nothing that a corpus or a person wrote is ever put into it. One script, so that it can be
# read as a whole, which is why this module is long.
# - why the language: Streamlit always writes <html lang="en">, and screen readers believe it.
# - why Enter: in a form, Streamlit's text area only sends with Ctrl + Enter, which nobody looks for.
#   Fingers on glass (pointer: coarse) keep their new line and use the button; so does whoever composes a
#   character.
# - why the fallback of copy: without https, other machines than this one have no navigator.clipboard.
# - why links: a link of ours (data-go) is a real one, for another tab or without this script; a plain click
#   would load Streamlit anew and lose the session, so the address is changed as "back" changes it, to which
#   Streamlit answers with the new view. The keyboard then goes on from the view's heading (data-arrive).
# - why print: a text area prints only the lines that it shows; its text is put where print shows it whole.
# - why focus after sending: on a phone the articles begin below the screen, and a screen reader should go on
#   from them. Whoever types on meanwhile is left where they are.
# - why tend: Streamlit's links between pages are in no landmark, and its boxes are labelled in English only.
# - why kept: a reload, and a telephone that has put the tab away, end Streamlit's session, and the question
#   is in no address. It waits in this tab alone (sessionStorage), from leaving until the next arrival; unless
#   that is a reload or a way back, it is thrown away.
# - why offline: Streamlit says that the server is gone in English, with a command to type, over the page.
#   Its dialog is closed by its own button (hidden, it would keep the keyboard), and ours stands below.
_SCRIPT = """
document.documentElement.lang = "LANGUAGE";
window.pandectSpoken = SPOKEN;
if (!window.pandectListens) {
  window.pandectListens = true;
  let asked = 0;  // when a question was sent, while nothing else was done since
  const sent = () => { asked = Date.now(); };
  document.addEventListener("keydown", (event) => {
    const box = event.target.closest && event.target.closest(".st-key-question textarea");
    if (!box || event.key !== "Enter") return;
    if (event.shiftKey || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.isComposing || window.matchMedia("(pointer: coarse)").matches) return;
    event.preventDefault();
    const send = {key: "Enter", code: "Enter", ctrlKey: true, bubbles: true};
    box.dispatchEvent(new KeyboardEvent("keydown", send));
    sent();
  }, true);
  document.addEventListener("keydown", (event) => {
    if (event.isTrusted && event.key !== "Enter") asked = 0;
  });
  document.addEventListener("click", (event) => {
    const button = event.target.closest && event.target.closest("button");
    if (!button) return;
    const form = button.closest(".stForm");
    if (button.closest(".st-key-examples") || (form && form.querySelector(".st-key-question"))) sent();
  });
  const views = ".pd-box, .pd-found, .pd-columns";
  const above = ".st-key-situated, .st-key-bridged, .st-key-unbridged, .pd-read-as";
  const found = () => {
    asked = 0;
    const place = document.querySelector(views);
    if (!place) return;
    const heading = place.querySelector("h2, h3") || place;
    heading.tabIndex = -1;
    heading.dataset.sent = "";
    heading.focus({preventScroll: true});
    const first = document.querySelector(`${above}, ${views}`);  // of what was done with the question
    const top = first.getBoundingClientRect().top;
    if (top < 0 || top > window.innerHeight / 2) first.scrollIntoView();
  };
  const boxes = ".stMultiSelect [aria-label], .stDateInput [aria-label]";
  const tend = () => {
    const spoken = window.pandectSpoken;
    const pages = document.querySelector(".st-key-pages");
    if (pages) {
      pages.setAttribute("role", "navigation");
      pages.setAttribute("aria-label", spoken.pages);
      const open = document.querySelector("[data-page]");
      for (const link of pages.querySelectorAll("a")) {
        const name = (link.getAttribute("href") || "").split("?")[0].split("/").pop();
        if (open && name === open.dataset.page) link.setAttribute("aria-current", "page");
        else link.removeAttribute("aria-current");
      }
    }
    for (const one of document.querySelectorAll(boxes)) {
      const label = one.getAttribute("aria-label");
      // the language of the page may have changed since
      const english = label === one.dataset.said ? one.dataset.english : label;
      const [first, ...rest] = english.split(" ");
      const said = spoken[english]
        || (first === "Remove" && [spoken.Remove, ...rest].join(" "))
        || (/^(day|month|year),$/.test(first) && [spoken[first.slice(0, -1)] + ",", ...rest].join(" "));
      if (!said) continue;
      Object.assign(one.dataset, {said, english});
      if (label !== said) one.setAttribute("aria-label", said);
    }
  };
  const offline = document.createElement("p");
  offline.className = "pd-offline";
  offline.setAttribute("role", "status");
  document.body.append(offline);
  let gone = 0;
  const connection = (app) => {
    const there = app.dataset.testConnectionState === "CONNECTED";
    if (there) {
      clearTimeout(gone);
      gone = 0;
      offline.textContent = "";
      return;
    }
    gone = gone || setTimeout(() => { offline.textContent = window.pandectSpoken.offline; }, 1500);
    const close = document.querySelector("[data-testid=stDialog] button[aria-label=Close]");
    if (close) close.click();
  };
  const KEPT = "pandect-question";
  const ours = () => document.querySelector(".st-key-question textarea");
  const arrived = Date.now();
  let kept = null;
  try {
    const [arrival] = performance.getEntriesByType("navigation");
    const again = document.wasDiscarded || ["reload", "back_forward"].includes(arrival && arrival.type);
    if (again) kept = JSON.parse(sessionStorage.getItem(KEPT));
    sessionStorage.removeItem(KEPT);
  } catch { kept = null; }  // a browser that stores nothing: the box is empty, as it would be
  window.addEventListener("pagehide", () => {
    const box = ours();
    if (!box || !box.value) return;
    const wasAsked = Boolean(document.querySelector(".pd-card, .pd-columns"))
      && !location.search.includes("articles=");
    try {
      sessionStorage.setItem(KEPT, JSON.stringify({page: location.pathname, text: box.value, wasAsked}));
    } catch { return; }
  });
  const leave = () => { kept = null; };  // whoever writes or presses something goes on from there
  const putBack = () => {
    const box = ours();
    if (!kept || !box) return;
    if (kept.page !== location.pathname || Date.now() - arrived > 15000) { leave(); return; }
    if (box.value) return;  // the first runs of the page may empty it once more: looked at until then
    Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, "value").set.call(box, kept.text);
    box.dispatchEvent(new Event("input", {bubbles: true}));
    if (!kept.wasAsked) return;
    kept.wasAsked = false;
    const send = {key: "Enter", code: "Enter", ctrlKey: true, bubbles: true};
    setTimeout(() => box.dispatchEvent(new KeyboardEvent("keydown", send)), 100);
  };
  for (const each of ["keydown", "pointerdown"]) {
    document.addEventListener(each, (event) => { if (event.isTrusted) leave(); }, true);
  }
  let turned = false;
  let waits = false;
  const look = () => {
    waits = false;
    tend();
    const app = document.querySelector(".stApp");
    if (!app) return;
    connection(app);
    if (app.dataset.testScriptState === "notRunning") putBack();
    const late = Date.now() - asked > 15000;
    if (asked && !late && turned && app.dataset.testScriptState === "notRunning") found();
    turned = false;
  };
  new MutationObserver((changes) => {
    turned = turned || changes.some((each) => each.attributeName === "data-test-script-state");
    if (waits) return;
    waits = true;
    requestAnimationFrame(look);
  }).observe(document.body, {
    childList: true, subtree: true, attributes: true,
    attributeFilter: ["data-test-script-state", "data-test-connection-state"],
  });
  look();
  document.addEventListener("click", (event) => {
    const link = event.target.closest && event.target.closest("a[data-go]");
    if (!link || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    const seen = document.querySelector("[data-arrive]");
    history.pushState({}, "", link.href);
    window.dispatchEvent(new PopStateEvent("popstate", {state: {}}));
    const watch = new MutationObserver(() => {
      const heading = document.querySelector("[data-arrive]");
      if (!heading || (seen && heading.dataset.arrive === seen.dataset.arrive)) return;
      watch.disconnect();
      heading.focus();
      heading.scrollIntoView();
    });
    watch.observe(document.body, {childList: true, subtree: true, attributes: true});
    setTimeout(() => watch.disconnect(), 10000);
  });
  const facts = () => {
    const box = document.querySelector(".st-key-facts textarea");
    const copy = document.querySelector(".pd-facts");
    if (box && copy) copy.textContent = box.value;
  };
  window.addEventListener("beforeprint", facts);
  document.addEventListener("click", (event) => {
    if (event.target.closest && event.target.closest("button[data-print]")) window.print();
  });
  document.addEventListener("click", async (event) => {
    const button = event.target.closest && event.target.closest("button[data-copy]");
    if (!button || button.dataset.busy) return;
    const label = button.textContent;
    try {
      await navigator.clipboard.writeText(button.dataset.copy);
      button.textContent = button.dataset.done;
    } catch {
      button.textContent = button.dataset.copy;
      window.getSelection().selectAllChildren(button);
      return;
    }
    button.dataset.busy = "yes";
    setTimeout(() => { button.textContent = label; delete button.dataset.busy; }, 2000);
  });
}
"""


def script(language: str, spoken: Mapping[str, str]) -> str:
    """Return the script element for a page in one of the interface's languages.

    Args:
        language: a key of `CONVENTIONS`.
        spoken: in that language, what is said by the script itself, and Streamlit's own English labels.
    """
    if language not in CONVENTIONS:
        raise ValueError(f"got {language!r}; expected one of {', '.join(CONVENTIONS)}")
    said = json.dumps(spoken).replace("<", "\\u003c")  # nothing in it can end the script
    return (
        f"<script>{_SCRIPT.replace('LANGUAGE', CONVENTIONS[language].tag).replace('SPOKEN', said)}</script>"
    )
