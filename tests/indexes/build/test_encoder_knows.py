"""What an encoder knows of law is told by what was written when it was made, never by its name."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from indexes.build.encoder_choice import trained_on
from indexes.sources import mmarco
from indexes.store.open_index import encoder_training
from rag.corpus.licence import provenance
from rag.engine.engine import EncoderTraining

LAW = [{"name": "village", "licence": "CC0"}]


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        (None, "unknown"),
        ({"kind": "static", "name": "x"}, "fitted"),
        ({"kind": "transformer", "name": "static-fr-256"}, "unknown"),
        ({"kind": "transformer", "name": "model", "learnt_from": LAW}, "trained"),
        ({"kind": "transformer", "name": "model", "learnt_from": [provenance(mmarco.CARD)]}, "unknown"),
        ({"kind": "transformer", "name": "model", "learnt_from": [provenance(mmarco.CARD), *LAW]}, "trained"),
    ],
)
def test_what_an_encoder_knows_is_in_the_manifest(
    entry: dict[str, object] | None, told: EncoderTraining
) -> None:
    assert encoder_training(entry) == told


def test_a_model_trained_here_brings_what_it_learnt_from(tmp_path: Path) -> None:
    model = tmp_path / "out" / "model"
    model.mkdir(parents=True)
    beside = model.with_name("manifest.json")
    assert trained_on(model) == []  # a model of somebody else
    beside.write_text(json.dumps({"learnt_from": LAW}), encoding="utf-8")
    assert trained_on(model) == LAW
    for odd in ("no json", "[]", '{"learnt_from": "law"}', '{"learnt_from": ["law"]}'):
        beside.write_text(odd, encoding="utf-8")
        assert trained_on(model) == []
    beside.write_text(json.dumps({"learnt_from": LAW}), encoding="utf-8")
    assert trained_on(tmp_path / "acme" / "law") == []  # an id on the hub is no folder here
