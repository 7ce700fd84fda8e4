from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.corpus.card import CorpusCard
from rag.corpus.export import ArticleExtract, ExportLabels, escape, to_json, to_markdown
from rag.types import Article

CARD = CorpusCard("civil", "Code civil", "fr", "FR", "CC BY 4.0", source="DILA", law_date=date(2025, 1, 1))
TREE = Article(
    "671",
    "Code civil",
    "671",
    "Deux mètres.\nOu *un*.",
    ("Livre II", "Titre IV"),
    url="https://law.example/a(1)",
)
LABELS = ExportLabels("Articles", "The question", ("Not advice.",), "Official text", ("Law as of 2025",))
EXTRACT = ArticleExtract(CARD, "civil", "v3", (TREE,))

TEXT = st.text(max_size=60)
DAYS = st.none() | st.dates()
ARTICLES = st.builds(
    Article, id=TEXT, code=TEXT, article_no=TEXT, text=TEXT, headings=st.lists(TEXT, max_size=3).map(tuple),
    language=st.none() | st.sampled_from(["fr", "zh", "de"]), url=st.none() | TEXT, region=st.none() | TEXT,
    valid_from=DAYS, valid_to=DAYS, references=st.lists(TEXT, max_size=3).map(tuple),
)  # fmt: skip


def test_markdown_by_hand() -> None:
    assert to_markdown(EXTRACT, LABELS) == (
        "# Articles\n\n*Not advice.*\n\n## C. civ., art. 671\n\nLivre II › Titre IV\n\nDeux mètres.\n\n"
        "Ou \\*un\\*.\n\n[Official text](<https://law.example/a(1)>)\n\n---\n\n- Law as of 2025\n"
    )


def test_the_question_goes_along_only_when_it_is_given() -> None:
    told = replace(EXTRACT, question="why?\n<b>me</b>")

    assert "> why?\n>\n> \\<b\\>me\\</b\\>" in to_markdown(told, LABELS)
    assert json.loads(to_json(told))["question"] == "why?\n<b>me</b>"
    assert "question" not in json.loads(to_json(EXTRACT))
    assert "The question" not in to_markdown(EXTRACT, LABELS)


@pytest.mark.parametrize("url", ["javascript:alert(1)", "https://x.example/> <b>", "https://x y", "", "//x"])
def test_an_address_that_is_none_is_no_link(url: str) -> None:
    assert "Official text" not in to_markdown(replace(EXTRACT, articles=(replace(TREE, url=url),)), LABELS)


def test_json_by_hand() -> None:
    record = json.loads(to_json(replace(EXTRACT, day=date(2025, 2, 3))))

    assert list(record) == ["format", "index", "corpus", "in_force_on", "articles"]
    assert record["format"] == 1
    assert record["index"] == {"name": "civil", "version": "v3"}
    assert record["corpus"]["law_date"] == "2025-01-01"
    assert record["corpus"]["grant"] == "attribution"
    assert record["in_force_on"] == "2025-02-03"
    assert record["articles"] == [
        {
            "id": "671",
            "citation": "C. civ., art. 671",
            "code": "Code civil",
            "article_no": "671",
            "text": "Deux mètres.\nOu *un*.",
            "headings": ["Livre II", "Titre IV"],
            "url": "https://law.example/a(1)",
        }
    ]


def back(record: dict[str, Any]) -> Article:
    """The article of a record."""
    days = {key: date.fromisoformat(record[key]) for key in ("valid_from", "valid_to") if key in record}
    lists = {key: tuple(record[key]) for key in ("headings", "references") if key in record}
    return Article(**{k: v for k, v in record.items() if k != "citation"} | days | lists)


@given(st.lists(ARTICLES, max_size=3).map(tuple), st.none() | st.text(min_size=1))
def test_json_comes_back_as_it_went(articles: tuple[Article, ...], question: str | None) -> None:
    record = json.loads(to_json(replace(EXTRACT, articles=articles, question=question)))

    assert tuple(map(back, record["articles"])) == articles
    assert record.get("question") == question


UNESCAPED = re.compile(r"(?<!\\)(?:\\\\)*[`*_{}\[\]()<>#+\-!|~&@=]")

TAKEN_OUT = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")  # what a terminal or a page obeys


@given(st.text() | st.text("\x9b\u202e\\`*_[]()<>#-1.=~|&! \n\t", max_size=30))
def test_escaped_text_is_one_line_without_markup(text: str) -> None:
    said = escape(text)

    assert "\n" not in said
    assert not UNESCAPED.search(said)
    assert not re.match(r"\d+[.)](\s|$)", said)
    assert not TAKEN_OUT.search(said)
    assert re.sub(r"\\(.)", r"\1", said).split() == TAKEN_OUT.sub(" ", text).split()


@pytest.mark.parametrize(
    "text", ["https://evil.example", "www.evil.example", "a@evil.example", "1. x", "2) y"]
)
def test_nothing_becomes_a_link_or_a_list_by_itself(text: str) -> None:
    assert escape(text) != text
    assert re.sub(r"\\(.)", r"\1", escape(text)) == text


@given(ARTICLES)
def test_markdown_of_any_article_has_the_headings_that_it_should(article: Article) -> None:
    written = to_markdown(replace(EXTRACT, articles=(article,)), LABELS)

    assert sum(line.startswith("#") for line in written.splitlines()) == 2
