"""A corpus: one jurisdiction's articles in one language, with its card and its annotated questions.

On disk it is a folder: `articles.jsonl.gz` (or `articles.jsonl`), `card.json` and, where there are
any, `questions.jsonl`, facts (`indexes.corpus.facts`), the columns that nothing uses and the nodes of its
graph (`indexes.corpus.extras`).

The identity of a corpus is the SHA-256 of its articles in canonical form, in their order: one line
an article as `indexes.formats.jsonl.dump` writes `indexes.corpus.articles.article_record`, that is UTF-8
JSON without spaces or escapes beyond the necessary, the keys of `indexes.corpus.articles.KEYS` in that
order, those that are null or an empty list left out, each line ended by a line feed. These are the bytes that
`write` puts into the file, so `zcat articles.jsonl.gz | sha256sum` prints it. Card, questions, facts,
nodes and extra columns are no part of it; questions have an identity of their own, made in the same way.
"""

from __future__ import annotations

import glob
import hashlib
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from indexes.corpus import articles as articles_
from indexes.corpus import extras as extras_
from indexes.corpus import facts as facts_
from indexes.corpus import questions as questions_
from indexes.corpus.articles import read_articles
from indexes.corpus.card import FILE as CARD
from indexes.corpus.card import card_bytes, read_card
from indexes.corpus.extras import Extras
from indexes.corpus.facts import Facts
from indexes.corpus.questions import read_questions
from indexes.formats.jsonl import dump, write_lines
from indexes.formats.limits import TEXT
from indexes.formats.validation import Inspection
from indexes.store import atomic
from indexes.store.paths import command
from rag.corpus.card import CorpusCard
from rag.errors import BadInput
from rag.graph.graph import Node
from rag.types import Article, Progress, Question, no_progress

ARTICLES = ("articles.jsonl.gz", "articles.jsonl")
QUESTIONS = ("questions.jsonl", "questions.jsonl.gz")


@contextmanager
def appearing(folder: Path) -> Iterator[Path]:
    """Give a temporary folder beside `folder`, which becomes it when the block ends without an error.

    Everything in it is on the disk before the rename; after an error nothing of it is left, and what a killed
    process left under such a name in the same place goes now.

    Raises:
        BadInput: `folder` is there already and is not empty, or its parent cannot be written.
    """
    folder = folder.absolute()
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise BadInput(f"{folder} is there already. Remove it (rm -r) or give another place.")
    part = atomic.hidden_sibling(folder, "part")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        # of this name alone: other programs hide what they have not finished under such names too
        atomic.sweep(folder.parent, f".{glob.escape(folder.name)}.{'[0-9a-f]' * 8}.part")
        part.mkdir()
    except OSError as error:
        cure = "Give a place that you may write"
        raise BadInput(f"{folder}: cannot be made ({error.strerror}). {cure}.") from None
    try:
        with ExitStack() as locks:
            with suppress(OSError):  # a file system without such locks: nothing is swept there either
                locks.enter_context(atomic.held(part))
            yield part
            atomic.sync(part)
            part.replace(folder)  # over an empty folder too
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise
    atomic.sync_one(folder.parent)


def articles_file(folder: Path) -> Path:
    """Return the articles' file of a folder.

    Raises:
        BadInput: there is none, or both the plain and the gzip one.
    """
    found = [folder / name for name in ARTICLES if (folder / name).is_file()]
    if len(found) == 1:
        return found[0]
    if found:
        problem, cure = f"both {' and '.join(ARTICLES)} are there", "Remove the one that is out of date"
    else:
        problem, cure = f"no {' or '.join(ARTICLES)} in it", "Give the folder that holds one, or its path"
    raise BadInput(f"{folder}: {problem}. {cure}.")


def questions_file(folder: Path, named: str | None = None) -> Path | None:
    """Return the questions' file of a folder, or None where there is none and none was named.

    Raises:
        BadInput: the file named is not there; the text lists those that are.
    """
    if named is not None:
        if (folder / named).is_file():
            return folder / named
        available = ", ".join(sorted(path.name for path in folder.glob("questions*.jsonl*"))) or "none"
        raise BadInput(f"{folder / named}: no such file. Questions in this folder: {available}.")
    return next((folder / name for name in QUESTIONS if (folder / name).is_file()), None)


SYNTHETIC = "synthetic"  # the split of questions that a machine wrote
HELD_OUT = frozenset({"test", "dev", "validation"})  # splits that nothing may learn from


@dataclass(frozen=True)
class Corpus:
    """One jurisdiction's articles in one language, and the questions annotated for them."""

    card: CorpusCard
    articles: tuple[Article, ...]
    questions: tuple[Question, ...] = ()
    extras: Extras = field(default_factory=dict, repr=False)  # of the articles, never searched
    question_extras: Extras = field(default_factory=dict, repr=False)
    nodes: tuple[Node, ...] = field(default=(), repr=False)  # of its graph, never results
    facts: Facts = field(default_factory=dict, repr=False)  # of the articles, shown beside them

    def __post_init__(self) -> None:
        """Refuse what no index could be built from, wherever it was made."""
        name = self.card.name
        if not self.articles:
            raise BadInput(f"the corpus {name} has no articles. Give at least one.")
        known = {article.id for article in self.articles}
        for what, ids in (("article", self.articles), ("question", self.questions)):
            twice = [id_ for id_, n in Counter(each.id for each in ids).items() if n > 1]
            if twice:
                problem = f"the corpus {name} has {what} id {twice[0]!r} twice"
                raise BadInput(f"{problem}. Give each an id of its own.")
        for question in self.questions:
            for id_ in question.article_ids:
                if id_ not in known:
                    problem = f"question {question.id!r} cites {id_!r}, not in the corpus {name}"
                    raise BadInput(f"{problem}. Correct it.")
        facts_.check(name, self.facts, known)
        extras_.check(name, "article", self.extras, known)
        extras_.check(name, "question", self.question_extras, {question.id for question in self.questions})

    @cached_property
    def sha256(self) -> str:
        """Identity of the articles, hexadecimal: see the head of this module."""
        return _digest(_article_lines(self.articles))

    @cached_property
    def questions_sha256(self) -> str:
        """Identity of the questions, hexadecimal."""
        return _digest(_question_lines(self.questions))


def read(
    path: Path,
    *,
    card: CorpusCard | None = None,
    inspection: Inspection | None = None,
    questions: str | None = None,
    progress: Progress = no_progress,
) -> Corpus:
    """Read a corpus folder, or a file of articles with the questions beside it.

    Args:
        path: the folder, or the file.
        card: of the corpus; None reads the card of the folder.
        inspection: told of bad lines and of columns that are not used; None stops at the first bad one.
        questions: name of the questions' file; None takes questions.jsonl if it is there.
        progress: called with bytes read and bytes in all, for each file.

    Raises:
        BadInput: the folder cannot be used; the text names file, line and cure.
    """
    inspection = inspection or Inspection()
    is_folder = path.is_dir()
    longest = None if card is None else TEXT  # what comes in has a card given; what is here was bounded
    if card is None and is_folder and not (path / CARD).is_file():
        cure = f"{command('import PATH --from pandect --name NAME --language fr')} writes one"
        raise BadInput(f"{path}: no {CARD} in it. {cure}.")
    card = card or read_card(path / CARD)
    file = articles_file(path) if is_folder else path
    textless = card.text_kind == "summary"  # nobody may have summarised an article yet
    articles = read_articles(
        file, inspection=inspection, progress=progress, textless=textless, longest=longest
    )
    questions_path = questions_file(path if is_folder else path.parent, questions)
    found = (
        read_questions(questions_path, articles, inspection=inspection, progress=progress)
        if questions_path
        else ()
    )
    return gathered(card, articles, found, inspection, path if is_folder else None)


def gathered(
    card: CorpusCard,
    articles: tuple[Article, ...],
    questions: tuple[Question, ...],
    inspection: Inspection,
    folder: Path | None = None,
) -> Corpus:
    """Make a corpus of what was read, with the extra columns that the inspection was told of.

    Those in the files of a corpus's folder are read too, and so are its nodes.
    """
    ids, question_ids = [article.id for article in articles], [question.id for question in questions]
    if folder is not None:
        extras_.read_extras(folder, set(ids), set(question_ids), inspection)
    extras = inspection.extra_columns("article", ids), inspection.extra_columns("question", question_ids)
    if folder is None:
        return Corpus(card, articles, questions, *extras)
    nodes = extras_.read_nodes(folder, inspection=inspection)
    return Corpus(card, articles, questions, *extras, nodes, facts_.read_facts(folder, set(ids), inspection))


def write(corpus: Corpus, folder: Path, *, compress: bool = True, extras: bool = True) -> Path:
    """Write a corpus folder, whole or not at all, and return it; the same corpus gives the same bytes.

    The articles are gzip if `compress`; with `extras` go the columns that nothing uses and the nodes.

    Raises:
        BadInput: the folder is there already and is not empty, or cannot be made.
    """
    with appearing(folder) as part:
        write_lines(part / ARTICLES[0 if compress else 1], _article_lines(corpus.articles))
        if corpus.questions:
            write_lines(part / QUESTIONS[0], _question_lines(corpus.questions))
        facts_.write_facts(part, corpus.facts, (article.id for article in corpus.articles))
        if extras:
            extras_.write_extras(part / extras_.ARTICLES, corpus.extras, (a.id for a in corpus.articles))
            question_ids = (question.id for question in corpus.questions)
            extras_.write_extras(part / extras_.QUESTIONS, corpus.question_extras, question_ids)
            extras_.write_nodes(part, corpus.nodes)
        (part / CARD).write_bytes(card_bytes(corpus.card))
    return folder


def to_learn_from(questions: Iterable[Question]) -> list[Question]:
    """Return the annotated questions that an index may learn from: those with gold, not held out."""
    return [q for q in questions if q.article_ids and q.split not in HELD_OUT]


def split_synthetic(questions: Iterable[Question]) -> tuple[list[Question], list[Question]]:
    """Return human questions and synthetic ones (split "synthetic")."""
    human: list[Question] = []
    written: list[Question] = []
    for question in questions:
        (written if question.split == SYNTHETIC else human).append(question)
    return human, written


def human_or_synthetic(questions: Iterable[Question]) -> tuple[list[Question], list[Question]]:
    """Return what `split_synthetic` does; without human questions the synthetic ones take their place."""
    human, written = split_synthetic(questions)
    return (human, written) if human else (written, [])


def counts(corpus: Corpus) -> dict[str, int]:
    """Count what papers print of a corpus: articles, codes, questions, gold articles."""
    by_split = Counter(f"questions ({question.split})" for question in corpus.questions if question.split)
    return {
        "articles": len(corpus.articles),
        "codes": len({article.code for article in corpus.articles}),
        "questions": len(corpus.questions),
        **dict(sorted(by_split.items())),
        "relevant articles": len({id_ for question in corpus.questions for id_ in question.article_ids}),
        "most articles of one question": max((len(q.article_ids) for q in corpus.questions), default=0),
    }


def _article_lines(articles: Iterable[Article]) -> Iterator[bytes]:
    return (dump(articles_.article_record(article)) for article in articles)


def _question_lines(questions: Iterable[Question]) -> Iterator[bytes]:
    return (dump(questions_.question_record(question)) for question in questions)


def _digest(lines: Iterable[bytes]) -> str:
    digest = hashlib.sha256()
    for line in lines:
        digest.update(line)
    return digest.hexdigest()
