"""Typing errors in a question: a word that nobody knows is read as the known one that it nearly is.

The words that one error could have come from are made and looked up, as in Kernighan, Church & Gale (1990): a
letter too many, too few, another, two swapped, or another spelling of the same sound. Accents need no
help: folding takes them off law and question alike. Articles hold no unknown word, so that the same
analyser cuts both.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cache, lru_cache
from itertools import islice
from string import ascii_lowercase

from rag.corpus.card import CorpusCard
from rag.text import Analyser, SpellingCorrection, Token
from rag.text.analysers import stop_words
from rag.text.folding import fold

SHORTEST = 4  # letters: too much is one error away from a short word
LONGEST = 24  # a longer one is no word that somebody mistyped, and has thousands of neighbours
MOST = 30  # unknown words of one question that are looked at: who writes in another language has hundreds
SHORTEST_OTHER = 5  # the same where a letter may be any other, or one too many
QUESTIONS = 4  # every part of a search asks for a question's terms
# texts whose terms stay at hand, some megabytes: a page cuts fifty, of which names of codes and headings
# come back in the next one
RECENT = 256
LEAST = 2  # documents that hold the word: what stands once may be an error itself
# How likely an error is beside one that has no reason. Tried on the dev half of the builtin test questions.
DOUBLED, SWAPPED, ERROR_WEIGHTS, SOUND, MISSING = 30.0, 8.0, 8.0, 6.0, 2.0
_KEYS = {"fr": "azertyuiop qsdfghjklm wxcvbn", "de": "qwertzuiop asdfghjkl yxcvbnm"}
_QWERTY = "qwertyuiop asdfghjkl zxcvbnm"
# spellings of one sound, each for the other; what is silent is for nothing
_SOUNDS = {
    "fr": "an/en am/em an/am en/em ss/c s/c s/ss s/z ai/e ei/e ai/ei er/e eau/o au/o eau/au ph/f qu/k "
    "qu/c c/k y/i g/j ge/j gu/g h/ th/t in/ain in/ein im/in ti/si ti/ssi oi/oa ill/y eu/oeu",
    "nl": "ei/ij au/ou d/t dt/t dt/d c/k f/v s/z",
    "de": "ae/e ai/ei d/t f/v ph/f ss/s ie/i h/",
    "it": "h/ c/q cq/q gn/ni z/s",
    "en": "ie/ei ph/f c/s s/z ence/ance ent/ant able/ible h/",
}


def sounds(language: str) -> tuple[tuple[str, str], ...]:
    """Return the spellings that are taken for each other in a language."""
    pairs = (pair.partition("/") for pair in _SOUNDS.get(language, "").split())
    return tuple((one, other) for one, _, other in pairs)


def keyboard(language: str) -> tuple[str, ...]:
    """Return the rows of letters of the keyboard that is usual for a language."""
    return tuple(_KEYS.get(language, _QWERTY).split())


DICTIONARIES = ("de", "en", "es", "fr", "it", "nl", "pt")  # of pyspellchecker, in letters that are ours
LOAN = "en"  # words of which stand in texts of every language


@cache
def dictionary(language: str) -> frozenset[str]:
    """Return the words of a language, folded; none of one that there is no dictionary of."""
    if language not in DICTIONARIES:
        return frozenset()
    from spellchecker import SpellChecker  # why here: most questions have no word that the law has not

    words = SpellChecker(language=language, distance=1).word_frequency.words()
    return frozenset(fold(word) for word in words if word.isalpha())


def is_word(word: str, language: str) -> bool:
    """Tell whether a folded word exists in a language, or as a word of English in it."""
    return word in dictionary(language) or word in dictionary(LOAN)


def tolerant(inner: Analyser, known: Mapping[str, int]) -> Analyser:
    """Return the analyser of questions beside that of the law; Chinese has no letters to mistype."""
    return inner if inner.language == "zh" else TolerantAnalyser(inner, known)


class TolerantAnalyser:
    """An analyser whose unknown words give the term of the known word that they are a typing error of."""

    def __init__(self, inner: Analyser, known: Mapping[str, int]) -> None:
        """Mend what `inner` cuts.

        `known` is in how many documents each term stands; what stands in fewer than two is known, but no
        other word is read as it.
        """
        self._inner, self._known = inner, known
        self.id, self.language = inner.id, inner.language  # what it gives for the law is the same
        self._common = max(known.values(), default=LEAST)  # a stop word is in no index, and in every text
        self._stop = frozenset(map(fold, stop_words(inner.language)))
        pairs = sounds(inner.language)
        self._sounds = [(wrong, right) for a, b in pairs for wrong, right in ((a, b), (b, a)) if wrong]
        rows = keyboard(inner.language)
        self._adjacent = {
            row[i]: row[max(i - 1, 0) : i] + row[i + 1 : i + 2] for row in rows for i in range(len(row))
        }
        self._read = lru_cache(maxsize=4096)(self._look)
        self._last = lru_cache(maxsize=QUESTIONS)(self._terms)
        self._recent = lru_cache(maxsize=RECENT)(self._tokens)

    def terms(self, text: str) -> list[str]:
        """Return the terms in order, mended."""
        return list(self._last(text))

    def _terms(self, text: str) -> list[str]:
        found = self._inner.terms(text)
        if all(map(self._known.__contains__, found)):
            return found
        return [token.term for token in self.tokens(text)]

    def tokens(self, text: str) -> list[Token]:
        """Return the terms in order, mended, each with its place in `text`."""
        return list(self._recent(text))

    def _tokens(self, text: str) -> list[Token]:
        tokens = self._inner.tokens(text)
        read = self._readings(text, tokens)
        if not read:  # every article
            return tokens
        found = [(token, read.get(text[token.start : token.end])) for token in tokens]
        terms = [token._replace(term=other.term) if other else token for token, other in found]
        return [token for token in terms if token.term]  # a stop word gives none

    def mended(self, text: str) -> tuple[SpellingCorrection, ...]:
        """Return the words that were read as others, each once, in order, but for stop words."""
        readings = self._readings(text, self._inner.tokens(text))
        return tuple(mended for mended in readings.values() if mended.term)

    def _readings(self, text: str, tokens: Iterable[Token]) -> Mapping[str, SpellingCorrection]:
        """Return what the first unknown words of a text are read as, by what was typed."""
        unknown = (t for t in tokens if t.term not in self._known)
        typed = dict.fromkeys(text[token.start : token.end] for token in unknown)
        read = ((word, self._read(fold(word))) for word in islice(typed, MOST))
        return {word: SpellingCorrection(word, found[1], found[0]) for word, found in read if found}

    def _look(self, word: str) -> tuple[str, str] | None:
        """Return the term and the spelling that a word is read as, "" for a stop word's term.

        None where it stays as it is: it is too short, or a word that exists though the law has it not.
        """
        if not SHORTEST <= len(word) <= LONGEST or not word.isalpha() or not word.isascii():
            return None
        if is_word(word, self.language):
            return None
        ways: dict[str, float] = {}  # spelling -> how likely
        for way, likely in self._ways(word):
            ways[way] = max(likely, ways.get(way, 0.0))
        line = " ".join(ways)
        found = [(token.term, line[token.start : token.end]) for token in self._inner.tokens(line)]
        spellings = {spelling for _, spelling in found}  # a stop word is one only where it gives no term
        found += [("", way) for way in ways if way in self._stop and way not in spellings]
        ranked = []
        for term, spelling in found:
            often = self._known.get(term, 0) if term else self._common
            if often >= LEAST and spelling in ways:
                # a commoner word is likelier, but not in proportion; of its spellings the shortest is told
                value = math.log(1 + often) / 2 + math.log(ways[spelling])
                ranked.append((-value, term, len(spelling), spelling))
        if not ranked:
            return None
        _, term, _, spelling = min(ranked)
        return term, spelling

    def _ways(self, word: str) -> Iterator[tuple[str, float]]:
        """Yield what the word may have been before one error, and how likely; the first letter is right."""
        for i in range(1, len(word) + 1):
            before, letter, after = word[:i], word[i : i + 1], word[i + 1 :]
            yield from ((before + other + word[i:], MISSING) for other in ascii_lowercase)
            if not letter:
                return
            if len(word) >= SHORTEST_OTHER:
                yield before + after, 1.0
                yield from ((before + other + after, 1.0) for other in ascii_lowercase)
            yield before + word[i - 1] + word[i:], SWAPPED
            yield from ((before + other + after, ERROR_WEIGHTS) for other in self._adjacent.get(letter, ""))
            if letter == word[i - 1]:
                yield before + after, DOUBLED
            if after:
                yield before + after[0] + letter + after[1:], SWAPPED
            for wrong, right in self._sounds:
                if word.startswith(wrong, i):
                    yield before + right + word[i + len(wrong) :], SOUND


def document_frequencies(
    documents: Mapping[str, int], vocabulary: Collection[str], card: CorpusCard, analyser: Analyser
) -> dict[str, int]:
    """Return the words that a search knows: term -> number of documents, of law and questions.

    The vocabulary, which the encoder was fitted to, is of other laws too: known, but nothing is read as it.
    The card's topics of other laws are known, and meant by who mistypes them.
    """
    known = {**dict.fromkeys(vocabulary, 1), **documents}
    for topic in card.elsewhere:
        for phrase in topic.phrases:
            for term in analyser.terms(phrase):
                known[term] = max(known.get(term, 0), LEAST)
    return known
