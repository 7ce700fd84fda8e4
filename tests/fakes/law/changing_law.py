"""Law that changes in any way it can, and what a build and an update make of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from pathlib import Path

from hypothesis import strategies as st

from indexes.build.build import BuildSettings, build_into
from indexes.build.encoder_choice import EncoderChoice
from indexes.corpus.corpus import Corpus
from indexes.store import manifest
from indexes.update.diff import FILE as CHANGES
from indexes.update.diff import compare
from indexes.update.reuse import Start
from indexes.update.update import UpdateOutcome, update_into
from rag.types import Article, Question
from tests.fakes.law.corpus import CODE, VILLAGE

AGAIN = "python -m indexes build village"
WORDS = [
    "puits",
    "four",
    "chèvre",
    "pain",
    "haie",
    "charrette",
    "lune",
    "conseil",
    "voisin",
    "belette",
    "l'été",
    "cœur",
]
IDS = [f"v-{n}" for n in range(1, 9)]

_words = st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join)


def _article(id_: str) -> st.SearchStrategy[Article]:
    return st.builds(
        Article,
        id=st.just(id_),
        code=st.sampled_from([CODE, "Code de la ville"]),
        article_no=st.just(id_),
        text=_words,
        headings=st.lists(st.sampled_from(["Livre I", "Du puits", "Des bêtes"]), max_size=2).map(tuple),
        valid_to=st.sampled_from([None, None, None, date(2026, 1, 1)]),
    )


def _question(id_: str, articles: list[str]) -> st.SearchStrategy[Question]:
    return st.builds(
        Question,
        id=st.just(id_),
        text=_words,
        article_ids=st.lists(st.sampled_from(articles), max_size=3, unique=True).map(tuple),
        answer=st.none() | _words,
        split=st.sampled_from([None, "train", "test"]),
    )


@st.composite
def laws(draw: st.DrawFn) -> Corpus:
    """One of the states of a law: some articles of one set of ids, in any order, and some questions."""
    ids = draw(st.lists(st.sampled_from(IDS), min_size=1, max_size=len(IDS), unique=True))
    asked = draw(st.lists(st.sampled_from(["q1", "q2", "q3", "q4"]), unique=True))
    note = draw(st.sampled_from(["", "as amended"]))
    return Corpus(
        replace(VILLAGE.card, note=note),
        tuple(draw(_article(id_)) for id_ in ids),
        tuple(draw(_question(id_, ids)) for id_ in asked),
    )


@st.composite
def changed(draw: st.DrawFn, law: Corpus) -> Corpus:
    """The same law after a few edits: what a week brings."""
    articles = {article.id: article for article in law.articles}
    for id_ in draw(st.lists(st.sampled_from(IDS), max_size=3, unique=True)):
        if id_ in articles and len(articles) > 1 and draw(st.booleans()):
            del articles[id_]
        else:
            articles[id_] = draw(_article(id_))
    asked = [
        replace(q, article_ids=tuple(id_ for id_ in q.article_ids if id_ in articles)) for q in law.questions
    ]
    if asked and draw(st.booleans()):
        asked[0] = draw(_question(asked[0].id, list(articles)))
    return replace(law, articles=tuple(articles.values()), questions=tuple(asked))


@st.composite
def histories(draw: st.DrawFn) -> list[Corpus]:
    """States of one law, one after the other."""
    states = [draw(laws())]
    for _ in range(draw(st.integers(1, 3))):
        states.append(draw(changed(states[-1]) | laws()))
    return states


def built(
    folder: Path, corpus: Corpus, settings: BuildSettings, encoder: EncoderChoice | None
) -> Mapping[str, str]:
    """Build from nothing with this encoder; return the hash of each file."""
    build_into(folder, corpus, "village", folder.name, settings, encoder=encoder)  # type: ignore[arg-type]
    return hashes(folder)


def updated(folder: Path, former: Path, corpus: Corpus, **options: bool) -> UpdateOutcome:
    """Update from a former version into a new folder."""
    start = Start.at(former, AGAIN)
    folder.mkdir()
    return update_into(folder, start, compare(start.former, corpus), corpus, folder.name, **options)


def hashes(folder: Path) -> Mapping[str, str]:
    """Path -> SHA-256 of every file of an index, but for the record of what changed."""
    made = manifest.read(folder, AGAIN)
    manifest.verify(folder, made, AGAIN)
    return {name: file["sha256"] for name, file in made.files.items() if name != CHANGES}
