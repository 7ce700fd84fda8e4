"""A corpus is the same corpus however it was written down."""

from __future__ import annotations

import errno
import gzip
import hashlib
import json
import os
import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexes.corpus.articles import read_articles
from indexes.corpus.corpus import Corpus, appearing, counts, read, write
from indexes.corpus.questions import attach, read_cited, read_questions
from indexes.formats.jsonl import dump
from indexes.formats.validation import Inspection
from indexes.store import atomic
from rag.corpus.card import CorpusCard
from rag.errors import BadInput
from rag.types import Article, Question

CARD = CorpusCard(name="village", title="Village rules", language="en")
WELL = Article("1", "Well Code", "1", "Whoever draws water closes the lid.", headings=("Book I", "Wells"))
GOAT = Article(
    "goat", "Goat Code", "2 bis", "A goat on the green\nbelongs to its finder.", law_type="regional",
    region="North", url="https://example.org/2", valid_from=date(1901, 2, 3), valid_to=date(2001, 1, 1),
    references=("1",), language="en", jurisdiction="XX",
)  # fmt: skip
ASKED = Question(
    "q1", "who owns the goat?", ("goat", "1"), category="animals", answer="The finder.", split="train"
)
VILLAGE = Corpus(CARD, (WELL, GOAT), (ASKED, Question("q2", "what is the time?")))

# Everything that UTF-8 can hold: quotes, line breaks of all kinds, U+2028, control characters.
words = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
filled = words.filter(str.strip)
articles = st.builds(
    Article,
    id=filled,
    code=filled,
    article_no=words,
    text=filled,
    headings=st.lists(words, max_size=3).map(tuple),
    language=st.none() | filled,
    law_type=st.none() | st.sampled_from(["national", "regional"]),
    region=st.none() | filled,
    valid_from=st.none() | st.dates(),
    references=st.lists(words, max_size=3, unique=True).map(tuple),
)


@st.composite
def corpora(draw: st.DrawFn) -> Corpus:
    law = draw(st.lists(articles, min_size=1, max_size=4, unique_by=lambda article: article.id))
    ids = st.lists(st.sampled_from([article.id for article in law]), unique=True).map(tuple)
    question = st.builds(
        Question,
        id=filled,
        text=filled,
        article_ids=ids,
        category=st.none() | filled,
        answer=st.none() | filled,
    )
    return Corpus(
        CARD, tuple(law), tuple(draw(st.lists(question, max_size=3, unique_by=lambda each: each.id)))
    )


@given(corpus=corpora(), compress=st.booleans())
def test_what_is_written_is_read_again(
    tmp_path_factory: pytest.TempPathFactory, corpus: Corpus, compress: bool
) -> None:
    folder = write(corpus, tmp_path_factory.mktemp("round") / "corpus", compress=compress)
    again = read(folder)
    assert again == corpus
    assert (again.sha256, again.questions_sha256) == (corpus.sha256, corpus.questions_sha256)


@given(corpus=corpora(), turn=st.randoms(use_true_random=False))
def test_identity_depends_neither_on_the_order_of_keys_nor_on_how_json_is_spelt(
    tmp_path_factory: pytest.TempPathFactory, corpus: Corpus, turn: random.Random
) -> None:
    folder = write(corpus, tmp_path_factory.mktemp("keys") / "corpus", compress=False)
    lines = [json.loads(line) for line in (folder / "articles.jsonl").read_bytes().split(b"\n") if line]
    for record in lines:
        keys = list(record)
        turn.shuffle(keys)
        record |= {key: record.pop(key) for key in keys} | {"url": None}  # null says the same as nothing
    spelt = "\r\n".join(json.dumps(record, indent=None, ensure_ascii=True) for record in lines)
    (folder / "articles.jsonl").write_text(spelt, encoding="utf-8")
    assert read(folder).sha256 == corpus.sha256


def test_identity_is_the_sha256_of_the_lines_that_are_written(tmp_path: Path) -> None:
    folder = write(VILLAGE, tmp_path / "village")
    content = gzip.decompress((folder / "articles.jsonl.gz").read_bytes())
    assert hashlib.sha256(content).hexdigest() == VILLAGE.sha256
    first = (
        '{"id":"1","code":"Well Code","article_no":"1","headings":["Book I","Wells"],'
        '"text":"Whoever draws water closes the lid."}'
    )
    assert content.decode().split("\n")[0] == first  # keys in order, no spaces, nothing empty


def test_identity_changes_with_any_field_of_any_article_and_with_their_order() -> None:
    changes: dict[str, Any] = {
        "code": "Sheep Code",
        "article_no": "3",
        "text": "No goats.",
        "headings": ("Book",),
        "language": "fr",
        "jurisdiction": "YY",
        "law_type": "national",
        "region": "South",
        "url": None,
        "valid_from": None,
        "valid_to": None,
        "references": (),
    }
    others = [
        replace(VILLAGE, articles=(GOAT, WELL)),
        *(replace(VILLAGE, articles=(WELL, replace(GOAT, **{key: value}))) for key, value in changes.items()),
    ]
    assert len({VILLAGE.sha256, *(other.sha256 for other in others)}) == len(others) + 1
    assert replace(VILLAGE, questions=(), card=replace(CARD, name="town")).sha256 == VILLAGE.sha256
    assert replace(VILLAGE, questions=()).questions_sha256 != VILLAGE.questions_sha256


def test_the_same_corpus_gives_the_same_bytes(tmp_path: Path) -> None:
    one, two = write(VILLAGE, tmp_path / "one"), write(VILLAGE, tmp_path / "elsewhere" / "two")
    for name in ("articles.jsonl.gz", "questions.jsonl", "card.json"):
        assert (one / name).read_bytes() == (two / name).read_bytes()


def test_an_existing_folder_is_not_written_over(tmp_path: Path) -> None:
    folder = write(VILLAGE, tmp_path / "village")
    before = sorted(path.name for path in folder.iterdir())
    with pytest.raises(BadInput, match=r"village is there already\. Remove it"):
        write(replace(VILLAGE, questions=()), folder)
    assert sorted(path.name for path in folder.iterdir()) == before
    (tmp_path / "empty").mkdir()
    assert read(write(VILLAGE, tmp_path / "empty")) == VILLAGE


def test_nothing_is_left_when_writing_fails(tmp_path: Path) -> None:
    half_a_pair = replace(GOAT, text="\ud83d")
    with pytest.raises(BadInput, match=r"record with id 'goat' holds half a surrogate pair"):
        write(replace(VILLAGE, articles=(WELL, half_a_pair)), tmp_path / "village")
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_left_when_writing_is_interrupted(tmp_path: Path) -> None:
    def interrupted() -> None:
        with appearing(tmp_path / "village") as part:
            (part / "card.json").write_text("{}", encoding="utf-8")
            assert [path.name for path in tmp_path.iterdir()] == [part.name]  # not there before it is whole
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert list(tmp_path.iterdir()) == []


def test_whole_numbers_become_text_and_extra_columns_are_only_counted(tmp_path: Path) -> None:
    record = {
        "id": 7,
        "code": "C",
        "article_no": 12,
        "text": "t",
        "stard_id": None,
        "note": "n",
        "references": [3],
    }
    (tmp_path / "articles.jsonl").write_bytes(dump(record) + b"\n" + dump({**record, "id": 8, "stard_id": 4}))
    inspection = Inspection()
    found = read_articles(tmp_path / "articles.jsonl", inspection=inspection)
    assert found == tuple(Article(id_, "C", "12", "t", references=("3",)) for id_ in ("7", "8"))
    assert inspection.report(2, 0).extra_columns == {"stard_id": 1, "note": 2}
    assert "column kept, not used: stard_id (1 values)" in inspection.report(2, 0).lines()


def test_questions_name_their_articles_by_id_or_by_code_and_number(tmp_path: Path) -> None:
    again = replace(WELL, id="3")  # the same number once more: both are meant
    asked = [
        {"id": 1, "question": "a", "article_ids": ["goat", "1", "goat"]},
        {"id": 2, "question": "b", "article_ids": 1},
        {"id": 3, "question": "c", "code": "Goat Code", "article_no": "2 bis"},
        {"id": 4, "question": "d", "code": "Well Code", "article_no": [1]},
        {"id": 5, "question": "e", "code": ["Goat Code", "Well Code"], "article_no": ["2 bis", "1"]},
        {"id": 6, "question": "f", "article_ids": []},
        {"id": 7, "question": "g", "article_no": []},
    ]
    path = tmp_path / "questions.jsonl"
    path.write_bytes(b"".join(map(dump, asked)))
    found = read_questions(path, (WELL, GOAT, again))
    golds = [("goat", "1"), ("1",), ("goat",), ("1", "3"), ("goat", "1", "3"), (), ()]
    assert [question.article_ids for question in found] == golds
    assert [question.id for question in found] == list("1234567")


def test_questions_are_attached_to_another_edition_of_the_same_law(tmp_path: Path) -> None:
    path = tmp_path / "questions.jsonl"
    path.write_bytes(
        dump({"id": "a", "question": "whose goat?", "code": "Goat Code", "article_no": ["2 bis", "99"]})
        + dump({"id": "b", "question": "a tax?", "code": "Tax Code", "article_no": "1"})
        + dump({"id": "c", "question": "ids mean nothing elsewhere", "article_ids": ["goat"]})
    )
    edition = (replace(GOAT, id="LEGI-2"), WELL)
    assert attach(read_cited(path), edition) == (Question("a", "whose goat?", ("LEGI-2",)),)


def test_other_questions_can_be_named(tmp_path: Path) -> None:
    folder = write(VILLAGE, tmp_path / "village")
    (folder / "questions_dev.jsonl").write_bytes(dump({"id": 1, "question": "x", "article_ids": ["1"]}))
    assert read(folder, questions="questions_dev.jsonl").questions == (Question("1", "x", ("1",)),)
    with pytest.raises(BadInput, match=r"this folder: questions\.jsonl, questions_dev\.jsonl"):
        read(folder, questions="questions_test.jsonl")


def test_counts_are_those_that_papers_print() -> None:
    assert counts(VILLAGE) == {
        "articles": 2,
        "codes": 2,
        "questions": 2,
        "questions (train)": 1,
        "relevant articles": 2,
        "most articles of one question": 2,
    }


def test_progress_ends_at_the_size_of_the_file(tmp_path: Path) -> None:
    many = tuple(replace(WELL, id=str(i)) for i in range(2500))
    for compress in (True, False):
        folder = write(Corpus(CARD, many), tmp_path / str(compress), compress=compress)
        seen: list[tuple[int, int | None]] = []
        read(folder, progress=lambda what, *at, to=seen: to.append(at))
        size = next(folder.glob("articles*")).stat().st_size
        assert [at for at, _ in seen] == sorted(at for at, _ in seen)
        assert len(seen) == 3
        assert seen[-1] == (size, size)


@pytest.mark.parametrize(
    ("corpus", "message"),
    [
        ({"articles": ()}, r"village has no articles"),
        ({"articles": (WELL, WELL), "questions": ()}, r"has article id '1' twice"),
        ({"questions": (ASKED, ASKED)}, r"has question id 'q1' twice"),
        ({"articles": (WELL,)}, r"'q1' cites 'goat', not in the corpus village"),
    ],
)
def test_a_corpus_made_in_code_is_checked_too(corpus: dict[str, Any], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        replace(VILLAGE, **corpus)


def test_what_killed_processes_left_goes_and_what_is_written_to_stays(tmp_path: Path) -> None:
    killed, living, fresh = (tmp_path / f".cache.0000000{n}.part" for n in "abc")
    others = (
        tmp_path / ".other.0000000a.part",
        tmp_path / ".download.part",
    )  # of another name, another program
    for folder in (killed, living, fresh, *others):
        (folder / "vectors").mkdir(parents=True)
    for folder in (killed, living, *others):
        os.utime(folder, (0, 0))
    (tmp_path / ".cache.0000000d.part").write_text("a file")
    with atomic.held(living), appearing(tmp_path / "cache") as part:
        (part / "counts").touch()

    left = {living.name, fresh.name, *(each.name for each in others), ".cache.0000000d.part", "cache"}
    assert {path.name for path in tmp_path.iterdir()} == left


def test_a_place_without_locks_is_written_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    @contextmanager
    def without(folder: Path) -> Iterator[None]:
        raise OSError(errno.EBADF, "no lock of a folder", str(folder))
        yield

    monkeypatch.setattr(atomic, "held", without)
    with appearing(tmp_path / "cache") as part:
        (part / "counts").touch()

    assert [path.name for path in tmp_path.iterdir()] == ["cache"]
    assert (tmp_path / "cache" / "counts").is_file()
