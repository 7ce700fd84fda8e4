"""Compare new law with a version of an index, by ids and contents; what changed is kept with the version."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from operator import attrgetter
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from indexes.corpus.articles import article_record, parse_article
from indexes.corpus.card import FILE as CARD
from indexes.corpus.card import card_record, read_card
from indexes.corpus.corpus import Corpus, articles_file, questions_file
from indexes.corpus.questions import read_cited
from indexes.formats.jsonl import dump
from rag.corpus.card import CorpusCard
from rag.types import Article, Ints, Question

FILE = "changes.json"  # of a version
FEW = 5  # ids that are printed
KINDS = ("added", "changed", "repealed", "removed")


@dataclass(frozen=True, slots=True)
class ChangedIds:
    """Ids of articles or questions by kind of change; each id stands once."""

    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    repealed: tuple[str, ...] = ()  # still listed, and now with the day on which they ceased to be in force
    removed: tuple[str, ...] = ()
    unchanged: int = 0

    def __bool__(self) -> bool:
        """Tell whether there is any."""
        return any(getattr(self, kind) for kind in KINDS)

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> ChangedIds:
        """Make it of what JSON holds of it."""
        ids = {kind: tuple(map(str, record[kind])) for kind in KINDS}
        return cls(**ids, unchanged=int(record["unchanged"]))

    def brief(self) -> str:
        """Say how many there are of each kind that there are any of."""
        return ", ".join(f"{len(ids):,} {kind}" for kind in KINDS if (ids := getattr(self, kind)))


@dataclass(frozen=True, slots=True)
class Changes:
    """What changed from one version to another."""

    against: str  # the version before
    articles: ChangedIds = field(default_factory=ChangedIds)
    questions: ChangedIds = field(default_factory=ChangedIds)
    card: tuple[str, ...] = ()  # fields of the card whose values differ
    moved: bool = False  # what both have stands in another order

    def __bool__(self) -> bool:
        """Tell whether anything that an index holds is another."""
        return bool(self.articles or self.questions or self.card or self.moved)

    def brief(self) -> str:
        """Say on one line what changed."""
        parts = [self.articles.brief()]
        if self.questions:
            parts.append(f"questions {self.questions.brief()}")
        if self.card:
            parts.append(f"card: {', '.join(self.card)}")
        if self.moved:
            parts.append("another order")
        return "; ".join(filter(None, parts)) or "the same law"

    def lines(self) -> list[str]:
        """Say what changed, with the first ids of each kind, a line a finding."""
        found = []
        for what, of in (("", self.articles), (" questions", self.questions)):
            for kind in KINDS:
                ids: tuple[str, ...] = getattr(of, kind)
                some = f"   {', '.join(ids[:FEW])}{', ...' if len(ids) > FEW else ''}" if ids else ""
                if ids or not what:  # of questions there is often nothing to say
                    found.append(f"{kind + what:20} {len(ids):>9,}{some}")
            if of or not what:
                found.append(f"{'unchanged' + what:20} {of.unchanged:>9,}")
        if self.card:
            found.append(f"card                 {', '.join(self.card)}")
        if self.moved:
            found.append("articles or questions stand in another order")
        return found

    def write(self, folder: Path) -> None:
        """Write the record of these changes into a version."""
        (folder / FILE).write_text(json.dumps(asdict(self), ensure_ascii=False) + "\n", encoding="utf-8")

    @classmethod
    def read(cls, folder: Path) -> Changes | None:
        """Read the record of a version; None where it has none, or none that can be read."""
        try:
            record = json.loads((folder / FILE).read_text(encoding="utf-8"))
            articles, questions = ChangedIds.of(record["articles"]), ChangedIds.of(record["questions"])
            return cls(record["against"], articles, questions, tuple(record["card"]), record["moved"])
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None


_T = TypeVar("_T", Article, Question)
_words = attrgetter("code", "headings", "text")  # all of an article that is searched


@dataclass(frozen=True, slots=True)
class FormerCorpus:
    """The corpus of a version, each article as its canonical line."""

    version: str
    card: CorpusCard
    lines: tuple[bytes, ...]  # canonical: see indexes.corpus.corpus
    questions: tuple[Question, ...]

    @classmethod
    def read(cls, version: Path) -> FormerCorpus:
        """Read the corpus of a version; BadInput or OSError say that it cannot be read."""
        folder = version / "corpus"
        path, questions_path = articles_file(folder), questions_file(folder)
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            lines = tuple(file)
        questions = tuple(cited.question for cited in read_cited(questions_path)) if questions_path else ()
        return cls(version.name, read_card(folder / CARD), lines, questions)


@dataclass(frozen=True, slots=True)
class CorpusDiff:
    """The changes, and the former position of each article."""

    changes: Changes
    former_ids: tuple[str, ...]  # of the former articles, in their order
    same_id: Ints  # (n_articles,), the former position of the article of this id; -1 for none
    same_words: Ints  # (n_articles,), that position where code, headings and text are the same; else -1


def compare(former: FormerCorpus, corpus: Corpus) -> CorpusDiff:
    """Compare a corpus with that of a version.

    Lines are compared first, which is quick; only what differs in them is read.
    """
    at = {line: i for i, line in enumerate(former.lines)}
    lines = [dump(article_record(article)) for article in corpus.articles]
    same_id = np.array([at.get(line, -1) for line in lines], dtype=np.int64)
    same_words = same_id.copy()
    new = set(lines)
    left = {
        i: parse_article(json.loads(line), textless=True)
        for i, line in enumerate(former.lines)
        if line not in new
    }
    gone = {article.id: article for article in left.values()}
    was_at = {article.id: i for i, article in left.items()}
    come = {corpus.articles[i].id: corpus.articles[i] for i in np.flatnonzero(same_id < 0)}
    for i in np.flatnonzero(same_id < 0):
        article = corpus.articles[i]
        if article.id in gone:
            same_id[i] = was_at[article.id]
            if _words(article) == _words(gone[article.id]):
                same_words[i] = same_id[i]
    asked_at = {question.id: i for i, question in enumerate(former.questions)}
    same_question = np.array([asked_at.get(question.id, -1) for question in corpus.questions], dtype=np.int64)
    old_card, new_card = card_record(former.card), card_record(corpus.card)
    changes = Changes(
        against=former.version,
        articles=_changed(gone, come, len(former.lines) - len(left)),
        questions=_changed({q.id: q for q in former.questions}, {q.id: q for q in corpus.questions}),
        card=tuple(key for key in {**old_card, **new_card} if old_card.get(key) != new_card.get(key)),
        moved=_reordered(same_id) or _reordered(same_question),
    )
    ids = {i: article.id for i, article in left.items()}
    ids |= {int(row): article.id for row, article in zip(same_id, corpus.articles, strict=True) if row >= 0}
    return CorpusDiff(changes, tuple(ids[i] for i in range(len(former.lines))), same_id, same_words)


def _reordered(same: Ints) -> bool:
    stood = same[same >= 0]
    return bool(np.any(stood[1:] < stood[:-1]))


def _changed(former: Mapping[str, _T], new: Mapping[str, _T], besides: int = 0) -> ChangedIds:
    """Return what became of them; `besides` so many others are the same, word for word."""
    both = [id_ for id_ in new if id_ in former]
    differ = [id_ for id_ in both if former[id_] != new[id_]]
    repealed = {id_ for id_ in differ if _ended(new[id_]) and not _ended(former[id_])}
    return ChangedIds(
        added=tuple(id_ for id_ in new if id_ not in former),
        changed=tuple(id_ for id_ in differ if id_ not in repealed),
        repealed=tuple(id_ for id_ in differ if id_ in repealed),
        removed=tuple(id_ for id_ in former if id_ not in new),
        unchanged=besides + len(both) - len(differ),
    )


def _ended(of: Article | Question) -> bool:
    return isinstance(of, Article) and of.valid_to is not None
