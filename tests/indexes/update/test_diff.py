"""What changed between two laws, by id and content, and its record."""

from __future__ import annotations

import json
import tempfile
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indexes.corpus.corpus import Corpus, write
from indexes.update.diff import FILE, ChangedIds, Changes, CorpusDiff, FormerCorpus, compare
from rag.types import Article, Question
from tests.fakes.law.changing_law import laws
from tests.fakes.law.corpus import CODE, VILLAGE


def former(corpus: Corpus, folder: Path, *, compress: bool = True) -> FormerCorpus:
    write(corpus, folder / "v1" / "corpus", compress=compress, extras=False)
    return FormerCorpus.read(folder / "v1")


def compared(one: Corpus, other: Corpus) -> CorpusDiff:
    with tempfile.TemporaryDirectory() as scratch:
        return compare(former(one, Path(scratch)), other)


def changed(number: str, **fields: object) -> Corpus:
    articles = [replace(a, **fields) if a.id == number else a for a in VILLAGE.articles]  # type: ignore[arg-type]
    return replace(VILLAGE, articles=tuple(articles))


def test_the_same_law(tmp_path: Path) -> None:
    for compress in (True, False):
        was = former(VILLAGE, tmp_path / str(compress), compress=compress)
        found = compare(was, VILLAGE)
        assert not found.changes
        assert found.changes.articles == ChangedIds(unchanged=12)
        assert found.changes.questions == ChangedIds(unchanged=5)
        assert found.changes.brief() == "the same law"
        assert found.former_ids == tuple(a.id for a in VILLAGE.articles)
        assert found.same_id.tolist() == found.same_words.tolist() == list(range(12))


def test_each_kind_of_change() -> None:
    articles = list(changed("v-3", text="Le four est froid.").articles)
    articles[3] = replace(articles[3], valid_to=date(2026, 1, 1))
    del articles[4]
    articles.append(Article("v-13", CODE, "13", "Rien."))
    new = replace(
        VILLAGE,
        articles=tuple(articles),
        questions=tuple(replace(q, article_ids=()) if q.id == "q2" else q for q in VILLAGE.questions[:-1]),
        card=replace(VILLAGE.card, title="Le droit", law_date=date(2026, 1, 1)),
    )
    found = compared(VILLAGE, new)
    assert found.changes == Changes(
        against="v1",
        articles=ChangedIds(("v-13",), ("v-3",), ("v-4",), ("v-5",), 9),
        questions=ChangedIds((), ("q2",), (), ("q5",), 3),
        card=("title", "law_date"),
    )
    # article 4 has its words still, article 3 only its number
    assert found.same_id.tolist() == [0, 1, 2, 3, *range(5, 12), -1]
    assert found.same_words.tolist() == [0, 1, -1, 3, *range(5, 12), -1]
    assert found.changes.brief() == (
        "1 added, 1 changed, 1 repealed, 1 removed; questions 1 changed, 1 removed; card: title, law_date"
    )


def test_a_repealed_article_is_one_whose_end_is_new() -> None:
    end = changed("v-3", valid_to=date(2026, 1, 1))
    assert compared(VILLAGE, end).changes.articles.repealed == ("v-3",)
    later = changed("v-3", valid_to=date(2027, 1, 1))
    assert compared(end, later).changes.articles.changed == ("v-3",)
    assert compared(end, VILLAGE).changes.articles.changed == ("v-3",)  # in force again


@pytest.mark.parametrize("field", ["url", "region", "article_no", "references"])
def test_what_is_not_searched_changes_no_words(field: str) -> None:
    found = compared(VILLAGE, changed("v-3", **{field: ("v-1",) if field == "references" else "x"}))
    assert found.changes.articles.changed == ("v-3",)
    assert found.same_words.tolist() == list(range(12))


@pytest.mark.parametrize("field", ["code", "text", "headings"])
def test_what_is_searched_changes_words(field: str) -> None:
    found = compared(VILLAGE, changed("v-3", **{field: ("x",) if field == "headings" else "x"}))
    assert found.same_words.tolist() == [0, 1, -1, *range(3, 12)]
    assert found.same_id.tolist() == list(range(12))


def test_another_order_is_a_change() -> None:
    turned = replace(VILLAGE, articles=VILLAGE.articles[::-1])
    found = compared(VILLAGE, turned)
    assert found.changes == replace(compared(VILLAGE, VILLAGE).changes, moved=True)
    assert found.same_words.tolist() == list(range(12))[::-1]
    assert compared(VILLAGE, replace(VILLAGE, questions=VILLAGE.questions[::-1])).changes.moved
    # what stands between two that stay is not out of order
    assert not compared(replace(VILLAGE, articles=VILLAGE.articles[::2], questions=()), VILLAGE).changes.moved


def test_only_the_first_ids_are_printed() -> None:
    changes = Changes("v1", ChangedIds(added=tuple(f"a{n}" for n in range(1200))), ChangedIds(("q1",)))
    lines = [line.split() for line in changes.lines()]
    assert ["added", "1,200", "a0,", "a1,", "a2,", "a3,", "a4,", "..."] in lines
    assert ["repealed", "0"] in lines
    assert ["added", "questions", "1", "q1"] in lines
    assert not any(line[0] == "changed" and line[1] == "questions" for line in lines)


@pytest.mark.slow
@given(laws(), laws())
@settings(max_examples=40)
def test_every_article_is_counted_once_and_found_where_it_stood(one: Corpus, other: Corpus) -> None:
    found = compared(one, other)
    of, was = found.changes.articles, {a.id: (i, a) for i, a in enumerate(one.articles)}
    kinds = [*of.added, *of.changed, *of.repealed, *of.removed]
    assert len(set(kinds)) == len(kinds)
    assert len(kinds) + of.unchanged == len(was.keys() | {a.id for a in other.articles})
    for article, same_id, same_words in zip(other.articles, found.same_id, found.same_words, strict=True):
        before = was.get(article.id)
        assert same_id == (-1 if before is None else before[0])
        alike = before and (before[1].code, before[1].headings, before[1].text)
        assert same_words == (same_id if alike == (article.code, article.headings, article.text) else -1)
    same = (one.sha256, one.questions_sha256, one.card) == (other.sha256, other.questions_sha256, other.card)
    assert bool(found.changes) is not same


@pytest.mark.slow
@given(laws(), laws())
@settings(max_examples=40)
def test_a_record_is_read_as_it_was_written(one: Corpus, other: Corpus) -> None:
    changes = compared(one, other).changes
    with tempfile.TemporaryDirectory() as scratch:
        changes.write(Path(scratch))
        assert Changes.read(Path(scratch)) == changes


@given(st.binary() | st.dictionaries(st.sampled_from(["against", "articles", "card"]), st.integers()))
def test_a_record_that_is_something_else_is_none(content: bytes | dict[str, int]) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        assert Changes.read(Path(scratch)) is None
        raw = content if isinstance(content, bytes) else json.dumps(content).encode()
        (Path(scratch) / FILE).write_bytes(raw)
        assert Changes.read(Path(scratch)) is None


def test_the_questions_of_a_version_are_read_with_their_articles(tmp_path: Path) -> None:
    asked = (*VILLAGE.questions, Question("q6", "Quoi ?", ("v-1", "v-2"), "c", "Rien.", "train"))
    assert former(replace(VILLAGE, questions=asked), tmp_path).questions == asked
