"""What stays of a corpus when new law comes: its card, and its questions where the new files bring none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from indexes.cleaning.removed import Removed, read_removed
from indexes.cli.importing import Imported
from indexes.corpus import extras as extras_
from indexes.corpus.card import card_of, card_record
from indexes.corpus.nodes import read_nodes
from indexes.formats.jsonl import dump
from indexes.formats.validation import Inspection
from rag.corpus.card import CorpusCard
from rag.errors import BadInput
from rag.types import Article, Question

OF_THE_FILES = ("origin",)  # what a card says of the files that came, not of the corpus


def with_former_card(imported: Imported, former: CorpusCard, typed: Mapping[str, object]) -> Imported:
    """Return what came in under the former card.

    What was typed goes over it, and what it leaves open the new files fill in. Of two dates of the law
    the later one is taken: the card must not say that new law is old.

    Args:
        imported: the new law.
        former: the card that the corpus has.
        typed: fields given on the command line; None for those that were not.

    Raises:
        BadInput: a value that was typed is unfit.
    """
    was, came = card_record(former), card_record(imported.corpus.card)
    given = {key: value for key, value in typed.items() if value is not None}
    made = {**came, **was, **{key: came[key] for key in OF_THE_FILES if key in came}}
    dates = [str(record["law_date"]) for record in (was, came) if "law_date" in record]
    if dates:
        made["law_date"] = max(dates)  # ISO dates sort as days do
    card = card_of({**made, **given, "name": former.name}, "the card of the corpus")
    return replace(imported, corpus=replace(imported.corpus, card=card))


def with_former_questions(imported: Imported, former: Sequence[Question], folder: Path) -> Imported:
    """Return what came in with the questions that the corpus has, if it brings none of its own.

    A gold article that is gone is left out, and so is a question that keeps none.

    Args:
        imported: the new law.
        former: questions of the version in use.
        folder: of the corpus, for the columns of its questions that nothing uses.
    """
    corpus = imported.corpus
    if corpus.questions or not former:
        return imported
    there = {article.id for article in corpus.articles}
    asked = []
    for question in former:
        gold = tuple(id_ for id_ in question.article_ids if id_ in there)
        if gold or not question.article_ids:
            asked.append(replace(question, article_ids=gold))
    _, columns = _extras(folder, (), [question.id for question in asked])
    return replace(imported, corpus=replace(corpus, questions=tuple(asked), question_extras=columns))


def kept_alike(folder: Path, imported: Imported) -> bool:
    """Tell whether a corpus folder has the same as what came in, past what an index holds.

    That is extra columns, nodes, and what cleaning took out; where the files lay may be another place.
    """
    corpus = imported.corpus
    ids, asked = [article.id for article in corpus.articles], [question.id for question in corpus.questions]
    try:
        kept = _extras(folder, ids, asked)
        nodes, removed = read_nodes(folder), read_removed(folder)
    except BadInput:
        return False
    return (
        [_plain(of) for of in kept] == [_plain(corpus.extras), _plain(corpus.question_extras)]
        and nodes == tuple(imported.nodes or ())
        and _taken_out(removed) == _taken_out(imported.removed)
    )


def _taken_out(removed: Sequence[Removed]) -> list[tuple[Article, str, str | None, bytes]]:
    return [(r.article, r.removed_for, r.moved_to, dump(dict(sorted(r.extras.items())))) for r in removed]


def _extras(folder: Path, ids: Sequence[str], asked: Sequence[str]) -> tuple[extras_.Extras, extras_.Extras]:
    inspection = Inspection(lenient=True)
    if folder.is_dir():
        extras_.read_extras(folder, set(ids), set(asked), inspection)
    return inspection.kept("article", ids), inspection.kept("question", asked)


def _plain(extras: extras_.Extras) -> dict[str, bytes]:
    """Return the columns as they are written, which tells 1 from 1.0 and a list from a tuple no more."""
    return {id_: dump(dict(sorted(columns.items()))) for id_, columns in extras.items() if columns}
