"""What BEIR and TREC share: the split of a file of judgements, and columns that others named as we do."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from indexes.corpus.corpus import to_learn_from
from indexes.sources.judged import split_name
from indexes.sources.registry import load


@pytest.mark.parametrize(
    ("name", "split"),
    [
        ("train", "train"), ("test", "test"), ("dev.small", "dev"), ("test-2019", "test"),
        ("val", "validation"), ("Valid", "validation"), ("small_train", "small_train"), ("", ""),
        ("contest", "contest"),
    ],
)  # fmt: skip
def test_names_of_files_tell_the_split(name: str, split: str) -> None:
    assert split_name(name) == split


@pytest.mark.parametrize(
    ("file", "split", "learnt"),
    [
        ("qrels.dev.small.tsv", "dev", 0), ("qrels_test.txt", "test", 0), ("qrels-val", "validation", 0),
        ("qrels.test.tsv.gz", "test", 0), ("qrels-train", "train", 1), ("qrels.txt", None, 1),
    ],
)  # fmt: skip
def test_nothing_is_learnt_from_held_out_judgements_however_they_are_named(
    tmp_path: Path, file: str, split: str | None, learnt: int
) -> None:
    (tmp_path / "collection.tsv").write_text("1\tThe oven.\n", "utf-8")
    (tmp_path / "queries.tsv").write_text("q\toven?\n", "utf-8")
    (tmp_path / file).write_text("q 0 1 1\n", "utf-8")
    corpus, _ = load("trec", tmp_path, language="en")
    assert [question.split for question in corpus.questions] == [split]
    assert len(to_learn_from(corpus.questions)) == learnt


def test_a_foreign_column_named_code_does_not_hide_the_title(tmp_path: Path) -> None:
    documents = [
        {"_id": "1", "title": "The oven", "text": "It is hot.", "metadata": {"code": "Village"}},
        {"_id": "2", "title": "Bread", "text": "It rises.", "code": None},
    ]
    (tmp_path / "corpus.jsonl").write_text("\n".join(map(json.dumps, documents)), "utf-8")
    (tmp_path / "queries.jsonl").write_text('{"_id": "q", "text": "oven?"}\n', "utf-8")
    (tmp_path / "qrels").mkdir()
    (tmp_path / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq\t1\t1\n", "utf-8")
    corpus, _ = load("beir", tmp_path, language="en", code="Town")
    assert [(a.code, a.article_no, a.headings) for a in corpus.articles] == [
        ("Village", "", ("The oven",)),
        ("Town", "", ("Bread",)),
    ]
