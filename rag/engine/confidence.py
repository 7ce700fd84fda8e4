"""How sure the engine may be that an answering article is among the first ten.

A logistic regression over named features of one question's lists, fitted by `training.confidence` to
questions with and without an answer. Query performance prediction calls them post-retrieval predictors
(Carmel & Yom-Tov 2010). No weight goes against what its feature means: a higher score, a wider margin or
more agreement never lowers the probability.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property

import numpy as np

from rag.encoders.static import StaticEncoder
from rag.engine.relevance import Relevance
from rag.errors import BadInput
from rag.retrieval.bm25 import BM25
from rag.retrieval.question_knn import QuestionKNN
from rag.retrieval.term_counts import term_ids
from rag.text import Analyser
from rag.types import Encoder, Ranking

# name -> which way it may move the probability
SIGNS: Mapping[str, int] = {
    "keyword_top": 1,  # log(1 + the best BM25 score)
    "keyword_share": 1,  # that score, as a share of what the question's words could reach
    "keyword_second": 1,  # how far the second falls behind the first, as a share of the first
    "keyword_tenth": 1,  # the same of the tenth
    "meaning_top": 1,  # the best cosine
    "meaning_second": 1,  # its lead over the second
    "meaning_tenth": 1,  # its lead over the tenth
    "overlap": 1,  # share of the first ten that both lists have
    "keyword_first_in_meaning": 1,  # where the first of one list stands in the other: 1 at its
    "meaning_first_in_keyword": 1,  # top, 1/2 at rank 2, 1/3 at rank 4, 0 below rank 100
    "known": 1,  # share of the question's terms that the corpus has
    "other_law": -1,  # share that only the law around it has, which the encoder was fitted to
    "nearest": 1,  # mean cosine of the five nearest annotated questions
    "words": 1,  # terms of the question, four being enough: 1
    "elsewhere": -1,  # a topic of another law was matched
}
NAMES = tuple(SIGNS)
_DEEP = 100  # ranks in the other list are looked for so far down
_NEAREST = 5
_ENOUGH = 4  # terms; more would tell how a person writes, not whether there is an answer


@dataclass(frozen=True, slots=True)
class WordSignals:
    """What a corpus knows of a question's terms."""

    terms: int = 0
    known: int = 0  # that the corpus has
    other_law: int = 0  # that it has not but the encoder has
    reach: float = 0.0  # the BM25 score of an article in which each term were at its best


def features(
    words: WordSignals, keyword: Ranking, meaning: Ranking, *, nearest: float = 0.0, elsewhere: bool = False
) -> dict[str, float]:
    """Return the features of one question's lists, by the names of `SIGNS`; all are finite.

    Of the lists of BM25 and of dense retrieval only the first 100 are looked at. `nearest` is the mean cosine
    of the nearest annotated questions.
    """
    by_keyword, by_meaning = keyword[:_DEEP].ids, meaning[:_DEEP].ids
    best, cosine = _score(keyword, 1), _score(meaning, 1)
    count = words.terms or 1
    return {
        "keyword_top": math.log1p(max(best, 0.0)),
        "keyword_share": _share(best, words.reach),
        "keyword_second": _share(best - _score(keyword, 2), best),
        "keyword_tenth": _share(best - _score(keyword, 10), best),
        "meaning_top": cosine,
        "meaning_second": cosine - _score(meaning, 2),
        "meaning_tenth": cosine - _score(meaning, 10),
        "overlap": len({*by_keyword[:10]} & {*by_meaning[:10]}) / 10,
        "keyword_first_in_meaning": _nearness(by_keyword, by_meaning),
        "meaning_first_in_keyword": _nearness(by_meaning, by_keyword),
        "known": words.known / count,
        "other_law": words.other_law / count,
        "nearest": nearest,
        "words": min(words.terms, _ENOUGH) / _ENOUGH,
        "elsewhere": float(elsewhere),
    }


def _score(ranking: Ranking, rank: int) -> float:
    """Return the score at this rank; 0 where the list is shorter, as if nothing matched there."""
    return float(ranking.scores[rank - 1]) if len(ranking) >= rank else 0.0


def _share(part: float, whole: float) -> float:
    return min(max(part / whole, 0.0), 1.0) if whole > 0 else 0.0


def _nearness(ours: Sequence[str], theirs: Sequence[str]) -> float:
    if not ours or ours[0] not in theirs:
        return 0.0
    return 1 / (1 + math.log2(1 + theirs.index(ours[0])))


class Signals:
    """Makes the features of a question that an index was asked."""

    def __init__(self, analyser: Analyser, keyword: BM25, encoder: Encoder, nearest: QuestionKNN) -> None:
        """Take an index's parts; `nearest` are the annotated questions that it learnt from."""
        self.analyser, self.nearest = analyser, nearest
        self.vocabulary: Mapping[str, int] = keyword.index.vocab_dict
        self._postings = keyword.postings
        self._wider = encoder.vocabulary if isinstance(encoder, StaticEncoder) else {}

    def warm(self) -> None:
        """Make now what the first questions would wait for."""
        self.nearest.index  # noqa: B018 - made when first looked at
        self._unknown  # noqa: B018

    @cached_property
    def _unknown(self) -> float:
        """What a term counts that the corpus has not: the most its terms reach, on average."""
        begins = self._postings.indptr
        held = begins[:-1] < begins[1:]  # a term that no article has reaches nothing
        if not held.any():
            return 0.0
        most = np.maximum.reduceat(self._postings.data, begins[:-1][held])
        return math.fsum(np.maximum(most, 0.0).tolist()) / len(held)

    def words(self, question: str) -> WordSignals:
        """Return what the corpus knows of the question's terms."""
        terms = self.analyser.terms(question)
        fresh = [t for t in terms if t not in self.vocabulary]
        reach = [self._unknown] * len(fresh)
        for number in term_ids(terms, self.vocabulary):
            begin, end = self._postings.indptr[number : number + 2]
            reach.append(float(np.max(self._postings.data[begin:end], initial=0.0)))
        other = sum(t in self._wider for t in fresh)
        return WordSignals(len(terms), len(terms) - len(fresh), other, math.fsum(reach))

    def __call__(
        self, question: str, keyword: Ranking, meaning: Ranking, *, elsewhere: bool
    ) -> dict[str, float]:
        """Return the features of a question whose two lists are at hand; see `features`."""
        near = self.nearest.nearest(question, _NEAREST)
        return features(self.words(question), keyword, meaning, nearest=near, elsewhere=elsewhere)


FORMAT = 1
RECIPROCAL = "rrf"  # reciprocal rank fusion, both lists alike
_AGAIN = "Fit them again: python -m training.confidence --output DIR"


@dataclass(frozen=True, slots=True)
class Confidence:
    """A fitted regression, and the probability below which the list is said to hold no answer."""

    bias: float
    weights: Mapping[str, float]  # of standardised features
    means: Mapping[str, float]
    scales: Mapping[str, float]
    threshold: float
    false_alarm_rate: float  # the share of answerable questions that the threshold was set for
    corpus_sha256: str = ""  # of the corpus whose index was asked; scores of another mean nothing here
    ranked_by: str = RECIPROCAL  # what made the first ten; or the id of the learned fusion that did
    relevance: Relevance | None = None  # of each of the first ten

    def __post_init__(self) -> None:
        """Refuse weights that are not for these features."""
        for what, numbers in (("weights", self.weights), ("means", self.means), ("scales", self.scales)):
            if set(numbers) != set(NAMES):
                odd = ", ".join(sorted(set(numbers) ^ set(NAMES)))
                raise BadInput(f"confidence {what}: {odd} missing or unknown. {_AGAIN}")
            if not all(math.isfinite(x) and (what != "scales" or x > 0) for x in numbers.values()):
                raise BadInput(f"confidence {what} must be finite numbers, scales above 0. {_AGAIN}")
        if any(self.weights[name] * sign < 0 for name, sign in SIGNS.items()):
            raise BadInput(f"a confidence weight goes against what its feature means. {_AGAIN}")
        if not (math.isfinite(self.bias) and 0 <= self.threshold <= 1 and 0 <= self.false_alarm_rate <= 1):
            raise BadInput(f"confidence bias, threshold or rate is out of range. {_AGAIN}")

    def parts(self, values: Mapping[str, float]) -> dict[str, float]:
        """Return what each feature adds to the log-odds, against a question with average ones."""
        return {n: self.weights[n] * (values[n] - self.means[n]) / self.scales[n] for n in NAMES}

    def odds(self, values: Mapping[str, float]) -> float:
        """Return the log-odds that an answering article is among the first ten."""
        return math.fsum((self.bias, *self.parts(values).values()))

    def probability(self, values: Mapping[str, float]) -> float:
        """Return the probability, 0 to 1, that an answering article is among the first ten."""
        odds = self.odds(values)
        raised = math.exp(-abs(odds))  # at most 1, whichever the sign
        return (1.0 if odds >= 0 else raised) / (1 + raised)

    def to_json(self) -> str:
        """Return the file's text; floats come back exactly."""
        return json.dumps({"format": FORMAT} | asdict(self), indent=1) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Confidence:
        """Read what `to_json` wrote; anything else, or of another version, is `BadInput`."""
        try:
            record = json.loads(text)
            if record.pop("format") != FORMAT:
                raise BadInput(f"confidence weights of another format than {FORMAT}. {_AGAIN}")
            relevance = record.pop("relevance", None)
            return cls(**record, relevance=Relevance(**relevance) if relevance is not None else None)
        except (AttributeError, KeyError, TypeError, json.JSONDecodeError) as error:
            raise BadInput(f"not confidence weights ({error}). {_AGAIN}") from error
