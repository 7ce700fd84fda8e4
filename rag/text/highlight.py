"""Where the terms of a question stand in an article: pieces to mark, and a passage to preview."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence

from rag.text import Analyser, Token

_SENTENCE = re.compile(r"[^.!?;。！？；\n]*(?:[.!?;。！？；]+(?=\s|$|[^\x00-\xff])|\n|[.!?;]|$)")
_BLANK = re.compile(r"\s")


def segments(text: str, terms: Collection[str], analyser: Analyser) -> list[tuple[str, bool]]:
    """Return the text in pieces, each with whether it matched one of the terms.

    The pieces joined give the text exactly; no piece is empty and no two neighbours are alike.
    """
    pieces: list[tuple[str, bool]] = []
    at = 0
    for start, end in _merged(_matching(text, terms, analyser)):
        if at < start:
            pieces.append((text[at:start], False))
        pieces.append((text[start:end], True))
        at = end
    if at < len(text):
        pieces.append((text[at:], False))
    return pieces


def best_passage(text: str, terms: Collection[str], analyser: Analyser, width: int = 280) -> tuple[int, int]:
    """Return the start and end of the window that holds most of the terms, for a preview.

    Different terms count before repeated ones, the earliest window wins a tie. It begins with a
    sentence where the terms still fit, else with a word, and never cuts a word unless one alone is
    longer than the window. With no term in the text, it is the beginning.

    Args:
        text: the article.
        terms: analysed terms of the question.
        analyser: the one that made them.
        width: characters at most.
    """
    width = max(1, width)
    first = len(text) - len(text.lstrip())
    last = len(text.rstrip())
    if last - first <= width:
        return (first, last) if first < last else (0, 0)
    left, right = _densest(_matching(text, terms, analyser), width) or (first, first)
    start = _start(text, first, left, right, width)
    end = min(start + width, last)
    if end < last:
        end = _end(text, start, max(right, start + 1), end)
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end


def _matching(text: str, terms: Collection[str], analyser: Analyser) -> list[Token]:
    wanted = frozenset(terms)
    return [token for token in analyser.tokens(text) if token.term in wanted] if wanted else []


def _merged(tokens: Sequence[Token]) -> list[tuple[int, int]]:
    """Return the spans of tokens in order; those that touch become one."""
    spans: list[tuple[int, int]] = []
    for token in tokens:
        if spans and token.start <= spans[-1][1]:
            spans[-1] = (spans[-1][0], max(spans[-1][1], token.end))
        else:
            spans.append((token.start, token.end))
    return spans


def _densest(tokens: Sequence[Token], width: int) -> tuple[int, int] | None:
    """Return the span from the first to the last match of the window with most different terms."""
    best: tuple[int, int] | None = None
    best_score = (0, 0)
    inside: Counter[str] = Counter()
    low = 0
    for high, token in enumerate(tokens):
        inside[token.term] += 1
        while low < high and token.end - tokens[low].start > width:
            inside[tokens[low].term] -= 1
            if not inside[tokens[low].term]:
                del inside[tokens[low].term]
            low += 1
        score = (len(inside), inside.total())
        if score > best_score:
            best, best_score = (tokens[low].start, token.end), score
    return best


def _start(text: str, first: int, left: int, right: int, width: int) -> int:
    """Return the beginning of the sentence that holds `left`, or of a word before it, if all fits."""
    earliest = max(first, right - width)
    sentence = first
    for found in _SENTENCE.finditer(text, first, left):
        begin = found.end() + len(text[found.end() : left]) - len(text[found.end() : left].lstrip())
        if begin < left and found.end() < left:
            sentence = begin
    if sentence >= earliest:
        return sentence
    back = max(earliest, left - (width - (right - left)) // 2)  # context on both sides
    blank = _BLANK.search(text, max(0, back - 1), left)
    return (
        left
        if blank is None
        else blank.end() + len(text[blank.end() : left]) - len(text[blank.end() : left].lstrip())
    )


def _end(text: str, start: int, needed: int, limit: int) -> int:
    """Return the last end of a sentence in the window if it is far enough, else of a word."""
    ends = [
        found.end()
        for found in _SENTENCE.finditer(text, start, limit)
        if found.end() < limit and found[0].strip()
    ]
    if ends and ends[-1] >= needed and ends[-1] - start >= (limit - start) // 2:
        return ends[-1]
    if text[limit].isspace():
        return limit
    blanks = [blank.start() for blank in _BLANK.finditer(text, needed, limit)]
    return blanks[-1] if blanks else limit
