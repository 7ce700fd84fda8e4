"""Columns that nothing uses: kept beside the corpus, read back, and no part of what it is."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indexes.corpus import extras
from indexes.corpus.articles import KEYS
from indexes.corpus.corpus import Corpus, read, write
from indexes.corpus.questions import READ
from indexes.formats.jsonl import dump
from indexes.formats.validation import Inspection
from indexes.sources.registry import load
from rag.errors import BadInput
from tests.fakes.law.corpus import VILLAGE

MARKED = replace(
    VILLAGE,
    extras={"v-5": {"stard_id": 7, "tags": ["goat", {"old": True}]}, "v-1": {"note": "deep"}},
    question_extras={"q2": {"asked_on": "Monday"}},
)

words = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
values = st.recursive(
    st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | words,
    lambda inner: (
        st.lists(st.none() | inner, max_size=3) | st.dictionaries(words, st.none() | inner, max_size=3)
    ),
    max_leaves=5,
).filter(lambda value: value not in ("", []))  # those say nothing


def columns(ids: list[str], used: frozenset[str]) -> st.SearchStrategy[dict[str, dict[str, object]]]:
    named = words.filter(lambda name: name not in used)
    return st.dictionaries(st.sampled_from(ids), st.dictionaries(named, values, min_size=1, max_size=3))


marked = st.builds(
    lambda articles, questions: replace(VILLAGE, extras=articles, question_extras=questions),
    columns([article.id for article in VILLAGE.articles], frozenset(KEYS)),
    columns([question.id for question in VILLAGE.questions], READ),
)


@pytest.mark.slow
@given(corpus=marked)
@settings(deadline=None, max_examples=40)  # each writes to the disk
def test_what_is_written_is_read_again(tmp_path_factory: pytest.TempPathFactory, corpus: Corpus) -> None:
    folder = write(corpus, tmp_path_factory.mktemp("round") / "village")
    assert read(folder) == corpus
    imported, report = load("pandect", folder)
    assert imported == corpus
    counted = [
        column
        for kept in (corpus.extras, corpus.question_extras)
        for each in kept.values()
        for column in each
    ]
    assert report.extra_columns == {column: counted.count(column) for column in counted}


@pytest.mark.slow
@given(corpus=marked)
@settings(deadline=None, max_examples=40)  # each writes to the disk
def test_they_are_no_part_of_the_identity(tmp_path_factory: pytest.TempPathFactory, corpus: Corpus) -> None:
    assert (corpus.sha256, corpus.questions_sha256) == (VILLAGE.sha256, VILLAGE.questions_sha256)
    folder = tmp_path_factory.mktemp("identity")
    one, two = write(VILLAGE, folder / "plain"), write(corpus, folder / "marked")
    for name in ("articles.jsonl.gz", "questions.jsonl", "card.json"):
        assert (one / name).read_bytes() == (two / name).read_bytes()


def test_their_file_is_json_lines_in_the_order_of_the_articles(tmp_path: Path) -> None:
    folder = write(MARKED, tmp_path / "village")
    lines = gzip.decompress((folder / "extras.jsonl.gz").read_bytes()).decode().splitlines()
    assert [json.loads(line) for line in lines] == [
        {"id": "v-1", "note": "deep"},
        {"id": "v-5", "stard_id": 7, "tags": ["goat", {"old": True}]},
    ]
    [line] = gzip.decompress((folder / "extras_questions.jsonl.gz").read_bytes()).decode().splitlines()
    assert json.loads(line) == {"id": "q2", "asked_on": "Monday"}


def test_there_is_no_file_without_them_nor_where_they_are_not_wanted(tmp_path: Path) -> None:
    for folder in (write(VILLAGE, tmp_path / "plain"), write(MARKED, tmp_path / "index", extras=False)):
        assert sorted(path.name for path in folder.iterdir()) == [
            "articles.jsonl.gz",
            "card.json",
            "questions.jsonl",
        ]


def test_what_says_nothing_is_not_kept(tmp_path: Path) -> None:
    record = {"id": 1, "code": "C", "article_no": "1", "text": "t"}
    path = tmp_path / "law.jsonl"
    path.write_bytes(
        dump({**record, "stard_id": None, "a": "", "b": [], "c": 0, "d": False, "e": {}})
        + dump({**record, "id": 2, "a": "said"})
    )
    corpus, report = load("pandect", path, language="fr")
    assert corpus.extras == {"1": {"c": 0, "d": False, "e": {}}, "2": {"a": "said"}}
    assert report.extra_columns == {"stard_id": 0, "a": 1, "b": 0, "c": 1, "d": 1, "e": 1}


def test_what_is_skipped_leaves_no_columns_behind(tmp_path: Path) -> None:
    folder = write(VILLAGE, tmp_path / "village", compress=False)
    with (folder / "articles.jsonl").open("ab") as file:
        file.write(
            dump({"id": "v-1", "code": "C", "article_no": "1", "text": "again", "note": "of the second"})
        )
        file.write(dump({"id": "v-14", "code": "C", "article_no": "14", "text": "new", "note": "kept"}))
    with (folder / "questions.jsonl").open("ab") as file:
        file.write(dump({"id": "q6", "question": "gone?", "article_ids": ["absent"], "note": "of nobody"}))
    corpus = read(folder, inspection=Inspection(lenient=True))
    assert corpus.extras == {"v-14": {"note": "kept"}}
    assert corpus.question_extras == {}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            b'{"id": "v-99", "note": "x"}',
            r"extras\.jsonl\.gz:1: no article has the id 'v-99'\. Remove the line",
        ),
        (b'{"note": "x"}', r"extras\.jsonl\.gz:1: id is None"),
        (b'{"id": ["v-1"]}', r"extras\.jsonl\.gz:1: id is \['v-1'\], a list"),
        (b"{", r"extras\.jsonl\.gz:1: not JSON"),
    ],
)
def test_a_bad_file_of_extra_columns(tmp_path: Path, line: bytes, message: str) -> None:
    folder = write(MARKED, tmp_path / "village")
    (folder / extras.ARTICLES).write_bytes(line + b"\n" + dump({"id": "v-2", "note": "good"}))
    with pytest.raises(BadInput, match=message):
        read(folder)
    inspection = Inspection(lenient=True)
    assert read(folder, inspection=inspection).extras == {"v-2": {"note": "good"}}
    assert [skipped.count for skipped in inspection.report(12, 5).skipped] == [1]


@pytest.mark.parametrize(
    ("given_", "message"),
    [
        ({"extras": {"v-99": {"a": 1}}}, r"extra columns of article 'v-99', not in the corpus village"),
        (
            {"question_extras": {"v-1": {"a": 1}}},
            r"extra columns of question 'v-1', not in the corpus village",
        ),
        (
            {"extras": {"v-1": {"text": 1}}},
            r"article 'v-1' of village has the extra column 'text', which is a field",
        ),
        ({"question_extras": {"q1": {"code": 1}}}, r"question 'q1' of village has the extra column 'code'"),
    ],
)
def test_extra_columns_made_in_code_are_checked(given_: Mapping[str, Any], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        replace(VILLAGE, **given_)


def test_every_source_keeps_them(tmp_path: Path) -> None:
    (tmp_path / "law.csv").write_text("id,code,text,colour\n1,C,t,red\n2,C,t,\n", encoding="utf-8")
    (tmp_path / "asked.csv").write_text("id,question,article_ids,mood\n1,q,1,glad\n", encoding="utf-8")
    table, _ = load("table", tmp_path / "law.csv", language="fr", questions=tmp_path / "asked.csv")
    assert (table.extras, table.question_extras) == ({"1": {"colour": "red"}}, {"1": {"mood": "glad"}})

    (tmp_path / "articles.csv").write_text("id,article,code,colour\n1,t,C,blue\n", encoding="utf-8")
    for split in ("train", "test"):
        asked = f"id,question,article_ids,extra_description,subcategory\n{split},q,1,tenant,deposit\n"
        (tmp_path / f"questions_{split}.csv").write_text(asked, encoding="utf-8")
    bsard, _ = load("bsard", tmp_path)
    told = {"extra_description": "tenant", "subcategory": "deposit"}
    assert bsard.extras == {"1": {"colour": "blue"}}
    assert bsard.question_extras == {"train": told, "test": told}
    assert load("bsard", tmp_path, tags="true")[0].question_extras["train"] == told

    (tmp_path / "corpus.jsonl").write_bytes(
        dump({"id": 0, "name": "法第一条", "content": "文", "year": 2020})
    )
    (tmp_path / "queries.json").write_bytes(
        b"["
        + dump({"query_id": 3, "问题": "问", "match_id": [0], "match_name": ["法第一条"], "from": "web"})
        + b"]"
    )
    stard, _ = load("stard-original", tmp_path)
    assert (stard.extras, stard.question_extras) == ({"0": {"year": 2020}}, {"3": {"from": "web"}})


@pytest.mark.slow
@pytest.mark.data
def test_the_marks_of_stard_are_kept_apart(data: Path) -> None:
    corpus, _ = load("stard", data / "stard")
    assert len(corpus.extras) == 1258
    assert {name for kept in corpus.extras.values() for name in kept} == {"stard_id"}
