"""Losses over the scores of a batch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from training.neural.data.batches import TrainingBatch
from training.neural.recipe.settings import Similarity

if TYPE_CHECKING:
    from torch import Tensor


def similarities(questions: Tensor, articles: Tensor, similarity: Similarity) -> Tensor:
    """Return (n_questions, n_articles) cosines or dot products of the rows of both."""
    if similarity == "cosine":
        from torch.nn.functional import normalize

        questions, articles = normalize(questions), normalize(articles)
    return questions @ articles.T


def softmax_loss(scores: Tensor, batch: TrainingBatch, temperature: float) -> Tensor:
    """Return the mean of -log softmax of the positive among the columns that count (NT-Xent).

    L = -1/N sum_i log( exp(s_ip / t) / sum_{j counted for i} exp(s_ij / t) ): InfoNCE (van den Oord et al.
    2018) with in-batch and drawn negatives as DPR has them (Karpukhin et al. 2020); an article that is
    gold for question i, or has the very text of one, is no negative of it. `scores` are (n_questions,
    n_articles), t is the temperature.
    """
    import torch
    from torch.nn.functional import cross_entropy

    mask = torch.from_numpy(batch.in_loss).to(scores.device)
    wanted = torch.from_numpy(np.asarray(batch.positive, dtype=np.int64)).to(scores.device)
    return cross_entropy((scores / temperature).masked_fill(~mask, float("-inf")), wanted)


def flops(rows: Tensor) -> Tensor:
    """Return sum_t (mean_i |w_it|)^2 of (n_texts, n_terms) weights (Paria et al. 2020).

    It grows with the postings that a search reads.
    """
    return rows.abs().mean(dim=0).square().sum()
