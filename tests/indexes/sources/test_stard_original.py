"""The STARD authors' two files, in small."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from indexes.sources.registry import detect, load
from indexes.sources.stard_original import split_name
from rag.errors import BadInput

ARTICLES = [
    {"id": 10, "name": "村庄水井法第三条", "content": "打水的人应当盖好井盖。\n\n井盖由村里提供。\n"},
    {"id": 11, "name": "中华人民共和国山羊法第一百二十条之一", "content": "山羊归拾得人。\n"},
    {"id": 12, "name": "村庄水井法第三十条", "content": "本法自春天起施行。"},
]
ASKED: dict[str, Any] = {
    "query_id": 0,
    "问题": "谁盖井盖？",
    "相关法规": {
        "中华人民共和国山羊法第一百二十条之一": "山羊归拾得人。\n",
        "村庄水井法第三条": "打水的人应当盖好井盖。",
    },
    "match_id": [10, 11],
    "match_name": [
        "中华人民共和国山羊法第一百二十条之一",
        "村庄水井法第三条",
    ],  # not in the order of match_id
}


def repository(at: Path, articles: list[object], questions: object) -> Path:
    (at / "data" / "example").mkdir(parents=True)
    lines = "".join(json.dumps(article, ensure_ascii=False) + "\n" for article in articles)
    (at / "data" / "corpus.jsonl").write_text(lines, encoding="utf-8")
    (at / "data" / "queries.json").write_text(
        json.dumps(questions, ensure_ascii=False, indent=4), encoding="utf-8"
    )
    (at / "data" / "example" / "dev.query.txt").write_text("0\t谁盖井盖？\n", encoding="utf-8")
    return at


def test_articles_and_questions(tmp_path: Path) -> None:
    path = repository(
        tmp_path,
        [*ARTICLES],
        [ASKED, {**ASKED, "query_id": 5, "match_id": [11], "match_name": [ASKED["match_name"][0]]}],
    )
    assert detect(path) == "stard-original"
    corpus, report = load("stard-original", path)
    well, goat, _ = corpus.articles
    assert (well.id, well.code, well.article_no) == ("10", "村庄水井法", "第三条")
    assert well.text == "打水的人应当盖好井盖。\n井盖由村里提供。"
    assert (goat.code, goat.article_no) == ("中华人民共和国山羊法", "第一百二十条之一")
    first, second = corpus.questions
    assert (first.id, first.text, first.article_ids, first.split) == ("0", "谁盖井盖？", ("10", "11"), "dev")
    assert (second.id, second.article_ids, second.split) == ("5", ("11",), None)
    assert report.extra_columns == {}
    assert load("stard-original", path / "data")[0] == corpus


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("村庄水井法第三条", ("村庄水井法", "第三条")),
        ("关于适用第五条的解释第二十一条", ("关于适用第五条的解释", "第二十一条")),
        ("水井条例第〇七条", ("水井条例", "第〇七条")),
        ("水井条例第12条", ("水井条例", "第12条")),
        ("水井公约", ("水井公约", "")),
        ("第三条", ("第三条", "")),
    ],
)
def test_a_name_is_law_and_number(name: str, parts: tuple[str, str]) -> None:
    assert split_name(name) == parts


def test_questions_of_another_version_of_the_corpus_are_noticed(tmp_path: Path) -> None:
    moved = [{**ARTICLES[0], "id": 11}, {**ARTICLES[1], "id": 12}, {**ARTICLES[2], "id": 10}]
    path = repository(tmp_path, [*moved], [ASKED])
    with pytest.raises(
        BadInput, match=r"queries\.json:2: match_id leads to 村庄水井法第三十条, which match_name"
    ) as caught:
        load("stard-original", path)
    assert "of one and the same version" in str(caught.value)
    corpus, report = load("stard-original", path, lenient=True)
    assert corpus.questions == ()
    assert [skipped.count for skipped in report.skipped] == [1]


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ({**ASKED, "query_id": 1, "match_id": [99]}, r"queries\.json:18: question '1' cites article '99'"),
        (
            {"query_id": 1, "match_id": [10]},
            r"queries\.json:18: no question; it has: id, question, article_ids",
        ),
        (7, r"queries\.json:18: a JSON int came where an object was expected"),
    ],
)
def test_bad_question(tmp_path: Path, bad: object, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        load("stard-original", repository(tmp_path, [*ARTICLES], [ASKED, bad]))


def test_a_file_cut_short(tmp_path: Path) -> None:
    path = repository(tmp_path, [*ARTICLES], [ASKED, {**ASKED, "query_id": 1}])
    queries = path / "data" / "queries.json"
    queries.write_text(queries.read_text(encoding="utf-8")[:-30], encoding="utf-8")
    with pytest.raises(BadInput, match=r"queries\.json:18: not JSON .*Fetch the file again"):
        load("stard-original", path)
    corpus, report = load("stard-original", path, lenient=True)
    assert [question.id for question in corpus.questions] == ["0"]
    assert [skipped.reason for skipped in report.skipped] == ["invalid JSON"]
    queries.write_text("{}", encoding="utf-8")
    with pytest.raises(BadInput, match=r"queries\.json:1: a JSON array was expected"):
        load("stard-original", path)


def test_an_article_without_content(tmp_path: Path) -> None:
    path = repository(tmp_path, [*ARTICLES, {"id": 13, "name": "水井法第一条"}], [ASKED])
    with pytest.raises(BadInput, match=r"corpus\.jsonl:4: no text; it has: id, code, article_no, text"):
        load("stard-original", path)
