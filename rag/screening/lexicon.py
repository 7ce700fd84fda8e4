"""Meanings in a text: phrases of a lexicon in many languages, and rules over them.

A lexicon is data: concept -> language -> phrases, with commas between them. A phrase is words as they are
written, of which each may be

- `frapp*`, `*ضرب*`: any word that begins so, that has this in it
- `met|mis`: one of several words; `(à la rue|dehors)`: one of several phrases; `a?`: there or not
- `…`: up to three words (six characters of Chinese)
- `<hits>`: a phrase of another concept
- `{minor}`, `{old}`, `{year}`, `{number}`: a number of that kind

Words are compared without case, accents, doubled letters, attached joiners and apostrophes, so that what is
typed in haste is read too. A Chinese phrase is read sign by sign. The phrases of "any" are read in every
text.

A rule names concepts that stand near each other in one sentence, in any order: "partner|relative hits me
-child" wants one of the first two, both others, and none of the last in that sentence. A rule that begins
with "text:" may take them from the whole text.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import cache
from itertools import chain, product

from rag.text.article_numbers import chinese_number
from rag.text.patterns import plain

LONGEST = 2_000  # characters that are looked at
REACH, REACH_CHINESE = 12, 26  # words, signs between the first and the last concept of a rule
GAP, GAP_CHINESE = 3, 6  # words, signs that "…" stands for, at most
_CHINESE = "zh"
_HAN = "\u3400-\u9fff"
_ARABIC = str.maketrans({"ى": "ي", "ی": "ي", "ې": "ي", "ک": "ك", "ة": "ه", "ۀ": "ه", "ھ": "ه", "ـ": ""})
_LETTERS = re.compile(r"([^\W\d_])\1+")
_WORD = re.compile(rf"[{_HAN}]|[^\W_{_HAN}]+|[.!?;:…\n。！？；：؟؛]|[,،，、]")
CLAUSE, SENTENCE = frozenset(",،，、"), frozenset(".!?;:…\n。！？；：؟؛")
_CYRILLIC_APOSTROPHE = re.compile(r"(?<=[\u0400-\u04ff])'(?=[\u0400-\u04ff])")
_PERSIAN_PREFIX = re.compile(r"(?<!\w)(ن?مي) (?=\w)")  # it is typed with a joiner, with a blank or without
_AMOUNT = re.compile(r"\b(\d)(\d{3})(?= ?(?:€|euro|eur\b|e\b))")  # "1900 €" is no year
_CHINESE_NUMBER = re.compile("[一二三四五六七八九十百]+(?=岁|年|天|个月)")
_KINDS = {"minor": range(2, 18), "old": range(10, 100), "year": range(1900, 2014), "number": range(1_000_000)}


def fold(text: str) -> str:
    """Return the text as its words are compared; places are not kept."""
    folded = _CYRILLIC_APOSTROPHE.sub("", plain(text)).translate(_ARABIC)
    digits = "".join(str(unicodedata.digit(c)) if c.isdigit() and not c.isascii() else c for c in folded)
    joined = _AMOUNT.sub(r"\1 \2", _PERSIAN_PREFIX.sub(r"\1", digits))
    return _LETTERS.sub(r"\1", _CHINESE_NUMBER.sub(lambda found: str(chinese_number(found[0])), joined))


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a text, a number or a Chinese sign; the clause and the sentence that it stands in."""

    text: str
    clause: int
    sentence: int


def words(text: str, typed: Mapping[str, str] | None = None) -> list[Word]:
    """Return the words of a text; those of `typed`, which are folded, are read as others."""
    found, clause, sentence = [], 0, 0
    folded = fold(re.sub(r"\n+", " . ", text[:LONGEST]))
    if typed:
        folded = re.sub(rf"\b(?:{'|'.join(typed)})\b", lambda same: fold(typed[same[0]]), folded)
    for mark in _WORD.findall(folded):
        if mark in CLAUSE or mark in SENTENCE:
            clause += 1
            sentence += mark in SENTENCE
        else:
            found.append(Word(mark, clause, sentence))
    return found


@dataclass(frozen=True, slots=True)
class Match:
    """A concept found: words `start` to `end` (excluded) of a text, in a language of the lexicon."""

    concept: str
    language: str
    start: int
    end: int

    def overlaps(self, other: Match) -> bool:
        """Tell whether a word belongs to both."""
        return self.start < other.end and other.start < self.end

    def contains(self, other: Match) -> bool:
        """Tell whether every word of the other belongs to this, which has more."""
        return (
            self.start <= other.start
            and other.end <= self.end
            and self.end - self.start > other.end - other.start
        )


@dataclass(frozen=True, slots=True)
class _Part:
    """One word of a phrase."""

    exact: frozenset[str] = frozenset()
    starts: tuple[str, ...] = ()
    within: tuple[str, ...] = ()
    number: str = ""  # a key of `_KINDS`
    concept: str = ""
    gap: bool = False

    @classmethod
    @cache  # the same words stand in many phrases: one part for all of them is read, and kept, once
    def read(cls, written: str) -> _Part:
        if written == "…":
            return cls(gap=True)
        if written.startswith("<"):
            return cls(concept=written.strip("<>"))
        if written.startswith("{"):
            return cls(number=written.strip("{}"))
        exact, starts, within = set(), [], []
        for each in written.split("|"):
            bare = fold(each.strip("*"))
            if each.startswith("*"):
                within.append(bare + ("" if each.endswith("*") else "\0"))
            elif each.endswith("*"):
                starts.append(bare)
            else:
                exact.add(bare)
        return cls(frozenset(exact), tuple(starts), tuple(within))

    def fits(self, word: str, numerals: Mapping[str, frozenset[str]]) -> bool:
        if self.number:
            digits = word.isdecimal() and len(word) < 7 and int(word) in _KINDS[self.number]
            return digits or word in numerals.get(self.number, ())
        known = word in self.exact or word.startswith(self.starts)
        return known or any(each in word + "\0" for each in self.within)


_Phrase = tuple[_Part, ...]
_WRITTEN = re.compile(rf"…|<[\w-]+>|\{{\w+\}}\??|[{_HAN}](?:\|[{_HAN}])+\??|[{_HAN}]\??|[^\s…<{{{_HAN}]+")


_GROUP = re.compile(r"\(([^()]*)\)")
_ALTERNATIVES = re.compile(rf"[^\s…'’|\-{_HAN}]+(?:\|[^\s…'’|\-{_HAN}]+)*")  # words of which each is one part
_OR = "\0"  # "|" of a group that is read already


def _expanded(phrase: str) -> Iterator[str]:
    """Yield a phrase with one choice of each group; choices of one word each stay together."""
    found = _GROUP.search(phrase)
    if found is None:
        yield phrase.replace(_OR, "|")
        return
    whole = _ALTERNATIVES.fullmatch(found[1])
    for choice in [found[1].replace("|", _OR)] if whole else found[1].split("|"):
        if not choice.strip():
            raise ValueError(f"a phrase has an empty choice: {phrase}")
        yield from _expanded(f"{phrase[: found.start()]}{choice}{phrase[found.end() :]}")


@cache
def _pieces(spelt: str) -> tuple[str, ...]:
    """Return what a word of a phrase is made of: apostrophes and hyphens divide, "m'a" is two words."""
    composed = spelt[0] in "…<{" or "|" in spelt or "*" in spelt
    return (spelt,) if composed else tuple(_WORD.findall(fold(spelt)))


def _phrases(written: str) -> Iterator[_Phrase]:
    """Yield the phrases of a line of a lexicon."""
    for phrase in chain.from_iterable(_expanded(each.strip()) for each in written.split(",") if each.strip()):
        choices: list[tuple[tuple[str, ...], ...]] = []
        for part in _WRITTEN.findall(phrase):
            pieces = _pieces(part.rstrip("?"))
            choices.append((pieces, ()) if part.endswith("?") else (pieces,))
        for chosen in product(*choices):
            yield tuple(_Part.read(piece) for pieces in chosen for piece in pieces)


@dataclass(slots=True)
class _Index:
    """The phrases of one language, by their first word."""

    exact: dict[str, list[tuple[str, _Phrase]]] = field(default_factory=lambda: defaultdict(list))
    starts: dict[str, list[tuple[str, _Phrase]]] = field(default_factory=lambda: defaultdict(list))
    other: list[tuple[str, _Phrase]] = field(default_factory=list)

    def add(self, concept: str, phrase: _Phrase) -> None:
        first = phrase[0]
        for word in first.exact:
            self.exact[word].append((concept, phrase))
        for start in first.starts:
            self.starts[start].append((concept, phrase))
        if first.within or first.number:
            self.other.append((concept, phrase))

    def candidates(self, word: str, numerals: Mapping[str, frozenset[str]]) -> Iterator[tuple[str, _Phrase]]:
        """Yield the phrases that begin with a word."""
        yield from self.exact.get(word, ())
        for length in range(1, len(word) + 1):
            yield from self.starts.get(word[:length], ())
        yield from (each for each in self.other if each[1][0].fits(word, numerals))


class Lexicon:
    """The phrases of all concepts and languages."""

    def __init__(
        self, concepts: Mapping[str, Mapping[str, str]], numerals: Mapping[str, Mapping[str, str]]
    ) -> None:
        """Read phrases, and what numbers are written with: kind -> language -> words."""
        self._numerals: dict[str, dict[str, frozenset[str]]] = defaultdict(dict)
        for kind, lines in numerals.items():
            for language, line in lines.items():
                self._numerals[language][kind] = frozenset(fold(word.strip()) for word in line.split(","))
        self._of: dict[tuple[str, str], list[_Phrase]] = {}
        self._index: dict[str, _Index] = defaultdict(_Index)
        for concept, lines in concepts.items():
            for language, line in lines.items():
                self._of[concept, language] = list(_phrases(line))
                for phrase in self._of[concept, language]:
                    if phrase[0].gap or phrase[0].concept:
                        raise ValueError(f"a phrase of [{concept}] {language} begins with no word: {line}")
                    self._index[language].add(concept, phrase)

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages that have phrases; "any" is none."""
        return tuple(sorted(set(self._index) - {"any"}))

    def matches(self, text: Sequence[Word], languages: Iterable[str]) -> list[Match]:
        """Return what is found in some languages, the longest of each concept at a word."""
        found: dict[tuple[str, str, int], int] = {}
        for language in languages:
            index, numerals = self._index[language], self._numerals.get(language, {})
            for at, word in enumerate(text):
                for concept, phrase in index.candidates(word.text, numerals):
                    for end in self._ends(phrase, 1, at + 1, language, text):
                        key = concept, language, at
                        found[key] = max(found.get(key, 0), end)
        return [Match(concept, language, at, end) for (concept, language, at), end in found.items()]

    def _ends(
        self, phrase: _Phrase, part: int, at: int, language: str, text: Sequence[Word]
    ) -> Iterator[int]:
        """Yield where a phrase may end whose parts from `part` on begin at a word."""
        if part == len(phrase):
            yield at
            return
        if at >= len(text) or (at > 0 and part > 0 and text[at].sentence != text[at - 1].sentence):
            return
        here = phrase[part]
        if here.gap:
            # behind the gap of a phrase whose last part may be absent the text may be at its end
            most = min(GAP_CHINESE if language == _CHINESE else GAP, len(text) - at)
            for skipped in range(most + 1):
                yield from self._ends(phrase, part + 1, at + skipped, language, text)
        elif here.concept:
            for inner in self._of.get((here.concept, language), ()):
                for end in self._ends(inner, 0, at, language, text):
                    yield from self._ends(phrase, part + 1, end, language, text)
        elif here.fits(text[at].text, self._numerals.get(language, {})):
            yield from self._ends(phrase, part + 1, at + 1, language, text)


@dataclass(frozen=True, slots=True)
class Rule:
    """Concepts that must stand near each other, one of each group, and those that must not."""

    groups: tuple[frozenset[str], ...]
    absent: frozenset[str]
    whole: bool  # of the text, not of one sentence

    @classmethod
    def read(cls, written: str) -> Rule:
        """Read a rule as it is written: see the head of this module."""
        whole, parts = written.startswith("text:"), written.removeprefix("text:").split()
        groups = tuple(frozenset(part.split("|")) for part in parts if part[0] != "-")
        return cls(groups, frozenset(part[1:] for part in parts if part[0] == "-"), whole)

    def is_possible(self, concepts: AbstractSet[str]) -> bool:
        """Tell whether one concept of each group is among those of a text."""
        return not any(map(concepts.isdisjoint, self.groups))

    def concepts(self) -> frozenset[str]:
        """Return every concept that it names."""
        return self.absent.union(*self.groups)

    def found(
        self, matches: Iterable[Match], text: Sequence[Word], barring: Iterable[Match]
    ) -> tuple[Match, ...] | None:
        """Return the matches of one language that satisfy it, or None; `barring` has those that forbid it."""
        by_place: dict[int, list[Match]] = defaultdict(list)
        for match in matches:
            by_place[self._place(match, text)].append(match)
        barred = {self._place(match, text) for match in barring if match.concept in self.absent}
        for place, here in by_place.items():
            if place in barred:
                continue
            candidates = [[match for match in here if match.concept in group] for group in self.groups]
            if all(candidates) and (chosen := self._choose(candidates)) is not None:
                return chosen
        return None

    def _choose(
        self, candidates: Sequence[Sequence[Match]], taken: tuple[Match, ...] = ()
    ) -> tuple[Match, ...] | None:
        """Return the first choice of one match a group whose words are near and do not overlap, or None.

        A choice is given up with its first group too far: all combinations of a long text are millions.
        """
        if len(taken) == len(candidates):
            return taken
        for match in candidates[len(taken)]:
            apart = match.language == _CHINESE or not any(match.overlaps(other) for other in taken)
            if apart and self._near((*taken, match)):
                found = self._choose(candidates, (*taken, match))
                if found is not None:
                    return found
        return None

    def _place(self, match: Match, text: Sequence[Word]) -> int:
        return 0 if self.whole else text[match.start].sentence

    def _near(self, chosen: tuple[Match, ...]) -> bool:
        if self.whole:
            return True
        reach = REACH_CHINESE if chosen[0].language == _CHINESE else REACH
        return max(match.end for match in chosen) - min(match.start for match in chosen) <= reach
