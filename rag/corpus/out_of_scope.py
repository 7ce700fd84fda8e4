"""Topics that people ask about and that a law governs which is not in the corpus."""

from __future__ import annotations

import threading
import zlib
from collections.abc import Callable, Collection, Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple
from zipfile import BadZipFile

import numpy as np
import numpy.typing as npt

from rag.corpus.card import CorpusCard, Elsewhere
from rag.errors import BadInput
from rag.text import Analyser
from rag.types import Doubles, Floats

_SMALLEST = 1e-6  # probability: the odds stay finite
WHOLE_QUESTION = "="  # before a phrase: it must be all that the question says, not only stand in it


@dataclass(frozen=True, slots=True)
class _Phrase:
    terms: frozenset[str]
    whole: bool

    def fits(self, terms: frozenset[str]) -> bool:
        return self.terms == terms if self.whole else self.terms <= terms


MEANING = 3.0  # weight of a question's vector beside its terms
NEAREST = 5  # examples that a question is compared with
UNLIKE = 0.35  # their mean cosine below which a question without a phrase is of no topic


class LawEvidence(NamedTuple):
    """What tells, for a question, between the law that is loaded and others."""

    log_odds: float  # by `LawClassifier.probabilities`
    phrase: bool  # of a topic stands in it
    examples: float  # mean cosine of the nearest questions that other laws govern
    article: float  # cosine of the nearest article


def ngrams(terms: Sequence[str]) -> frozenset[str]:
    """Return the terms of a question, and its pairs of neighbours."""
    return frozenset((*terms, *(f"{first} {second}" for first, second in pairwise(terms))))


@dataclass(frozen=True, repr=False)
class LawClassifier:
    """Which law governs a question: those that are loaded, as one class, or one of the topics of others.

    A multinomial logistic regression over terms and pairs of them, each by its rarity, normalised
    (Genkin, Lewis & Madigan 2007), and over the question's vector, which knows words that no example had.
    """

    features: tuple[str, ...]  # as `ngrams` makes them
    rarity: Floats  # (n_features,): inverse document frequency
    # (n_features + dimensions of a vector, 1 + n_topics); the first column is of the law that is loaded
    weights: Floats
    bias: Floats  # (1 + n_topics,)
    topics: tuple[str, ...]  # ids of `Elsewhere`
    threshold: float  # of the probability that another law governs, from which its topic is told
    encoder: str = ""  # fingerprint of the encoder and the analyser that it was fitted with
    examples: tuple[str, ...] = ()  # questions that other laws govern, which it learnt from
    # what each of `LawEvidence` adds to the log-odds that another law governs, then the bias; () of none
    evidence: Floats = field(default_factory=lambda: np.zeros(0, np.float32))

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {feature: n for n, feature in enumerate(self.features)}

    def vector(self, terms: Sequence[str]) -> tuple[npt.NDArray[np.int64], Floats]:
        """Return the numbers of the features of a question and their values, which are of length 1."""
        known = self._numbers
        found = np.array(sorted(known[each] for each in ngrams(terms) if each in known), dtype=np.int64)
        values = self.rarity[found]
        norm = float(np.linalg.norm(values))
        return found, values / norm if norm else values

    def probabilities(self, terms: Sequence[str], meaning: Floats) -> Doubles:
        """Return the probability of the law that is loaded and of each topic, (1 + n_topics,).

        `meaning` is the vector of the question, of length 1, as the index's encoder makes it.
        """
        found, values = self.vector(terms)
        dense = MEANING * meaning @ self.weights[len(self.features) :]
        scores = (self.bias + values @ self.weights[found] + dense).astype(np.float64)
        powers = np.exp(scores - scores.max())
        return np.asarray(powers / powers.sum(), np.float64)

    def topic(self, terms: Sequence[str], meaning: Floats) -> str | None:
        """Return the topic whose law governs, None where it is the law that is loaded or not sure enough."""
        each = self.probabilities(terms, meaning)
        return self.likeliest(each) if 1 - each[0] >= self.threshold else None

    def likeliest(self, probabilities: Doubles) -> str:
        """Return the likeliest topic of some probabilities."""
        return self.topics[int(probabilities[1:].argmax())]

    def governs(self, found: LawEvidence) -> bool:
        """Tell whether another law rather governs; each of the evidence may outweigh the others."""
        return bool(np.dot(self.evidence, np.array([*found, 1.0])) >= 0)

    def save(self, path: Path) -> None:
        """Write it; weights in sixteen bits."""
        np.savez_compressed(
            path,
            features=np.array("\n".join(self.features)),
            rarity=self.rarity.astype(np.float16),
            weights=self.weights.astype(np.float16),
            bias=self.bias,
            topics=np.array("\n".join(self.topics)),
            threshold=np.array(self.threshold),
            encoder=np.array(self.encoder),
            examples=np.array("\n".join(self.examples)),
            evidence=self.evidence,
        )

    @classmethod
    def load(cls, path: Path) -> LawClassifier:
        """Read what `save` wrote.

        Raises:
            BadInput: the file is none of these.
        """
        try:
            with path.open("rb") as file, np.load(file, allow_pickle=False) as read:
                made = cls(
                    tuple(str(read["features"]).split("\n")),
                    read["rarity"].astype(np.float32),
                    read["weights"].astype(np.float32),
                    read["bias"].astype(np.float32),
                    tuple(str(read["topics"]).split("\n")),
                    float(read["threshold"]),
                    str(read["encoder"]) if "encoder" in read else "",  # none in a file of before
                    tuple(filter(None, str(read["examples"]).split("\n"))) if "examples" in read else (),
                    read["evidence"].astype(np.float32) if "evidence" in read else np.zeros(0, np.float32),
                )
        except (OSError, ValueError, KeyError, EOFError, BadZipFile, zlib.error) as error:
            raise BadInput(f"{path} is no classifier of governing law ({error}): fit it anew") from None
        if len(made.weights) <= len(made.features) or made.weights.shape[1] != 1 + len(made.topics):
            raise BadInput(f"{path} holds weights of {made.weights.shape}: fit it anew")
        if len(made.evidence) not in (0, len(LawEvidence._fields) + 1):
            raise BadInput(f"{path} holds {len(made.evidence)} weights of evidence: fit it anew")
        if len(made.evidence) and not made.examples:
            raise BadInput(f"{path} holds weights of evidence and no examples: fit it anew")
        return made


class Topics:
    """The topics of a card whose law is not among the codes that are loaded."""

    def __init__(
        self,
        card: CorpusCard,
        codes: Collection[str],
        analyser: Analyser,
        classifier: LawClassifier | None = None,
        vector: Callable[[str], Floats] | None = None,
        vectors: Callable[[Sequence[str]], Floats] | None = None,
    ) -> None:
        """Cut the phrases of every topic; one whose law is among the `codes` is left aside.

        A classifier needs what makes the vector of a question, and those of its examples.
        """
        self._analyser, self._classifier, self._vector = analyser, classifier, vector
        self._vectors, self._encoding = vectors, threading.Lock()
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

    def match_terms(self, terms: Set[str], names: Set[str] = frozenset()) -> tuple[Elsewhere, ...]:
        """Return the topics of the legal terms that a question in another language was read as.

        They are those that every term names: who asks of a hospital and of an inheritance asks of neither
        alone. A benefit's own name ("RSA", "APL") tells more than all terms.
        """
        if named := [topic for topic in self._topics if not names.isdisjoint(topic.names)]:
            return tuple(named)
        return tuple(topic for topic in self._topics if terms and terms <= set(topic.terms))

    def classify(self, question: str) -> tuple[Elsewhere, ...]:
        """Return the topic that the classifier tells, of a question in which no phrase stands."""
        if self._classifier is None or self._vector is None:
            return ()
        terms = self._analyser.terms(question)
        return self._named(self._classifier.topic(terms, self._vector(question)))

    def governing(self, question: str, article: float) -> tuple[Elsewhere, ...]:
        """Return the topics of a question that another law governs, weighed with what the loaded law has.

        A phrase that stands in a question which the loaded law answers well is not told; where none stands
        and another law rather governs, the likeliest topic is. Of what is like no example nothing is told.

        Args:
            question: as typed.
            article: cosine of the nearest article; 0 where none is near, or nothing is known of the question.
        """
        found, by = self.find(question), self._classifier
        if by is None or not len(by.evidence) or self._vector is None or self._vectors is None:
            return found or self.classify(question)
        weighed, likeliest = self.evidence(question, article, phrase=bool(found))
        if not found and (article <= 0 or weighed.examples < UNLIKE):
            return ()
        if not by.governs(weighed):
            return ()
        return found or self._named(likeliest)

    def evidence(self, question: str, article: float, *, phrase: bool) -> tuple[LawEvidence, str]:
        """Return what `governing` weighs, and the likeliest topic; ValueError without a classifier."""
        if self._classifier is None or self._vector is None:
            raise ValueError("no classifier, or nothing that makes vectors")
        meaning = self._vector(question)
        each = self._classifier.probabilities(self._analyser.terms(question), meaning)
        # a matrix product rounds a row by where it stands, and the answer hangs on a threshold
        with self._encoding:  # ten who asked first would each encode them all
            examples = self._examples
        cosines = np.vecdot(examples, meaning)
        n = min(NEAREST, len(cosines))
        near = float(np.partition(cosines, len(cosines) - n)[-n:].mean()) if n else 0.0
        own = min(max(float(each[0]), _SMALLEST), 1 - _SMALLEST)
        found = LawEvidence(float(np.log(1 / own - 1)), phrase, near, article)
        return found, self._classifier.likeliest(each)

    @cached_property
    def _examples(self) -> Floats:
        """The vectors of the classifier's examples, (n_examples, dim)."""
        if self._classifier is None or self._vectors is None:
            raise ValueError("no classifier, or nothing that makes vectors")
        return self._vectors(self._classifier.examples)

    def _named(self, id_: str | None) -> tuple[Elsewhere, ...]:
        return tuple(topic for topic in self._topics if topic.id == id_)
