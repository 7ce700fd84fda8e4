"""`python -m training.export_encoder`: take the static encoder out of an index, with its model card.

What a model learnt from goes on with it. Where a corpus or the questions are non-commercial, may only
be passed on unchanged, or come without a grant, whoever exports the model must say that this is known.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from indexes.cli.terminal import guarded
from indexes.corpus.corpus import appearing
from indexes.store import paths
from indexes.store.manifest import read as read_manifest
from indexes.store.manifest import verify
from rag.errors import BadInput
from training.cards import ModelCard, markdown, model_card

CARD = "modelcard.md"


def export_encoder(
    index: str, to: Path, *, accept: bool = False, metrics: Mapping[str, Any] | None = None
) -> ModelCard:
    """Write the encoder of an index (its name or path) and its model card into a new folder, or nothing.

    To `accept` is to know the licences of what it learnt from, and to keep to them. `metrics` are what a
    metrics.json over the same corpus holds.

    Raises:
        BadInput: a source is restricted and that is not accepted; there is nothing to export; or the
            folder is there already.
        MissingIndex, DamagedIndex, StaleIndex: the index cannot be read.
    """
    folder, cure = paths.locate(index)
    manifest = read_manifest(folder, cure)
    verify(folder, manifest, cure)
    card = model_card(folder, manifest, metrics)
    if card.restricted and not accept:
        terms = "; ".join(f"{s.name}: {s.licence.named}. {s.licence.plain}" for s in card.restricted)
        raise BadInput(
            f"{card.name} learnt from what may not be used freely: {terms} Whoever passes it on must keep to "
            "that. Add --accept-licence to say that you know."
        )
    with appearing(to) as part:
        for name in card.files:
            shutil.copyfile(folder / "encoder" / name, part / name)
        (part / CARD).write_text(markdown(card), encoding="utf-8")
    return card


@guarded
def main(arguments: Sequence[str] | None = None) -> int:
    """Export what is named, and say under which licence it goes."""
    top = argparse.ArgumentParser(prog="python -m training.export_encoder", description=__doc__)
    top.add_argument("index", help="name of an index, builtin, or the path of one")
    top.add_argument("folder", type=Path, help="a new folder")
    top.add_argument(
        "--accept-licence", action="store_true", help="say that you know and keep to the licence of its data"
    )
    top.add_argument("--metrics", type=Path, metavar="FILE", help="metrics.json over the same corpus")
    parsed = top.parse_args(arguments)
    metrics = _read_metrics(parsed.metrics) if parsed.metrics else None
    card = export_encoder(parsed.index, parsed.folder, accept=parsed.accept_licence, metrics=metrics)
    licence = card.licence
    named = licence.named if licence else "none recorded"
    print(f"{card.name}: written to {parsed.folder} with {CARD}; licence inherited: {named}")  # noqa: T201
    return 0


def _read_metrics(path: Path) -> Mapping[str, Any]:
    cure = "Give the metrics.json that python -m training.eval --output wrote"
    try:
        entry = json.loads(path.read_text(encoding="utf-8"))
        found = entry["corpus"]["sha256"], entry["systems"], entry["command"], entry["questions"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BadInput(f"--metrics {path}: {error}. {cure}.") from error
    if not isinstance(found[0], str) or not isinstance(found[1], dict):
        raise BadInput(f"--metrics {path}: of another kind. {cure}.")
    return dict(entry)


if __name__ == "__main__":
    sys.exit(main())
