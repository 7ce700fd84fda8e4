"""`python -m training.governing_law --output FOLDER`: which law governs a question, fitted and measured.

Fitted to questions that laws govern which are not loaded (`questions_elsewhere.jsonl`, by topic of the card)
and to the annotated questions of the index. The dev half of `questions_governing_law.jsonl`, with that of the
everyday questions, chooses the threshold, by which at most 1 in 50 of those that the loaded law
answers is told to be another's, and what classifier, phrases, the nearest questions of the bank and the
nearest article are worth together. Beside the test half is asked what four others wrote who had seen neither
bank nor phrases (`questions_governing_law_written.jsonl.gz`).
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.optimize import minimize

import indexes
from indexes.cli.terminal import guarded
from indexes.corpus.articles import name, text
from indexes.corpus.corpus import read
from indexes.corpus.questions import read_questions
from indexes.formats.jsonl import records
from indexes.formats.validation import Inspection
from indexes.store.manifest import encoder_fingerprint
from indexes.store.manifest import read as read_manifest
from indexes.store.paths import locate
from rag.corpus.out_of_scope import MEANING, LawClassifier, LawEvidence, Topics, ngrams
from rag.engine.engine import Engine
from rag.errors import BadInput, MissingExtra, PandectError, install_hint
from rag.retrieval.dense import Dense
from rag.types import Doubles, Floats, Ints
from training import everyday
from training.eval.report import commit
from training.everyday import EverydayQuestion
from training.references.scores import wilson

FOLDER = everyday.FOLDER
BANK = FOLDER / "questions_elsewhere.jsonl"
MEASURED = FOLDER / "questions_governing_law.jsonl"
WRITTEN = FOLDER / "questions_governing_law_written.jsonl.gz"  # later, by others; nothing is chosen by them
FILE = "governing_law.npz"
RIDGES = (0.1,)
ALLOWED = 0.02  # of the dev questions that the loaded law answers
ITERATIONS = 120
LEAST = 2  # questions of the bank that a feature stands in
INVERSE_RIDGE = 0.3  # of the weights of the evidence
BESIDE = 0.3  # what a question weighs there that sets no threshold
UNANSWERABLE = FOLDER / "questions_unanswerable_dev.jsonl"
OTHER_LAW = "other_french_law"  # its category of those that other laws govern
FOLDS, REPEATS, SEED = 10, 5, 0  # in which the evidence of the dev half is held out, for its threshold


def dense(engine: Engine) -> Dense:
    """Return what makes the vectors of questions.

    Raises:
        BadInput: the index has no encoder.
    """
    meaning = engine.searcher.meaning
    if not isinstance(meaning, Dense):
        raise BadInput("the index has no encoder: build it with one")
    return meaning


def fit(
    bank: Sequence[tuple[str, str]], loaded: Sequence[str], engine: Engine, ridge: float
) -> LawClassifier:
    """Fit the classifier; the loaded law weighs as much as all others, each of which weighs the same.

    Args:
        bank: (topic, question) of laws that are not loaded.
        loaded: questions that the loaded law answers.
        engine: whose analyser cuts the words, and whose encoder makes the vectors.
        ridge: of the squared weights, in ten thousandths of the mean log-likelihood.
    """
    topics = sorted({topic for topic, _ in bank})
    texts = [*(question for _, question in bank), *loaded]
    terms = [engine.analyser.terms(each) for each in texts]
    made = [ngrams(each) for each in terms]
    classes = np.array([1 + topics.index(topic) for topic, _ in bank] + [0] * len(loaded))
    often = Counter(each for found in made[: len(bank)] for each in found)
    features = sorted(each for each, count in often.items() if count >= LEAST)
    known = set(features)
    in_all = Counter(each for found in made for each in found & known)
    rarity = np.array([np.log(len(made) / in_all[each]) for each in features], np.float32)
    vectors = dense(engine).encoder.encode_questions(texts)
    nothing = np.zeros((len(features) + vectors.shape[1], 1 + len(topics)), np.float32)
    unfitted = LawClassifier(tuple(features), rarity, nothing, nothing[0], tuple(topics), 1.0)
    matrix = sp.csr_array(sp.hstack([_sparse(unfitted, terms), sp.csr_array(MEANING * vectors)]))
    weights = _maximise(matrix, classes, 1 + len(topics), ridge)
    return replace(unfitted, weights=weights[:-1], bias=weights[-1])


def _sparse(unfitted: LawClassifier, terms: Sequence[Sequence[str]]) -> sp.csr_array:
    rows = [unfitted.vector(each) for each in terms]
    pointers = np.cumsum([0, *(len(found) for found, _ in rows)])
    values, columns = (np.concatenate(part) for part in ([v for _, v in rows], [f for f, _ in rows]))
    return sp.csr_array((values, columns, pointers), shape=(len(rows), len(unfitted.features)))


def _maximise(matrix: sp.csr_array, classes: Ints, n_classes: int, ridge: float) -> Floats:
    """Return the weights, and below them the bias, of the largest penalised likelihood."""
    counts = np.bincount(classes, minlength=n_classes)
    share = np.full(n_classes, 0.5 / (n_classes - 1))
    share[0] = 0.5
    weight = (share / counts)[classes]
    hot = np.eye(n_classes)[classes]
    turned = sp.csr_array(matrix.T)

    def loss(flat: Doubles) -> tuple[float, Doubles]:
        parts = flat.reshape(-1, n_classes)
        scores = matrix @ parts[:-1] + parts[-1]
        scores -= scores.max(axis=1, keepdims=True)
        logs = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
        wrong = (np.exp(logs) - hot) * weight[:, None]
        gradient = np.vstack([turned @ wrong + ridge * 1e-4 * parts[:-1], wrong.sum(axis=0)])
        value = ridge * 5e-5 * (parts[:-1] ** 2).sum() - (weight * (logs * hot).sum(axis=1)).sum()
        return float(value), np.asarray(gradient.ravel(), np.float64)

    start = np.zeros((matrix.shape[1] + 1) * n_classes)
    found = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": ITERATIONS})
    return np.asarray(found.x.reshape(-1, n_classes), np.float32)


def _topics(engine: Engine, classifier: LawClassifier | None) -> Topics:
    made = dense(engine)
    vectors = made.encoder.encode_questions
    return Topics(engine.card, engine.facets().codes, engine.analyser, classifier, made.vector, vectors)


def weigh(
    classifier: LawClassifier,
    engine: Engine,
    governed: Sequence[str],
    answered: Sequence[str],
    beside: Sequence[str],
) -> LawClassifier:
    """Return the classifier with weights of its evidence: a logistic regression over the dev half.

    The bias is such that `ALLOWED` of what the loaded law answers is told wrongly, each held out.

    Args:
        classifier: with its examples.
        engine: that is asked.
        governed: dev questions that another law governs.
        answered: dev questions that the loaded law answers.
        beside: others that no other law governs; they are learnt from and set no threshold.

    Raises:
        MissingExtra: scikit-learn is not installed.
    """
    try:
        from sklearn.linear_model import LogisticRegression
        from sklearn.model_selection import RepeatedStratifiedKFold
    except ImportError as error:
        raise MissingExtra(f"governing law needs scikit-learn: run {install_hint('models')}") from error
    topics, asked = _topics(engine, classifier), [*governed, *answered, *beside]
    rows = [
        topics.evidence(question, float(near.scores.max(initial=0.0)), phrase=bool(topics.find(question)))[0]
        for question, near in zip(asked, dense(engine).search(asked, 1), strict=True)
    ]
    matrix = np.array(rows, np.float64)
    dev = len(governed) + len(answered)
    labels = np.arange(len(matrix)) < len(governed)
    weights = np.where(np.arange(len(matrix)) < dev, 1.0, BESIDE)
    mean, scale = matrix[:dev].mean(0), matrix[:dev].std(0)
    matrix = (matrix - mean) / scale
    held = np.zeros(dev)
    folds = RepeatedStratifiedKFold(n_splits=FOLDS, n_repeats=REPEATS, random_state=SEED)
    for learnt, out in folds.split(matrix[:dev], labels[:dev]):
        rest = np.concatenate([learnt, np.arange(dev, len(matrix))])
        fitted = LogisticRegression(C=INVERSE_RIDGE).fit(
            matrix[rest], labels[rest], sample_weight=weights[rest]
        )
        held[out] += fitted.decision_function(matrix[out]) / REPEATS
    told = np.sort(held[len(governed) :])[::-1]
    threshold = float(np.nextafter(told[int(ALLOWED * len(told))], np.inf))
    fitted = LogisticRegression(C=INVERSE_RIDGE).fit(matrix, labels, sample_weight=weights)
    own = fitted.coef_[0] / scale
    bias = float(fitted.intercept_[0]) - float(own @ mean) - threshold
    return replace(classifier, evidence=np.array([*own, bias], np.float32))


MEASURED_KINDS = (
    ("elsewhere", "another law governs"),
    ("answer", "the loaded law answers"),
    ("nothing", "no law answers"),
)


def measure(questions: Sequence[EverydayQuestion], engine: Engine, topics: Topics) -> dict[str, Any]:
    """Count where another law is told: of what it governs, and of what the loaded law answers."""
    engine.notices = replace(engine.notices, topics=topics)
    counts = {}
    for kind, what in MEASURED_KINDS:
        asked = [each.question for each in questions if each.kind == kind]
        if not asked:
            continue
        told = sum(bool(engine.ask(each).elsewhere) for each in asked)
        share = wilson(told, len(asked))
        counts[what] = {"told": told, "of": len(asked)} | {
            "value": share.value, "low": share.low, "high": share.high,
        }  # fmt: skip
    return counts


def read_bank(path: Path = BANK) -> list[tuple[str, str]]:
    """Read the questions that laws govern which are not loaded: topic and question.

    Raises:
        BadInput: the file or a line cannot be used.
    """
    inspection = Inspection()
    return [(name(r, "topic"), text(r, "question")) for _, r in records(path, inspection)]


def choose(
    bank: Sequence[tuple[str, str]],
    loaded: Sequence[str],
    engine: Engine,
    governed: Sequence[str],
    answered: Sequence[str],
) -> LawClassifier:
    """Return the classifier whose ridge and threshold tell most, within `ALLOWED`.

    Args:
        bank: as for `fit`.
        loaded: as for `fit`.
        engine: as for `fit`.
        governed: dev questions that another law governs.
        answered: dev questions that the loaded law answers.
    """
    found: list[tuple[int, LawClassifier]] = []
    for ridge in RIDGES:
        fitted = fit(bank, loaded, engine, ridge)
        threshold = float(np.quantile(_sureness(fitted, engine, answered), 1 - ALLOWED, method="higher"))
        count = int((_sureness(fitted, engine, governed) > threshold).sum())
        found.append((count, replace(fitted, threshold=float(np.nextafter(threshold, 1)))))
    return max(found, key=lambda each: each[0])[1]  # the first of equals


def _sureness(classifier: LawClassifier, engine: Engine, questions: Sequence[str]) -> Doubles:
    """Return the probability that another law governs, of each question."""
    vectors = dense(engine).encoder.encode_questions(questions)
    each = zip(questions, vectors, strict=True)
    return np.array([1 - classifier.probabilities(engine.analyser.terms(t), v)[0] for t, v in each])


@guarded
def main(arguments: Sequence[str] | None = None) -> int:
    """Fit, measure and write both."""
    parser = argparse.ArgumentParser(prog="python -m training.governing_law", description=__doc__)
    parser.add_argument("--output", type=Path, required=True, metavar="FOLDER")
    parsed = parser.parse_args(arguments)
    try:
        found = _run(parsed.output)
    except PandectError as error:
        print(error, file=sys.stderr)
        return 1
    print(json.dumps(found["counts"], indent=1))
    return 0


def _run(output: Path) -> dict[str, Any]:
    engine = indexes.open("builtin")
    questions = [*everyday.read(MEASURED), *everyday.read()]
    dev = [each for each in questions if each.split == "dev"]
    test = [each for each in questions if each.split == "test"]
    corpus = read(locate("builtin")[0] / "corpus")
    loaded = [each.text for each in corpus.questions]
    civil = read_questions(FOLDER / "questions_test.jsonl", corpus.articles)
    answered = [each.question for each in dev if each.kind == "answer"]
    beside = [each.text for each in civil if each.split == "dev" and each.article_ids]
    unanswerable = read_questions(UNANSWERABLE, corpus.articles)
    lawless = [each.text for each in unanswerable if each.category != OTHER_LAW]
    beside += [*lawless, *(each.question for each in dev if each.kind == "nothing")]
    governed = [each.question for each in dev if each.kind == "elsewhere"]
    fingerprint = encoder_fingerprint(read_manifest(*locate("builtin")))
    bank, every = read_bank(), [*answered, *(each.text for each in civil if each.split == "dev")]
    classifier = choose(bank, loaded, engine, governed, every)
    examples = tuple(" ".join(question.split()) for _, question in bank)
    classifier = replace(classifier, encoder=fingerprint, examples=examples)
    classifier = weigh(classifier, engine, governed, answered, beside)
    topics = {
        "phrases": _topics(engine, None),
        "phrases, else the classifier": _topics(
            engine, replace(classifier, evidence=classifier.evidence[:0])
        ),
        "weighed": _topics(engine, classifier),
    }
    own = {each.id for each in everyday.read(MEASURED)}
    halves = {"dev": dev, "test": test, "test, of these 200": [each for each in test if each.id in own]}
    halves["written later"] = list(everyday.read(WRITTEN))
    halves["dev, no question of this law"] = [
        EverydayQuestion(each.id, each.text, frozenset(), frozenset(), each.category or "", "dev", "nothing")
        for each in unanswerable
        if each.category != OTHER_LAW
    ]
    output.mkdir(parents=True, exist_ok=True)
    classifier.save(output / FILE)
    found = {
        "command": shlex.join(["python", "-m", "training.governing_law", "--output", output.name]),
        "commit": commit(),
        "questions": {"bank": len(bank), "loaded": len(loaded)},
        "features": len(classifier.features),
        "evidence": dict(zip((*LawEvidence._fields, "bias"), map(float, classifier.evidence), strict=True)),
        "threshold": classifier.threshold,
        "counts": {
            half: {when: measure(of, engine, each) for when, each in topics.items()}
            for half, of in halves.items()
        },
    }
    (output / "metrics.json").write_text(
        json.dumps(found, ensure_ascii=False, indent=1) + "\n", encoding="utf-8"
    )
    return found


if __name__ == "__main__":
    sys.exit(main())
