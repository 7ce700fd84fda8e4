"""How a benchmark reads questions: typing errors are mended with the words that an index would know."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Collection, Sequence

from rag.corpus.card import CorpusCard
from rag.retrieval.term_counts import FieldCounts, document_frequency
from rag.text import Analyser
from rag.text.spelling import known_words, tolerant
from rag.types import Question
from training.eval.encoders import KEPT


class Asking:
    """The analysers of questions, those of the last few lessons kept."""

    def __init__(
        self,
        card: CorpusCard,
        cut: Callable[[bool], Analyser],
        counts: Callable[[bool], FieldCounts],
        also: Collection[str],
    ) -> None:
        """Take what the words are known from.

        Args:
            card: of the corpus.
            cut: gives the analyser of the language, with stop words or without.
            counts: gives the law's terms, cut by it.
            also: words of an encoder that is not fitted here.
        """
        self._card, self._cut, self._counts, self._also = card, cut, counts, also
        self._made: OrderedDict[tuple[tuple[Question, ...], bool], Analyser] = OrderedDict()

    def of(self, learn: Sequence[Question], *, stop_words: bool = True) -> Analyser:
        """Return the analyser that knows the words of the law and of these questions, as an index has it."""
        key = tuple(learn), stop_words
        if key not in self._made:
            while len(self._made) >= KEPT:
                self._made.popitem(last=False)
            self._made[key] = self._tolerant(*key)
        return self._made[key]

    def _tolerant(self, learn: Sequence[Question], stop_words: bool) -> Analyser:
        cut = self._cut(stop_words)
        if cut.language == "zh":
            return tolerant(cut, {})
        counts = self._counts(stop_words)
        counts = counts.with_questions(learn, cut.terms) if learn else counts
        often = document_frequency(counts.weighted(dict.fromkeys(counts.fields, 1.0))).tolist()
        documents = {term: often[number] for term, number in counts.vocabulary.items()}
        return tolerant(cut, known_words(documents, self._also, self._card, cut))
