"""BERTScore: an answer's tokens matched with the reference's by what a pretrained model makes of them."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from rag.errors import BadInput, MissingExtra, install_hint
from rag.types import Floats


class BERTScore:
    """Greedy matching of contextual token vectors by cosine (Zhang et al. 2020), F1.

    No baseline is subtracted, so values are high and close together: compare them with each other,
    made with one model and layer. Special tokens take no part. What is longer than the model reads is cut.
    """

    def __init__(self, model: str, *, layer: int = -1, idf: bool = False) -> None:
        """Load a model.

        Args:
            model: a folder, or an id on the hub, of a transformers encoder.
            layer: whose hidden states are compared; -1 is the last.
            idf: weigh tokens by how few references have them.

        Raises:
            MissingExtra: transformers is not installed.
            BadInput: the model cannot be loaded, or has no such layer.
        """
        try:
            from transformers import AutoModel, AutoTokenizer
        except ImportError as error:
            raise MissingExtra(f"BERTScore needs transformers: run {install_hint('models')}") from error
        try:
            self._tokenizer: Any = AutoTokenizer.from_pretrained(model)
            self._model: Any = AutoModel.from_pretrained(model).eval()
        except (OSError, ValueError) as error:
            raise BadInput(
                f"--bertscore-model {model} cannot be loaded ({error}): give a folder that holds an encoder, "
                "or a hub id and a connection to the hub"
            ) from error
        layers = int(self._model.config.num_hidden_layers) + 1  # the embeddings before the first are one
        if not -layers <= layer < layers:
            raise BadInput(
                f"--bertscore-layer {layer}: {model} has layers 0 to {layers - 1}, or -1 for the last"
            )
        self._layer, self._idf = layer, idf
        self.name = f"{Path(model).name if Path(model).is_dir() else model}, layer {layer}" + (", idf" * idf)

    def __call__(self, answers: Sequence[str], references: Sequence[str]) -> npt.NDArray[np.float64]:
        """Return F1 of each answer against its reference, (n,); an empty text has 0."""
        weights = idf([self._tokens(text) for text in references]) if self._idf else None
        return np.array([self._one(a, r, weights) for a, r in zip(answers, references, strict=True)])

    def _one(self, answer: str, reference: str, weights: Mapping[int, float] | None) -> float:
        (a, va), (b, vb) = self._vectors(answer), self._vectors(reference)
        return f1(va, vb, _weights(a, weights), _weights(b, weights))

    def _tokens(self, text: str) -> list[int]:
        encoded = self._encoded(text)
        special = encoded.pop("special_tokens_mask")[0].tolist()
        tokens = encoded["input_ids"][0].tolist()
        return [t for t, s in zip(tokens, special, strict=True) if not s]

    def _encoded(self, text: str) -> Any:  # noqa: ANN401 - a batch of tensors
        most = min(int(self._tokenizer.model_max_length), self._positions())
        return self._tokenizer(
            text, return_tensors="pt", truncation=True, max_length=most, return_special_tokens_mask=True
        )

    def _positions(self) -> int:
        # RoBERTa's positions begin after its padding, so two fewer can be read.
        return int(getattr(self._model.config, "max_position_embeddings", 514)) - 2

    def _vectors(self, text: str) -> tuple[list[int], Floats]:
        """Return the tokens and their l2-normalised vectors, (n, dim), without special ones."""
        import torch

        encoded = self._encoded(text)
        kept = encoded.pop("special_tokens_mask")[0] == 0
        with torch.no_grad():
            states = self._model(**encoded, output_hidden_states=True).hidden_states[self._layer][0][kept]
        vectors = states.float().numpy()
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        return encoded["input_ids"][0][kept].tolist(), vectors / np.maximum(norms, 1e-12)


def f1(answer: Floats, reference: Floats, of_answer: Floats, of_reference: Floats) -> float:
    """Return the F1 of greedy matching.

    Args:
        answer: (n, dim) l2-normalised vectors of its tokens.
        reference: (m, dim) likewise.
        of_answer: (n,) weights of its tokens, summing to 1.
        of_reference: (m,) likewise.
    """
    if not len(answer) or not len(reference):
        return 0.0
    alike = answer @ reference.T
    precision = float(alike.max(axis=1) @ of_answer)
    recall = float(alike.max(axis=0) @ of_reference)
    return 2 * precision * recall / (precision + recall) if precision + recall > 0 else 0.0


def idf(references: Sequence[Sequence[int]]) -> defaultdict[int, float]:
    """Return -log of the share of references that have a token, smoothed by one, as the paper has it."""
    often = Counter(token for tokens in references for token in set(tokens))
    unseen = math.log(len(references) + 1)
    known = {token: math.log((len(references) + 1) / (n + 1)) for token, n in often.items()}
    return defaultdict(lambda: unseen, known)


def _weights(tokens: Sequence[int], idf: Mapping[int, float] | None) -> Floats:
    """Return weights that sum to 1: equal ones without idf, and where all of it is 0."""
    values = np.array([1.0 if idf is None else idf[t] for t in tokens], dtype=np.float32)
    total = float(values.sum())
    return values / total if total > 0 else np.full(len(tokens), 1 / max(len(tokens), 1), dtype=np.float32)
