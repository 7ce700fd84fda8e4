"""Parquet with columns of any name, and what is wrong with a file."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from indexes.formats.parquet import plain, rows
from indexes.formats.validation import Inspection, SkipReason
from indexes.sources.registry import detect, load
from rag.errors import BadInput


def table(path: Path, **columns: object) -> Path:
    pq.write_table(pa.table(columns), path, row_group_size=2)
    return path


@pytest.fixture
def law(tmp_path: Path) -> Path:
    return table(
        tmp_path / "law.parquet",
        nr=[1, 2],
        loi=["Code du four", "Code du pain"],
        contenu=["Le four est chaud.", "Le pain lève."],
        titres=[["Livre I", "Titre II"], []],
        debut=[date(2020, 1, 31), None],
        poids=[1.5, float("nan")],
    )


def test_columns_are_mapped(law: Path, tmp_path: Path) -> None:
    assert detect(law) == "parquet"
    asked = table(tmp_path / "asked.parquet", id=["q"], question=["chaud ?"], article_ids=[["1"]])
    column = ["id=nr", "code=loi", "text=contenu", "headings=titres", "valid_from=debut"]
    corpus, report = load("parquet", law, language="fr", column=column, questions=asked)
    one, two = corpus.articles
    assert (one.id, one.code, one.text, one.article_no) == ("1", "Code du four", "Le four est chaud.", "")
    assert (one.headings, one.valid_from) == (("Livre I", "Titre II"), date(2020, 1, 31))
    assert (two.headings, two.valid_from) == ((), None)
    assert corpus.questions[0].article_ids == ("1",)
    assert corpus.extras == {"1": {"poids": 1.5}}
    assert report.extra_columns == {"poids": 1}


def test_a_missing_column(law: Path) -> None:
    with pytest.raises(BadInput, match=r"no column corps; the columns are: nr, loi, .*--column FIELD=COLUMN"):
        load("parquet", law, language="fr", column=["text=corps"])


def test_a_folder_without_articles(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"no articles\.parquet in it"):
        load("parquet", tmp_path, language="fr")


def test_damage(tmp_path: Path) -> None:
    path = tmp_path / "law.parquet"
    texts = [f"text {i} " + "é" * 50 for i in range(2000)]
    pq.write_table(
        pa.table({"text": texts}), path, row_group_size=500, compression="none", write_page_checksum=True
    )
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 0xFF  # in a page of the second half
    path.write_bytes(content)
    with pytest.raises(BadInput, match=r"law\.parquet:\d+: not Parquet, or damaged .*Fetch the file again"):
        list(rows(path, Inspection()))
    inspection = Inspection(lenient=True)
    kept = list(rows(path, inspection))
    assert 0 < len(kept) < 2000
    assert inspection.report(0, 0).skipped[0].reason is SkipReason.INVALID_PARQUET


def test_text_that_is_not_utf8(tmp_path: Path) -> None:
    array = pa.array([b"ok", b"caf\xe9"]).view(pa.string())
    with pytest.raises(BadInput, match=r"law\.parquet:1: not Parquet, or damaged \('utf-8'"):
        list(rows(table(tmp_path / "law.parquet", text=array), Inspection()))


def test_values_of_json() -> None:
    value = {1: (date(2020, 1, 2), b"\xff", float("inf"), Decimal("1.5")), "at": datetime(2020, 1, 2, 3)}
    assert plain(value) == {"1": ["2020-01-02", None, None, "1.5"], "at": "2020-01-02T03:00:00"}


def test_text_that_is_not_marked_as_text(tmp_path: Path) -> None:
    """Many writers have no type for text: it was imported as hexadecimal digits, and nobody was told."""
    good = {"id": [b"1"], "code": [b"A"], "headings": [["Livre é".encode()]], "image": [b"\xff\x00"]}
    path = table(tmp_path / "law.parquet", **good, text=["Le four est chauffé.".encode()])
    corpus, report = load("parquet", path, language="fr")
    [article] = corpus.articles
    assert (article.id, article.code, article.headings) == ("1", "A", ("Livre é",))
    assert article.text == "Le four est chauffé."
    assert corpus.extras == {}
    assert report.notes == (f"column image: 1 values left out that are no text (first at {path}:1)",)


@pytest.mark.parametrize("column", [[], ["text=contenu"]])
def test_bytes_that_are_no_text(tmp_path: Path, column: list[str]) -> None:
    named = "contenu" if column else "text"
    latin = ["Le four est chauffé.".encode("latin-1"), b"Le pain."]
    path = table(tmp_path / "law.parquet", id=["1", "2"], code=["A", "A"], **{named: latin})
    with pytest.raises(BadInput, match=rf"law.parquet:1: {named} holds bytes that are no text in UTF-8"):
        load("parquet", path, language="fr", column=column)
    corpus, report = load("parquet", path, language="fr", column=column, lenient=True)
    assert [article.id for article in corpus.articles] == ["2"]
    assert report.skipped[0].reason is SkipReason.BROKEN_UTF8
