"""gesetze-im-internet.de's XML, in small: levels, lists, tables, notes, several acts, damage."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from indexes.sources.registry import detect, load, recognise
from rag.errors import BadInput

pytest.importorskip("lxml")


def norm(meta: str, text: str = "", notes: str = "", doknr: str = "BJNR1") -> str:
    content = f"<text format='XML'><Content>{text}</Content></text>" if text else ""
    foot = f"<fussnoten><Content>{notes}</Content></fussnoten>" if notes else ""
    return (
        f"<norm doknr='{doknr}'><metadaten><jurabk>BrotG</jurabk>{meta}</metadaten>"
        f"<textdaten>{content}{foot}</textdaten></norm>"
    )


def level(key: str, name: str, title: str) -> str:
    return norm(
        f"<gliederungseinheit><gliederungskennzahl>{key}</gliederungskennzahl><gliederungsbez>{name}"
        f"</gliederungsbez><gliederungstitel>{title}</gliederungstitel></gliederungseinheit>"
    )


def paragraph(number: str, title: str, text: str, notes: str = "") -> str:
    return norm(f"<enbez>{number}</enbez><titel format='parat'>{title}</titel>", text, notes, f"BJNE{number}")


LIST = (
    "<P>(2) Brot ist<DL Type='arabic'><DT>1.</DT><DD><LA>warm;</LA></DD>"
    "<DT>2.</DT><DD><LA>rund.</LA></DD></DL></P>"
)
TABLE = (
    "<table><tgroup cols='2'><tbody><row><entry>Korn</entry><entry>Euro</entry></row>"
    "<row><entry>Roggen</entry><entry>2</entry></row></tbody></tgroup></table>"
)
ACT = f"""<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE dokumente SYSTEM "http://www.gesetze-im-internet.de/dtd/1.01/gii-norm.dtd">
<dokumente builddate="20240229101112" doknr="BJNR1">
{norm("<langue>Gesetz über das Brot</langue><kurzue>Brotgesetz</kurzue>", "<P/>")}
{norm("<enbez>Inhaltsübersicht</enbez>", "<TOC><P>x</P></TOC>y")}
{level("010", "Teil 1", "Brot")}{level("010010", "Kapitel 1", "Backen")}
{paragraph("§ 1", "Begriff", f"<P>(1) Brot<FnR ID='F1'/> wird <I>gebacken</I>.</P>{LIST}", "<P>Fußnote.</P>")}
{level("010020", "Kapitel 2", "Verkauf")}{paragraph("§ 2a", "Preise", TABLE)}
{level("020", "Teil 2", "Schluss")}{paragraph("Art 3", "", "<P>Ende.</P>")}{paragraph("§ 4", "", "")}
{paragraph("Anlage", "Formen", "<P>Rund.</P>")}{paragraph("Anlage", "Farben", "<P>Braun.</P>")}
</dokumente>"""


def put(folder: Path, text: str, name: str = "BJNR1.xml") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


def test_an_act(tmp_path: Path) -> None:
    path = put(tmp_path, ACT)
    assert detect(path) == "gesetze-im-internet"
    corpus, report = load("gesetze-im-internet", path)
    assert [(a.id, a.article_no, a.text) for a in corpus.articles] == [
        ("BrotG-1", "1", "Begriff\n(1) Brot wird gebacken.\n(2) Brot ist\n1. warm;\n2. rund."),
        ("BrotG-2a", "2a", "Preise\nKorn | Euro\nRoggen | 2"),
        ("BrotG-Art_3", "Art 3", "Ende."),
        ("BrotG-Anlage", "Anlage", "Formen\nRund."),
        ("BrotG-Anlage;2", "Anlage", "Farben\nBraun."),
    ]
    first, second, third, *_ = corpus.articles
    assert first.headings == ("Brotgesetz", "Teil 1 - Brot", "Kapitel 1 - Backen")
    assert second.headings == ("Brotgesetz", "Teil 1 - Brot", "Kapitel 2 - Verkauf")
    assert third.headings == ("Brotgesetz", "Teil 2 - Schluss")
    assert (first.url, third.url) == (
        "https://www.gesetze-im-internet.de/brotg/__1.html",
        "https://www.gesetze-im-internet.de/brotg/art_3.html",
    )
    assert corpus.extras["BrotG-1"]["notes"] == ["Fußnote."]
    assert (corpus.card.language, corpus.card.law_date) == ("de", date(2024, 2, 29))
    assert report.skipped == ()


def test_a_folder_and_damage(tmp_path: Path) -> None:
    folder = tmp_path / "gesetze"
    put(folder, ACT)
    put(folder, ACT.replace("BrotG", "SalzG"), "BJNR2.xml")
    assert recognise(folder) == "gesetze-im-internet"
    corpus, _ = load("gesetze-im-internet", folder)
    assert {a.code for a in corpus.articles} == {"BrotG", "SalzG"}
    put(folder, ACT[:900], "BJNR3.xml")
    with pytest.raises(BadInput, match=r"BJNR3\.xml:1: not XML, or broken off"):
        load("gesetze-im-internet", folder)
    lenient, report = load("gesetze-im-internet", folder, lenient=True)
    assert (len(lenient.articles), report.skipped[0].count) == (len(corpus.articles), 1)
    bomb = ACT.replace(
        ' SYSTEM "http://www.gesetze-im-internet.de/dtd/1.01/gii-norm.dtd"', " [<!ENTITY x 'y'>]"
    )
    with pytest.raises(BadInput, match="declares entities"):
        load("gesetze-im-internet", put(tmp_path, bomb))
    with pytest.raises(BadInput, match="no act of gesetze-im-internet"):
        load("gesetze-im-internet", put(tmp_path, "<html/>"))


@pytest.mark.parametrize("day", ["20240231", "20241301", "2024", "", "٢٠٢٤٠٢٢٩"])
def test_a_day_that_is_none_is_left_out(tmp_path: Path, day: str) -> None:
    corpus, _ = load("gesetze-im-internet", put(tmp_path, ACT.replace("20240229101112", day)))
    assert corpus.card.law_date is None
