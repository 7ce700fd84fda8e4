"""JuriFindIT's Parquet files, in small: acts kept apart, references, questions without ids."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from indexes.__main__ import main
from indexes.corpus.extras import Node, read_nodes, write_nodes
from indexes.sources.jurifindit import split_path
from indexes.sources.registry import SOURCES, detect, load
from rag.errors import BadInput

CORPUS: list[dict[str, Any]] = [
    {
        "id": 0,
        "content": "<< file root node >>",
        "file_name": "forno.xml",
        "path": "Codice del forno",
        "reference": [],
    },
    {
        "id": 1,
        "content": " Il forno è comune. ",
        "file_name": "forno.xml",
        "path": "Codice del forno__LIBRO I__Capo II__Art. 3-bis",
        "reference": [0, 2, 1],
    },
    {
        "id": 2,
        "content": "Il pane si pesa.",
        "file_name": "forno.xml",
        "path": "Codice del forno__Disposizioni finali",
        "reference": None,
    },
]
ASKED: list[dict[str, Any]] = [
    {
        "question": "Di chi è il forno?",
        "relevant_doc_ids": [1, 2],
        "topics": ["forno"],
        "normative_area": "Civile",
    },
    {"question": "Chi pesa il pane?", "relevant_doc_ids": [2], "topics": [], "normative_area": "Penale"},
]


def parquet(path: Path, rows: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows), path)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    parquet(tmp_path / "corpus" / "corpus.parquet", CORPUS)
    parquet(tmp_path / "questions" / "train.parquet", ASKED)
    parquet(tmp_path / "questions" / "validation.parquet", ASKED[:1])
    parquet(tmp_path / "synth_questions" / "synth.parquet", ASKED[1:])
    return tmp_path


def test_articles_and_questions(folder: Path) -> None:
    assert detect(folder) == "jurifindit"
    corpus, _ = load("jurifindit", folder)
    oven, bread = corpus.articles  # the act itself is none
    assert (oven.id, oven.code, oven.article_no) == ("1", "Codice del forno", "3-bis")
    assert (oven.headings, oven.text) == (("LIBRO I", "Capo II"), "Il forno è comune.")
    assert oven.references == ("0", "2", "1")
    assert (bread.headings, bread.article_no, bread.references) == (("Disposizioni finali",), "", ())
    assert [(q.id, q.split, q.article_ids, q.category) for q in corpus.questions] == [
        ("train-0", "train", ("1", "2"), "Civile"),
        ("train-1", "train", ("2",), "Penale"),
        ("validation-0", "validation", ("1", "2"), "Civile"),
    ]
    assert corpus.question_extras["train-0"] == {"topics": ["forno"]}
    assert corpus.extras["1"] == {
        "file_name": "forno.xml",
        "path": "Codice del forno__LIBRO I__Capo II__Art. 3-bis",
    }


def test_counts_tell_synthetic_questions_and_references(folder: Path) -> None:
    corpus, _ = load("jurifindit", folder, splits="validation,synthetic")
    found = SOURCES["jurifindit"].counts(corpus)
    assert (found["questions"], found["questions (synthetic)"]) == (1, 1)
    assert (found["references"], found["references of an article to itself"]) == (3, 1)
    assert (found["articles with references"], found["references to no article"]) == (1, 1)


def test_damage_keeps_the_acts_before_it_when_lenient(folder: Path) -> None:
    nodes = SOURCES["jurifindit"].nodes
    assert nodes is not None
    (folder / "corpus" / "corpus.parquet").write_bytes(b"PAR1 and then nothing")
    with pytest.raises(BadInput, match="not Parquet, or damaged"):
        nodes(folder)
    assert nodes(folder, lenient=True) == ()


def test_acts_are_nodes_beside_the_corpus(folder: Path, tmp_path: Path) -> None:
    nodes = SOURCES["jurifindit"].nodes
    assert nodes is not None
    found = nodes(folder)
    assert found == (Node("0", "Codice del forno"),)
    write_nodes(tmp_path, found)
    assert read_nodes(tmp_path) == found
    assert read_nodes(folder / "questions") == ()


def test_a_gold_act_is_told(folder: Path) -> None:
    parquet(folder / "questions" / "train.parquet", [{**ASKED[0], "relevant_doc_ids": [0]}])
    with pytest.raises(BadInput, match=r"train\.parquet:1: question 'train-0' cites article '0'"):
        load("jurifindit", folder)


@pytest.mark.parametrize(
    ("path", "parts"),
    [
        ("A__B__Articolo 12", ("A", ("B",), "12")),
        ("A__art_5-ter", ("A", (), "5-ter")),
        ("A__B__artigiani", ("A", ("B", "artigiani"), "")),
        ("Art. 1", ("Art. 1", (), "")),
        ("A____B", ("A", ("B",), "")),
        ("", ("", (), "")),
    ],
)
def test_paths(path: str, parts: tuple[str, tuple[str, ...], str]) -> None:
    assert split_path(path) == parts


def test_what_is_kept_apart_is_counted_beside_what_was_published(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PANDECT_HOME", str(tmp_path / "home"))
    assert main(["import", str(folder), "--name", "juri"]) == 0
    said = {line.split("  ")[1]: line for line in capsys.readouterr().out.splitlines() if "published" in line}
    beside = {
        "articles": ("2", "23,458"),
        "questions (train)": ("2", "716"),
        "questions (validation)": ("1", "179"),
        "references": ("3", "20,608"),
        "articles with references": ("1", "3,814"),
        "nodes kept apart": ("1", "159"),
    }
    for what, (count, published) in beside.items():
        assert said[what].split("  ")[-1] == "<-- differs"
        assert f" {count}   (published: {published})" in said[what]
    assert read_nodes(tmp_path / "home" / "corpora" / "juri") == (Node("0", "Codice del forno"),)
