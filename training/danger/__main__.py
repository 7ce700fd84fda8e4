"""`python -m training.danger`: fit the classifier of danger that stands beside the rules.

Learnt from the cases of `tests/rag/screening/cases/danger` (from none of those that measure; with
`--test-half` from the test half too), from more cases in `cases.jsonl.xz`, and, as situations of nobody,
from ordinary questions: those of the law that ships, and in other languages those of that file. What a
writer wrote is scored by what the others teach; from these scores and the rules is learnt when a class is
raised.
"""

from __future__ import annotations

import argparse
import lzma
import sys
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from indexes.cli.terminal import guarded
from rag.errors import BadInput
from rag.screening.danger import CLASSES, evidence
from rag.screening.danger_classifier import FILE, Classifier
from rag.types import Bools, Floats, Ints
from training.danger import decision, network
from training.danger.cases import FIRST, WRITTEN, Example, examples, is_story, law_that_ships, writers
from training.danger.decision import Judged, decide, packed
from training.danger.models import TrainingSet
from training.danger.network import WordVectors
from training.screening import FOLDER

FOLDS = 3
JUDGED = 36_000  # texts that rules and classifiers read to learn what their scores are worth
CHUNK = 1_000  # texts that a process reads at once


@dataclass(frozen=True, slots=True)
class Fit:
    """What is learnt from all texts, and what is known of some by what other writers teach."""

    arrays: Mapping[str, npt.NDArray[np.generic]]  # of the file of a classifier, all but its decider
    judged: Ints  # (judged,) which examples
    folds: Ints  # (judged,)
    rows: Floats  # (judged, classes, EVIDENCE)
    checksum: int  # of the examples

    @classmethod
    def of(cls, of: Sequence[Example], seed: int, count: int = JUDGED) -> Fit:
        """Fit both models to all texts, and to those outside of each fold of writers."""
        known = WordVectors.of([*(each.text for each in of), *law_that_ships()])
        training_set = TrainingSet.of(of, known, seed)
        _, number = np.unique(np.array(writers(of)), return_inverse=True)
        folds = number % FOLDS
        # the rules were written over the first, of which they know more than of anybody's
        later = np.flatnonzero([writer != FIRST for writer in writers(of)])
        chance = np.random.default_rng(seed)
        drawn = chance.choice(later, min(count, len(later)), replace=False)
        stories = np.flatnonzero(
            [is_story(each) for each in of]
        )  # few among many, and thresholds rest on them
        judged = np.union1d(drawn, stories)
        rows: list[Floats] = []
        order: list[Ints] = []
        with ProcessPoolExecutor(2, initializer=_set_shared, initargs=(training_set,)) as pool:
            fitted = [pool.submit(_arrays, folds != fold) for fold in range(FOLDS)]
            whole = pool.submit(_arrays, np.ones(len(of), np.bool_))
            for fold, each in enumerate(fitted):
                held = judged[folds[judged] == fold]
                chunks = np.array_split(held, max(1, len(held) // CHUNK))
                reading = [pool.submit(_evidence, each.result(), chunk) for chunk in chunks]
                rows += [chunk.result() for chunk in reading]
                order.append(held)
            arrays = whole.result()
        judged = np.concatenate(order)
        return cls(arrays, judged, folds[judged], np.concatenate(rows), _checksum(of))

    def save(self, path: Path) -> None:
        """Write all of it."""
        kept: dict[str, npt.NDArray[np.generic]] = {
            "judged": self.judged,
            "folds": self.folds,
            "evidence": self.rows,
            "checksum": np.array(self.checksum),
        }
        with path.open("wb") as file:  # by its name numpy would add a suffix
            np.savez(file, allow_pickle=False, **self.arrays, **kept)

    @classmethod
    def read(cls, path: Path, of: Sequence[Example]) -> Fit:
        """Read what `save` wrote.

        Raises:
            BadInput: it is no such file, or of other examples.
        """
        try:
            with np.load(path) as data:
                arrays = dict(data)
            kept = arrays.pop("judged"), arrays.pop("folds"), arrays.pop("evidence")
            checksum = int(arrays.pop("checksum"))
        except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
            raise BadInput(
                f"{path}: {error!r}; expected what --fitted wrote. Remove it to fit anew."
            ) from error
        if checksum != _checksum(of):
            raise BadInput(f"{path} is of other texts than the {len(of)} here. Remove it to fit anew.")
        return cls(arrays, *kept, checksum)


def _checksum(examples: Sequence[Example]) -> int:
    return zlib.crc32(repr(examples).encode())


_shared: list[TrainingSet] = []  # of a process of the pool: passed once, not with each call


def _set_shared(training_set: TrainingSet) -> None:
    import torch

    torch.set_num_threads(1)  # two processes have a core each
    _shared[:] = [training_set]


def _arrays(learnt: Bools) -> dict[str, npt.NDArray[np.generic]]:
    return _shared[0].arrays(np.flatnonzero(learnt))


def _evidence(arrays: Mapping[str, npt.NDArray[np.generic]], texts: Ints) -> Floats:
    """Return what the rules and a classifier, as its file holds it, tell of some texts."""
    by = Classifier.read(arrays)
    return np.stack([evidence(_shared[0].texts[at], by)[0].rows() for at in texts.tolist()])


def _print(of: Sequence[Example], judged: Judged, odds: Floats, raises: float, hints: float) -> None:
    """Print what the thresholds give of writers left out."""
    french = np.array([each.language == "fr" for each in of])
    for language, spoken in (("French", french), ("others", ~french)):
        for at, name in enumerate(CLASSES):
            own = judged.is_counted & spoken & (judged.own == at)
            shares = [
                f"{(odds[kind, at] >= least).mean():.0%}" if kind.any() else "none"
                for least in (raises, hints)
                for kind in (own & judged.is_case, own & ~judged.is_case)
            ]
            raised, false, named, shown = shares
            sys.stdout.write(
                f"{language} {name:12} of writers left out found {raised}, false {false}; "
                f"or named {named}, false {shown}\n"
            )


def _write(path: Path, arrays: Mapping[str, npt.NDArray[np.generic]]) -> None:
    """Write arrays as `np.load` reads them, with LZMA: a twelfth smaller than `np.savez_compressed`.

    Rows or columns one after another, whichever packs smaller.
    """
    with zipfile.ZipFile(path, "w", zipfile.ZIP_LZMA) as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w") as file:
                orders = (array, np.asfortranarray(array)) if array.ndim == 2 else (array,)
                smallest = min(orders, key=lambda each: len(lzma.compress(each.tobytes("A"))))
                np.lib.format.write_array(file, smallest, allow_pickle=False)


@guarded
def main(arguments: Sequence[str] | None = None) -> int:
    """Fit, print what the thresholds give on texts of writers left out, and write the classifier."""
    parser = argparse.ArgumentParser(prog="python -m training.danger", description=__doc__)
    parser.add_argument("--cases", type=Path, default=FOLDER, help="folder of the cases, a file a class")
    parser.add_argument("--written", type=Path, default=WRITTEN, help="more cases, JSON Lines packed with xz")
    parser.add_argument(
        "--test-half",
        action="store_true",
        help="learn from the test half of the cases too, as what ships does",
    )
    parser.add_argument("--seed", type=int, default=42)
    parser.add_argument(
        "--output", type=Path, default=FILE, help="the classifier; default: the one that ships"
    )
    parser.add_argument(
        "--fitted",
        type=Path,
        help="keep here what was fitted and scored; where it is, what is decided alone is learnt anew",
    )
    parser.add_argument(
        "--raises", type=float, help="log odds from which a class is raised; default: by shares"
    )
    parser.add_argument("--hints", type=float, help="log odds from which one is named; default: by shares")
    parsed = parser.parse_args(arguments)
    try:
        halves = ("dev", "test") if parsed.test_half else ("dev",)
        of = examples(parsed.cases, parsed.written, parsed.seed, halves)
    except BadInput as error:
        sys.stderr.write(f"ERROR {error}\n")
        return 2
    if parsed.fitted is not None and parsed.fitted.exists():
        fitted = Fit.read(parsed.fitted, of)
    else:
        network.require()
        decision.require()
        fitted = Fit.of(of, parsed.seed)
        if parsed.fitted is not None:
            fitted.save(parsed.fitted)
    read = [of[at] for at in fitted.judged.tolist()]
    judged = Judged.of(read, fitted.rows)
    by, odds = decide(judged, fitted.folds, parsed.seed)
    by = replace(
        by,
        raises=by.raises if parsed.raises is None else parsed.raises,
        hints=by.hints if parsed.hints is None else parsed.hints,
    )
    _print(read, judged, odds, by.raises, by.hints)
    _write(parsed.output, {**fitted.arrays, **packed(by)})
    return 0


if __name__ == "__main__":
    sys.exit(main())
