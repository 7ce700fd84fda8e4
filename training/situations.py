"""`python -m training.situations`: whether a sentence on the asker in front of a question helps to answer it.

Of questions for which somebody noted what is true of the asker, three forms are asked: as it is, with the
right sentence in front, with a wrong one. Differences from the first are paired, with an interval by
bootstrap.
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from random import Random
from typing import Any

import indexes
from indexes.cli.terminal import guarded
from indexes.corpus.questions import read_questions
from indexes.describing.significance import interval
from rag.corpus.asker_situations import in_front, situations
from rag.engine.engine import Engine
from rag.errors import BadInput
from rag.types import Question, Ranking
from training.eval.metrics import per_question
from training.eval.report import commit

MEASURES = ("R@10", "MRR@10")
FORMS = ("as it is", "right", "wrong")
SEED = 42  # of the wrong sentences and of the bootstrap


def read_labels(path: Path) -> dict[str, str]:
    """Read question id -> situation from a file with a tab between them; lines that begin with "#" are notes.

    Raises:
        BadInput: a line of another form.
    """
    labels = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if not line or line.startswith("#"):
            continue
        id_, tab, situation = line.partition("\t")
        if not tab or not situation:
            raise BadInput(f"{path}, line {number}: {line!r}; write a question's id, a tab and a situation")
        labels[id_] = situation
    return labels


def fronts(labels: Mapping[str, str], language: str) -> dict[str, tuple[str, str]]:
    """Return for each question the right sentence and a wrong one, drawn from those of the other questions.

    Raises:
        BadInput: a situation that the language does not have, or only one.
    """
    says = {each.id: each.says for each in situations(language)}
    used = sorted(set(labels.values()))
    if unknown := [name for name in used if name not in says]:
        raise BadInput(f"no situation {', '.join(unknown)}: choose among {', '.join(says)}")
    if len(used) < 2:
        raise BadInput("one situation alone: a wrong one cannot be drawn")
    rng = Random(SEED)  # noqa: S311 - a draw that is to be the same every time
    return {
        id_: (says[right], says[rng.choice([name for name in used if name != right])])
        for id_, right in labels.items()
    }


def measure(
    engine: Engine, questions: Sequence[Question], phrases: Mapping[str, tuple[str, str]]
) -> dict[str, Any]:
    """Return mode -> measure -> form -> value, with the differences from the question as it is."""
    qrels = {question.id: frozenset(question.article_ids) for question in questions}
    numbers: dict[str, Any] = {}
    for mode in engine.modes:
        values: dict[str, Mapping[str, Any]] = {}
        doubtful = {}
        for form in FORMS:
            results = {q.id: engine.ask(_form(q, form, phrases), mode=mode) for q in questions}
            doubtful[form] = sum(result.doubtful for result in results.values())
            run = {
                id_: Ranking.of((shown.article.id, -float(shown.rank)) for shown in result.shown)
                for id_, result in results.items()
            }
            values[form] = per_question(qrels, run, MEASURES)
        plain = values[FORMS[0]]
        numbers[mode] = {
            name: {
                form: asdict(interval(of[name] if of is plain else of[name] - plain[name], SEED))
                for form, of in values.items()
            }
            for name in MEASURES
        }
        numbers[mode]["called doubtful"] = doubtful
    return numbers


def _form(question: Question, form: str, phrases: Mapping[str, tuple[str, str]]) -> str:
    right, wrong = phrases[question.id]
    return in_front({"right": [right], "wrong": [wrong]}.get(form, []), question.text)


@guarded
def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, write."""
    builtin = Path(indexes.__file__).parent / "builtin"
    about = "What a sentence on the asker does to a search."
    parser = argparse.ArgumentParser(prog="python -m training.situations", description=about)
    parser.add_argument("--labels", type=Path, required=True, help="question id, tab, situation")
    parser.add_argument("--index", default="builtin", help="name or path")
    parser.add_argument("--questions", type=Path, default=builtin / "questions_test.jsonl")
    parser.add_argument("--output", type=Path, help="write the numbers there as JSON")
    parsed = parser.parse_args(arguments)
    engine = indexes.open(parsed.index)
    labels = read_labels(parsed.labels)
    read = read_questions(parsed.questions, engine.articles.values())
    questions = [question for question in read if question.id in labels]
    if lost := sorted(labels.keys() - {question.id for question in questions}):
        some = ", ".join(lost[:3])
        raise BadInput(f"{parsed.questions} has no question {some}: give the file of the labels")
    numbers = measure(engine, questions, fronts(labels, engine.card.language))
    typed = sys.argv[1:] if arguments is None else arguments
    found = {
        "kind": "situations",
        "command": shlex.join(["python", "-m", "training.situations", *typed]),
        "commit": commit(),
        "index": engine.info.version,
        "questions": len(questions),
        "seed": SEED,
        "modes": numbers,
    }
    text = json.dumps(found, indent=1)
    print(text)  # noqa: T201
    if parsed.output is not None:
        parsed.output.write_text(text + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
