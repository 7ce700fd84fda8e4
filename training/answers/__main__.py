"""`python -m training.eval answers`: what a model, or no model, makes of the articles."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from indexes.cli.progress import Bars
from indexes.store import paths
from rag.corpus.licence import provenance
from rag.errors import BadInput, PandectError
from rag.types import Question
from training.answers import contexts, published, report, tasks
from training.answers.aggregate import Overlap, Prices, Row, pooled, row
from training.answers.bertscore import BERTScore
from training.answers.cache import Cache, opened
from training.answers.chat import Chat, replies
from training.answers.contexts import GOLD, PART, Context
from training.answers.found import Part, Rankings, rankings, sample
from training.answers.grammar import judge_spec, parser, specs
from training.answers.judge import VERSION, Judged, judge
from training.answers.overlap import Words, rouge
from training.answers.run import Candidate, Written, ask
from training.answers.writers import EXTRACTIVE, candidate, chat
from training.eval.__main__ import learnt_from
from training.eval.provenance import cards_of, warnings
from training.eval.questions import file_of, part_of, planned, prepare
from training.eval.report import head
from training.eval.workbench import Bench


def main(arguments: Sequence[str]) -> int:
    """Measure, print the table, write the files."""
    parsed = parser().parse_args(arguments)
    try:
        evaluate(parsed, ["python", "-m", "training.eval", "answers", *arguments])
    except PandectError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


@dataclass(frozen=True, slots=True)
class _Run:
    """What every part of a run uses."""

    parsed: argparse.Namespace
    bench: Bench
    annotated: list[Question]
    cache: Cache
    prices: Prices
    progress: Bars


def evaluate(parsed: argparse.Namespace, command: Sequence[str]) -> None:
    """Run the evaluation that the arguments describe."""
    if parsed.output is not None and parsed.output.exists():
        raise BadInput(f"{parsed.output} is there already: remove it or give another --output")
    if parsed.k < 1:
        raise BadInput(f"--k {parsed.k}: a context holds one article or more; for none add --contexts none")
    task = _task(parsed)
    parsed.contexts = parsed.contexts or list(tasks.CONTEXTS if task else ("hybrid", GOLD, PART))
    for name in (*parsed.contexts, parsed.fill):
        contexts.check(name)
    if task and (made := {GOLD, PART}.intersection(parsed.contexts)):
        raise BadInput(f"--contexts {min(made)}: the questions of this task have no gold articles")
    progress = Bars()
    with opened(parsed.replies or paths.home() / "cache" / "answers" / "replies.jsonl") as cache:
        chats = [chat(spec) for spec in specs(parsed)] if task else []  # what cannot be asked is told first
        spec = judge_spec(parsed)
        judging = chat(spec) if spec is not None else None
        bench, questions, annotated = prepare(parsed, progress)
        prices = Prices(parsed.price_in, parsed.price_out)
        run = _Run(parsed, bench, annotated, cache, prices, progress)
        asked: Sequence[Question]
        if task:
            rows, asked = _tasks(run, task, chats), task.questions
            models = {model.name: {"prompt": task.version, **model.settings} for model in chats}
        else:
            language = bench.corpus.card.language
            writers = [candidate(spec, language, parsed.k) for spec in specs(parsed)]
            asked, parts = _parts(run, part_of(questions, parsed.part))
            rows = _answers(run, asked, parts, writers, judging)
            models = {w.name: {"prompt": w.prompt_version, **(w.settings or {})} for w in writers}
        progress.close()
    _tell(run, rows, task)
    if parsed.output is not None:
        entry = _entry(run, command, asked, rows, task) | {"models": models}
        report.write(parsed.output, rows, entry)
        print(f"written: {parsed.output}")


def _task(parsed: argparse.Namespace) -> tasks.Task | None:
    """Read the task's file, if there is one: a wrong format is told before any work."""
    if parsed.multiple_choice is None and parsed.charges is None:
        return None
    if EXTRACTIVE in parsed.model:
        raise BadInput(f"--model {EXTRACTIVE} quotes articles and chooses nothing: give PROVIDER:NAME")
    for name in ("questions", "part", "folds", "only_fold", "judge", "baseline"):
        if getattr(parsed, name):
            told = name.replace("_", "-")
            raise BadInput(f"--{told} has no meaning with --multiple-choice or --charges: leave it out")

    def choose(total: int) -> list[int]:
        numbers = [Question(str(n), "") for n in range(total)]
        return [int(q.id) for q in sample(numbers, parsed.limit, parsed.seed)]

    if parsed.multiple_choice is not None:
        return tasks.examination(parsed.multiple_choice, choose)
    return tasks.convictions(parsed.charges, choose)


def _found(run: _Run, parts: Sequence[Part], gold: int) -> Rankings:
    wanted = (contexts.system_of(name, run.parsed.fill) for name in run.parsed.contexts)
    systems = [name for name in dict.fromkeys(wanted) if name is not None]
    return rankings(run.bench, systems, parts, run.parsed.k + gold) if systems else {}


def _contexts(run: _Run, name: str, asked: Sequence[Question], found: Rankings) -> list[Context]:
    by_id = {a.id: a for a in run.bench.corpus.articles}
    system = contexts.system_of(name, run.parsed.fill)
    ranking = found[system] if system is not None else {}
    make = partial(contexts.make, articles=by_id, k=run.parsed.k, seed=run.parsed.seed)
    return [make(name, question, ranking.get(question.id, ())) for question in asked]


def _parts(run: _Run, questions: list[Question]) -> tuple[list[Question], list[Part]]:
    """Return the questions to ask, and for each fold which of them, and what its systems learn from."""
    plan = planned(run.parsed, questions, run.annotated)
    asked = sample([q for held, _, _ in plan for q in held], run.parsed.limit, run.parsed.seed)
    if not asked:
        raise BadInput("no question to ask: give --questions, another --part or a larger --limit")
    kept = {q.id for q in asked}
    return asked, [([q for q in held if q.id in kept], learn) for held, learn, _ in plan]


def _answers(
    run: _Run,
    asked: Sequence[Question],
    parts: Sequence[Part],
    candidates: Sequence[Candidate],
    judging: Chat | None,
) -> list[Row]:
    parsed = run.parsed
    overlap = _overlap(run, asked)
    found = _found(run, parts, max(len(q.article_ids) for q in asked))
    cut = run.bench.analyser()
    rows = []
    for who in candidates:
        groups: dict[str, list[Written]] = {}
        for name in parsed.contexts:
            given = _contexts(run, name, asked, found)
            groups[name] = ask(
                who, given, cut.language, run.cache, give_up=parsed.give_up_after,
                tell=_bar(run, f"{who.name}, {name}", len(given)),
            )  # fmt: skip
            judged = _judged(run, judging, f"{who.name}, {name}", groups[name])
            rows.append(
                row(
                    f"{who.name}, {name}", groups[name], seed=parsed.seed, terms=cut.terms,
                    overlap=overlap, judged=judged, prices=run.prices,
                )
            )  # fmt: skip
        if {GOLD, PART} <= set(groups):  # refusing is right in one and wrong in the other
            rows.append(pooled(f"{who.name}, {GOLD} and {PART}", [groups[GOLD], groups[PART]], parsed.seed))
    return rows


def _overlap(run: _Run, asked: Sequence[Question]) -> Overlap | None:
    if run.parsed.no_overlap or not any(q.answer for q in asked):
        return None
    words = Words(run.bench.corpus.card.language)
    model, layer, idf = run.parsed.bertscore_model, run.parsed.bertscore_layer, run.parsed.bertscore_idf
    return Overlap(words, rouge(words), BERTScore(model, layer=layer, idf=idf) if model else None)


def _judged(run: _Run, judging: Chat | None, what: str, written: Sequence[Written]) -> Judged | None:
    if judging is None:
        return None
    sentences = sum(len(w.answer.sentences) for w in written)
    tell = _bar(run, f"judging {what}", sentences)
    return judge(judging, written, run.cache, tell=tell, give_up=run.parsed.give_up_after)


def _tasks(run: _Run, task: tasks.Task, chats: Sequence[Chat]) -> list[Row]:
    found = _found(run, [(task.questions, run.annotated)], 0)
    rows = []
    for model in chats:
        for name in run.parsed.contexts:
            given = _contexts(run, name, task.questions, found)
            prompts = [write(c.articles) for write, c in zip(task.prompts, given, strict=True)]
            tell = _bar(run, f"{model.name}, {name}", len(prompts))
            said = replies(model, prompts, run.cache, tell=tell, give_up=run.parsed.give_up_after)
            rows.append(
                tasks.row(task, f"{model.name}, {name}", said, seed=run.parsed.seed, prices=run.prices)
            )
    return rows


def _bar(run: _Run, what: str, total: int) -> Callable[[int], object]:
    return lambda done: run.progress(what, done, total)


def _tell(run: _Run, rows: Sequence[Row], task: tasks.Task | None) -> None:
    """Print the tables."""
    card = run.bench.corpus.card
    print(f"{card.title or card.name}: {len(run.bench.corpus.articles):,} articles")
    for line in warnings(cards_of(card, (run.parsed.questions, run.parsed.annotated))):
        print(line)
    print(report.table(rows))
    if task:
        print(published.side_by_side(report.entries(rows)))


def _entry(
    run: _Run, command: Sequence[str], asked: Sequence[Question], rows: Sequence[Row], task: tasks.Task | None
) -> dict[str, Any]:
    parsed, corpus = run.parsed, run.bench.corpus
    gold = len(asked) if task else sum(bool(q.article_ids) for q in asked)
    cards = cards_of(corpus.card, (parsed.questions, file_of(parsed.annotated)))
    bertscore = parsed.bertscore_model and f"{parsed.bertscore_model}, layer {parsed.bertscore_layer}"
    return {
        "kind": report.KIND,
        **head(corpus, command=command, questions=gold, unanswerable=len(asked) - gold, seed=parsed.seed),
        "task": task.name if task else "answers",
        "learnt_from": learnt_from(parsed, run.annotated),
        "sources": [provenance(card) for card in cards],
        "k": parsed.k,
        "fill": parsed.fill,
        "judge": {"model": parsed.judge, "prompt": VERSION} if parsed.judge else None,
        "bertscore": bertscore,
        "prices": {"in": parsed.price_in, "out": parsed.price_out},
        "systems": report.entries(rows),
    }
