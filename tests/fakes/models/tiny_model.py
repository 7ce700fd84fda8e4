"""A sentence encoder of two layers with random weights, made in a second, in the usual format."""

from __future__ import annotations

from pathlib import Path

SENTENCES = (
    "le bail est un contrat par lequel le bailleur donne la jouissance d'une chose",
    "le locataire paie le loyer au bailleur chaque mois",
    "les arbres du voisin sont plantés à deux mètres du mur",
    "la dette du conjoint après le mariage et le divorce",
    "query: passage: qui doit payer les travaux de la clôture ?",
)


def make(folder: Path, *, max_tokens: int = 256) -> Path:
    """Write the model into the folder and return it."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))  # noqa: S106 - a token, no password
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.train_from_iterator(
        SENTENCES, trainers.WordPieceTrainer(vocab_size=300, special_tokens=special)
    )
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="[PAD]",  # noqa: S106
        unk_token="[UNK]",  # noqa: S106
        cls_token="[CLS]",  # noqa: S106
        sep_token="[SEP]",  # noqa: S106
        model_max_length=max_tokens,
    )
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(fast), hidden_size=32, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=64, max_position_embeddings=max_tokens + 2,
    )  # fmt: skip
    bare = folder / "bare"
    BertModel(config).save_pretrained(bare)
    fast.save_pretrained(bare)
    transformer = Transformer(str(bare), max_seq_length=max_tokens)
    model = SentenceTransformer(modules=[transformer, Pooling(32, "mean")], device="cpu")
    model.save(str(folder / "tiny"))
    return folder / "tiny"
