"""Editors' notes under an article, and the signs in its text that call them.

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
from dataclasses import dataclass

from indexes.cleaning.cuts import RAISED, Span

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
_SIGNS = (  # one pattern a kind: those that begin a line number its paragraphs
    r"\(\d{1,3}\)", r"\[\d{1,3}\]", r"（\d{1,3}）", r"［\d{1,3}］", r"〔\d{1,3}〕", rf"[{RAISED}]{{1,3}}",
    r"[①-⑳]", r"\*{1,4}\)",
)  # fmt: skip
_SIGN = re.compile("|".join(_SIGNS))
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


def callers(body: str, found: Notes) -> list[Span]:
    """Return where the text above the notes calls them."""
    spans = []
    for sign in found.called:
        for match in re.finditer(_exactly(sign), body):
            if not _is_place(body, match.start(), sign):
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
    signs = [match[0] if (match := _SIGN.match(line)) and line != match[0] else "" for line in lines]
    body = text[:at]
    kinds = {kind for sign in signs for kind in _SIGNS if re.fullmatch(kind, sign)}
    numbering = any(re.search(rf"^\s*{kind}", body, re.MULTILINE) for kind in kinds)
    if not signs or not all(signs) or len(set(signs)) < len(signs) or numbering:
        return nothing
    called = Notes(at, called=frozenset(signs))
    calling = {body[start:end].strip("() ") for start, end in callers(body, called)}
    return (at, called.called) if calling == {sign.strip("() ") for sign in signs} else nothing


def _exactly(sign: str) -> str:
    plain = re.escape(sign)
    if sign[0] in RAISED:
        return rf"(?<![{RAISED}]){plain}(?![{RAISED}])"
    if sign[0] == "*":
        return rf"(?<!\*){plain}"
    return rf"\({plain}\)|{plain}" if sign[0] == "(" else plain  # ((29)): put in by an amendment


def _is_place(body: str, at: int, sign: str) -> bool:
    """Tell whether a sign is the law's own here: a power, or the number of a paragraph."""
    before = body[max(0, at - 24) : at]
    if sign[0] in RAISED:
        return _POWER.search(before) is not None
    return _NAMES_A_PLACE.search(before) is not None
