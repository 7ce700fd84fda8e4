"""`python -m training.eval answers`: what a model, or no model, makes of the articles."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from indexes.cli.progress import Bars
from indexes.store import paths
from rag.corpus.licence import provenance
from rag.errors import BadInput
from rag.types import EMPTY, Question, named
from training.answers import contexts, report, tasks
from training.answers.aggregate import ModelResult, Overlap, Prices, pooled, row
from training.answers.chat import Chat, replies
from training.answers.contexts import CONSTRUCTED, FILL, GOLD, PART, Context, Part, rankings, sample
from training.answers.judge import VERSION, judge
from training.answers.overlap import OverlapTokeniser, rouge
from training.answers.run import GIVE_UP, Cache, Candidate, WrittenAnswer, ask, opened
from training.answers.writers import EXTRACTIVE, ModelSpec, candidate, chat
from training.eval.questions import annotated_file, learnt_from, planned, prepare, questions_of_split
from training.eval.report import head, question_cards, warnings
from training.eval.workbench import Bench

EPILOG = """\
examples
  without any model, on the test questions that ship:
    python -m training.eval answers --part test
  a model behind an OpenAI-compatible server:
    python -m training.eval answers --model openai:qwen3 --base-url http://127.0.0.1:8000/v1 --limit 100
  one of Anthropic's, its key in ANTHROPIC_API_KEY, with prices for a million tokens:
    python -m training.eval answers --model anthropic:claude-haiku-4-5 --price-in 1 --price-out 5
  what checks and a judge let through, of 657 sentences and answers that ship (it has a --help of its own):
    python -m training.eval answers check --half test
  an examination in JEC-QA's format, and charges in CAIL 2018's, beside STARD's published table:
    python -m training.eval answers --model ollama:qwen3 --corpus stard --multiple-choice jecqa.jsonl
    python -m training.eval answers --model ollama:qwen3 --corpus stard --charges cail.jsonl

contexts
  SYSTEM      the first k articles that a system finds: bm25, dense, hybrid … (python -m training.eval --help)
  gold        the gold articles among the best others
  part-gold   the same, some gold articles taken out: here refusing is right
  none        no articles

A reply is kept in --replies as soon as it is there: a run that was killed goes on where it was.
Keys come from the environment, by the provider's variable (OPENAI_API_KEY, ANTHROPIC_API_KEY), for a server
that was named from PANDECT_MODEL_KEY and PANDECT_JUDGE_KEY; they are written nowhere.
docs/results/answers.md says what is measured, and how.
"""


def parser() -> argparse.ArgumentParser:
    """Return the command line's grammar."""
    top = argparse.ArgumentParser(
        prog="python -m training.eval answers",
        description="Measure written answers: citations, refusals, faithfulness, overlap, accuracy, cost.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = top.add_argument
    # what `training.eval.questions.prepare` looks at
    add("--corpus", type=Path, help="a corpus folder or its articles' file (the one that ships)")
    add("--language", metavar="XX", help="of a corpus without card.json")
    add("--questions", type=Path, help="questions with gold articles (those of the corpus)")
    add("--part", metavar="SPLIT", help="of the questions those that bear this split")
    add("--annotated", type=Path, help="other questions for the systems to learn from")
    add("--folds", type=int, help="systems learn from the other folds")
    add("--only-fold", metavar="I", help="ask the questions of this fold alone")
    add("--seed", type=int, default=42, help="of folds, samples and bootstrap (42)")
    add("--cache", type=Path, help="where indexes built on the fly are kept")
    top.set_defaults(
        splits=None, typing_errors=None, no_accents=False, repeat_asked=False, tune=False, lent=(), fits=1
    )
    who = f"PROVIDER:NAME of LangChain, or {EXTRACTIVE}, which needs no model ({EXTRACTIVE})"
    add("--model", nargs="+", default=[EXTRACTIVE], metavar="MODEL", help=who)
    add("--base-url", metavar="URL", help="the server of the models")
    add("--temperature", type=float, default=0.0, help="of the models (0)")
    add("--max-tokens", type=int, default=1024, help="of a reply (1024)")
    add("--baseline", action="store_true", help="write with STARD's simple prompt, not with ours")
    add("--timeout", type=float, default=120.0, help="seconds of a reply (120)")
    tasks = top.add_mutually_exclusive_group()
    tasks.add_argument("--multiple-choice", type=Path, metavar="FILE", help="instead: JEC-QA's format")
    tasks.add_argument("--charges", type=Path, metavar="FILE", help="instead: CAIL 2018's format")
    given = f"{' '.join(CONSTRUCTED)}, or systems (hybrid {GOLD} {PART}; of tasks: none bm25 dense hybrid)"
    add("--contexts", nargs="+", metavar="CONTEXT", help=given)
    add("--k", type=int, default=10, help="articles in a context at most (10)")
    add("--fill", default=FILL, metavar="SYSTEM", help=f"what ranks the contexts with gold articles ({FILL})")
    add("--limit", type=int, metavar="N", help="only N of the questions, drawn by --seed")
    add("--judge", metavar="MODEL", help="PROVIDER:NAME that judges whether passages support")
    add("--judge-base-url", metavar="URL", help="its server")
    add("--no-overlap", action="store_true", help="leave out METEOR and ROUGE")
    add("--price-in", type=float, metavar="P", help="of a million tokens read, in any currency")
    add("--price-out", type=float, metavar="P", help="of a million tokens written")
    add("--replies", type=Path, metavar="FILE", help="what was replied (under PANDECT_HOME)")
    failures = f"failures in a row ({GIVE_UP}); 0: never"
    add("--give-up-after", type=int, default=GIVE_UP, metavar="N", help=failures)
    add("--output", type=Path, help="a new folder for metrics.json, metrics.csv, questions.jsonl")
    return top


def main(arguments: Sequence[str]) -> int:
    """Measure, print the table, write the files."""
    if list(arguments[:1]) == ["check"]:
        from training.answers.check import main as check

        return check(arguments[1:])
    parsed = parser().parse_args(arguments)
    evaluate(parsed, ["python", "-m", "training.eval", "answers", *arguments])
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
    of_models = (parsed.base_url, parsed.temperature, parsed.max_tokens, parsed.timeout, parsed.baseline)
    specs = [ModelSpec(name, *of_models) for name in dict.fromkeys(parsed.model)]
    # a judge says one word, always the same
    of_judge = (parsed.judge_base_url, 0.0, parsed.max_tokens, parsed.timeout, False, "PANDECT_JUDGE_KEY")
    with opened(parsed.replies or paths.home() / "cache" / "answers" / "replies.jsonl") as cache:
        chats = [chat(spec) for spec in specs] if task else []  # what cannot be asked is told first
        judging = None if parsed.judge is None else chat(ModelSpec(parsed.judge, *of_judge))
        bench, questions, annotated = prepare(parsed, progress)
        run = _Run(parsed, bench, annotated, cache, Prices(parsed.price_in, parsed.price_out), progress)
        sample_: Sequence[Question]
        if task:
            rows, sample_ = _tasks(run, task, chats), task.questions
            models = {model.name: {"prompt": task.version, **model.settings} for model in chats}
        else:
            writers = [candidate(spec, bench.corpus.card.language, parsed.k) for spec in specs]
            sample_, parts = _parts(run, questions_of_split(questions, parsed.part))
            rows = _answers(run, sample_, parts, writers, judging)
            models = {w.name: {"prompt": w.prompt_version, **(w.settings or {})} for w in writers}
        progress.close()
    card = bench.corpus.card
    print(f"{card.title or card.name}: {len(bench.corpus.articles):,} articles")
    for line in warnings(question_cards(card, (parsed.questions, parsed.annotated))):
        print(line)
    print(report.table(rows))
    if task:
        print(report.side_by_side(report.entries(rows)))
    if parsed.output is not None:
        entry = _entry(run, command, sample_, task)
        entry |= {"systems": report.entries(rows), "models": models}
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
            option = f"--{name.replace('_', '-')}"
            raise BadInput(f"{option} has no meaning with --multiple-choice or --charges: leave it out")

    def choose(total: int) -> Sequence[int]:
        return sample(range(total), parsed.limit, parsed.seed)

    if parsed.multiple_choice is not None:
        return tasks.examination(parsed.multiple_choice, choose)
    return tasks.convictions(parsed.charges, choose)


def _contexts(run: _Run, questions: Sequence[Question], parts: Sequence[Part]) -> dict[str, list[Context]]:
    """Return the contexts of every question by name, fold by fold from what its systems learnt from."""
    parsed = run.parsed
    by_id = {a.id: a for a in run.bench.corpus.articles}
    gold = max((len(q.article_ids) for q in questions), default=0)
    system_of = {name: contexts.ranking_system(name, parsed.fill) for name in parsed.contexts}
    systems = [name for name in dict.fromkeys(system_of.values()) if name is not None]
    found = rankings(run.bench, systems, parts, parsed.k + gold) if systems else {}
    make = partial(contexts.make, articles=by_id, k=parsed.k, seed=parsed.seed)
    runs = {name: found[system] if system is not None else {} for name, system in system_of.items()}
    return {name: [make(name, q, run.get(q.id, EMPTY)) for q in questions] for name, run in runs.items()}


def _parts(run: _Run, questions: list[Question]) -> tuple[list[Question], list[Part]]:
    """Return the questions to ask, and for each fold which of them, and what its systems learn from."""
    plan = planned(run.parsed, questions, run.annotated)
    drawn = sample([q for held, _, _ in plan for q in held], run.parsed.limit, run.parsed.seed)
    if not drawn:
        raise BadInput("no question to ask: give --questions, another --part or a larger --limit")
    ids = {q.id for q in drawn}
    return drawn, [([q for q in held if q.id in ids], learn) for held, learn, _ in plan]


def _answers(
    run: _Run,
    questions: Sequence[Question],
    parts: Sequence[Part],
    candidates: Sequence[Candidate],
    judging: Chat | None,
) -> list[ModelResult]:
    parsed, seed, prices, overlap = run.parsed, run.parsed.seed, run.prices, None
    if not parsed.no_overlap and any(q.answer for q in questions):
        words = OverlapTokeniser(run.bench.corpus.card.language)
        overlap = Overlap(words, rouge(words))
    given = _contexts(run, questions, parts)
    analyser = run.bench.analyser()
    rows = []
    for who in candidates:
        groups: dict[str, list[WrittenAnswer]] = {}
        for name in parsed.contexts:
            what = f"{who.name}, {name}"
            stop, progress = parsed.give_up_after, named(run.progress, what)
            answers = ask(who, given[name], analyser.language, run.cache, give_up=stop, progress=progress)
            judged = None
            if judging is not None:
                progress = named(run.progress, f"judging {what}")
                judged = judge(judging, answers, run.cache, progress=progress, give_up=stop)
            rows.append(
                row(
                    what,
                    answers,
                    seed=seed,
                    terms=analyser.terms,
                    overlap=overlap,
                    judged=judged,
                    prices=prices,
                )
            )
            groups[name] = answers
        if {GOLD, PART} <= set(groups):  # refusing is right in one and wrong in the other
            rows.append(pooled(f"{who.name}, {GOLD} and {PART}", [groups[GOLD], groups[PART]], parsed.seed))
    return rows


def _tasks(run: _Run, task: tasks.Task, chats: Sequence[Chat]) -> list[ModelResult]:
    given = _contexts(run, task.questions, [(task.questions, run.annotated)])
    rows = []
    for model in chats:
        for name in run.parsed.contexts:
            prompts = [write(c.articles) for write, c in zip(task.prompts, given[name], strict=True)]
            what, stop = f"{model.name}, {name}", run.parsed.give_up_after
            texts = replies(model, prompts, run.cache, progress=named(run.progress, what), give_up=stop)
            rows.append(tasks.row(task, what, texts, seed=run.parsed.seed, prices=run.prices))
    return rows


def _entry(
    run: _Run, command: Sequence[str], questions: Sequence[Question], task: tasks.Task | None
) -> dict[str, Any]:
    parsed, corpus = run.parsed, run.bench.corpus
    gold = len(questions) if task else sum(bool(q.article_ids) for q in questions)
    cards = question_cards(corpus.card, (parsed.questions, annotated_file(parsed.annotated)))
    return {
        "kind": report.KIND,
        **head(corpus, command=command, questions=gold, unanswerable=len(questions) - gold, seed=parsed.seed),
        "task": task.name if task else "answers",
        "learnt_from": learnt_from(parsed, run.annotated),
        "sources": [provenance(card) for card in cards],
        "k": parsed.k,
        "fill": parsed.fill,
        "judge": {"model": parsed.judge, "prompt": VERSION} if parsed.judge else None,
        "prices": {"in": parsed.price_in, "out": parsed.price_out},
    }
