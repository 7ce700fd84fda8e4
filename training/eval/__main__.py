"""`python -m training.eval`: measure systems on a corpus and its questions."""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import date
from functools import partial
from pathlib import Path

from indexes.build.encoder_choice import FIT_FROM
from indexes.build.fit_settings import refuse_no_fit
from indexes.cli.progress import Bars
from indexes.cli.terminal import guarded
from indexes.corpus.corpus import Corpus
from indexes.store import paths
from indexes.store.open_index import open_index
from rag.corpus.card import CorpusCard
from rag.corpus.licence import provenance
from rag.errors import BadInput
from rag.types import Question
from training.eval import report
from training.eval.external import add_options, external_systems, hub_models
from training.eval.folds import FoldChoice, FoldEvaluation, ask
from training.eval.metrics import DEFAULT, parse
from training.eval.questions import (
    Plan,
    add_question_options,
    add_training_questions,
    describe_day,
    filter_on,
    folded,
    grouped,
    leaks,
    learnt_files,
    learnt_from,
    planned,
    prepare,
    questions_of_split,
)
from training.eval.report import notices, question_cards, warnings
from training.eval.run import Measured, measure
from training.eval.system_names import SYSTEMS, refuse_unfit, runnable
from training.eval.workbench import Bench
from training.fusion import curves
from training.splits.file import about
from training.tables.comparisons import compared, table

EPILOG = """\
examples
  what ships, on the test questions that nothing was fitted to (under a minute):
    python -m training.eval
  a benchmark of your own, five folds: what learns sees four fifths, the last fifth is asked:
    python -m training.eval --corpus law/articles.jsonl.gz --questions law/questions.jsonl --folds 5
  folds that keep nearly the same questions together (python -m training.splits writes the file):
    python -m training.eval --corpus law --splits grouped.splits.jsonl
  real questions, learning from others that were written for the same law:
    python -m training.eval --corpus law --questions law/questions_dev.jsonl --annotated written.jsonl
  with word vectors and a pretrained encoder, neither learnt here (docs/measure.md):
    python -m training.eval --corpus law --vectors cc.fr.300.bin --encoder multilingual-e5-base
  every fusion of some systems, when it helps, and how they complement each other (see its --help):
    python -m training.eval fuse --corpus law --systems bm25 ql dense-law
  written answers, with a model or without one (it has a --help of its own):
    python -m training.eval answers --help

files
  articles.jsonl(.gz)   {"id", "code", "article_no", "headings": [..], "text"} a line
  questions.jsonl       {"id", "question", "article_ids": [..]} a line, or "code" and "article_no"
  --output DIR          metrics.json (fractions), metrics.csv, one TREC run a system, their judgements

systems
  bm25            text, headings and code of each article
  bm25+questions  the same, each article carrying the questions to learn from that cite it
  tfidf, ql       the papers' other lexical baselines
  dense           the static encoder fitted to the law, and to the questions to learn from
  hybrid          reciprocal rank fusion of the best BM25 and the encoder; of the index that ships, the fusion
                  that its page answers with
  tuned           their fusion with weights of 0.05 steps and a scale chosen inside folds of the questions
                  to learn from, each asked of systems that learnt from the others. Where an encoder is
                  given (the index that ships) there are no such questions: it has learnt from all
  learned         boosted trees (LambdaMART) and small networks over what all systems say of the first 1,000
                  candidates, fitted inside folds in the same way; from 100 questions to learn from on
and when named
  bm25+preceding  text, headings and code, and a part of the words of the article before: what an index
                  without annotated questions answers with
  dense-law       the encoder fitted to the law alone
  nearest         the articles that the most similar questions to learn from cite, and those around them
  learned-without:GROUP,..  without features of these groups: words meaning questions place both prior general
                  bridge; learned-without:networks is the trees alone
  model:NAME      a retriever that training.train made, of --trained NAME=FOLDER; with folds, the one of
                  FOLDER that has learnt from none of the questions asked
  run:NAME        what another system found, of --run NAME=FILE in TREC's format
  HOW:SYSTEM      of --rerank: the first articles of SYSTEM in another order, such as
                  model:NAME:rrf:bm25,dense by a trained cross-encoder
  WAY:SYSTEM      SYSTEM ranked by the legislative graph, WAY of siblings references cocited pagerank, its
                  weight chosen inside folds as for tuned; WAY@WEIGHT:SYSTEM with this weight
  METHOD          another fusion of the hybrid's two: rrf borda min-max z-score percentile comb-sum comb-mnz
  vectors:NAME    means of the word vectors of --vectors; encoder:NAME a pretrained model of --encoder
  METHOD:A,B,..   a fusion of these systems, such as rrf:bm25,dense-law or tuned:bm25,ql,dense

A system is compared with the best single one by each measure, a fusion that names its parts with the
best of them: paired bootstrap and t-test, Holm's correction over all comparisons of the run.
"""


def parser() -> argparse.ArgumentParser:
    """Return the command line's grammar."""
    top = argparse.ArgumentParser(
        prog="python -m training.eval",
        description="Measure retrieval systems: recall, MRR, nDCG and more, with 95 % confidence intervals.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = top.add_argument
    add_question_options(top)
    number = partial(add, type=int, metavar="N")
    add("--systems", nargs="+", metavar="SYSTEM", help=f"of: {' '.join(SYSTEMS)} (all that can run)")
    add("--measures", nargs="+", default=list(DEFAULT), metavar="MEASURE", help=" ".join(DEFAULT))
    number(
        "--jobs",
        default=1,
        help="ask so many folds side by side, in processes of their own: the times told of a question are "
        "then longer than alone (1); OMP_NUM_THREADS=1 before the command keeps them out of each other's way",
    )
    add("--tune", action="store_true", help="choose k1, b, field weights, stop words inside folds")
    add("--curves", action="store_true", help="in --output: what every weight of a pair would give, drawn")
    add(
        "--in-force-on",
        type=date.fromisoformat,
        metavar="YYYY-MM-DD",
        help="search only the law in force on this day, where articles say from when to when they are",
    )
    add("--output", type=Path, help="a new folder for metrics.json, metrics.csv, TREC runs")
    add_options(top)
    return top


@guarded
def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print the table, write the files."""
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    typed = list(sys.argv[1:] if arguments is None else arguments)
    if typed[:1] == ["answers"]:
        from training.answers.__main__ import main as answers

        return answers(typed[1:])
    if typed[:1] == ["fuse"]:
        from training.eval.fuse import main as fuse

        return fuse(typed[1:])
    parsed = parser().parse_args(typed)
    evaluate(parsed, ["python", "-m", "training.eval", *typed])
    return 0


def evaluate(parsed: argparse.Namespace, command: Sequence[str]) -> None:
    """Run the evaluation that the arguments describe."""
    _refuse(parsed)
    progress = Bars()
    bench, questions, annotated = prepare(parsed, progress)
    questions = questions_of_split(questions, parsed.part)
    plan = add_training_questions(planned(parsed, questions, annotated), parsed.beside, bench.corpus)
    bench.inner.fold_of = grouped(parsed) if parsed.annotated is None else None
    if not any(q.article_ids for held, _, _ in plan for q in held):
        which = "question" if parsed.only_fold is None else f"question of fold {parsed.only_fold}"
        raise BadInput(
            f"no {which} has gold articles: give --questions with article_ids, or code and article_no"
        )
    evaluate_plan(parsed, bench, plan, command, progress, annotated=annotated)


def evaluate_plan(
    parsed: argparse.Namespace,
    bench: Bench,
    plan: Plan,
    command: Sequence[str],
    progress: Bars,
    *,
    annotated: Sequence[Question] = (),
    facts: Mapping[str, object] | None = None,
) -> None:
    """Measure the systems that the arguments name on a plan, print the tables, write the result.

    `annotated` are the questions of `--annotated`; `facts` go into metrics.json, in the place of its own.
    """
    corpus = bench.corpus
    learning = min(sum(bool(q.article_ids) for q in learn) for _, learn, _ in plan)
    ready = {"given": bench.given is not None, "ranker": bench.ranker is not None}
    test_questions = [q for held, _, _ in plan for q in held]
    with external_systems(parsed, test_questions, partial(print, file=sys.stderr)) as bench.more:
        names = parsed.systems or [*runnable(learning, **ready), *bench.more]
        has_training = bool(folded(parsed) or annotated or learning)
        refuse_unfit(names, learning=has_training, more=bench.more, **ready)
        if known := leaks(plan):
            warning = f"warning: {known} of the questions asked are also learnt from, word for word"
            print(warning, file=sys.stderr)
        where = filter_on(corpus, parsed.in_force_on)
        evaluation = FoldEvaluation(bench, names, plan, annotated, parsed.tune, where)
        chosen, collected = ask(evaluation, parsed.jobs, progress)
    progress.close()
    results = measure(collected, test_questions, parsed.seed, parsed.measures)
    notice_counts = notices(open_index(paths.BUILTIN), test_questions) if parsed.corpus is None else {}
    comparisons = compared(results, parsed.measures, parsed.seed)
    cards = question_cards(corpus.card, learnt_files(parsed))
    _print_results(parsed, corpus, cards, test_questions, results, chosen, notice_counts)
    if comparisons:
        print(table(comparisons))
    if parsed.output is not None:
        gold = sum(bool(q.article_ids) for q in test_questions)
        entry = report.record(
            results,
            corpus,
            command=command,
            questions=gold,
            unanswerable=len(test_questions) - gold,
            seed=parsed.seed,
            tuned_on="the other folds" if parsed.tune else None,
            learnt_from=learnt_from(parsed, annotated, parsed.beside),
        )
        entry |= {"in_force_on": parsed.in_force_on.isoformat()} if parsed.in_force_on else {}
        entry |= hub_models(bench.more, results)
        if parsed.jobs > 1:
            entry["jobs"] = parsed.jobs  # the times of a question are of so many beside each other
        entry["sources"] = [provenance(card) for card in cards]
        if notice_counts:
            entry["notices"] = notice_counts
        entry |= about(parsed.splits)
        if parsed.tune:
            entry["tuned"] = [asdict(of.settings) for of in chosen]
        if any(of.fusions for of in chosen):
            entry["fusions"] = [{n: choice.to_json() for n, choice in of.fusions.items()} for of in chosen]
        entry["comparisons"] = [c.to_json() for c in comparisons]
        drawn = None
        qrels = {q.id: frozenset(q.article_ids) for q in test_questions if q.article_ids}
        if parsed.curves:
            runs = {name: result.run for name, result in results.items()}
            title = f"{corpus.card.name}: fusing two systems, R@10 by weight"
            drawn = partial(curves.write, found=curves.measured(runs, qrels), title=title)
        entry |= facts or {}
        report.write(parsed.output, results, entry, drawn, qrels)
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


def _print_results(
    parsed: argparse.Namespace,
    corpus: Corpus,
    cards: Sequence[CorpusCard],
    questions: Sequence[Question],
    results: Mapping[str, Measured],
    chosen: Sequence[FoldChoice],
    counts: Mapping[str, Mapping[str, int]],
) -> None:
    gold = sum(bool(q.article_ids) for q in questions)
    rest = f" and {len(questions) - gold} without (not measured here)" if gold < len(questions) else ""
    title = corpus.card.title or corpus.card.name
    print(f"{title}: {len(corpus.articles):,} articles, {gold} questions with gold articles{rest}")
    if parsed.in_force_on:
        print(describe_day(corpus, questions, parsed.in_force_on))
    for line in warnings(cards):
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
            print(f"fold {i}: {name} is {choice}")
    for kind, row in counts.items():
        print(f"{kind}: told that another law governs it: {row['told']} of {row['questions']} questions")


if __name__ == "__main__":
    sys.exit(main())
