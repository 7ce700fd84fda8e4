"""Which words a search knows: those that a typing error is not looked for in, and may be an error of."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from rag.corpus.card import CorpusCard
from rag.text import Analyser
from rag.text.spelling import LEAST


def known_words(
    documents: Mapping[str, int], vocabulary: Collection[str], card: CorpusCard, cut: Analyser
) -> dict[str, int]:
    """Return term -> in how many documents it stands, for `rag.text.spelling`.

    Args:
        documents: of the law and the questions that it carries.
        vocabulary: what the encoder was fitted to, other laws too: known, but nothing is read as it.
        card: its topics of other laws are known, and meant by who mistypes them.
        cut: the analyser of the law.
    """
    known = dict.fromkeys(vocabulary, 1)
    known |= documents
    for topic in card.elsewhere:
        for phrase in topic.phrases:
            for term in cut.terms(phrase):
                known[term] = max(known.get(term, 0), LEAST)
    return known
