"""A late-interaction encoder of a few numbers, in the format of the published French ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.fakes.ranking.benchmark import ARTICLES


def stanford(folder: Path) -> Path:
    """Write a tiny encoder as the published French models are: `linear.weight` beside the transformer's."""
    import torch
    from safetensors.torch import save_file
    from transformers import BertConfig, BertModel

    from training.neural.systems.backbone import train_tokenizer

    folder.mkdir()
    tokenizer = train_tokenizer([f"{a.text}." for a in ARTICLES], 200, 32)
    tokenizer.save_pretrained(folder)
    config = BertConfig(vocab_size=len(tokenizer), hidden_size=16, num_hidden_layers=1, num_attention_heads=2,
                        intermediate_size=16, max_position_embeddings=32)  # fmt: skip
    torch.manual_seed(3)
    model = BertModel(config)
    weights: dict[str, Any] = {f"bert.{name}": value for name, value in model.state_dict().items()}
    weights["linear.weight"] = torch.randn(8, 16)
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    (folder / "config.json").write_text(json.dumps({**config.to_dict(), "architectures": ["HF_ColBERT"]}))
    said = {"query_maxlen": 10, "doc_maxlen": 24, "mask_punctuation": True, "attend_to_mask_tokens": False}
    markers = {"query_token_id": "[unused0]", "doc_token_id": "[unused1]"}
    (folder / "artifact.metadata").write_text(json.dumps({**said, **markers, "dim": 8}))
    return folder
