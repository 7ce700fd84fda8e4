"""The token vectors of a corpus in a temporary folder, for as long as something searches them."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Sequence
from pathlib import Path

from rag.encoders.late_interaction import LateInteractionEncoder
from rag.retrieval.token_index import TokenVectors
from rag.types import Article


def token_vectors(encoder: LateInteractionEncoder, articles: Sequence[Article]) -> TokenVectors:
    """Return the articles' token vectors; the files go when nobody holds them any more.

    Args:
        encoder: of their tokens.
        articles: in the order of the corpus.
    """
    folder = Path(tempfile.mkdtemp(prefix="pandect-tokens-"))
    try:
        vectors = TokenVectors.write(folder, encoder.dim, encoder.in_batches(articles))
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    weakref.finalize(vectors, shutil.rmtree, folder, ignore_errors=True)
    return vectors
