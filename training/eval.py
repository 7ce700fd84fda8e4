"""`python -m training.eval`: measure systems on a corpus and its questions."""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

from indexes import bridge, sources, store
from indexes.build import FIT_FROM
from indexes.builtin_corpus import TEST, read_test_questions
from indexes.corpus import Corpus, attach, read, read_cited, read_questions, to_learn_from
from indexes.distributions import load_fusion
from indexes.learned import trees_of
from indexes.progress import Bars
from indexes.shipped_questions import shipped
from rag.encoders.static import StaticEncoder
from rag.errors import BadInput, PandectError
from rag.licence import provenance
from rag.text.analysers import analyser
from rag.types import Filter, Question
from training import curves, dated, report
from training.bench import Bench
from training.comparisons import compared, table
from training.eval_grammar import parser
from training.lesson import Ready, Settings
from training.measure import Collected, Measured, answer, measure
from training.metrics import parse
from training.names import MODEL, refuse_unfit, runnable
from training.neural.models import Models
from training.notices import notices
from training.provenance import cards_of, warnings
from training.split_folds import about, asked_folds
from training.splits import pick
from training.tune import choose
from training.tuned_fusion import Choice, TunedHybrid
from training.typing_errors import with_errors, without_accents


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print the table, write the files."""
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    typed = list(sys.argv[1:] if arguments is None else arguments)
    if typed[:1] == ["answers"]:
        from training.answers.command import main as answers  # it uses this module

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
    if parsed.output is not None and parsed.output.exists():
        raise BadInput(f"{parsed.output} is there already: remove it or give another --output")
    if parsed.curves and parsed.output is None:
        raise BadInput("--curves needs --output: give a new folder for curves.json and curves.svg")
    for name in parsed.measures:
        parse(name)  # a misspelt one is told now, not after the work
    progress = Bars()
    bench, questions, annotated = prepare(parsed, progress)
    questions = part_of(questions, parsed.part)
    corpus = bench.corpus
    plan = planned(parsed, questions, annotated)
    if not any(q.article_ids for held, _, _ in plan for q in held):
        which = "question" if parsed.only_fold is None else f"question of fold {parsed.only_fold}"
        raise BadInput(
            f"no {which} has gold articles: give --questions with article_ids, or code and article_no"
        )
    learning = min(sum(bool(q.article_ids) for q in learn) for _, learn, _ in plan)
    ready = {"given": bench.given is not None, "trees": bench.trees is not None}
    bench.models = Models.read(parsed.model, [q for held, _, _ in plan for q in held])
    names = parsed.systems or [*runnable(learning, **ready), *(MODEL + name for name in bench.models.names)]
    refuse_unfit(names, learning=bool(_folded(parsed) or annotated), models=bench.models.names, **ready)
    _warn_of_leaks(plan)
    collected: dict[str, Collected] = {}
    where = dated.searched(corpus, parsed.in_force_on)
    chosen = [_ask(bench, names, part, annotated, collected, tune=parsed.tune, where=where) for part in plan]
    progress.close()
    asked = [q for held, _, _ in plan for q in held]
    results = measure(collected, asked, parsed.seed, parsed.measures)
    told = notices(store.open_index(store.BUILTIN), asked) if parsed.corpus is None else {}
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
            learnt_from=learnt_from(parsed, annotated),
        )
        entry |= dated.about(parsed.in_force_on)
        cards = cards_of(corpus.card, (parsed.questions, annotated_file(parsed)))
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


@dataclass(frozen=True)
class Chosen:
    """What was chosen for one part of the questions, without them."""

    settings: Settings
    fusions: Mapping[str, Choice]  # tuned fusion -> its scale and weights


def _ask(
    bench: Bench,
    names: Sequence[str],
    part: Part,
    annotated: Sequence[Question],
    into: dict[str, Collected],
    *,
    tune: bool,
    where: Filter | None = None,
) -> Chosen:
    """Make the systems of one part of the questions and ask them; what they answer joins `into`."""
    held, learn, tune_on = part
    settings = choose(bench, tune_on, annotated, bench.tell) if tune else Settings()
    systems = bench.systems(names, learn, settings, _unseen(tune_on, learn))
    total = len(held) * len(systems)
    answer(systems, held, into, lambda done: bench.tell("asking", done, total), where)
    return Chosen(settings, {name: s.choice for name, s in systems.items() if isinstance(s, TunedHybrid)})


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
    for line in warnings(cards_of(corpus.card, (parsed.questions, parsed.annotated))):
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


def prepare(parsed: argparse.Namespace, progress: Bars) -> tuple[Bench, list[Question], list[Question]]:
    """Read corpus, questions to ask and questions to learn from."""
    cache = parsed.cache or store.home() / "cache" / "eval"
    if parsed.corpus is None:
        if parsed.annotated is not None or _folded(parsed):
            raise BadInput(
                "the encoder that ships has learnt from its questions already, so --annotated, --folds and "
                "--splits would measure what it has seen: add "
                f"--corpus {store.builtin() / 'corpus'} to fit one anew"
            )
        folder, again = store.locate(store.BUILTIN)
        corpus = read(folder / "corpus")
        engine_analyser = analyser(corpus.card.language)
        encoder = StaticEncoder.load(folder / "encoder", engine_analyser)
        bench = Bench(
            corpus,
            None,
            ready=Ready(encoder, trees_of(folder), load_fusion(folder), bridge.pairs_of(folder)),
            tell=progress,
        )
        asked = list(read_test_questions(folder)) if parsed.questions is None else _asked(parsed, corpus)
        if not asked:
            raise BadInput(f"{folder / TEST} holds no questions: run {again}")
        asked = _typed(parsed, asked, corpus.card.language)
        return bench, asked, _annotated(parsed, corpus) or to_learn_from(corpus.questions)
    if not parsed.corpus.exists():
        raise BadInput(f"{parsed.corpus} does not exist: give a corpus folder or its articles.jsonl.gz")
    corpus, _ = sources.load(sources.detect(parsed.corpus), parsed.corpus, language=parsed.language)
    bench = Bench(corpus, cache, tell=progress)
    asked = _typed(parsed, _asked(parsed, corpus), corpus.card.language)
    return bench, asked, _annotated(parsed, corpus)


def _asked(parsed: argparse.Namespace, corpus: Corpus) -> list[Question]:
    if parsed.questions is None:
        return list(corpus.questions)
    return list(read_questions(parsed.questions, corpus.articles))


def _typed(parsed: argparse.Namespace, asked: list[Question], language: str) -> list[Question]:
    """Return the questions as they are asked: with typing errors, or without accents, if that is wanted."""
    if not parsed.typing_errors and not parsed.no_accents:
        return asked
    if _folded(parsed) and parsed.annotated is None:
        raise BadInput(
            "with --folds the questions asked are learnt from too, errors and all: add --annotated PATH, "
            "or leave --typing-errors and --no-accents out"
        )
    if parsed.no_accents:
        asked = without_accents(asked)
    return with_errors(asked, language, parsed.seed, parsed.typing_errors) if parsed.typing_errors else asked


def part_of(questions: list[Question], part: str | None) -> list[Question]:
    """Return the questions that bear a split; all of them for None."""
    if part is None:
        return questions
    kept = [q for q in questions if q.split == part]
    if not kept:
        there = ", ".join(sorted({q.split for q in questions if q.split})) or "none bears one"
        raise BadInput(f"--part {part}: no question bears this split; there are: {there}")
    return kept


def annotated_file(parsed: argparse.Namespace) -> Path | None:
    """Return the file of other questions to learn from, if one was named."""
    named: Path | None = parsed.annotated
    return store.builtin() / "corpus" / "questions.jsonl" if str(named) == store.BUILTIN else named


def _annotated(parsed: argparse.Namespace, corpus: Corpus) -> list[Question]:
    if parsed.annotated is None:
        return []
    cited = shipped() if str(parsed.annotated) == store.BUILTIN else read_cited(parsed.annotated)
    known = {a.id for a in corpus.articles}
    by_id = [c.question for c in cited if known.intersection(c.question.article_ids)]
    learn = to_learn_from(
        [*attach([c for c in cited if not c.question.article_ids], corpus.articles), *by_id]
    )
    if not learn:
        raise BadInput(f"{parsed.annotated}: none of its questions cites an article of {corpus.card.name}")
    return learn


Part = tuple[list[Question], list[Question], list[Question]]  # to ask, to learn from, to tune on
Plan = list[Part]


def planned(parsed: argparse.Namespace, questions: list[Question], annotated: list[Question]) -> Plan:
    """Return, part by part: the questions to ask, to learn from, and to tune on."""
    if not _folded(parsed):
        if parsed.tune:
            raise BadInput(
                "--tune needs --folds or --splits: it chooses on other folds, never on the questions asked"
            )
        if parsed.only_fold is not None:
            raise BadInput("--only-fold needs --folds or --splits: give the folds too")
        return [(questions, annotated, [])]
    plan = []
    for fold in asked_folds(questions, parsed.splits, parsed.folds, parsed.seed, parsed.only_fold):
        others = pick(questions, fold.learn)
        gold = to_learn_from(others)
        plan.append((pick(questions, fold.held), annotated or gold, gold))
    return plan


def _folded(parsed: argparse.Namespace) -> bool:
    return parsed.folds is not None or parsed.splits is not None


def _unseen(questions: Sequence[Question], learn: Sequence[Question]) -> list[Question]:
    """Return the questions to tune on that nothing learns from; weights of fusions are chosen on them."""
    known = {q.text for q in learn}
    return [q for q in questions if q.text not in known]


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


def learnt_from(parsed: argparse.Namespace, annotated: Sequence[Question]) -> str | None:
    """Return which questions the systems learnt from, as a result file says it; None for none."""
    if parsed.annotated is not None:
        return str(parsed.annotated)
    if annotated:
        return "the annotated questions that ship"
    return "the other folds" if _folded(parsed) else None


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
