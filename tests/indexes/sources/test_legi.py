"""LEGI's XML, in small: states, dates, titles, text; loose, in folders and in the archive."""

from __future__ import annotations

import tarfile
import zipfile
from datetime import date
from pathlib import Path

import pytest

import indexes
from indexes.build.build import build
from indexes.corpus.corpus import write
from indexes.sources.registry import detect, load
from indexes.store.versions import new_corpus
from rag.errors import BadInput, MissingExtra
from rag.types import Filter
from tests.fakes.law.corpus import NONE

pytest.importorskip("lxml")
ONE = "LEGIARTI000000000001"


def article(
    id_: str = ONE,
    number: str = "L12-3",
    state: str = "VIGUEUR",
    text: str = "<p>Le four est chaud.</p>",
    end: str = "2999-01-01",
) -> str:
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<ARTICLE>
<META><META_COMMUN><ID>{id_}</ID><NATURE>Article</NATURE></META_COMMUN>
<META_SPEC><META_ARTICLE><NUM>{number}</NUM><ETAT>{state}</ETAT>
<DATE_DEBUT>2020-02-01</DATE_DEBUT><DATE_FIN>{end}</DATE_FIN><TYPE>AUTONOME</TYPE></META_ARTICLE></META_SPEC></META>
<CONTEXTE><TEXTE cid="LEGITEXT000000000009" nature="CODE">
<TITRE_TXT c_titre_court="Code du four" debut="1990-01-01" fin="2010-01-01"
 id_txt="LEGITEXT000000000009">Code du four ancien</TITRE_TXT>
<TITRE_TXT c_titre_court="Code du four" debut="2010-01-01" fin="2999-01-01"
 id_txt="LEGITEXT000000000009">Code du
 four</TITRE_TXT>
<TM><TITRE_TM debut="1990-01-01" fin="2005-01-01" id="LEGISCTA1">Partie ancienne</TITRE_TM>
<TITRE_TM debut="2005-01-01" fin="2999-01-01" id="LEGISCTA2">Partie législative</TITRE_TM>
<TM><TITRE_TM debut="2005-01-01" fin="2999-01-01" id="LEGISCTA3">Livre Ier : Du feu</TITRE_TM></TM></TM>
</TEXTE></CONTEXTE>
<VERSIONS><VERSION etat="{state}"><LIEN_ART debut="2020-02-01" etat="{state}" fin="{end}" id="{id_}"
 num="{number}" origine="LEGI"/></VERSION></VERSIONS>
<NOTA><CONTENU/></NOTA>
<BLOC_TEXTUEL><CONTENU>{text}</CONTENU></BLOC_TEXTUEL>
<LIENS><LIEN id="LEGIARTI000000000007" sens="source" typelien="CITATION">art. 7</LIEN>
<LIEN id="LEGIARTI000000000008" sens="cible" typelien="CITATION">art. 8 cite celui-ci</LIEN>
<LIEN id="JORFTEXT000000000001" sens="source" typelien="MODIFIE">une loi</LIEN></LIENS>
</ARTICLE>
"""


def put(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_one_article(tmp_path: Path) -> None:
    text = (
        "<br/>Le  four :<br/><br/>1° <em>est</em> chaud ;<!-- non -->\n<p>2° <a href='x'>fume</a>.</p>"
        "<table><tr><td>a</td><td>b</td></tr></table>"
    )
    corpus, _ = load("legi", put(tmp_path, "a.xml", article(text=text)))
    [found] = corpus.articles
    assert (found.id, found.code, found.article_no) == (ONE, "Code du four", "L12-3")
    assert found.headings == ("Partie législative", "Livre Ier : Du feu")
    assert found.text == "Le four :\n1° est chaud ;\n2° fume.\na b"
    assert (found.valid_from, found.valid_to) == (date(2020, 2, 1), None)
    assert found.references == ("LEGIARTI000000000007",)
    assert found.url == f"https://www.legifrance.gouv.fr/codes/article_lc/{ONE}"
    assert corpus.extras == {ONE: {"state": "VIGUEUR", "kind": "CODE"}}


@pytest.fixture
def bulk(tmp_path: Path) -> Path:
    """A folder named as the download unpacks, with what else lies in it."""
    folder = tmp_path / "LEGI"
    put(folder, "b/ARTI/2.xml", article("LEGIARTI000000000002", "2", "VIGUEUR_DIFF"))
    put(folder, "b/ARTI/1.xml", article(ONE, "1", "ABROGE", end="2021-01-01"))
    put(folder, "a/ARTI/3.xml", article("LEGIARTI000000000003", "3"))
    put(
        folder, "a/section_ta/S.xml", "<SECTION_TA><ID>LEGISCTA2</ID><TITRE_TA>Partie</TITRE_TA></SECTION_TA>"
    )
    put(folder, "a/README.txt", "not XML")
    return folder


def test_a_folder_and_the_archive_of_it(bulk: Path, tmp_path: Path) -> None:
    assert detect(bulk) == "legi"
    loose, _ = load("legi", bulk)
    assert [a.article_no for a in loose.articles] == [
        "3",
        "2",
    ]  # in the order of the paths; repealed ones not
    archive = tmp_path / "Freemium_legi_global_20260101-000000.tar.gz"
    with tarfile.open(archive, "w:gz") as packed:
        packed.add(bulk, "legi")
    assert detect(archive) == "legi"
    from_archive, _ = load("legi", archive)
    assert {a.id: a for a in from_archive.articles} == {a.id: a for a in loose.articles}


def test_states_and_codes(bulk: Path) -> None:
    every, _ = load("legi", bulk, states="all")
    assert {(a.article_no, a.valid_to) for a in every.articles} == {
        ("1", date(2021, 1, 1)),
        ("2", None),
        ("3", None),
    }
    for codes in ("Code du four", "LEGITEXT000000000009; other"):
        assert len(load("legi", bulk, codes=codes)[0].articles) == 2
    with pytest.raises(BadInput, match="no articles in it"):
        load("legi", bulk, codes="Code du pain")


def test_an_article_without_text(bulk: Path) -> None:
    path = put(bulk, "c/4.xml", article("LEGIARTI000000000004", text=" <br/> "))
    with pytest.raises(BadInput, match=rf"{path.name}:\d+: the text is empty.*--lenient"):
        load("legi", bulk)
    corpus, report = load("legi", bulk, lenient=True)
    assert (len(corpus.articles), report.skipped[0].count) == (2, 1)


@pytest.mark.parametrize(
    "text",
    [
        article()[:700],
        "no XML",
        "",
        article().replace("</META>", "</METAL>"),
        article().replace("chaud", "\x01"),
    ],
)
def test_files_that_are_not_xml(bulk: Path, text: str) -> None:
    put(bulk, "b/broken.xml", text)
    with pytest.raises(BadInput, match=r"broken\.xml:\d+: not XML .*Fetch the file again"):
        load("legi", bulk)
    corpus, report = load("legi", bulk, lenient=True)
    assert [a.article_no for a in corpus.articles] == ["3", "2"]
    assert report.skipped[0].count == 1


def test_a_comment_before_the_article(tmp_path: Path) -> None:
    text = article().replace("<ARTICLE>", "<!-- made by hand --><?note x?><ARTICLE>")
    assert len(load("legi", put(tmp_path, "a.xml", text))[0].articles) == 1


def test_many_articles_in_one_file(tmp_path: Path) -> None:
    parts = [article(f"LEGIARTI{i}", str(i)).partition("?>")[2] for i in range(3)]
    corpus, _ = load("legi", put(tmp_path, "a.xml", f"<LOI><!-- x -->{''.join(parts)}</LOI>"))
    assert [(a.article_no, len(a.headings)) for a in corpus.articles] == [("0", 2), ("1", 2), ("2", 2)]


def with_entities(entities: str, used: str) -> str:
    text = article(text=f"<p>Le four {used}.</p>")
    return text.replace("<ARTICLE>", f"<!DOCTYPE ARTICLE [{entities}]><ARTICLE>")


def test_entities_are_left_alone(tmp_path: Path) -> None:
    secret = put(tmp_path, "secret", "the secret")
    text = with_entities(f'<!ENTITY x SYSTEM "{secret.as_uri()}">', "&x;")
    corpus, _ = load("legi", put(tmp_path, "a.xml", text))
    assert corpus.articles[0].text == "Le four ."


def test_entities_that_grow_are_refused(tmp_path: Path) -> None:
    bomb = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 20 if n else "boom"}">' for n in range(9))
    with pytest.raises(BadInput, match="not XML"):
        load("legi", put(tmp_path, "a.xml", with_entities(bomb, "&e8;")))


def test_without_lxml(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "lxml", None)
    with pytest.raises(MissingExtra, match=r"pip install '\.\[law\]'"):
        load("legi", put(tmp_path, "a.xml", article()))
    with pytest.raises(BadInput, match="no such file or folder"):
        load("legi", tmp_path / "nowhere")


def test_a_version_stands_under_the_titles_of_its_own_time(tmp_path: Path) -> None:
    old = article("LEGIARTI000000000002", "1", "MODIFIE", end="2004-12-31").replace(
        "<DATE_DEBUT>2020-02-01", "<DATE_DEBUT>1990-01-01"
    )
    put(tmp_path, "LEGI/1.xml", old)
    put(tmp_path, "LEGI/2.xml", article(ONE, "1"))
    corpus, _ = load("legi", tmp_path / "LEGI", states="all")
    before, now = corpus.articles
    assert (before.headings[0], now.headings[0]) == ("Partie ancienne", "Partie législative")
    assert before.code == now.code == "Code du four"  # one code, whatever it was called then


def test_an_archive_whose_data_is_damaged(tmp_path: Path) -> None:
    path = tmp_path / "Freemium_legi_global.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("a.xml", article(text="<p>Le four</p>" * 500))
    content = bytearray(path.read_bytes())
    content[60:64] = b"\xff\xff\xff\xff"  # inside the packed data, after its header
    path.write_bytes(content)
    with pytest.raises(BadInput, match=r"Freemium_legi_global\.zip: damaged, .*Fetch it again"):
        load("legi", path)


def test_the_version_in_force_on_a_day_from_the_files_to_the_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PANDECT_HOME", str(tmp_path / "home"))
    new = article("LEGIARTI000000000002", "1", text="<p>Le four se chauffe le mardi.</p>")
    old = article(ONE, "1", "MODIFIE", "<p>Le four se chauffe le lundi.</p>", end="2020-02-01").replace(
        "<DATE_DEBUT>2020-02-01", "<DATE_DEBUT>1990-01-01"
    )
    put(tmp_path, "LEGI/1.xml", old)
    put(tmp_path, "LEGI/2.xml", new)
    corpus, _ = load("legi", tmp_path / "LEGI", states="all")
    with new_corpus("legi", replace=False) as place:
        write(corpus, place)
    build(corpus, "legi", NONE)
    engine = indexes.open("legi")
    assert engine.facets().dated
    for day, id_ in ((date(2010, 1, 1), ONE), (date(2020, 2, 1), "LEGIARTI000000000002")):
        for question in ("quand se chauffe le four ?", "article 1 du code du four"):
            shown = engine.ask(question, where=Filter(in_force_on=day)).shown
            assert [s.article.id for s in shown] == [id_]
    assert len(engine.ask("quand se chauffe le four ?").shown) == 1  # two versions, one article
