"""Rule 6: runs of words that a summary shares with the official text."""

from __future__ import annotations

from collections.abc import Iterator

from indexes.digest.finding import SHARED_WORDS, Finding
from indexes.digest.text import WORD, Wording

LONGEST = 8  # words in a row from which on a run is a copy: shorter ones are names and fixed terms


def shared_words(article_no: str, official: Wording, summary: Wording) -> Iterator[Finding]:
    """Yield the runs of eight or more words that stand in both texts, each as long as it goes.

    Case, accents and punctuation do not count; an apostrophe parts words ("l'action" is two). Figures
    do not count towards the eight: which articles a text names is not ours to reword.
    """
    law = [word[0] for word in WORD.finditer(official.plain)]
    places = list(WORD.finditer(summary.plain))
    there = {tuple(law[at : at + LONGEST]) for at in range(len(law) - LONGEST + 1)}
    ours = [word[0] for word in places]
    first = 0
    while first + LONGEST <= len(ours):
        last = first
        while tuple(ours[last : last + LONGEST]) in there:
            last += 1
        run = ours[first : last + LONGEST - 1] if last > first else []
        if sum(not word.isdigit() for word in run) >= LONGEST:
            start, end = places[first].start(), places[first + len(run) - 1].end()
            yield Finding(article_no, SHARED_WORDS, " ".join(summary.shown[start:end].split()))
        first = last + 1
