"""The stamp of an index: read whole or refused, whatever became of the file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from indexes.build.build import build_into
from indexes.store.manifest import FILE, Manifest, digest, libraries, read, stamp, verify
from rag.corpus.licence import provenance
from rag.errors import DamagedIndex, PandectError, StaleIndex
from tests.fakes.law.corpus import FIT, NONE, VILLAGE

AGAIN = "python -m indexes build village"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    build_into(folder, VILLAGE, "village", "v1", FIT)
    return folder


def test_it_lists_every_file_with_size_and_hash(made: Path) -> None:
    manifest = read(made, AGAIN)
    on_disk = {p.relative_to(made).as_posix() for p in made.rglob("*") if p.is_file()}
    assert set(manifest.files) == on_disk - {FILE}
    for name, entry in manifest.files.items():
        assert entry == {"bytes": (made / name).stat().st_size, "sha256": digest(made / name)}
    verify(made, manifest, AGAIN)


def test_it_tells_what_the_index_was_made_of(made: Path) -> None:
    manifest = read(made, AGAIN)
    assert manifest.corpus == {
        "sha256": VILLAGE.sha256,
        "articles": 12,
        "questions": 5,
        "questions_sha256": VILLAGE.questions_sha256,
        "learnt": 3,  # with an answer and not held out
        "licence": "CC0",
    }
    assert manifest.analyser["options"] == {"language": "fr"}
    assert manifest.encoder is not None
    assert manifest.encoder["fitted_to"]["corpus_sha256"] == VILLAGE.sha256
    assert manifest.encoder["learnt_from"] == [provenance(VILLAGE.card)]
    assert "cores" in manifest.encoder["made_on"]
    assert manifest.encoder["settings"]["seed"] == 0
    assert {"bm25s", "numpy", "PyStemmer"} <= set(manifest.libraries)
    assert not {"torch", "rjieba"} & set(manifest.libraries)  # this index has nothing of theirs
    assert manifest.built.endswith("+00:00")


def test_libraries_are_those_that_the_index_needs() -> None:
    about: dict[str, Any] = {"name": "n", "version": "v", "built": "b", "corpus": {}, "bm25": {}}
    chinese = Manifest(**about, analyser={"options": {"language": "zh"}}, encoder=None)
    assert "rjieba" in libraries(chinese)
    assert "torch" not in libraries(chinese)


def test_the_same_corpus_gives_the_same_files(made: Path, tmp_path: Path) -> None:
    build_into(tmp_path, VILLAGE, "village", "v2", FIT)
    assert read(tmp_path, AGAIN).files == read(made, AGAIN).files


def test_stamping_again_changes_nothing(made: Path) -> None:
    before = (made / FILE).read_bytes()
    stamp(read(made, AGAIN), made)
    assert (made / FILE).read_bytes() == before


@pytest.mark.slow
def test_every_cut_of_a_manifest_is_refused(made: Path, tmp_path: Path) -> None:
    whole = (made / FILE).read_bytes()
    for length in range(0, len(whole) - 2, 7):
        (tmp_path / FILE).write_bytes(whole[:length])
        with pytest.raises(DamagedIndex, match=rf"{FILE} is missing or not readable.*run {AGAIN}"):
            read(tmp_path, AGAIN)


@pytest.mark.parametrize("format_", [0, 2, "1", None, [1]])
def test_another_format(made: Path, tmp_path: Path, format_: object) -> None:
    record = json.loads((made / FILE).read_text(encoding="utf-8"))
    (tmp_path / FILE).write_text(json.dumps({**record, "format": format_}), encoding="utf-8")
    with pytest.raises(StaleIndex, match=rf"has index format .*, this version reads 1: run {AGAIN}"):
        read(tmp_path, AGAIN)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=5), inner, max_size=2),
    max_leaves=4,
)


@pytest.mark.slow
@given(data=st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150, deadline=None)
def test_an_entry_of_another_kind_is_refused_or_harmless(
    made: Path, tmp_path: Path, data: st.DataObject
) -> None:
    record = json.loads((made / FILE).read_text(encoding="utf-8"))
    del record["checksum"]  # as an earlier release wrote it
    at, key = record, data.draw(st.sampled_from(sorted(record)))
    while isinstance(at[key], dict) and at[key] and data.draw(st.booleans()):
        at = at[key]
        key = data.draw(st.sampled_from(sorted(at)))
    if data.draw(st.booleans()):
        del at[key]
    else:
        at[key] = data.draw(json_values)
    (tmp_path / FILE).write_text(json.dumps(record), encoding="utf-8")
    try:
        manifest = read(tmp_path, AGAIN)
        verify(made, manifest, AGAIN)
    except PandectError as error:
        assert AGAIN in str(error)  # noqa: PT017 - either outcome is right, another exception is not


@pytest.mark.parametrize("name", ["built", "version", "bm25"])
def test_an_entry_of_another_value_is_refused(made: Path, tmp_path: Path, name: str) -> None:
    record = json.loads((made / FILE).read_text(encoding="utf-8"))
    digits = json.dumps(record[name])
    record[name] = json.loads(digits.replace("1", "3", 1) if "1" in digits else digits.replace("0", "4", 1))
    (tmp_path / FILE).write_text(json.dumps(record), encoding="utf-8")
    with pytest.raises(DamagedIndex, match=rf"another checksum\): run {AGAIN}"):
        read(tmp_path, AGAIN)
    del record["checksum"]  # as an earlier release wrote it
    (tmp_path / FILE).write_text(json.dumps(record), encoding="utf-8")
    assert getattr(read(tmp_path, AGAIN), name) == record[name]


def test_an_entry_that_nobody_knows_is_refused(made: Path, tmp_path: Path) -> None:
    record = json.loads((made / FILE).read_text(encoding="utf-8"))
    (tmp_path / FILE).write_text(json.dumps({**record, "mood": "good"}), encoding="utf-8")
    with pytest.raises(DamagedIndex, match=rf"unknown entry.*mood.*run {AGAIN}"):
        read(tmp_path, AGAIN)
    (tmp_path / FILE).write_text(json.dumps({**record, "corpus": 5}), encoding="utf-8")
    with pytest.raises(DamagedIndex, match=AGAIN):
        read(tmp_path, AGAIN)
    (tmp_path / FILE).write_text(json.dumps({**record, "built": 5}), encoding="utf-8")
    with pytest.raises(DamagedIndex, match=rf"has another built than an index writes: run {AGAIN}"):
        read(tmp_path, AGAIN)


def test_an_index_without_an_encoder(tmp_path: Path) -> None:
    manifest = build_into(tmp_path, VILLAGE, "village", "v1", NONE)
    assert manifest.encoder is None
    assert read(tmp_path, AGAIN) == manifest
