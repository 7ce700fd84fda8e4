"""Rules 6 and 7: the words that a summary copies, how hard it is to read, and how long it is."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from indexes.digest.finding import HARD, LONG_SENTENCE, SHARED_WORDS, TOO_LONG, TOO_SHORT, Remark
from indexes.digest.text import WORD, Wording, data, quoted, sentences

_VOWEL = "aeiouyàâäéèêëîïôöùûüÿœæ"
_PIECE = re.compile(r"[^\W\d_]+|\d")
_SILENT_U = re.compile(rf"(?<=q)u(?=[{_VOWEL}])|(?<=g)u(?=[eéèêiîy])")  # "qui", "guérir"
_GLIDING_Y = re.compile(rf"(?:(?<=[{_VOWEL}])|^)y(?=[{_VOWEL}])")  # "moyen", "yeux": y as a consonant
_GROUP = re.compile(rf"[{_VOWEL}]+")
_MUTE_E = re.compile(rf"(?<=[^{_VOWEL}])es?$")  # "règle", "règles"
_MUTE_ENT = re.compile(rf"(?<=[^{_VOWEL}])ent$")  # "décident"; not "parents", which is no verb


def _any_of(name: str) -> str:
    return "|".join(data("words")["spoken"][name].split())


_MUTE_MENT = re.compile(rf"(?:{_any_of('mute_ment')})ent$")  # "forment"; else "-ment" is spoken
_SPOKEN_ENT = re.compile(rf"(?:{_any_of('ent')})$")
_APART = re.compile(_any_of("apart"))
_EXCEPTIONS = {"pays": 2, "client": 2}
LONGEST_RUN = 8  # words in a row from which on a run is a copy: shorter ones are names and fixed terms
LONGEST_SENTENCE = 40  # words
MIN_READABILITY = 36.0  # of `readability`; 2 % of the summaries stood below when it was chosen
MORE_THAN_LAW = 30  # words by which a summary may exceed the official text
LONG_LAW, LEAST_SHARE = 100, 0.4  # words of the official text from which on a summary must have that share


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


def _plain_words(text: Wording) -> list[str]:
    """Return the words of a text as spaces part them, without figures and lone signs."""
    return [word for word in text.shown.split() if re.search(r"[^\W\d_]", word)]


def readability(text: Wording) -> float:
    """Return the French score of reading ease: 100 and more is easy, below 30 very hard.

    207 - 1.015 x words a sentence - 0.736 x syllables in 100 words (Kandel & Moles, "Application de
    l'indice de Flesch à la langue française", 1958). Figures are no words. An empty text has 207.
    """
    words = _plain_words(text)
    if not words:
        return 207.0
    n_syllables = sum(map(syllables, words))
    return 207 - 1.015 * len(words) / len(sentences(text)) - 73.6 * n_syllables / len(words)


def shared_words(official: Wording, summary: Wording) -> Iterator[Remark]:
    """Yield the runs of eight or more words that stand in both texts, each as long as it goes.

    Case, accents and punctuation do not count; an apostrophe parts words ("l'action" is two). Figures
    do not count towards the eight: which articles a text names is not ours to reword.
    """
    law = [word[0] for word in WORD.finditer(official.plain)]
    places = list(WORD.finditer(summary.plain))
    law_runs = {tuple(law[at : at + LONGEST_RUN]) for at in range(len(law) - LONGEST_RUN + 1)}
    ours = [word[0] for word in places]
    first = 0
    while first + LONGEST_RUN <= len(ours):
        last = first
        while tuple(ours[last : last + LONGEST_RUN]) in law_runs:
            last += 1
        run = ours[first : last + LONGEST_RUN - 1] if last > first else []
        if sum(not word.isdigit() for word in run) >= LONGEST_RUN:
            start, end = places[first].start(), places[first + len(run) - 1].end()
            yield SHARED_WORDS, " ".join(summary.shown[start:end].split())
        first = last + 1


def long_sentences(summary: Wording) -> Iterator[Remark]:
    """Yield the sentences that are too long."""
    for sentence in sentences(summary):
        count = len(_plain_words(sentence))
        if count > LONGEST_SENTENCE:
            yield LONG_SENTENCE, f"{count} words: {quoted(sentence, 0)}"


def hard(summary: Wording) -> Iterator[Remark]:
    """Yield a score of reading ease that is too low; the score is that of French."""
    score = readability(summary)
    if score < MIN_READABILITY:
        yield HARD, f"score {score:.0f}"


def length(official: Wording, summary: Wording) -> Iterator[Remark]:
    """Yield a length that is far from the official text's."""
    law, ours = len(_plain_words(official)), len(_plain_words(summary))
    if ours > law + MORE_THAN_LAW:
        yield TOO_LONG, f"{ours} words for {law}"
    if law >= LONG_LAW and ours < law * LEAST_SHARE:
        yield TOO_SHORT, f"{ours} words for {law}"
