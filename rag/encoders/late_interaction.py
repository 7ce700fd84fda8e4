"""A vector a token, by a late-interaction encoder of sentence-transformers (extra [models]).

`MultiVectorEncoder` reads its own folders, PyLate's, and those of Stanford's ColBERT: a transformer with
`linear.weight` beside its weights and an `artifact.metadata`, as the published French models are.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np

from rag.encoders.transformer import article_text, missing, sound
from rag.errors import BadInput
from rag.retrieval.token_index import EncodedText
from rag.types import Article

if TYPE_CHECKING:
    from sentence_transformers import MultiVectorEncoder

PROGRESS_BATCH = 256  # texts between two looks at what is encoded; their padded vectors are held meanwhile
STANFORD = "HF_ColBERT"  # the architecture that a folder of Stanford's ColBERT names
_KINDS = {"ColBERT", "MultiVectorEncoder"}  # of PyLate's folders, and of the library's own
_Json = TypeVar("_Json", dict[str, Any], list[Any])


def late_kind(model: str | Path, revision: str | None = None) -> Literal["stanford", "multi-vector"] | None:
    """Return how a folder or hub id holds a late-interaction encoder; None for any other model.

    Raises:
        MissingExtra: sentence-transformers is not installed; not of a folder.
    """
    if _config(model, revision, "config_sentence_transformers.json").get("model_type") in _KINDS:
        return "multi-vector"
    return (
        "stanford"
        if STANFORD in (_config(model, revision, "config.json").get("architectures") or ())
        else None
    )


def _config(model: str | Path, revision: str | None, name: str) -> dict[str, Any]:
    folder = Path(model)
    if folder.is_dir():
        return read_json(folder / name, {})
    try:
        from sentence_transformers.util import load_file_path
    except ImportError as error:
        raise missing(model) from error
    found = load_file_path(str(model), name, revision=revision)
    return {} if found is None else read_json(Path(found), {})


def read_json(path: Path, otherwise: _Json) -> _Json:
    """Return what a model's file holds; one that lacks, or is of another shape, says nothing."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):  # whoever loads the model says what is wrong
        return otherwise
    return found if isinstance(found, type(otherwise)) else otherwise


def load_late(
    model: str | Path,
    *,
    device: str | None = None,
    question_window: int | None = None,
    window: int | None = None,
    remote_code: bool = False,
    revision: str | None = None,
) -> MultiVectorEncoder:
    """Load a late-interaction encoder from a folder or the hub, as `load_model` does one of sentences.

    A folder of Stanford's ColBERT is read as its own code does, which marks questions and articles by the
    number of a token: where a vocabulary lacks it, as CamemBERT's lacks [unused0], by the unknown token's.

    Questions are cut at `question_window` tokens and filled up to them, articles cut at `window`; None as the
    model says. Of the hub a `revision` is loaded, such as a commit; None is the newest.

    Raises:
        MissingExtra: sentence-transformers is not installed.
        BadInput: there is no such model, or it has no vectors of tokens.
    """
    kind = late_kind(model, revision)
    if kind is None:
        raise BadInput(
            f"{model} is no late-interaction encoder that was trained: expected a folder of "
            "sentence-transformers' MultiVectorEncoder, of PyLate or of Stanford's ColBERT, or such a hub id"
        )
    try:
        from sentence_transformers import MultiVectorEncoder
    except ImportError as error:
        raise missing(model) from error
    try:
        loaded = MultiVectorEncoder(
            str(model), device=device, trust_remote_code=remote_code, revision=revision
        )
    except (OSError, ValueError, KeyError) as error:
        raise BadInput(f"{model} cannot be loaded ({type(error).__name__}: {error})") from error
    if kind == "stanford":
        _as_stanford(loaded)
    transformer: Any = loaded[0]
    if window:
        transformer.document_length = window
    if question_window and transformer.query_expansion:
        transformer.query_expansion = {**transformer.query_expansion, "length": question_window}
    elif question_window:
        transformer.query_length = question_window
    loaded.eval()
    return loaded


def _as_stanford(model: MultiVectorEncoder) -> None:
    """Mark texts, and leave out punctuation, as Stanford's code does where the library differs from it."""
    tokenizer = model.tokenizer
    for role, prompt in model.prompts.items():
        marker, *_ = prompt.split() or [""]
        if marker and tokenizer.convert_tokens_to_ids(marker) == tokenizer.unk_token_id:
            model.prompts[role] = prompt.replace(marker, str(tokenizer.unk_token))
    mask: Any = next(module for module in model if hasattr(module, "skiplist_words"))
    # a sign alone, and as the first piece of a word: "," and "▁," of SentencePiece
    signs = [*mask.skiplist_words, *(tokenizer.tokenize(sign)[0] for sign in mask.skiplist_words)]
    known = tokenizer.get_vocab()
    mask.skiplist_words = sorted({sign for sign in signs if sign in known and sign != tokenizer.unk_token})
    mask.resolve_with_tokenizer(tokenizer)


class LateInteractionEncoder:
    """Questions and articles as the tokens that count, each with a vector of unit length."""

    def __init__(
        self, model: MultiVectorEncoder, text_of: Callable[[Article], str] | None = None, batch: int = 32
    ) -> None:
        """Encode with a model that `load_late` returned or that was trained, some texts at once.

        `text_of` gives what is read of an article; None: code, headings and text.
        """
        self.model = model
        self.text_of = text_of or article_text
        self.batch = batch

    @property
    def dim(self) -> int:
        """Length of a vector."""
        return int(self.model.get_embedding_dimension() or 0)

    def encode_questions(self, questions: Sequence[str]) -> list[EncodedText]:
        """Return the tokens of each question, with the [MASK]s that fill it up; none for a blank one."""
        found = iter(self._encoded([q for q in questions if q.strip()], self.model.encode_query))
        nothing = EncodedText(np.zeros((0, self.dim), np.float32), np.zeros(0, np.int64))
        return [next(found) if question.strip() else nothing for question in questions]

    def encode_articles(self, articles: Sequence[Article]) -> list[EncodedText]:
        """Return the tokens of each article, without those that the model leaves out, such as punctuation."""
        return self._encoded([self.text_of(a) for a in articles], self.model.encode_document)

    def in_batches(self, articles: Sequence[Article]) -> Iterator[list[EncodedText]]:
        """Yield the articles' tokens some at a time, to be written down."""
        for begin in range(0, len(articles), PROGRESS_BATCH):
            yield self.encode_articles(articles[begin : begin + PROGRESS_BATCH])

    def _encoded(self, texts: Sequence[str], encode: Callable[..., Any]) -> list[EncodedText]:
        training = self.model.training
        try:  # it leaves the model without dropout, which a training goes on to need
            sound_texts = [sound(text) for text in texts]
            found = encode(sound_texts, batch_size=self.batch, output_value=None, show_progress_bar=False)
        finally:
            self.model.train(training)
        encoded = []
        for one in found:
            mask = one["attention_mask"].bool()
            vectors, tokens = one["token_embeddings"][mask], one["input_ids"][mask]
            encoded.append(EncodedText(vectors.float().cpu().numpy(), tokens.cpu().numpy()))
        return encoded
