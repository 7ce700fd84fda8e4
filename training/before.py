"""Measures what is decided before a model is asked."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import indexes
from indexes.corpus.questions import read_questions
from training import screening


def main() -> None:
    """Print the numbers as JSON."""
    parser = argparse.ArgumentParser(prog="python -m training.before", description=__doc__)
    parser.add_argument("--cases", type=Path, required=True, help="folder of the written cases")
    options = parser.parse_args()
    cases: Path = options.cases
    engine = indexes.open("builtin")
    engine.warm()
    builtin, articles = Path(indexes.__file__).parent / "builtin", engine.articles.values()
    tests = read_questions(builtin / "questions_test.jsonl", articles)
    unanswerable = read_questions(builtin / "questions_unanswerable_dev.jsonl", articles)
    annotated = read_questions(builtin / "index" / "corpus" / "questions.jsonl", articles)
    answerable = [question for question in tests if question.article_ids]
    numbers = {
        "urgent": screening.urgent(cases / "urgent.tsv"),
        "foreign": screening.foreign(cases / "foreign.tsv"),
        "foreign, final": screening.foreign(cases / "foreign_final.tsv"),
        "personal": screening.personal(cases / "personal.tsv"),
        "personal, final": screening.personal(cases / "personal_final.tsv"),
        "off topic": screening.off_topic(cases / "not_law.tsv", engine),
        "off topic, final": screening.off_topic(cases / "not_law_final.tsv", engine),
        "test questions": screening.decisions(tests, engine),
        "unanswerable": screening.decisions(unanswerable, engine),
        "follow-ups": screening.follow_ups(cases / "follow_up.tsv", engine),
        "extracts, half 0": screening.extracts(answerable, annotated, engine, 0),
        "extracts, half 1": screening.extracts(answerable, annotated, engine, 1),
        "milliseconds": screening.milliseconds(tests, engine),
    }
    print(json.dumps(numbers, indent=1, ensure_ascii=False))


if __name__ == "__main__":
    main()
