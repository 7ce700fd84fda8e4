"""`python -m indexes feedback`: what people said of articles, counted, as annotated questions, deleted."""

from __future__ import annotations

import argparse
import json
import os
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import date, timedelta
from pathlib import Path

from indexes.cli.progress import Bars
from indexes.corpus.corpus import read
from indexes.corpus.questions import question_record, read_questions
from indexes.store.paths import BUILTIN, locate
from indexes.update import feedback_gain
from indexes.update.reuse import Start
from rag.errors import BadInput
from rag.feedback import Feedback, FeedbackEntry, FeedbackReason, count_feedback, from_environment
from rag.types import Question

CATEGORY = "feedback"
_AGAINST = (FeedbackReason.NOT_THE_LAW, FeedbackReason.WRONG_ARTICLE)  # of one article: it does not answer

FORMER = "code-civil"  # the name of the card that shipped while it held one code


@dataclass(frozen=True, slots=True)
class FeedbackExport:
    """Annotated questions, each with the articles that were said not to answer it; and what gave none."""

    questions: tuple[tuple[Question, tuple[str, ...]], ...]
    left: Counter[str] = field(default_factory=Counter)  # why -> words, or questions


def annotated(words: Iterable[FeedbackEntry], articles: Collection[str]) -> FeedbackExport:
    """Turn words into annotated questions, as many as somebody allowed to be kept.

    An article answers a question if more people said so than said the contrary. One that was called wrong
    more often becomes a negative, and a question that keeps no answering article is left out: that ten
    articles were wrong does not say that none is right. What is said of a list tells of no article; that an
    answer seems false tells of the answer; that somebody dislikes the law tells nothing of the ranking, so
    it is no label of either kind. All are of one index; articles that its corpus no longer has are left out.
    """
    left: Counter[str] = Counter()
    votes: dict[str, Counter[str]] = defaultdict(Counter)
    texts: dict[str, str] = {}
    for word in words:
        if word.question is None or not word.question.strip():
            left["words whose question was not to be kept"] += 1
        elif word.reason is FeedbackReason.DISLIKE:
            left["words of dislike for the law, which are no label"] += 1
        elif word.reason is FeedbackReason.FALSE_ANSWER:
            left["words on a written answer"] += 1
        elif word.article_id is None:
            left["words on a whole list"] += 1
        elif word.article_id not in articles:
            left["words on articles that the corpus no longer has"] += 1
        else:
            key = " ".join(word.question.split()).casefold()
            texts.setdefault(key, " ".join(word.question.split()))
            votes[key][word.article_id] += -1 if word.reason in _AGAINST else 1
    made: list[tuple[Question, tuple[str, ...]]] = []
    for key, vote in votes.items():
        right = tuple(article for article, count in vote.items() if count > 0)
        if right:
            wrong = tuple(article for article, count in vote.items() if count < 0)
            made.append((Question(f"feedback-{len(made) + 1}", texts[key], right, CATEGORY), wrong))
        else:
            left["questions for which no article was said to answer"] += 1
    return FeedbackExport(tuple(made), left)


def feedback(parsed: argparse.Namespace) -> Iterator[str]:
    """Count, export or delete what people said, in a file or where the environment keeps it; or its gain.

    Raises:
        BadInput: neither is named, the days are negative, or the new file is there or cannot be written;
            or the questions cannot be read.
    """
    if parsed.what == "gain":
        start = Start.of(parsed.name)
        articles = read(start.folder / "corpus").articles
        with closing(Bars()) as bars:
            measured = feedback_gain.measure(start, read_questions(parsed.questions, articles), bars)
        yield from measured.lines()
        return
    store = Feedback(parsed.file) if parsed.file is not None else from_environment(os.environ)
    if store is None:
        raise BadInput("no feedback is kept: name its file with --file FILE, or set PANDECT_FEEDBACK=FILE")
    if parsed.what == "export":
        yield from _export(parsed.name, store.words(), parsed.output)
    elif parsed.what == "prune":
        days = store.days if parsed.older_than is None else parsed.older_than
        if days < 0:
            raise BadInput(f"older than {days} days: give 0 or more; 0 deletes all that is of before today")
        oldest = date.today() - timedelta(days=days)
        yield f"{store.place}: {store.prune(oldest):,} words of before {oldest.isoformat()} deleted"
    else:
        yield from _counts(list(store.words()))


def annotated_of(name: str, words: Iterable[FeedbackEntry]) -> FeedbackExport:
    """Turn what was said of an index into annotated questions of its corpus."""
    folder, _ = locate(name)
    corpus = read(folder / "corpus")
    # the index that ships is opened as builtin and named by its card, which had another name before
    of = {name, corpus.card.name, *((FORMER,) if name == BUILTIN else ())}
    return annotated((word for word in words if word.index in of), {a.id for a in corpus.articles})


def lines(questions: Iterable[tuple[Question, tuple[str, ...]]]) -> str:
    """Return annotated questions as a file for `import --option questions=FILE`."""
    said = []
    for question, wrong in questions:  # "negatives" is the column that BSARD's hard negatives come in
        record = {**question_record(question), **({"negatives": wrong} if wrong else {})}
        said.append(json.dumps(record, ensure_ascii=False) + "\n")
    return "".join(said)


def _export(name: str, words: Iterable[FeedbackEntry], file: Path) -> Iterator[str]:
    made = annotated_of(name, words)
    try:
        with file.open("x", encoding="utf-8") as out:
            out.write(lines(made.questions))
    except FileExistsError:
        raise BadInput(f"{file}: is there already. Give the name of a new file.") from None
    except OSError as error:
        raise BadInput(f"{file}: {error.strerror}. Give a place that may be written.") from None
    negatives = sum(len(wrong) for _, wrong in made.questions)
    found = f"{len(made.questions):,} annotated questions, {negatives:,} negatives"
    yield f"{file}: {found}; read them before an index learns from them"
    for why, count in sorted(made.left.items()):
        yield f"  left out: {count:,} {why}"


def _counts(words: Sequence[FeedbackEntry]) -> Iterator[str]:
    with_question = sum(word.question is not None for word in words)
    yield f"{len(words):,} words, {with_question:,} with their question"
    for name, reasons in sorted(count_feedback(words).items()):
        each = (f"{reasons[reason]:,} {reason}" for reason in FeedbackReason if reason in reasons)
        yield f"{name}: {', '.join(each)}"
