"""Files of every source that are damaged, and small files that unpack to a lot."""

from __future__ import annotations

import io
import re
import shutil
import zipfile
from collections.abc import Callable, Mapping
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from pathlib import Path
from random import Random
from typing import TypeAlias

import pyarrow as pa
import pyarrow.parquet as pq

from indexes.__main__ import main
from indexes.sources.registry import load
from rag.errors import BadInput
from tests.fakes.law.damage import Plan
from tests.indexes.sources.test_akoma_ntoso import STYLES, act
from tests.indexes.sources.test_fuzz import Made, attack, check_corpus, made
from tests.indexes.sources.test_gesetze_im_internet import ACT as GII_ACT
from tests.indexes.test_hostile_files import article, squeezed
from tests.paths import SHARED

Case: TypeAlias = tuple[str, Callable[[], dict[str, int]]]  # kind; what to do, which tells what came of it

XML = ("akoma-ntoso", "gesetze-im-internet")  # whose acts are damaged besides in ways of their own
LARGEST = 400_000  # bytes of an act that is damaged, so that many are
_VALUES = (
    "", " ", "0", "-1", "9" * 5000, "1" * 300 + "bis", "#", "~", "//", "#" * 2000, "../" * 500, "art_" * 400,
    "2020-02-30", "0000-00-00", "99999-01-01", "12/31/2020", "\u00a0", "\u202e", "\U0001f600", "é" * 3000,
    "[", "(?", "/akn/it/act/legge/stato/2001-01-01/7/!main" * 60, "urn:nir:" + "stato:" * 800, "§ 1",
    "http://" + "a/" * 3000, "Art. 1-bis", "第一条", "art_1__para_2__point_a", "N2Ls?" * 300, "IV",
)  # fmt: skip
_ATTRIBUTE = re.compile(rb"=['\"]")
_ENCODINGS = ("utf-16", "utf-16-le", "utf-32", "latin-1", "cp1252", "utf-8-sig", "utf-7", "shift-jis")


@cache
def acts(source: str) -> tuple[bytes, ...]:
    """Whole files to damage."""
    if source == "gesetze-im-internet":
        return (GII_ACT.encode(),)
    real = [path.read_bytes() for path in sorted((SHARED / "data" / "akn").glob("*.xml"))]
    return (
        *(act(body).encode() for body, _ in STYLES.values()),
        *(each for each in real if len(each) <= LARGEST),
    )


def _place(content: bytes, chance: Random) -> int:
    """A place after some element."""
    return content.find(b">", chance.randrange(len(content))) + 1 or len(content)


def _nested(content: bytes, chance: Random) -> bytes:
    tag, deep = chance.choice(re.findall(rb"<(\w+)", content)), chance.choice([3, 30, 150, 250, 3000, 60_000])
    at, closed = _place(content, chance), (b"</" + tag + b">") * (deep if chance.random() < 0.8 else 0)
    return content[:at] + (b"<" + tag + b">") * deep + b"x" + closed + content[at:]


def _declared(content: bytes, chance: Random) -> bytes:
    laughs = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, chance.choice([2, 10, 40])))
    inside = (
        f'[<!ENTITY l0 "ha">{laughs}]', '[<!ENTITY e SYSTEM "file:///etc/hostname">]',
        '[<!ENTITY % p SYSTEM "http://localhost:9/x.dtd"> %p;]', 'SYSTEM "http://localhost:9/x.dtd"',
    )  # fmt: skip
    used = chance.choice(["&l9;", "&e;", "&amp;", "&#0;", "&#x110000;", "&nbsp;", "&l1;&l1;"]).encode()
    begin = content.find(b"?>") + 2 if content.startswith(b"<?xml") else 0
    at = max(begin, _place(content, chance))
    head = content[:begin] + f"<!DOCTYPE x {chance.choice(inside)}>".encode()
    return head + content[begin:at] + used + content[at:]


def _encoded(content: bytes, chance: Random) -> bytes:
    text, encoding = content.decode("utf-8", "replace"), chance.choice(_ENCODINGS)
    if chance.random() < 0.6:
        text = text.replace("UTF-8", chance.choice([encoding, "x", "utf-16", ""]), 1)
    return text.encode(encoding, "replace")


def _valued(content: bytes, chance: Random) -> bytes:
    """Other values in some attributes, or other text in some elements."""
    for _ in range(chance.randint(1, 8)):
        found = _ATTRIBUTE.search(content, chance.randrange(len(content))) if chance.random() < 0.6 else None
        begin = found.end() if found else _place(content, chance)
        end = content.find(found[0][1:] if found else b"<", begin)
        content = content[:begin] + chance.choice(_VALUES).encode() + content[max(begin, end) :]
    return content


def _repeated(content: bytes, chance: Random) -> bytes:
    """A stretch of the file many times, which is whole elements or is not."""
    begin = _place(content, chance)
    end = _place(content, chance) if chance.random() < 0.5 else content.find(b">", begin + 1) + 1
    piece = content[min(begin, end) : max(begin, end)][:20_000] or b"<p>x</p>"
    times = min(chance.choice([2, 50, 2000, 20_000]), 2_000_000 // len(piece))
    return content[:begin] + piece * times + content[begin:]


_DAMAGE: Mapping[str, Callable[[bytes, Random], bytes]] = {
    "nested": _nested, "repeats": _repeated, "encodings": _encoded, "entities": _declared, "values": _valued,
}  # fmt: skip


def xml_case(source: str, chance: Random, folder: Path) -> Case:
    """An act that is damaged, once or twice, and its import."""
    kind, lenient = chance.choice([*_DAMAGE]), chance.random() < 0.5
    content = _DAMAGE[kind](chance.choice(acts(source)), chance)
    if kind == "entities" and chance.random() < 0.5:
        content = _valued(content, chance)

    def run() -> dict[str, int]:
        shutil.rmtree(folder / "act", ignore_errors=True)
        (folder / "act").mkdir()
        (folder / "act" / "a.xml").write_bytes(content)
        try:
            check_corpus(*load(source, folder / "act", lenient=lenient))
        except BadInput as error:
            assert str(error)  # noqa: PT017
            return {"refused": 1}
        return {"corpus": 1}

    return kind, run


@cache
def good(source: str, at: Path) -> Made:
    """Return whole files of a source."""
    return made(source, at / "good")


def damaged_case(source: str, chance: Random, folder: Path) -> Case:
    """A file of a source that is damaged, as it is or in an archive, and its import."""
    if source in XML and chance.random() < 0.7:
        return xml_case(source, chance, folder)
    edits = tuple(tuple(chance.randrange(2**16) for _ in range(3)) for _ in range(chance.randint(1, 8)))
    level, archive = (
        chance.choice(("bytes", "records", "both")),
        chance.choice((None, None, "zip", "tar", "tar.gz")),
    )
    hit, lenient = chance.random() < 0.5, chance.random() < 0.5
    squeezed_ = chance.choice((None, None, "before", "after"))
    plan = Plan(chance.randrange(8), level, edits, squeezed_, archive, hit=hit, lenient=lenient)  # type: ignore[arg-type]

    def run() -> dict[str, int]:
        shutil.rmtree(folder / "bad", ignore_errors=True)
        came = attack(source, good(source, folder), folder / "bad", plan)
        return {"corpus" if came else "refused": 1}

    return f"{level}, {archive or 'files'}", run


def _lines(at: Path, chance: Random) -> None:
    text, size = chance.choice(("four ", "\U0001f525", "é", '\\"')), chance.choice((30, 5_000, 900_000))
    count = min(300_000_000 // size, 600_000)
    squeezed(at / "articles.jsonl.gz", (article(n, text * (size // len(text))) for n in range(count)))


def _blank(at: Path, chance: Random) -> None:
    blank = chance.choice((b"\n", b" \n", b"{}\n", b"[]\n", b"\xef\xbb\xbf\n"))
    squeezed(at / "articles.jsonl.gz", (blank * 2**18 for _ in range(chance.randint(1, 60))))


def _deep(at: Path, chance: Random) -> None:
    deep, sign = chance.choice((100, 5_000, 2_000_000)), chance.choice((b"[", b'{"a":', b'"\\'))
    (at / "articles.jsonl").write_bytes(b'{"id": "1", "code": "A", "text": ' + sign * deep + b"\n")


def _delimited(at: Path, chance: Random) -> None:
    columns, width = chance.choice((3, 9_000, 150_000)), chance.choice((1, 50_000))
    head = ("id,code,text," + ",".join(f"c{n}" for n in range(columns)) + "\n").encode()
    quote = chance.choice((b"", b'"'))
    row = b"%d,A," + quote + b"a" * width + chance.choice((b"", quote)) + b"\n"
    squeezed(at / "law.csv.gz", iter((head, *(row % n for n in range(100_000_000 // (width + 500))))))


def _columns(at: Path, chance: Random) -> None:
    """One value in every row of Parquet, in some kilobytes."""
    rows, text = chance.choice((1, 4_000, 200_000)), "four " * chance.choice((20, 150_000, 2_000_000))
    texts = pa.DictionaryArray.from_arrays(pa.array([0] * rows, pa.int32()), pa.array([text]))
    table = pa.table({"id": pa.array([str(n) for n in range(rows)]), "code": ["A"] * rows, "text": texts})
    pq.write_table(table, at / "law.parquet", compression="zstd", dictionary_pagesize_limit=2**30)


def _elements(at: Path, chance: Random) -> None:
    root = chance.choice(("LAW", "akomaNtoso", "dokumente"))
    element = chance.choice(("<a/> ", "<a>", "<ARTICLE/>", "<norm><metadaten/></norm>", "&amp;", "<!-- -->"))
    with (at / "law.xml").open("wb") as out:
        out.write(f"<{root}>".encode())
        for _ in range(chance.choice((1, 10, 40))):
            out.write(element.encode() * 100_000)
        out.write(f"</{root}>".encode())


def _archive(at: Path, chance: Random) -> None:
    name = chance.choice(("articles.jsonl", "../articles.jsonl", "a/" * 200 + "articles.jsonl", "law.csv"))
    with zipfile.ZipFile(at / "law.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for n in range(chance.choice((1, 300, 25_000))):
            archive.writestr(name if n == 0 else f"{n}/{name}", "")
        archive.writestr(f"x{name}", bytes(chance.choice((10, 300_000_000))))


def _binary(at: Path, chance: Random) -> None:
    name = chance.choice(("law.csv", "articles.jsonl", "law.parquet", "law.xml", "law.zip", "law.tsv"))
    head = chance.choice((b"", b"PAR1", b"PK\x03\x04", b"\x1f\x8b\x08", b"<?xml ", b"\xff\xfe", b"id,code\n"))
    (at / name).write_bytes(head + chance.randbytes(chance.choice((1, 1_000, 3_000_000))))


BOMBS: Mapping[str, Callable[[Path, Random], None]] = {
    "lines": _lines, "blank": _blank, "nested": _deep, "delimited": _delimited, "columns": _columns,
    "elements": _elements, "archive": _archive, "binary": _binary,
}  # fmt: skip


def bomb_case(chance: Random, folder: Path) -> Case:
    """A small file that is a large one, and the command that imports it."""
    kind, at = chance.choice([*BOMBS]), folder / "bomb"
    options = ["--name", "bomb", "--language", "fr", "--replace", *chance.choice(([], ["--lenient"]))]
    shutil.rmtree(at, ignore_errors=True)
    at.mkdir()
    BOMBS[kind](at, chance)
    [path] = at.iterdir()
    if path.suffix == ".xml":
        options += ["--from", chance.choice(("legi", "akoma-ntoso", "gesetze-im-internet"))]

    def run() -> dict[str, int]:
        out = io.StringIO()
        with redirect_stdout(out), redirect_stderr(out):
            status = main(["import", str(path), *options])
        assert status in (0, 2), out.getvalue()[-1000:]
        assert status == 0 or "error: " in out.getvalue(), out.getvalue()[-1000:]
        return {"refused" if status else "corpus": 1}

    return kind, run
