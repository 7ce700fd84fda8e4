"""The analyser of Chinese: jieba's words, character bigrams, or both."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import accumulate
from typing import Literal, TypeAlias

from rag.text import Analyser, RememberedTerms, Token
from rag.text.article_numbers import CHINESE_REFERENCE, chinese_number, chinese_reference_term, number_term
from rag.text.folding import INVISIBLE, fold, level

Units: TypeAlias = Literal["words", "bigrams", "both"]
Piece: TypeAlias = tuple[int, int, str]  # start, end, term

HAN = "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
DICTIONARY = "jieba-0.42.1"  # in the ids of analysers, whichever library reads it
REMEMBERED = 100_000
RECENT = 256  # runs whose pieces stay at hand
LONGEST = 24  # characters of a run worth remembering: headings and stock phrases repeat, sentences do not

_DIGIT = "[0-9〇零一二三四五六七八九十]"
_DATE = rf"[0-9〇零一二三四五六七八九]{{4}}年(?:{_DIGIT}{{1,3}}月(?:{_DIGIT}{{1,3}}[日号])?)?"
_NUMERAL = re.compile(f"{_DIGIT}+")
_HAN = re.compile(f"[{HAN}]+")
_PLACE = re.compile(rf"{CHINESE_REFERENCE}|{_DATE}")
_RUN = re.compile(
    rf"([{HAN}]+)"
    r"|(\d+(?:[-.:/]\d+)*(?:,\d{1,2}(?!\d))?(?:[A-Za-z]+(?![^\W_]))?)"
    rf"|([^\W\d{HAN}](?:(?![{HAN}])[\w{INVISIBLE}])*)"
)


def segment(run: str) -> list[str]:
    """Return the words of a run of Chinese characters, by the dictionary of jieba 0.42.1.

    The hidden Markov model for unknown words stays off: on 55,497 articles it was neither slower nor
    better (R@10 .475 with it, .473 without), and without it a word is one only if it is listed. rjieba
    gives the words of jieba itself on all 344,721 distinct runs of STARD; it reads its dictionary at the
    first call.
    """
    import rjieba

    return list(rjieba.cut(run, False))


class ChineseAnalyser:
    """Cuts runs of Chinese characters into words, bigrams or both; places in a law stay whole.

    "第五十四条" and "第 54 条" are one term, dates too. With "both", a word of two characters comes
    twice, as a word and as a pair: what the dictionary knows weighs double against a chance pair
    (STARD, five folds: R@10 of BM25 48.5 to 51.3). Safe to share between threads. The name is its `id`, and
    must change when terms do; the words and bigrams to stop at give no term.
    """

    language = "zh"

    def __init__(self, name: str, stop: frozenset[str], units: Units) -> None:
        self.id, self._stop, self.units = name, stop, units
        self._run_terms = RememberedTerms(self._terms_of_run, REMEMBERED, LONGEST)
        self._last = lru_cache(maxsize=4)(self._terms)  # every part of a search asks for a question's terms
        self._recent = lru_cache(maxsize=RECENT)(self._pieces)  # who finds terms asks for their places next

    def tokens(self, text: str) -> list[Token]:
        """Return the terms in order, each with its place in `text`."""
        found = []
        for start, end, part, han in self._parts(level(text)):
            if han:
                found += [Token(start + a, start + b, term) for a, b, term in self._recent(part)]
            elif part not in self._stop:
                found.append(Token(start, end, part))
        return found

    def terms(self, text: str) -> list[str]:
        """Return the terms in order."""
        return list(self._last(text))

    def gives(self, term: str, units: Units) -> bool:
        """Return whether one of its terms is such a unit; what is no run of Chinese characters is any.

        It goes by the term, not by the place that it was cut from: a pair that the dictionary knows is a
        word too where it stands across two others, and a single character is a word.
        """
        if units == "both" or self.units != "both" or not _HAN.fullmatch(term):
            return True
        return len(term) == 2 if units == "bigrams" else len(term) != 2 or len(segment(term)) == 1

    def _terms(self, text: str) -> list[str]:
        found: list[str] = []
        for _, _, part, han in self._parts(level(text)):
            if han:
                found += self._run_terms[part]
            elif part not in self._stop:
                found.append(part)
        return found

    def _parts(self, flat: str) -> Iterator[tuple[int, int, str, bool]]:
        """Yield the parts of a text: start, end, then a term, or a run of Chinese characters and True."""
        at = 0
        for place in (*_PLACE.finditer(flat), None):
            for m in _RUN.finditer(flat, at, place.start() if place else len(flat)):
                if m.lastindex == 1:
                    yield *m.span(), m[1], True
                elif term := number_term(m[0]) if m.lastindex == 2 else fold(m[0]):
                    yield *m.span(), term, False
            if place:
                at = place.end()
                if place[0].startswith("第"):
                    term = chinese_reference_term(place[0])
                else:  # a date
                    term = _NUMERAL.sub(lambda numeral: str(chinese_number(numeral[0])), place[0])
                yield *place.span(), term, False

    def _terms_of_run(self, run: str) -> tuple[str, ...]:
        return tuple(term for _, _, term in self._recent(run))

    def _pieces(self, run: str) -> list[Piece]:
        pieces: list[Piece] = []
        if self.units != "bigrams":
            words = segment(run)
            ends = list(accumulate(map(len, words)))
            pieces += zip([0, *ends], ends, words, strict=False)
        if self.units == "bigrams" and len(run) == 1:
            pieces.append((0, 1, run))  # it is its own pair
        if self.units != "words":
            pieces += ((i, i + 2, run[i : i + 2]) for i in range(len(run) - 1))
        return [piece for piece in sorted(pieces) if piece[2] not in self._stop]


def uses_words_and_bigrams(analyser: Analyser) -> bool:
    """Return whether an analyser cuts Chinese into words and into pairs of characters."""
    return isinstance(analyser, ChineseAnalyser) and analyser.units == "both"
