"""Who learns from what: folds of questions, and `python -m training.splits`, which writes them to a file."""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from rag.errors import BadInput, PandectError

_T = TypeVar("_T")

EPILOG = """\
examples
  five folds, the ones that `python -m training.eval --folds 5` makes:
    python -m training.splits law --folds 5 --output five.splits.jsonl
  the same, questions that are nearly the same kept together:
    python -m training.splits law --folds 5 --grouped --output grouped.splits.jsonl
  questions that share a gold article kept together too:
    python -m training.splits law --folds 5 --grouped --group-by articles --output strict.splits.jsonl
  the parts that the data set came with (train, test, ...):
    python -m training.splits law --fixed --output published.splits.jsonl
  measure with them:
    python -m training.eval --corpus law --splits five.splits.jsonl
"""


@dataclass(frozen=True, slots=True)
class Fold:
    """Positions of the questions that are held back, and of those that may be learnt from."""

    held: tuple[int, ...]
    learn: tuple[int, ...]


def folds(n: int, k: int, seed: int) -> list[Fold]:
    """Split n questions into k folds.

    The questions are put into the order of `numpy.random.default_rng(seed).permutation(n)`; the one
    at place i of that order is in fold i mod k. Positions inside a fold are in ascending order.

    Args:
        n: number of questions.
        k: number of folds, 2 or more, at most n.
        seed: of the permutation.

    Raises:
        BadInput: k folds of n questions cannot be made.
    """
    if not 2 <= k <= n:
        raise BadInput(f"{k} folds of {n} questions: give at least 2 folds and at most one a question")
    number = np.empty(n, dtype=np.int64)
    number[np.random.default_rng(seed).permutation(n)] = np.arange(n) % k
    return _numbered(number, k)


def grouped_folds(groups: Sequence[int], k: int, seed: int) -> list[Fold]:
    """Split questions into k folds so that no group straddles two of them.

    Groups are taken in a random order of this seed, large ones first (a stable sort), and each goes
    to the fold that is smallest then, of equal ones to the first. So two folds never differ by more
    questions than the largest group has.

    Args:
        groups: the group of each question, any whole numbers.
        k: number of folds, 2 or more, at most one a group.
        seed: of the order.

    Raises:
        BadInput: k folds of these groups cannot be made.
    """
    members: dict[int, list[int]] = {}
    for position, group in enumerate(groups):
        members.setdefault(group, []).append(position)
    if not 2 <= k <= len(members):
        raise BadInput(
            f"{k} folds of {len(members)} groups of questions: give at least 2 folds and at most one a group"
        )
    each = list(members.values())
    order = sorted(np.random.default_rng(seed).permutation(len(each)).tolist(), key=lambda g: -len(each[g]))
    sizes = [0] * k
    number = np.empty(len(groups), dtype=np.int64)
    for group in order:
        smallest = sizes.index(min(sizes))
        number[each[group]] = smallest
        sizes[smallest] += len(each[group])
    return _numbered(number, k)


def pick(items: Sequence[_T], positions: Sequence[int]) -> list[_T]:
    """Return the items at these positions."""
    return [items[i] for i in positions]


def _numbered(number: npt.NDArray[np.int64], k: int) -> list[Fold]:
    everyone = range(len(number))
    return [
        Fold(
            tuple(i for i in everyone if number[i] == fold),
            tuple(i for i in everyone if number[i] != fold),
        )
        for fold in range(k)
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Make the folds that were asked for, write them, and say what they are."""
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    parsed = parser().parse_args(arguments)
    try:
        for line in _run(parsed):
            print(line)  # noqa: T201
    except PandectError as error:
        print(f"error: {error}", file=sys.stderr)  # noqa: T201
        return 2
    return 0


def parser() -> argparse.ArgumentParser:
    """Return the command line's grammar."""
    from training.splits.near_duplicates import THRESHOLD

    top = argparse.ArgumentParser(
        prog="python -m training.splits",
        description="Write which questions are held back together, to a file that training.eval reads.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("corpus", type=Path, help="a corpus folder or its articles' file")
    top.add_argument("--questions", type=Path, help="the questions to split (those of the corpus)")
    top.add_argument(
        "--language", metavar="XX", help="of a corpus without card.json: fr, nl, en, de, it or zh"
    )
    how = top.add_mutually_exclusive_group(required=True)
    how.add_argument("--folds", type=int, metavar="K", help="k folds, each held back once")
    how.add_argument("--fixed", action="store_true", help="by the questions' own field split")
    top.add_argument("--seed", type=int, default=42, help="of the folds (42)")
    top.add_argument(
        "--grouped", action="store_true", help="keep the same and nearly the same questions in one fold"
    )
    top.add_argument(
        "--threshold",
        type=float,
        metavar="J",
        help=f"with --grouped: the Jaccard index of terms from which two are nearly the same ({THRESHOLD})",
    )
    top.add_argument(
        "--group-by",
        action="append",
        default=[],
        metavar="FIELD",
        help="keep together what agrees in it: articles (one gold article in common is enough), "
        "category, or an extra column of the questions; may be repeated",
    )
    top.add_argument("--output", type=Path, required=True, metavar="FILE", help="a new file")
    return top


def _run(parsed: argparse.Namespace) -> list[str]:
    from training.splits.__main__ import made
    from training.splits.file import write_split

    if parsed.output.exists():
        raise BadInput(f"{parsed.output} is there already: remove it or give another --output")
    split, said = made(parsed)
    write_split(parsed.output, split)
    return [*said, f"written: {parsed.output}"]


if __name__ == "__main__":
    sys.exit(main())
