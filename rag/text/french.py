"""French words to stems that do not depend on whether accents were typed.

Snowball's French algorithm looks at accents (it knows "résilié" as a participle and "resilie" as
something else), so stemming first and folding after gives two terms to one word for a quarter of
the accented vocabulary. Here accents go first, so that both typings agree always, and the endings
that the algorithm needs are put back by rule before it runs.
"""

from __future__ import annotations

import re
from collections.abc import Callable

# Words that Snowball joins to another ("loyer" to "loi", "foyer" to "foi") or leaves apart from their own.
_EXCEPTIONS = {
    "loyer": "loyer", "loyers": "loyer", "foyer": "foyer", "foyers": "foyer", "pays": "pays",
    "baux": "bail", "epoux": "epous", "veuf": "veuv", "veufs": "veuv",
    "euros": "euro", "numeros": "numero", "studios": "studio", "kilos": "kilo", "aujourdhui": "aujourdhui",
}  # fmt: skip
_NOT_ITE = re.compile(r"(?:inter|ine|mau|eru)dites?$|licites?$|^(?:ex|im)plicites?$")
_U = re.compile(r"(?<![oqg])u(?:s|es?)$")  # vendu, vendue, vendus, vendues
_NOT_U = re.compile(r"(?:(?:in|ex|re|per)clus|fus|bus|plus|virus|bonus)$")


def _with_endings(folded: str) -> str:
    """Put back the accents of the endings that the stemmer acts on."""
    if folded.endswith(("ee", "ees")):
        return re.sub(r"ee(s?)$", r"ée\1", folded)
    if folded.endswith(("ite", "ites")) and not _NOT_ITE.search(folded):
        return re.sub(r"ite(s?)$", r"ité\1", folded)
    if folded.endswith(("iere", "ieres", "ierement")):
        return re.sub(r"ier(es?|ement)$", r"ièr\1", folded)
    if len(folded) > 4 and not _NOT_U.search(folded):
        return _U.sub("u", folded)
    return folded


def stem_french(folded: str, snowball: Callable[[str], str], fold: Callable[[str], str]) -> str:
    """Return the stem of a folded word; "résilié", "resilie" and "résiliation" give one."""
    if folded in _EXCEPTIONS:
        return _EXCEPTIONS[folded]
    stem = fold(snowball(_with_endings(folded)))
    if len(stem) > 2 and stem[-1] == "y":
        stem = stem[:-1] + "i"  # paye, payer
    return stem[:-1] if len(stem) > 3 and stem[-1] == "i" else stem  # resili(er), resil(ie)
