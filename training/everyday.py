"""`python -m training.everyday`: what an index answers of laypeople's questions; what ships, of 300.

The questions (`indexes/builtin/questions_everyday.jsonl`) were written from situations and labelled twice
apart from the official text, whether or not their articles ship. An article answers if both labels name it,
at least one of them as the core of the answer; it is useful if both name it at all. A question that another
law governs, or none, is told so when the page says so: by a topic of another law, another country, another
matter, or doubt. Another country's index is asked its own (`--index NAME --questions FILE`).

`--topics` asks one to four words instead (`questions_topics.jsonl`): matters of the law that ships must not
be denied and have questions to choose from; what another law governs, or none, is told.
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import indexes
from indexes.cli.terminal import guarded
from indexes.corpus.articles import name, text, texts
from indexes.formats.jsonl import Record, records
from indexes.formats.validation import Inspection, SkipReason, UnfitError
from rag.engine.engine import Engine
from rag.errors import BadInput, PandectError
from rag.screening.decision import screen_question
from training.eval.report import commit
from training.references.scores import wilson

FOLDER = Path(indexes.__file__).parent / "builtin"
FILE = FOLDER / "questions_everyday.jsonl"
TOPICS = FOLDER / "questions_topics.jsonl"
TOPIC_KINDS = ("topic", "elsewhere", "nothing")
KINDS = ("answer", "elsewhere", "nothing", "disputed")  # disputed: the labels differ; not counted
WITHIN = (1, 3, 10)  # first ranks
TOLD = "told"
HALVES = ("dev", "test")


@dataclass(frozen=True, slots=True)
class EverydayQuestion:
    """A question, and what both labels say of it."""

    id: str
    question: str
    cites: frozenset[tuple[str, str]]  # code and number of the articles that answer
    helps: frozenset[tuple[str, str]]  # of others that are useful
    trouble: str
    split: str
    kind: str  # of KINDS


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the page makes of one question."""

    question: EverydayQuestion
    rank: int | None  # of the first article that answers, from 1; None: not among those shown
    useful: int | None  # of the first that answers or is useful
    told: bool  # that no article that is loaded answers


def read(path: Path = FILE) -> tuple[EverydayQuestion, ...]:
    """Read the questions.

    Raises:
        BadInput: the file or a line cannot be used.
    """
    inspection = Inspection()
    return tuple(each for _, _, each in inspection.parsed(records(path, inspection), _parse))


def _parse(record: Record) -> EverydayQuestion:
    whole = {"id": None, "question": None, "category": None, "split": None, "kind": None, **record}
    codes, numbers = texts(record, "code"), texts(record, "article_no")
    kind, split = name(whole, "kind"), name(whole, "split")
    if kind not in KINDS or split not in HALVES or len(codes) != len(numbers):
        cure = f"Write one of {', '.join(KINDS)}, dev or test, and as many codes as numbers"
        raise UnfitError(SkipReason.WRONG_TYPE, f"kind {kind}, split {split}, {len(codes)} codes", cure)
    helps = record.get("helps", [])
    if not isinstance(helps, list) or not all(isinstance(each, list) and len(each) == 2 for each in helps):
        raise UnfitError(SkipReason.WRONG_TYPE, f"helps is {helps!r}", 'Write [["CODE", "NUMBER"], ...]')
    return EverydayQuestion(
        name(whole, "id"),
        text(whole, "question"),
        frozenset(zip(codes, numbers, strict=True)),
        frozenset((str(code), str(number)) for code, number in helps),
        name(whole, "category"),
        split,
        kind,
    )


@dataclass(frozen=True, slots=True)
class Topic:
    """One to four words, and whether the law that ships is about them."""

    id: str
    question: str
    kind: str  # of TOPIC_KINDS
    split: str


@dataclass(frozen=True, slots=True)
class TopicOutcome:
    """What the page makes of a topic."""

    topic: Topic
    told: bool  # that no article that is loaded answers
    cases: int  # questions to choose from


def read_topics(path: Path = TOPICS) -> tuple[Topic, ...]:
    """Read the topics.

    Raises:
        BadInput: the file or a line cannot be used.
    """
    inspection = Inspection()
    return tuple(each for _, _, each in inspection.parsed(records(path, inspection), _parse_topic))


def _parse_topic(record: Record) -> Topic:
    whole = {"id": None, "question": None, "kind": None, "split": None, **record}
    topic = Topic(name(whole, "id"), text(whole, "question"), name(whole, "kind"), name(whole, "split"))
    if topic.kind not in TOPIC_KINDS or topic.split not in HALVES:
        problem = f"kind {topic.kind}, split {topic.split}"
        raise UnfitError(
            SkipReason.WRONG_TYPE, problem, f"Write one of {', '.join(TOPIC_KINDS)}, dev or test"
        )
    return topic


def topic_outcomes(topics: Iterable[Topic], engine: Engine) -> Iterator[TopicOutcome]:
    """Ask the topics, as a page does."""
    for each in topics:
        result = engine.ask(each.question)
        decision = screen_question(each.question, result, engine.card, leaves=False)
        told = bool(result.elsewhere) or decision.reason is not None
        yield TopicOutcome(each, told, len(result.topic))


def topic_counts(found: Sequence[TopicOutcome]) -> Mapping[str, tuple[int, int]]:
    """Return how many topics were denied or had cases, and how many other words were told to be no topic."""
    topics = [each for each in found if each.topic.kind == "topic"]
    others = [each for each in found if each.topic.kind != "topic"]
    return {
        "denied": (sum(each.told for each in topics), len(topics)),
        "cases": (sum(each.cases > 0 for each in topics), len(topics)),
        TOLD: (sum(each.told for each in others), len(others)),
    }


def outcomes(questions: Iterable[EverydayQuestion], engine: Engine) -> Iterator[Outcome]:
    """Ask the questions that the labels agree on, as a page does."""
    for each in questions:
        if each.kind == "disputed":
            continue
        result = engine.ask(each.question, k=max(WITHIN))
        decision = screen_question(each.question, result, engine.card, leaves=False)
        found = [(shown.article.code, shown.article.article_no) for shown in result.shown]
        first, useful = (
            next((at for at, cite in enumerate(found, start=1) if cite in wanted), None)
            for wanted in (each.cites, each.cites | each.helps)
        )
        yield Outcome(each, first, useful, bool(result.elsewhere) or decision.reason is not None)


def counts(found: Sequence[Outcome]) -> Mapping[str, tuple[int, int]]:
    """Return what was right, and of how many: by first ranks, and what was told or wrongly told."""
    answered = [each for each in found if each.question.kind == "answer"]
    others = [each for each in found if each.question.kind != "answer"]
    made = {
        f"{what} in {most}": (sum(at is not None and at <= most for at in ranks), len(answered))
        for what, ranks in (
            ("answer", [each.rank for each in answered]),
            ("useful", [each.useful for each in answered]),
        )
        for most in WITHIN
    }
    made["wrongly told"] = (sum(each.told for each in answered), len(answered))
    made[TOLD] = (sum(each.told for each in others), len(others))
    return made


def _record(counted: Mapping[str, tuple[int, int]]) -> dict[str, dict[str, object]]:
    return {key: {"right": right, "of": of, **_interval(right, of)} for key, (right, of) in counted.items()}


def _interval(right: int, of: int) -> dict[str, float]:
    if not of:
        return {}
    value = wilson(right, of)
    return {"value": value.value, "low": value.low, "high": value.high}


def _lines(found: Sequence[Outcome]) -> Iterator[str]:
    by_trouble: dict[str, list[Outcome]] = defaultdict(list)
    for each in found:
        by_trouble[each.question.trouble].append(each)
    yield f"{'':14}" + "".join(f"{key:>14}" for key in counts(found))
    for trouble, own in [*by_trouble.items(), ("all", list(found))]:
        cells = []
        for right, of in counts(own).values():
            value = wilson(right, of) if of else None
            share = f"{100 * value.value:.0f} ({100 * value.low:.0f}-{100 * value.high:.0f})" if value else ""
            cells.append(share if trouble == "all" else f"{right}/{of}")
        yield f"{trouble:14}" + "".join(f"{cell:>14}" for cell in cells)


@guarded
def main(arguments: Sequence[str] | None = None) -> int:
    """Ask, print a table and write the record; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m training.everyday", description=__doc__)
    parser.add_argument("--index", help="name or folder of the index that is asked; default: what ships")
    parser.add_argument("--questions", type=Path, default=FILE, help="those of another law, in the same keys")
    parser.add_argument("--half", choices=HALVES, default="dev", help="dev to choose by, test to report")
    parser.add_argument("--topics", action="store_true", help="one to four words instead of questions")
    parser.add_argument("--output", type=Path, help="JSON of counts, intervals and every question's outcome")
    parsed = parser.parse_args(arguments)
    typed = shlex.join(["python", "-m", "training.everyday", *(arguments or sys.argv[1:])])
    try:
        if parsed.output is not None and not parsed.output.parent.is_dir():
            raise BadInput(f"--output {parsed.output}: its folder is not there. Make it, or name another.")
        engine = indexes.open(parsed.index or "builtin")
        if parsed.topics:
            lines, record = _ask_topics(engine, parsed.half)
        else:
            lines, record = _ask(
                engine, [each for each in read(parsed.questions) if each.split == parsed.half]
            )
    except PandectError as error:
        sys.stderr.write(f"ERROR {error}\n")
        return 2
    sys.stdout.write("\n".join(lines) + "\n")
    if parsed.output is not None:
        head = {"command": typed, "commit": commit(), "half": parsed.half}
        whole = {**head, "corpus_sha256": engine.info.corpus_sha256, **record}
        parsed.output.write_text(json.dumps(whole, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    return 0


def _ask(engine: Engine, questions: Iterable[EverydayQuestion]) -> tuple[list[str], dict[str, object]]:
    found = list(outcomes(questions, engine))
    each = {
        o.question.id: {"kind": o.question.kind, "rank": o.rank, "useful": o.useful, "told": o.told}
        for o in found
    }
    return list(_lines(found)), {"counts": _record(counts(found)), "questions": each}


def _ask_topics(engine: Engine, half: str) -> tuple[list[str], dict[str, object]]:
    found = list(topic_outcomes((each for each in read_topics() if each.split == half), engine))
    counted = topic_counts(found)
    lines = [f"{key:8} {right:4} of {of:4}" for key, (right, of) in counted.items()]
    wrong = (o for o in found if o.told == (o.topic.kind == "topic"))
    lines += [f"  {'denied' if o.told else 'not told'}: {o.topic.question}" for o in wrong]
    each = {o.topic.id: {"kind": o.topic.kind, "told": o.told, "cases": o.cases} for o in found}
    return lines, {"counts": _record(counted), "questions": each}


if __name__ == "__main__":
    sys.exit(main())
