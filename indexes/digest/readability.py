"""Syllables of French words, counted by rule from their spelling.

Rule 7: how hard a summary is to read, and how long it is beside the official text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from indexes.digest.finding import HARD, LONG_SENTENCE, TOO_LONG, TOO_SHORT, Finding
from indexes.digest.text import Wording, quoted, sentences

_VOWEL = "aeiouyàâäéèêëîïôöùûüÿœæ"
_PIECE = re.compile(r"[^\W\d_]+|\d")
_SILENT_U = re.compile(rf"(?<=q)u(?=[{_VOWEL}])|(?<=g)u(?=[eéèêiîy])")  # "qui", "guérir"
_GLIDING_Y = re.compile(rf"(?:(?<=[{_VOWEL}])|^)y(?=[{_VOWEL}])")  # "moyen", "yeux": y as a consonant
_GROUP = re.compile(rf"[{_VOWEL}]+")
_MUTE_E = re.compile(rf"(?<=[^{_VOWEL}])es?$")  # "règle", "règles"
_MUTE_ENT = re.compile(rf"(?<=[^{_VOWEL}])ent$")  # "décident"; not "parents", which is no verb
_MUTE_MENT = re.compile(
    r"(?:^aim|[fd]orm|ferm|firm|prim|stim|clam|sum|nomm|somm)ent$"
)  # "forment", "estiment"; else "-ment" is spoken
# Words in "-ent" that are no verbs, beside those in "-ment".
_SPOKEN_ENT = re.compile(
    r"(?:ment|(?:^|c|ac|inno|ré|dé|adoles)cent|ab?sent|(?:^|con|pré)sent|(?:ac|in|oc)cident"
    r"|prés?ident|évident"
    r"|prudent|cédent|^dent|parent|hérent|férent|current|^agent|argent|urgent|gligent|lligent|manent|minent"
    r"|tinent|pétent|conten|patent|valent|talent|^lent|cellent|violent|^vent|^(?:av|sou|cou)vent|séquent"
    r"|fréquent|éloquent|serpent|torrent)$"
)
# Two vowels that are spoken apart: "cré-er", "ma-ïs", "co-auteur", "pri-er", "cru-el".
_APART = re.compile(
    r"(?<=é)(?!e(?:s|nt)?$)[aâeèéêioôu]|(?<=[aeou])[ïëü]|(?<=o)[aoéè]"
    r"|(?<=[bcdfgptv][lr][iu])(?!e(?:s|nt)?$)[aâeèéêoô]"
)
_EXCEPTIONS = {"pays": 2, "client": 2}


def syllables(word: str) -> int:
    """Return how many syllables a French word has when it is read out: one at least.

    An "e" at the end is mute, inside a word it counts ("seu-le-ment"); "i" before a vowel makes no
    syllable of its own ("na-tion") except after two consonants ("pri-er"). A figure counts for each
    of its digits; an elided word belongs to the next one ("l'enfant" is one word).
    """
    joined = unicodedata.normalize("NFC", word.lower()).replace("'", "").replace("’", "")
    return max(1, sum(map(_spoken, _PIECE.findall(joined))))


def _spoken(piece: str) -> int:
    if piece.isdigit():
        return 1
    if piece in _EXCEPTIONS:
        return _EXCEPTIONS[piece]
    spelt = _GLIDING_Y.sub("j", _SILENT_U.sub("", piece))
    if _MUTE_ENT.search(spelt) and (_MUTE_MENT.search(spelt) or not _SPOKEN_ENT.search(spelt)):
        spelt = spelt[:-3] + "e"
    shorter = _MUTE_E.sub("", spelt)
    if _GROUP.search(shorter):
        spelt = shorter
    return len(_GROUP.findall(spelt)) + len(_APART.findall(spelt))


LONGEST_SENTENCE = 40  # words
MIN_READABILITY = 36.0  # of `readability`; 2 % of the summaries stood below when it was chosen
MORE_THAN_LAW = 30  # words by which a summary may exceed the official text
LONG_LAW, LEAST_SHARE = 100, 0.4  # words of the official text from which on a summary must have that share

_LETTER = re.compile(r"[^\W\d_]")


def plain_words(text: str) -> list[str]:
    """Return the words of a text as spaces part them, without figures and lone signs."""
    return [word for word in text.split() if _LETTER.search(word)]


def readability(text: Wording) -> float:
    """Return the French score of reading ease: 100 and more is easy, below 30 very hard.

    207 - 1.015 x words a sentence - 0.736 x syllables in 100 words (Kandel & Moles, "Application de
    l'indice de Flesch à la langue française", 1958). Figures are no words. An empty text has 207.
    """
    words = plain_words(text.shown)
    if not words:
        return 207.0
    n_syllables = sum(map(syllables, words))
    return 207 - 1.015 * len(words) / len(sentences(text)) - 73.6 * n_syllables / len(words)


def reading(article_no: str, summary: Wording) -> Iterator[Finding]:
    """Yield the sentences that are too long, then the score if it is too low."""
    for sentence in sentences(summary):
        count = len(plain_words(sentence.shown))
        if count > LONGEST_SENTENCE:
            yield Finding(article_no, LONG_SENTENCE, f"{count} words: {quoted(sentence, 0)}")
    score = readability(summary)
    if score < MIN_READABILITY:
        yield Finding(article_no, HARD, f"score {score:.0f}")


def length(article_no: str, official: Wording, summary: Wording) -> Iterator[Finding]:
    """Yield a finding where a summary is too long or too short beside the official text."""
    law, ours = len(plain_words(official.shown)), len(plain_words(summary.shown))
    if ours > law + MORE_THAN_LAW:
        yield Finding(article_no, TOO_LONG, f"{ours} words for {law}")
    if law >= LONG_LAW and ours < law * LEAST_SHARE:
        yield Finding(article_no, TOO_SHORT, f"{ours} words for {law}")
