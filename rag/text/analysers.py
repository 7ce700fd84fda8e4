"""One analyser a language, by its two letters."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection

import Stemmer

from rag.errors import BadInput
from rag.text import Analyser, data_lines
from rag.text.chinese import DICTIONARY, ChineseAnalyser, Units
from rag.text.folding import fold, level
from rag.text.stemming import DIALECTS, CompoundAnalyser, WordAnalyser

COMPOUNDING = ("de",)  # languages with a list of the stems that compounds are made of
LANGUAGES = ("fr", "nl", "en", "de", "it", "zh")
RULES = 1  # raise it when the rules of this package change terms: indexes built before are then stale

_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue"})


def stop_words(language: str) -> frozenset[str]:
    """Return the stop words that ship for a language; of another one it is `BadInput`.

    Each list says at its top what it leaves out.
    """
    _check(language)
    return frozenset(word for line in data_lines(f"stopwords/{language}.txt") for word in line.split())


def analyser(
    language: str, *, stop_words: bool | Collection[str] = True, chinese: Units = "both", stem: bool = True
) -> Analyser:
    """Return the analyser of a language.

    Args:
        language: "fr", "nl", "en", "de", "it" or "zh".
        stop_words: True for the list that ships, False for none, or the words themselves, in any
            case and with or without accents.
        chinese: what Chinese text is cut into; other languages do not look at it.
        stem: whether words are stemmed; Chinese has nothing to stem.

    Raises:
        BadInput: an unknown language or way of cutting Chinese.
    """
    _check(language)
    if chinese not in ("words", "bigrams", "both"):
        raise BadInput(f'chinese={chinese!r}: expected "words", "bigrams" or "both"')
    stop = _stop_set(language, stop_words)
    parts = frozenset[str]()
    if stem and language in COMPOUNDING:
        parts = frozenset(part for line in data_lines(f"compounds/{language}.txt") for part in line.split())
    content = json.dumps([RULES, chinese if language == "zh" else str(stem), sorted(stop), *sorted(parts)])
    digest = hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    if language == "zh":
        made = DICTIONARY if chinese != "bigrams" else "bigrams"
        return ChineseAnalyser(f"zh:{made}:{digest}", stop, chinese)
    algorithm = f"snowball-{DIALECTS[language].algorithm}-{Stemmer.version()}" if stem else "words"
    name = f"{language}:{algorithm}:{digest}"
    return (
        CompoundAnalyser(language, name, stop, parts) if parts else WordAnalyser(language, name, stop, stem)
    )


def _check(language: str) -> None:
    if language not in LANGUAGES:
        raise BadInput(f"no analyser for language {language!r}: expected one of {', '.join(LANGUAGES)}")


def _stop_set(language: str, wanted: bool | Collection[str]) -> frozenset[str]:
    if wanted is False:
        return frozenset()
    words = stop_words(language) if wanted is True else wanted
    if isinstance(words, str):
        raise BadInput(f"stop_words={words!r}: expected a collection of words, such as {{{words!r}}}")
    if language == "zh":
        return frozenset(level(word) for word in words)
    typed = {fold(word) for word in words}
    if language == "de":  # für is also typed fuer
        typed |= {fold(word.casefold().translate(_UMLAUTS)) for word in words}
    return frozenset(typed - {""})
