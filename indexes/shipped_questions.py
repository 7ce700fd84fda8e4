"""The questions that ship, for whoever imports the official text of the law that they are about.

They are attached by code and article number, so they fit any edition: those of French law, which the index
that ships learns from, and those that were written for Chinese national law and for German tenancy law.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path
from typing import TypeAlias

from indexes.builtin_corpus import by_number
from indexes.corpus.card import FILE as CARD
from indexes.corpus.card import read_card
from indexes.corpus.corpus import HELD_OUT, Corpus, read
from indexes.corpus.questions import AnnotatedQuestion, attach, read_cited, read_questions
from indexes.sources.source import first_file
from indexes.store.paths import builtin, locate
from rag.corpus.card import CorpusCard
from rag.errors import PandectError
from rag.types import Question

_AS_PUBLISHED = frozenset({"stard", "stard-original", "fr-everyday"})  # sources
WRITTEN = Path(__file__).parent / "written"  # a folder for each language, with a card


def with_shipped_questions(corpus: Corpus) -> Corpus:
    """Return the corpus with the shipped questions of the articles it holds; others come back as they are.

    Only a corpus that says whose law it is on its card gets them: jurisdiction FR and language fr, CN and zh,
    or DE and de. A question whose id the corpus uses already is left out. A benchmark of that law stays as it
    was published, wherever it comes from: who measures adds them by `--beside`.
    """
    card = corpus.card
    ships = _SHIPS.get((card.jurisdiction, card.language))
    if ships is None or card.origin in _AS_PUBLISHED:
        return corpus
    present_ids = {question.id for question in corpus.questions}
    fresh = [q for q in attach(ships(), corpus.articles) if q.id not in present_ids]
    return replace(corpus, questions=(*corpus.questions, *fresh)) if fresh else corpus


@lru_cache(maxsize=1)
def shipped() -> tuple[AnnotatedQuestion, ...]:
    """Return the questions of the index that ships, by code and article number."""
    return by_number(read(builtin() / "corpus"))


@lru_cache
def written(language: str) -> tuple[AnnotatedQuestion, ...]:
    """Return the questions that were written for another law, by code and article number."""
    return read_cited(first_file(WRITTEN / language, ("questions.jsonl",), "The installation is damaged"))


def written_card(language: str) -> CorpusCard:
    """Return the card of those questions, which says under which licence they are."""
    return read_card(WRITTEN / language / CARD)


LANGUAGES = ("zh", "de")  # folders of WRITTEN
_Ships: TypeAlias = Callable[[], tuple[AnnotatedQuestion, ...]]
_SHIPS: Mapping[tuple[str, str], _Ships] = {  # by jurisdiction and language
    ("FR", "fr"): shipped,
    ("CN", "zh"): partial(written, "zh"),
    ("DE", "de"): partial(written, "de"),
}


def held_out(index: str | None) -> Sequence[Question]:
    """Return the questions of an index that it did not learn from; none where they cannot be read."""
    try:
        folder, _ = locate(index)
        corpus = read(folder / "corpus")
        if folder == builtin():  # its test questions lie beside it, and in no corpus
            return read_questions(folder.with_name("questions_test.jsonl"), corpus.articles)
    except PandectError:
        return ()
    return [q for q in corpus.questions if q.split in HELD_OUT and q.article_ids]


def card_of(index: str | None) -> CorpusCard | None:
    """Return the card of an index; None where it cannot be read."""
    try:
        folder, _ = locate(index)
        return read_card(folder / "corpus" / CARD)
    except PandectError:
        return None
