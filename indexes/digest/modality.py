"""Rules 2 and 3: what one text denies or forbids and the other does not; "peut" against "doit"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from indexes.digest.finding import NEGATION_ADDED, NEGATION_LOST, OBLIGES, PERMITS, Remark
from indexes.digest.text import Wording, data, partner, quoted, split_clauses, word_pattern

# What denies or forbids for certain. Between "ne" and its partner stand a few words of the same clause.
_NE = r"\b(?:ne |n')"
_PRONOUNS = r"(?:(?:le|la|les|lui|leur|en|y|se|me|nous|vous) |[lsmt]'){0,2}"
_BRACKETS = re.compile(r"\([^)]*\)")
_STRONG = re.compile(
    rf"{_NE}(?:[\w'-]+ ){{0,6}}?(?:pas|point|jamais|aucune?|nulle?|rien|guere|plus|ni|personne|qu[e'])(?!\w)"
    rf"|{_NE}{_PRONOUNS}(?:peu\w+|pou\w+|sau\w+|doi\w+|dev\w+)\b"
    r"|\bsans\b(?! (?:prejudice|delai))|\bpeine de nullite\b|\binterdi\w+|\bprohib\w+|\bdefendu\w*"
    r"|\bnul(?:le)?s?\b|\baucune?\b|\birrecevab\w+|\bni\b"
)
# The same without "ne ... que", "sans" and limits ("ne peut excéder"), which are told in many ways.
_CANNOT = rf"{_NE}{_PRONOUNS}(?:peu(?:t|vent|x)|pouvez|pourr\w+)\b"
_MODAL = rf"{_CANNOT}(?!.*(?:\bqu[e']|\bsans\b|exced|depass|inferieur))"
_NE_MODAL = re.compile(rf"{_CANNOT}|{_NE}{_PRONOUNS}(?:doi(?:t|vent|s)|dev(?:ez|ra|ront))\b")
_CLEAR = re.compile(
    rf"{_NE}(?:[\w'-]+ ){{0,6}}?(?:pas|point|jamais|aucune?|nulle?|rien|guere)\b(?! (?:seulement|plus))"
    rf"|{_MODAL}|\binterdi(?:te?s?)\b|\bprohib\w+|\bnul(?:le)?s?\b"
)
# "ne peut" and "ne doit" forbid, "n'est pas tenu" frees: they neither permit nor oblige
_DENIED = re.compile(
    rf"{_NE}{_PRONOUNS}(?:peu|pourr|pouv|doi|dev)\w+"
    r"|\b(?:n'|ne )(?:est|sont|etes|sera|seront) (?:\w+ ){0,2}tenue?s?"
)
_WORDS = {name: word_pattern(*words) for name, words in data("words")["modality"].items()}
# Other ways to deny: in the nearest clause, and milder ones too anywhere in the other text, which is longer.
_EXCUSE = _WORDS["otherwise"]
_MILD_EXCUSE = re.compile(f"{_EXCUSE.pattern}|{_WORDS['milder'].pattern}")


def negations(official: Wording, summary: Wording) -> Iterator[Remark]:
    """Yield what one text denies or forbids and the other does not.

    The texts are compared as wholes, then clause by clause with the clause that shares most words.
    What the summary says in brackets explains a word, and "si vous n'avez pas ..." another: of the
    summary only the rest and main clauses count.
    """
    unbracketed = Wording(summary.shown, _BRACKETS.sub(_blank, summary.plain))
    lost = (*_whole(official, summary), *_clauses(official, summary, main=False))
    added = (*_whole(unbracketed, official), *_clauses(unbracketed, official, main=True))
    found = [(NEGATION_LOST, detail) for detail in lost] + [(NEGATION_ADDED, detail) for detail in added]
    yield from (*found, *_flips(official, unbracketed))


def _whole(text: Wording, other: Wording) -> Iterator[str]:
    strong = _STRONG.search(text.plain)
    if strong and not _MILD_EXCUSE.search(other.plain):
        yield quoted(text, strong.start())


def _clauses(text: Wording, other: Wording, *, main: bool) -> Iterator[str]:
    """Yield what each clause of a text denies and the clause nearest to it in the other one does not.

    Of main clauses only, what is denied after "si", "qui" and the like is left out, but for "ne peut".
    """
    among = split_clauses(other)
    for clause in split_clauses(text):
        denied = _denied(clause.text.plain, main)
        same = partner(clause, among) if denied is not None else None
        if denied is not None and same is not None and not _EXCUSE.search(same.text.plain):
            yield quoted(clause.text, denied)


def _flips(official: Wording, summary: Wording) -> Iterator[Remark]:
    """Yield "peut" where the law has "ne peut", and "ne peut" where it has "peut"; both only where alone."""
    among = split_clauses(official)
    for clause in split_clauses(summary):
        if (same := partner(clause, among)) is None:
            continue
        (denies, permits), (law_denies, law_permits) = _modals(clause.text), _modals(same.text)
        if (
            denies
            and law_permits
            and not (permits or law_denies or _WORDS["forbids"].search(same.text.plain))
        ):
            yield NEGATION_ADDED, quoted(clause.text, denies.start())
        if (
            permits
            and law_denies
            and not (denies or law_permits or _WORDS["forbids"].search(clause.text.plain))
        ):
            yield NEGATION_LOST, quoted(clause.text, permits.start())


def _modals(clause: Wording) -> tuple[re.Match[str] | None, re.Match[str] | None]:
    """Return "ne peut" and the like of a clause, and "peut"; neither of a clause that sets a limit."""
    if _WORDS["limit"].search(clause.plain):
        return None, None
    denies = _NE_MODAL.search(clause.plain)
    return denies, _WORDS["permits"].search(_NE_MODAL.sub(_blank, clause.plain))


def _denied(plain: str, main: bool) -> int | None:
    for found in _CLEAR.finditer(plain):
        if not main or _NE_MODAL.match(found[0]) or not _WORDS["subordinate"].search(plain, 0, found.start()):
            return found.start()
    return None


def _blank(found: re.Match[str]) -> str:
    return " " * len(found[0])


def force(official: Wording, summary: Wording) -> Iterator[Remark]:
    """Yield an obligation made of what the law only permits, or a permission of what it obliges to.

    French law obliges by the plain present, so only what it permits in so many words counts as
    permitted, and only what it demands in so many words as demanded. The texts are compared as
    wholes, then clause by clause with the clause that shares most words.
    """
    yield from _compared(official, summary)
    among = split_clauses(official)
    for clause in split_clauses(summary):
        if (same := partner(clause, among)) is not None:
            yield from _compared(same.text, clause.text)


def _compared(official: Wording, summary: Wording) -> Iterator[Remark]:
    law, ours = (_DENIED.sub(_blank, text.plain) for text in (official, summary))
    must, may = _WORDS["must"].search(ours), _WORDS["may"].search(ours)
    condition = _WORDS["provided"].search(law) or (
        _WORDS["condition"].search(law) and _WORDS["state"].search(ours)
    )
    permitted = _WORDS["may"].search(law) and not _WORDS["obliges"].search(law)
    if must and permitted and not condition and not _WORDS["permits_widely"].search(ours):
        yield OBLIGES, quoted(summary, must.start())
    demanded = _WORDS["law_must"].search(law) and not _WORDS["permits_widely"].search(law)
    if may and demanded and not (_WORDS["obliges"].search(ours) or _WORDS["only"].search(ours)):
        yield PERMITS, quoted(summary, may.start())
