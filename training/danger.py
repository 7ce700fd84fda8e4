"""`python -m training.danger`: fit the classifier of danger that stands beside the rules.

Learnt from the cases of `tests/rag/screening/cases/danger` (but not the half "unseen"), from more cases in
`danger_cases.jsonl.xz`, and, as situations of nobody, from ordinary questions: those of the law that ships,
and in other languages those of that file. What a writer wrote is scored by what the others teach, and the
thresholds are set on these scores.
"""

from __future__ import annotations

import argparse
import json
import lzma
import random
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize
from scipy.sparse import csr_matrix

import indexes
from indexes.cli.terminal import guarded
from rag.engine.engine import Engine
from rag.errors import BadInput
from rag.screening.danger import CLASSES, LIMITS, rule_classes
from rag.screening.danger_classifier import BUCKETS, FILE, ngrams
from rag.types import Bools, Floats, Ints
from training.danger_network import SHARE, Vocabulary, WordVectors, fit_network, packed
from training.screening import FOLDER, read_cases

WRITTEN = Path(__file__).with_name("danger_cases.jsonl.xz")
FEWEST = 12  # texts that an n-gram must be in
FOLDS = 5
OTHERS = 0.02  # weight of a situation where another class is learnt: people in one danger are often in two
COST = 10.0  # of an error, beside the squared weights
STEPS = 60
ORDINARY = 12_000  # questions
ALARMS, ORDINARY_ALARMS = 0.03, 0.003  # more than the rules raise: of near misses, of ordinary questions
HINTS, ORDINARY_HINTS = 0.20, 0.005  # the same for classes that are named
TRIED = np.arange(-4.0, 6.01, 0.25)  # thresholds
LEAST = 0.5  # for an alarm: a class must be likelier than not


@dataclass(frozen=True, slots=True)
class Example:
    """A text, the class of its file, whether it is a situation of that class, and who wrote it."""

    text: str
    danger: str  # "" of an ordinary question
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
        with lzma.open(written, "rt", encoding="utf-8") as lines:
            more = [json.loads(line) for line in lines]
        found += [
            Example(e["text"], e["class"], e["danger"] is not None, e["writer"], e["language"]) for e in more
        ]
    except (OSError, EOFError, lzma.LZMAError, ValueError, KeyError, TypeError) as error:
        raise BadInput(
            f"{written}: {error!r}; expected JSON Lines of cases, packed with xz, as the one here"
        ) from error
    writers = sorted({each.writer for each in found})
    questions = _questions(indexes.open())
    drawn = random.Random(seed).sample(questions, min(ORDINARY, len(questions)))  # noqa: S311
    drawn = [text for text in drawn if not any(rule_classes(text).values())]  # some are of danger
    law = [Example(text, "", is_case=False, writer=writers[n % len(writers)]) for n, text in enumerate(drawn)]
    return found + law


def _questions(engine: Engine) -> list[str]:
    return sorted({q.text for of in engine.explainer.cited.values() for q in of})


def law_that_ships() -> list[str]:
    """Return its summaries and all its questions, that tell which words stand near which."""
    engine = indexes.open()
    return [*_questions(engine), *(article.text for article in engine.articles.values())]


@dataclass(frozen=True, slots=True)
class Grams:
    """The n-grams of some texts, one row of length 1 a text, and what weighs them."""

    rows: csr_matrix  # (texts, known) float32
    buckets: Ints  # (known,)
    idf: Floats  # (known,) inverse document frequencies, rounded as in the file


def weigh(texts: Sequence[str]) -> Grams:
    """Count the n-grams of texts that are in a few of them at least."""
    rows = [ngrams(text) for text in texts]
    ids = np.concatenate([ids for ids, _ in rows])
    counts = np.concatenate([counts for _, counts in rows])
    row = np.repeat(np.arange(len(rows)), [len(ids) for ids, _ in rows])
    texts_with = np.bincount(ids, minlength=BUCKETS)
    buckets = np.flatnonzero(texts_with >= FEWEST)
    idf = (np.log((1 + len(texts)) / (1 + texts_with[buckets])) + 1).astype(np.float16).astype(np.float32)
    known = texts_with[ids] >= FEWEST
    row, column = row[known], np.searchsorted(buckets, ids[known])
    values = (1 + np.log(counts[known])) * idf[column]
    values /= np.sqrt(np.maximum(np.bincount(row, values**2, len(rows)), 1e-9))[row]
    return Grams(
        csr_matrix((values.astype(np.float32), (row, column)), (len(rows), len(buckets))), buckets, idf
    )


def balanced(labels: Bools) -> Floats:
    """Return what an error costs, (texts, classes): both labels of a class weigh the same."""
    weight = np.where(labels.any(1, keepdims=True) & ~labels, OTHERS, 1.0)
    positive, all_ = labels.sum(0), weight.sum(0)
    each = np.where(labels, all_ / (2 * np.maximum(positive, 1)), all_ / (2 * (all_ - positive)))
    costs: Floats = (weight * each).astype(np.float32)
    return costs


def fit(rows: csr_matrix, labels: Bools) -> tuple[Floats, Floats]:
    """Return weights (n-grams, classes) and bias (classes,)."""
    classes, sign = labels.shape[1], np.where(labels, 1.0, -1.0).astype(np.float32)
    balance, transposed = balanced(labels), rows.T.tocsr()

    def loss(flat: npt.NDArray[np.float64]) -> tuple[float, npt.NDArray[np.float64]]:
        whole = flat.reshape(-1, classes).astype(np.float32)  # half of the time
        weights, bias = whole[:-1], whole[-1]
        margin = sign * (rows @ weights + bias)
        slope = -sign * balance / (1 + np.exp(np.clip(margin, -50, 50)))
        value = COST * (balance * np.logaddexp(0, -margin)).sum(dtype=np.float64)
        value += 0.5 * np.square(weights, dtype=np.float64).sum()
        slopes = np.vstack([COST * (transposed @ slope) + weights, COST * slope.sum(0)])
        return float(value), slopes.ravel().astype(np.float64)

    start: npt.NDArray[np.float64] = np.zeros((rows.shape[1] + 1) * classes)
    found = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": STEPS, "maxcor": 6})
    whole = found.x.reshape(-1, classes).astype(np.float32)
    return whole[:-1], whole[-1]


def cross_validate(
    rows: csr_matrix, read: Sequence[Ints], vectors: Floats, labels: Bools, writers: Sequence[str], seed: int
) -> Floats:
    """Return the scores of each text, (2, texts, classes), by what the texts of other writers teach.

    First those of the n-grams alone, then those with the network's, as the thresholds of a `Classifier`.
    """
    scores = np.zeros((2, *labels.shape), np.float32)
    _, number = np.unique(np.array(writers), return_inverse=True)
    with ProcessPoolExecutor(2) as pool:
        told = []
        for fold in range(FOLDS):
            learnt = np.flatnonzero(number % FOLDS != fold).tolist()
            linear = pool.submit(fit, rows[learnt], labels[learnt])
            texts, costs = [read[at] for at in learnt], balanced(labels[learnt])
            told.append((linear, pool.submit(fit_network, texts, labels[learnt], costs, vectors, seed)))
        for fold, (linear, network) in enumerate(told):
            held = np.flatnonzero(number % FOLDS == fold).tolist()
            weights, bias = linear.result()
            scores[0, held] = rows[held] @ weights + bias
            scores[1, held] = (1 - SHARE) * scores[0, held]
            scores[1, held] += SHARE * network.result().scores([read[at] for at in held])
    return scores


@dataclass(frozen=True, slots=True)
class Threshold:
    """From which scores a class is raised and named, and what came of it, means over writers."""

    raises: float
    hints: float  # a lower score, from which it is named
    with_rules: tuple[float, float]
    with_hints: tuple[float, float]  # raised or named
    rules_alone: tuple[float, float]


def threshold(of: Sequence[Example], danger: str, scores: Floats, ruled: Bools, *, french: bool) -> Threshold:
    """Return from which scores a class is raised and named: above most near misses and ordinary questions.

    French alone is looked at, or all other languages, and not the first writer's cases: the rules were
    written over them.
    """
    spoken = np.array([(each.language == "fr") == french for each in of])
    law = np.array([not each.danger for each in of]) & spoken
    own = np.array([each.danger == danger for each in of]) & spoken
    case, writer = np.array([each.is_case for each in of]), np.array([each.writer for each in of])
    names = sorted({*writer[own]} - {"first"})

    def rates(told: Bools) -> tuple[float, float]:
        recall, alarms = (
            float(
                np.mean(
                    [told[part].mean() for name in names if (part := own & kind & (writer == name)).any()]
                )
            )
            for kind in (case, ~case)
        )
        return recall, alarms

    def lowest(alarms: float, ordinary: float) -> float:
        for score in TRIED:
            more = (scores >= score) & ~ruled
            if rates(more)[1] <= alarms and (not law.any() or more[law].mean() <= ordinary):
                break
        return float(score)

    raises = max(LEAST, lowest(ALARMS, ORDINARY_ALARMS))
    hints = raises if danger in LIMITS else min(raises, lowest(HINTS, ORDINARY_HINTS))
    return Threshold(
        raises, hints, rates((scores >= raises) | ruled), rates((scores >= hints) | ruled), rates(ruled)
    )


def choose(
    of: Sequence[Example], scores: Floats, ruled: Sequence[Mapping[str, bool]]
) -> tuple[Floats, list[list[Threshold]]]:
    """Return the network's share, (2, classes), and the thresholds of other languages and of French.

    `scores` are those of `cross_validate`, `ruled` what the rules say of each text. A class has the network
    where more is found with it.
    """
    share = np.zeros((2, len(CLASSES)), np.float32)
    chosen: list[list[Threshold]] = [[], []]
    for french, of_language in enumerate(chosen):
        for at, name in enumerate(CLASSES):
            raised = np.array([bool(told.get(name)) for told in ruled])
            alone, mixed = (threshold(of, name, s[:, at], raised, french=bool(french)) for s in scores)
            if mixed.with_rules[0] > alone.with_rules[0]:
                share[french, at] = SHARE
            of_language.append(mixed if share[french, at] else alone)
            language = "French" if french else "others"
            sys.stdout.write(f"{language} {name:12} {_line(of_language[-1], alone)}\n")
    return share, chosen


def _line(chosen: Threshold, alone: Threshold) -> str:
    now, named, former, before = (
        f"found {found:.0%}, false {false:.0%}"
        for found, false in (chosen.with_rules, chosen.with_hints, alone.with_rules, chosen.rules_alone)
    )
    return (
        f"{now} of writers left out, from {chosen.raises:+.2f}; or named {named}, from {chosen.hints:+.2f}; "
        f"without the network {former}; rules alone {before}"
    )


@guarded
def main(arguments: Sequence[str] | None = None) -> int:
    """Fit, print what the thresholds give on texts of writers left out, and write the classifier."""
    parser = argparse.ArgumentParser(prog="python -m training.danger", description=__doc__)
    parser.add_argument("--cases", type=Path, default=FOLDER, help="folder of the cases, a file a class")
    parser.add_argument("--written", type=Path, default=WRITTEN, help="more cases, JSON Lines packed with xz")
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
    texts = [each.text for each in of]
    grams, vocabulary = weigh(texts), Vocabulary.of(texts, WordVectors.of([*texts, *law_that_ships()]))
    read = [vocabulary.read(text) for text in texts]
    labels = np.array([[each.danger == name and each.is_case for name in CLASSES] for each in of])
    writers = [each.writer for each in of]
    scores = cross_validate(grams.rows, read, vocabulary.vectors, labels, writers, parsed.seed)
    drawn = [each.danger == "" and each.language == "fr" for each in of]  # raise none: so they were drawn
    with ProcessPoolExecutor(2) as pool:
        others = [each.text for each, ordinary in zip(of, drawn, strict=True) if not ordinary]
        found = pool.map(rule_classes, others, chunksize=200)
        ruled = [{} if ordinary else next(found) for ordinary in drawn]
    share, chosen = choose(of, scores, ruled)
    weights, bias = fit(grams.rows, labels)
    network = fit_network(read, labels, balanced(labels), vocabulary.vectors, parsed.seed)
    scale = np.abs(weights).max(0) / 127
    np.savez_compressed(
        parsed.output,
        names=np.array(CLASSES),
        bucket_gaps=np.diff(grams.buckets, prepend=0).astype(np.uint32),  # which pack smaller
        scale=scale,
        weights=np.round(weights / scale).astype(np.int8),
        bias=bias,
        idf=grams.idf.astype(np.float16),
        raises=np.array([[each.raises for each in row] for row in chosen], np.float32),
        hints=np.array([[each.hints for each in row] for row in chosen], np.float32),
        allow_pickle=False,
        **packed(vocabulary, network, share),
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
