"""`python -m indexes` as a person types it: what it prints, what it refuses, and the cure it names."""

from __future__ import annotations

import gzip
import io
import json
import random
import re
import sys
from pathlib import Path

import pytest

import indexes
from indexes.__main__ import main, parser, tuned
from indexes.cli.progress import Bars
from indexes.corpus.corpus import read, write
from indexes.sources.registry import SOURCES
from indexes.store import paths
from rag.errors import BadInput
from rag.retrieval.bm25 import BM25Settings
from tests.fakes.law.corpus import GOAT, VILLAGE, edition, first, install

Screen = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PANDECT_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("PANDECT_INDEX", raising=False)
    return tmp_path / "home"


@pytest.fixture
def law(tmp_path: Path) -> Path:
    return write(VILLAGE, tmp_path / "village")


def typed(screen: Screen, *words: str | Path) -> tuple[int, str, str]:
    """Type a command; return its exit status, what it printed and what it complained about."""
    screen.readouterr()
    status = main([str(word) for word in words])
    out, err = screen.readouterr()
    return status, out, err


def refused(screen: Screen, *words: str | Path) -> str:
    status, out, err = typed(screen, *words)
    assert (status, out) == (2, "")
    complaint = err.splitlines()[-1]  # above it there may be a bar
    assert complaint.startswith("error: ")
    assert "Traceback" not in err
    return complaint


def test_the_usual_order(capsys: Screen, law: Path, home: Path) -> None:
    status, out, _ = typed(capsys, "import", law)
    assert status == 0
    assert (
        f"village: read as pandect, sha256 {VILLAGE.sha256[:12]}…, kept in {home / 'corpora' / 'village'}"
        in out
    )
    assert re.search(r"articles +12\n", out)
    assert out.endswith("next: python -m indexes build village\n")
    assert "imported, not built: python -m indexes build village" in typed(capsys, "list")[1]

    status, out, err = typed(capsys, "build", "village", "--encoder", "none")
    assert status == 0
    assert "village: 12 articles, encoder none (keywords only), in " in out
    assert out.endswith("next: PANDECT_INDEX=village streamlit run app.py\n")
    assert "analysing articles: 100%" in err
    assert "12/12" in err

    _, out, _ = typed(capsys, "list")
    ships, ours = out.splitlines()
    assert re.fullmatch(
        r"builtin +2\d,\d{3} articles  learnt from [23]\d,\d{3} questions  static-fr-256  built 20.*", ships
    )
    assert re.fullmatch(r"village +12 articles  learnt from 3 questions  keywords only  built 20.*", ours)

    status, out, _ = typed(capsys, "check", "village")
    assert status == 0
    assert re.search(r"^village: \d+ files match their hashes, 12 articles open, in ", out)
    assert first(indexes.open("village")) == "v-5"

    assert typed(capsys, "remove", "village") == (0, "village: removed\n", "")
    assert len(typed(capsys, "list")[1].splitlines()) == 1


@pytest.mark.slow
def test_check_takes_the_index_of_the_page_or_the_one_that_ships(
    capsys: Screen, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert typed(capsys, "check")[1].startswith("builtin: ")
    install()
    monkeypatch.setenv("PANDECT_INDEX", "village")
    assert typed(capsys, "check")[1].startswith("village: ")
    assert typed(capsys, "check", paths.current("village"))[1].startswith("village: ")


@pytest.mark.parametrize(
    ("encoder", "name"), [("fit", "static-fr-256"), ("borrow", "static-fr-256"), ("auto", "static-fr-256")]
)
def test_import_and_build_at_once(capsys: Screen, law: Path, encoder: str, name: str) -> None:
    status, out, _ = typed(
        capsys, "import", law, "--build", "--encoder", encoder, "--vectors", "8bit", "--name", "town"
    )
    assert status == 0
    assert f"town: 12 articles, encoder {name}, in " in out
    assert indexes.open("town").ask(GOAT).status == "found"


def test_what_is_refused_names_what_to_type(capsys: Screen, law: Path, tmp_path: Path) -> None:
    assert "nowhere does not exist: give the file or folder" in refused(
        capsys, "import", tmp_path / "nowhere"
    )
    assert "'My Law' cannot name a corpus" in refused(capsys, "import", law, "--name", "My Law")
    for words in (("build", "builtin"), ("remove", "builtin"), ("import", law, "--name", "builtin")):
        assert "only read: import the law under another name, python -m indexes import" in refused(
            capsys, *words
        )
    none = refused(capsys, "build", "village")
    assert (
        "no corpus named 'village' (there: none yet): run python -m indexes import PATH --name village"
        in none
    )
    assert "nothing named 'village' is installed: python -m indexes list" in refused(
        capsys, "remove", "village"
    )
    assert "run python -m indexes import PATH --name village --build" in refused(capsys, "check", "village")
    typed(capsys, "import", law)
    assert "(there: village)" in refused(capsys, "build", "town")
    for words in (("import", law), ("import", law, "--name", "village")):
        there = refused(capsys, *words)
        assert "a corpus named 'village' is there already: add --replace, or choose another --name" in there
    assert "run python -m indexes build village" in refused(capsys, "check", "village")
    assert "no option colour. It has:" in refused(capsys, "import", law, "--option", "colour=red")
    assert "--option red: expected KEY=VALUE" in refused(capsys, "import", law, "--option", "red")
    assert "has no option column" in refused(capsys, "import", law, "--column", "text=contenu")


def test_a_dry_run_of_an_import_shows_ten_articles_and_writes_nothing(
    capsys: Screen, law: Path, home: Path
) -> None:
    status, out, _ = typed(capsys, "import", law, "--dry-run", "--build")
    assert status == 0
    assert f"sha256 {VILLAGE.sha256[:12]}…, not kept: a dry run" in out
    first = VILLAGE.articles[0]
    assert f"[{first.id}] {first.code}" in out
    assert out.count("\n[") == 10
    assert not home.exists()


def test_a_name_that_is_taken_is_refused_before_the_files_are_read(capsys: Screen, law: Path) -> None:
    typed(capsys, "import", law)
    (law / "articles.jsonl.gz").write_bytes(b"nonsense")
    assert "is there already" in refused(capsys, "import", law, "--name", "village")


def test_replacing(capsys: Screen, tmp_path: Path, law: Path) -> None:
    typed(capsys, "import", law, "--build", "--encoder", "none")
    again = write(edition(7), tmp_path / "again")
    assert typed(capsys, "import", again, "--replace")[0] == 0
    assert read(paths.corpus_folder("village")).sha256 == edition(7).sha256
    assert indexes.open("village").info.corpus_sha256 == VILLAGE.sha256  # until it is built again
    assert typed(capsys, "build", "village", "--encoder", "none")[0] == 0
    assert indexes.open("village").info.corpus_sha256 == edition(7).sha256


def test_a_damaged_index_is_told_by_check_and_list(capsys: Screen, law: Path) -> None:
    typed(capsys, "import", law, "--build", "--encoder", "none")
    path = paths.current("village") / "corpus" / "articles.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole[:40] + bytes([whole[40] ^ 1]) + whole[41:])
    assert (
        "articles.jsonl is not what was built (another SHA-256): run python -m indexes build village"
        in refused(capsys, "check", "village")
    )
    (paths.current("village") / "manifest.json").write_text("{", encoding="utf-8")
    _, out, _ = typed(capsys, "list")
    assert re.search(
        r"village +damaged: .*manifest.json is missing or not readable.*: run python -m indexes build", out
    )
    (paths.index_folder("village") / "CURRENT").write_text("lost", encoding="utf-8")
    assert "damaged" in typed(capsys, "list")[1]
    assert typed(capsys, "build", "village", "--encoder", "none")[0] == 0  # the cure
    assert typed(capsys, "check", "village")[0] == 0


def test_lenient_counts_and_extra_columns_are_printed(capsys: Screen, tmp_path: Path) -> None:
    good = {"id": "1", "code": "C", "article_no": "1", "text": "Le puits.", "remark": "deep"}
    lines = [
        good,
        {**good, "id": "2"},
        good,
        {**good, "id": "3", "text": ""},
        {**good, "id": "4", "text": " "},
    ]
    path = tmp_path / "law.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    words = ("import", path, "--language", "fr")
    strict = refused(capsys, *words)
    assert f"{path}:3: id '1' was already used at line 1" in strict
    assert "--lenient" in strict
    assert paths.names() == []  # nothing half-imported
    status, out, _ = typed(capsys, *words, "--lenient")
    assert status == 0
    assert "  2 articles, 0 questions\n" in out
    assert f"  skipped 1: duplicate id (first at {path}:3: " in out
    assert f"  skipped 2: empty text (first at {path}:4: " in out
    assert "  column kept, not used: remark (2 values)\n" in out
    assert read(paths.corpus_folder("law")).extras == {"1": {"remark": "deep"}, "2": {"remark": "deep"}}


def test_published_counts_stand_beside_what_was_found(capsys: Screen, tmp_path: Path) -> None:
    folder = tmp_path / "de"  # the measuring folder has 4,392 articles; this one pretends
    folder.mkdir()
    (folder / "articles.jsonl").write_text('{"id": 1, "code": "BGB", "article_no": 1, "text": "Rechte."}\n')
    words = ("import", folder, "--from", "de", "--name", "pretended", "--title", "Ein Gesetz", "--replace")
    status, once, _ = typed(capsys, *words)
    assert status == 0
    published = SOURCES["de"].published
    assert re.search(rf"articles +1   \(published: {published['articles']:,}\)  <-- differs", once)
    assert re.search(rf"codes +1   \(published: {published['codes']}\)  <-- differs", once)
    assert typed(capsys, *words)[:2] == (0, once)  # a second time finds the same
    assert read(paths.corpus_folder("pretended")).card.title == "Ein Gesetz"


def test_a_table_and_its_columns(capsys: Screen, tmp_path: Path) -> None:
    (tmp_path / "four.csv").write_text(
        "num,loi,contenu\na1,Code du Four,Le four est commun.\n", encoding="utf-8"
    )
    columns = ("--column", "id=num", "--column", "code=loi", "--column", "text=contenu")
    words = ("import", tmp_path / "four.csv", "--language", "fr")  # known by its ending
    for format_ in ((), ("--from", "table")):
        told = refused(capsys, *words, *format_)
        assert "no column code, id, text; the columns are: num, loi, contenu" in told
        assert "--column code=COLUMN --column id=COLUMN --column text=COLUMN (or --column code==TEXT" in told
    assert typed(capsys, *words, *columns)[0] == 0
    [article] = read(paths.corpus_folder("four")).articles
    assert (article.id, article.code, article.text) == ("a1", "Code du Four", "Le four est commun.")


def test_columns_make_a_table_and_what_is_not_recognised_names_from(capsys: Screen, tmp_path: Path) -> None:
    path = tmp_path / "four.jsonl"
    path.write_text('{"num": 1, "loi": "Code du Four", "contenu": "Le four."}\n', encoding="utf-8")
    columns = ("--column", "id=num", "--column", "code=loi", "--column", "text=contenu")
    assert "read as table" in typed(capsys, "import", path, "--language", "fr", *columns)[1]
    assert "not recognised" not in refused(capsys, "import", path, "--language", "fr", "--name", "b")
    path.rename(tmp_path / "four.txt")
    for what in (tmp_path, tmp_path / "four.txt"):
        told = refused(capsys, "import", what, "--language", "fr", "--name", "c")
        assert "The format was not recognised and taken for pandect: name it with --from" in told
    (tmp_path / "empty").mkdir()
    assert "one .csv or .tsv was expected in this folder, there: none" in refused(
        capsys, "import", tmp_path / "empty", "--language", "fr", *columns
    )


def test_a_file_that_breaks_off_is_never_lost_silently(capsys: Screen, tmp_path: Path) -> None:
    noise = random.Random(7)  # so that gzip cannot make it small
    lines = [
        {"id": i, "code": "C", "article_no": i, "text": f"{noise.getrandbits(8000):x}"} for i in range(40)
    ]
    whole = gzip.compress("\n".join(map(json.dumps, lines)).encode(), mtime=0)
    path = tmp_path / "law.jsonl.gz"
    path.write_bytes(whole[: len(whole) // 2])
    words = ("import", path, "--language", "fr")
    told = refused(capsys, *words)
    assert "import ... --lenient keeps what stands before" in told
    status, out, err = typed(capsys, *words, "--lenient")
    kept = len(read(paths.corpus_folder("law")).articles)
    assert (status, 0 < kept < 40) == (0, True)
    loss = f"{path}:{kept + 1}: the file breaks off, everything from this line on is lost"
    assert loss in out
    assert f"WARNING {loss}" in err.splitlines()[-1]


def test_list_sees_a_file_that_is_missing_or_cut(capsys: Screen, law: Path) -> None:
    typed(capsys, "import", law, "--build", "--encoder", "none")
    path = paths.current("village") / "corpus" / "articles.jsonl"
    path.write_bytes(path.read_bytes()[:-1])
    _, out, _ = typed(capsys, "list")
    assert re.search(r"village +damaged: .* its manifest says \d+: run python -m indexes build village", out)
    path.unlink()
    assert re.search(r"village +damaged: .* is missing: run python -m", typed(capsys, "list")[1])


def test_a_name_of_nothing_leaves_no_lock(capsys: Screen, home: Path) -> None:
    refused(capsys, "remove", "nope")
    refused(capsys, "build", "nope")
    assert not home.exists()


def test_commands_are_printed_as_they_can_be_typed(
    capsys: Screen, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, law: Path
) -> None:
    root = Path(indexes.__file__).resolve().parents[1]
    monkeypatch.setattr("rag.errors.STAMP", "pandect-home")
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    for made_for, by in ((None, ""), (tmp_path, ""), (root, "./pandect ")):
        if made_for is not None:
            (tmp_path / "pandect-home").write_text(f"{made_for}|{tmp_path}\n", encoding="utf-8")
        _, out, _ = typed(capsys, "import", law, "--replace")
        assert out.endswith(f"next: {by}python -m indexes build village\n")
        assert f"run {by}python -m indexes build village" in refused(capsys, "check", "village")
        page = by.strip() or "streamlit run app.py"
        assert paths.page("village") == f"PANDECT_INDEX=village {page}"
        shown = parser().format_help()
        assert f"  {by}python -m indexes build my-law\n" in shown
        assert f"`{by}python -m indexes import --help` lists the formats" in shown


def test_settings_of_bm25_come_from_a_file(capsys: Screen, tmp_path: Path, law: Path) -> None:
    weights = {"text": 1.0, "headings": 0.5, "code": 0.0, "questions": 2.0}
    best = {"bm25": {"k1": 0.7, "b": 0.3, "weights": weights}, "analyser": {"stop_words": False}}
    path = tmp_path / "tuned.json"
    path.write_text(json.dumps(best), encoding="utf-8")
    assert tuned(path) == (BM25Settings(k1=0.7, b=0.3, weights=weights), {"stop_words": False})
    words = ("import", law, "--replace", "--build", "--encoder", "none", "--bm25")
    assert typed(capsys, *words, path)[0] == 0
    manifest = json.loads((paths.current("village") / "manifest.json").read_text(encoding="utf-8"))
    assert (manifest["bm25"]["k1"], manifest["bm25"]["weights"]) == (0.7, weights)
    assert manifest["analyser"]["options"]["stop_words"] is False
    for content in (
        "",
        "[]",
        "{}",
        '{"bm25": {"k2": 1}}',
        '{"bm25": {"b": 7}}',
        '{"bm25": {}, "analyser": 5}',
    ):
        path.write_text(content, encoding="utf-8")
        with pytest.raises(BadInput, match=r"tuned\.json: .*give a file that python -m training\.tune wrote"):
            tuned(path)
    assert "training.tune wrote" in refused(capsys, *words, tmp_path / "absent.json")
    path.write_text('{"bm25": {}, "analyser": {"lemmas": true}}', encoding="utf-8")
    assert "give stop_words, chinese or stem" in refused(capsys, "build", "village", "--bm25", path)


def test_a_switch_is_typed_as_true_or_false(capsys: Screen, tmp_path: Path) -> None:
    words = ("import", tmp_path, "--from", "bsard", "--option")
    (tmp_path / "articles.csv").write_text("id,article,code\n1,Le puits.,Code\n", encoding="utf-8")
    for split in ("train", "test"):
        asked = f"id,question,article_ids,extra_description\n{split},Le puits ?,1,Je suis meunier\n"
        (tmp_path / f"questions_{split}.csv").write_text(asked, encoding="utf-8")
    for value, text in (("true", "Je suis meunier. Le puits ?"), ("false", "Le puits ?")):
        assert typed(capsys, *words, f"tags={value}", "--replace")[0] == 0
        corpus = read(paths.corpus_folder("bsard"))
        assert corpus.questions[0].text == text
        assert corpus.question_extras["train"] == {"extra_description": "Je suis meunier"}  # kept either way
    assert "no tags perhaps. Give true, false, or some of:" in refused(capsys, *words, "tags=perhaps")
    assert "Give true or false" in refused(capsys, *words, "negatives=perhaps")


def test_a_place_that_cannot_be_written(
    capsys: Screen, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, law: Path
) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    monkeypatch.setenv("PANDECT_HOME", str(tmp_path / "file"))
    told = refused(capsys, "import", law)
    assert "Not a directory" in told
    assert "choose another place: PANDECT_HOME=FOLDER" in told


def test_stopping(capsys: Screen, monkeypatch: pytest.MonkeyPatch, law: Path) -> None:
    typed(capsys, "import", law, "--build", "--encoder", "none")

    def interrupted(*given: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("indexes.build.build.stamp", interrupted)
    status, _, err = typed(capsys, "build", "village", "--encoder", "none")
    assert status == 130
    assert err.endswith("stopped; what was there before still works\n")
    assert typed(capsys, "check", "village")[0] == 0


def test_help_teaches(capsys: Screen, home: Path) -> None:
    shown = parser().format_help()
    assert "python -m indexes import ../law --name my-law --language fr" in shown
    assert str(home) in shown
    for command, words in {
        "import": [*SOURCES, "--lenient", "--replace", "--column", "what the corpus says of itself"],
        "build": ["--encoder", "keywords only", "training.tune"],
        "list": [], "check": ["PANDECT_INDEX"], "remove": [],
    }.items():  # fmt: skip
        assert re.search(rf"^    {command} ", shown, re.MULTILINE)
        with pytest.raises(SystemExit) as ended:
            main([command, "--help"])
        assert ended.value.code == 0
        said = capsys.readouterr().out
        assert [word for word in words if word not in said] == []
    with pytest.raises(SystemExit) as ended:
        main([])
    assert ended.value.code == 2


def test_bars_do_not_fill_a_log(monkeypatch: pytest.MonkeyPatch) -> None:
    log = io.StringIO()
    monkeypatch.setattr(sys, "stderr", log)
    bars = Bars()
    for done in range(1, 5001):
        bars("analysing articles", done, 5000)
    for total in (10, 20):  # the next file begins again
        for done in range(1, total + 1):
            bars("reading", done, total)
    bars.close()
    bars.close()
    looks = re.split(r"[\r\n]+", log.getvalue().strip())
    assert len(looks) <= 6  # one when a bar begins, one when it ends
    assert [re.search(r"\d+/\d+", look) for look in looks if "100%" in look][-1] is not None
    assert sum("5000/5000" in look for look in looks) == 1
    assert sum("10/10" in look for look in looks) == 1
    assert sum("20/20" in look for look in looks) == 1


def test_export_writes_what_import_reads_again(capsys: Screen, law: Path, home: Path, tmp_path: Path) -> None:
    typed(capsys, "import", law)
    status, out, _ = typed(capsys, "export", "village", tmp_path / "beir", "--to", "beir")
    assert status == 0
    assert "written as beir" in out
    assert typed(capsys, "import", tmp_path / "beir", "--name", "again")[0] == 0
    assert read(home / "corpora" / "again").sha256 == VILLAGE.sha256
    assert "is there already" in refused(capsys, "export", "village", tmp_path / "beir", "--to", "beir")
    assert "python -m indexes list" in refused(capsys, "export", "nothing", tmp_path / "x", "--to", "beir")


def test_an_address_needs_a_checksum(capsys: Screen) -> None:
    assert "--sha256" in refused(capsys, "import", "http://127.0.0.1:9/law.zip", "--name", "one")


def test_muted_bars_show_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    bars = Bars()
    bars.mute()
    bars("counting", 1, 2)
    bars.close()
    assert capsys.readouterr().err == ""
