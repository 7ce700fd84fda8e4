"""What an import was told is kept, and an update can be told the same."""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indexes.__main__ import main, parser
from indexes.cleaning.clean import ALL, KINDS
from indexes.cleaning.steps import read_removed
from indexes.corpus.corpus import read, write
from indexes.corpus.export import FORMATS, export
from indexes.corpus.import_record import (
    FILE,
    ImportOptions,
    import_options,
    merge_with_record,
    read_import,
    write_import,
)
from indexes.store import paths
from rag.errors import BadInput
from tests.fakes.law.corpus import VILLAGE

Screen = pytest.CaptureFixture[str]
LAW = """\
num,loi,contenu
1,Code du four,Le four [1 commun]1 est chauffé le mardi.
2,Code du four,(abrogé)
3,Code du four,Le four commun est chauffé le mardi.
4,Code du four,Court.
5,Code du four,Nul ne lave son linge à moins de dix pas.
"""
COLUMNS = (
    "--column",
    "id=num",
    "--column",
    "article_no=num",
    "--column",
    "code=loi",
    "--column",
    "text=contenu",
)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PANDECT_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def law(tmp_path: Path) -> Path:
    (tmp_path / "law.csv").write_text(LAW, encoding="utf-8")
    (tmp_path / "asked.jsonl").write_text('{"id": "q", "question": "Et ?", "article_ids": ["3"]}\n')
    return tmp_path / "law.csv"


def bring(*words: object) -> int:
    return main(["import", *map(str, words), "--language", "fr"])


def parsed(*words: object) -> argparse.Namespace:
    return parser().parse_args(["import", *map(str, words)])


def test_cleaning_as_it_is_typed(law: Path, capsys: Screen) -> None:
    assert bring(law, *COLUMNS, "--name", "four") == 0
    assert "  not cleaned; articles that --clean KIND, or --clean all, is for: repealed 1, marks 1\n" in (
        capsys.readouterr().out
    )
    plain = read(paths.corpus_folder("four"))
    assert [a.id for a in plain.articles] == list("12345")
    asked = ("--option", "questions=asked.jsonl")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(law.parent)
        assert bring("law.csv", *COLUMNS, *asked, "--name", "four", "--replace", "--clean", "all") == 0
    out = capsys.readouterr().out
    for line in (
        "articles                                     5",  # what came, to be held against what was published
        "cleaned, repealed: 1 articles, 1 removed",
        "cleaned, marks: 1 articles, 1 altered",
        "cleaned, duplicate-numbers: 0 articles in 0 groups, 0 removed",
        "cleaned, exact-duplicates: 2 articles in 1 groups, 1 removed, 1 citations moved to the article that",
        "cleaned, short: 1 articles, 1 removed",
    ):
        assert f"  {line}" in out
    assert "not cleaned" not in out
    folder = paths.corpus_folder("four")
    cleaned = read(folder)
    assert [a.id for a in cleaned.articles] == ["1", "5"]
    assert cleaned.extras == {"1": {"original_text": plain.articles[0].text}}
    assert cleaned.questions[0].article_ids == ("1",)
    removed = [(r.article.id, r.removed_for, r.moved_to) for r in read_removed(folder)]
    assert removed == [("2", "repealed", None), ("3", "exact-duplicates", "1"), ("4", "short", None)]
    assert read_import(folder) == ImportOptions(
        path=str(law),
        source="table",
        column=COLUMNS[1::2],
        option=(f"questions={law.parent / 'asked.jsonl'}",),  # found again from any folder
        clean=tuple(KINDS),
        card={"language": "fr"},
        corpus_sha256=cleaned.sha256,
    )
    # brought in again from its own folder, what was taken out before is still beside it
    assert bring(folder, "--name", "five") == 0
    assert read_removed(paths.corpus_folder("five")) == read_removed(folder)


def test_what_is_no_cleaning(law: Path, capsys: Screen) -> None:
    with pytest.raises(SystemExit):
        bring(law, "--clean", "polish")
    assert "invalid choice: 'polish' (choose from" in capsys.readouterr().err
    assert bring(law, *COLUMNS, "--clean", "none", "--clean", "marks") == 2
    assert "error: --clean none came with marks. Leave out one." in capsys.readouterr().err


def test_help_teaches_cleaning_and_tags(capsys: Screen) -> None:
    with pytest.raises(SystemExit):
        main(["import", "--help"])
    shown = capsys.readouterr().out
    assert all(f"  {kind} " in shown for kind in KINDS)
    assert "tags=true puts what the askers' tags say in front of the questions" in shown
    assert re.search(r"^  bsard +splits, tags, negatives$", shown, re.MULTILINE)


texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)
several = st.lists(texts, max_size=3).map(tuple)
tolds = st.builds(
    ImportOptions,
    texts,
    texts,
    st.none() | texts,
    texts,
    st.booleans(),
    st.booleans(),
    several,
    several,
    several,
    st.dictionaries(texts, texts, max_size=2),
    st.just("0" * 64),
)


@given(tolds)
@settings(max_examples=40)  # each writes to the disk
def test_round_trip(tmp_path_factory: pytest.TempPathFactory, what: ImportOptions) -> None:
    folder = tmp_path_factory.mktemp("import")
    write_import(folder, what, what.corpus_sha256)
    assert read_import(folder) == what


def test_a_path_of_bytes_that_are_no_text(tmp_path: Path) -> None:
    what = ImportOptions(path="law-\udcff.csv", source="table")
    write_import(tmp_path, what, "")
    assert read_import(tmp_path) == what


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"format": 2}', '{"format": 1}', '"x"', "\udcff"])
def test_a_file_that_cannot_be_used(tmp_path: Path, content: str) -> None:
    (tmp_path / FILE).write_bytes(content.encode("utf-8", "surrogateescape"))
    with pytest.raises(BadInput, match=r"import\.json: .*Import the law again, or remove the file"):
        read_import(tmp_path)


def test_no_password_is_kept() -> None:
    said = import_options(
        parsed("https://me:secret@law.example:8/a.zip?x=1", "--sha256", "0" * 64), "table", {}
    )
    assert said.path == "https://law.example:8/a.zip?x=1"


def test_options_that_are_no_paths_stay_as_they_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("train", "asked.jsonl"):
        (tmp_path / name).mkdir()
    typed = parsed(tmp_path, "--option", "splits=train", "--option", "questions=asked.jsonl")
    assert import_options(typed, "bsard", {}).option == ("splits=train", "questions=asked.jsonl")
    assert import_options(typed, "pandect", {}).option == (
        "splits=train",
        "questions=asked.jsonl",
    )  # a name beside it
    assert import_options(typed, "table", {}).option == (
        "splits=train",
        f"questions={tmp_path / 'asked.jsonl'}",
    )


def test_nothing_was_kept(tmp_path: Path) -> None:
    typed = parsed(tmp_path, "--clean", "marks")
    assert merge_with_record(typed, tmp_path) is typed
    assert read_import(tmp_path) is None


def kept(folder: Path, **changes: object) -> Path:
    """A folder whose import was told this."""
    before = {"path": "/law.csv", "source": "table", "column": ("text=contenu",), "option": ("delimiter=;",)}
    write_import(folder, ImportOptions(**{**before, "clean": ("marks",), **changes}), "")  # type: ignore[arg-type]
    return folder


def test_an_update_is_told_what_the_import_was(law: Path, tmp_path: Path) -> None:
    folder = kept(tmp_path, lenient=True, shipped_questions=False)
    now = merge_with_record(parsed(law), folder)
    assert (now.format, now.column, now.option) == ("table", ["text=contenu"], ["delimiter=;"])
    assert (now.clean, now.lenient, now.no_shipped_questions) == (["marks"], True, True)
    assert now.path == str(law)  # the new law is elsewhere


def test_what_is_typed_counts(law: Path, tmp_path: Path) -> None:
    folder = kept(tmp_path)
    typed = (
        "--column",
        "text=texte",
        "--option",
        "delimiter=,",
        "--option",
        "questions=q",
        "--clean",
        "short",
    )
    now = merge_with_record(parsed(law, *typed), folder)
    assert (now.column, now.option, now.clean) == (["text=texte"], ["delimiter=,", "questions=q"], ["short"])
    assert merge_with_record(parsed(law, "--clean", "none"), folder).clean == ["none"]
    typed_again = parsed(law, *typed)
    merge_with_record(typed_again, folder)
    assert typed_again.clean == ["short"]  # what came is left alone


def test_options_of_a_format_are_not_repeated_for_another(law: Path, tmp_path: Path) -> None:
    folder = kept(tmp_path)
    other = write(VILLAGE, tmp_path / "village")  # surely not a table
    for typed in (parsed(other), parsed(law, "--from", "parquet")):
        now = merge_with_record(typed, folder)
        assert (now.format, now.column, now.option) == (typed.format, None, [])
        assert now.clean == ["marks"]


@pytest.mark.parametrize("format_", FORMATS)
def test_no_path_of_this_machine_is_exported(law: Path, tmp_path: Path, format_: str) -> None:
    assert bring(law, *COLUMNS, "--name", "four", "--clean", ALL) == 0
    assert str(tmp_path) in (paths.corpus_folder("four") / FILE).read_text(encoding="utf-8")
    out = export(read(paths.corpus_folder("four")), tmp_path / "out", format_)
    names = {path.name for path in out.rglob("*")}
    assert FILE not in names
    assert "removed.jsonl.gz" not in names


def test_the_same_import_gives_the_same_file(law: Path) -> None:
    folders = []
    for name in ("a", "b"):
        assert bring(law, *COLUMNS, "--name", name) == 0
        folders.append(paths.corpus_folder(name))
    one, other = ((folder / FILE).read_bytes() for folder in folders)
    assert one == other
    assert json.loads(one)["format"] == 1
