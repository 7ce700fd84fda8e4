"""The folds that a file of splits gives for the questions that it was made of."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

from indexes.corpus.corpus import HELD_OUT
from rag.errors import BadInput
from rag.types import Question
from training.splits.file import AGAIN, Split, identity, read_split
from training.splits.folds import Fold, folds


def asked_folds(
    questions: Sequence[Question], splits: Path | None, k: int, seed: int, only: str | None = None
) -> list[Fold]:
    """Return the folds whose questions are asked in turn.

    Of a fixed split only one part is asked: its test part, unless another is named.

    Args:
        questions: all of them.
        splits: a file of splits; None makes k plain folds with the seed.
        k: number of plain folds.
        seed: of plain folds.
        only: the name of one fold; None asks all.

    Raises:
        BadInput: the folds cannot be made, the file is unfit or was made of other questions, or there
            is no such fold to ask.
    """
    if splits is None:
        made = folds(len(questions), k, seed)
        if only is None:
            return made
        if only not in map(str, range(len(made))):
            raise BadInput(f"--only-fold {only}: there are folds 0 to {len(made) - 1}")
        return [made[int(only)]]
    split = read_split(splits)
    parts = parts_of(split, questions, splits)
    if only is None and split.kind != "fixed":
        return list(parts.values())
    name = "test" if only is None else only
    if name not in parts:
        there = ", ".join(parts) or "none: nothing in it is held back"
        raise BadInput(f"{splits}: no fold {name} to ask. Give --only-fold one of: {there}.")
    return [parts[name]]


def parts_of(split: Split, questions: Sequence[Question], where: Path | str) -> dict[str, Fold]:
    """Return, by the name of a fold that is held back, the positions held and those to learn from.

    Folds come in the order of the file; of a fixed split only the parts that nothing may learn from
    are held back.

    Args:
        split: the parts.
        questions: those that they are parts of, in their order.
        where: the file, for the error.

    Raises:
        BadInput: they are other questions.
    """
    position = {question.id: i for i, question in enumerate(questions)}
    there = {id_ for ids in split.folds.values() for id_ in ids}
    missing = sorted(there - position.keys())
    if missing:
        some = ", ".join(repr(id_) for id_ in missing[:3]) + (", ..." if len(missing) > 3 else "")
        raise BadInput(
            f"{where} names {len(missing)} questions that are not among the {len(position)} given ({some}). "
            f"{AGAIN}."
        )
    found = identity(questions)
    if found != split.questions_sha256:
        more = len(position) - len(there)
        what = f"{more} more questions came" if more else "their texts, gold articles or order differ"
        raise BadInput(
            f"{where} was made of other questions (sha256 {split.questions_sha256[:12]}…, these are "
            f"{found[:12]}…: {what}). {AGAIN}."
        )
    learnt = {name for name in split.folds if split.kind != "fixed" or name not in HELD_OUT}
    made = {}
    for name, ids in split.folds.items():
        if split.kind == "fixed" and name not in HELD_OUT:
            continue
        others = (position[id_] for other in learnt - {name} for id_ in split.folds[other])
        made[name] = Fold(tuple(sorted(position[id_] for id_ in ids)), tuple(sorted(others)))
    return made


def about(splits: Path | None) -> dict[str, object]:
    """Return what a result file says of the file it was measured with; nothing where there was none."""
    if splits is None:
        return {}
    split = read_split(splits)
    found = {"kind": split.kind, "k": len(split.folds), "seed": split.seed, "grouping": dict(split.grouping)}
    digest = hashlib.sha256(splits.read_bytes()).hexdigest()
    return {"splits": {**{key: value for key, value in found.items() if value is not None}, "sha256": digest}}
