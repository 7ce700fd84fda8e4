"""Syllables of French words, counted by rule from their spelling."""

from __future__ import annotations

import re
import unicodedata

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
