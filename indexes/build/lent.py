"""What an encoder learns from other corpora of the same language: their articles and annotated questions.

Laypeople say "virer" and "proprio" whatever the law is. A corpus that few questions were annotated for may
therefore have another's beside its own: the encoder is fitted to the articles and the questions of both, and
encodes the articles of its own alone. Nothing else learns from them: what experts cite in another law is no
evidence for this one. What it gives is in docs/measurements.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from indexes.corpus.corpus import Corpus, read, to_learn_from
from indexes.store.paths import BUILTIN, corpus_folder, locate
from rag.errors import BadInput
from rag.types import Article, Question


def read_lent(names: Iterable[str], language: str) -> tuple[Corpus, ...]:
    """Read the corpora that lend their questions: imported ones, or "builtin".

    Args:
        names: of the corpora.
        language: that they must have.

    Raises:
        BadInput: there is no such corpus, it has no annotated questions, or it is in another language.
    """
    return tuple(checked(read(_folder(name)), name, language) for name in names)


def _folder(name: str) -> Path:
    folder = locate(BUILTIN)[0] / "corpus" if name == BUILTIN else corpus_folder(name)
    if not folder.is_dir():
        raise BadInput(
            f"--lent {name}: no corpus is called so: give the name of one that was imported, or {BUILTIN}"
        )
    return folder


def checked(lent: Corpus, name: str, language: str) -> Corpus:
    """Return a corpus that can lend its questions.

    Raises:
        BadInput: it has no annotated questions, or it is in another language.
    """
    if lent.card.language != language:
        raise BadInput(
            f"--lent {name}: its language is {lent.card.language!r}, that of the corpus {language!r}: an "
            "encoder learns the words of one language; give a corpus of the same"
        )
    if not to_learn_from(lent.questions):
        raise BadInput(f"--lent {name}: it has no annotated questions to learn from; leave it out")
    return lent


def articles_of(lent: Sequence[Corpus]) -> list[Article]:
    """Return the articles of these corpora, under ids that are no other's."""
    return [replace(a, id=_renamed(n, a.id)) for n, corpus in enumerate(lent) for a in corpus.articles]


def questions_of(lent: Sequence[Corpus]) -> list[Question]:
    """Return the questions of these corpora that may be learnt from, citing the ids of `articles_of`."""
    return [
        replace(q, id=_renamed(n, q.id), article_ids=tuple(_renamed(n, id_) for id_ in q.article_ids))
        for n, corpus in enumerate(lent)
        for q in to_learn_from(corpus.questions)
    ]


def _renamed(n: int, id_: str) -> str:
    return f"lent-{n}\N{INFORMATION SEPARATOR ONE}{id_}"  # a control character, which no id of a file holds
