"""Marks that editors put into consolidated law to tell what was amended: taken out, the law left as it is.

What is known, with the publications that write it so:

- `[1 words]1`, nested, the number flat or raised; `[1 ...]1` where words were struck out (Justel, Belgium);
- `<L 2008-12-22/32, art. 5, 012; En vigueur : 08-01-2009>`, in French, Dutch or German (Justel, older);
- `((words))`, `((...))` and, at the end of a sentence, `(29)` (Normattiva, Italy; in Italian texts only);
- notes behind a rule of dashes, and the signs in the text that call them;
- `(+++ ... +++)` (gesetze-im-internet, Germany).

Any other bracket is the law's own and stays, and so does a mark whose other half is missing. Words, numbers
and punctuation between marks are never touched; round brackets that older Justel texts put around
amended words look like any others, so they stay too.

Editors' notes under an article, and the signs in its text that call them.

A note is taken out only where it cannot be law:

- one that is nothing but the citation of an amending act, `(1)<L 2013-03-17/14, art. 2, 057; En vigueur :
  01-06-2014>`, wherever it stands (Justel);
- all from a rule of dashes on that AGGIORNAMENTO follows (Normattiva);
- the lines behind a rule of dashes if each begins with a sign that the text above calls, such as `(1)`, a
  raised digit or an encircled one. Where lines of the text itself begin with such signs, they number its
  paragraphs, and everything stays.

The signs that call a note go with it. One that a word such as "alinéa" or "Absatz" stands before names
a paragraph and stays; a raised 2 behind a unit or a number is a power and stays.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import takewhile

Span = tuple[int, int]  # from, up to

RAISED = "¹²³⁰⁴⁵⁶⁷⁸⁹"
_FLAT = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
_CJK = "\u2e80"  # from here on characters stand without blanks
_BLANKS = " \t\u00a0\u202f"


def remove_spans(text: str, spans: Iterable[Span]) -> str:
    """Return the text without the spans, which may overlap.

    Only blanks beside a span are touched: of those before and behind it one side stays, and a line of
    which nothing is left goes.
    """
    pieces: list[str] = []  # none of them empty; one text that grows would be copied for each span
    at, merged = 0, _merged(spans)
    for start, end in merged:
        if start > at:
            pieces.append(text[at:start])
        at = end
        if not pieces or pieces[-1][-1] in f"\n{_BLANKS}":
            while at < len(text) and text[at] in _BLANKS:
                at += 1
        behind = text[at : at + 1]
        if not behind or behind in "\n,.)":
            _strip(pieces, _BLANKS)
        before = pieces[-1][-1] if pieces else ""
        if behind == "\n" and before in ("", "\n"):
            at += 1
        elif before.isalnum() and behind.isalnum() and max(before, behind) < _CJK:
            pieces.append(" ")  # two words, or two numbers, would be one; Chinese has no blanks
    if merged and at == len(text):
        _strip(pieces, f"{_BLANKS}\n")
    return "".join(pieces) + text[at:]


def _strip(pieces: list[str], blanks: str) -> None:
    """Take blanks from the end of a text in pieces."""
    while pieces:
        pieces[-1] = pieces[-1].rstrip(blanks)
        if pieces[-1]:
            return
        pieces.pop()


def _merged(spans: Iterable[Span]) -> list[Span]:
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


DASHES = "-_—–―─－"
_RULE = rf"(?<!\S)[{DASHES}]{{4,}}(?!\S)"
_ACT = r"\d{4}-\d{2}-\d{2}/[0-9A-Z]{1,4}"  # Justel's number of an act: the day, and a count
_FORCE = r"(?:en\s+vigueur|inwerkingtreding|in\s*kraft\w*)\s*:"
_CITED = rf"<(?!\s*note\b)(?:[^<>]{{0,60}}?{_ACT}|(?=[^<>]{{0,60}}?\d)[^<>]{{0,60}}?{_FORCE})[^<>]{{0,600}}>"
TAG = re.compile(_CITED, re.IGNORECASE)
# "(1)<L ...>" is a note; "(1) <L ...>" may be the first paragraph, unless a rule or a line's end says more.
_NUMBERED = rf"\(\d{{1,3}}\)(?:{_CITED}|[ \u00a0]{_CITED}(?=\s*$))"
_ACTS = re.compile(
    rf"{_RULE}\s*(?:\(\d{{1,3}}\)\s?)?{_CITED}(?:[\s.;]*{_NUMBERED})*"
    rf"|(?<![^\s>]){_NUMBERED}(?:[\s.;]*{_NUMBERED})*",
    re.IGNORECASE,
)
_UPDATES = re.compile(rf"{_RULE}\s*AGGIORNAMENTO\b")
_UPDATE = re.compile(r"AGGIORNAMENTO\s*\((\d{1,3})\)")
_ANY_RULE = re.compile(_RULE)
_OWN_LINE = re.compile(rf"^[ \t]*[{DASHES}]{{4,}}[ \t]*$", re.MULTILINE)
_NOTE_SIGNS = (  # one pattern a kind: those that begin a line number its paragraphs
    r"\(\d{1,3}\)", r"\[\d{1,3}\]", r"（\d{1,3}）", r"［\d{1,3}］", r"〔\d{1,3}〕", rf"[{RAISED}]{{1,3}}",
    r"[①-⑳]", r"\*{1,4}\)",
)  # fmt: skip
_NOTE_SIGN = re.compile("|".join(_NOTE_SIGNS))
# The same within a text, raised digits and asterisks by whole runs: all signs are looked for at once.
_CALLER = re.compile(rf"\(\(\d{{1,3}}\)\)|[{RAISED}]+|(?<!\*)\*{{1,4}}\)|{_NOTE_SIGN.pattern}")
# What makes "(2)" the number of a paragraph, before it or before another one in the same breath.
_PLACE = (
    r"alinéas?|paragraphes?|points?|articles?|art|al|§+|comm[ai]|letter[ae]|lett|articol[oi]|nn?|numer[oi]|lid|leden"
    r"|onder|artikel[en]*|absatz|absätze|abs|satz|sätze|nummern?|nr|numéros?|n°|sections?|subsections?|第|款|项"
)
_NAMES_A_PLACE = re.compile(
    rf"(?:(?<!\w)(?:{_PLACE})\.?|[)）]\s*(?:,|et|e|ou|o|and|or|und|oder|en|of|à|a|to|bis|至|和|、))\s*$",
    re.IGNORECASE,
)
_POWER = re.compile(r"(?:\d|(?<!\w)(?:[^\W\d_]|[kcdmhnµ]m|dam|cos|sin|log))\s?$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Notes:
    """The notes of one text."""

    begins: int  # where they begin, from which on nothing is law; the length of the text if nowhere
    spans: tuple[Span, ...] = ()  # all that is taken out of them
    called: frozenset[str] = frozenset()  # the signs that call them in the text
    answered: frozenset[str] = frozenset()  # those of notes that cite an act: they belong to brackets


def notes(text: str) -> Notes:
    """Return the notes under a text."""
    acts = [match.span() for match in _ACTS.finditer(text)]
    answered = frozenset(
        sign for start, end in acts for sign in re.findall(r"\(\d{1,3}\)(?=\s?<)", text[start:end])
    )
    updates = _UPDATES.search(text)
    if updates is not None:
        rest = text[updates.start() :]
        if len(_ANY_RULE.findall(rest)) == len(_UPDATES.findall(rest)):  # else a table is among them
            called = frozenset(f"({number})" for number in _UPDATE.findall(rest))
            return Notes(updates.start(), (*acts, (updates.start(), len(text))), called, answered)
    at, called = _in_prose(text)
    return Notes(at, (*acts, (at, len(text))) if at < len(text) else tuple(acts), called, answered)


def callers(body: str, signs: Iterable[str]) -> list[Span]:
    """Return where the text above the notes calls them by their signs."""
    known, spans = set(signs), []
    for match in _CALLER.finditer(body) if known else ():
        sign = match[0][1:-1] if match[0].startswith("((") else match[0]  # ((29)): put in by an amendment
        left = body[max(0, match.start() - 24) : match.start()]
        # the law's own: a power, or the number of a paragraph
        if sign in known and not (_POWER if sign[0] in RAISED else _NAMES_A_PLACE).search(left):
            spans.append(match.span())
    return spans


def _in_prose(text: str) -> tuple[int, frozenset[str]]:
    """Return where lines of notes begin behind a rule, and their signs; the end of the text for none."""
    nothing = len(text), frozenset[str]()
    rules = list(_OWN_LINE.finditer(text))
    if not rules:
        return nothing
    at = rules[-1].start()
    lines = [line.strip() for line in text[rules[-1].end() :].split("\n") if line.strip()]
    signs = [match[0] if (match := _NOTE_SIGN.match(line)) and line != match[0] else "" for line in lines]
    body = text[:at]
    kinds = {kind for sign in signs for kind in _NOTE_SIGNS if re.fullmatch(kind, sign)}
    numbering = any(re.search(rf"^[^\S\n]*{kind}", body, re.MULTILINE) for kind in kinds)
    if not signs or not all(signs) or len(set(signs)) < len(signs) or numbering:
        return nothing
    calling = {body[start:end].strip("() ") for start, end in callers(body, signs)}
    return (at, frozenset(signs)) if calling == {sign.strip("() ") for sign in signs} else nothing


_PASSES = 20  # of marks that others hide; known law needs three
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
    changes nothing. Round double brackets are marks in Italian alone.
    """
    bare = stripped(text, language)
    return bare if bare.strip() else text


def stripped(text: str, language: str) -> str:
    """Return the text without the marks, which may leave nothing; as it is where they hide without end."""
    left = text
    for _ in range(_PASSES):  # what goes may bring the halves of another mark together
        bare = _once(left, language) if any(sign in left for sign in _SIGNS) else left
        if bare == left:
            return left
        left = bare
    return text


def struck_out(text: str) -> bool:
    """Tell whether a text is one numbered mark around dots: how Justel writes a repealed article."""
    opening = _OPEN.match(text.lstrip())
    return opening is not None and not stripped(text, "fr").strip()


def _once(text: str, language: str) -> str:
    found = notes(text)
    body = text[: found.begins]
    spans: list[Span] = [*found.spans, *callers(body, found.called)]
    spans += [match.span() for match in (*TAG.finditer(body), *_EDITOR.finditer(body))]
    spans += _square(body, found.answered)
    if spans:
        return remove_spans(text, spans)
    return remove_spans(text, _double_round(text)) if language == "it" and "((" in text else text


def _square(text: str, answered: frozenset[str]) -> list[Span]:
    """Return where numbered marks are, and the dots between them where nothing else is."""
    tokens = sorted((*_OPEN.finditer(text), *_CLOSE.finditer(text)), key=lambda match: match.start())
    opened: list[tuple[str, Span]] = []
    waiting: Counter[str] = Counter()
    spans: list[Span] = []
    for token in tokens:
        number = next(filter(None, token.groups())).translate(_FLAT)  # raised digits on the line
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
    return _DOTS.fullmatch(remove_spans(text[start:end], inside)) is not None


def _double_round(text: str) -> list[Span]:
    """Return where Normattiva's double brackets are; none at all where they are not balanced.

    Letters of a list close a bracket that was never opened ("((b) words))"), and two single brackets
    may close together ("((words (letter b)) more))"): inside double ones, what is open decides.
    """
    spans: list[Span] = []
    opening: Span | None = None
    single = 0
    for token in _ROUND.finditer(text):
        start, end = token.span()
        if opening is None:
            if token[0] == "((":
                opening, single = (start, end), 0
        elif token[0] == "((":
            return []
        elif token[0] == "(":
            single += 1
        elif token[0] == ")" or single:
            single = max(0, single - 1)
        else:
            between = text[opening[1] : start]
            if _DOTS.fullmatch(between):
                spans.append((opening[0], end))
            elif not between.strip().isdigit():  # "((29))": a note's sign, or a number; left as it is
                spans += [opening, (start, end)]
            opening = None
    return spans if opening is None else []
