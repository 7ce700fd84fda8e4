"""The few lines that run in the browser: page language, Enter to send, links, copy, print."""

from __future__ import annotations

from rag.ui.conventions import CONVENTIONS

# Static, and ours: nothing that a corpus or a person wrote is ever put into it.
# - why the language: Streamlit always writes <html lang="en">, and screen readers believe it.
# - why Enter: in a form, Streamlit's text area only sends with Ctrl + Enter, which nobody looks for.
#   Fingers on glass (pointer: coarse) keep their new line and use the button; so does whoever composes a
#   character.
# - why the fallback of copy: without https, other machines than this one have no navigator.clipboard.
# - why links: a link of ours (data-go) is a real one, for another tab or without this script; a plain click
#   would load Streamlit anew and lose the session, so the address is changed as "back" changes it, to which
#   Streamlit answers with the new view. The keyboard then goes on from the view's heading (data-arrive).
# - why print: a text area prints only the lines that it shows; its text is put where print shows it whole.
_SCRIPT = """
document.documentElement.lang = "LANGUAGE";
if (!window.pandectListens) {
  window.pandectListens = true;
  document.addEventListener("keydown", (event) => {
    const box = event.target.closest && event.target.closest(".st-key-question textarea");
    if (!box || event.key !== "Enter") return;
    if (event.shiftKey || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.isComposing || window.matchMedia("(pointer: coarse)").matches) return;
    event.preventDefault();
    const send = {key: "Enter", code: "Enter", ctrlKey: true, bubbles: true};
    box.dispatchEvent(new KeyboardEvent("keydown", send));
  }, true);
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


def script(language: str) -> str:
    """Return the script element for a page in one of the interface's languages."""
    if language not in CONVENTIONS:
        raise ValueError(f"got {language!r}; expected one of {', '.join(CONVENTIONS)}")
    return f"<script>{_SCRIPT.replace('LANGUAGE', CONVENTIONS[language].tag)}</script>"
