from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import replace
from datetime import date
from hashlib import sha256
from pathlib import Path

import pytest

import indexes
from indexes.build.build import BuildSettings, build
from indexes.cli.library import ServerLibrary, _folder, _lock
from indexes.cli.serve import InstalledIndex
from indexes.corpus.corpus import Corpus, write
from indexes.corpus.import_record import read_import
from indexes.download import resolve
from indexes.store import paths
from indexes.store.versions import new_corpus
from rag.errors import BadInput
from rag.feedback import Feedback, FeedbackEntry, FeedbackReason
from rag.library import AuditKind, Command, ImportRequest, Job, JobState
from rag.types import Article
from tests.fakes.law.odd_server import Answer, Odd, serving
from tests.indexes.download.test_hub import COMMIT, the_hub
from tests.paths import ROOT
from tests.rag.ui.test_switched_index import POND

LIBRARY = ServerLibrary()


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("PANDECT_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("PANDECT_INDEX", raising=False)
    return tmp_path / "home"


def installed(corpus: Corpus = POND, *, replace: bool = False) -> None:
    with new_corpus("mare", replace=replace) as place:
        write(corpus, place)


def ended() -> Job:
    end = time.monotonic() + 120
    while time.monotonic() < end:
        job = LIBRARY.job()
        if job is not None and job.state is not JobState.RUNNING:
            return job
        time.sleep(0.1)
    pytest.fail("the job does not end")


@pytest.mark.slow
def test_what_is_installed_and_what_is_wrong_with_it(home: Path) -> None:
    installed()
    [shipped, pond] = LIBRARY.installed()
    assert (shipped.name, shipped.shipped, shipped.versions) == (paths.BUILTIN, True, ())
    assert (pond.title, pond.built, pond.problem) == ("Le droit de la mare", False, "")

    build(POND, "mare", BuildSettings(encoder="none"))
    pond = LIBRARY.installed()[1]
    assert (pond.articles, pond.encoder, pond.learned) == (2, None, False)
    assert [(each.in_use, each.articles) for each in pond.versions] == [(True, 2)]
    assert pond.size > sum(path.stat().st_size for path in (home / "indexes").rglob("*.json"))

    (paths.current("mare") / "manifest.json").write_text("{")
    assert "run python -m indexes build mare" in LIBRARY.installed()[1].problem


@pytest.mark.slow
def test_an_operator_chooses_which_law_is_open(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed()
    law = InstalledIndex()
    assert (LIBRARY.opened(), LIBRARY.may_open()) == (paths.BUILTIN, True)
    with pytest.raises(BadInput, match="not built: run python -m indexes build mare"):
        LIBRARY.open("mare")
    build(POND, "mare", BuildSettings(encoder="none"))
    shipped = law.engine()
    LIBRARY.open("mare")
    assert LIBRARY.opened() == "mare"
    assert law.engine().card.title == indexes.open().card.title == "Le droit de la mare" != shipped.card.title
    with pytest.raises(BadInput, match="open another one first"):
        LIBRARY.begin(Command.REMOVE, "mare")

    monkeypatch.setenv("PANDECT_INDEX", "builtin")  # which an operator does not overrule
    assert (LIBRARY.opened(), LIBRARY.may_open()) == (paths.BUILTIN, False)
    with pytest.raises(BadInput, match="PANDECT_INDEX=builtin names the law"):
        LIBRARY.open("mare")
    monkeypatch.delenv("PANDECT_INDEX")
    (paths.current("mare") / "manifest.json").write_text("{")
    with pytest.raises(BadInput, match="run python -m indexes build mare"):
        LIBRARY.open("mare")
    LIBRARY.open(paths.BUILTIN)
    assert law.engine() is shipped


def test_what_cannot_be_begun_is_refused_and_writes_nothing(home: Path) -> None:
    installed()
    for request, said in (
        (ImportRequest("", "mare"), "name a file or folder"),
        (ImportRequest("--replace", "neuf"), "name a file or folder"),
        (ImportRequest("law.csv", "Grand Nom"), "use small letters"),
        (ImportRequest("law.csv", "mare"), "there already"),
        (ImportRequest("law.csv", "builtin"), "is only read"),
    ):
        with pytest.raises(BadInput, match=said):
            LIBRARY.preview(request)
    with pytest.raises(BadInput, match="is only read"):
        LIBRARY.begin(Command.REMOVE, paths.BUILTIN)
    with pytest.raises(BadInput, match="nothing was looked at"):
        LIBRARY.install(0)
    for name in ("../law.csv", ".law.csv", ""):
        with pytest.raises(BadInput, match="letters, digits"):
            LIBRARY.upload(name, b"")
    assert not (home / "page").exists()


def test_one_job_at_a_time_and_how_far_it_is() -> None:
    _folder().mkdir(parents=True)
    (_folder() / "job.json").write_text('{"command": "build", "name": "mare", "arguments": [], "group": 0}')
    (_folder() / "log").write_text(
        "read\nencoding:   0%|  | 0/9\rencoding:  40%|██  | 4/9\r", encoding="utf-8"
    )
    handle = _lock()
    try:
        job = Job(Command.BUILD, "mare", JobState.RUNNING, "read\nencoding:  40%|██  | 4/9", "encoding", 0.4)
        assert LIBRARY.job() == job
        with pytest.raises(BadInput, match="another command of this page is running"):
            LIBRARY.begin(Command.CHECK, paths.BUILTIN)
    finally:
        os.close(handle)
    job = LIBRARY.job()
    assert job is not None
    assert (job.state, job.share) == (JobState.STOPPED, None)


def test_one_upload_is_kept_and_the_columns_of_a_table_are_told(tmp_path: Path) -> None:
    LIBRARY.upload("former.csv", b"a\n")
    path = LIBRARY.upload("law.csv", b"nr;contenu\n1;La mare\n")
    assert path == LIBRARY.upload("law.csv", Path(path).read_bytes())
    assert [each.name for each in (_folder() / "upload").glob("*/*")] == ["law.csv"]
    assert LIBRARY.columns(path) == ("nr", "contenu")
    lines = tmp_path / "law.jsonl"
    lines.write_text('{"nr": 1, "texte": "La mare"}\n')
    assert LIBRARY.columns(str(lines)) == ("nr", "texte")
    assert LIBRARY.columns("https://law.example.org/law.csv") == LIBRARY.columns(str(tmp_path)) == ()


def test_no_upload_takes_the_place_of_law_that_a_job_reads_or_that_was_looked_at(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen = Path(LIBRARY.upload("law.csv", b"id,text\n1,La mare\n"))
    begun = {"command": "preview", "name": "mare", "arguments": ["import", str(seen)], "group": 0}
    (_folder() / "job.json").write_text(json.dumps(begun))
    LIBRARY.upload("same.csv", seen.read_bytes())
    other = Path(LIBRARY.upload("law.csv", b"id,text\n1,Le lac\n"))  # another operator's
    assert seen.read_text() == "id,text\n1,La mare\n"
    started: list[str] = []
    monkeypatch.setattr("indexes.cli.library._start", lambda _, __, typed: started.extend(typed))
    LIBRARY.measure("mare", [])
    assert Path(started[-1]).is_file()
    assert other.is_file()
    handle = _lock()
    try:
        LIBRARY.upload("third.csv", b"")
        assert other.is_file()
    finally:
        os.close(handle)
    LIBRARY.upload("third.csv", b"")
    kept = sorted(each.name for each in (_folder() / "upload").glob("*/*"))
    assert kept == ["law.csv", "same.csv", "third.csv"]
    assert seen.is_file()


@pytest.mark.slow
def test_what_was_said_becomes_the_questions_that_were_accepted(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert LIBRARY.feedback() is None
    monkeypatch.setenv("PANDECT_FEEDBACK", str(tmp_path / "said.sqlite"))
    assert LIBRARY.feedback() == {}
    installed()
    build(POND, "mare", BuildSettings(encoder="none"))
    store, day = Feedback(tmp_path / "said.sqlite"), date(2026, 11, 1)
    for article, reason in (("m-1", FeedbackReason.ANSWERS), ("m-2", FeedbackReason.WRONG_ARTICLE)):
        store.keep(FeedbackEntry(day, "mare", "v", ("m-1", "m-2"), reason, article, "Puis-je pêcher ?"))

    assert LIBRARY.feedback() == {"mare": {FeedbackReason.ANSWERS: 1, FeedbackReason.WRONG_ARTICLE: 1}}
    [said] = LIBRARY.said("mare")
    assert (said.question.article_ids, said.negatives) == (("m-1",), ("m-2",))
    assert json.loads(LIBRARY.lines([said]))["question"] == "Puis-je pêcher ?"

    LIBRARY.measure("mare", [said])
    job = ended()
    assert (job.command, job.state) == (Command.GAIN, JobState.DONE)
    assert "too few to measure a gain: 1 questions, 20 are needed" in job.log
    assert LIBRARY.installed()[1].audit == ()  # nobody has looked
    LIBRARY.begin(Command.AUDIT, "mare")
    assert "cannot be foretold: no article has a heading" in ended().log
    assert AuditKind.DOUBT_UNFIT in {each.kind for each in LIBRARY.installed()[1].audit}


@pytest.mark.slow
def test_law_is_looked_at_imported_built_and_removed(home: Path, tmp_path: Path) -> None:
    file = tmp_path / "law.csv"
    file.write_text("nr,loi,text\n1,Code de la mare,La pêche est permise.\n2,Code de la mare,\n")
    request = ImportRequest(str(file), "mare", columns={"id": "nr", "code": "loi"}, card={"language": "fr"})
    LIBRARY.preview(request)
    failed = ended()
    assert failed.state is JobState.FAILED
    assert f"{file}:3:" in failed.log  # which line
    with pytest.raises(BadInput, match="nothing was looked at"):
        LIBRARY.install(failed.number)

    file.write_text("nr,loi,text\n1,Code de la mare,La pêche est permise.\n")
    LIBRARY.preview(request)
    seen = ended()
    assert seen.state is JobState.DONE
    assert "[1] Code de la mare\nLa pêche est permise." in seen.log
    assert not (home / "corpora").exists()

    with pytest.raises(BadInput, match="other law has been looked at since"):  # by another operator
        LIBRARY.install(failed.number)
    LIBRARY.install(seen.number)
    assert ended().state is JobState.DONE
    assert indexes.open("mare").info.articles == 1
    LIBRARY.begin(Command.CHECK, "mare")
    assert "match their hashes" in ended().log
    LIBRARY.begin(Command.REMOVE, "mare")
    assert ended().state is JobState.DONE
    assert [law.name for law in LIBRARY.installed()] == [paths.BUILTIN]


POND_TABLE = b"nr,loi,text\n1,Code de la mare,La peche est permise.\n"


def table_at(odd: Odd, monkeypatch: pytest.MonkeyPatch, of_hub: bool) -> tuple[str, str]:
    """Serve a table; return the place that a person names, and its SHA-256 where one is needed."""
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    monkeypatch.setenv("HF_ENDPOINT", odd.address)
    if of_hub:
        odd.answer = the_hub({"data/law.csv": POND_TABLE, "README.md": b"read me"}, odd.address)
        return "hf://datasets/us/law/data/law.csv", ""
    odd.in_turn(Answer(200, POND_TABLE))
    return f"{odd.address}/law.csv?{'x' * 300}", sha256(POND_TABLE).hexdigest()


@pytest.mark.parametrize("of_hub", [False, True])
def test_the_columns_of_a_table_are_told_once_it_was_fetched(
    monkeypatch: pytest.MonkeyPatch, of_hub: bool
) -> None:
    with serving() as odd:
        place, digest = table_at(odd, monkeypatch, of_hub)
        assert LIBRARY.columns(place, digest) == ()
        assert odd.seen == []  # drawing a page asks nobody
        resolve.bring(place, sha256=digest or None)
        seen = len(odd.seen)
        assert LIBRARY.columns(place, digest) == ("nr", "loi", "text")
        assert LIBRARY.columns(place.replace("law.csv", "other.csv"), digest) == ()
        assert len(odd.seen) == seen
    if not of_hub:
        for wrong in ("", "ab" * 32, "../" * 21 + "x"):
            assert LIBRARY.columns(place, wrong) == ()
    with pytest.raises(BadInput, match=r"'hf://us/law.csv' came: hf://datasets/OWNER/NAME/FILE was expected"):
        LIBRARY.columns("hf://us/law.csv")


@pytest.mark.slow
@pytest.mark.parametrize("of_hub", [False, True])
def test_a_fetched_table_is_built_as_it_was_looked_at(
    monkeypatch: pytest.MonkeyPatch, home: Path, of_hub: bool
) -> None:
    with serving() as odd:
        place, digest = table_at(odd, monkeypatch, of_hub)
        request = ImportRequest(place, "mare", digest, card={"language": "fr"})
        LIBRARY.preview(request)
        assert "no column code, id; the columns are: nr, loi, text" in ended().log
        assert LIBRARY.columns(place, digest) == ("nr", "loi", "text")
        LIBRARY.preview(replace(request, columns={"id": "nr", "code": "loi"}))
        seen = ended()
        assert "[1] Code de la mare\nLa peche est permise." in seen.log

        good = odd.answer
        moved = json.dumps({"sha": "d1" * 20}).encode()  # the branch, by now
        odd.answer = lambda seen: Answer(200, moved) if "/revision/" in seen.path else good(seen)
        LIBRARY.install(seen.number)
        assert ended().state is JobState.DONE
        files = [seen.path for seen in odd.seen if "/api/" not in seen.path]
    assert files == [f"/datasets/us/law/resolve/{COMMIT}/data/law.csv" if of_hub else f"/law.csv?{'x' * 300}"]
    assert indexes.open("mare").info.articles == 1
    record = read_import(paths.corpus_folder("mare"))
    assert record is not None
    assert (record.source, record.column) == ("table", ("id=nr", "code=loi"))
    assert record.revision == (COMMIT if of_hub else "main")


@pytest.mark.slow
def test_a_build_outlives_the_page_and_one_that_is_stopped_leaves_the_former_law(home: Path) -> None:
    installed()
    build(POND, "mare", BuildSettings(encoder="none"))
    former = paths.current("mare")
    text = "La mare numéro {} est au canard."
    many = tuple(Article(f"n-{n}", "Code", str(n), text.format(n)) for n in range(6000))
    installed(replace(POND, articles=many), replace=True)

    begin = "from indexes.cli.library import *; ServerLibrary().begin(Command.BUILD, 'mare')"
    subprocess.run([sys.executable, "-c", begin], cwd=ROOT, check=True)  # the page, which has ended by now
    end = time.monotonic() + 60
    while not list((home / "indexes" / "mare").glob("*.part")) and time.monotonic() < end:
        time.sleep(0.02)
    assert LIBRARY.job().state is JobState.RUNNING  # type: ignore[union-attr]
    LIBRARY.stop()

    assert LIBRARY.job().state is JobState.STOPPED  # type: ignore[union-attr]
    assert paths.current("mare") == former
    assert indexes.open("mare").info.articles == 2
    assert not list((home / "indexes" / "mare").glob("*.part"))
    LIBRARY.begin(Command.BUILD, "mare")  # and nothing stands in the way of the next
    assert ended().state is JobState.DONE
    LIBRARY.begin(Command.ROLL_BACK, "mare", former.name)
    assert ended().state is JobState.DONE
    assert paths.current("mare") == former
