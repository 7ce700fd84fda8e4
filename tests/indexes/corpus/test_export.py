"""Export and import again: nothing is lost in any format."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings

from indexes.corpus.corpus import Corpus
from indexes.corpus.export import FORMATS, export
from indexes.sources.registry import detect, load
from rag.errors import BadInput
from rag.types import Article, Question
from tests.fakes.law.corpora import CARD, corpora

SOURCES = {"jsonl": "pandect", "parquet": "parquet", "beir": "beir", "trec": "trec"}
BREAKS = Corpus(
    CARD,
    (
        Article("1", "Code", "1", "\tTwo\r\nlines \n", headings=("a > b", ""), references=("9",)),
        Article("2", "Code", "", "\u2028\x85 text\x0b"),
    ),
    (
        Question("1", "one\ttwo\n?", ("2", "1"), split="train"),
        Question("2", "nobody answers", ()),
        Question("3", "whose split?", ("1",), split="../x", answer="a\nb", category=" c "),
    ),
    {"1": {"kept": {"of": ["us"]}}},
    {"2": {"kept": 1}},
)


@pytest.mark.slow
@pytest.mark.parametrize("to", FORMATS)
@given(corpus=corpora())
@example(corpus=BREAKS)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_round_trip(tmp_path_factory: pytest.TempPathFactory, to: str, corpus: Corpus) -> None:
    folder = export(corpus, tmp_path_factory.mktemp("out") / "law", to)
    assert detect(folder) == SOURCES[to]
    found, report = load(SOURCES[to], folder)
    assert found.articles == corpus.articles
    assert found.questions == corpus.questions
    assert (found.sha256, found.questions_sha256) == (corpus.sha256, corpus.questions_sha256)
    assert (found.extras, found.question_extras) == (corpus.extras, corpus.question_extras)
    assert found.card == corpus.card
    assert report.skipped == ()


@pytest.mark.parametrize("to", FORMATS)
def test_extra_columns_can_stay_behind(tmp_path: Path, to: str) -> None:
    folder = export(BREAKS, tmp_path / "law", to, extras=False)
    found, _ = load(SOURCES[to], folder)
    assert (found.extras, found.question_extras) == ({}, {})
    assert found.sha256 == BREAKS.sha256


def test_the_same_corpus_gives_the_same_bytes(tmp_path: Path) -> None:
    for to in FORMATS:
        one, two = (export(BREAKS, tmp_path / f"{to}{n}", to) for n in (1, 2))
        files = sorted(path.relative_to(one) for path in one.rglob("*") if path.is_file())
        assert len(files) >= 3
        for file in files:
            assert (one / file).read_bytes() == (two / file).read_bytes(), file


def test_beir_is_what_others_read(tmp_path: Path) -> None:
    folder = export(BREAKS, tmp_path / "law", "beir")
    first = json.loads((folder / "corpus.jsonl").read_text(encoding="utf-8").split("\n")[0])
    assert (first["_id"], first["title"], first["text"]) == ("1", "Code 1", "\tTwo\r\nlines \n")
    assert (folder / "qrels" / "train.tsv").read_text() == "query-id\tcorpus-id\tscore\n1\t2\t1\n1\t1\t1\n"
    assert (folder / "qrels" / "all.tsv").read_text() == "query-id\tcorpus-id\tscore\n3\t1\t1\n"


def test_trec_is_what_others_read(tmp_path: Path) -> None:
    folder = export(BREAKS, tmp_path / "law", "trec")
    assert (folder / "collection.tsv").read_text(encoding="utf-8").split("\n")[0] == "1\t Two lines  "
    assert (folder / "qrels.train.txt").read_text() == "1\t0\t2\t1\n1\t0\t1\t1\n"
    assert (folder / "qrels.txt").read_text() == "3\t0\t1\t1\n"


def test_a_foreign_beir_folder(tmp_path: Path) -> None:
    (tmp_path / "qrels").mkdir()
    documents = [{"_id": "d1", "title": "Wells", "text": "Close the lid."}, {"_id": "d2", "text": "Or not."}]
    queries = [
        {"_id": "q1", "text": "lid?"},
        {"_id": "q2", "text": "never judged"},
        {"_id": "q3", "text": "not?"},
    ]
    for name, records in (("corpus", documents), ("queries", queries)):
        lines = "".join(json.dumps(record) + "\n" for record in records)
        (tmp_path / f"{name}.jsonl").write_text(lines, encoding="utf-8")
    (tmp_path / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\t1\nq3\td2\t0\n")
    assert detect(tmp_path) == "beir"
    corpus, _ = load("beir", tmp_path, language="en", code="Village")
    assert [(a.id, a.code, a.headings) for a in corpus.articles] == [
        ("d1", "Village", ("Wells",)),
        ("d2", "Village", ()),
    ]
    assert [(q.id, q.split, q.article_ids) for q in corpus.questions] == [
        ("q1", "test", ("d1",)),
        ("q3", "test", ()),  # judged, and nothing answers
    ]


def test_a_foreign_trec_folder(tmp_path: Path) -> None:
    (tmp_path / "collection.tsv").write_text("d1\tClose the lid.\n", encoding="utf-8")
    (tmp_path / "queries.tsv").write_text("q1\tlid?\nq2\tnever judged\n", encoding="utf-8")
    (tmp_path / "qrels_dev.txt").write_text("q1 0 d1 2\n", encoding="utf-8")
    corpus, _ = load("trec", tmp_path, language="en")
    assert [(q.id, q.split, q.article_ids) for q in corpus.questions] == [("q1", "dev", ("d1",))]
    assert corpus.articles[0].text == "Close the lid."


@pytest.mark.parametrize(("to", "id_"), [("trec", "a b"), ("trec", "a\tb"), ("beir", "a\nb"), ("beir", " a")])
def test_an_id_that_a_format_cannot_hold(tmp_path: Path, to: str, id_: str) -> None:
    corpus = Corpus(CARD, (Article(id_, "Code", "1", "text"),))
    with pytest.raises(BadInput, match=r"cannot be written.*Export to parquet or jsonl"):
        export(corpus, tmp_path / "law", to)
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_format_and_a_folder_in_use(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="Use one of: jsonl, parquet, beir, trec"):
        export(BREAKS, tmp_path / "law", "csv")
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "file").touch()
    for to in FORMATS:
        with pytest.raises(BadInput, match="is there already"):
            export(BREAKS, tmp_path / "here", to)


@pytest.mark.parametrize("to", ["parquet", "beir", "trec"])
def test_half_a_surrogate_pair(tmp_path: Path, to: str) -> None:
    with pytest.raises(BadInput, match="surrogate"):
        export(Corpus(CARD, (Article("1", "Code", "1", "\ud83d"),)), tmp_path / "law", to)


@pytest.fixture(scope="module", params=["de", "fr", "stard"])
def measuring(request: pytest.FixtureRequest, data: Path) -> Corpus:
    corpus, _ = load(request.param, data / request.param)
    return corpus


@pytest.mark.slow
@pytest.mark.data
@pytest.mark.parametrize("to", FORMATS)
def test_measuring_data(measuring: Corpus, tmp_path: Path, to: str) -> None:
    found, report = load(SOURCES[to], export(measuring, tmp_path / "law", to))
    assert (found.sha256, found.questions_sha256) == (measuring.sha256, measuring.questions_sha256)
    assert (found.extras, found.question_extras) == (measuring.extras, measuring.question_extras)
    assert (found.card, report.skipped) == (measuring.card, ())
