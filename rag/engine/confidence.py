"""How sure the engine may be that an answering article is among the first ten.

A logistic regression over the named features of `rag.engine.signals`, fitted by `training.confidence` to
questions with and without an answer. No weight goes against what its feature means: a higher score,
a wider margin or more agreement never lowers the probability.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass

from rag.engine.signals import NAMES, SIGNS
from rag.errors import BadInput

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

    def probability(self, values: Mapping[str, float]) -> float:
        """Return the probability that an answering article is among the first ten, from 0 to 1.

        Args:
            values: what `rag.engine.signals.features` returned.
        """
        odds = math.fsum((self.bias, *self.parts(values).values()))
        raised = math.exp(-abs(odds))  # at most 1, whichever the sign
        return (1.0 if odds >= 0 else raised) / (1 + raised)

    def doubtful(self, probability: float) -> bool:
        """Tell whether to say that there is probably no relevant article."""
        return probability < self.threshold

    def to_json(self) -> str:
        """Return the file's text; floats come back exactly."""
        return json.dumps({"format": FORMAT} | asdict(self), indent=1) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Confidence:
        """Read what `to_json` wrote.

        Raises:
            BadInput: it is something else, or of another version.
        """
        try:
            record = json.loads(text)
            if record.pop("format") != FORMAT:
                raise BadInput(f"confidence weights of another format than {FORMAT}. {_AGAIN}")
            return cls(**record)
        except (AttributeError, KeyError, TypeError, json.JSONDecodeError) as error:
            raise BadInput(f"not confidence weights ({error}). {_AGAIN}") from error
