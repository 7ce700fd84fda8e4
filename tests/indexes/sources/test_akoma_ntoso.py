"""Akoma Ntoso: real acts with their counts, small acts in each style, attacks, folders, resuming."""

from __future__ import annotations

import os
import re
import resource
import signal
import subprocess
import sys
import time
import tomllib
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import indexes
from indexes.__main__ import main
from indexes.download.resolve import bring
from indexes.formats.validation import ImportReport, SkipReason
from indexes.sources.akoma_ntoso.document import Unit, documents, root_of
from indexes.sources.akoma_ntoso.references import Resolver, numbered
from indexes.sources.registry import detect, load, recognise
from rag.errors import BadInput, MissingExtra
from rag.types import Article

pytest.importorskip("lxml")
OASIS = "http://docs.oasis-open.org/legaldocml/ns/akn/3.0"
NAMESPACES = (
    OASIS,
    f"{OASIS}/WD17",
    f"{OASIS}/CSD13",
    "http://www.akomantoso.org/2.0",
    "http://Inhaltsdaten.LegalDocML.de/1.8.2/",
)


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PANDECT_HOME", str(tmp_path / "home"))


def identified(
    work: str, *, language: str = "ita", day: str = "2020-01-01", country: str = "it", more: str = ""
) -> str:
    return f"""<meta><identification source="#us"><FRBRWork><FRBRthis value="{work}/!main"/>
<FRBRuri value="{work}"/><FRBRdate date="2001-01-01" name=""/><FRBRcountry value="{country}"/></FRBRWork>
<FRBRExpression><FRBRthis value="{work}/{language}@{day}/!main"/><FRBRuri value="{work}/{language}@{day}"/>
<FRBRdate date="{day}" name=""/><FRBRlanguage language="{language}"/></FRBRExpression></identification>
{more}</meta>"""


WORK = "/akn/it/act/legge/stato/2001-01-01/7"
PREFACE = "<preface><p><docTitle>Legge sul pane</docTitle></p></preface>"


def act(
    body: str, *, meta: str | None = None, preface: str = PREFACE, after: str = "", kind: str = "act"
) -> str:
    meta = identified(WORK) if meta is None else meta
    tag = "mainBody" if kind == "doc" else "body"
    inside = f"<{kind} name='x'>{meta}{preface}<{tag}>{body}</{tag}>{after}</{kind}>"
    return f'<?xml version="1.0" encoding="UTF-8"?><akomaNtoso xmlns="{OASIS}">{inside}</akomaNtoso>'


def article(number: str, text: str, eid: str | None = None, heading: str = "") -> str:
    id_ = f'eId="{eid}"' if eid else ""
    head = f"<heading>{heading}</heading>" if heading else ""
    paragraph = f"<paragraph><num>1.</num><content><p>{text}</p></content></paragraph>"
    return f"<article {id_}><num>Art. {number}.</num>{head}{paragraph}</article>"


def put(folder: Path, text: str, name: str = "a.xml") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def read(folder: Path, text: str, **options: object) -> tuple[Article, ...]:
    return load("akoma-ntoso", put(folder, text), **options)[0].articles  # type: ignore[arg-type]


# --- the acts of the measuring data ---


@dataclass(frozen=True)
class Counts:
    """What an import must find; `readme` is what the data's README counts, whatever it stands in."""

    language: str
    articles: int
    readme: tuple[int, int, int]  # articles, sections, ref elements
    references: int  # in the text of articles, each rref one
    resolved: int  # of them, to articles of the same file
    within: int = 0  # to the act itself, to levels of it
    elsewhere: int = 0  # ref and rref outside the text: in notes, prefaces, metadata
    quoted: int = 0  # of readme's: articles or sections that are quoted
    attached: int = 0  # attachments and docs without articles, each one article here
    scheduled: int = 0  # paragraphs and levels of schedules, each one article here
    levels: int = 0  # of readme's: sections that articles stand in, or that stand in articles
    ranges: int = 0  # rref
    unread: int = 0  # of readme's refs: those in text that is left out


REAL = {
    # As counted; the 21 sections hold articles. Of 518 references 23 lead to no article: 18 to titles and
    # chapters, four to articles 609-bis and following and one to a part, none of which the file has.
    "it_codice_penale": Counts("it", 734, (734, 21, 518), 518, 495, 18, levels=21),
    # 61 of 61 "~art_N"; the others lead to other laws, four to tables of this one that are not in the file.
    "it_l354_1975_ordinamento_penitenziario": Counts("it", 91, (91, 0, 102), 102, 61, 4),
    # 24 references stand in the preamble. All but 20 lead to other laws: its own articles are cited in words.
    "it_dlgs82_2005_cad": Counts("it", 121, (121, 0, 404), 380, 15, 5, elsewhere=24),
    # Sections hold the notes of the gazette, inside articles. Four attachments.
    "it_dlgs150_2012_fitosanitari": Counts(
        "it", 30, (26, 20, 58), 34, 0, elsewhere=24, attached=4, levels=20
    ),
    # Sections hold the notes of the gazette, inside articles. Seven attachments.
    "it_dlgs4_2008_ambiente": Counts("it", 11, (4, 3, 166), 159, 0, elsewhere=7, attached=7, levels=3),
    "it_dl8_2008_missioni": Counts("it", 8, (8, 0, 109), 102, 0, elsewhere=7),
    # Four articles, nineteen of the treaty and its English text, each an attachment.
    "it_l204_2011_ratifica": Counts("it", 24, (4, 0, 0), 0, 0, attached=20),
    # Two of the eight articles are quoted; the report of those who propose it is an attachment.
    "it_senato_ddl356_2013": Counts("it", 7, (8, 0, 0), 0, 0, quoted=2, attached=1),
    # The explanatory memorandum and the financial statement are a doc each.
    "eu_com_2013_619": Counts("en", 26, (24, 0, 128), 104, 50, elsewhere=25, attached=2, ranges=1),
    # Two of the sections are quoted. Schedules are cited by paragraph. Nearly all references stand in notes.
    "uk_dpa_1998": Counts("en", 287, (0, 97, 2271), 2, 0, elsewhere=2291, quoted=2, scheduled=192, ranges=22),
    # One reference leads to an id that is not there, one to the act as a whole.
    "ke_retirement_benefits_1997": Counts("en", 59, (0, 59, 29), 29, 27, 1),
    "de_sgleig_2024": Counts("de", 75, (75, 5, 0), 0, 0, levels=5),
    # It changes another act, which alone it refers to.
    "de_lobbyrg_aendg_2024": Counts("de", 3, (3, 0, 38), 40, 0, ranges=2),
    # One annex.
    "lu_l2004_blanchiment_fr": Counts("fr", 46, (45, 7, 186), 177, 0, elsewhere=9, attached=1, levels=7),
    # 109 references are in the notes of amendments.
    "lu_constitution_2023_fr": Counts("fr", 132, (132, 21, 115), 6, 0, elsewhere=109, levels=21),
}


@pytest.mark.slow
@pytest.mark.data
@pytest.mark.parametrize("name", REAL)
def test_real_acts_have_their_counts(data: Path, name: str) -> None:
    expected = REAL[name]
    file = data / "akn" / f"{name}.xml"
    assert detect(file) == "akoma-ntoso"
    corpus, report = load("akoma-ntoso", file)
    assert corpus.card.language == expected.language
    assert len(corpus.articles) == expected.articles
    articles, sections, refs = expected.readme
    explained = expected.attached + expected.scheduled - expected.quoted - expected.levels
    assert expected.articles == articles + sections + explained
    assert expected.references + expected.elsewhere == refs + expected.ranges
    told = "\n".join(report.notes)
    if expected.references:
        lost = expected.references - expected.resolved - expected.within
        parts = (expected.references, expected.resolved, expected.within, lost)
        assert numbers(told, "references in articles") == [*parts]
    if expected.elsewhere:
        assert numbers(told, "references outside articles") == [expected.elsewhere]
    assert report.skipped == ()
    known = {article.id for article in corpus.articles}
    for each in corpus.articles:
        assert known >= set(each.references)
        assert each.id not in each.references
        assert not re.search(r"[\x00-\x09\x0b-\x1f]", each.text)
        assert len(each.id) < 150


def numbers(told: str, begins: str) -> list[int]:
    line = next(line for line in told.split("\n") if line.startswith(begins))
    return [int(n.replace(",", "")) for n in re.findall(r"\d[\d,]*(?=\D|$)", line)]


LINES = ("p", "td", "th", "li", "item", "num", "heading", "quotedStructure", "listIntroduction", "eol", "br")


@pytest.mark.data
@pytest.mark.parametrize("name", REAL)
def test_no_word_of_a_body_is_lost_or_twice(data: Path, name: str) -> None:
    def words(texts: Iterable[str]) -> Counter[str]:
        return Counter(word for text in texts for word in re.findall(r"\w+", text))

    root = root_of((data / "akn" / f"{name}.xml").read_bytes())
    found = words(unit.text for each in documents(root, name) for unit in each.units)
    for each in root.iter(*LINES):  # what begins a line is parted from what stands before it
        each.text, each.tail = f" {each.text or ''}", f" {each.tail or ''}"
    titles = words("".join(each.itertext()) for each in root.iter("num", "heading"))
    for each in list(root.iter("authorialNote", "del")):
        each.clear(keep_tail=True)
    body = words("".join(each.itertext()) for each in root.iter("body", "mainBody"))
    assert (body - found - titles).total() <= 1  # one word of the German act is two on two lines
    assert all(len(word) < 8 for word in found - body)  # signs of lists, which HTML draws


@pytest.mark.slow
@pytest.mark.data
def test_what_readers_see_of_real_acts(data: Path) -> None:
    def found(name: str, number: str) -> Article:
        corpus, _ = load("akoma-ntoso", data / "akn" / f"{name}.xml")
        return next(each for each in corpus.articles if each.article_no == number)

    theft = found("it_codice_penale", "625")
    assert theft.headings[:2] == (
        "LIBRO II - DEI DELITTI IN PARTICOLARE",
        "TITOLO XIII - DEI DELITTI CONTRO IL PATRIMONIO",
    )
    assert theft.code == "CODICE PENALE"
    assert found("it_l354_1975_ordinamento_penitenziario", "1").text.startswith(
        "Trattamento e rieducazione\nIl trattamento"
    )
    assert found("ke_retirement_benefits_1997", "3").text.startswith(
        "Establishment"
    )  # its num is "(1)": of a subsection
    monetary = found("uk_dpa_1998", "55A")
    assert (monetary.headings[0], monetary.valid_from) == (
        "Part VI - Miscellaneous and General",
        date(2017, 4, 1),
    )
    assert monetary.url == "https://www.legislation.gov.uk/ukpga/1998/29/section/55A"
    assert "\n(a) there has been a serious contravention" in monetary.text
    assert (
        found("uk_dpa_1998", "Schedule 16, Part II").text.split("\n")[1]
        == "Number | Title | Extent of revocation"
    )
    assert found("de_sgleig_2024", "38").headings[0].startswith("Teil 5 - Gleichstellungsbeauftragte")
    assert found("de_lobbyrg_aendg_2024", "Artikel 1").text.count("„") > 50  # what it puts into the other act
    assert found("lu_l2004_blanchiment_fr", "2-1").valid_from == date(2025, 2, 10)
    assert found("it_l204_2011_ratifica", "3").code in (
        "Accordo (Legge 15 novembre 2011, n. 204)",
        "Legge 15 novembre 2011, n. 204",
    )


@pytest.mark.slow
@pytest.mark.data
def test_a_folder_of_one_language_joins_its_acts(data: Path) -> None:
    with pytest.raises(BadInput, match=r"acts in de \(2\), en \(3\), fr \(2\), it \(8\).*Pass --language"):
        load("akoma-ntoso", data / "akn")
    corpus, report = load("akoma-ntoso", data / "akn", language="it")
    assert len(corpus.articles) == sum(each.articles for each in REAL.values() if each.language == "it")
    assert "acts left out, in other languages or earlier versions: 7" in report.notes
    number = {each.id: (each.code, each.article_no) for each in corpus.articles}
    prison = next(each for each in corpus.articles if each.id == "it/act/legge/stato/1975-07-26/354#art_55")
    assert ("CODICE PENALE", "228") in [
        number[each] for each in prison.references
    ]  # ...!codice_penale~art228


# --- styles ---

_STYLES = Path(__file__).with_name("akoma_ntoso_styles.toml").read_text(encoding="utf-8")
STYLES = {  # name -> the body, and the number, text and headings of its articles
    style["name"]: (style["body"], [(no, text, tuple(above)) for no, text, above in style["articles"]])
    for style in tomllib.loads(_STYLES)["styles"]
}


@pytest.mark.parametrize("style", STYLES)
def test_each_style(tmp_path: Path, style: str) -> None:
    body, expected = STYLES[style]
    country = "gb" if "schedules" in style else "it"
    found = read(tmp_path, act(body, meta=identified(WORK, country=country)))
    assert [(a.article_no, a.text, a.headings) for a in found] == expected
    assert len({a.id for a in found}) == len(found)


def test_fields_of_an_article(tmp_path: Path) -> None:
    life = """<lifecycle source="#us"><eventRef eId="e1" date="2010-05-01" type="generation"/>
<eventRef eId="e2" date="2015-06-01" type="amendment"/><eventRef eId="e3" date="9999-12-31"/></lifecycle>
<temporalData source="#us">
<temporalGroup eId="t1"><timeInterval start="#e1" end="#e2" refersTo="#inForce"/></temporalGroup>
<temporalGroup eId="t2"><timeInterval start="#e2" end="#e3" refersTo="#inForce"/></temporalGroup>
</temporalData>"""
    second = article("2", "Sale.", "art_2").replace("<article", "<article period='#t1'")
    body = f"<chapter period='#t2'>{article('1', 'Pane.', 'art_1')}{second}</chapter>"
    urn = '<FRBRalias name="urn:nir" value="urn:nir:stato:legge:2001-01-01;7"/><FRBRdate'
    corpus, _ = load(
        "akoma-ntoso", put(tmp_path, act(body, meta=identified(WORK, more=life).replace("<FRBRdate", urn, 1)))
    )
    one, two = corpus.articles
    assert (one.id, one.code, one.jurisdiction, one.law_type) == (
        "it/act/legge/stato/2001-01-01/7#art_1",
        "Legge sul pane",
        "IT",
        "national",
    )
    assert (one.valid_from, one.valid_to) == (date(2015, 6, 1), None)
    assert (two.valid_from, two.valid_to) == (date(2010, 5, 1), date(2015, 6, 1))
    assert one.url == "https://www.normattiva.it/uri-res/N2Ls?urn:nir:stato:legge:2001-01-01;7~art1"
    kept = corpus.extras[one.id]
    assert (kept["frbr_work"], kept["frbr_expression"]) == (f"{WORK}/!main", f"{WORK}/ita@2020-01-01/!main")
    assert (corpus.card.language, corpus.card.jurisdiction, corpus.card.law_date) == (
        "it",
        "IT",
        date(2020, 1, 1),
    )


def test_a_consolidation_as_fedlex_dates_it(tmp_path: Path) -> None:
    meta = """<meta><identification source="#ch"><FRBRWork>
<FRBRuri value="https://fedlex.data.admin.ch/eli/cc/2017/762/20260401"/>
<FRBRdate date="2016-09-30" name="jolux:dateDocument"/>
<FRBRdate date="2026-04-01" name="jolux:dateApplicability"/>
<FRBRcountry value="ch"/><FRBRname xml:lang="de" value="Korngesetz" shortForm="KG"/></FRBRWork>
<FRBRExpression><FRBRlanguage language="de"/></FRBRExpression></identification></meta>"""
    annex = (
        "<components><component eId='cmp_1'><doc name='annex'><meta><identification><FRBRWork>"
        "<FRBRuri value='https://fedlex.data.admin.ch/eli/cc/2017/762/anx_2'/><FRBRname"
        " value='Anhang 2'/></FRBRWork>"
        "</identification></meta><mainBody><level><content><p>Werte.</p></content></level>"
        "</mainBody></doc></component></components>"
    )
    asks = "<ref href='https://fedlex.data.admin.ch/eli/cc/2017/762#art_1/para_2'>1</ref>"
    body = (
        f"<article eId='art_1'><num>Art. 1</num><content><p>Korn.</p></content></article>"
        f"{article('2', asks, 'art_2')}"
    )
    text = act(
        body, meta=meta, preface="<preface><p><docTitle>Korngesetz (KG)</docTitle></p></preface>", after=annex
    )
    corpus, _ = load("akoma-ntoso", put(tmp_path, text))
    one, two, three = corpus.articles
    assert (one.id, one.code, one.url) == (
        "eli/cc/2017/762#art_1",
        "Korngesetz",
        "https://www.fedlex.admin.ch/eli/cc/2017/762/20260401/de#art_1",
    )
    assert (two.references, three.article_no, three.id) == ((one.id,), "Anhang 2", "eli/cc/2017/762/anx_2")
    assert (corpus.card.aliases, corpus.card.law_date) == ({"Korngesetz": ("KG",)}, date(2026, 4, 1))


def test_names_of_codes(tmp_path: Path) -> None:
    def code(preface: str, **of: str) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
        corpus, _ = load(
            "akoma-ntoso",
            put(tmp_path, act(article("1", "Pane."), preface=preface, meta=identified(WORK, **of))),
        )
        name = corpus.articles[0].code
        return name, corpus.card.aliases.get(name, ()), corpus.articles[0].headings

    numbered = (
        "<docType>LEGGE</docType> <docDate date='2001-01-01'>01 gennaio 2001</docDate>"
        " n. <docNumber>7</docNumber>"
    )
    short = f"<preface><p>{numbered}<docTitle>Codice del pane. (01G0001)</docTitle></p></preface>"
    assert code(short) == ("Codice del pane", ("Legge 1 gennaio 2001, n. 7",), ())
    title = "Norme " + "sul pane e sul sale " * 8
    assert code(f"<preface><p>{numbered}<docTitle>{title}</docTitle></p></preface>") == (
        "Legge 1 gennaio 2001, n. 7",
        (),
        (title.strip(),),
    )
    abbreviated = (
        "<preface><longTitle><p>"
        "<docTitle>Brotgesetz</docTitle> <shortTitle>(BrotG)</shortTitle></p></longTitle></preface>"
    )
    assert code(abbreviated, language="deu", country="de") == ("Brotgesetz", ("BrotG",), ())
    assert code("", language="eng", country="ke")[0] == f"{WORK}/!main"  # no title at all


def test_acts_of_one_title_are_told_apart(tmp_path: Path) -> None:
    folder = tmp_path / "law"
    for n in (1, 2):
        meta = identified(f"/akn/it/act/legge/stato/200{n}-01-01/7").replace(
            '2001-01-01" name', f'200{n}-01-01" name'
        )
        put(folder, act(article("1", f"Pane {n}."), meta=meta), f"{n}.xml")
    corpus, _ = load("akoma-ntoso", folder)
    assert [a.code for a in corpus.articles] == ["Legge sul pane (2001-01-01)", "Legge sul pane (2002-01-01)"]


def test_notes_stand_apart(tmp_path: Path) -> None:
    notes = (
        "<notes source='#us'><note eId='n1'><p>Così <ref href='#art_2'>modificato</ref>.</p></note></notes>"
    )
    one = article(
        "1",
        "Pane<noteRef href='#n1' marker='1'/> e<authorialNote><p>Nota.</p></authorialNote> sale.",
        "art_1",
    )
    one = one.replace(
        "1.</num><paragraph", "1.<authorialNote>In vigore dal 2003.</authorialNote></num><paragraph"
    )
    corpus, _ = load(
        "akoma-ntoso",
        put(tmp_path, act(one + article("2", "Acqua.", "art_2"), meta=identified(WORK, more=notes))),
    )
    first = corpus.articles[0]
    assert (first.text, first.references) == ("1. Pane e sale.", ())
    kept = corpus.extras[first.id]
    assert kept["notes"] == ["In vigore dal 2003.", "Così modificato.", "Nota."]
    assert kept["note_references"] == ["it/act/legge/stato/2001-01-01/7#art_2"]


def test_attachments_and_components_with_the_same_ids(tmp_path: Path) -> None:
    def attached(name: str, body: str) -> str:
        return (
            f"<attachment><doc name='{name}'>{identified(WORK)}<mainBody>{body}</mainBody></doc></attachment>"
        )

    second = article("2", "Vedi <ref href='#art_1'>1</ref>.", "art_2")
    treaty = attached("Trattato", f"<chapter>{article('1', 'Pace.', 'art_1')}{second}</chapter>")
    code = attached("Codice del pane-art. 12", "<p>Art. 12. Forno.</p>")
    after = f"<attachments>{treaty}{attached('Allegato A', '<p>Tariffe.</p>')}{code}</attachments>"
    found = read(tmp_path, act(article("1", "Ratifica.", "art_1"), after=after))
    assert [(a.article_no, a.code, a.headings, a.text) for a in found] == [
        ("1", "Legge sul pane", (), "1. Ratifica."),
        ("Trattato, 1", "Legge sul pane", ("Trattato",), "1. Pace."),
        ("Trattato, 2", "Legge sul pane", ("Trattato",), "1. Vedi 1."),
        ("Allegato A", "Legge sul pane", (), "Tariffe."),
        ("12", "Codice del pane", (), "Art. 12. Forno."),
    ]
    assert len({a.id for a in found}) == len(found)
    assert found[2].references == (found[1].id,)  # of its own component, not of the act


def test_a_collection_of_documents(tmp_path: Path) -> None:
    bill = (
        f"<bill>{identified('/akn/eu/bill/2020/3', language='en', country='eu')}{PREFACE}<body>"
        f"{article('1', 'Bread.', 'art_1')}</body></bill>"
    )
    memo = (
        f"<doc name='memo'>{identified('/akn/eu/doc/2020/4', language='eng', country='eu')}"
        f"<preface><longTitle><p>MEMO</p></longTitle>"
        "</preface><mainBody><tblock><heading>Why</heading><p>See <ref"
        " href='/akn/eu/bill/2020/3~art_1__para_1'>it</ref>.</p></tblock></mainBody></doc>"
    )
    text = (
        f"<a:akomaNtoso xmlns:a='{OASIS}' xmlns='{OASIS}'><documentCollection name='c'>"
        f"{identified('/akn/eu/c/1', language='en', country='eu')}"
        f"<collectionBody><component><documentRef href='#b'/></component></collectionBody>"
        f"<components><component>{memo}</component>"
        f"<component>{bill}</component></components></documentCollection></a:akomaNtoso>"
    )
    first, second = read(tmp_path, text)
    assert (first.article_no, first.code, first.id) == ("1", "Legge sul pane", "eu/bill/2020/3#art_1")
    assert (second.article_no, second.text, second.references) == ("MEMO", "Why\nSee it.", (first.id,))


NOTES_OF_NOTES = {
    "itself": (["Uno <noteRef href='#n0'/>"], ["Uno"]),
    "each other": (["Uno <noteRef href='#n1'/>", "due <noteRef href='#n0'/>"], ["Uno", "due"]),
    "twice the next": (
        [f"n{i} <noteRef href='#n{i + 1}'/><noteRef href='#n{i + 1}'/>" for i in range(2000)],
        [f"n{i}" for i in range(2000)],
    ),
}


@pytest.mark.parametrize("style", NOTES_OF_NOTES)
@pytest.mark.parametrize("inline", [False, True])
def test_each_note_of_an_article_is_rendered_once(tmp_path: Path, style: str, inline: bool) -> None:
    texts, expected = NOTES_OF_NOTES[style]
    notes = "".join(f"<note eId='n{i}'><p>{text}</p></note>" for i, text in enumerate(texts))
    asks = "Pane<noteRef href='#n0'/> e<noteRef href='#n0'/> sale."
    meta = identified(WORK, more="" if inline else f"<notes source='#us'>{notes}</notes>")
    one = article("1", asks + (notes if inline else ""), "art_1")
    two = article("2", "Acqua<noteRef href='#n0'/>.", "art_2")
    corpus, _ = load("akoma-ntoso", put(tmp_path, act(one + two, meta=meta)))
    assert [a.text for a in corpus.articles] == ["1. Pane e sale.", "1. Acqua."]
    assert [sorted(corpus.extras[a.id]["notes"]) for a in corpus.articles] == [sorted(expected)] * 2


# --- references ---

REFERENCES = [
    ("#art_5", ["5"]),
    ("~art_5", ["5"]),
    ("art_5", ["5"]),
    ("#art_5__para_2__point_a", ["5"]),
    ("#art_5-com2", ["5"]),
    ("#art5-com2-leta", ["5"]),
    ("#art_5bis-com1", ["5-bis"]),
    ("#art_5_bis", ["5-bis"]),
    ("#art_5-ter", []),  # which is not there: never article 5
    ("#art_55", []),
    ("#art_5-1", ["5-1"]),
    ("#art_5-2", []),
    ("#nested", ["6"]),  # an id inside an article
    ("#chp_1", []),  # a level
    ("/akn/it/act/legge/stato/2001-01-01/7/!main#art_5", ["5"]),
    ("/akn/it/act/LEGGE/2001-01-01/7/!main#art_5-com2", ["5"]),
    ("/it/act/legge/stato/2001/7#art_6", ["6"]),
    ("/akn/it/act/legge/stato/2001-01-01/7/ita@2020-01-01/!main~art_6", ["6"]),
    ("http://www.example.org/akn/it/act/legge/stato/2001-01-01/7/ita@/main.xml#art_6", ["6"]),
    ("urn:nir:stato:legge:2001-01-01;7~art5bis-com3", ["5-bis"]),
    ("https://www.normattiva.it/uri-res/N2Ls?urn:nir:stato:legge:2001-01-01;7~art6", ["6"]),
    ("/akn/it/act/legge/stato/2001-01-01/7/article/5/2", ["5"]),
    ("/akn/it/act/legge/stato/2001-01-01/7", []),
    ("/akn/it/act/legge/stato/2001-01-01/70#art_5", []),
    ("/akn/it/act/legge/stato/2001/70/!main#art_5", []),  # another act, by its year alone
    ("/akn/it/act/regolamento//2016/679/!main#art_5", []),
    ("!main#art_5", ["5"]),
    ("eli/bund/bgbl-1/2021/s9/2021-04-16/1/deu/regelungstext-1/hauptteil-1_art-2_abs-1.xml", ["§2"]),
    ("eli/bund/bgbl-1/2021/s9/regelungstext-verkuendung-1#art-z2", ["§2"]),
    ("/id/ukpga/1998/29/section/7A/1/b", ["s7A"]),
    ("http://www.legislation.gov.uk/id/ukpga/1998/29/section/7/1", ["s7"]),
    ("http://www.legislation.gov.uk/ukpga/1998/29/section/8", []),
    ("/eli/etat/leg/loi/2004/11/12/n1/jo#art_2-1", ["L2-1"]),
    ("http://data.legilux.public.lu/eli/etat/leg/loi/2004/11/12/n1/art_2-1/para_1", ["L2-1"]),
    ("https://fedlex.data.admin.ch/eli/cc/27/317_321_377#art_1_a", ["K1a"]),
    ("https://www.fedlex.admin.ch/eli/cc/27/317_321_377/de#art_1_a/para_1", ["K1a"]),
    ("#renamed", ["5"]),  # by a name that the metadata give
    ("", []),
    ("#", []),
    ("mailto:x", []),
]  # fmt: skip


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], list[str]]:
    """Return what finds the articles that an address leads to, from an act beside four others."""
    folder = tmp_path_factory.mktemp("library")
    places = [
        ("/akn/gb/x", "http://www.legislation.gov.uk/id/ukpga/1998/29", "section-7 section-7A", "s"),
        ("", "http://data.legilux.public.lu/eli/etat/leg/loi/2004/11/12/n1/jo", "art_2-1 art_2", "L"),
        ("", "https://fedlex.data.admin.ch/eli/cc/27/317_321_377", "art_1_a art_1", "K"),
    ]
    for _, work, ids, sign in places:
        body = "".join(
            f"<article eId='{i}'><num>{sign}{re.sub('^[a-z]+[_-]', '', i).replace('_', '')}</num>"
            f"<content><p>x</p></content></article>"
            for i in ids.split()
        )
        put(folder, act(body, meta=identified(work).replace("/!main", "")), f"{sign}.xml")
    german = identified("eli/bund/bgbl-1/2021/s9").replace("/!main", "/regelungstext-verkuendung-1")
    body = "<article eId='art-z2'><num>§ 2</num><content><p>x</p></content></article>"
    put(folder, act(body, meta=german), "g.xml")

    def find(address: str) -> list[str]:
        names = (
            "<references source='#us'><TLCReference eId='renamed' name='x' href='#art_5'"
            " showAs=''/></references>"
        )
        nested = (
            "<article eId='art_6'><num>Art. 6</num><content><p>x <span eId='nested'>y</span>"
            "</p></content></article>"
        )
        own = "".join(article(n, "x", f"art_{n}") for n in ("5", "5-bis", "5-1")) + nested
        last = article("9", f'<ref href="{address}">x</ref>', "art_9")
        body = f"<chapter eId='chp_1'>{own}</chapter>{last}"
        put(folder, act(body, meta=identified(WORK, more=names)), "own.xml")
        corpus, _ = load("akoma-ntoso", folder)
        by = {each.id: each for each in corpus.articles}
        [asking] = [each for each in corpus.articles if each.article_no == "9"]
        unresolved = corpus.extras[asking.id].get("unresolved_references", [])
        assert unresolved == ([address] if address and not asking.references else [])
        return [("§" if "bund" in each else "") + by[each].article_no for each in asking.references]

    return find


@pytest.mark.parametrize(("address", "leads_to"), REFERENCES)
def test_references_however_they_are_spelt(
    library: Callable[[str], list[str]], address: str, leads_to: list[str]
) -> None:
    assert library(address) == leads_to


def test_numbers_are_found_where_ids_count_anew(tmp_path: Path) -> None:
    body = "".join(
        f"<chapter eId='chp_{c}'>{article(n, 'x', f'chp_{c}__art_{i}')}</chapter>"
        for c, i, n in ((1, 1, "3"), (2, 1, "1"))
    )
    asks = "".join(f'<ref href="{h}">x</ref>' for h in (f"{WORK}~art1", "#chp_1__art_1", f"{WORK}#art_2"))
    found = read(tmp_path, act(body + article("9", asks, "art_9")))
    numbers_of = {each.id: each.article_no for each in found}
    assert [numbers_of[each] for each in found[-1].references] == ["1", "3"]


def test_ranges_and_lists(tmp_path: Path) -> None:
    body = "".join(article(str(n), "x", f"art_{n}") for n in range(1, 6))
    asks = (
        '<rref from="#art_2" upTo="#art_4__para_1">x</rref> '
        '<mref>articoli <ref href="#art_1">1</ref> e <ref href="#art_5">5</ref></mref>'
        '<rref from="/akn/fr/act/1/2~art_1" upTo="/akn/fr/act/1/2~art_3">y</rref>'
    )
    corpus, report = load("akoma-ntoso", put(tmp_path, act(body + article("9", asks, "art_9"))))
    assert [each.rpartition("_")[2] for each in corpus.articles[-1].references] == ["2", "3", "4", "1", "5"]
    kept = corpus.extras[corpus.articles[-1].id]["unresolved_references"]
    assert kept == ["/akn/fr/act/1/2~art_1 - /akn/fr/act/1/2~art_3"]
    assert numbers("\n".join(report.notes), "references in articles") == [4, 3, 0, 1]


# --- property tests ---

LEVELS = ("book", "part", "title", "chapter", "section", "subsection", "hcontainer", "level", "division")
words = st.integers(0, 10**6).map(lambda n: f"parola{n}")


@st.composite
def trees(draw: st.DrawFn, depth: int = 4) -> tuple[str, list[str]]:
    """Draw levels that nest anyhow, and the words of the articles in them, in order."""
    parts, texts = [], []
    for _ in range(draw(st.integers(1, 3))):
        if depth and draw(st.booleans()):
            tag = draw(st.sampled_from(LEVELS))
            inside, below = draw(trees(depth=depth - 1))
            parts.append(f"<{tag}><num>{tag} I</num><heading>Titolo</heading>{inside}</{tag}>")
            texts += below
        else:
            text = draw(words)
            parts.append(article(str(len(text)), text))
            texts.append(text)
    return "".join(parts), texts


@given(trees())
@settings(max_examples=60)
def test_any_nesting_gives_each_text_once(tree: tuple[str, list[str]]) -> None:
    body, texts = tree
    found = [unit for document in documents(root_of(act(body).encode()), "x") for unit in document.units]
    assert [unit.text for unit in found] == [f"1. {text}" for text in texts]
    assert all(heading.endswith(" I - Titolo") for unit in found for heading in unit.headings)


@given(trees(), st.sampled_from(NAMESPACES), st.sampled_from(["", "akn", "an", "x-1"]))
@settings(max_examples=40)
def test_prefix_and_namespace_change_nothing(
    tree: tuple[str, list[str]], namespace: str, prefix: str
) -> None:
    plain = act(tree[0])
    other = plain.replace(OASIS, namespace)
    if prefix:
        other = re.sub(r"<(/?)(?=[a-zA-Z])", rf"<\1{prefix}:", other).replace("xmlns=", f"xmlns:{prefix}=")

    def units(text: str) -> list[Unit]:
        return [unit for document in documents(root_of(text.encode()), "x") for unit in document.units]

    assert units(other) == units(plain)


@given(st.lists(words, min_size=1, max_size=5), st.sampled_from(["utf-8", "utf-16", "iso-8859-1"]))
def test_encodings(texts: list[str], encoding: str) -> None:
    body = "".join(article(str(n), f"è {text}") for n, text in enumerate(texts))
    content = act(body).replace("UTF-8", encoding).encode(encoding)
    [document] = documents(root_of(content), "x")
    assert [unit.text for unit in document.units] == [f"1. è {text}" for text in texts]


# --- attacks and damage ---


def declared(entities: str, used: str) -> str:
    return act(article("1", f"Pane {used}.")).replace(
        "<akomaNtoso", f"<!DOCTYPE akomaNtoso [{entities}]><akomaNtoso", 1
    )


LAUGHS = "<!ENTITY e0 'boom'>" + "".join(f"<!ENTITY e{n} '" + f"&e{n - 1};" * 20 + "'>" for n in range(1, 9))
ATTACKS = {
    "billion laughs": (declared(LAUGHS, "&e8;"), r"declares entities|not XML"),
    "billion laughs in an attribute": (
        declared(LAUGHS, "<ref href='&e8;'>x</ref>"),
        r"declares entities|not XML",
    ),
    "external entity": (declared('<!ENTITY x SYSTEM "file:///etc/hostname">', "&x;"), "declares entities"),
    "external parameter entity": (
        declared('<!ENTITY % x SYSTEM "http://localhost:1/x.dtd"> %x;', ""),
        r"declares entities|not XML",
    ),
    "undeclared entity": (act(article("1", "Pane &nope;")), "not XML"),
    "truncated": (act(article("1", "Pane."))[:-60], "broken off"),
    "truncated in a tag": (act(article("1", "Pane."))[:600], "broken off"),
    "not XML": ("Legge sul pane", "not XML"),
    "empty": ("", "not XML"),
    "deep": (
        act("<chapter>" * 250 + article("1", "x") + "</chapter>" * 250),
        r"nest more than"
        " 200|not XML",
    ),
    "very deep": ("<akomaNtoso>" + "<a>" * 100_000, "not XML"),
    "a control character": (act(article("1", "Pane \x01")), "not XML"),
}


@pytest.mark.parametrize("attack", ATTACKS)
def test_attacks_and_damage_are_named(tmp_path: Path, attack: str) -> None:
    text, problem = ATTACKS[attack]
    folder = tmp_path / "law"
    path = put(folder, text, "bad.xml")
    with pytest.raises(BadInput, match=rf"bad\.xml:\d+: .*({problem}).*--lenient"):
        load("akoma-ntoso", path)
    put(folder, act(article("1", "Pane.")), "good.xml")
    corpus, report = load("akoma-ntoso", folder, lenient=True)
    assert ([a.text for a in corpus.articles], report.skipped[0].count) == (["1. Pane."], 1)


LONG = {
    "number": f"<article><num>{'1' * 50_000}</num><content><p>Pane.</p></content></article>",
    "id": f"<article eId='art_{'1' * 60_000}_'><num>(1)</num><content><p>Pane.</p></content></article>",
    "address": article("1", f"Pane.<ref href='/akn/{'a/' * 20_000}x#art_1'/>", "art_1"),
    "place": article("1", f"Pane.<ref href='#{'a_' * 20_000}x'/>", "art_1"),
    "range": article("1", f"Pane.<rref from='/akn/{'a/' * 20_000}x#art_1' upTo='#art_1'/>", "art_1"),
}


@pytest.mark.slow
@pytest.mark.parametrize("what", LONG)
def test_what_is_long_beyond_sense_costs_no_time(tmp_path: Path, what: str) -> None:
    began = time.process_time()
    [found] = read(tmp_path, act(LONG[what]))
    assert found.text.endswith("Pane.")
    assert time.process_time() - began < 10  # a square of the length takes minutes


def test_an_address_that_is_too_long_leads_nowhere() -> None:
    law = documents(root_of(act(article("5", "Pane.", "art_5")).encode()), "a")
    resolver, long = Resolver(law, [0]), f"{WORK}/{'a/' * 2000}x#art_5"
    assert resolver.find([f"{WORK}/!main#art_5"], 0) == [(0, 0)]
    assert (resolver.find([long], 0), resolver.document(long, 0), numbered(long)) == (None, None, "")


def test_a_harmless_doctype(tmp_path: Path) -> None:
    text = act(article("1", "Pane.")).replace(
        "<akomaNtoso", '<!DOCTYPE akomaNtoso SYSTEM "http://localhost:1/akn.dtd"><akomaNtoso', 1
    )
    assert len(read(tmp_path, text)) == 1  # the DTD is not fetched


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    path = put(tmp_path, act(article("1", "Pane.")), "huge.xml")
    os.truncate(path, 500_000_000)  # sparse
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(BadInput, match=r"huge\.xml:1: larger than 64 MB.*max_mb"):
        load("akoma-ntoso", path)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000  # kilobytes


def test_a_link_that_leads_nowhere_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "law"
    put(folder, act(article("1", "Pane.")), "good.xml")
    (folder / "a.xml").symlink_to("nowhere.xml")
    assert recognise(folder) == "akoma-ntoso"
    with pytest.raises(
        BadInput, match=r"a\.xml:1: cannot be read \(No such file.*that you may read.*--lenient"
    ):
        load("akoma-ntoso", folder)
    corpus, report = load("akoma-ntoso", folder, lenient=True)
    [skipped] = report.skipped
    assert ([a.text for a in corpus.articles], skipped.count) == (["1. Pane."], 1)
    assert (skipped.reason, skipped.first) == (SkipReason.UNREADABLE, f"{folder / 'a.xml'}:1")


def test_the_limit_of_size(tmp_path: Path) -> None:
    text = act(article("1", "Pane. " * 1000))
    path = put(tmp_path, text)
    with pytest.raises(BadInput, match=r"larger than 0\.005 MB"):
        load("akoma-ntoso", path, max_mb="0.005")
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED) as packed:
        packed.write(path, "a.xml")
    with pytest.raises(BadInput, match=r"a\.zip/a\.xml:1: larger than 0\.005 MB"):
        load("akoma-ntoso", tmp_path / "a.zip", max_mb="0.005")
    assert len(load("akoma-ntoso", path, max_mb="0.1")[0].articles) == 1
    for typed in ("0", "-1", "much", "nan"):
        with pytest.raises(BadInput, match="max_mb is"):
            load("akoma-ntoso", path, max_mb=typed)


def test_without_lxml(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = put(tmp_path, act(article("1", "Pane.")))
    monkeypatch.setitem(sys.modules, "lxml", None)
    with pytest.raises(MissingExtra, match=r"pip install '\.\[law\]'"):
        load("akoma-ntoso", path)
    with pytest.raises(BadInput, match="no such file or folder"):
        load("akoma-ntoso", tmp_path / "nowhere")


def test_files_that_hold_no_law(tmp_path: Path) -> None:
    put(tmp_path / "law", "<html/>", "page.xml")
    put(
        tmp_path / "law",
        f'<akomaNtoso xmlns="{OASIS}"><judgment><judgmentBody/></judgment></akomaNtoso>',
        "j.xml",
    )
    with pytest.raises(BadInput, match=r"no act in Akoma Ntoso in it \(other XML: .*j\.xml"):
        load("akoma-ntoso", tmp_path / "law")
    put(tmp_path / "law", act(article("1", "Pane.") + "<article><num>2</num></article>"), "a.xml")
    corpus, report = load("akoma-ntoso", tmp_path / "law")
    assert len(corpus.articles) == 1
    told = "\n".join(report.notes)
    assert "XML files passed over that hold no law: 2" in told
    assert "articles without any text, left out: 1" in told
    put(tmp_path / "law", act(article("1", "Pane.") + "<article><num>2</num></article>"), "b.xml")
    twice, report = load("akoma-ntoso", tmp_path / "law")
    assert twice.articles == corpus.articles
    assert "files passed over that are the same as another: 1" in report.notes


# --- folders, archives, languages, versions ---


@dataclass
class Told:
    """A `Progress` that remembers, and may end the import."""

    calls: list[tuple[str, int, int | None]] = field(default_factory=list)
    end_at: int | None = None

    def __call__(self, what: str, done: int, total: int | None) -> None:
        self.calls.append((what, done, total))
        if len(self.calls) == self.end_at:
            raise KeyboardInterrupt


def law(folder: Path, count: int = 5, changed: int | None = None) -> Path:
    for n in range(count):
        work = f"/akn/it/act/legge/stato/2001-01-01/{n}"
        text = (
            "Sale nuovo."
            if n == changed
            else f"Pane {n}. Vedi <ref href='/akn/it/act/legge/2001-01-01/{(n + 1) % count}#art_1'>x</ref>."
        )
        put(folder, act(article("1", text, "art_1"), meta=identified(work)), f"{n % 2}/{n}.xml")
    return folder


def read_now(report: ImportReport) -> tuple[int, int]:
    [_, parsed, known] = numbers("\n".join(report.notes), "files of acts")
    return parsed, known


def test_a_folder_and_the_archive_of_it_are_one_corpus(tmp_path: Path) -> None:
    folder = law(tmp_path / "law")
    put(folder, "not XML", "README.txt")
    told = Told()
    corpus, report = load("akoma-ntoso", folder, progress=told)
    assert [a.id for a in corpus.articles] == [
        f"it/act/legge/stato/2001-01-01/{n}#art_1" for n in (0, 2, 4, 1, 3)
    ]
    assert corpus.articles[0].references == ("it/act/legge/stato/2001-01-01/1#art_1",)
    assert [what for what, _, _ in told.calls] == ["reading"] * 5
    assert told.calls[-1][1] == told.calls[-1][2]
    assert read_now(report) == (5, 0)
    archive = tmp_path / "law.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        for file in sorted(folder.rglob("*.*"), reverse=True):
            packed.write(file, file.relative_to(folder))
    assert (recognise(folder), recognise(archive)) == ("akoma-ntoso", "akoma-ntoso")
    assert bring(str(archive)) == (archive, "akoma-ntoso", None)  # not unpacked
    again, report = load("akoma-ntoso", archive, name="law")
    assert again.sha256 == corpus.sha256
    assert read_now(report) == (0, 5)


@pytest.mark.slow
def test_a_large_act_in_an_archive(tmp_path: Path) -> None:
    text = act("".join(article(str(n), "Pane e sale. " * 100, f"art_{n}") for n in range(2000)))
    assert len(text) > 2 * 2**20  # more than a piece of an archive
    archive = tmp_path / "law.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_STORED) as packed:
        packed.writestr("a.xml", text)
    assert load("akoma-ntoso", archive)[0].articles == read(tmp_path, text)


def test_recognition(tmp_path: Path) -> None:
    text = act(article("1", "Pane."))
    assert recognise(put(tmp_path, text, "a/data.akn")) == "akoma-ntoso"
    wide = tmp_path / "wide.xml"
    wide.write_bytes(text.replace("UTF-8", "UTF-16").encode("utf-16"))
    assert recognise(wide) == "akoma-ntoso"
    for name, other in (("b.xml", "<html>akomaNtoso</html>"), ("c.txt", text), ("d/e.json", "{}")):
        assert recognise(put(tmp_path, other, name)) is None
    assert recognise(tmp_path / "d") is None
    assert recognise(tmp_path / "nowhere.xml") is None


def test_an_import_that_was_stopped_goes_on(tmp_path: Path) -> None:
    folder = law(tmp_path / "law")
    with pytest.raises(KeyboardInterrupt):
        load("akoma-ntoso", folder, progress=Told(end_at=3))
    corpus, report = load("akoma-ntoso", folder)
    parsed, known = read_now(report)
    assert parsed + known == 5
    assert known >= 2
    fresh, report = load("akoma-ntoso", folder, name="other")
    assert read_now(report) == (5, 0)
    assert fresh.sha256 == corpus.sha256


KILLED = """
import os, signal, sys
from pathlib import Path
from indexes.sources.registry import load
calls = []
def progress(what, done, total):
    calls.append(what)
    if len(calls) == 4:
        os.kill(os.getpid(), signal.SIGKILL)
load("akoma-ntoso", Path(sys.argv[1]), progress=progress)
"""


@pytest.mark.slow
def test_an_import_that_was_killed_goes_on(tmp_path: Path) -> None:
    folder = law(tmp_path / "law")
    done = subprocess.run([sys.executable, "-c", KILLED, str(folder)], capture_output=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr
    corpus, report = load("akoma-ntoso", folder)
    parsed, known = read_now(report)
    assert (parsed + known, known >= 3) == (5, True)
    assert corpus.sha256 == load("akoma-ntoso", folder, name="other")[0].sha256


def test_changed_acts_are_read_alone(tmp_path: Path) -> None:
    folder = law(tmp_path / "law")
    before, _ = load("akoma-ntoso", folder)
    law(folder, changed=3)
    after, report = load("akoma-ntoso", folder)
    assert read_now(report) == (1, 4)
    differ = [new.id for old, new in zip(before.articles, after.articles, strict=True) if old != new]
    assert differ == ["it/act/legge/stato/2001-01-01/3#art_1"]
    kept = tmp_path / "home" / "downloads" / "akoma-ntoso" / "law"
    assert len(list(kept.iterdir())) == 5  # nothing of the former state
    damaged = next(kept.iterdir())
    damaged.write_bytes(b"torn")
    again, report = load("akoma-ntoso", folder)
    assert (again.sha256, read_now(report)) == (after.sha256, (1, 4))


def test_languages(tmp_path: Path) -> None:
    folder = tmp_path / "law"
    for language, text in (("deu", "Brot."), ("fra", "Pain."), ("en", "Bread.")):
        meta = identified("https://fedlex.data.admin.ch/eli/cc/1/2", language=language, country="ch")
        put(folder, act(article("1", text, "art_1"), meta=meta.replace("/!main", "")), f"{language}.xml")
    with pytest.raises(
        BadInput, match=r"acts in de \(1\), en \(1\), fr \(1\), and a corpus has one.*--language"
    ):
        load("akoma-ntoso", folder)
    with pytest.raises(BadInput, match=r"no act in 'it'; there are acts in de \(1\)"):
        load("akoma-ntoso", folder, language="it")
    corpus, _ = load("akoma-ntoso", folder, language="fr")
    [found] = corpus.articles
    assert (found.text, found.id, found.jurisdiction) == ("1. Pain.", "eli/cc/1/2#art_1", "CH")
    assert found.url == "https://www.fedlex.admin.ch/eli/cc/1/2/fr#art_1"
    nameless = act(article("1", "x"), meta="")
    with pytest.raises(BadInput, match="the language of a is not known"):
        load("akoma-ntoso", put(tmp_path, nameless))
    assert load("akoma-ntoso", put(tmp_path, nameless), language="nl")[0].articles[0].id == "a#art_1"


def test_versions_of_an_act(tmp_path: Path) -> None:
    folder = tmp_path / "law"
    for day, text in (("2015-01-01", "vecchio"), ("2020-01-01", "nuovo")):
        put(folder, act(article("1", text, "art_1"), meta=identified(WORK, day=day)), f"{day}.xml")
    latest, report = load("akoma-ntoso", folder)
    assert [(a.id, a.text) for a in latest.articles] == [
        ("it/act/legge/stato/2001-01-01/7#art_1", "1. nuovo")
    ]
    assert "acts left out, in other languages or earlier versions: 1" in report.notes
    every, _ = load("akoma-ntoso", folder, versions="all")
    dates = [(a.text, a.valid_from, a.valid_to) for a in every.articles]
    assert dates == [("1. vecchio", date(2015, 1, 1), date(2020, 1, 1)), ("1. nuovo", date(2020, 1, 1), None)]
    assert len({a.id for a in every.articles}) == 2
    asks = act(
        article("1", f"<ref href='{WORK}#art_1'>x</ref>"),
        meta=identified("/akn/it/act/legge/stato/2021-01-01/8"),
    )
    put(folder, asks, "new.xml")
    every, _ = load("akoma-ntoso", folder, versions="all")
    assert every.articles[-1].references == (every.articles[1].id,)  # the latest
    with pytest.raises(BadInput, match="versions is 'some'"):
        load("akoma-ntoso", folder, versions="some")


def test_acts_without_an_address_are_known_by_their_path(tmp_path: Path) -> None:
    folder = tmp_path / "law"
    names = ("a.akn", "a.xml", "a/main.xml", "akn/a.xml", "b/main.xml", "main.xml")
    for name in names:
        put(folder, act(article("1", f"In {name}.", "art_1") + article("2", "x"), meta=""), name)
    corpus, report = load("akoma-ntoso", folder, language="it")
    works = ("a.akn", "a", "a/main", "akn/a", "b/main", "main")
    expected = {f"{work}#art_1": f"1. In {name}." for work, name in zip(works, names, strict=True)}
    assert {a.id: a.text for a in corpus.articles if a.article_no == "1"} == expected
    assert len({a.code for a in corpus.articles}) == len(names)
    assert not any(line.startswith("acts left out") for line in report.notes)
    archive = tmp_path / "law.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        for name in reversed(names):
            packed.write(folder / name, name)
    packed_corpus, report = load("akoma-ntoso", archive, language="it", name="law")
    assert packed_corpus.sha256 == corpus.sha256
    assert read_now(report) == (0, len(names))
    for name in names[2:]:  # what is beside an act does not change how it is known
        (folder / name).unlink()
    fewer, _ = load("akoma-ntoso", folder, language="it")
    assert {a.id for a in fewer.articles} == {"a.akn#art_1", "a.akn#art_2", "a#art_1", "a#art_2"}


def test_a_name_that_is_no_text(tmp_path: Path) -> None:
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/l\xe8gge.xml"))
    path.write_text(act(article("1", "Pane."), meta=""), encoding="utf-8")
    corpus, _ = load("akoma-ntoso", path, language="it", name="pane")
    assert corpus.articles[0].id == "l?gge#art_1"
    assert len(corpus.sha256) == 64


def test_ids_are_unique_and_stay(tmp_path: Path) -> None:
    body = article("1", "a", "art_1") + article("1", "b", "art_1") + article("2", "c") + article("2", "d")
    first = read(tmp_path, act(body))
    assert [a.id.partition("#")[2] for a in first] == ["art_1", "art_1;2", "art_2", "art_2;2"]
    more = read(tmp_path, act(body + article("3", "e")))
    assert [a.id for a in more][:4] == [a.id for a in first]


# --- from the command line ---


def run(*arguments: str) -> None:
    assert main(list(arguments)) == 0


def test_from_the_files_to_the_answer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = law(tmp_path / "law")
    run("import", str(folder), "--from", "akoma-ntoso", "--name", "pane", "--build", "--encoder", "none")
    out = capsys.readouterr().out
    assert "pane: read as akoma-ntoso" in out
    assert "references in articles: 5; to articles here 5" in out
    assert "files of acts: 5; read now 5" in out
    shown = indexes.open("pane").ask("pane 3").shown
    assert shown[0].article.id == "it/act/legge/stato/2001-01-01/3#art_1"
    law(folder, changed=3)
    run("update", "pane", str(folder))
    out = capsys.readouterr().out
    assert "read now 1, known from an earlier import 4" in out
    assert (
        indexes.open("pane").ask("sale nuovo").shown[0].article.id == "it/act/legge/stato/2001-01-01/3#art_1"
    )


@pytest.mark.slow
@pytest.mark.data
def test_theft_in_a_dwelling_is_found(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = data / "akn" / "it_codice_penale.xml"
    run("import", str(file), "--name", "penale", "--build", "--encoder", "none")
    capsys.readouterr()
    found = [s.article.article_no for s in indexes.open("penale").ask("furto in abitazione", k=20).shown]
    # The file is older than article 624-bis. 625 has the dwelling and, following on 624, not the word theft.
    assert found[0] == "624"
    assert "625" in found


@pytest.mark.parametrize(
    ("address", "document", "number"),
    [
        ("#art_5-com2", 0, "5"),
        ("/akn/it/act/legge/stato/2001-01-01/7/!main#art_5-bis", 0, "5bis"),
        ("/akn/it/act/legge/stato/2001/7", 0, ""),
        ("/akn/it/act/legge/stato/2001/70/!main#art_3", None, "3"),
        ("http://www.legislation.gov.uk/id/ukpga/2000/36/section/18/4", None, "18"),
        ("http://www.legislation.gov.uk/id/ukpga/2000/36/part/2", None, ""),
    ],
)
def test_the_act_and_the_article_that_an_address_names(
    address: str, document: int | None, number: str
) -> None:
    law = documents(root_of(act(article("5", "Pane.", "art_5")).encode()), "a")
    assert Resolver(law, [0]).document(address, 0) == document
    assert numbered(address) == number
