"""The encoder that is trained: from the hub, from a folder, or small and configured from scratch."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from rag.encoders.transformer import resolve_commit
from rag.errors import BadInput, MissingExtra, install_hint
from rag.types import Floats
from training.neural.recipe.recipe import parse_recipe
from training.neural.recipe.settings import ArticleTransformer, BackboneSettings, Recipe, Scratch

if TYPE_CHECKING:
    from sentence_transformers.base.modules import Transformer
    from transformers import PreTrainedTokenizerFast

Task: TypeAlias = Literal["feature-extraction", "fill-mask", "sequence-classification", "text-generation"]
_FROM_SCRATCH: dict[Task, str] = {  # classes of transformers
    "feature-extraction": "BertModel",
    "fill-mask": "BertForMaskedLM",
    "sequence-classification": "BertForSequenceClassification",
    "text-generation": "Qwen3ForCausalLM",
}
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


def require() -> None:
    """Raise MissingExtra where torch or sentence-transformers is not installed."""
    try:
        import sentence_transformers  # noqa: F401
        import torch  # noqa: F401
    except ImportError as error:
        raise MissingExtra(f"training a model needs torch: run {install_hint('models')}") from error


def pinned(recipe: Recipe) -> Recipe:
    """Return the recipe with the commit of its hub's model: what is loaded, recorded, loaded again is one."""
    model = recipe.model
    if model.backbone is None or model.graph is not None:  # a graph network's encoder is pinned as it is read
        return recipe
    if (commit := resolve_commit(model.backbone, model.revision)) is None:
        return recipe
    return parse_recipe(
        {**recipe.source, "model": {**recipe.source["model"], "revision": commit}}, recipe.name
    )


def load_backbone(
    name: str, model: BackboneSettings, tokens: int, *, task: Task = "feature-extraction"
) -> Transformer:
    """Return an encoder with its tokenizer, as sentence-transformers has it, to read at most so many tokens.

    Raises BadInput where there is no such model, it cannot be fetched, or it reads fewer tokens.
    """
    from sentence_transformers.base.modules import Transformer

    given: dict[str, Any] = {"revision": model.revision} if model.revision else {}
    given |= {"trust_remote_code": True} if model.remote_code else {}
    config: dict[str, Any] = {**given, "num_labels": 1} if task == "sequence-classification" else given
    try:
        with quiet():
            found = Transformer(
                name, transformer_task=task, max_seq_length=tokens,
                model_kwargs=dict(given), config_kwargs=config, processor_kwargs=dict(given),
            )  # fmt: skip
    except (OSError, ValueError, ImportError) as error:
        reason = " ".join(str(error).split())[:300]
        raise BadInput(
            f"the model {name} cannot be loaded ({reason}). Give a folder that holds one (--set "
            "model.backbone=FOLDER), a connection to the hub (HF_ENDPOINT names another one), or a small "
            "encoder of its own in a table [model.scratch]"
        ) from error
    check_length(found.model, name, tokens)
    return found


def check_length(model: Any, name: str, tokens: int) -> None:  # noqa: ANN401 - of transformers
    """Raise BadInput where a model reads fewer tokens than this."""
    reads = getattr(model.config, "max_position_embeddings", None)
    if reads is not None and tokens > reads:
        raise BadInput(
            f"{name} reads {reads} tokens, [text] asks for {tokens}: lower question_tokens and "
            "article_tokens, or cut articles with chunk_tokens"
        )


@contextmanager
def quiet() -> Iterator[None]:
    """Keep transformers from showing bars, and from reporting on heads that are new on purpose."""
    from transformers.utils import logging

    level = logging.get_verbosity()
    logging.set_verbosity_error()
    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if shown:
            logging.enable_progress_bar()


def make_scratch(
    scratch: Scratch, texts: Iterable[str], folder: Path, *, task: Task = "feature-extraction"
) -> None:
    """Write a small encoder with random weights and its tokenizer, in the format of transformers.

    The tokenizer cuts words into pieces by pairs that are frequent in the texts (BPE; Sennrich et al.
    2016), lower-cased and without accents; Chinese characters are words of their own, as in BERT. What
    generates text is of Qwen3's shape, the others of BERT's.
    """
    import transformers

    tokenizer = train_tokenizer(texts, scratch.vocabulary, scratch.positions)
    shape: dict[str, Any] = {
        "vocab_size": len(tokenizer), "hidden_size": scratch.width, "num_hidden_layers": scratch.layers,
        "num_attention_heads": scratch.heads, "intermediate_size": scratch.feedforward,
        "max_position_embeddings": scratch.positions,
    }  # fmt: skip
    if task == "text-generation":
        config = transformers.Qwen3Config(
            **shape, num_key_value_heads=scratch.heads, head_dim=scratch.width // scratch.heads,
            attention_dropout=scratch.dropout,
            # logits of about 1: the weights stay as drawn, and low-rank matrices alone learn beside them
            initializer_range=scratch.width**-0.5,
        )  # fmt: skip
    else:
        dropped = {"hidden_dropout_prob": scratch.dropout, "attention_probs_dropout_prob": scratch.dropout}
        config = transformers.BertConfig(**shape, **dropped, num_labels=1)
    with quiet():
        getattr(transformers, _FROM_SCRATCH[task])(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def make_article_transformer(encoder: Transformer, settings: ArticleTransformer, chunks: int) -> Transformer:
    """Return a transformer over the chunk vectors of an encoder, with random weights.

    It is of BERT's shape and reads vectors in the place of tokens' (`inputs_embeds`); its position
    embeddings begin as sinusoids (Vaswani et al. 2017) and are learnt. Its tokenizer is the encoder's and
    reads nothing: sentence-transformers wants one.

    Raises:
        BadInput: the encoder's vectors cannot be shared out among the heads.
    """
    import torch
    from safetensors.torch import save_file
    from sentence_transformers.base.modules import Transformer
    from transformers import BertConfig, BertModel

    width, first = int(encoder.get_embedding_dimension()), encoder.model.config
    heads = settings.heads or int(first.num_attention_heads)
    if width % heads:
        raise BadInput(
            f"[model.articles] heads = {heads} do not divide the {width} numbers of the encoder's vectors: "
            "give a divisor of them"
        )
    config = BertConfig(
        vocab_size=1, type_vocab_size=1, hidden_size=width, num_hidden_layers=settings.layers,
        num_attention_heads=heads, intermediate_size=settings.feedforward or int(first.intermediate_size),
        max_position_embeddings=chunks, hidden_dropout_prob=settings.dropout,
        attention_probs_dropout_prob=settings.dropout,
    )  # fmt: skip
    model = BertModel(config, add_pooling_layer=False)
    places = model.embeddings.position_embeddings.weight.data
    places.copy_(torch.from_numpy(sinusoids(chunks, width)))
    with tempfile.TemporaryDirectory() as folder, quiet():
        # the model's own save_pretrained writes nothing in any process but the first
        config.save_pretrained(folder)
        save_file(model.state_dict(), f"{folder}/model.safetensors", metadata={"format": "pt"})
        encoder.tokenizer.save_pretrained(folder)
        return Transformer(folder, max_seq_length=encoder.max_seq_length)


def sinusoids(places: int, width: int) -> Floats:
    """Return (places, width) float32: sines and cosines of a place at falling frequencies, side by side."""
    half = -(-width // 2)
    angles = np.arange(places)[:, None] * 10_000.0 ** (-np.arange(half) / half)
    return np.concatenate([np.sin(angles), np.cos(angles)], axis=1)[:, :width].astype(np.float32)


def train_tokenizer(texts: Iterable[str], vocabulary: int, tokens: int) -> PreTrainedTokenizerFast:
    """Return a tokenizer of at most this vocabulary, for texts of at most so many tokens.

    It is the same for the same texts. The library's WordPiece is not: it numbers the pieces inside words in
    the order of a hash table, which decides ties; and it keeps a thousand characters, too few for Chinese.
    """
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    pad, unknown, begin, end, mask = SPECIAL
    tokenizer = Tokenizer(models.BPE(unk_token=unknown))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trainer = trainers.BpeTrainer(vocab_size=vocabulary, special_tokens=list(SPECIAL), show_progress=False)
    tokenizer.train_from_iterator((sound(text) for text in texts), trainer)
    at = {token: tokenizer.token_to_id(token) for token in (begin, end)}
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{begin} $A {end}", pair=f"{begin} $A {end} $B:1 {end}:1", special_tokens=list(at.items())
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, model_max_length=tokens,
        pad_token=pad, unk_token=unknown, cls_token=begin, sep_token=end, mask_token=mask,
        model_input_names=["input_ids", "token_type_ids", "attention_mask"],  # as BERT's: which of a pair
    )  # fmt: skip


def sound(text: str) -> str:
    """Return the text with lone surrogates, which tokenizers refuse, as question marks."""
    return text.encode("utf-8", "replace").decode("utf-8")
