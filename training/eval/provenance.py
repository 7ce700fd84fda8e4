"""Under which licences the law and the questions of a measurement stand."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from indexes.sources.source import card_beside
from rag.corpus.card import CorpusCard
from rag.corpus.licence import licence_of


def cards_of(corpus: CorpusCard, files: Sequence[Path | None] = ()) -> tuple[CorpusCard, ...]:
    """Return the card of the corpus, then those that lie beside files of questions, each once.

    Args:
        corpus: whose articles are searched.
        files: of questions; None where none was named.

    Raises:
        BadInput: a card cannot be read.
    """
    beside = (card_beside(file) for file in files if file is not None and file.exists())
    found = [corpus]
    for card in beside:
        if card is not None and card not in found:
            found.append(card)
    return tuple(found)


def warnings(cards: Sequence[CorpusCard]) -> list[str]:
    """Return a line for each source that is non-commercial or comes without a grant."""
    licences = ((card.name, licence_of(card)) for card in cards)
    return [
        f"licence of {name}: {licence.named}. {licence.plain}"
        for name, licence in licences
        if licence.restricted
    ]
