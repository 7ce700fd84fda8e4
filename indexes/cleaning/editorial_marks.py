"""Marks that editors put into consolidated law to tell what was amended: taken out, the law left as it is.

What is known, with the publications that write it so:

- `[1 words]1`, nested, the number flat or raised; `[1 ...]1` where words were struck out (Justel, Belgium);
- `<L 2008-12-22/32, art. 5, 012; En vigueur : 08-01-2009>`, in French, Dutch or German (Justel, older);
- `((words))`, `((...))` and, at the end of a sentence, `(29)` (Normattiva, Italy; in Italian texts only);
- notes behind a rule of dashes, and the signs in the text that call them: see `indexes.cleaning.notes`;
- `(+++ ... +++)` (gesetze-im-internet, Germany).

Any other bracket is the law's own and stays, and so does a mark whose other half is missing. Words, numbers
and punctuation between marks are never touched; round brackets that older Justel texts put around
amended words look like any others, so they stay too.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import takewhile

from indexes.cleaning.cuts import RAISED, Span, cut, flat
from indexes.cleaning.notes import DASHES, TAG, callers, notes

_DEEP = 200  # characters of marks in marks around dots
_DOTS = re.compile(r"[\s.…]*")
_OPEN = re.compile(
    rf"\[(?:[ \u00a0]?(\d{{1,3}})[ \u00a0]|[ \u00a0]?(\d{{1,3}})(?=\n)|([{RAISED}]+)[ \u00a0]?)"
)
_CLOSE = re.compile(rf"\](?:(\d{{1,3}})(?!\d|[.,]\d)|([{RAISED}]+)|[ \u00a0](\d{{1,3}})(?!\d|[.,]\d))")
_THOUSANDS = re.compile(r"0\d\d(?!\d)")  # "[1 000 francs]" begins with an amount, not with a mark
_EDITOR = re.compile(
    r"(?:^Fußnote[ \t]*\n\s*)?\(\+\+\+(?:(?!\(\+\+\+|\+\+\+\)).){1,2000}\+\+\+\)", re.MULTILINE | re.DOTALL
)
_SIGNS = ("]", ">", "))", "+++)", *(dash * 4 for dash in DASHES))  # without any of these there is no mark
_ROUND = re.compile(r"\(\(|\)\)|[()]")


def unmarked(text: str, language: str) -> str:
    """Return the text without the marks; one that is nothing but marks comes back as it is.

    A text without marks comes back unchanged, and what comes back has none left: a second call
    changes nothing.

    Args:
        text: of an article.
        language: two letters; round double brackets are marks in Italian alone.
    """
    bare = stripped(text, language)
    return bare if bare.strip() else text


def stripped(text: str, language: str) -> str:
    """Return the text without the marks, which may leave nothing."""
    while any(sign in text for sign in _SIGNS):  # what goes may bring the halves of another mark together
        bare = _once(text, language)
        if bare == text:
            break
        text = bare
    return text


def struck_out(text: str) -> bool:
    """Tell whether a text is one numbered mark around dots: how Justel writes a repealed article."""
    opening = _OPEN.match(text.lstrip())
    return opening is not None and not stripped(text, "fr").strip()


def _once(text: str, language: str) -> str:
    found = notes(text)
    body = text[: found.begins]
    spans: list[Span] = [*found.spans, *callers(body, found)]
    spans += [match.span() for match in (*TAG.finditer(body), *_EDITOR.finditer(body))]
    spans += _square(body, found.answered)
    if spans:
        return cut(text, spans)
    return cut(text, _double_round(text)) if language == "it" and "((" in text else text


def _square(text: str, answered: frozenset[str]) -> list[Span]:
    """Return where numbered marks are, and the dots between them where nothing else is."""
    tokens = sorted((*_OPEN.finditer(text), *_CLOSE.finditer(text)), key=lambda match: match.start())
    opened: list[tuple[str, Span]] = []
    waiting: Counter[str] = Counter()
    spans: list[Span] = []
    for token in tokens:
        number = flat(next(filter(None, token.groups())))
        if token[0].startswith("["):
            if not _THOUSANDS.match(text, token.end()):
                opened.append((number, token.span()))
                waiting[number] += 1
            continue
        if token[3] and f"({number})" not in answered:  # "] 1" may be the law's: a note must say otherwise
            continue
        while waiting[number]:
            other, (start, end) = opened.pop()
            waiting[other] -= 1
            if other == number:  # those above it were never closed
                whole = _only_dots(text, end, token.start(), spans)
                spans += [(start, token.end())] if whole else [(start, end), token.span()]
                break
    return spans


def _only_dots(text: str, start: int, end: int, spans: Sequence[Span]) -> bool:
    """Tell whether nothing but dots is left between two places without the spans there, the last found."""
    if end - start > _DEEP:
        return False
    inside = [(a - start, b - start) for a, b in takewhile(lambda span: span[0] >= start, reversed(spans))]
    return _DOTS.fullmatch(cut(text[start:end], inside)) is not None


def _double_round(text: str) -> list[Span]:
    """Return where Normattiva's double brackets are; none at all where they are not balanced.

    Letters of a list close a bracket that was never opened ("((b) words))"), and two single brackets
    may close together ("((words (letter b)) more))"): inside double ones, what is open decides.
    """
    spans: list[Span] = []
    begun: Span | None = None
    single = 0
    for token in _ROUND.finditer(text):
        start, end = token.span()
        if begun is None:
            if token[0] == "((":
                begun, single = (start, end), 0
        elif token[0] == "((":
            return []
        elif token[0] == "(":
            single += 1
        elif token[0] == ")" or single:
            single = max(0, single - 1)
        else:
            between = text[begun[1] : start]
            if _DOTS.fullmatch(between):
                spans.append((begun[0], end))
            elif not between.strip().isdigit():  # "((29))": a note's sign, or a number; left as it is
                spans += [begun, (start, end)]
            begun = None
    return spans if begun is None else []
