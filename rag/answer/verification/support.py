"""Support scored by a model, beside what code can decide: cosine of an encoder, or entailment."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from rag.errors import BadInput, MissingExtra
from rag.types import Article, Encoder

if TYPE_CHECKING:
    from sentence_transformers import CrossEncoder

SAME = 0.5  # cosine; a first guess: it depends on the encoder, so measure yours
ENTAILED = 0.5  # probability; more likely than not


class Support(Protocol):
    """Scores how far a premise supports a claim, and says from which score on that is enough."""

    @property
    def threshold(self) -> float:
        """The least score that supports."""
        ...

    def score(self, claim: str, premise: str) -> float:
        """Return how far the premise supports the claim; more is better."""
        ...


@dataclass(frozen=True, slots=True)
class EncoderSupport:
    """The cosine of two vectors: near in meaning, which a negation hardly changes."""

    encoder: Encoder
    threshold: float = SAME

    def score(self, claim: str, premise: str) -> float:
        """Return the cosine, -1 to 1; 0 where one of the texts has no vector."""
        [ours] = self.encoder.encode_questions([claim])
        [theirs] = self.encoder.encode_articles([Article("", "", "", premise)])
        return float(ours @ theirs)


class EntailmentSupport:
    """The probability that a premise entails a claim, by a cross-encoder for natural language inference."""

    def __init__(self, model: str | Path, threshold: float = ENTAILED, *, device: str | None = None) -> None:
        """Load the model.

        Args:
            model: a folder, or an id on the hub; its labels must hold one that begins with "entail".
            threshold: the least probability that supports, 0 to 1.
            device: "cpu", "cuda", …; None takes the best there is.

        Raises:
            MissingExtra: sentence-transformers is not installed.
            BadInput: the model cannot be loaded, or has no label for entailment.
        """
        if not 0 <= threshold <= 1:
            raise BadInput(f"threshold {threshold} of entailment: give a probability, 0 to 1")
        try:
            from sentence_transformers import CrossEncoder
        except ImportError as error:
            raise MissingExtra(
                f"entailment model {model} needs sentence-transformers: run pip install 'pandect[models]'"
            ) from error
        try:
            self._model: CrossEncoder = CrossEncoder(str(model), device=device)
        except (OSError, ValueError) as error:
            raise BadInput(
                f"entailment model {model} cannot be loaded ({error}): give a folder that holds a"
                f" model, or a "
                "hub id and a connection to the hub"
            ) from error
        labels = {str(name).lower(): int(at) for at, name in self._model.config.id2label.items()}
        places = [at for name, at in labels.items() if name.startswith("entail")]
        if len(places) != 1 or len(labels) < 2:
            raise BadInput(
                f"entailment model {model} has the labels {', '.join(labels)}: give a model for"
                f" natural language "
                'inference, with one label "entailment"'
            )
        self._place, self.threshold = places[0], threshold

    def score(self, claim: str, premise: str) -> float:
        """Return the probability of entailment, 0 to 1."""
        from torch.nn import Softmax

        [scores] = self._model.predict(
            [(premise, claim)], activation_fn=Softmax(dim=-1), show_progress_bar=False, convert_to_numpy=True
        )
        return float(scores[self._place])
