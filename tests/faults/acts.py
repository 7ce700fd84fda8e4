"""Acts in XML that are damaged, and their import."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from random import Random
from typing import Literal, TypeAlias

from indexes.sources.registry import load
from rag.errors import BadInput
from tests.fakes.law.damage import Plan, damaged
from tests.indexes.sources.test_akoma_ntoso import act, article, identified
from tests.indexes.sources.test_fuzz import check_corpus
from tests.indexes.sources.test_gesetze_im_internet import ACT as GII_ACT
from tests.paths import SHARED

Case: TypeAlias = tuple[str, Callable[[], dict[str, int]]]  # kind; what to do, which tells what came

IMPORTERS = ("akoma-ntoso", "gesetze-im-internet")
LARGEST = 400_000  # bytes of an act that is damaged, so that many are

_STYLES = (
    act(
        article("1", "Pane <ref href='#art_2'>articolo 2</ref>.", "art_1", "Pane")
        + article("2", "<ref href='/akn/it/act/legge/stato/2001-01-01/7#art_1-com1'>art. 1</ref>", "art_2")
    ),
    act(
        "<book><num>I</num><heading>Libro</heading><title><num>II</num><chapter><section>"
        "<article eId='art_5-bis'>"
        "<num>Art. 5-bis</num><list><intro><p>a:</p></intro><point><num>a)</num><content><p>x</p>"
        "</content></point>"
        "</list></article></section></chapter></title></book>"
        "<hcontainer name='article'><num>6</num><content><table><tr><th>x</th><td>y</td></tr>"
        "</table></content>"
        "</hcontainer>"
    ),
    act(
        "<section eId='section-1'><num>1</num><heading>Short title</heading><subsection><num>1</num><content>"
        "<p>See <rref from='#section-1' upTo='#section-3'>sections 1 to 3</rref>"
        "<noteRef href='#n1'/><authorialNote marker='1'><p>Note.</p></authorialNote></p></content>"
        "</subsection>"
        "</section><section eId='section-3'><num>3</num><mod><quotedStructure startQuote='“' endQuote='”'>"
        "<section><num>9</num><content><p>q</p></content></section></quotedStructure></mod></section>",
        meta=identified("/akn/uk/act/2001/7", language="eng", country="gb"),
        after="<attachments><attachment><doc name='schedule'><meta/><mainBody><paragraph><num>1</num>"
        "<content><p>x</p></content></paragraph></mainBody></doc></attachment></attachments>",
    ),
    act("<p>Rien.</p>", kind="doc", meta=identified("/akn/fr/act/loi/2001/7", language="fra", country="fr")),
)  # fmt: skip
_TAGS = (
    "act", "bill", "doc", "body", "mainBody", "meta", "identification", "article", "section", "paragraph",
    "num",
    "heading", "content", "p", "ref", "rref", "mod", "quotedStructure", "quotedText", "table", "tr", "td",
    "li",
    "ol", "note", "noteRef", "authorialNote", "attachments", "components", "foreign", "FRBRuri", "FRBRdate",
    "FRBRlanguage", "FRBRcountry", "temporalGroup", "timeInterval", "hcontainer", "akomaNtoso", "norm",
    "metadaten",
    "enbez", "jurabk", "gliederungseinheit", "gliederungskennzahl", "textdaten", "Content", "DL", "DT",
    "DD", "row",
)  # fmt: skip
_VALUES = (
    "", " ", "0", "-1", "9" * 5000, "1" * 300 + "bis", "#", "~", "//", "#" * 2000, "../" * 500, "art_" * 400,
    "2020-02-30", "0000-00-00", "99999-01-01", "12/31/2020", "\u00a0", "\u202e", "\U0001f600", "é" * 3000,
    "[", "(?",
    "/akn/it/act/legge/stato/2001-01-01/7/!main" * 60, "urn:nir:" + "stato:" * 800, "http://" + "a/" * 3000,
    "IV", "§ 1", "Art. 1-bis", "1a", "a)", "第一条", "art_1__para_2__point_a", "N2Ls?" * 300, "1-" * 2000,
    "%" * 400,
)  # fmt: skip
_ATTRIBUTES = (
    b"eId",
    b"id",
    b"href",
    b"from",
    b"upTo",
    b"value",
    b"date",
    b"name",
    b"language",
    b"builddate",
)
_ENCODINGS = ("utf-16", "utf-16-le", "utf-32", "latin-1", "cp1252", "utf-8-sig", "utf-7", "shift-jis")


@cache
def acts(target: str) -> tuple[bytes, ...]:
    """Whole files to damage."""
    if target == "gesetze-im-internet":
        return (GII_ACT.encode(),)
    folder = SHARED / "data" / "akn"
    real = [path.read_bytes() for path in sorted(folder.glob("*.xml")) if path.stat().st_size <= LARGEST]
    return (*(style.encode() for style in _STYLES), *real)


def _nested(content: bytes, chance: Random) -> bytes:
    tag, deep = chance.choice(_TAGS).encode(), chance.choice([3, 30, 150, 250, 3000, 60_000])
    at = _place(content, chance)
    opened, closed = b"<" + tag + b">", b"</" + tag + b">"
    return (
        content[:at] + opened * deep + b"x" + closed * (deep if chance.random() < 0.8 else 0) + content[at:]
    )


def _place(content: bytes, chance: Random) -> int:
    """A place after some element."""
    return content.find(b">", chance.randrange(len(content))) + 1 or len(content)


def _retagged(content: bytes, chance: Random) -> bytes:
    old = chance.choice(_TAGS).encode()
    new = chance.choice(_TAGS).encode()
    for sign in (b"<", b"</"):
        for end in (b">", b" ", b"/"):
            content = content.replace(sign + old + end, sign + new + end)
    return content


def _declared(content: bytes, chance: Random) -> bytes:
    laughs = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, chance.choice([2, 10, 40])))
    declared = chance.choice(
        [
            f'<!DOCTYPE x [<!ENTITY l0 "ha">{laughs}]>',
            '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/hostname">]>',
            '<!DOCTYPE x [<!ENTITY % p SYSTEM "http://localhost:9/x.dtd"> %p;]>',
            '<!DOCTYPE x SYSTEM "http://localhost:9/x.dtd">',
        ]
    )
    used = chance.choice(["&l9;", "&e;", "&amp;", "&#0;", "&#x110000;", "&nbsp;", "&l1;&l1;"])
    begin = content.find(b"?>") + 2 if content.startswith(b"<?xml") else 0
    at = max(begin, _place(content, chance))
    return content[:begin] + declared.encode() + content[begin:at] + used.encode() + content[at:]


def _encoded(content: bytes, chance: Random) -> bytes:
    text, encoding = content.decode("utf-8", "replace"), chance.choice(_ENCODINGS)
    if chance.random() < 0.6:
        text = text.replace("UTF-8", chance.choice([encoding, "x", "utf-16", ""]), 1)
    return text.encode(encoding, "replace")


def _valued(content: bytes, chance: Random) -> bytes:
    """Other values in some attributes, or other text in some elements."""
    for _ in range(chance.randint(1, 8)):
        value = chance.choice(_VALUES).encode()
        name = chance.choice(_ATTRIBUTES) + chance.choice([b'="', b"='"])
        at = content.find(name, chance.randrange(len(content))) if chance.random() < 0.6 else -1
        if at >= 0:
            begin = at + len(name)
            end = content.find(name[-1:], begin)
        else:
            begin = _place(content, chance)
            end = content.find(b"<", begin)
        content = content[:begin] + value.replace(b"<", b"") + content[max(begin, end) :]
    return content


def _repeated(content: bytes, chance: Random) -> bytes:
    """A stretch of the file many times, which is whole elements or is not."""
    begin = _place(content, chance)
    end = _place(content, chance) if chance.random() < 0.5 else content.find(b">", begin + 1) + 1
    piece = content[min(begin, end) : max(begin, end)][:20_000] or b"<p>x</p>"
    times = min(chance.choice([2, 50, 2000, 20_000]), 2_000_000 // len(piece))
    return content[:begin] + piece * times + content[begin:]


def _plan(chance: Random, level: Literal["bytes", "records"]) -> Plan:
    edits = tuple(
        (chance.randrange(2**16), chance.randrange(2**16), chance.randrange(2**16))
        for _ in range(chance.randint(1, 12))
    )
    return Plan(0, level, edits, None, None, hit=False, lenient=False)


def _bytes(content: bytes, chance: Random) -> bytes:
    return damaged("a.xml", content, _plan(chance, "bytes"))


def _elements(content: bytes, chance: Random) -> bytes:
    return damaged("a.xml", content, _plan(chance, "records"))


def _flipped(content: bytes, chance: Random) -> bytes:
    found = bytearray(content)
    for _ in range(chance.choice([1, 3, 30, 1000])):
        found[chance.randrange(len(found))] ^= 1 << chance.randrange(8)
    return bytes(found)


def _truncated(content: bytes, chance: Random) -> bytes:
    return content[: chance.randrange(len(content))]


_DAMAGE: Mapping[str, Callable[[bytes, Random], bytes]] = {
    "bytes": _bytes, "bits": _flipped, "truncated": _truncated, "elements": _elements, "nested": _nested,
    "other tags": _retagged, "entities": _declared, "encodings": _encoded, "values": _valued,
    "repeats": _repeated,
}  # fmt: skip


def xml_case(target: str, chance: Random, folder: Path) -> Case:
    """An act that is damaged, once or twice, and its import."""
    kind = chance.choice([*_DAMAGE])
    content = _DAMAGE[kind](chance.choice(acts(target)), chance)
    if chance.random() < 0.25 and content and kind not in ("encodings", "nested", "repeats"):
        again = chance.choice(["values", "other tags", "truncated", "bits"])
        content = _DAMAGE[again](content, chance)
    lenient = chance.random() < 0.5

    def run() -> dict[str, int]:
        (folder / "a.xml").write_bytes(content)
        try:
            corpus, report = load(target, folder, lenient=lenient)
        except BadInput as error:
            assert str(error)  # noqa: PT017
            return {"refused": 1}
        check_corpus(corpus, report)
        return {"corpus": 1}

    return kind, run
