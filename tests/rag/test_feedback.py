from __future__ import annotations

import sqlite3
import threading
from contextlib import closing
from datetime import date
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rag.errors import BadInput
from rag.feedback import (
    Feedback,
    FeedbackEntry,
    FeedbackNotSaved,
    FeedbackReason,
    count_feedback,
    from_environment,
)

DAY = date(2026, 11, 22)
WORD = FeedbackEntry(
    DAY, "civil", "3", ("671", "672"), FeedbackReason.WRONG_ARTICLE, "672", "un arbre ?", "hélas"
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "kept" / "feedback.sqlite"


def test_a_word_comes_back_as_it_was_said(file: Path) -> None:
    Feedback(file, comments=True).keep(WORD)

    assert list(Feedback(file).words()) == [WORD]
    assert file.stat().st_mode & 0o077 == 0  # for whoever runs the page alone


def test_a_free_text_is_not_kept_where_the_host_offers_none(file: Path) -> None:
    Feedback(file).keep(WORD)

    [kept] = Feedback(file).words()
    assert kept.comment is None


@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(question=st.text(max_size=50), ids=st.lists(st.text(st.characters(codec="utf-8")), max_size=4))
def test_any_text_can_be_kept(file: Path, question: str, ids: list[str]) -> None:
    feedback = Feedback(file)
    feedback.keep(FeedbackEntry(DAY, "civil", "3", tuple(ids), FeedbackReason.ANSWERS, None, question))

    *_, last = feedback.words()
    assert last.shown == tuple(ids)
    assert last.question == (question.encode(errors="replace").decode() or None)


def test_a_story_without_end_is_cut(file: Path) -> None:
    Feedback(file).keep(
        FeedbackEntry(DAY, "civil", "3", (), FeedbackReason.ANSWERS, None, "x" * 100_000 + "\ud800")
    )

    [kept] = Feedback(file).words()
    assert kept.question == "x" * 4000


def test_what_is_older_than_the_days_goes_with_the_next_word(file: Path) -> None:
    feedback = Feedback(file, days=30)
    for day in (date(2026, 10, 22), date(2026, 10, 23), DAY):  # 31 days before, 30, today
        feedback.keep(FeedbackEntry(day, "civil", "3", (), FeedbackReason.ANSWERS))

    assert [word.day for word in feedback.words()] == [date(2026, 10, 23), DAY]


def test_a_clock_that_leaps_loses_nothing(file: Path) -> None:
    feedback = Feedback(file)
    days = [DAY, date(2038, 1, 19), date(2038, 1, 19), date(2026, 11, 23)]  # it is set right again
    for n, day in enumerate(days):
        feedback.keep(FeedbackEntry(day, "civil", str(n), (), FeedbackReason.ANSWERS))

    assert [word.day for word in feedback.words()] == days


def test_after_a_long_gap_the_next_day_takes_what_is_old(file: Path) -> None:
    feedback = Feedback(file, days=30)
    for day in (date(2026, 1, 1), date(2026, 6, 1), date(2026, 6, 2)):
        feedback.keep(FeedbackEntry(day, "civil", "3", (), FeedbackReason.ANSWERS))

    assert [word.day for word in feedback.words()] == [date(2026, 6, 1), date(2026, 6, 2)]


def test_the_file_has_an_end_and_then_says_what_to_type(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rag.feedback.MOST_BYTES", 64 * 2**10)
    feedback = Feedback(file)
    word = FeedbackEntry(DAY, "civil", "3", (), FeedbackReason.ANSWERS, None, "x" * 3000)
    said = 0

    def many() -> None:
        nonlocal said
        while said < 200:
            feedback.keep(word)
            said += 1

    with pytest.raises(FeedbackNotSaved, match=r"full\. .*run python -m indexes feedback prune --older-than"):
        many()
    kept = len(list(feedback.words()))

    assert kept == said > 5
    assert feedback.prune(date(2026, 11, 23)) == kept
    feedback.keep(WORD)


def test_what_is_deleted_leaves_no_trace_in_the_files(file: Path) -> None:
    feedback = Feedback(file)
    feedback.keep(FeedbackEntry(DAY, "civil", "3", (), FeedbackReason.ANSWERS, None, "une histoire secrète"))
    assert b"histoire secr" in b"".join(path.read_bytes() for path in file.parent.iterdir())

    assert feedback.prune(date(2026, 11, 23)) == 1
    assert not list(feedback.words())
    assert b"histoire secr" not in b"".join(path.read_bytes() for path in file.parent.iterdir())


def test_a_session_waits_for_another_that_begins_the_file(file: Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(file, isolation_level=None, check_same_thread=False)) as other:
        other.execute("BEGIN IMMEDIATE")  # while it is held, SQLite refuses the other journal at once
        release = threading.Timer(0.2, lambda: other.execute("ROLLBACK"))
        release.start()
        Feedback(file).keep(FeedbackEntry(DAY, "civil", "3", (), FeedbackReason.ANSWERS))
        release.join()

    assert len(list(Feedback(file).words())) == 1


def test_sessions_that_write_at_once_lose_nothing(file: Path) -> None:
    failed: list[Exception] = []

    def say(session: int) -> None:
        try:
            for n in range(5):
                Feedback(file).keep(FeedbackEntry(DAY, "civil", f"{session}-{n}", (), FeedbackReason.ANSWERS))
        except FeedbackNotSaved as error:
            failed.append(error)

    sessions = [threading.Thread(target=say, args=(n,)) for n in range(6)]
    for session in sessions:
        session.start()
    for session in sessions:
        session.join()

    assert not failed
    assert len({word.version for word in Feedback(file).words()}) == 30
    with sqlite3.connect(file) as db:
        assert db.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    db.close()


def test_a_full_disk_is_said_and_what_was_kept_stays(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Feedback(file).keep(WORD)
    connect = sqlite3.connect

    def full(*args: object, **kwargs: object) -> sqlite3.Connection:
        db = connect(*args, **kwargs)  # type: ignore[arg-type,call-overload]
        [pages] = db.execute("PRAGMA page_count").fetchone()
        db.execute(f"PRAGMA max_page_count = {pages}")  # SQLite's own way to be full
        return db  # type: ignore[no-any-return]

    monkeypatch.setattr(sqlite3, "connect", full)
    long = FeedbackEntry(DAY, "civil", "3", ("x" * 100_000,), FeedbackReason.ANSWERS)
    with pytest.raises(
        FeedbackNotSaved, match=r"full\. Name a place that may be written, with room on its disk"
    ):
        Feedback(file).keep(long)
    monkeypatch.undo()

    assert [word.article_id for word in Feedback(file).words()] == ["672"]


def test_a_file_that_may_only_be_read(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Feedback(file).keep(WORD)
    connect = sqlite3.connect
    read_only = f"file:{file}?mode=ro"  # root may write everywhere, so the file's own mode would not do
    monkeypatch.setattr(sqlite3, "connect", lambda path, timeout: connect(read_only, timeout, uri=True))

    with pytest.raises(FeedbackNotSaved, match=r"readonly database\. Name a place that may be written"):
        Feedback(file).keep(WORD)
    assert [word.article_id for word in Feedback(file).words()] == ["672"]


def test_a_place_that_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(FeedbackNotSaved, match=r"unable to open database file\. Name a place"):
        Feedback(tmp_path).keep(WORD)
    (tmp_path / "file").write_text("")
    with pytest.raises(FeedbackNotSaved, match="Name a place that may be written"):
        Feedback(tmp_path / "file" / "feedback.sqlite").keep(WORD)


def test_files_that_are_not_ours_are_left_as_they_are(tmp_path: Path) -> None:
    text, other, newer = (tmp_path / name for name in ("text", "other", "newer"))
    text.write_text("Not a database, and longer than the head of one. " * 40)
    with sqlite3.connect(other) as db:
        db.execute("CREATE TABLE theirs (x)")
    db.close()
    Feedback(newer).keep(WORD)
    with sqlite3.connect(newer) as db:
        db.execute("PRAGMA user_version = 2")
    db.close()
    before = other.read_bytes()

    with pytest.raises(FeedbackNotSaved, match="Move that file away"):
        Feedback(text).keep(WORD)
    with pytest.raises(FeedbackNotSaved, match="a file of another program"):
        Feedback(other).keep(WORD)
    with pytest.raises(FeedbackNotSaved, match="feedback of schema 2, this installation reads 1"):
        list(Feedback(newer).words())
    assert other.read_bytes() == before


def test_nothing_is_made_by_reading(file: Path) -> None:
    with pytest.raises(FeedbackNotSaved, match="no feedback is kept there"):
        list(Feedback(file).words())
    assert not file.parent.exists()


def test_it_is_off_unless_a_host_names_a_file(tmp_path: Path) -> None:
    assert from_environment({}) is None
    assert from_environment({"PANDECT_FEEDBACK": " ", "PANDECT_FEEDBACK_DAYS": "7"}) is None
    named = {"PANDECT_FEEDBACK": str(tmp_path / "f")}
    assert from_environment(named) == Feedback(tmp_path / "f", 365, comments=False)
    assert from_environment(
        named | {"PANDECT_FEEDBACK_DAYS": "7", "PANDECT_FEEDBACK_COMMENTS": "1"}
    ) == Feedback(tmp_path / "f", 7, comments=True)
    for wrong in ("0", "-1", "soon", "99999"):
        with pytest.raises(BadInput, match="1 to 3,650"):
            from_environment(named | {"PANDECT_FEEDBACK_DAYS": wrong})


def test_reasons_are_counted_by_index() -> None:
    other = FeedbackEntry(DAY, "travail", "1", (), FeedbackReason.DISLIKE)

    assert count_feedback([WORD, WORD, other]) == {
        "civil": {FeedbackReason.WRONG_ARTICLE: 2},
        "travail": {FeedbackReason.DISLIKE: 1},
    }
