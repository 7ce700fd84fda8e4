"""`python -m training.pages speed|users|load|corpora`: the real page, as a host starts it; never a test.

    python -m training.pages speed --output docs/results/pages-builtin.json
    python -m training.pages users --output docs/results/users-builtin.json
    python -m training.pages load --output docs/results/everyday/load.json
    python -m training.pages load --faults --index my-law --output docs/results/everyday/load-faults.json
    python -m training.pages corpora --output docs/results/corpora-builtin.json

Times depend on the machine and on what else it does: run it where nothing else runs, and compare the
figures of one machine with each other. `--index NAME` takes another index than the one that ships.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from indexes.cli.terminal import guarded
from indexes.corpus.corpus import HELD_OUT, read
from indexes.corpus.questions import read_questions
from indexes.store.paths import builtin, locate
from rag.errors import PandectError
from training.eval.report import head
from training.pages import corpora, faults, length, load, speed, users
from training.pages.serving import served
from training.pages.visitor import PATIENCE, Visitor


@guarded
def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print what was measured, and keep it where it is wanted."""
    raw = argparse.RawDescriptionHelpFormatter
    top = argparse.ArgumentParser(prog="python -m training.pages", description=__doc__, formatter_class=raw)
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    one = commands.add_parser("speed", help="one person in a real browser")
    one.add_argument("--questions", type=int, default=100, help="how many are asked (100)")
    long = commands.add_parser("length", help="words before the first article, screens of a phone")
    long.add_argument("--questions", type=int, help="how many are asked (all)")
    many = commands.add_parser("users", help="many people at once, who come and go, without browsers")
    both = commands.add_parser("load", help="the same, and programs that ask an API beside the page")
    both.add_argument("--clients", type=int, default=200, help="programs that ask (200)")
    injected = "meanwhile update the law that --index names, end, kill and start page and API, roll back"
    both.add_argument("--faults", action="store_true", help=f"{injected}: no request may be lost silently")
    for command, seconds in ((many, 120.0), (both, 300.0)):
        command.add_argument("--users", type=int, default=50)
        command.add_argument("--seconds", type=float, default=seconds)
        goes = "answers after which a person leaves and another comes; 0: nobody leaves"
        command.add_argument("--stays", type=int, default=users.STAYS, help=f"{goes} ({users.STAYS})")
        waits = f"seconds until somebody takes what is asked for lost ({PATIENCE:.0f})"
        command.add_argument("--patience", type=float, default=PATIENCE, help=waits)
    commands.add_parser("corpora", help="memory while the corpus is switched again and again")
    for command in commands.choices.values():
        command.add_argument("--index", help="name or path; the one that ships by default")
        command.add_argument("--seed", type=int, default=42)
        command.add_argument("--output", type=Path, metavar="FILE", help="keep the result there")
    parsed = top.parse_args(arguments)
    try:
        found = _measured(parsed)
        text = json.dumps(found, ensure_ascii=False, indent=1)
    except PandectError as error:
        print(error, file=sys.stderr)
        return 1
    print(text)
    if parsed.output is not None:
        parsed.output.write_text(text + "\n", encoding="utf-8")
    if "faults" in found:
        line, well = faults.verdict(found)
        print(line, file=sys.stderr)
        return 0 if well else 1
    return 0


def _measured(parsed: argparse.Namespace) -> dict[str, Any]:
    folder, _ = locate(parsed.index)
    corpus = read(folder / "corpus")
    if folder == builtin():
        read_test = read_questions(folder.with_name("questions_test.jsonl"), corpus.articles)
        texts = [q.text for q in read_test if q.split == "dev"]
    else:
        texts = [q.text for q in corpus.questions if q.split in HELD_OUT]
        texts = texts or [q.text for q in corpus.questions]
    random.Random(parsed.seed).shuffle(texts)  # noqa: S311 - not for secrets
    if not texts:
        raise PandectError(f"{folder} has no questions to ask: import some with it (--option questions=FILE)")
    machine = {"cores": os.cpu_count(), "load_before": [round(each, 2) for each in os.getloadavg()]}
    if parsed.command == "corpora":
        found = corpora.measure(folder, texts)
    elif parsed.command == "load":
        plan = users.UserPlan(parsed.users, parsed.seconds, parsed.stays, parsed.seed, parsed.patience)
        off = load.LIMITS
        with (
            faults.law_revision(parsed.index, corpus) if parsed.faults else nullcontext() as law,
            served(parsed.index, "page", off) as page,
            served(parsed.index, "api", off) as api,
        ):
            asyncio.run(_warmed(page.port, texts[0], parsed.patience))
            found = load.measure(page, api, texts, parsed.clients, plan, law)
    else:
        with served(parsed.index) as page:
            if parsed.command in ("speed", "length"):
                texts = texts[: parsed.questions]
                found = (speed if parsed.command == "speed" else length).measure(page, texts)
            else:
                asyncio.run(_warmed(page.port, texts[0], parsed.patience))
                plan = users.UserPlan(
                    parsed.users, parsed.seconds, parsed.stays, parsed.seed, parsed.patience
                )
                found = users.measure(page, texts, plan)
    command = ["python -m training.pages", *sys.argv[1:]]
    made = head(corpus, command=command, questions=len(texts), unanswerable=0, seed=parsed.seed)
    return {"kind": f"pages {parsed.command}", **made, "machine": machine, **found}


async def _warmed(port: int, question: str, patience: float) -> None:
    visitor, _ = await Visitor.arrive(port, patience)
    await visitor.ask(question)
    await visitor.leave()


if __name__ == "__main__":
    sys.exit(main())
