"""Sentences of an article: what a quote is read in, so that a cut quote loses neither "not" nor "unless"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TypeAlias

Span: TypeAlias = tuple[int, int]  # start and end, in characters

_SHORT = (  # a full stop after these ends no sentence: art. 5, L. 121-1, Nr. 3, 1. Januar
    r"(?:\b(?:arts?|al|abs|nr|no|cf|vgl|sec|lett|co|bzw|ggf|lid|[^\W\d_])|(?<![^\W_])\d{1,2})$"
)
_ABBREVIATED = re.compile(_SHORT, re.IGNORECASE)
_END = re.compile(r"(?P<dot>\.)[»”\")’]*\s+|[!?][»”\")’]*\s+|[。！？][”」』）]*\s*|\s*\n\s*")
_GOES_ON = ",;:，；：、"  # a line that ends so leads into the next one


def sentences(text: str) -> list[Span]:
    """Return the spans of a text's sentences, in order and without the blanks between them.

    A line that leads into a list ("if", then "1. ...") is one sentence with it: what is denied or
    excepted there holds for every item.
    """
    found: list[Span] = []
    start = 0
    for end in _END.finditer(text):
        if _ends(text, end):
            _add(found, text, start, end.end())
            start = end.end()
    _add(found, text, start, len(text))
    return found


def around(spans: Sequence[Span], start: int, end: int) -> list[Span]:
    """Return the sentences that a passage touches."""
    return [span for span in spans if span[0] < end and start < span[1]]


def _ends(text: str, end: re.Match[str]) -> bool:
    after = text[end.end() : end.end() + 1]
    if not after:
        return False
    if end["dot"]:
        return not after.islower() and not _ABBREVIATED.search(text, max(0, end.start() - 8), end.start())
    if "\n" in end[0] and not end[0].strip():
        before = text[: end.start()].rstrip()[-1:]
        if before in ".!?。！？":
            return True
        return before not in _GOES_ON and not (after.islower() or after.isdigit() or after in "-–•*")
    return True


def _add(found: list[Span], text: str, start: int, end: int) -> None:
    piece = text[start:end]
    left = start + len(piece) - len(piece.lstrip())
    right = start + len(piece.rstrip())
    if any(map(str.isalnum, text[left:right])):
        found.append((left, right))
