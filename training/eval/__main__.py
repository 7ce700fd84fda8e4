"""`python -m training.eval`: measure systems on a corpus and its questions."""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path

from indexes.build.encoder_choice import FIT_FROM
from indexes.build.fit_settings import refuse_no_fit
from indexes.cli.progress import Bars
from indexes.corpus.corpus import Corpus
from indexes.store import paths
from indexes.store.open_index import open_index
from rag.corpus.licence import provenance
from rag.errors import BadInput, PandectError
from rag.types import Question
from training.eval import dated, report
from training.eval.eval_grammar import parser
from training.eval.external import brought
from training.eval.folds import Chosen, Evaluation, ask
from training.eval.metrics import parse
from training.eval.notices import notices
from training.eval.provenance import cards_of, warnings
from training.eval.questions import (
    Plan,
    file_of,
    folded,
    leaks,
    part_of,
    planned,
    prepare,
    with_those_beside,
)
from training.eval.run import Measured, measure
from training.eval.system_names import refuse_unfit, runnable
from training.fusion import curves
from training.splits.split_folds import about
from training.tables.comparisons import compared, table


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print the table, write the files."""
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    typed = list(sys.argv[1:] if arguments is None else arguments)
    if typed[:1] == ["answers"]:
        from training.answers.__main__ import main as answers  # it uses this module

        return answers(typed[1:])
    parsed = parser().parse_args(typed)
    try:
        evaluate(parsed, ["python", "-m", "training.eval", *typed])
    except PandectError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


def evaluate(parsed: argparse.Namespace, command: Sequence[str]) -> None:
    """Run the evaluation that the arguments describe."""
    _refuse(parsed)
    progress = Bars()
    bench, questions, annotated = prepare(parsed, progress)
    questions = part_of(questions, parsed.part)
    corpus = bench.corpus
    plan = with_those_beside(planned(parsed, questions, annotated), parsed.beside, corpus)
    if not any(q.article_ids for held, _, _ in plan for q in held):
        which = "question" if parsed.only_fold is None else f"question of fold {parsed.only_fold}"
        raise BadInput(
            f"no {which} has gold articles: give --questions with article_ids, or code and article_no"
        )
    learning = min(sum(bool(q.article_ids) for q in learn) for _, learn, _ in plan)
    ready = {"given": bench.given is not None, "ranker": bench.ranker is not None}
    asked = [q for held, _, _ in plan for q in held]
    with brought(parsed, asked, partial(print, file=sys.stderr)) as bench.more:
        names = parsed.systems or [*runnable(learning, **ready), *bench.more]
        refuse_unfit(names, learning=bool(folded(parsed) or annotated), more=bench.more, **ready)
        _warn_of_leaks(plan)
        where = dated.searched(corpus, parsed.in_force_on)
        evaluation = Evaluation(bench, names, plan, annotated, parsed.tune, where)
        chosen, collected = ask(evaluation, parsed.jobs, progress)
    progress.close()
    results = measure(collected, asked, parsed.seed, parsed.measures)
    told = notices(open_index(paths.BUILTIN), asked) if parsed.corpus is None else {}
    comparisons = compared(results, parsed.measures, parsed.seed)
    _tell(parsed, corpus, asked, results, chosen, told)
    if comparisons:
        print(table(comparisons))
    if parsed.output is not None:
        gold = sum(bool(q.article_ids) for q in asked)
        entry = report.record(
            results,
            corpus,
            command=command,
            questions=gold,
            unanswerable=len(asked) - gold,
            seed=parsed.seed,
            tuned_on="the other folds" if parsed.tune else None,
            learnt_from=learnt_from(parsed, annotated, parsed.beside),
        )
        entry |= dated.about(parsed.in_force_on)
        if parsed.jobs > 1:
            entry["jobs"] = parsed.jobs  # the times of a question are of so many beside each other
        cards = cards_of(corpus.card, learnt_files(parsed))
        entry["sources"] = [provenance(card) for card in cards]
        if told:
            entry["notices"] = told
        entry |= about(parsed.splits)
        if parsed.tune:
            entry["tuned"] = [asdict(of.settings) for of in chosen]
        if any(of.fusions for of in chosen):
            entry["fusions"] = [{n: choice.to_json() for n, choice in of.fusions.items()} for of in chosen]
        entry["comparisons"] = [c.to_json() for c in comparisons]
        report.write(parsed.output, results, entry, _curves(parsed, corpus, asked, results))
        print(f"written: {parsed.output}")


def _refuse(parsed: argparse.Namespace) -> None:
    """Refuse now what would fail after the work."""
    if parsed.output is not None and parsed.output.exists():
        raise BadInput(f"{parsed.output} is there already: remove it or give another --output")
    if parsed.jobs < 1:
        raise BadInput(f"--jobs {parsed.jobs}: give 1 or more")
    refuse_no_fit(parsed.fits)
    if parsed.beside is not None and parsed.corpus is None:
        raise BadInput(
            f"--beside {parsed.beside}: the index that ships has learnt from its questions already: "
            "add --corpus to fit one anew"
        )
    if parsed.beside is not None and parsed.tune:
        raise BadInput("--tune chooses without what --beside adds: leave one of them out")
    if parsed.curves and parsed.output is None:
        raise BadInput("--curves needs --output: give a new folder for curves.json and curves.svg")
    for name in parsed.measures:
        parse(name)  # a misspelt one


def _tell(
    parsed: argparse.Namespace,
    corpus: Corpus,
    asked: Sequence[Question],
    results: Mapping[str, Measured],
    chosen: Sequence[Chosen],
    told: Mapping[str, Mapping[str, int]],
) -> None:
    """Print the tables."""
    gold = sum(bool(q.article_ids) for q in asked)
    rest = f" and {len(asked) - gold} without (not measured here)" if gold < len(asked) else ""
    title = corpus.card.title or corpus.card.name
    print(f"{title}: {len(corpus.articles):,} articles, {gold} questions with gold articles{rest}")
    if parsed.in_force_on:
        print(dated.told(corpus, asked, parsed.in_force_on))
    for line in warnings(cards_of(corpus.card, learnt_files(parsed))):
        print(line)
    if parsed.corpus is not None and "dense" in results and len(corpus.articles) < FIT_FROM:
        print(
            f"dense is fitted to these articles; an index of fewer than {FIT_FROM:,} borrows the French "
            "encoder or stays with keywords (python -m indexes build --encoder fit does as here)"
        )
    print(report.table(results, parsed.measures))
    for i, of in enumerate(chosen):
        if parsed.tune:
            print(f"fold {i}: tuned to {of.settings}")
        for name, choice in of.fusions.items():
            print(f"fold {i}: {name} is {choice.settings.method} of {dict(choice.settings.weights)}")
    for kind, row in told.items():
        print(f"{kind}: told that another law governs it: {row['told']} of {row['questions']} questions")


def _curves(
    parsed: argparse.Namespace,
    corpus: Corpus,
    asked: Sequence[Question],
    results: Mapping[str, Measured],
) -> Callable[[Path], object] | None:
    """Return what writes the curves over alpha, where they are wanted."""
    if not parsed.curves:
        return None
    runs = {name: result.run for name, result in results.items()}
    found = curves.measured(runs, {q.id: frozenset(q.article_ids) for q in asked if q.article_ids})
    return partial(curves.write, found=found, title=f"{corpus.card.name}: fusing two systems, R@10 by weight")


def learnt_from(
    parsed: argparse.Namespace, annotated: Sequence[Question], beside: Path | None = None
) -> str | None:
    """Return which questions the systems learnt from, as a result file says it; None for none."""
    if parsed.annotated is not None:
        told = str(parsed.annotated)
    elif annotated:
        told = "the annotated questions that ship"
    elif folded(parsed):
        told = "the other folds"
    else:
        return None
    return told if beside is None else f"{told}, and {beside}"


def learnt_files(parsed: argparse.Namespace) -> list[Path | None]:
    """Return the files of questions that are asked or learnt from, None for what was not named."""
    return [parsed.questions, file_of(parsed.annotated), file_of(parsed.beside)]


def _warn_of_leaks(plan: Plan) -> None:
    if known := leaks(plan):
        told = f"warning: {known} of the questions asked are also learnt from, word for word"
        print(told, file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
