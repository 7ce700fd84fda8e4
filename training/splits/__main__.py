"""`python -m training.splits`: writes which questions are held back together, to a file."""

from __future__ import annotations

import argparse
import logging
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from indexes.cli.terminal import guarded
from indexes.corpus.corpus import Corpus
from indexes.corpus.folds import Fold, folds, grouped_folds
from indexes.corpus.questions import read_questions
from indexes.sources import registry
from rag.errors import BadInput
from rag.text.analysers import analyser
from rag.types import Question
from training.splits.file import Kind, QuestionSplit, identity, write_split
from training.splits.near_duplicates import THRESHOLD, Pair, agreeing, groups, near_duplicates

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
NEGATIVES = "negatives"  # the extra column of questions in which an import keeps hard negatives


def make_split(parsed: argparse.Namespace) -> tuple[QuestionSplit, list[str]]:
    """Return the split that the command line asks for, with notes on it; BadInput: it cannot be made."""
    corpus = registry.law(parsed.corpus, language=parsed.language)
    questions = corpus.questions
    if parsed.questions is not None:
        questions = read_questions(parsed.questions, corpus.articles)
    kind: Kind = "fixed" if parsed.fixed else "grouped" if parsed.grouped or parsed.group_by else "folds"
    about: dict[str, object] = {}
    lines: list[str] = []
    made: list[Fold] = []
    if kind == "fixed":
        if parsed.grouped or parsed.group_by:
            published = "--fixed takes the parts as they were published"
            raise BadInput(f"{published}: leave out --grouped and --group-by")
    elif parsed.threshold is not None and not parsed.grouped:
        raise BadInput("--threshold says when questions are nearly the same: add --grouped")
    elif kind == "folds":
        made = folds(len(questions), parsed.folds, parsed.seed)
    else:
        pairs, about, lines = _joined(corpus, questions, parsed)
        found = groups(len(questions), pairs)
        sizes = Counter(found).values()
        several, largest = sum(size > 1 for size in sizes), max(sizes, default=0)
        about |= {"groups": len(sizes), "largest": largest}
        of = f"{several:,} of more than one question, the largest of {largest:,}"
        lines.append(f"{len(sizes):,} groups, {of}")
        made = grouped_folds(found, parsed.folds, parsed.seed)
        if parsed.folds <= len(questions):
            apart = straddling(pairs, folds(len(questions), parsed.folds, parsed.seed))
            lines.append(f"plain folds of this seed would part {apart:,} of the {len(pairs):,} pairs")
    held = {str(i): tuple(questions[at].id for at in fold.held) for i, fold in enumerate(made)}
    parts = fixed(questions) if kind == "fixed" else held
    known = {article.id for article in corpus.articles}
    hard: dict[str, tuple[str, ...]] = {}
    for question in questions:
        listed = corpus.question_extras.get(question.id, {}).get(NEGATIVES)
        ids = tuple(str(id_) for id_ in listed if str(id_) in known) if isinstance(listed, list) else ()
        if ids:
            hard[question.id] = ids
    each = ", ".join(f"{name} {len(ids):,}" for name, ids in parts.items())
    sum_up = f"{sum(map(len, parts.values())):,} questions in {len(parts)} parts: {each}"
    seed = None if parsed.fixed else parsed.seed
    split = QuestionSplit(
        kind, parts, identity(questions), corpus.card.name, corpus.sha256, seed, about, hard
    )
    return split, [sum_up, *lines]


def _joined(
    corpus: Corpus, questions: Sequence[Question], parsed: argparse.Namespace
) -> tuple[list[Pair], dict[str, object], list[str]]:
    """Return the pairs that must stay together, and how they were found: for the file, and for people."""
    pairs: list[Pair] = []
    about: dict[str, object] = {}
    lines = []
    if parsed.grouped:
        threshold = THRESHOLD if parsed.threshold is None else parsed.threshold
        language_analyser = analyser(corpus.card.language)
        pairs = near_duplicates([question.text for question in questions], language_analyser.terms, threshold)
        about = {"near_duplicates": len(pairs), "jaccard": threshold, "analyser": language_analyser.id}
        lines.append(f"{len(pairs):,} pairs are the same or nearly the same (Jaccard {threshold:g} of terms)")
    for name in parsed.group_by:
        agreed = agreeing(questions, name, corpus.question_extras)
        pairs += agreed
        lines.append(f"{len(agreed):,} links between questions that agree in {name}")
    if parsed.group_by:
        about["by"] = parsed.group_by
    return pairs, about, lines


def straddling(pairs: Sequence[Pair], parts: Sequence[Fold]) -> int:
    """Count the pairs whose two questions are held back in different folds."""
    number = {position: i for i, fold in enumerate(parts) for position in fold.held}
    return sum(number[one] != number[other] for one, other in pairs)


def fixed(questions: Sequence[Question]) -> dict[str, tuple[str, ...]]:
    """Return the parts that questions name, in the order in which they come; BadInput: one names none."""
    without = [question.id for question in questions if not question.split]
    if without or not questions:
        raise BadInput(
            f"{len(without)} of {len(questions)} questions have no split (the first: "
            f"{without[0] if without else 'none'}): give each one in the field split, or make --folds"
        )
    parts: dict[str, list[str]] = {}
    for question in questions:
        parts.setdefault(str(question.split), []).append(question.id)
    return {name: tuple(ids) for name, ids in parts.items()}


@guarded
def main(arguments: Sequence[str] | None = None) -> int:
    """Make the folds that were asked for, write them, and say what they are."""
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    parsed = parser().parse_args(arguments)
    if parsed.output.exists():
        raise BadInput(f"{parsed.output} is there already: remove it or give another --output")
    split, lines = make_split(parsed)
    write_split(parsed.output, split)
    print(*lines, f"written: {parsed.output}", sep="\n")
    return 0


def parser() -> argparse.ArgumentParser:
    """Return the command line's grammar."""
    top = argparse.ArgumentParser(
        prog="python -m training.splits",
        description="Write which questions are held back together, to a file that training.eval reads.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("corpus", type=Path, help="a corpus folder or its articles' file")
    top.add_argument("--questions", type=Path, help="the questions to split (those of the corpus)")
    languages = "of a corpus without card.json: fr, nl, en, de, it or zh"
    top.add_argument("--language", metavar="XX", help=languages)
    how = top.add_mutually_exclusive_group(required=True)
    how.add_argument("--folds", type=int, metavar="K", help="k folds, each held back once")
    how.add_argument("--fixed", action="store_true", help="by the questions' own field split")
    top.add_argument("--seed", type=int, default=42, help="of the folds (42)")
    same = "keep the same and nearly the same questions in one fold"
    top.add_argument("--grouped", action="store_true", help=same)
    least = f"with --grouped: the Jaccard index of terms from which two are nearly the same ({THRESHOLD})"
    top.add_argument("--threshold", type=float, metavar="J", help=least)
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


if __name__ == "__main__":
    sys.exit(main())
