"""One switch puts the tags of questions in front of them, in every format that has tags."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexes.sources.registry import SOURCES, load, options
from indexes.sources.tags import chosen_tags, tagged
from rag.errors import BadInput

WITH_TAGS = ("bsard", "bbsard", "lleqa", "jurifindit")
TOLD = {
    "category": "Logement",
    "subcategory": "Location",
    "extra_description": "Je loue à Bruxelles",
    "regions": ["Bruxelles", "Wallonie"],
    "topics": ["Logement", "Four"],
    "normative_area": "Civile",
}


def table(path: Path, **row: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([row.keys(), row.values()])


def published(name: str, folder: Path) -> Path:
    """One article and one question a split, in the format of this name."""
    asked = {"question": "Et le four ?", **TOLD}
    csv_row = {
        k: v for k, v in asked.items() if k in ("question", "category", "subcategory", "extra_description")
    }
    article = {"id": 1, "article": "Le four est commun.", "code": "Code du Four"}
    if name == "bsard":
        table(folder / "articles.csv", **article)
        for split in ("train", "test"):
            table(folder / f"questions_{split}.csv", id=split, article_ids="1", **csv_row)
    elif name == "bbsard":
        table(folder / "fr" / "corpus.csv", **article)
        for split in ("train", "test"):
            table(folder / "fr" / f"{split}.csv", id=split, article_ids="1", **csv_row)
    elif name == "lleqa":
        (folder / "articles.json").write_text(json.dumps([article]), encoding="utf-8")
        for split in ("train", "validation", "test"):
            text = json.dumps([{"id": split, "article_ids": [1], **asked}])
            (folder / f"questions_{split}.json").write_text(text, encoding="utf-8")
    else:
        import pyarrow as pa
        import pyarrow.parquet as pq

        def write(file: str, row: dict[str, object]) -> None:
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            pq.write_table(pa.Table.from_pylist([row]), folder / file)

        write(
            "corpus/corpus.parquet",
            {"id": 1, "content": "Il forno.", "path": "Codice__Art. 1", "reference": []},
        )
        for split in ("train", "validation"):
            write(f"questions/{split}.parquet", {"relevant_doc_ids": [1], **asked})
    return folder


@pytest.mark.parametrize("name", WITH_TAGS)
def test_the_switch_is_the_same_everywhere(tmp_path: Path, name: str) -> None:
    folder = published(name, tmp_path)
    given_ = {"language": "fr"} if name == "bbsard" else {}
    in_front = {
        "lleqa": "Bruxelles, Wallonie. Logement, Four. Et le four ?",
        "jurifindit": "Logement, Four. Et le four ?",
    }.get(name, "Je loue à Bruxelles. Et le four ?")
    plain, _ = load(name, folder, **given_)
    off, _ = load(name, folder, tags="false", **given_)
    on, _ = load(name, folder, tags="true", **given_)
    assert {q.text for q in plain.questions} == {"Et le four ?"}
    assert off == plain
    assert {q.text for q in on.questions} == {in_front}
    assert on.question_extras == plain.question_extras  # the tags themselves stay where they were
    assert [(q.id, q.article_ids, q.category, q.split) for q in on.questions] == [
        (q.id, q.article_ids, q.category, q.split) for q in plain.questions
    ]


def test_columns_can_be_named(tmp_path: Path) -> None:
    folder = published("bsard", tmp_path)
    corpus, _ = load("bsard", folder, tags="subcategory, extra_description")
    assert corpus.questions[0].text == "Location. Je loue à Bruxelles. Et le four ?"
    with pytest.raises(BadInput, match=r"no tags mood\. Give true, false, or some of: category, subcategory"):
        load("bsard", folder, tags="subcategory,mood")


def test_formats_without_tags_have_no_such_option(tmp_path: Path) -> None:
    assert [name for name in SOURCES if "tags" in options(name)] == list(WITH_TAGS)
    with pytest.raises(BadInput, match="the source table has no option tags"):
        load("table", tmp_path, tags="true")


@pytest.mark.parametrize("typed", ["", " , ", "yes", "true,topics"])
def test_what_is_no_tag(typed: str) -> None:
    with pytest.raises(BadInput, match="Give true, false, or some of: regions, topics"):
        chosen_tags(typed, ("regions",), ("regions", "topics"))


def test_what_is_typed() -> None:
    assert chosen_tags("true", ("a",), ("a", "b")) == chosen_tags(True, ("a",), ("a", "b")) == ("a",)
    assert chosen_tags("False", ("a",), ("a", "b")) == chosen_tags(False, ("a",), ("a", "b")) == ()
    assert chosen_tags("b,a,b", ("a",), ("a", "b")) == ("b", "a")


values = (
    st.none()
    | st.integers()
    | st.text(max_size=5)
    | st.lists(st.text(max_size=5) | st.integers(), max_size=3)
)


@given(values, values, st.text(max_size=10))
def test_the_question_always_comes_last_and_whole(one: object, other: object, asked: str) -> None:
    found = tagged({"question": asked, "one": one, "other": other}, ("one", "other", "absent"))
    assert isinstance(found, str)
    assert found.endswith(asked)
    assert tagged({"question": asked, "one": one}, ()) == asked
    if not asked.strip():
        assert found == asked  # an empty question stays one, to be refused


def test_a_question_of_another_type_is_left_for_the_check() -> None:
    assert tagged({"question": 5, "one": "x"}, ("one",)) == 5
    assert tagged({"one": "x"}, ("one",)) is None


def test_sentences_end_once() -> None:
    record = {"question": "Et ?", "a": "Qui ?", "b": ["x", "", "y"], "c": " une\nligne ", "d": "租客。"}
    assert tagged(record, ("a", "b", "c", "d")) == "Qui ? x, y. une ligne. 租客。 Et ?"
