"""`python -m training.danger`: fit the classifier of danger that stands beside the rules.

Learnt from the cases of `tests/rag/screening/cases/danger` (but not those that measure), from more cases in
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
import zipfile
import zlib
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
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
from rag.screening.danger_classifier import BUCKETS, FILE, Network, ngrams, plain_words
from rag.types import Bools, Floats, Ints
from training.danger_network import (
    SHARE,
    Texts,
    Vocabulary,
    WordVectors,
    assemble,
    fit_network,
    packed,
    require,
    rounded,
)
from training.screening import FOLDER, MEASURED, read_cases

WRITTEN = Path(__file__).with_name("danger_cases.jsonl.xz")
FEWEST = 20  # texts that an n-gram must be in
FOLDS = 3
SUBJECT = 0.5  # weight of telling the network what a text is about, beside whether somebody is in it
OTHERS = 0.02  # weight of a situation where another class is learnt: people in one danger are often in two
COST = 10.0  # of an error, beside the squared weights
STEPS = 60
ORDINARY = 12_000  # questions
ALARMS, HINTS = 0.06, 0.10  # of near misses, by scores or rules: what may be raised, and named
LOST = 0.03  # of the situations that the rules raise: what they may be doubted of
# of ordinary questions, what scores may raise or name: of other languages, whose few ordinary questions one
# writer wrote, and of French
ORDINARY_ALARMS, ORDINARY_HINTS = (0.02, 0.01), (0.03, 0.015)
TRIED = np.arange(-4.0, 6.01, 0.25)  # thresholds
LEAST = 0.5  # for an alarm: a class must be likelier than not
JOINED = "joined-"  # before the name of who wrote the case of a text that was put together here
# writers, by how their names begin, that no threshold is set by: the rules were written over the cases of the
# first; some wrote with a classifier's mistakes at hand, and some nothing but long tales or plain statements
THRESHOLD_EXCLUDED = ("first", "against", "long", "plain", JOINED)
# texts that are put together: a situation, or a near miss, beside ordinary questions; and those by themselves
JOINED_CASES, JOINED_NEAR, JOINED_ORDINARY = 6_000, 4_000, 3_500
JOINED_WORDS = (12, 40)  # most words of what is put beside others: half of it is drawn from the shorter
LEVELS = 63  # on either side of 0 that a weight of an n-gram is rounded to in the file


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
        if case.half not in MEASURED
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
    writers = sorted({each.writer for each in found if not each.writer.startswith(THRESHOLD_EXCLUDED)})
    questions = _questions(indexes.open())
    drawn = random.Random(seed).sample(questions, min(ORDINARY, len(questions)))  # noqa: S311
    drawn = [text for text in drawn if not any(rule_classes(text).values())]  # some are of danger
    law = [Example(text, "", is_case=False, writer=writers[n % len(writers)]) for n, text in enumerate(drawn)]
    return [*found, *law, *joined([*found, *law], seed)]


def joined(of: Sequence[Example], seed: int) -> list[Example]:
    """Put examples together to longer texts: people tell a danger among practical troubles, or those alone.

    Each is an example of its one situation or near miss, and held out with that one's writer.
    """
    chance = random.Random(seed)  # noqa: S311
    words = [len(plain_words(each.text)) for each in of]
    ordinary: dict[str, list[Example]] = {}
    short: dict[str, list[Example]] = {}  # that leave what stands beside them where the network reads it
    for each, count in zip(of, words, strict=True):
        if not each.danger:
            ordinary.setdefault(each.language, []).append(each)
            if count <= JOINED_WORDS[-1]:
                short.setdefault(each.language, []).append(each)
    drawn = [
        each
        for is_case, count in ((True, JOINED_CASES), (False, JOINED_NEAR))
        for most in JOINED_WORDS
        for each in _drawn(
            chance,
            [
                e
                for e, n in zip(of, words, strict=True)
                if e.danger and n <= most and e.is_case == is_case and e.language in short
            ],
            count // len(JOINED_WORDS),
        )
    ]
    together = [(each, [each, *_drawn(chance, short[each.language], chance.randint(1, 2))]) for each in drawn]
    for like in chance.choices(drawn, k=JOINED_ORDINARY) if drawn else ():
        if len(own := ordinary[like.language]) > 1:
            parts = _drawn(chance, own, chance.randint(2, 5))
            together.append((parts[0], parts))
    found = []
    for each, parts in together:
        chance.shuffle(parts)
        text = " ".join(_ended(part.text) for part in parts)
        found.append(replace(each, text=text, writer=f"{JOINED}{each.writer}"))
    return found


def _drawn(chance: random.Random, of: Sequence[Example], count: int) -> list[Example]:
    return chance.sample(of, min(count, len(of)))


def _ended(text: str) -> str:
    return text if text.rstrip()[-1:] in {".", "?", "!", "…", "。", "？", "！", "؟"} else f"{text.rstrip()}."


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


@dataclass(frozen=True, slots=True)
class TrainingSet:
    """What is learnt from: texts as both models read them, and what each is an example of."""

    texts: Sequence[str]
    grams: Grams
    vocabulary: Vocabulary
    read: Texts
    labels: Bools  # (texts, classes): a situation of that class
    tasks: Bools  # (texts, outputs of the network): `labels`, any situation, and what a text is about
    seed: int

    @classmethod
    def of(cls, examples: Sequence[Example], known: WordVectors, seed: int) -> TrainingSet:
        """Read examples; `known` are word vectors of these and more texts."""
        texts = [each.text for each in examples]
        vocabulary = Vocabulary.of(texts, known)
        subjects = np.array([[each.danger == name for name in CLASSES] for each in examples])
        case = np.array([[each.is_case] for each in examples])
        labels = subjects & case
        tasks = np.hstack([labels, case, subjects])
        read = Texts.read(texts, vocabulary)
        return cls(texts, weigh(texts), vocabulary, read, labels, tasks, seed)

    def linear(self, learnt: Ints) -> tuple[Floats, Floats]:
        """Fit the weights of the n-grams to some of the texts; see `fit`."""
        return fit(self.grams.rows[learnt], self.labels[learnt])

    def network(self, learnt: Ints) -> Network:
        """Fit the network to some of the texts.

        It learns beside the classes whether anybody is in any danger, and what a text is about (Caruana
        1997): all classes and all near misses teach it what is told of as happening.
        """
        classes = self.labels.shape[1]
        costs = np.zeros(self.tasks.shape, np.float32)
        costs[learnt, :classes] = balanced(self.labels[learnt])
        costs[learnt, classes : classes + 1] = balanced(self.tasks[learnt, classes : classes + 1])
        costs[learnt, classes + 1 :] = SUBJECT * balanced(self.tasks[learnt, classes + 1 :])
        fitted = fit_network(self.read, self.tasks, costs, self.vocabulary.vectors, self.seed)
        return assemble(self.vocabulary, fitted, np.zeros((2, classes), np.float32))

    def fold_scores(self, fold: int, folds: Ints) -> Floats:
        """Return the scores of the texts of a fold, (2, texts of it, classes), by what the others teach.

        They are scored by what a file would hold, rounded.
        """
        held, learnt = np.flatnonzero(folds == fold), np.flatnonzero(folds != fold)
        weights, bias = self.linear(learnt)
        whole, scale = rounded(weights, LEVELS)
        network = Network.read(packed(self.network(learnt)))
        alone = self.grams.rows[held] @ (whole * scale).astype(np.float32) + bias
        mixed = np.zeros_like(alone)
        for row, at in zip(mixed, held.tolist(), strict=True):
            row[:] = network.scores(self.texts[at])
        return np.stack([alone, (1 - SHARE) * alone + SHARE * mixed])


@dataclass(frozen=True, slots=True)
class Fit:
    """What is learnt from all texts, and what is known of each text by what other writers teach."""

    arrays: Mapping[str, npt.NDArray[np.generic]]  # of the file of a classifier, but thresholds and shares
    scores: Floats  # (2, texts, classes): of the n-grams alone, and with the network's, as a `Classifier`'s
    by_rules: Bools  # (texts, classes): raised by the rules; none where no threshold is set by a text
    checksum: int  # of the examples

    @classmethod
    def of(cls, examples: Sequence[Example], seed: int) -> Fit:
        """Fit both models to all texts, and to those outside of each fold of writers."""
        known = WordVectors.of([*(each.text for each in examples), *law_that_ships()])
        training_set, every = TrainingSet.of(examples, known, seed), np.arange(len(examples))
        _, number = np.unique(
            np.array([each.writer.removeprefix(JOINED) for each in examples]), return_inverse=True
        )
        folds = number % FOLDS
        scores = np.zeros((2, *training_set.labels.shape), np.float32)
        by_rules = np.zeros(training_set.labels.shape, np.bool_)
        asked = [at for at, each in enumerate(examples) if each.danger and _is_counted(each)]
        with ProcessPoolExecutor(2, initializer=_set_shared, initargs=(training_set,)) as pool:
            network = pool.submit(_network, every)
            scored = [pool.submit(_fold_scores, fold, folds) for fold in range(FOLDS)]
            linear = pool.submit(_linear, every)
            found = pool.map(rule_classes, [examples[at].text for at in asked], chunksize=200)
            for at, raised in zip(asked, found, strict=True):
                by_rules[at] = [raised.get(name, False) for name in CLASSES]
            for fold, each in enumerate(scored):
                scores[:, folds == fold] = each.result()
            (weights, bias), grams = linear.result(), training_set.grams
            whole, scale = rounded(weights, LEVELS)
            arrays = {
                "names": np.array(CLASSES),
                "bucket_gaps": np.diff(grams.buckets, prepend=0).astype(np.uint32),  # which pack smaller
                "scale": scale,
                "weights": whole,
                "bias": bias,
                "idf": grams.idf.astype(np.float16),
                **packed(network.result()),
            }
        return cls(arrays, scores, by_rules, _checksum(examples))

    def save(self, path: Path) -> None:
        """Write all of it."""
        kept = {"scores": self.scores, "by_rules": self.by_rules, "checksum": np.array(self.checksum)}
        np.savez(path, allow_pickle=False, **self.arrays, **kept)

    @classmethod
    def read(cls, path: Path, examples: Sequence[Example]) -> Fit:
        """Read what `save` wrote.

        Raises:
            BadInput: it is no such file, or of other examples.
        """
        try:
            with np.load(path) as data:
                arrays = dict(data)
            kept = arrays.pop("scores"), arrays.pop("by_rules"), int(arrays.pop("checksum"))
        except (OSError, ValueError, KeyError) as error:
            raise BadInput(
                f"{path}: {error!r}; expected what --fitted wrote. Remove it to fit anew."
            ) from error
        if kept[-1] != _checksum(examples):
            raise BadInput(f"{path} is of other texts than the {len(examples)} here. Remove it to fit anew.")
        return cls(arrays, *kept)


def _checksum(examples: Sequence[Example]) -> int:
    return zlib.crc32(repr(examples).encode())


def _is_counted(example: Example) -> bool:
    """Tell whether thresholds are set by what somebody wrote."""
    return not example.writer.startswith(THRESHOLD_EXCLUDED)


_shared: list[TrainingSet] = []  # of a process of the pool: passed once, not with each call


def _set_shared(training_set: TrainingSet) -> None:
    import torch

    torch.set_num_threads(1)  # two processes have a core each
    _shared[:] = [training_set]


def _network(learnt: Ints) -> Network:
    return _shared[0].network(learnt)


def _linear(learnt: Ints) -> tuple[Floats, Floats]:
    return _shared[0].linear(learnt)


def _fold_scores(fold: int, folds: Ints) -> Floats:
    return _shared[0].fold_scores(fold, folds)


@dataclass(frozen=True, slots=True)
class Threshold:
    """From which scores a class is raised and named, and what came of it, means over writers."""

    raises: float
    hints: float  # a lower score, from which it is named
    doubts: float  # below it what the rules raise is doubted
    with_rules: tuple[float, float]
    with_hints: tuple[float, float]  # raised or named
    rules_alone: tuple[float, float]


def threshold(
    of: Sequence[Example], danger: str, scores: Floats, by_rules: Bools, *, french: bool
) -> Threshold:
    """Return from which scores a class is raised and named: above most near misses and ordinary questions.

    What the rules raise is doubted below a score that nearly all situations that they raise are above.
    French alone is looked at, or all other languages, and no writer of `THRESHOLD_EXCLUDED`.
    """
    in_language = np.array([(each.language == "fr") == french for each in of])
    counted = np.array([_is_counted(each) for each in of]) & in_language
    law = np.array([not each.danger for each in of]) & counted
    own = np.array([each.danger == danger for each in of]) & counted
    case, writer = np.array([each.is_case for each in of]), np.array([each.writer for each in of])
    names = sorted({*writer[own]})

    def rates(raised: Bools) -> tuple[float, float]:
        def mean(kind: Bools) -> float:
            parts = [raised[part] for name in names if (part := own & kind & (writer == name)).any()]
            return float(np.mean([each.mean() for each in parts])) if parts else 0.0

        return mean(case), mean(~case)

    by_both = own & case & by_rules
    doubts = float(np.quantile(scores[by_both], LOST)) if by_both.any() else -np.inf

    def found(score: float) -> Bools:
        return (scores >= score) | (by_rules & (scores >= doubts))

    def named(score: float) -> Bools:
        return (scores >= score) | by_rules

    def lowest(found: Callable[[float], Bools], alarms: float, ordinary: float) -> float:
        if not (own & ~case).any():
            return float(TRIED[-1])  # nothing tells what it would cost
        for score in map(float, TRIED):
            more = law.any() and (scores[law] >= score).mean() > ordinary
            if not more and rates(found(score))[1] <= alarms:
                break
        return score

    raises = max(LEAST, lowest(found, ALARMS, ORDINARY_ALARMS[french]))
    hints = raises if danger in LIMITS else min(raises, lowest(named, HINTS, ORDINARY_HINTS[french]))
    return Threshold(
        raises, hints, min(doubts, hints), rates(found(raises)), rates(named(hints)), rates(by_rules)
    )


def choose(of: Sequence[Example], scores: Floats, by_rules: Bools) -> tuple[Floats, list[list[Threshold]]]:
    """Return the network's share, (2, classes), and the thresholds of other languages and of French.

    `scores` and `by_rules` are those of a `Fit`. A class has the network
    where more is found with it.
    """
    share = np.zeros((2, len(CLASSES)), np.float32)
    chosen: list[list[Threshold]] = [[], []]
    for french, of_language in enumerate(chosen):
        for at, name in enumerate(CLASSES):
            raised = by_rules[:, at]
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


def _write(path: Path, arrays: Mapping[str, npt.NDArray[np.generic]]) -> None:
    """Write arrays as `np.load` reads them, with LZMA: a twelfth smaller than `np.savez_compressed`."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_LZMA) as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w") as file:
                np.lib.format.write_array(file, array, allow_pickle=False)


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
    parser.add_argument(
        "--fitted",
        type=Path,
        help="keep here what was fitted and scored; where it is, thresholds alone are chosen",
    )
    parsed = parser.parse_args(arguments)
    try:
        of = examples(parsed.cases, parsed.written, parsed.seed)
    except BadInput as error:
        sys.stderr.write(f"ERROR {error}\n")
        return 2
    if parsed.fitted is not None and parsed.fitted.exists():
        fitted = Fit.read(parsed.fitted, of)
    else:
        require()
        fitted = Fit.of(of, parsed.seed)
        if parsed.fitted is not None:
            fitted.save(parsed.fitted)
    share, chosen = choose(of, fitted.scores, fitted.by_rules)
    thresholds = {
        kind: np.array([[getattr(each, kind) for each in row] for row in chosen], np.float32)
        for kind in ("raises", "hints", "doubts")
    }
    _write(parsed.output, {**fitted.arrays, **thresholds, "share": share})
    return 0


if __name__ == "__main__":
    sys.exit(main())
