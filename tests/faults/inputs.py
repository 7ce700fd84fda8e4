"""Files of every source that are damaged, and files that unpack to more than anybody has."""

from __future__ import annotations

import io
import shutil
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from pathlib import Path
from random import Random

import pyarrow as pa
import pyarrow.parquet as pq

from indexes.__main__ import main
from tests.fakes.law.damage import Plan
from tests.faults.acts import IMPORTERS, Case, xml_case
from tests.indexes.sources.test_fuzz import Made, attack, made
from tests.indexes.test_hostile_files import article, squeezed


@cache
def good(source: str, at: Path) -> Made:
    """Return whole files of a source."""
    return made(source, at / "good")


def damaged_case(source: str, chance: Random, folder: Path) -> Case:
    """A file of a source that is damaged, as it is or in an archive, and its import."""
    if source in IMPORTERS and chance.random() < 0.7:
        return xml_case(source, chance, folder)
    edits = tuple(
        (chance.randrange(2**16), chance.randrange(2**16), chance.randrange(2**16))
        for _ in range(chance.randint(1, 8))
    )
    plan = Plan(
        chance.randrange(8),
        chance.choice(("bytes", "records", "both")),
        edits,
        chance.choice((None, None, "before", "after")),
        chance.choice((None, None, None, "zip", "tar", "tar.gz")),
        hit=chance.random() < 0.5,
        lenient=chance.random() < 0.5,
    )

    def run() -> dict[str, int]:
        shutil.rmtree(folder / "bad", ignore_errors=True)
        came = attack(source, good(source, folder), folder / "bad", plan)
        return {"corpus" if came else "refused": 1}

    return f"{plan.level}, {plan.archive or 'files'}", run


def _lines(at: Path, chance: Random) -> None:
    text, size = chance.choice(("four ", "\U0001f525", "é", '\\"')), chance.choice((30, 5_000, 900_000))
    lines: Iterator[bytes] = (
        article(n, text * (size // len(text))) for n in range(min(300_000_000 // size, 600_000))
    )
    squeezed(at / "articles.jsonl.gz", lines)


def _blank(at: Path, chance: Random) -> None:
    blank = chance.choice((b"\n", b" \n", b"{}\n", b"[]\n", b"\xef\xbb\xbf\n"))
    squeezed(at / "articles.jsonl.gz", (blank * 2**18 for _ in range(chance.randint(1, 60))))


def _nested(at: Path, chance: Random) -> None:
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
    head = chance.choice(
        (b"", b"PAR1", b"PK\x03\x04", b"\x1f\x8b\x08", b"<?xml ", b"\xff\xfe", b"id,code,text\n")
    )
    (at / name).write_bytes(head + chance.randbytes(chance.choice((1, 1_000, 3_000_000))))


BOMBS: Mapping[str, Callable[[Path, Random], None]] = {
    "lines": _lines, "blank": _blank, "nested": _nested, "delimited": _delimited, "columns": _columns,
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
