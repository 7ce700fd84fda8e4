"""Where the terms of a question stand in an article: pieces to mark, and a passage to preview."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Sequence

from rag.text import Analyser, Token

_BREAK = re.compile(  # between two sentences or lines, with the blanks that part them
    r"(?:(?P<dot>\.)|[!?…])[»”\")]*\s+|[。！？][”」』）]*\s*|\s*\n\s*"
)
_ABBREVIATED = re.compile(  # a full stop after these ends no sentence: art. 5, L. 121-1, 1. Januar
    r"(?:\b(?:arts?|al|abs|nr|no|cf|vgl|sec|lett|co|bzw|ggf|lid|[^\W\d_])|(?<![^\W_])\d{1,2})$", re.IGNORECASE
)
_CLAUSE = re.compile(r"[,;:)—–]\s+|[，；：]\s*")
_BLANK = re.compile(r"\s")


def segments(text: str, terms: Collection[str], analyser: Analyser) -> list[tuple[str, bool]]:
    """Return the text in pieces, each with whether it matched one of the terms.

    The pieces joined give the text exactly; no piece is empty and no two neighbours are alike.
    """
    spans: list[tuple[int, int]] = []  # of matches; those that touch become one
    for token in _matching(text, terms, analyser):
        if spans and token.start <= spans[-1][1]:
            spans[-1] = (spans[-1][0], max(spans[-1][1], token.end))
        else:
            spans.append((token.start, token.end))
    pieces: list[tuple[str, bool]] = []
    at = 0
    for start, end in spans:
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
    sentence, and ends with one where that is near; for this it may grow to half as much again. Where
    the terms lie deep in one sentence longer than that, it begins with a clause, else with a word. It
    never cuts a word unless one alone is longer than the window. With no term in the text, it is the
    beginning. `width` is in characters.
    """
    width = max(1, width)
    first, last = len(text) - len(text.lstrip()), len(text.rstrip())
    if last - first <= width:
        return (first, last) if first < last else (0, 0)
    tokens = _matching(text, terms, analyser)
    start, needed, limit = _window(text, tokens, first, width)
    end = _end(text, start, max(needed, start + 1), min(limit, last), min(start + width * 3 // 2, last))
    return start, start + len(text[start:end].rstrip())


def sentences(text: str) -> list[tuple[int, int]]:
    """Return where sentences and lines begin and end, without the blanks around them; none is empty."""
    first = len(text) - len(text.lstrip())
    if first == len(text):
        return []
    starts = _starts(text, first)
    ends = [*starts[1:], len(text)]
    return [(start, start + len(text[start:end].rstrip())) for start, end in zip(starts, ends, strict=True)]


def sentence_around(text: str, start: int, end: int, longest: int = 240) -> tuple[int, int]:
    """Return the start and end of the sentence that a place stands in, cut at words where it is too long.

    The place itself is whole, however long it is, and has about as much before it as behind.
    """
    first = max(0, start - 2 * longest)  # what lies farther away is cut off in any case
    near = ((first + a, first + b) for a, b in sentences(text[first : end + 2 * longest]))
    left, right = next(((a, b) for a, b in near if a <= start < b), (start, end))
    right = max(right, end)
    if right - left <= longest:
        return left, right
    room = max(longest - (end - start), 0) // 2
    low, high = max(left, start - room), min(right, end + room)
    if low > left:
        low += len(text[low:start]) - len(text[low:start].partition(" ")[2]) if " " in text[low:start] else 0
    if high < right and " " in text[end:high]:
        high = end + text[end:high].rindex(" ")
    return low, high


def _matching(text: str, terms: Collection[str], analyser: Analyser) -> list[Token]:
    wanted = frozenset(terms)
    return [token for token in analyser.tokens(text) if token.term in wanted] if wanted else []


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


def _window(text: str, tokens: Sequence[Token], first: int, width: int) -> tuple[int, int, int]:
    """Return where a passage begins, the end of its last match, and where it ends at the latest."""
    dense = _densest(tokens, width)
    if dense is None:
        return first, first, first + width
    left, right = dense
    starts = _starts(text, first)
    own = starts[bisect_right(starts, left) - 1]
    # among sentences that hold a match, the first whose window holds most of the terms
    holding = dict.fromkeys(starts[max(0, bisect_right(starts, token.start) - 1)] for token in tokens)
    counts = {start: _count(tokens, start, start + width) for start in holding}
    best = max(counts, key=lambda start: counts[start])
    most, stretched = counts[best][0], width * 3 // 2
    crossing = bisect_right(starts, right) > bisect_right(starts, left)  # over two sentences
    if most >= _count(tokens, left, right)[0] or (most and crossing and right - own > stretched):
        inside = [token.end for token in tokens if best <= token.start and token.end <= best + width]
        return best, inside[-1], best + width
    if right - own <= stretched:
        return own, right, own + stretched
    start = _inside(text, max(first, right - width), left, right, width)
    return start, right, start + width


def _count(tokens: Sequence[Token], start: int, end: int) -> tuple[int, int]:
    inside = [token.term for token in tokens if start <= token.start and token.end <= end]
    return len(set(inside)), len(inside)  # different terms, and matches


def _starts(text: str, first: int) -> list[int]:
    """Return where sentences and lines begin; the first begins where the text does."""
    starts = [first]
    for found in _BREAK.finditer(text, first):
        at = found.end()
        follows = at < len(text) and not text[at].islower()
        abbreviated = found["dot"] and _ABBREVIATED.search(text, max(first, found.start() - 8), found.start())
        if at > starts[-1] and ("\n" in found[0] or (follows and not abbreviated)) and at < len(text):
            starts.append(at)
    return starts


def _inside(text: str, earliest: int, left: int, right: int, width: int) -> int:
    """Return the beginning of a clause before `left`, in a sentence too long to show; else of a word."""
    back = max(earliest, left - (width - (right - left)) // 2)  # context on both sides
    clauses = [found.end() for found in _CLAUSE.finditer(text, max(0, earliest - 2), left)]
    if clauses := [at for at in clauses if earliest <= at <= left]:
        return next((at for at in clauses if at >= back), clauses[-1])
    blank = _BLANK.search(text, max(0, back - 1), left)
    return left if blank is None else left - len(text[blank.end() : left].lstrip())


def _end(text: str, start: int, needed: int, limit: int, stretched: int) -> int:
    """Return the last end of a sentence in the window if far, else the next, a clause's or a word's."""
    last = len(text.rstrip())
    if limit >= last:
        return limit
    starts = (at for at in _starts(text, start)[1:] if needed <= at <= stretched + 2)
    ends = [start + len(text[start:at].rstrip()) for at in starts]
    if stretched >= last:
        ends.append(last)
    within = [at for at in ends if at <= limit and at - start >= (limit - start) // 2]
    beyond = [at for at in ends if limit < at <= stretched]
    if within or beyond:
        return within[-1] if within else beyond[0]
    clauses = [found.start() + 1 for found in _CLAUSE.finditer(text, needed - 1, limit)]
    if clauses and clauses[-1] >= needed and clauses[-1] - start >= (limit - start) // 2:
        return clauses[-1]
    if text[limit].isspace():
        return limit
    blanks = [blank.start() for blank in _BLANK.finditer(text, needed, limit)]
    return blanks[-1] if blanks else limit
