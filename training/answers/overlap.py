"""How much of a reference answer an answer says in the same words: METEOR and ROUGE.

Both compare words, so each language is cut in its own way. European languages are cut by the analyser
that searches (folded, stemmed, stop words kept): ROUGE compares stems, METEOR words and then stems.
Chinese has no blanks and no endings: ROUGE compares characters, METEOR jieba's words. Numbers and Latin
words in Chinese stay whole. Nothing is downloaded: METEOR is computed without its stage of synonyms,
which needs WordNet and has none for most of our languages, so values are below those of scorers that
have it, and comparable with each other only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import attrgetter
from typing import Any

import numpy as np
import numpy.typing as npt

from rag.errors import MissingExtra, install_hint
from rag.text import Analyser
from rag.text.analysers import analyser

ALPHA, BETA, GAMMA = 0.9, 3.0, 0.5  # METEOR's, Banerjee & Lavie 2005: recall weighs nine times precision
ROUGE = ("rouge1", "rouge2", "rougeL")

_CHARACTER = re.compile(r"[㐀-䶿一-鿿豈-﫿𠀀-𳿿]|[^\W㐀-䶿一-鿿豈-﫿𠀀-𳿿]+")


@dataclass(frozen=True, slots=True)
class StemmedWord:
    """A word as it is written, and its stem."""

    form: str
    stem: str


class OverlapTokeniser:
    """Cuts texts of one language for METEOR and ROUGE; BadInput where there is no analyser for it."""

    def __init__(self, language: str) -> None:
        self.language = language
        self._analyser: Analyser = analyser(language, stop_words=False, chinese="words")

    def words(self, text: str) -> list[StemmedWord]:
        """Return the words of a text, as METEOR compares them."""
        tokens = self._analyser.tokens(text)
        return [StemmedWord(text[t.start : t.end].casefold(), t.term) for t in tokens]

    def tokenize(self, text: str) -> list[str]:
        """Return what ROUGE compares: stems, or Chinese characters."""
        if self.language == "zh":
            return _CHARACTER.findall(text.casefold())
        return self._analyser.terms(text)


def rouge(words: OverlapTokeniser) -> Callable[[str, str], dict[str, float]]:
    """Return what computes ROUGE-1, ROUGE-2 and ROUGE-L of an answer against a reference (Lin 2004).

    The values are F1; an empty answer has 0. Raises MissingExtra where rouge-score is not installed.
    """
    try:
        from rouge_score.rouge_scorer import RougeScorer
    except ImportError as error:
        raise MissingExtra(
            f"ROUGE needs rouge-score: run {install_hint('eval')}, or leave it out with --no-overlap"
        ) from error
    scorer: Any = RougeScorer(ROUGE, tokenizer=words)

    def score(answer: str, reference: str) -> dict[str, float]:
        return {name: float(s.fmeasure) for name, s in scorer.score(reference, answer).items()}

    return score


def meteor(answer: Sequence[StemmedWord], reference: Sequence[StemmedWord]) -> float:
    """Return METEOR of an answer against a reference, by words and stems (Banerjee & Lavie 2005).

    Words are aligned one to one, the same form before the same stem. With m aligned words in c chunks,
    runs that stand together and in the same order in both texts, P = m / |answer| and
    R = m / |reference|: F = PR / (αP + (1 - α)R), lowered by the share γ (c / m)^β.
    """
    pairs = align(answer, reference)
    if not pairs:
        return 0.0
    precision, recall = len(pairs) / len(answer), len(pairs) / len(reference)
    mean = precision * recall / (ALPHA * precision + (1 - ALPHA) * recall)
    penalty: float = GAMMA * (chunks(pairs) / len(pairs)) ** BETA
    return mean * (1 - penalty)


def chunks(pairs: Sequence[tuple[int, int]]) -> int:
    """Return into how many runs an alignment falls; pairs are in the order of the answer."""
    follows = sum((a + 1, b + 1) == after for (a, b), after in pairwise(pairs))
    return len(pairs) - follows


def align(answer: Sequence[StemmedWord], reference: Sequence[StemmedWord]) -> list[tuple[int, int]]:
    """Align as many words as can be, one to one: equal forms first, then equal stems.

    Which of several equal words are taken decides the number of chunks, and the least number is hard
    to find; the longest common runs are taken first, the leftmost of equal ones (greedy string tiling,
    Wise 1993). Pairs of a place in the answer and one in the reference are in the order of the answer.
    """
    if not answer or not reference:
        return []
    free_a, free_b = np.ones(len(answer), dtype=bool), np.ones(len(reference), dtype=bool)
    pairs = []
    for key in (attrgetter("form"), attrgetter("stem")):
        a, b = (np.array([key(word) for word in words], dtype=object) for words in (answer, reference))
        pairs += _tiles(a[:, None] == b, free_a, free_b)
    return sorted(pairs)


def _tiles(
    same: npt.NDArray[np.bool_], free_a: npt.NDArray[np.bool_], free_b: npt.NDArray[np.bool_]
) -> list[tuple[int, int]]:
    """Take common runs of free words, longest first; what is taken is no longer free."""
    pairs: list[tuple[int, int]] = []
    while True:
        runs = _runs(same & free_a[:, None] & free_b[None, :])
        longest = int(runs.max())
        if longest == 0:
            return pairs
        for a, b in np.argwhere(runs == longest).tolist():  # leftmost in the answer first
            if free_a[a : a + longest].all() and free_b[b : b + longest].all():
                free_a[a : a + longest] = free_b[b : b + longest] = False
                pairs += [(a + n, b + n) for n in range(longest)]


def _runs(same: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
    """Return how long the common run is that begins at each pair of places."""
    runs, after = np.zeros(same.shape, dtype=np.int64), np.zeros(same.shape[1] + 1, dtype=np.int64)
    for row in range(same.shape[0] - 1, -1, -1):
        runs[row] = np.where(same[row], after[1:] + 1, 0)
        after[:-1] = runs[row]
    return runs
