"""JSON arrays read piece by piece: what they hold, where, and what is wrong with them."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indexes.formats import jsonl
from indexes.formats.jsonl import array, lines, records
from indexes.formats.validation import Inspection, SkipReason
from rag.errors import BadInput

VALUES = st.recursive(
    st.none() | st.integers() | st.booleans() | st.text(st.characters(blacklist_categories=("Cs",))),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)
OBJECTS = st.lists(st.dictionaries(st.text("ab\n", max_size=3), VALUES, max_size=3), max_size=5)


@pytest.mark.slow
@settings(deadline=None)
@given(objects=OBJECTS, indent=st.none() | st.integers(0, 3), piece=st.integers(1, 40), ascii_=st.booleans())
def test_it_does_not_matter_where_the_pieces_end(
    tmp_path_factory: pytest.TempPathFactory,
    objects: list[object],
    indent: int | None,
    piece: int,
    ascii_: bool,
) -> None:
    path = tmp_path_factory.mktemp("array") / "file.json"
    text = json.dumps(objects, indent=indent, ensure_ascii=ascii_)
    path.write_bytes(gzip.compress(text.encode()) if indent else text.encode())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jsonl, "_CHUNK", piece)
        assert [record for _, record in array(path, Inspection())] == objects


def put(at: Path, content: bytes) -> Path:
    path = at / "file.json"
    path.write_bytes(content)
    return path


def test_places_are_lines(tmp_path: Path) -> None:
    path = put(tmp_path, b'\xef\xbb\xbf\n[\n{"a": 1},\n\n{"b":\n2}, {"c": 3}]')
    assert [place.line for place, _ in array(path, Inspection())] == [3, 5, 6]


@pytest.mark.parametrize(
    ("content", "reason", "line"),
    [
        (b'[{"a": 1},\n{"b": }, {"c": 2}]', SkipReason.INVALID_JSON, 2),
        (b'[{"a": 1},\n{"b": 1', SkipReason.INVALID_JSON, 2),
        (b'[{"a": 1}', SkipReason.INVALID_JSON, 1),
        (b'[{"a": 1},\n17, {"c": 2}]', SkipReason.WRONG_TYPE, 2),
        (b'[{"a": 1},\n{"b": "caf\xe9"}, {"c": 2}]', SkipReason.BROKEN_UTF8, 2),
        (b'[{"a": 1},\n{"b": "\\ud83d"}, {"c": 2}]', SkipReason.BROKEN_UTF8, 2),
    ],
)
def test_bad_arrays(tmp_path: Path, content: bytes, reason: SkipReason, line: int) -> None:
    path = put(tmp_path, content)
    with pytest.raises(BadInput, match=rf"file\.json:{line}: "):
        list(array(path, Inspection()))
    inspection = Inspection(lenient=True)
    found = [record for _, record in array(path, inspection)]
    assert found[0] == {"a": 1}
    assert len(found) == (1 if reason is SkipReason.INVALID_JSON else 2)  # the rest cannot be told apart
    assert [(skipped.reason, skipped.count) for skipped in inspection.report(0, 0).skipped] == [(reason, 1)]


@pytest.mark.parametrize("content", [b'{"a": 1}', b"x"])
def test_no_array(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(BadInput, match="a JSON array was expected"):
        list(array(put(tmp_path, content), Inspection(lenient=True)))


def test_what_is_too_long_is_not_kept_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsonl, "RECORD", 1000)
    monkeypatch.setattr(jsonl, "_CHUNK", 100)
    path = put(tmp_path, b'[{"a": "' + b"x" * 5000 + b'"}]')
    with pytest.raises(BadInput, match=r"file\.json:1: not JSON"):
        list(array(path, Inspection()))
    path = put(tmp_path, b"short\n" + b"x" * 5000 + b"\nshort\n" + b"y" * 1000)
    with pytest.raises(BadInput, match=r"file\.json:2: the line is longer"):
        list(lines(path, Inspection()))
    inspection = Inspection(lenient=True)
    assert [place.line for place, _ in lines(path, inspection)] == [1, 3]
    assert inspection.report(0, 0).skipped[0].count == 2


def test_what_json_has_no_word_for_is_no_value(tmp_path: Path) -> None:
    path = tmp_path / "file.json"
    path.write_text('[{"part": NaN, "act": -Infinity, "n": 1e999, "x": 1.5}]', "utf-8")  # as pandas writes it
    [(_, record)] = array(path, Inspection())
    path.write_text('{"part": NaN, "act": -Infinity, "n": 1e999, "x": 1.5}\n', "utf-8")
    [(_, same)] = records(path, Inspection())
    assert record == same == {"part": None, "act": None, "n": None, "x": 1.5}
