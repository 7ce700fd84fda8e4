"""The licence of a corpus: what its card says, what that allows, and how it travels with what is made.

The words by which people name a licence are SPDX ids, the spellings of data hubs, the names in the languages
of the corpora, addresses of Creative Commons. What is not recognised counts as no grant: nobody may conclude
from a name that is not known here that a text may be used.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from importlib.resources import files

from rag.corpus.card import CorpusCard


class Grant(StrEnum):
    """What is allowed, from the freest to the strictest."""

    OPEN = "open"
    ATTRIBUTION = "attribution"
    SHARE_ALIKE = "share-alike"
    NO_DERIVATIVES = "no derivatives"
    NON_COMMERCIAL = "non-commercial"
    NONE = "no grant"


# Patterns meet text in small letters, in which hyphens, underscores and slashes have become blanks.
_EDGE, _END = r"(?<![a-z0-9])", r"(?![a-z0-9])"
_NAMED = tuple(
    (Grant(grant), re.compile(f"{_EDGE}(?:{'|'.join(words)}){_END}"))
    for grant, words in tomllib.loads(
        (files("rag.corpus") / "licences.toml").read_text(encoding="utf-8")
    ).items()
)
_ELEMENTS = re.compile(  # of Creative Commons: with its name or address before them, or two at least
    rf"{_EDGE}cc ?((?:by|nc|nd|sa)(?: ?(?:by|nc|nd|sa))*){_END}|{_EDGE}by((?: (?:nc|nd|sa))+){_END}"
    rf"|creativecommons\.org licenses ((?:by|nc|nd|sa)(?: (?:nc|nd|sa))*){_END}"
)
_STRICTEST_ELEMENT = {"nc": Grant.NON_COMMERCIAL, "nd": Grant.NO_DERIVATIVES, "sa": Grant.SHARE_ALIKE}
_MIT = re.compile(r"(?<![A-Za-z])MIT(?![A-Za-z])")  # in capitals: in German, mit is "with"
_PARTS = re.compile(r"[;；。\n]|\.\s+(?=[^\W\d_a-z])")
_OR, _AND = re.compile(r"\bOR\b"), re.compile(r"\bAND\b")  # of SPDX, where AND binds closer
_HYPHENS = re.compile(r"[_/\u2010-\u2015\u2212\s-]+")
_ADDRESS = re.compile(r"https?://\S+", re.IGNORECASE)
_OF_TERMS = re.compile(
    r"licen[cs]|licent|lizenz|licenz|terms|agreement|conditions (?:of use|d)|bedingungen|许可|授权"
)


def classify(text: str, url: str | None = None) -> Grant:
    """Return what a licence allows: of several parts the strictest, of a choice (SPDX's OR) the freest.

    A part that speaks of terms which are not known here counts as no grant, and so does a text in which
    nothing is known. The text is as a card says it: "CC BY-NC-SA 4.0", "cc-by-4.0 AND MIT", "Licence Ouverte
    2.0 (Etalab)". The url is asked only where the words name nothing that is known.
    """
    parts = _PARTS.split(unicodedata.normalize("NFKC", text))
    if url and not any(map(_known, parts)):
        return classify(url)
    found: list[Grant] = []
    for part in parts:
        choices = [grant for choice in _OR.split(part) if (grant := _of_all(choice)) is not None]
        if choices:
            found.append(min(choices, key=strictness))
    return max(found, key=strictness, default=Grant.NONE)


def _of_all(choice: str) -> Grant | None:
    """Return what all pieces of a choice allow; None where it says nothing of terms."""
    found = []
    for piece in _AND.split(choice):
        known = _known(piece)
        found += known
        if not known and _OF_TERMS.search(_ADDRESS.sub("", piece.casefold())):
            found.append(Grant.NONE)
    return max(found, key=strictness, default=None)


def _known(part: str) -> list[Grant]:
    plain = _HYPHENS.sub(" ", part.casefold()).strip()
    found = [grant for grant, pattern in _NAMED if pattern.search(plain)]
    for elements in map("".join, _ELEMENTS.findall(plain)):
        named = (grant for element, grant in _STRICTEST_ELEMENT.items() if element in elements)
        found.append(next(named, Grant.ATTRIBUTION))
    return [*found, Grant.ATTRIBUTION] if _MIT.search(part) or plain == "mit" else found


def strictness(grant: Grant) -> int:
    """Return the grant's place among all, 0 for the freest."""
    return list(Grant).index(grant)


RESTRICTED = frozenset({Grant.NO_DERIVATIVES, Grant.NON_COMMERCIAL, Grant.NONE})


@dataclass(frozen=True, slots=True)
class Licence:
    """A licence as it was written, and what it allows."""

    text: str
    grant: Grant
    url: str | None = None

    @property
    def restricted(self) -> bool:
        """Whether a person must be told before anything is made of the texts."""
        return self.grant in RESTRICTED

    @property
    def named(self) -> str:
        """The licence and what it allows on one line: "CC BY-NC-SA 4.0 (non-commercial)"."""
        written = "".join(c for c in " ".join(self.text.split()) if c.isprintable())  # no escapes
        return f"{written} ({self.grant})" if written else "none stated (no grant)"

    @property
    def plain(self) -> str:
        """A sentence in plain words."""
        if not self.text.strip():
            return "The publisher states no licence, so no use beyond what the law allows is granted."
        return _PLAIN[self.grant]


_PLAIN = {
    Grant.OPEN: "Free for any use.",
    Grant.ATTRIBUTION: "Free for any use, if the source is named.",
    Grant.SHARE_ALIKE: "Free for any use, if the source is named and what is made of it bears the same "
    "licence.",
    Grant.NO_DERIVATIVES: "It may be passed on unchanged only.",
    Grant.NON_COMMERCIAL: "It may not be used commercially.",
    Grant.NONE: "No licence is known to allow the use of the whole of it.",
}


def strictest(licences: Sequence[Licence]) -> Licence | None:
    """Return the licence that allows the least, the first of equals; None of none."""
    return max(licences, key=lambda licence: strictness(licence.grant), default=None)


def licence_of(card: CorpusCard) -> Licence:
    """Return the licence of a corpus; where its words are not known, its address may tell."""
    written = card.licence if card.licence.strip() else card.licence_url or ""
    return Licence(written, classify(card.licence, card.licence_url), card.licence_url)


def provenance(card: CorpusCard) -> dict[str, str | None]:
    """Return what travels with everything that is made of a corpus, for a JSON file."""
    return {
        "name": card.name,
        "licence": card.licence,
        "licence_url": card.licence_url,
        "source": card.source,
        "grant": licence_of(card).grant.value,
    }
