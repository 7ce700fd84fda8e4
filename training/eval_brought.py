"""Systems that `training.eval` brings along: options of the command line, and what they make."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import get_args

from rag.encoders.transformer import Pooling
from rag.types import Question
from training.extra import Extras
from training.zero_shot import zero_shot


def add_options(top: argparse.ArgumentParser) -> None:
    """Add the options of zero-shot systems."""
    group = top.add_argument_group("zero-shot systems (docs/zero-shot.md)")
    group.add_argument(
        "--vectors",
        type=Path,
        nargs="+",
        default=[],
        metavar="FILE",
        help="measure vectors:NAME, means of word vectors: word2vec, fastText or GloVe, also .gz",
    )
    group.add_argument(
        "--encoder",
        nargs="+",
        default=[],
        metavar="MODEL",
        help="measure encoder:NAME, a pretrained model: a name of hub.toml, a hub id or a folder",
    )
    group.add_argument("--pooling", choices=get_args(Pooling), help="of --encoder, instead of its own")
    group.add_argument(
        "--remote-code", action="store_true", help="run the code that comes with a model of --encoder"
    )
    group.add_argument("--device", help="of models: cpu, cuda, … (the best there is)")


def brought(
    parsed: argparse.Namespace, questions: Sequence[Question], say: Callable[[str], object]
) -> Extras:
    """Return the systems that the options name.

    Args:
        parsed: what was typed.
        questions: that will be asked.
        say: told what a person should know.

    Raises:
        BadInput: a file or a model that cannot be used.
    """
    return zero_shot(
        parsed.vectors,
        parsed.encoder,
        [q.text for q in questions],
        pooling=parsed.pooling,
        remote_code=parsed.remote_code,
        device=parsed.device,
        say=say,
    )
