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
from indexes.formats.jsonl import Record, dump, records, write_lines
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
    lines = [dump(_record(each)) for each in removed]
    if lines:
        write_lines(folder / FILE, lines)


def read_removed(folder: Path) -> tuple[RemovedArticle, ...]:
    """Read removed.jsonl.gz of a corpus folder; none where it is absent.

    Raises:
        BadInput: a line cannot be used.
    """
    path, inspection, found = folder / FILE, Inspection(), []
    if path.is_file():
        for place, record in records(path, inspection):
            try:
                extras = record.get("extras")
                why, instead = optional(record, "removed_for"), optional(record, "moved_to")
                columns = extras if isinstance(extras, Mapping) else {}
                found.append(RemovedArticle(parse_article(record), why or "", instead, columns))
            except UnfitError as unfit:
                inspection.refuse(unfit.reason, place, unfit.problem, unfit.cure)
    return tuple(found)


def _record(each: RemovedArticle) -> Record:
    record = {**article_record(each.article), "removed_for": each.removed_for}
    if each.moved_to is not None:
        record["moved_to"] = each.moved_to
    if each.extras:
        record["extras"] = dict(sorted(each.extras.items()))
    return record


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


@dataclass
class CleaningState:
    """What the kinds work on, one after the other."""

    corpus: Corpus
    removed: list[RemovedArticle] = field(default_factory=list)

    def cited(self) -> set[str]:
        """Return the ids of the articles that questions cite."""
        return {id_ for question in self.corpus.questions for id_ in question.article_ids}


def unmark(state: CleaningState) -> Tally:
    """Take the marks out of every text, and keep what it was."""
    corpus = state.corpus
    extras = dict(corpus.extras)
    articles: list[Article] = []
    for article in corpus.articles:
        bare = unmarked(article.text, corpus.card.language)
        if bare != article.text:
            # One that an earlier cleaning kept is the original; what it left is not.
            extras[article.id] = {ORIGINAL: article.text, **extras.get(article.id, {})}
        articles.append(replace(article, text=bare) if bare != article.text else article)
    altered = sum(new is not old for new, old in zip(articles, corpus.articles, strict=True))
    if altered:
        state.corpus = replace(corpus, articles=tuple(articles), extras=extras)
    return Tally("marks", altered, altered)


def drop(state: CleaningState, kind: str, found: set[str]) -> Tally:
    """Remove articles for which nothing stays; those that questions cite are kept."""
    cited = found & state.cited()
    _remove(state, kind, dict.fromkeys(found - cited))
    return Tally(kind, len(found), len(found) - len(cited), len(cited))


def merge(state: CleaningState, kind: str, doubles: Duplicates) -> Tally:
    """Remove articles for which another stays, and let questions and articles cite that one."""
    instead = doubles.instead
    moved = sum(id_ in instead for question in state.corpus.questions for id_ in question.article_ids)
    _remove(state, kind, instead)
    return Tally(kind, doubles.articles, len(instead), moved=moved, groups=doubles.groups)


def _remove(state: CleaningState, kind: str, gone: Mapping[str, str | None]) -> None:
    if not gone:
        return
    corpus = state.corpus
    if len(gone) == len(corpus.articles):
        raise BadInput(
            f"--clean {kind} would remove all {len(gone)} articles of {corpus.card.name}. Leave it out."
        )
    state.removed += [
        RemovedArticle(article, kind, gone[article.id], corpus.extras.get(article.id, {}))
        for article in corpus.articles
        if article.id in gone
    ]
    remaining = [article for article in corpus.articles if article.id not in gone]
    state.corpus = replace(
        corpus,
        articles=tuple(_redirected(article, gone) for article in remaining),
        questions=tuple(
            replace(question, article_ids=_followed(question.article_ids, gone))
            for question in corpus.questions
        ),
        extras={id_: columns for id_, columns in corpus.extras.items() if id_ not in gone},
    )


def _redirected(article: Article, gone: Mapping[str, str | None]) -> Article:
    """Let an article refer to what stays; references to what is gone for good stay as published."""
    if not any(gone.get(id_) for id_ in article.references):
        return article
    followed = _followed(article.references, gone)
    return replace(article, references=tuple(id_ for id_ in followed if id_ != article.id))


def _followed(ids: Sequence[str], gone: Mapping[str, str | None]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(gone.get(id_) or id_ for id_ in ids))
