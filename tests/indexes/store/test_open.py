"""Where indexes lie, how one is switched in, and how one is opened or refused."""

from __future__ import annotations

import json
import os
import shutil
import threading
from dataclasses import replace
from pathlib import Path

import pytest

import indexes
from indexes.__main__ import main
from indexes.build.build import build
from indexes.build.query_expansion import LEAST
from indexes.corpus.corpus import read, write
from indexes.store import model_trust, open_index, paths, versions
from rag.errors import BadInput, DamagedIndex, MissingIndex, StaleIndex
from rag.fusion.settings import LAW_ONLY_WEIGHT, FusionSettings
from rag.ltr.reranker import KEYWORD, MEANING
from rag.retrieval.bm25 import BM25
from rag.types import Filter, Question
from tests.fakes.law.corpus import FIT, GOAT, NONE, VILLAGE, change_manifest, edition, first, install

AGAIN = r"run python -m indexes build village$"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PANDECT_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("PANDECT_INDEX", raising=False)
    return tmp_path / "home"


def test_the_home_is_pandect_home_or_the_xdg_place(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    assert paths.home() == home
    monkeypatch.delenv("PANDECT_HOME")
    monkeypatch.setenv("XDG_DATA_HOME", "/data")
    assert paths.home() == Path("/data/pandect")
    monkeypatch.delenv("XDG_DATA_HOME")
    monkeypatch.setenv("HOME", "/people/ada")
    assert paths.home() == Path("/people/ada/.local/share/pandect")


def test_an_index_is_opened_by_name_by_path_and_by_setting(
    monkeypatch: pytest.MonkeyPatch, home: Path
) -> None:
    version = install()
    for wanted in ("village", home / "indexes" / "village", str(home / "indexes" / "village"), version):
        engine = indexes.open(wanted)
        assert (engine.info.name, engine.info.version) == ("village", version.name)
    monkeypatch.setenv("PANDECT_INDEX", "village")
    assert indexes.open().info.name == "village"
    monkeypatch.setenv("PANDECT_INDEX", str(version))
    assert indexes.open().info.version == version.name
    monkeypatch.chdir(home / "indexes")
    assert indexes.open("./village").info.version == version.name  # a slash makes it a path
    monkeypatch.setenv("PANDECT_INDEX", "")
    assert paths.locate()[0] == paths.builtin()


def test_an_encoder_that_nobody_has_taught_counts_half(home: Path) -> None:
    taught = tuple(Question(f"t{n}", f"question {n} sur le puits", ("v-1",)) for n in range(LEAST))
    for questions, weights in (
        ((), {KEYWORD: 1.0, MEANING: LAW_ONLY_WEIGHT}),
        (taught[1:], {KEYWORD: 1.0, MEANING: LAW_ONLY_WEIGHT}),
        (taught, {}),
    ):
        install(replace(VILLAGE, questions=questions), settings=FIT)
        assert indexes.open("village").searcher.fusion == FusionSettings(weights=weights)
    install(replace(VILLAGE, questions=()), settings=NONE)
    assert indexes.open("village").searcher.fusion == FusionSettings()


def test_what_is_opened_answers(home: Path) -> None:
    install()
    engine = indexes.open("village")
    assert first(engine) == "v-5"
    assert engine.modes == ("keyword",)
    assert (engine.info.articles, engine.info.questions, engine.info.encoder) == (12, 3, None)
    assert engine.info.corpus_sha256 == VILLAGE.sha256
    assert engine.info.title == "Le droit du village"
    [shown] = engine.ask("Article 12 du Code du village", k=1).shown
    assert shown.why.known
    nothing = Filter(codes=frozenset({"another"}))
    assert engine.ask(GOAT, where=nothing).shown == ()


def test_only_law_without_annotated_questions_is_searched_by_the_words_of_the_article_before(
    home: Path,
) -> None:
    for law, lends in ((VILLAGE, False), (replace(VILLAGE, questions=()), True)):
        install(law)
        keyword = indexes.open("village").searcher.keyword
        assert isinstance(keyword, BM25)
        assert (keyword.sections is not None) is lends
    headings = [(article.code, *article.headings) for article in VILLAGE.articles]
    following = keyword.following.tolist()
    assert max(following) > 0
    for at, after in enumerate(following):
        assert after == next((i for i in range(at + 1, 12) if headings[i] == headings[at]), -1)


@pytest.mark.parametrize("name", ["Village", "", "a b", "-a", "é", "a" * 65, "..", "a.b"])
def test_names_that_cannot_be_folders(name: str) -> None:
    for function in (paths.index_folder, paths.corpus_folder, paths.current):
        with pytest.raises(BadInput, match=r"small letters, digits and hyphens.*python -m indexes list"):
            function(name)


def test_missing_indexes_name_the_command(home: Path) -> None:
    with pytest.raises(
        MissingIndex, match=r"no index named 'town'.*\(there: builtin\): run python -m indexes import PATH"
    ):
        indexes.open("town")
    install(settings=None)
    with pytest.raises(MissingIndex, match=rf"no index named 'village'.*{AGAIN}"):
        indexes.open("village")
    install()
    with pytest.raises(MissingIndex, match=r"\(there: builtin, village\)"):
        indexes.open("town")
    with pytest.raises(MissingIndex, match=r"nowhere is no index folder: run python -m indexes list"):
        indexes.open(home / "nowhere")


def test_the_index_that_ships_is_only_read() -> None:
    for function in (paths.index_folder, paths.corpus_folder, versions.remove):
        with pytest.raises(
            BadInput, match=r"only read: import the law under another name, python -m indexes import"
        ):
            function("builtin")


def files_of(version: Path) -> list[str]:
    return sorted(str(p.relative_to(version)) for p in version.rglob("*") if p.is_file())


def test_one_flipped_byte_in_any_file_is_found(home: Path) -> None:
    version = install(settings=FIT)
    names = [name for name in files_of(version) if name != "manifest.json"]
    assert len(names) >= 13
    for name in names:
        path = version / name
        whole = path.read_bytes()
        path.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
        with pytest.raises(DamagedIndex, match=rf"{path.name} is not what was built.*{AGAIN}"):
            indexes.open("village")
        path.write_bytes(whole)
    assert first(indexes.open("village")) == "v-5"


@pytest.mark.slow
def test_a_missing_or_shortened_file_is_found(home: Path) -> None:
    version = install(settings=FIT)
    for name in files_of(version):
        path = version / name
        whole = path.read_bytes()
        path.write_bytes(whole[:-2])  # a manifest can do without its last line feed
        with pytest.raises(DamagedIndex, match=AGAIN):
            indexes.open("village")
        path.unlink()
        with pytest.raises(DamagedIndex, match=rf"{path.name} is missing.*{AGAIN}"):
            indexes.open("village")
        path.write_bytes(whole)


def test_of_a_large_index_only_sizes_are_compared_and_what_is_broken_is_still_told(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("indexes.store.open_index.HASH_AT_OPENING", 0)
    version = install(settings=FIT)
    for name in files_of(version):
        if name.startswith(("counts/", "graph/")):  # whoever reads them compares their hashes
            continue
        path = version / name
        whole = path.read_bytes()
        path.write_bytes(bytes(len(whole)))  # the right size, and nothing in it
        with pytest.raises(DamagedIndex, match=AGAIN):
            indexes.open("village")
        path.write_bytes(whole)


def test_a_file_that_no_manifest_lists_is_not_opened(home: Path) -> None:
    version = install(settings=FIT)
    listed = json.loads((version / "manifest.json").read_text())["files"]
    (version / ".nfs0001").touch()  # a file system's own
    assert first(indexes.open("village")) == "v-5"
    for files in ({}, {name: listed[name] for name in list(listed)[1:]}):
        change_manifest(version, files=files)
        with pytest.raises(DamagedIndex, match=rf"is not listed in its manifest: {AGAIN}"):
            indexes.open("village")


def _verified() -> None:
    for thread in threading.enumerate():
        if thread.name == open_index.VERIFYING:
            thread.join()


def test_a_flipped_bit_of_a_large_index_is_found_while_it_serves(
    home: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(open_index, "HASH_AT_OPENING", 0)
    version = install(settings=FIT)
    engine = indexes.open("village")
    _verified()
    assert first(engine) == "v-5"

    path = next(path for path in sorted(version.rglob("*.npy")) if "bm25" in str(path))
    whole = path.read_bytes()
    path.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    engine = indexes.open("village")  # the sizes are right
    _verified()
    with pytest.raises(DamagedIndex, match=rf"{path.name} is not what was built.*{AGAIN}"):
        engine.ask(GOAT)
    assert f"{path.name} is not what was built" in caplog.text


@pytest.mark.parametrize(
    ("name", "at"),
    [("articles/codes.ends.npy", -8), ("articles/ids.ends.npy", 66), ("bm25/indptr.csc.index.npy", 55)],
)
def test_a_bit_that_a_reader_of_a_large_index_trips_over_is_told(
    home: Path, monkeypatch: pytest.MonkeyPatch, name: str, at: int
) -> None:
    """An offset beyond the array, and heads that are no Python: other exceptions than a wrong value's."""
    monkeypatch.setattr(open_index, "HASH_AT_OPENING", 0)
    version = install()
    content = bytearray((version / name).read_bytes())
    for bit in range(8):
        content[at] ^= 1 << bit
        (version / name).write_bytes(content)
        try:
            indexes.open("village")
        except DamagedIndex as error:
            assert str(error).endswith("run python -m indexes build village")  # noqa: PT017
        _verified()
        content[at] ^= 1 << bit


def test_a_large_index_that_is_outdated_while_it_is_verified_goes_on(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(open_index, "HASH_AT_OPENING", 0)
    version = install(settings=FIT)

    def gone(*_: object, **of: object) -> None:
        if of.get("contents", True):
            shutil.rmtree(version)
            raise DamagedIndex("a file is missing")

    monkeypatch.setattr(open_index, "verify", gone)
    engine = indexes.open("village")
    _verified()
    assert first(engine) == "v-5"


@pytest.mark.skipif(not Path("/proc/self/maps").is_file(), reason="needs /proc: Linux alone has it")
def test_a_small_index_outlives_files_that_are_cut_short_in_place(home: Path) -> None:
    version = install(settings=FIT)
    engine = indexes.open("village")
    before = engine.ask(GOAT, k=5)
    # a look at a mapped file that was cut short would end this process too
    assert str(version) not in Path("/proc/self/maps").read_text()
    for name in files_of(version):
        os.truncate(version / name, 0)

    assert [each.article for each in engine.ask(GOAT, k=5).shown] == [each.article for each in before.shown]
    assert engine.ask("le pain brûlé", k=5).shown
    assert engine.law.articles


@pytest.mark.parametrize(
    "content", [b"", b"20000101T000000-00000000\n", b"../../corpora/village\n", b"\xff\xfe\n"]
)
def test_a_pointer_that_leads_nowhere(home: Path, content: bytes) -> None:
    install()
    (home / "indexes" / "village" / "CURRENT").write_bytes(content)
    for wanted in ("village", home / "indexes" / "village"):
        with pytest.raises(DamagedIndex, match=rf"CURRENT (names|cannot be read).*{AGAIN}"):
            indexes.open(wanted)
    install()
    assert first(indexes.open("village")) == "v-5"  # what the message says to type is the cure


def test_an_index_of_another_time_is_refused(home: Path) -> None:
    version = install()
    manifest = (version / "manifest.json").read_bytes()
    change_manifest(version, format=99)
    with pytest.raises(StaleIndex, match=rf"index format 99, this version reads 1: {AGAIN}"):
        indexes.open("village")
    (version / "manifest.json").write_bytes(manifest)
    change_manifest(version, corpus__sha256="f" * 64)
    with pytest.raises(
        StaleIndex, match=rf"built from corpus ffffffff…, this one is {VILLAGE.sha256[:8]}….*{AGAIN}"
    ):
        indexes.open("village")
    (version / "manifest.json").write_bytes(manifest)
    change_manifest(version, analyser__id="fr:porter-0.1:00000000")
    with pytest.raises(
        StaleIndex, match=rf"analysed by fr:porter-0\.1:00000000, here it would be fr:snowball.*{AGAIN}"
    ):
        indexes.open("village")
    (version / "manifest.json").write_bytes(manifest)
    for options in ({"language": "fr", "lemmas": True}, {"language": "tlh"}):
        change_manifest(version, analyser__options=options)
        with pytest.raises(StaleIndex, match=AGAIN):
            indexes.open("village")


def test_other_versions_of_libraries_only_warn(home: Path) -> None:
    version = install()
    change_manifest(version, libraries={"numpy": "0.1", "torch": "0.1", "bm25s": "0.0"})
    with pytest.warns(
        UserWarning, match=r"built with numpy 0\.1 \(here .*\), bm25s 0\.0 .*serve all the same"
    ) as seen:
        assert first(indexes.open("village")) == "v-5"
    assert "torch" not in str(seen[0].message)  # nothing in this index was made by it


def kept(home: Path) -> list[str]:
    return sorted(path.name for path in (home / "indexes" / "village").iterdir())


def test_the_oldest_versions_go_and_their_corpora_with_them(home: Path) -> None:
    made = [install(edition(n)).name for n in range(7)]
    assert len(set(made)) == 7  # within one second
    former = made[-5:-1]
    assert kept(home) == sorted([*former, *(f"{version}.corpus" for version in former), made[-1], "CURRENT"])
    assert paths.current("village").name == made[-1]
    again = build(edition(6), "village", NONE, keep=2).name
    assert kept(home) == sorted([made[-1], again, "CURRENT"])  # both of the corpus that is in its place
    with pytest.raises(BadInput, match=r"--keep 1: keep 2 versions at least"):
        build(edition(6), "village", NONE, keep=1)
    assert kept(home) == sorted([made[-1], again, "CURRENT"])


def test_the_former_version_is_the_one_that_was_in_use_whatever_the_clock_says(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first_made = install(edition(0), keep=2).name
    monkeypatch.setattr(versions, "stamp_now", lambda: "19700101T000000000000")
    second = install(edition(1), keep=2).name
    assert second < first_made
    monkeypatch.setattr(versions, "stamp_now", lambda: "20000101T000000000000")
    third = install(edition(2), keep=2).name
    assert kept(home) == sorted([second, f"{second}.corpus", third, "CURRENT"])


def test_an_engine_opened_before_keeps_answering_when_its_files_are_gone(home: Path) -> None:
    install(edition(0), settings=FIT)
    engine = indexes.open("village")
    folder = paths.current("village")
    before = [engine.ask(question, k=5) for question in (GOAT, "le pain brûlé", "musique la nuit")]
    for n in (1, 2):
        install(edition(n), settings=FIT, keep=2)
    assert not folder.exists()
    after = [engine.ask(result.question, k=5) for result in before]
    assert [r.shown for r in after] == [r.shown for r in before]
    assert engine.info.version != indexes.open("village").info.version


def test_a_second_builder_of_the_same_name_is_refused(home: Path) -> None:
    install()
    begun, told = threading.Event(), threading.Event()

    def slow(what: str, done: int, total: int) -> None:
        begun.set()
        assert told.wait(30)

    other = threading.Thread(target=build, args=(edition(1), "village", None, slow))
    other.start()
    assert begun.wait(30)
    try:
        refused = r"another import, build or removal of 'village' is running: wait until it ends"
        with pytest.raises(BadInput, match=refused):
            install(edition(2), settings=None)
        with pytest.raises(BadInput, match=refused):
            build(edition(2), "village")
        with pytest.raises(BadInput, match=refused):
            versions.remove("village")
        assert indexes.open("village").info.corpus_sha256 == VILLAGE.sha256  # who only reads is not
        install(name="town")  # nor who builds another one
    finally:
        told.set()
        other.join()
    assert indexes.open("village").info.corpus_sha256 == edition(1).sha256


def test_a_build_that_fails_leaves_nothing_and_changes_nothing(home: Path) -> None:
    install()
    before = sorted((home / "indexes" / "village").iterdir())

    def fails(what: str, done: int, total: int) -> None:
        raise RuntimeError(what)

    with pytest.raises(RuntimeError, match="analysing articles"):
        build(edition(1), "village", progress=fails)
    with (
        pytest.raises(DamagedIndex, match=r"left without a manifest"),
        versions.only_one("village"),
        versions.new_version("village", "v") as part,
    ):
        (part / "half").write_text("half", encoding="utf-8")
    assert sorted((home / "indexes" / "village").iterdir()) == before
    assert indexes.open("village").info.corpus_sha256 == VILLAGE.sha256


def test_a_corpus_is_replaced_only_when_asked(home: Path) -> None:
    install(settings=None)

    def put(replace_it: bool) -> None:
        with versions.new_corpus("village", replace=replace_it) as place:
            write(replace(VILLAGE, questions=()), place)

    folder = paths.corpus_folder("village")
    with pytest.raises(
        BadInput, match=r"a corpus named 'village' is there already: add --replace, or choose another --name"
    ):
        put(False)
    assert (folder / "questions.jsonl").is_file()
    put(True)
    assert not (folder / "questions.jsonl").is_file()
    assert [path.name for path in folder.parent.iterdir()] == ["village"]


def test_a_corpus_is_read_between_the_two_renames_that_replace_it(home: Path) -> None:
    install(edition(0), settings=None)
    place = paths.corpus_place("village")
    place.rename(place.with_name(".village.0f0f0f0f.old"))

    assert read(paths.corpus_folder("village")).sha256 == edition(0).sha256
    assert main(["export", "village", str(home / "out"), "--to", "jsonl"]) == 0
    with versions.only_one("village"):
        assert paths.corpus_folder("village") == place  # whoever writes puts it back
    assert read(place).extras == edition(0).extras


def test_removing(home: Path) -> None:
    install()
    install(name="town", settings=None)
    assert paths.names() == ["town", "village"]
    assert versions.remove("village")
    assert not versions.remove("village")
    assert paths.names() == ["town"]
    assert versions.remove("town")
    for kind in ("corpora", "indexes"):  # out of sight, and then the process was killed
        (home / kind / ".town.0f0f0f0f.gone").mkdir()
    assert versions.remove("town")
    assert not versions.remove("town")
    assert not [p for kind in ("corpora", "indexes") for p in (home / kind).iterdir()]


@pytest.mark.slow
def test_a_classifier_of_another_encoder_is_left_aside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    shipped = paths.builtin()
    assert indexes.open("builtin").notices.topics._classifier is not None
    assert not caplog.messages
    copy = Path(shutil.copytree(shipped.parent, tmp_path / "builtin"))
    monkeypatch.setattr(open_index, "builtin", lambda: copy / "index")
    monkeypatch.setattr(paths, "builtin", lambda: copy / "index")
    law = open_index.LawClassifier.load(copy / open_index.GOVERNING_LAW)
    for fingerprint in ("0" * 64, ""):  # "": a file of before
        replace(law, encoder=fingerprint).save(copy / open_index.GOVERNING_LAW)
        caplog.clear()
        assert indexes.open("builtin").notices.topics._classifier is None
        [line] = caplog.messages
        assert "was fitted with another encoder and is not used: run python -m training.governing_law" in line


def test_a_model_that_a_manifest_alone_names_is_not_loaded(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who hands over an index must not choose what is fetched and read here."""
    loaded: list[str] = []

    class Loaded(Exception):
        pass

    def load(model: str, **_: object) -> None:
        loaded.append(model)
        raise Loaded

    monkeypatch.setattr("rag.encoders.transformer.TransformerEncoder", load)
    folder = install()
    entry = {"kind": "transformer", "name": "law", "options": {"model": "acme/law"}, "sha256": ""}
    change_manifest(folder, encoder=entry)
    problem = "names the model 'acme/law', which nobody has chosen .* set PANDECT_TRUST_MODEL=acme/law"
    with pytest.raises(BadInput, match=problem):
        indexes.open("village")
    assert not loaded
    monkeypatch.setenv("PANDECT_TRUST_MODEL", "other/law, acme/law")
    with pytest.raises(Loaded):
        indexes.open("village")
    monkeypatch.delenv("PANDECT_TRUST_MODEL")
    model_trust.trust("acme/law")  # as a build does
    with pytest.raises(Loaded):
        indexes.open("village")
