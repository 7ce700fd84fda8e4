"""`python -m training.audit`: learn on parts of collections what `indexes audit` foretells, test on others.

A part is a code that is asked much, with some others drawn around it: the law of a host's first day, whose
index knows no annotated question. Of German law are asked those that were written for a tenth of its
articles. Each collection is foretold by what the others teach. `--doubt` measures instead how well a doubt
is calibrated that is fitted to a law by `indexes.describing.doubt`, and one that is fitted to questions made
of that law alone.
"""

from __future__ import annotations

import argparse
import json
import random
import shlex
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from math import log10
from pathlib import Path
from statistics import median

import numpy as np

from indexes.build.build import BuildSettings, build_into
from indexes.cli.terminal import guarded
from indexes.corpus.corpus import Corpus, to_learn_from
from indexes.corpus.questions import attach, read_cited
from indexes.describing import calibration, doubt
from indexes.describing.audit import articles_per_heading, found_by_heading, term_counts
from indexes.describing.calibration import CalibrationPlan
from indexes.sources import registry
from indexes.store.open_index import open_index
from rag.engine.engine import Engine
from rag.errors import BadInput, PandectError
from rag.types import Question
from training.eval.report import commit

GERMAN = Path(__file__).parent / "stories" / "de-written.jsonl.gz"  # asked of a tenth of the articles
COLLECTIONS: Mapping[str, Path | None] = {"stard": None, "fr": None, "fr_everyday": None, "de": GERMAN}
CODES = (1, 3, 8, 25)  # of a part
PARTS = 12  # of a collection
LEAST, MOST = 25, 120  # questions of the code that is asked much; questions of a part
LARGEST = 16_000  # articles of a part
RIDGE = 1.0
DOUBTED = 3000  # articles that doubt is fitted to
COVERED = 0.9  # of the parts of collections left out lie within the error that is shipped


@dataclass(frozen=True, slots=True)
class Part:
    """Some codes of a collection, and how its questions fared."""

    collection: str
    articles: int
    codes: int
    questions: int
    found_by_heading: float
    per_heading: float  # articles that share their last shared heading, the mean
    terms: float  # of an article, the median
    answers: float  # articles that answer a question, the mean
    hit: float  # Success@10: share of questions with an answering article among the first ten
    recall: float  # R@10: share of a question's answering articles among the first ten, the mean


@dataclass(frozen=True, slots=True)
class Curve:
    """A logistic curve over features of a part: (n,) weights, a bias."""

    bias: float
    weights: tuple[float, ...]

    def __call__(self, features: Sequence[float]) -> float:
        """Return the share that is foretold."""
        return float(1 / (1 + np.exp(-(self.bias + np.dot(self.weights, features)))))


@dataclass(frozen=True, slots=True)
class Measure:
    """What is foretold of a part, and from what."""

    value: Callable[[Part], float]
    features: Callable[[Part], tuple[float, ...]]


MEASURES: Mapping[str, Measure] = {
    "Success@10": Measure(lambda part: part.hit, lambda part: (part.found_by_heading,)),
    "R@10": Measure(
        lambda part: part.recall,
        lambda part: (part.found_by_heading, log10(max(part.per_heading, 1)), log10(max(part.terms, 1))),
    ),
}


def parts(corpus: Corpus, name: str, seed: int) -> Iterator[Part]:
    """Build and ask parts of a collection, none twice."""
    chance = random.Random(f"{seed} {name}")  # noqa: S311
    code_of = {article.id: article.code for article in corpus.articles}
    asked = Counter(code for q in corpus.questions for code in {code_of[id_] for id_ in q.article_ids})
    much = sorted(code for code, count in asked.items() if count >= LEAST)
    seen: set[tuple[str, ...]] = set()
    for number in range(PARTS):
        first = chance.choice(much)
        rest = sorted({*code_of.values()} - {first})
        codes = (first, *chance.sample(rest, min(CODES[number % len(CODES)] - 1, len(rest))))
        drawn = tuple(sorted(codes))
        if drawn not in seen:
            seen.add(drawn)
            yield _part(corpus, name, codes, chance)


def _part(corpus: Corpus, name: str, codes: Sequence[str], chance: random.Random) -> Part:
    articles = [article for code in codes for article in corpus.articles if article.code == code][:LARGEST]
    law = Corpus(replace(corpus.card, name=name.replace("_", "-"), official_site=None), tuple(articles), ())
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "indexes" / name / "part"
        folder.mkdir(parents=True)
        build_into(folder, law, name, "part")
        engine = open_index(folder)
        whole = [
            q for q in corpus.questions if q.article_ids and engine.articles.keys() >= set(q.article_ids)
        ]
        questions = chance.sample(whole, min(MOST, len(whole)))
        recalls = [_recall(engine, q) for q in questions]
        found = found_by_heading(engine, chance) or 0.0
        per_heading = articles_per_heading(engine)
        terms = float(median(term_counts((a for a in articles if a.text.strip()), engine).values()))
    answers = float(np.mean([len({*q.article_ids}) for q in questions]))
    hit, recall = float(np.mean([each > 0 for each in recalls])), float(np.mean(recalls))
    return Part(
        name, len(articles), len({*codes}), len(questions), found, per_heading, terms, answers, hit, recall
    )


def _recall(engine: Engine, question: Question) -> float:
    first = {shown.article.id for shown in engine.ask(question.text, k=10).shown}
    return len(first.intersection(question.article_ids)) / len({*question.article_ids})


def doubts(corpus: Corpus, name: str, seed: int) -> dict[str, object]:
    """Fit doubt to the codes that are asked most, questions learnt apart from those held back."""
    chance = random.Random(f"{seed} {name}")  # noqa: S311
    code_of, size = {a.id: a.code for a in corpus.articles}, Counter(a.code for a in corpus.articles)
    asked = Counter(code_of[id_] for q in corpus.questions for id_ in q.article_ids)
    codes: set[str] = set()
    for code, _ in asked.most_common():
        if size[code] + sum(size[each] for each in codes) <= DOUBTED:
            codes.add(code)
    whole = [
        q for q in corpus.questions if q.article_ids and {code_of[id_] for id_ in q.article_ids} <= codes
    ]
    chance.shuffle(whole)
    half = min(len(whole) // 2, doubt.MOST_ASKED)
    questions = [replace(q, split="test" if i < half else None) for i, q in enumerate(whole)]
    articles = [article for article in corpus.articles if article.code in codes]
    card = replace(corpus.card, name=name.replace("_", "-"), official_site=None)
    law = Corpus(card, tuple(articles), tuple(questions))
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "indexes" / name / "part"
        folder.mkdir(parents=True)
        build_into(folder, law, name, "part", BuildSettings(encoder="fit"))
        engine, learnt, plan = open_index(folder), to_learn_from(questions), CalibrationPlan(seed=seed)
        fitted, alone = doubt.fit(engine, questions, seed), doubt.fit_made(engine, learnt, chance, plan)
        if fitted is None or alone is None:
            raise BadInput(f"{name}: nothing to fit doubt to")
        theirs = doubt.ask(engine, questions[:half], learnt)
    said = calibration.sigmoid(doubt.log_odds(alone[0], theirs))
    return {
        "collection": name,
        "articles": len(articles),
        "learnt": len(learnt),
        **{key: value for key, value in asdict(fitted).items() if key != "confidence"},
        "error_alone": calibration.calibration_error(calibration.reliability(said, theirs.labels)),
        "alarms_alone": float((said < alone[0].threshold)[theirs.answerable].mean()),
    }


def fit(of: Sequence[Part], measure: Measure) -> Curve:
    """Fit the curve to logits, each part with the weight of its questions (ridge on the slopes)."""
    x = np.array([measure.features(part) for part in of])
    count = np.array([part.questions for part in of], dtype=np.float64)
    smooth = (np.array([measure.value(part) for part in of]) * count + 1) / (count + 2)
    y = np.log(smooth / (1 - smooth))
    mean_x, mean_y = np.average(x, axis=0, weights=count), np.average(y, weights=count)
    weighted = count[:, None] * (x - mean_x)
    slopes = np.linalg.solve(
        weighted.T @ (x - mean_x) + RIDGE * np.eye(x.shape[1]), weighted.T @ (y - mean_y)
    )
    return Curve(float(mean_y - slopes @ mean_x), tuple(slopes.tolist()))


def leave_one_out(of: Sequence[Part], measure: Measure) -> list[tuple[Part, float]]:
    """Return every part with the share that the other collections foretell."""
    names = dict.fromkeys(part.collection for part in of)
    curves = {name: fit([part for part in of if part.collection != name], measure) for name in names}
    return [(part, curves[part.collection](measure.features(part))) for part in of]


def _record(of: Sequence[Part], measure: Measure) -> dict[str, object]:
    foretold = leave_one_out(of, measure)
    errors = sorted(abs(share - measure.value(part)) for part, share in foretold)
    means = leave_one_out(of, replace(measure, features=lambda _: (0.0,)))
    curve = fit(of, measure)
    return {
        "bias": curve.bias,
        "weights": curve.weights,
        "mean_error": sum(errors) / len(errors),
        "error": errors[min(int(COVERED * len(errors)), len(errors) - 1)],
        "error_of_the_mean": float(np.mean([abs(share - measure.value(part)) for part, share in means])),
        "foretold": [share for _, share in foretold],
    }


@guarded
def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, fit and print; `--output` keeps the record."""
    typed = list(sys.argv[1:] if arguments is None else arguments)
    parser = argparse.ArgumentParser(prog="python -m training.audit", description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="folder of the collections")
    parser.add_argument("--doubt", action="store_true", help="measure how well doubt is calibrated instead")
    parser.add_argument("--seed", type=int, default=42)
    parser.add_argument("--output", type=Path, metavar="FILE", help="keep the record there")
    parsed = parser.parse_args(typed)
    found: list[Part] = []
    calibrated: list[dict[str, object]] = []
    try:
        for name, asked in COLLECTIONS.items():
            if not (parsed.data / name).is_dir():
                raise BadInput(
                    f"{parsed.data / name} is not there: name the folder of {', '.join(COLLECTIONS)}"
                )
            law = registry.law(parsed.data / name)
            if asked:
                law = replace(law, questions=attach(read_cited(asked), law.articles))
            if parsed.doubt:
                if asked:  # written beside the law, so that they share its words: no people
                    continue
                calibrated.append(doubts(law, name, parsed.seed))
                sys.stdout.write(json.dumps(calibrated[-1]) + "\n")
                continue
            for part in parts(law, name, parsed.seed):
                sys.stdout.write(json.dumps(asdict(part)) + "\n")
                found.append(part)
    except PandectError as error:
        sys.stderr.write(f"error: {error}\n")
        return 2
    command = {"command": shlex.join(["python", "-m", "training.audit", *typed]), "commit": commit()}
    if parsed.doubt:
        _keep({**command, "laws": calibrated}, parsed.output)
        return 0
    measures = {name: _record(found, measure) for name, measure in MEASURES.items()}
    for name, record in measures.items():
        told = {key: value for key, value in record.items() if key != "foretold"}
        sys.stdout.write(f"{name} {json.dumps(told, indent=1)}\n")
    _keep({**command, "measures": measures, "parts": [asdict(part) for part in found]}, parsed.output)
    return 0


def _keep(record: Mapping[str, object], output: Path | None) -> None:
    if output:
        output.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
