"""Any table through a mapping of its columns."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest

from indexes.sources.registry import detect, load, recognise
from rag.errors import BadInput
from rag.types import Article, Question

CSV = """\
num;loi;contenu;titre;chapitre;fin
a1;Code du Four;"Le four est ""commun"" ;
chacun son tour.";Titre I;Du feu;1999-01-01
a2;Code du Four;Le dimanche, non.;Titre I;;
"""
ASKED = 'n,vraag,goud\n1,le dimanche ?,a2\n2,quand ?,"a1,a2"\n'
COLUMNS = ["id=num", "code=loi", "text=contenu", "headings=titre,chapitre", "valid_to=fin"]


@pytest.fixture
def law(tmp_path: Path) -> Path:
    path = tmp_path / "four.csv"
    path.write_text(CSV, encoding="utf-8")
    return path


def test_csv(law: Path) -> None:
    corpus, report = load("table", law, column=COLUMNS, language="fr")
    first, second = corpus.articles
    assert (first.id, first.code, first.article_no) == ("a1", "Code du Four", "")
    assert first.text == 'Le four est "commun" ;\nchacun son tour.'
    assert first.headings == ("Titre I", "Du feu")
    assert first.valid_to is not None
    assert second == Article("a2", "Code du Four", "", "Le dimanche, non.", headings=("Titre I",))
    assert (corpus.card.name, report.extra_columns) == ("four", {})


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("map.toml", 'id = "num"\ncode = "=Code rural"\ntext = "contenu"\nheadings = ["chapitre"]\n'
                     '[questions]\nid = "n"\nquestion = "vraag"\narticle_ids = "goud"\n'),
        ("map.json", '{"id": "num", "code": "=Code rural", "text": "contenu", "headings": ["chapitre"],'
                     '"questions": {"id": "n", "question": "vraag", "article_ids": "goud"}}'),
    ],
)  # fmt: skip
def test_a_mapping_in_a_file_with_questions(law: Path, name: str, content: str) -> None:
    (law.parent / name).write_text(content, encoding="utf-8")
    (law.parent / "asked.csv").write_text(ASKED, encoding="utf-8")
    given: dict[str, Any] = {
        "columns": str(law.parent / name),
        "questions": law.parent / "asked.csv",
        "language": "fr",
    }
    corpus, report = load("table", law, column=["headings=titre"], **given)
    assert {article.code for article in corpus.articles} == {"Code rural"}  # the same for all
    assert corpus.articles[0].headings == ("Titre I",)  # what is typed goes over the file
    assert corpus.questions == (
        Question("1", "le dimanche ?", ("a2",)),
        Question("2", "quand ?", ("a1", "a2")),
    )
    assert report.extra_columns == {"loi": 2, "chapitre": 1, "fin": 1}


def test_json_lines_and_columns_of_the_same_name(tmp_path: Path) -> None:
    path = tmp_path / "law.jsonl"
    path.write_text('{"id": 1, "code": "C", "article_no": 4, "body": "t", "headings": ["A", "B"]}\n', "utf-8")
    corpus, _ = load("table", path, column=["text=body", "questions.question=q"], language="en")
    assert corpus.articles == (Article("1", "C", "4", "t", headings=("A", "B")),)


def test_cells_that_hold_lists(tmp_path: Path) -> None:
    path = tmp_path / "law.tsv"
    path.write_text("id\tcode\ttext\theadings\treferences\n1\tC\tt\tBook > Title\t2, 3\n", encoding="utf-8")
    [article] = load("table", path, language="en")[0].articles
    assert (article.headings, article.references) == (("Book", "Title"), ("2", "3"))


@pytest.mark.parametrize("name", ["law.csv", "law.CSV", "law.tsv", "law.csv.gz", "law.tsv.gz"])
def test_tables_are_known_by_their_endings(tmp_path: Path, name: str) -> None:
    content = CSV.replace("num;loi;contenu", "id;code;text").encode()
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    (tmp_path / "README.md").write_text("Of the oven.", encoding="utf-8")
    assert detect(tmp_path / name) == detect(tmp_path) == "table"
    corpus, _ = load("table", tmp_path, language="fr")  # the folder of one
    assert len(corpus.articles) == 2
    (tmp_path / "other.csv").write_bytes(content)
    assert recognise(tmp_path) is None
    with pytest.raises(BadInput, match=r"one \.csv or \.tsv was expected in this folder, there: law.*other"):
        load("table", tmp_path, language="fr")
    (tmp_path / "other.csv").rename(tmp_path / "articles.jsonl")
    assert recognise(tmp_path) == "pandect"


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (["id=num"], r"four\.csv:1: no column code, text; the columns are: num, loi, contenu"),
        (
            ["text=absent"],
            r"no column absent, code, id; .* --column text=COLUMN --column code=COLUMN --column id=COLUMN",
        ),
        (
            ["colour=num"],
            r"no field 'colour' to map a column to\. Map some of: id, code, article_no, headings",
        ),
        (["text"], r"'text' is not FIELD=COLUMN\. Type it as --column text=contenu"),
        (["questions.colour=num"], r"no field 'colour'.*question"),
    ],
)
def test_unfit_mappings(law: Path, column: list[str], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        load("table", law, column=column, language="fr")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("map.toml", "text = ", r"map\.toml: not a mapping \(.*Write lines such as"),
        ("map.json", "[]", r"map\.json: an object was expected"),
        ("map.json", '{"text": 5}', r"text comes from 5\. Give the name of a column"),
        ("map.json", '{"other": {}}', r"no table 'other' in a mapping"),
        ("absent.toml", None, r"absent\.toml: cannot be read"),
    ],
)
def test_unfit_mapping_files(law: Path, name: str, content: str | None, message: str) -> None:
    if content is not None:
        (law.parent / name).write_text(content, encoding="utf-8")
    with pytest.raises(BadInput, match=message):
        load("table", law, columns=law.parent / name, language="fr")


@pytest.mark.parametrize(
    ("content", "message", "kept"),
    [
        (
            b'id,code,text\n1,C,t\n2,C,"open\n3,C,t\n',
            r"law\.csv:3: not CSV \(unexpected end of data\)\. Close",
            ["1"],
        ),
        (b'id,code,text\n1,C,t\n2,C,"a"b\n3,C,t\n', r"law\.csv:3: not CSV .* Close every quote", ["1", "3"]),
        (
            b'id,code,text\n1,C,"a\nb"\n2,C,caf\xe9\n3,C,t\n',
            r"law\.csv:4: byte 0xe9 at column 8 is not",
            ["1", "3"],
        ),
        (b"id,code,text\n1,C,t\n2,C,t,u\n\n3,C,t\n", r"law\.csv:3: 4 values came for 3 columns", ["1", "3"]),
        (
            b"id,code,text\n1,C,t\n2,C," + b"x" * 140_000 + b"\n3,C,t\n",
            r"law\.csv:3: not CSV \(field larger",
            ["1", "3"],
        ),
        (b"id,code,text\n1,C,t\n2,,t\n3,C,t\n", r"law\.csv:3: code is empty\. Fill in code", ["1", "3"]),
    ],
)
def test_bad_rows(tmp_path: Path, content: bytes, message: str, kept: list[str]) -> None:
    path = tmp_path / "law.csv"
    path.write_bytes(content)
    with pytest.raises(BadInput, match=message):
        load("table", path, language="en")
    corpus, report = load("table", path, language="en", lenient=True)
    assert [article.id for article in corpus.articles] == kept
    assert [skipped.count for skipped in report.skipped] == [1]


def test_an_unfit_delimiter(law: Path) -> None:
    with pytest.raises(BadInput, match=r"the delimiter is ';;'\. Give one character"):
        load("table", law, column=COLUMNS, language="fr", delimiter=";;")
    with pytest.raises(
        BadInput, match=r"no column chapitre, contenu, fin, loi, num, titre; the columns are: num;loi"
    ):
        load("table", law, column=COLUMNS, language="fr", delimiter="|")


def test_unfit_headers(tmp_path: Path) -> None:
    path = tmp_path / "law.csv"
    path.write_text("id,code,text,id\n", encoding="utf-8")
    with pytest.raises(BadInput, match=r"law\.csv:1: column id comes twice"):
        load("table", path, language="en")
    path.write_text("", encoding="utf-8")
    with pytest.raises(BadInput, match=r"law\.csv:1: no column code, id, text; the columns are: none"):
        load("table", path, language="en")
