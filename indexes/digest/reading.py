"""Rule 7: how hard a summary is to read, and how long it is beside the official text."""

from __future__ import annotations

import re
from collections.abc import Iterator

from indexes.digest.finding import HARD, LONG_SENTENCE, TOO_LONG, TOO_SHORT, Finding
from indexes.digest.readability import syllables
from indexes.digest.text import Wording, quoted, sentences

LONGEST_SENTENCE = 40  # words
EASY_ENOUGH = 36.0  # of `readability`; 2 % of the summaries stood below when it was chosen
MORE_THAN_LAW = 30  # words by which a summary may exceed the official text
LONG_LAW, LEAST_SHARE = 100, 0.4  # words of the official text from which on a summary must have that share

_LETTER = re.compile(r"[^\W\d_]")


def spoken(text: str) -> list[str]:
    """Return the words of a text as spaces part them, without figures and lone signs."""
    return [word for word in text.split() if _LETTER.search(word)]


def readability(text: Wording) -> float:
    """Return the French score of reading ease: 100 and more is easy, below 30 very hard.

    207 - 1.015 x words a sentence - 0.736 x syllables in 100 words (Kandel & Moles, "Application de
    l'indice de Flesch à la langue française", 1958). Figures are no words. An empty text has 207.
    """
    words = spoken(text.shown)
    if not words:
        return 207.0
    counted = sum(map(syllables, words))
    return 207 - 1.015 * len(words) / len(sentences(text)) - 73.6 * counted / len(words)


def reading(article_no: str, summary: Wording) -> Iterator[Finding]:
    """Yield the sentences that are too long, then the score if it is too low."""
    for sentence in sentences(summary):
        count = len(spoken(sentence.shown))
        if count > LONGEST_SENTENCE:
            yield Finding(article_no, LONG_SENTENCE, f"{count} words: {quoted(sentence, 0)}")
    score = readability(summary)
    if score < EASY_ENOUGH:
        yield Finding(article_no, HARD, f"score {score:.0f}")


def length(article_no: str, official: Wording, summary: Wording) -> Iterator[Finding]:
    """Yield a finding where a summary is too long or too short beside the official text."""
    law, ours = len(spoken(official.shown)), len(spoken(summary.shown))
    if ours > law + MORE_THAN_LAW:
        yield Finding(article_no, TOO_LONG, f"{ours} words for {law}")
    if law >= LONG_LAW and ours < law * LEAST_SHARE:
        yield Finding(article_no, TOO_SHORT, f"{ours} words for {law}")
