"""The measuring folders and the project's own format through the registry of sources."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path

import pytest

from indexes.corpus import articles
from indexes.corpus.corpus import Corpus, read, write
from indexes.sources.registry import SOURCES, detect, load, options
from rag.corpus.card import CorpusCard
from rag.errors import BadInput
from rag.types import Article, Question

VILLAGE = Corpus(
    CorpusCard(name="village", title="Village rules", language="en"),
    (Article("1", "Well Code", "1", "Close the lid."),),
    (Question("q", "lid?", ("1",)),),
)


@pytest.mark.slow
@pytest.mark.data
@pytest.mark.parametrize("name", ["stard", "fr", "fr-everyday", "de"])
def test_golden_counts_and_round_trip(data: Path, tmp_path: Path, name: str) -> None:
    folder = data / name.replace("-", "_")
    assert detect(folder) == name
    source = SOURCES[name]
    corpus, report = load(name, folder)
    assert source.published.items() <= source.counts(corpus).items()
    assert report.skipped == ()
    assert (report.articles, report.questions) == (len(corpus.articles), len(corpus.questions))
    again = read(write(corpus, tmp_path / name))
    assert (again.sha256, again.questions_sha256) == (corpus.sha256, corpus.questions_sha256)
    assert again == corpus


PER_CODE = {  # as the README of each folder counts them
    "fr": {
        "Code civil": 2_889, "Code du travail": 4_095, "Code de l'action sociale et des familles": 2_825,
        "Code de procédure civile": 1_473, "Code de la construction et de l'habitation": 1_164,
        "Code pénal": 1_101, "Code des assurances": 688, "Code des procédures civiles d'exécution": 659,
    },
    "de": {
        "BGB": 2_446, "StGB": 517, "ZPO": 1_030, "SGB 2": 132, "AufenthG": 179, "ArbZG": 26, "KSchG": 28,
        "MuSchG": 34,
    },
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.data
@pytest.mark.parametrize("name", PER_CODE)
def test_golden_counts_of_each_code(data: Path, name: str) -> None:
    corpus, _ = load(name, data / name)
    found = Counter(article.code for article in corpus.articles)
    plain = {code.replace("’", "'"): count for code, count in found.items()}
    assert plain == PER_CODE[name]


@pytest.mark.data
@pytest.mark.slow
def test_provenance_of_stard_is_left_out(data: Path) -> None:
    _, report = load("stard", data / "stard")
    assert report.extra_columns == {"stard_id": 1258}  # gold articles only: it would give them away


@pytest.mark.data
@pytest.mark.slow
def test_labels_of_everyday_questions_tell_nothing_of_how_they_were_made(data: Path) -> None:
    corpus, report = load("fr-everyday", data / "fr_everyday")
    # kept for grouped folds and for readers of results; an Article and a Question have no place for them
    told = {"source", "question_source", "question_from", "title", "date", "coverage", "outside", "group"}
    assert set(report.extra_columns) == told
    assert {name for extras in corpus.question_extras.values() for name in extras} == told
    assert len({extras["group"] for extras in corpus.question_extras.values()}) == 599


def test_every_source_documents_itself_and_has_a_card_fit_to_be_written() -> None:
    for name, source in SOURCES.items():
        assert source.summary, name
        assert options(name)[-1] == "note"  # the card's options come last
        assert set(source.published) <= {
            "articles", "codes", "questions", "questions (train)", "questions (test)", "relevant articles",
            "most articles of one question", "questions (validation)", "questions (dev)",
            "questions (synthetic)", "references", "articles with references", "nodes kept apart",
        }  # fmt: skip


def test_own_folder(tmp_path: Path) -> None:
    folder = write(VILLAGE, tmp_path / "village")
    assert detect(folder) == "pandect"
    corpus, report = load("pandect", folder, name="town", title=None)
    assert (corpus.card.name, corpus.card.title) == ("town", "Village rules")
    assert (corpus.articles, corpus.questions) == (VILLAGE.articles, VILLAGE.questions)
    assert report.lines() == ["1 articles, 1 questions"]


def test_a_bare_file_takes_its_card_from_the_options(tmp_path: Path) -> None:
    path = tmp_path / "wells.jsonl.gz"
    path.write_bytes(gzip.compress(json.dumps({"id": 1, "code": "W", "article_no": 1, "text": "t"}).encode()))
    (tmp_path / "asked.jsonl").write_text('{"id": 1, "question": "x", "code": "W", "article_no": 1}', "utf-8")
    corpus, _ = load("pandect", path, language="en", law_date="2020-05-06", questions="asked.jsonl")
    assert corpus.card.name == "wells"
    assert corpus.card.law_date is not None
    assert corpus.card.law_date.isoformat() == "2020-05-06"
    assert corpus.questions == (Question("1", "x", ("1",)),)
    with pytest.raises(BadInput, match=r"the language of wells is not known\. Pass --language"):
        load("pandect", path)


def test_unknown_source_and_option(tmp_path: Path) -> None:
    with pytest.raises(
        BadInput, match=r"no source 'oracle'\. Use one of: pandect, stard, fr, fr-everyday, de,"
    ):
        load("oracle", tmp_path)
    with pytest.raises(BadInput, match=r"bsard has no option colour\. It has: splits, tags, .*name"):
        load("bsard", tmp_path, colour="red")


def test_codes_and_headings_are_in_memory_once(tmp_path: Path) -> None:
    path = tmp_path / "wells.jsonl"
    records = [
        {
            "id": i,
            "code": "Well Code",
            "article_no": i,
            "text": f"t{i}",
            "headings": ["Book I", "Lids"],
            "state": "old",
        }
        for i in range(3)
    ]
    path.write_text("\n".join(map(json.dumps, records)), "utf-8")
    corpus, _ = load("pandect", path, language="en")
    first, *others = corpus.articles
    for other in others:
        assert other.code is first.code
        assert other.headings is first.headings
    kept = [corpus.extras[article.id] for article in corpus.articles]
    assert len({id(key) for columns in kept for key in columns}) == 1
    assert len({id(value) for columns in kept for value in columns.values()}) == 1


def test_what_is_shared_is_equal_also_when_too_much_came(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(articles, "MOST_SHARED", 2)
    same = articles.ValueCache()
    values = ["a", ("a",), "b", None, "a", "b"]
    assert [same(value) for value in values] == values
