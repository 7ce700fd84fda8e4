"""Pieces cut out of a text without a trace: no double blank, no empty line, no two words run together."""

from __future__ import annotations

from collections.abc import Iterable

Span = tuple[int, int]  # from, up to

RAISED = "¹²³⁰⁴⁵⁶⁷⁸⁹"
_FLAT = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
_CJK = "\u2e80"  # from here on characters stand without blanks
_BLANKS = " \t\u00a0\u202f"


def flat(number: str) -> str:
    """Return a number with its raised digits on the line."""
    return number.translate(_FLAT)


def cut(text: str, spans: Iterable[Span]) -> str:
    """Return the text without the spans, which may overlap.

    Only blanks beside a span are touched: of those before and behind it one side stays, and a line of
    which nothing is left goes.
    """
    kept, at, merged = "", 0, _merged(spans)
    for start, end in merged:
        kept += text[at:start]
        at = end
        if not kept or kept[-1] in _BLANKS or kept[-1] == "\n":
            while at < len(text) and text[at] in _BLANKS:
                at += 1
        if at == len(text) or text[at] in "\n,.)":
            kept = kept.rstrip(_BLANKS)
        if at < len(text) and text[at] == "\n" and (not kept or kept[-1] == "\n"):
            at += 1
        elif at < len(text) and _run_together(kept[-1:], text[at]):
            kept += " "
    if merged and at == len(text):
        kept = kept.rstrip(f"{_BLANKS}\n")
    return kept + text[at:]


def _run_together(before: str, behind: str) -> bool:
    """Tell whether two characters would make one word, or one number, of two; Chinese has no blanks."""
    return before.isalnum() and behind.isalnum() and max(before, behind) < _CJK


def _merged(spans: Iterable[Span]) -> list[Span]:
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged
