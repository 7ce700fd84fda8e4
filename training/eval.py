"""`python -m training.eval`: measure systems on a corpus and its questions."""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path

from indexes import sources, store
from indexes.build import FIT_FROM
from indexes.builtin_corpus import TEST, read_test_questions
from indexes.corpus import Corpus, attach, read, read_cited, read_questions, to_learn_from
from indexes.progress import Bars
from rag.encoders.static import StaticEncoder
from rag.errors import BadInput, PandectError
from rag.text.analysers import analyser
from rag.types import Question
from training import report
from training.bench import LEARNING, SYSTEMS, Bench, Settings, refuse_unfit
from training.measure import Collected, Measured, answer, measure
from training.metrics import DEFAULT, parse
from training.notices import notices
from training.splits import folds, pick
from training.tune import choose

EPILOG = """\
examples
  what ships, on the test questions that nothing was fitted to (under a minute):
    python -m training.eval
  a benchmark of your own, five folds: what learns sees four fifths, the last fifth is asked:
    python -m training.eval --corpus law/articles.jsonl.gz --questions law/questions.jsonl --folds 5
  real questions, learning from others that were written for the same law:
    python -m training.eval --corpus law --questions law/questions_dev.jsonl --annotated written.jsonl

files
  articles.jsonl(.gz)   {"id", "code", "article_no", "headings": [..], "text"} a line
  questions.jsonl       {"id", "question", "article_ids": [..]} a line, or "code" and "article_no"
  --output DIR          metrics.json (fractions), metrics.csv, one TREC run a system

systems
  bm25            text, headings and code of each article
  bm25+questions  the same, each article carrying the questions to learn from that cite it
  tfidf, ql       the papers' other lexical baselines
  dense           the static encoder fitted to the law, and to the questions to learn from
  hybrid          reciprocal rank fusion of the best BM25 and the encoder
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print the table, write the files."""
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    typed = list(sys.argv[1:] if arguments is None else arguments)
    parsed = parser().parse_args(typed)
    try:
        evaluate(parsed, ["python", "-m", "training.eval", *typed])
    except PandectError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


def parser() -> argparse.ArgumentParser:
    """Return the command line's grammar."""
    top = argparse.ArgumentParser(
        prog="python -m training.eval",
        description="Measure retrieval systems: recall, MRR, nDCG and more, with 95 % confidence intervals.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("--corpus", type=Path, help="a corpus folder or its articles' file (the one that ships)")
    top.add_argument(
        "--language", metavar="XX", help="of a corpus without card.json: fr, nl, en, de, it or zh"
    )
    top.add_argument("--questions", type=Path, help="questions with gold articles (those of the corpus)")
    top.add_argument("--annotated", type=Path, help="other questions to learn from; --questions stay unseen")
    top.add_argument(
        "--systems", nargs="+", metavar="SYSTEM", help=f"of: {' '.join(SYSTEMS)} (all that can run)"
    )
    top.add_argument(
        "--measures", nargs="+", default=list(DEFAULT), metavar="MEASURE", help=" ".join(DEFAULT)
    )
    top.add_argument("--folds", type=int, help="cross-validate: learn from the other folds")
    top.add_argument(
        "--only-fold", type=int, metavar="I", help="ask the questions of this fold alone, from 0"
    )
    top.add_argument("--seed", type=int, default=42, help="of folds and bootstrap (42)")
    top.add_argument(
        "--tune", action="store_true", help="choose k1, b, field weights, stop words inside folds"
    )
    top.add_argument("--output", type=Path, help="a new folder for metrics.json, metrics.csv and TREC runs")
    top.add_argument(
        "--cache", type=Path, help="where indexes built on the fly are kept (under PANDECT_HOME)"
    )
    return top


def evaluate(parsed: argparse.Namespace, command: Sequence[str]) -> None:
    """Run the evaluation that the arguments describe."""
    if parsed.output is not None and parsed.output.exists():
        raise BadInput(f"{parsed.output} is there already: remove it or give another --output")
    for name in parsed.measures:
        parse(name)  # a misspelt one is told now, not after the work
    progress = Bars()
    bench, questions, annotated = prepare(parsed, progress)
    corpus = bench.corpus
    plan = _plan(parsed, questions, annotated)
    if not any(q.article_ids for held, _, _ in plan for q in held):
        which = "question" if parsed.only_fold is None else f"question of fold {parsed.only_fold}"
        raise BadInput(
            f"no {which} has gold articles: give --questions with article_ids, or code and article_no"
        )
    can_learn = bool(parsed.folds is not None or annotated)
    names = parsed.systems or [s for s in SYSTEMS if can_learn or s not in LEARNING]
    refuse_unfit(names, learning=can_learn)
    _warn_of_leaks(plan)
    collected: dict[str, Collected] = {}
    chosen: list[Settings] = []
    for held, learn, tune_on in plan:
        if parsed.tune:
            chosen.append(choose(bench, tune_on, annotated, progress))
        systems = bench.systems(names, learn, chosen[-1] if chosen else None)
        answer(systems, held, collected, partial(progress, "asking", total=len(held) * len(systems)))
    progress.close()
    asked = [q for held, _, _ in plan for q in held]
    results = measure(collected, asked, parsed.seed, parsed.measures)
    told = notices(store.open_index(store.BUILTIN), asked) if parsed.corpus is None else {}
    _tell(parsed, corpus, asked, results, chosen, told)
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
            learnt_from=_learnt_from(parsed, annotated),
        )
        if told:
            entry["notices"] = told
        if chosen:
            entry["tuned"] = [asdict(settings) for settings in chosen]
        report.write(parsed.output, results, entry)
        print(f"written: {parsed.output}")


def _tell(
    parsed: argparse.Namespace,
    corpus: Corpus,
    asked: Sequence[Question],
    results: Mapping[str, Measured],
    chosen: Sequence[Settings],
    told: Mapping[str, Mapping[str, int]],
) -> None:
    """Print the tables."""
    gold = sum(bool(q.article_ids) for q in asked)
    rest = f" and {len(asked) - gold} without (not measured here)" if gold < len(asked) else ""
    title = corpus.card.title or corpus.card.name
    print(f"{title}: {len(corpus.articles):,} articles, {gold} questions with gold articles{rest}")
    if parsed.corpus is not None and "dense" in results and len(corpus.articles) < FIT_FROM:
        print(
            f"dense is fitted to these articles; an index of fewer than {FIT_FROM:,} borrows the French "
            "encoder or stays with keywords (python -m indexes build --encoder fit does as here)"
        )
    print(report.table(results, parsed.measures))
    if len(results) > 1:
        print(report.differences(results, [m for m in ("R@10", "R@100", "MRR@10") if m in parsed.measures]))
    for i, settings in enumerate(chosen):
        print(f"fold {i}: tuned to {settings}")
    for kind, row in told.items():
        print(f"{kind}: told that another law governs it: {row['told']} of {row['questions']} questions")


def prepare(parsed: argparse.Namespace, progress: Bars) -> tuple[Bench, list[Question], list[Question]]:
    """Read corpus, questions to ask and questions to learn from."""
    cache = parsed.cache or store.home() / "cache" / "eval"
    if parsed.corpus is None:
        if parsed.annotated is not None or parsed.folds is not None:
            raise BadInput(
                "the encoder that ships has learnt from its questions already, so --annotated and --folds "
                f"would measure what it has seen: add --corpus {store.builtin() / 'corpus'} to fit one anew"
            )
        folder, again = store.locate(store.BUILTIN)
        corpus = read(folder / "corpus")
        engine_analyser = analyser(corpus.card.language)
        encoder = StaticEncoder.load(folder / "encoder", engine_analyser)
        bench = Bench(corpus, None, encoder=encoder, tell=progress)
        asked = list(read_test_questions(folder)) if parsed.questions is None else _asked(parsed, corpus)
        if not asked:
            raise BadInput(f"{folder / TEST} holds no questions: run {again}")
        return bench, asked, _annotated(parsed, corpus) or to_learn_from(corpus.questions)
    if not parsed.corpus.exists():
        raise BadInput(f"{parsed.corpus} does not exist: give a corpus folder or its articles.jsonl.gz")
    corpus, _ = sources.load(sources.detect(parsed.corpus), parsed.corpus, language=parsed.language)
    bench = Bench(corpus, cache, tell=progress)
    return bench, _asked(parsed, corpus), _annotated(parsed, corpus)


def _asked(parsed: argparse.Namespace, corpus: Corpus) -> list[Question]:
    if parsed.questions is None:
        return list(corpus.questions)
    return list(read_questions(parsed.questions, corpus.articles))


def _annotated(parsed: argparse.Namespace, corpus: Corpus) -> list[Question]:
    if parsed.annotated is None:
        return []
    cited = read_cited(parsed.annotated)
    known = {a.id for a in corpus.articles}
    by_id = [c.question for c in cited if known.intersection(c.question.article_ids)]
    learn = to_learn_from(
        [*attach([c for c in cited if not c.question.article_ids], corpus.articles), *by_id]
    )
    if not learn:
        raise BadInput(f"{parsed.annotated}: none of its questions cites an article of {corpus.card.name}")
    return learn


Plan = list[tuple[list[Question], list[Question], list[Question]]]


def _plan(parsed: argparse.Namespace, questions: list[Question], annotated: list[Question]) -> Plan:
    """Return, part by part: the questions to ask, to learn from, and to tune on."""
    if parsed.folds is None:
        if parsed.tune:
            raise BadInput(
                "--tune needs --folds: it chooses on the other folds, never on the questions asked"
            )
        if parsed.only_fold is not None:
            raise BadInput("--only-fold needs --folds: give the number of folds too")
        return [(questions, annotated, [])]
    plan = []
    for fold in folds(len(questions), parsed.folds, parsed.seed):
        others = pick(questions, fold.learn)
        gold = to_learn_from(others)
        plan.append((pick(questions, fold.held), annotated or gold, gold))
    if parsed.only_fold is not None:
        if not 0 <= parsed.only_fold < len(plan):
            raise BadInput(f"--only-fold {parsed.only_fold}: there are folds 0 to {len(plan) - 1}")
        plan = [plan[parsed.only_fold]]
    return plan


def _learnt_from(parsed: argparse.Namespace, annotated: Sequence[Question]) -> str | None:
    if parsed.annotated is not None:
        return str(parsed.annotated)
    if annotated:
        return "the annotated questions that ship"
    return "the other folds" if parsed.folds is not None else None


def _warn_of_leaks(plan: Plan) -> None:
    """Say how many questions are asked in the very words that are learnt from."""
    both = 0
    for held, learn, _ in plan:
        seen = {" ".join(q.text.casefold().split()) for q in learn}
        both += sum(" ".join(q.text.casefold().split()) in seen for q in held)
    if both:
        print(f"warning: {both} of the questions asked are also learnt from, word for word", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
