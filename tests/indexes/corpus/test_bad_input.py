"""Every kind of bad input: an error that names file, line and cure, or skipped and counted."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from indexes.corpus.corpus import read
from indexes.formats.validation import Inspection, SkipReason
from rag.errors import BadInput

GOOD = {"id": "1", "code": "Well Code", "article_no": "1", "text": "Close the lid."}
ASKED = {"id": "q", "question": "lid?", "article_ids": ["1"]}
CARD = {"name": "village", "title": "Village rules", "language": "en"}


def folder(at: Path, articles: bytes, questions: bytes | None = None) -> Path:
    (at / "card.json").write_text(json.dumps(CARD), encoding="utf-8")
    (at / "articles.jsonl").write_bytes(articles)
    if questions is not None:
        (at / "questions.jsonl").write_bytes(questions)
    return at


def line(record: object) -> bytes:
    return json.dumps(record, ensure_ascii=False).encode() + b"\n"


def without(key: str) -> dict[str, str]:
    return {k: v for k, v in GOOD.items() if k != key} | {"id": "2"} if key != "id" else {"code": "x"}


# reason, the bad second line, what the error says, what it tells to do
BAD_ARTICLES = [
    (
        SkipReason.DUPLICATE_ID,
        line(GOOD),
        "id '1' was already used at line 1",
        "Give every article an id of its own",
    ),
    (
        SkipReason.EMPTY_TEXT,
        line({**GOOD, "id": "2", "text": " \n"}),
        "the text is empty",
        "leave the article out",
    ),
    (
        SkipReason.MISSING_COLUMN,
        line(without("text")),
        "no text; it has: id, code, article_no",
        "map a column to it",
    ),
    (
        SkipReason.MISSING_COLUMN,
        line(without("code")),
        "no code; it has: id, article_no, text",
        "Add it to the record",
    ),
    (
        SkipReason.MISSING_COLUMN,
        line(without("article_no")),
        "no article_no; it has: id, code, text",
        "Add it",
    ),
    (
        SkipReason.MISSING_COLUMN,
        line({**GOOD, "id": None}),
        "no id; it has: id, code, article_no, text",
        "Add it",
    ),
    (SkipReason.MISSING_COLUMN, line({**GOOD, "id": " "}), "id is empty", "Fill in id"),
    (SkipReason.BROKEN_UTF8, b'{"id": "caf\xe9"}\n', "byte 0xe9 at column 12 is not UTF-8", "iconv"),
    (
        SkipReason.BROKEN_UTF8,
        b'{"id": "2", "text": "\\ud83d"}\n',
        "without its other half",
        "Save the file as UTF-8",
    ),
    (
        SkipReason.INVALID_JSON,
        b"{'id': 2}\n",
        "not JSON (Expecting property name",
        "one JSON object on each line",
    ),
    (SkipReason.INVALID_JSON, b"[" * 100_000 + b"\n", "not JSON (", "one JSON object on each line"),
    (
        SkipReason.INVALID_JSON,
        b'{"id": ' + b"1" * 5000 + b"}\n",
        "not JSON (",
        "one JSON object on each line",
    ),
    (SkipReason.WRONG_TYPE, b"[1]\n", "a JSON list came where an object was expected", 'Write {"id"'),
    (
        SkipReason.WRONG_TYPE,
        line({**GOOD, "id": 1.5}),
        "id is 1.5, a float",
        "Write id as text or a whole number",
    ),
    (
        SkipReason.WRONG_TYPE,
        line({**GOOD, "id": True}),
        "id is True, a bool",
        "Write id as text or a whole number",
    ),
    (
        SkipReason.WRONG_TYPE,
        line({**GOOD, "id": "2", "text": ["a"]}),
        "text is ['a'], a list",
        "Write text as text",
    ),
    (
        SkipReason.WRONG_TYPE,
        line({**GOOD, "id": "2", "headings": "Book"}),
        "headings is 'Book'",
        "a list of texts",
    ),
    (SkipReason.WRONG_TYPE, line({**GOOD, "id": "2", "headings": [1]}), "headings is [1]", "a list of texts"),
    (SkipReason.WRONG_TYPE, line({**GOOD, "id": "2", "url": 5}), "url is 5, a int", "Write url as text"),
    (
        SkipReason.WRONG_TYPE,
        line({**GOOD, "id": "2", "references": [{}]}),
        "references is {}",
        "a whole number",
    ),
    (
        SkipReason.WRONG_TYPE,
        line({**GOOD, "id": "2", "valid_from": "3 May"}),
        "valid_from is '3 May'",
        "2025-01-31",
    ),
]
BAD_QUESTIONS = [
    (
        SkipReason.UNKNOWN_GOLD,
        {**ASKED, "id": 2, "article_ids": ["9"]},
        "question '2' cites article '9'",
        "Correct the",
    ),
    (
        SkipReason.UNKNOWN_GOLD,
        {**ASKED, "id": 2, "article_ids": [9, 8, 7, 6]},
        "article '7' and 1 more",
        "annotated for",
    ),
    (
        SkipReason.UNKNOWN_GOLD,
        {"id": 2, "question": "a", "code": "Tax Code", "article_no": "4"},
        "cites article '4' of 'Tax Code', which the corpus does not hold",
        "Correct the line",
    ),
    (
        SkipReason.MISSING_COLUMN,
        {"id": 2, "question": "a"},
        "no article_ids; it has: id, question",
        "article_no",
    ),
    (
        SkipReason.MISSING_COLUMN,
        {"id": 2, "question": "a", "article_no": "4"},
        "no code",
        "code and article_no",
    ),
    (SkipReason.EMPTY_TEXT, {**ASKED, "id": 2, "question": ""}, "the question is empty", "remove the line"),
    (SkipReason.DUPLICATE_ID, ASKED, "questions.jsonl:1", "an id of its own"),
    (
        SkipReason.WRONG_TYPE,
        {**ASKED, "id": 2, "article_ids": [None]},
        "article_ids is None",
        "text or a whole number",
    ),
    (
        SkipReason.WRONG_TYPE,
        {"id": 2, "question": "a", "code": ["x", "y"], "article_no": ["4"]},
        "2 codes came for 1 article numbers",
        "one for each",
    ),
]


@pytest.mark.parametrize(("reason", "bad", "problem", "cure"), BAD_ARTICLES)
def test_bad_article(tmp_path: Path, reason: SkipReason, bad: bytes, problem: str, cure: str) -> None:
    path = folder(tmp_path, line(GOOD) + bad + line({**GOOD, "id": "3"}))
    with pytest.raises(BadInput) as caught:
        read(path)
    told = str(caught.value)
    assert told.startswith(f"{path / 'articles.jsonl'}:2: ")
    assert problem in told
    assert cure in told
    assert "--lenient" in told

    inspection = Inspection(lenient=True)
    corpus = read(path, inspection=inspection)
    assert [article.id for article in corpus.articles] == ["1", "3"]
    [skipped] = inspection.report(2, 0).skipped
    assert (skipped.reason, skipped.count, skipped.first) == (reason, 1, f"{path / 'articles.jsonl'}:2")
    assert problem in skipped.example


@pytest.mark.parametrize(("reason", "bad", "problem", "cure"), BAD_QUESTIONS)
def test_bad_question(tmp_path: Path, reason: SkipReason, bad: object, problem: str, cure: str) -> None:
    path = folder(tmp_path, line(GOOD), line(ASKED) + b"\n" + line(bad))
    with pytest.raises(BadInput) as caught:
        read(path)
    told = str(caught.value)
    assert told.startswith(f"{path / 'questions.jsonl'}:3: ")  # the blank line is a line too
    assert problem in told
    assert cure in told

    inspection = Inspection(lenient=True)
    assert [question.id for question in read(path, inspection=inspection).questions] == ["q"]
    assert [(skipped.reason, skipped.count) for skipped in inspection.report(1, 1).skipped] == [(reason, 1)]


def test_a_lenient_question_keeps_the_gold_articles_that_are_there(tmp_path: Path) -> None:
    path = folder(tmp_path, line(GOOD), line({**ASKED, "article_ids": ["9", "1"]}))
    inspection = Inspection(lenient=True)
    [question] = read(path, inspection=inspection).questions
    assert question.article_ids == ("1",)
    assert (
        inspection.report(1, 1).lines()[1].startswith("skipped 1: gold article not in the corpus (first at ")
    )


def test_the_same_kind_is_counted_and_the_first_one_shown(tmp_path: Path) -> None:
    path = folder(tmp_path, line(GOOD) * 4 + b"nonsense\n")
    inspection = Inspection(lenient=True)
    read(path, inspection=inspection)
    duplicates, nonsense = inspection.report(1, 0).skipped
    assert (duplicates.count, duplicates.first) == (3, f"{path / 'articles.jsonl'}:2")
    assert (nonsense.count, nonsense.first) == (1, f"{path / 'articles.jsonl'}:5")


def _cut(content: bytes) -> bytes:
    return content[: len(content) * 2 // 3]


def _flipped(content: bytes) -> bytes:
    return content[:-8] + bytes(8)  # checksum and length


@pytest.mark.parametrize("damage", [_cut, _flipped, lambda content: content + b"tail"])
def test_damaged_gzip(tmp_path: Path, damage: Callable[[bytes], bytes]) -> None:
    noise = random.Random(7)  # so that gzip cannot make it small
    records = [{**GOOD, "id": i, "text": f"{noise.getrandbits(8000):x}"} for i in range(40)]
    path = folder(tmp_path, b"")
    (path / "articles.jsonl").unlink()
    (path / "articles.jsonl.gz").write_bytes(damage(gzip.compress(b"".join(map(line, records)), mtime=0)))
    with pytest.raises(
        BadInput, match=r"articles\.jsonl\.gz:\d+: the gzip data is damaged .*Fetch the file again"
    ):
        read(path)
    inspection = Inspection(lenient=True)
    kept = read(path, inspection=inspection).articles
    assert 10 <= len(kept) <= 40
    assert [int(article.id) for article in kept] == list(range(len(kept)))
    assert inspection.report(len(kept), 0).skipped[0].reason is SkipReason.TRUNCATED


@pytest.mark.parametrize("content", [b"", b"\n\n", b"nonsense\n"])
@pytest.mark.parametrize("lenient", [True, False])
def test_no_articles_at_all(tmp_path: Path, content: bytes, lenient: bool) -> None:
    with pytest.raises(BadInput, match=r"articles\.jsonl(: no articles in it\. Give a file|:1: not JSON)"):
        read(folder(tmp_path, content), inspection=Inspection(lenient=lenient))


def test_gzip_is_known_by_its_bytes_and_a_byte_order_mark_is_dropped(tmp_path: Path) -> None:
    path = folder(tmp_path, gzip.compress(b"\xef\xbb\xbf" + line(GOOD)))
    assert [article.id for article in read(path).articles] == ["1"]


def test_files_that_are_not_there_or_there_twice(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"nowhere/card\.json: cannot be read"):
        read(tmp_path / "nowhere")
    with pytest.raises(BadInput, match=r"no card\.json in it.*indexes import"):
        read(tmp_path)
    path = folder(tmp_path, line(GOOD))
    (path / "articles.jsonl.gz").write_bytes(gzip.compress(line(GOOD)))
    with pytest.raises(BadInput, match=r"both .* Remove the one"):
        read(path)
    (path / "articles.jsonl.gz").unlink()
    (path / "articles.jsonl").unlink()
    with pytest.raises(BadInput, match=r"no articles\.jsonl\.gz or articles\.jsonl in it"):
        read(path)
