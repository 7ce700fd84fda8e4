"""The licence of a corpus: what its card says, what that allows, and how it travels with what is made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from rag.corpus.card import CorpusCard
from rag.corpus.grants import Grant, classify, strictness

__all__ = ["RESTRICTED", "Grant", "Licence", "classify", "licence_of", "provenance", "strictest"]

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


_PLAIN: Mapping[Grant, str] = MappingProxyType(
    {
        Grant.OPEN: "Free for any use.",
        Grant.ATTRIBUTION: "Free for any use, if the source is named.",
        Grant.SHARE_ALIKE: "Free for any use, if the source is named and what is made of it bears the same "
        "licence.",
        Grant.NO_DERIVATIVES: "It may be passed on unchanged only.",
        Grant.NON_COMMERCIAL: "It may not be used commercially.",
        Grant.NONE: "No licence is known to allow the use of the whole of it.",
    }
)


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
