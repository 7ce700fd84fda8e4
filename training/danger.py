"""`python -m training.danger`: fit the classifier of danger that stands beside the rules.

Learnt from the cases of `tests/rag/screening/cases/danger` (but not the half "unseen"), from more cases in
`danger_cases.jsonl.gz`, and, as situations of nobody, from ordinary questions of the law that ships. What a
writer wrote is scored by what the others teach, and the thresholds are set on these scores.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize
from scipy.sparse import csr_matrix

import indexes
from indexes.cli.terminal import guarded
from rag.errors import BadInput
from rag.screening.danger import CLASSES, rule_classes
from rag.screening.danger_classifier import FILE, ngrams
from rag.types import Bools, Floats
from training.screening import FOLDER, read_cases

WRITTEN = Path(__file__).with_name("danger_cases.jsonl.gz")
BUCKETS = 2**15
COST = 10.0  # of an error, beside the squared weights
STEPS = 60
ORDINARY = 3000  # questions
ALARMS, ORDINARY_ALARMS = 0.03, 0.003  # more than the rules raise: of near misses, of ordinary questions
RAISES = np.arange(0.0, 4.01, 0.25)  # thresholds that are tried


@dataclass(frozen=True, slots=True)
class Example:
    """A text, the class of its file, whether it is a situation of that class, and who wrote it."""

    text: str
    danger: str  # "" for an ordinary question
    is_case: bool
    writer: str
    language: str = "fr"


def examples(folder: Path, written: Path, seed: int) -> list[Example]:
    """Read the cases, and draw ordinary questions, shared out among the writers.

    Raises:
        BadInput: a file of cases is not there, or no such file.
    """
    found = [
        Example(case.text, case.danger, case.is_case, "first", case.language)
        for case in read_cases(folder)
        if case.half != "unseen"
    ]
    try:
        with gzip.open(written, "rt", encoding="utf-8") as lines:
            more = [json.loads(line) for line in lines]
        found += [
            Example(e["text"], e["class"], e["danger"] is not None, e["writer"], e["language"]) for e in more
        ]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BadInput(
            f"{written}: {error!r}; expected gzipped JSON Lines of cases, as the one here"
        ) from error
    writers = sorted({each.writer for each in found})
    questions = sorted({q.text for of in indexes.open().explainer.cited.values() for q in of})
    drawn = random.Random(seed).sample(questions, min(ORDINARY, len(questions)))  # noqa: S311
    law = [Example(text, "", is_case=False, writer=writers[n % len(writers)]) for n, text in enumerate(drawn)]
    return found + law


def matrix(texts: Sequence[str], idf: Floats | None = None) -> tuple[csr_matrix, Floats]:
    """Return weighed n-grams, one row of length 1 a text, and the inverse document frequencies."""
    rows = [ngrams(text, BUCKETS) for text in texts]
    ends = np.cumsum([0, *(len(ids) for ids, _ in rows)])
    ids = np.concatenate([ids for ids, _ in rows])
    values = 1 + np.log(np.concatenate([counts for _, counts in rows]))
    if idf is None:
        idf = (np.log((1 + len(texts)) / (1 + np.bincount(ids, minlength=BUCKETS))) + 1).astype(np.float16)
        idf = idf.astype(np.float32)
    values = values * idf[ids]
    lengths = np.sqrt(np.add.reduceat(values**2, ends[:-1]))
    values /= np.repeat(np.maximum(lengths, 1e-9), np.diff(ends))
    return csr_matrix((values.astype(np.float32), ids, ends), (len(texts), BUCKETS)), idf


def fit(rows: csr_matrix, labels: Bools) -> tuple[Floats, Floats]:
    """Return weights (buckets, classes) and bias (classes,), both labels of a class weighing the same."""
    count, classes = labels.shape
    positive = labels.sum(0)
    balance = np.where(labels, count / (2 * np.maximum(positive, 1)), count / (2 * (count - positive)))
    sign, transposed = np.where(labels, 1.0, -1.0), rows.T.tocsr()

    def loss(flat: npt.NDArray[np.float64]) -> tuple[float, npt.NDArray[np.float64]]:
        whole = flat.reshape(-1, classes)
        weights, bias = whole[:-1], whole[-1]
        margin = sign * (rows @ weights + bias)
        slope = -sign * balance / (1 + np.exp(np.clip(margin, -50, 50)))
        value = COST * (balance * np.logaddexp(0, -margin)).sum() + 0.5 * (weights * weights).sum()
        return value, np.vstack([COST * (transposed @ slope) + weights, COST * slope.sum(0)]).ravel()

    start: npt.NDArray[np.float64] = np.zeros((BUCKETS + 1) * classes)
    found = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": STEPS, "maxcor": 6})
    whole = found.x.reshape(-1, classes).astype(np.float32)
    return whole[:-1], whole[-1]


def cross_validate(rows: csr_matrix, labels: Bools, writers: Sequence[str]) -> Floats:
    """Return the scores of each text by what the texts of other writers teach."""
    scores = np.zeros(labels.shape, np.float32)
    names = np.array(writers)
    folds = [names == name for name in sorted(set(writers))]
    with ProcessPoolExecutor(2) as pool:
        fitted = pool.map(fit, (rows[~held] for held in folds), (labels[~held] for held in folds))
        for held, (weights, bias) in zip(folds, fitted, strict=True):
            scores[held] = rows[held] @ weights + bias
    return scores


@dataclass(frozen=True, slots=True)
class Threshold:
    """From which score a class is raised, and what came of it: recall and alarms, the mean over writers."""

    raises: float
    with_rules: tuple[float, float]
    rules_alone: tuple[float, float]


def threshold(of: Sequence[Example], danger: str, scores: Floats, ruled: Bools) -> Threshold:
    """Return the lowest score of one class above which few near misses and ordinary questions lie.

    French alone is looked at, and not the first writer's cases: the rules were written over them.
    """
    law = np.array([not each.danger for each in of])
    french = np.array([each.danger == danger and each.language == "fr" for each in of])
    case, writer = np.array([each.is_case for each in of]), np.array([each.writer for each in of])
    names = sorted({*writer[french]} - {"first"})

    def rates(told: Bools) -> tuple[float, float]:
        recall, alarms = (
            float(
                np.mean(
                    [told[part].mean() for name in names if (part := french & kind & (writer == name)).any()]
                )
            )
            for kind in (case, ~case)
        )
        return recall, alarms

    for raises in RAISES:
        more = (scores >= raises) & ~ruled
        if rates(more)[1] <= ALARMS and more[law].mean() <= ORDINARY_ALARMS:
            break
    return Threshold(float(raises), rates(more | ruled), rates(ruled))


@guarded
def main(arguments: Sequence[str] | None = None) -> int:
    """Fit, print what the thresholds give on texts of writers left out, and write the classifier."""
    parser = argparse.ArgumentParser(prog="python -m training.danger", description=__doc__)
    parser.add_argument("--cases", type=Path, default=FOLDER, help="folder of the cases, a file a class")
    parser.add_argument("--written", type=Path, default=WRITTEN, help="more cases, gzipped JSON Lines")
    parser.add_argument("--seed", type=int, default=42)
    parser.add_argument(
        "--output", type=Path, default=FILE, help="the classifier; default: the one that ships"
    )
    parsed = parser.parse_args(arguments)
    try:
        of = examples(parsed.cases, parsed.written, parsed.seed)
    except BadInput as error:
        sys.stderr.write(f"ERROR {error}\n")
        return 2
    rows, idf = matrix([each.text for each in of])
    labels = np.array([[each.danger == name and each.is_case for name in CLASSES] for each in of])
    scores = cross_validate(rows, labels, [each.writer for each in of])
    ruled = [rule_classes(each.text) for each in of]
    found = [
        threshold(of, name, scores[:, at], np.array([bool(told.get(name)) for told in ruled]))
        for at, name in enumerate(CLASSES)
    ]
    for name, each in zip(CLASSES, found, strict=True):
        told = "found {:.0%}, false {:.0%}"
        now, before = told.format(*each.with_rules), told.format(*each.rules_alone)
        sys.stdout.write(
            f"{name:12} {now} of writers left out (rules alone {before}), from {each.raises:+.2f}\n"
        )
    weights, bias = fit(rows, labels)
    scale = np.abs(weights).max(0) / 127
    np.savez_compressed(
        parsed.output,
        names=np.array(CLASSES),
        scale=scale,
        weights=np.round(weights / scale).astype(np.int8),
        bias=bias,
        idf=idf.astype(np.float16),
        raises=np.array([each.raises for each in found], np.float32),
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
