"""The steps of cleaning: texts altered, articles removed, citations that follow them.

Articles that cleaning took out of a corpus, kept beside it so that nothing is lost.

They lie in removed.jsonl.gz in the corpus folder, one a line: the article as articles.jsonl has it, why it
was taken out ("removed_for"), the article that stays for it where there is one ("moved_to"), and the
columns that nothing uses ("extras"). They are no part of the corpus's identity.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from indexes.cleaning.duplicates import Duplicates
from indexes.cleaning.editorial_marks import unmarked
from indexes.corpus.articles import article_record, optional, parse_article
from indexes.corpus.corpus import Corpus
from indexes.formats.jsonl import dump, records, write_lines
from indexes.formats.validation import Inspection, UnfitError
from rag.errors import BadInput
from rag.types import Article

FILE = "removed.jsonl.gz"


@dataclass(frozen=True, slots=True)
class RemovedArticle:
    """An article that was removed, and why."""

    article: Article
    removed_for: str  # the kind of cleaning
    moved_to: str | None = None  # id of the article that stays for it
    extras: Mapping[str, object] = field(default_factory=dict)


def write_removed(folder: Path, removed: Iterable[RemovedArticle]) -> None:
    """Write removed.jsonl.gz into a corpus folder; no file where there are none."""
    lines = []
    for each in removed:
        record = {**article_record(each.article), "removed_for": each.removed_for}
        if each.moved_to is not None:
            record["moved_to"] = each.moved_to
        if each.extras:
            record["extras"] = dict(sorted(each.extras.items()))
        lines.append(dump(record))
    if lines:
        write_lines(folder / FILE, lines)


def read_removed(folder: Path) -> tuple[RemovedArticle, ...]:
    """Read removed.jsonl.gz of a corpus folder, none where it is absent; BadInput: a line cannot be used."""
    path, inspection, found = folder / FILE, Inspection(), []
    if path.is_file():
        for place, record in records(path, inspection):
            try:
                extras = record.get("extras")
                why, instead = optional(record, "removed_for"), optional(record, "moved_to")
                columns = extras if isinstance(extras, Mapping) else {}
                found.append(
                    RemovedArticle(parse_article(record, textless=True), why or "", instead, columns)
                )
            except UnfitError as unfit:
                inspection.refuse(unfit.reason, place, unfit.problem, unfit.cure)
    return tuple(found)


ORIGINAL = "original_text"  # the extra column of an article whose text was altered


@dataclass(frozen=True, slots=True)
class Tally:
    """What one kind of cleaning found and did."""

    kind: str
    found: int  # articles
    done: int = 0  # that were altered or removed
    cited: int = 0  # that were kept because a question cites them
    moved: int = 0  # citations by questions that now name another article
    groups: int | None = None  # numbers or texts that several articles had

    def line(self) -> str:
        """Say it on one line."""
        among = f" in {self.groups:,} groups" if self.groups is not None else ""
        did = "altered" if self.kind == "marks" else "removed"
        parts = [f"{self.found:,} articles{among}, {self.done:,} {did}"]
        if self.cited:
            parts.append(f"{self.cited:,} kept because a question cites them")
        if self.moved:
            parts.append(f"{self.moved:,} citations moved to the article that stays")
        return f"cleaned, {self.kind}: {', '.join(parts)}"


@dataclass(frozen=True)
class Cleaned:
    """A corpus after cleaning, what was taken out of it, and what was done."""

    corpus: Corpus
    removed: tuple[RemovedArticle, ...] = ()
    tallies: tuple[Tally, ...] = ()


def unmark(done: Cleaned) -> Cleaned:
    """Take the marks out of every text, and keep what it was."""
    corpus = done.corpus
    extras, articles, altered = dict(corpus.extras), list(corpus.articles), 0
    for i, article in enumerate(articles):
        bare = unmarked(article.text, corpus.card.language)
        if bare != article.text:
            # One that an earlier cleaning kept is the original; what it left is not.
            extras[article.id] = {ORIGINAL: article.text, **extras.get(article.id, {})}
            articles[i] = replace(article, text=bare)
            altered += 1
    if altered:
        facts = {article.id: corpus.facts[article.id] for article in articles if article.id in corpus.facts}
        corpus = replace(corpus, articles=tuple(articles), extras=extras, facts=facts)
    return Cleaned(corpus, done.removed, (*done.tallies, Tally("marks", altered, altered)))


def drop(done: Cleaned, kind: str, found: set[str]) -> Cleaned:
    """Remove articles for which nothing stays; those that questions cite are kept."""
    cited = found & {id_ for question in done.corpus.questions for id_ in question.article_ids}
    tally = Tally(kind, len(found), len(found) - len(cited), len(cited))
    return _remove(done, tally, dict.fromkeys(found - cited))


def merge(done: Cleaned, kind: str, doubles: Duplicates) -> Cleaned:
    """Remove articles for which another stays, and let questions and articles cite that one."""
    instead = doubles.instead
    moved = sum(id_ in instead for question in done.corpus.questions for id_ in question.article_ids)
    tally = Tally(kind, doubles.articles, len(instead), moved=moved, groups=doubles.groups)
    return _remove(done, tally, instead)


def _remove(done: Cleaned, tally: Tally, gone: Mapping[str, str | None]) -> Cleaned:
    corpus, removed = done.corpus, list(done.removed)
    if gone:
        if len(gone) == len(corpus.articles):
            which = f"all {len(gone)} articles of {corpus.card.name}"
            raise BadInput(f"--clean {tally.kind} would remove {which}. Leave it out.")
        remaining = []
        for article in corpus.articles:
            if article.id not in gone:
                remaining.append(_redirected(article, gone))
                continue
            extras = corpus.extras.get(article.id, {})
            removed.append(RemovedArticle(article, tally.kind, gone[article.id], extras))
        corpus = replace(
            corpus,
            articles=tuple(remaining),
            questions=tuple(replace(q, article_ids=_followed(q.article_ids, gone)) for q in corpus.questions),
            extras={id_: columns for id_, columns in corpus.extras.items() if id_ not in gone},
        )
    return Cleaned(corpus, tuple(removed), (*done.tallies, tally))


def _redirected(article: Article, gone: Mapping[str, str | None]) -> Article:
    """Let an article refer to what stays; references to what is gone for good stay as published."""
    if not any(gone.get(id_) for id_ in article.references):
        return article
    followed = _followed(article.references, gone)
    return replace(article, references=tuple(id_ for id_ in followed if id_ != article.id))


def _followed(ids: Sequence[str], gone: Mapping[str, str | None]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(gone.get(id_) or id_ for id_ in ids))
