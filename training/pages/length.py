"""How much a person reads before the first article, and how long an answer is on a phone.

Words are those that stand open between the notice under the question box and what is looked for; a screen is
one of 390 by 844 pixels. Where another law governs, the first article is the one that its box names.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from statistics import median
from typing import TYPE_CHECKING, Any

from training.pages.serving import RunningServer
from training.pages.speed import ask, chromium, opened

if TYPE_CHECKING:
    from playwright.sync_api import Page

PHONE = {"width": 390, "height": 844}
# What a person can use: whom to call, what to do in time, where to look instead, the law's own words.
_USEFUL = (
    ".pd-urgent p, .pd-people p, .pd-running p, .pd-moved p, .pd-elsewhere p:not(.pd-governing), "
    ".pd-doubt > ul > li, .st-key-topic button, .pd-told, .pd-card .pd-passage, .pd-untold"
)
MEASURES = ("article", "useful", "screens")
_LENGTH = """() => {
  const main = document.querySelector("[data-testid=stMainBlockContainer]");
  const notice = main.querySelector(".pd-notice");
  const words = (selector) => {
    const end = main.querySelector(selector);
    if (!end) return null;
    const walker = document.createTreeWalker(main, NodeFilter.SHOW_TEXT);
    let count = 0;
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      if (!(notice.compareDocumentPosition(node) & Node.DOCUMENT_POSITION_FOLLOWING)) continue;
      if (notice.contains(node)) continue;
      if (end === node || end.contains(node)) break;
      if (end.compareDocumentPosition(node) & Node.DOCUMENT_POSITION_FOLLOWING) break;
      if (!node.parentElement.checkVisibility()) continue;
      count += (node.textContent.match(/[\\p{L}\\p{N}]+/gu) || []).length;
    }
    return count;
  };
  return {
    article: words(".pd-card, .pd-row, .pd-closest, .pd-governing"),
    useful: words(USEFUL),
    screens: main.scrollHeight / window.innerHeight,
  };
}""".replace("USEFUL", json.dumps(_USEFUL))


def measure(page: RunningServer, questions: Sequence[str]) -> dict[str, Any]:
    """Return words and screens: median, ninetieth percentile and most, over the questions with an article.

    `longest` are the questions of which there is most, by which of the three.

    Raises:
        MissingExtra: playwright is not installed.
        PandectError: there is no Chromium.
    """
    with chromium() as browser, opened(browser, page, "", viewport=PHONE) as tab:
        found = [_length(tab, question) for question in questions]
    shown = [each for each in found if each["article"] is not None]
    most = {key: max(found, key=lambda each: each[key] or 0) for key in MEASURES} if found else {}
    return {
        "longest": {key: questions[found.index(each)] for key, each in most.items()},
        "without_an_article": len(found) - len(shown),
        "words_before_the_first_article": _spread([each["article"] for each in shown]),
        "words_before_the_first_useful_sentence": _spread(
            [each["useful"] for each in shown if each["useful"] is not None]
        ),
        "screens_of_a_phone": _spread([each["screens"] for each in shown]),
    }


def _length(tab: Page, question: str) -> dict[str, Any]:
    ask(tab, question)
    length: dict[str, Any] = tab.evaluate(_LENGTH)
    return length


def _spread(values: Sequence[float]) -> dict[str, float]:
    if not values:
        return {}
    ordered = sorted(values)
    ninety = ordered[min(int(0.9 * len(ordered)), len(ordered) - 1)]
    return {"median": round(median(ordered), 1), "p90": round(ninety, 1), "most": round(ordered[-1], 1)}
