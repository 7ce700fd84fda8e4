"""A sentence as the gate compares it: its clauses with their force, content terms, parties and numbers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, lru_cache, partial

from rag.answer.screening.patterns import data
from rag.answer.verification.modality import Force, ModalClause, clauses, sign_spans
from rag.answer.verification.normalise import flat
from rag.answer.verification.parties import SUBJECT, PartyRole, parts
from rag.answer.verification.quantities import Quantity, blanked, cited_articles, quantities, telling
from rag.text.analysers import analyser

YEAR, MONTH = 12, 31  # months, and days at most
Words = frozenset[str]

_DATE = re.compile(r"(?<![a-z\d_./-])(\d{1,2})([./-])(\d{1,2})\2(\d{4})(?![a-z\d_/-]|\.\d)")
_ISO = re.compile(r"(?<![a-z\d_./-])(\d{4})-(\d\d)-(\d\d)(?![a-z\d_/-]|\.\d)")
_FIGURES = re.compile(r"(?<!\d)\d{1,4}([./-])\d{1,2}\1\d{1,4}(?!\d)")
_OTHERS = re.compile(
    r"(?<!\w)(?:ou|or|oder|of|o) (?:(?P<more>plus|more|mehr|meer|piu)"
    r"|(?P<less>moins|less|weniger|minder|meno))(?!\w)"
)
_analyser = cache(partial(analyser, chinese="words"))
_WITH_ZU = re.compile(
    r"^(ab|an|auf|aus|bei|durch|ein|fest|fort|frei|heraus|hin|mit|nach|nieder|vor|weg|weiter|wieder|zuruck)"
    r"zu(?=\w{3})"
)
_NUMBERED = re.compile(r"^[\s(\[*-]*\(?\d{1,2}[a-z]?[.)°](?=\s)\s*")  # "(2) ", "1. " before a sentence


def canonical_form(plain: str, language: str) -> str:
    """Return a normalised text with dates in words and "or more" as "at least"."""
    plain = _ISO.sub(lambda d: _in_words(d, d[3], d[2], d[1], language), plain)
    plain = _DATE.sub(lambda d: _in_words(d, d[1], d[3], d[4], language), plain)
    behind, prefix = data("claims")["or_more"].get(language, ("", ""))
    if behind and behind in plain:
        for number in reversed(quantities(plain, language)):
            after = number.end + len(behind)
            if plain.startswith(behind, number.end) and not plain[after : after + 1].isalnum():
                number_text = plain[number.start : number.end]
                plain = plain[: number.start] + prefix + number_text + plain[after:]
    return plain


def open_bounds(plain: str) -> frozenset[str]:
    """Return what must stand literally in the law: "or more", "or less", dates in figures."""
    others = {found.lastgroup or "" for found in _OTHERS.finditer(plain)}
    return frozenset(others | {found[0] for found in _FIGURES.finditer(plain)})


def _in_words(found: re.Match[str], day: str, month: str, year: str, language: str) -> str:
    """Return a date in words; as it was where it is none, or may be read in two ways."""
    first, second = int(day), int(month)
    doubtful = language == "en" and found.re is _DATE and first <= YEAR and first != second
    if not (1 <= second <= YEAR and 1 <= first <= MONTH) or doubtful:
        return found[0]
    if language == "zh":
        return f"{year}年{second}月{first}日"
    return f"{first} {data('claims')['months'][language].split()[second - 1]} {year}"


@dataclass(frozen=True, slots=True)
class Piece:
    """A clause, with the comma phrases beside it that have no force of their own."""

    force: tuple[tuple[Force, int], ...]
    condition: bool
    segment: int
    terms: Words
    early: Words  # before the first sign of force: who acts
    loose: Words  # from phrases without force: they may stand elsewhere in a rewording
    parts: tuple[PartyRole, ...]
    early_numbers: frozenset[tuple[Fraction, str]]  # before the first sign: "who is sixteen may"


@dataclass(frozen=True, slots=True)
class Claim:
    """The clauses, parties, quantities and modality of one sentence."""

    plain: str
    pieces: tuple[Piece, ...]
    tokens: tuple[tuple[int, str], ...]  # content terms with where they begin in `plain`
    numbers: tuple[Quantity, ...]
    telling: Words
    language: str

    @property
    def terms(self) -> Words:
        """All content terms."""
        return frozenset(term for _, term in self.tokens)

    @property
    def force(self) -> Counter[Force]:
        """The signs of force of all clauses, counted."""
        return sum((Counter(dict(piece.force)) for piece in self.pieces), Counter())

    def has(self, terms: Words) -> Words:
        """Return those of the terms that this sentence has; a Chinese word also as part of another."""
        known = self.terms
        return frozenset(term for term in terms if term in known or (is_han(term) and term in self.plain))


@lru_cache(maxsize=8192)
def parse_claim(text: str, codes: tuple[str, ...], language: str) -> Claim:
    """Parse a sentence, as it was written, into a claim.

    By the names of the cited articles' codes, numbers of articles are told from other numbers.
    """
    text = _NUMBERED.sub("", " ".join(text.split()))
    named = cited_articles(text, codes, language)
    plain = canonical_form(flat(blanked(text, [(each.start, each.end) for each in named])), language)
    numbers = tuple(quantities(plain, language))
    tokens = _tokens(plain, numbers, language)
    pieces = [_piece(plain, clause, tokens, numbers, language) for clause in clauses(plain, language)]
    return Claim(plain, tuple(_merged(pieces)), tokens, numbers, telling(plain), language)


def is_han(term: str) -> bool:
    """Tell whether a term is a Chinese word, which nothing parts from its neighbours."""
    return "\u3400" <= term[:1] <= "\u9fff"


def _tokens(plain: str, numbers: tuple[Quantity, ...], language: str) -> tuple[tuple[int, str], ...]:
    """Return the content terms: without numbers and signs of force, parties by what they are."""
    spans = [(each.start, each.end) for each in numbers] + sign_spans(plain, language)
    named = [(part.start, part.end, f"@{part.pair}.{part.side}") for part in parts(plain, language)]
    rest = plain
    for start, end in [*spans, *((start, end) for start, end, _ in named)]:
        rest = rest[:start] + " " * (end - start) + rest[end:]
    passing, everyday = _passing(language), _everyday(language)
    found = [
        (token.start, everyday.get(token.term, token.term))
        for token in _analyser(language).tokens(rest)
        if token.term not in passing and not any(map(str.isdigit, token.term))
    ]
    if language == "de":  # "zurückzugeben" is "zurückgeben"
        found = [(at, _WITH_ZU.sub(r"\1", term)) for at, term in found]
    return tuple(sorted([*found, *((start, term) for start, _, term in named)]))


@cache
def _passing(language: str) -> Words:
    return frozenset(_analyser(language).terms(data("claims")["passing"][language]))


@cache
def _everyday(language: str) -> Mapping[str, str]:
    """Return the one term for each of several words that say the same: the first of its line."""
    terms = _analyser(language).terms
    lines = [terms(line) for line in data("plain_words").get(language, [])]
    return {term: line[0] for line in reversed(lines) for term in line}


def _piece(
    plain: str,
    clause: ModalClause,
    tokens: tuple[tuple[int, str], ...],
    numbers: tuple[Quantity, ...],
    language: str,
) -> Piece:
    inside = [(at, term) for at, term in tokens if clause.start <= at < clause.end]
    terms = frozenset(term for _, term in inside)
    early = frozenset(term for at, term in inside if at < clause.first) if clause.force else frozenset()
    own = tuple(parts(plain[clause.start : clause.end], language))
    loose = frozenset() if clause.force or clause.condition else terms
    threshold = frozenset(
        each.key for each in numbers if each.unit and clause.start <= each.start < clause.verb
    )
    return Piece(clause.force, clause.condition, clause.segment, terms, early, loose, own, threshold)


def _merged(pieces: list[Piece]) -> list[Piece]:
    """Join phrases without force to the clause before them, the first to the one after it."""
    made: list[Piece] = []
    for piece in pieces:
        last = made[-1] if made and made[-1].segment == piece.segment else None
        if last is not None and not last.condition and not piece.condition:
            both_act = all(any(part.role == SUBJECT for part in each.parts) for each in (last, piece))
            if not (last.force and piece.force) and not both_act:
                made[-1] = Piece(
                    last.force or piece.force,
                    False,
                    last.segment,
                    last.terms | piece.terms,
                    last.early | piece.early,
                    last.loose | piece.loose,
                    last.parts + piece.parts,
                    last.early_numbers | piece.early_numbers,
                )
                continue
        made.append(piece)
    return made
