"""Topics that people ask about and that a law governs which is not in the corpus."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from rag.corpus.card import CorpusCard, Elsewhere
from rag.text import Analyser

WHOLE_QUESTION = "="  # before a phrase: it must be all that the question says, not only stand in it


@dataclass(frozen=True, slots=True)
class _Phrase:
    terms: frozenset[str]
    whole: bool

    def fits(self, terms: frozenset[str]) -> bool:
        return self.terms == terms if self.whole else self.terms <= terms


class Topics:
    """The topics of a card whose law is not among the codes that are loaded."""

    def __init__(self, card: CorpusCard, codes: Collection[str], analyser: Analyser) -> None:
        """Cut the phrases of every topic; one whose law is among the `codes` is left aside."""
        self._analyser = analyser
        self._topics = [topic for topic in card.elsewhere if not set(codes).intersection(topic.codes)]
        self._phrases: dict[str, list[tuple[int, _Phrase]]] = {}  # by one term: the others are not looked at
        for number, topic in enumerate(self._topics):
            for text in topic.phrases:
                phrase = self._phrase(text)
                if phrase.terms:
                    self._phrases.setdefault(min(phrase.terms), []).append((number, phrase))

    def _phrase(self, text: str) -> _Phrase:
        terms = frozenset(self._analyser.terms(text.removeprefix(WHOLE_QUESTION)))
        return _Phrase(terms, text.startswith(WHOLE_QUESTION))

    def find(self, question: str) -> tuple[Elsewhere, ...]:
        """Return the topics that the question is about: all words of one phrase stand in it.

        A phrase that begins with "=" must be the whole question: "= viré" finds "on m'a viré", whose
        only term it is, and not a question about a bank transfer, which shares the stem.
        """
        terms = frozenset(self._analyser.terms(question))
        looked_at = (each for term in terms for each in self._phrases.get(term, ()))
        found = sorted({number for number, phrase in looked_at if phrase.fits(terms)})
        return tuple(self._topics[number] for number in found)
