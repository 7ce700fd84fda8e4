"""A pretrained sentence encoder by path or hub id, through sentence-transformers (extra [models])."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np

from rag.encoders.static import unit
from rag.errors import BadInput, MissingExtra, install_hint
from rag.types import Article, Floats

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer


def _first_sees_all(module: object, given: tuple[Any, ...]) -> tuple[Any, ...]:
    """Let the first token of every text see, and be seen by, all others.

    In a Longformer (Beltagy et al. 2020) every token sees a window around it, and a few chosen ones see all;
    its code chooses none. Where the first token stands for a text, it would tell of half a window alone.
    """
    import torch

    features, *others = given
    chosen = torch.zeros_like(features["input_ids"])
    chosen[:, 0] = 1
    return ({**features, "global_attention_mask": chosen}, *others)


def article_text(article: Article) -> str:
    """Return what of an article is encoded: code, headings and text."""
    return " ".join((article.code, *article.headings, article.text))


def resolve_commit(model: str | Path, revision: str | None = None) -> str | None:
    """Return the commit of a hub's model, to load and to record: its branch may be another model tomorrow.

    Without a connection it is the one in the hub's cache. None for a folder, and where none can be told:
    whoever then loads the model says what is wrong.
    """
    if Path(model).is_dir():
        return None
    try:
        import sentence_transformers  # noqa: F401 - without it nothing is loaded, and no hub need be asked
        from huggingface_hub import hf_hub_download

        return Path(hf_hub_download(str(model), "config.json", revision=revision)).parent.name
    except (ImportError, OSError, ValueError):
        return None


Pooling: TypeAlias = Literal["mean", "cls", "max", "last"]


def load_model(
    model: str | Path,
    *,
    device: str | None = None,
    pooling: Pooling | None = None,
    window: int | None = None,
    remote_code: bool = False,
    revision: str | None = None,
) -> SentenceTransformer:
    """Load a model, with a pooling and a window of one's own.

    Args:
        model: a folder, or an id on the hub.
        device: "cpu", "cuda", …; None takes the best there is.
        pooling: how a text's vector is made of its tokens' last hidden states: "mean" of them, "cls" the
            first, "max" of each number, "last" the last; layers above them are left away. None as the
            model's own folder says, which is the mean for a bare transformer.
        window: tokens that the model reads at most; None as it says itself.
        remote_code: run the Python code that comes with the model. Only for models that you trust.
        revision: of the hub: a commit, a tag or a branch; None is the newest.

    Raises:
        MissingExtra: sentence-transformers is not installed.
        BadInput: the model cannot be loaded, or the window or the pooling make no sense.
    """
    if pooling is not None and pooling not in get_args(Pooling):
        raise BadInput(f"pooling {pooling!r}: expected {', '.join(get_args(Pooling))}")
    if window is not None and window < 1:
        raise BadInput(f"a window of {window} tokens: give 1 or more")
    try:
        from sentence_transformers import SentenceTransformer
        from sentence_transformers.sentence_transformer.modules import Pooling as PoolingModule
    except ImportError as error:
        raise missing(model) from error
    try:
        loaded = SentenceTransformer(
            str(model), device=device, trust_remote_code=remote_code, revision=revision
        )
        if pooling is not None:
            transformer: Any = loaded[0]
            mode = "lasttoken" if pooling == "last" else pooling
            pooled = PoolingModule(transformer.get_embedding_dimension(), mode)
            loaded = SentenceTransformer(modules=[transformer, pooled], device=device)
            if pooling == "cls" and transformer.model.config.model_type == "longformer":
                transformer.register_forward_pre_hook(_first_sees_all)
    except (OSError, ValueError) as error:
        if "trust_remote_code" in str(error):
            raise BadInput(
                f"encoder {model} brings Python code of its own, which would be run here: if you trust it, "
                "add --remote-code"
            ) from error
        raise BadInput(
            f"encoder {model} cannot be loaded ({error}): give a folder that holds a model, or a hub id "
            "and a connection to the hub"
        ) from error
    if window is not None:
        longest = loaded.max_seq_length
        loaded.max_seq_length = window if longest is None else min(window, int(longest))
    return loaded


class TransformerEncoder:
    """Questions in one piece; long articles in overlapping chunks, their vectors averaged.

    Chunks of 200 tokens with an overlap of 20, pooled by their mean, are those of BSARD (Louis &
    Spanakis 2022). A model of long context takes `chunk=0`: the article in one piece.
    """

    def __init__(  # noqa: PLR0913 - as a manifest records them
        self,
        model: str | Path | SentenceTransformer,
        *,
        question_prompt: str = "",
        passage_prompt: str = "",
        chunk: int = 200,
        overlap: int = 20,
        batch: int = 32,
        device: str | None = None,
        revision: str | None = None,
    ) -> None:
        """Load the model from a folder or the hub, unless it is what `load_model` returned.

        Prompts such as "query: " and "passage: " of the E5 family stand before a question and each chunk. A
        chunk has so many tokens without them and special tokens, less where the model reads fewer, for it
        would pass over the rest, and shares `overlap` tokens with the one before; 0 does not cut.

        Raises:
            MissingExtra: sentence-transformers is not installed.
            BadInput: the model cannot be loaded, or the chunks make no sense.
        """
        if chunk < 0 or overlap < 0 or 0 < chunk <= overlap:
            raise BadInput(f"chunks of {chunk} tokens overlapping by {overlap}: the overlap must be smaller")
        self.revision: str | None  # the commit on the hub that it was loaded from; None: a folder
        if isinstance(model, (str, Path)):
            self.revision = resolve_commit(model, revision)
            self.model = load_model(model, device=device, revision=self.revision or revision)
            self.name = str(model) if not Path(model).is_dir() else Path(model).name
        else:
            self.revision = None
            self.model, self.name = model, "encoder"  # whoever loaded it knows its name
        self.question_prompt, self.passage_prompt = question_prompt, passage_prompt
        self.overlap, self.batch = overlap, batch
        # the adapters of a model that has one a task, such as "retrieval.query" of jina-v3
        self.question_task: str | None = None
        self.passage_task: str | None = None
        self.chunk = chunk
        if chunk and self.model.max_seq_length is not None:  # tokens that it reads beside all others
            tokenizer = self.model.tokenizer
            prompt = tokenizer(passage_prompt, add_special_tokens=False)["input_ids"]
            others = len(prompt) + int(tokenizer.num_special_tokens_to_add())
            self.chunk = min(chunk, int(self.model.max_seq_length) - others)
        if chunk and self.chunk <= overlap:
            raise BadInput(
                f"encoder {self.name} reads {self.model.max_seq_length} tokens, which leaves chunks of "
                f"{self.chunk} beside the prompt: give an overlap below that, not {overlap}"
            )

    @property
    def dim(self) -> int:
        """Length of a vector."""
        return int(self.model.get_embedding_dimension() or 0)

    @property
    def sha256(self) -> str:
        """Hash of the weights as they are loaded, hexadecimal."""
        digest = hashlib.sha256()
        for name, tensor in sorted(self.model.state_dict().items()):
            digest.update(name.encode())
            digest.update(tensor.detach().cpu().contiguous().float().numpy().tobytes())
        return digest.hexdigest()

    def encode_questions(self, questions: Sequence[str]) -> Floats:
        """Return unit vectors, (n_questions, dim) float32; zeros for a blank question."""
        vectors = self._encode(list(questions), self.question_prompt, self.question_task)
        vectors[[not q.strip() for q in questions]] = 0
        return vectors

    def encode_articles(self, articles: Sequence[Article]) -> Floats:
        """Return the unit-length mean of each article's chunk vectors, (n_articles, dim) float32."""
        chunks = [self._chunks(sound(article_text(a))) for a in articles]
        flat = self._encode([c for own in chunks for c in own], self.passage_prompt, self.passage_task)
        ends = np.cumsum([len(own) for own in chunks])
        means = [flat[end - len(own) : end].mean(axis=0) for own, end in zip(chunks, ends, strict=True)]
        return unit(np.array(means, dtype=np.float32).reshape(len(articles), self.dim))

    def _chunks(self, text: str) -> list[str]:
        if not self.chunk:
            return [text]
        offsets = self.model.tokenizer(
            text, add_special_tokens=False, return_offsets_mapping=True, truncation=False, verbose=False
        )["offset_mapping"]
        starts = range(0, max(len(offsets) - self.overlap, 1), self.chunk - self.overlap)
        pieces = [offsets[s : s + self.chunk] for s in starts]
        return [text[p[0][0] : p[-1][1]] for p in pieces if p] or [text]

    def _encode(self, texts: list[str], prompt: str, task: str | None) -> Floats:
        if not texts:
            return np.zeros((0, self.dim), dtype=np.float32)
        adapter: dict[str, Any] = {} if task is None else {"task": task}
        vectors = self.model.encode(
            [sound(text) for text in texts],
            prompt=prompt,  # "" too: else a default of the model's own would be put in front
            batch_size=self.batch,
            convert_to_numpy=True,
            show_progress_bar=False,
            **adapter,
        )
        return unit(np.asarray(vectors, dtype=np.float32))


def missing(model: str | Path) -> MissingExtra:
    """Return the error that says how to install what loads models."""
    return MissingExtra(f"encoder {model} needs sentence-transformers: run {install_hint('models')}")


def sound(text: str) -> str:
    """Return the text with lone surrogates, which tokenizers refuse, as question marks."""
    return text.encode("utf-8", "replace").decode("utf-8")
