"""Hostile files: each is refused by name, in bounded memory, and nothing of it is left behind.

Each is read by the command itself in a process of its own, whose memory ends where a reader without bounds
would go on. The files are some kilobytes; what they would unpack to is never on the disk.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import random
import resource
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import indexes.__main__
from indexes.formats import parquet_pages
from indexes.formats.parquet_pages import MOST_ROWS, batch_rows
from indexes.formats.validation import Inspection
from indexes.sources import legi
from rag.errors import BadInput
from tests.paths import ROOT

pytestmark = [
    pytest.mark.slow,  # each runs the command in a process of its own
    pytest.mark.skipif(
        not Path("/proc/self/status").exists(), reason="the peak of memory is read from Linux's /proc"
    ),
]
MOST = 600  # MiB at the peak
ROOM = 4 * 2**30  # bytes of address space: what would take more fails, and the machine does not
SECONDS = 60  # an end for what would have none; nothing is timed
COMMAND = """
import sys
from indexes.__main__ import main
status = main(sys.argv[1:])
# not ru_maxrss, which a process takes over from the one that started it
[peak] = [line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")]
print("peak", int(peak) // 1024)
sys.exit(status)
"""


class Run(NamedTuple):
    """How a command ended."""

    status: int
    output: str
    error: str
    peak: int  # MiB
    left: list[str]  # what lies under PANDECT_HOME


def run(at: Path, *arguments: str | bytes, **environment: str) -> Run:
    """Run `python -m indexes` with its own home in a process whose memory is bounded."""
    home = at / "home"
    done = subprocess.run(
        [sys.executable, "-c", COMMAND, *arguments],
        cwd=ROOT,
        capture_output=True,
        check=False,
        timeout=SECONDS,
        env={**os.environ, "PANDECT_HOME": str(home), "OPENBLAS_NUM_THREADS": "1", **environment},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (ROOM, ROOM)),
    )
    output, error = (text.decode("utf-8", "surrogateescape") for text in (done.stdout, done.stderr))
    peak = output.rpartition("peak ")[2].strip()
    left = [str(path.relative_to(home)) for path in home.rglob("*")] if home.exists() else []
    return Run(done.returncode, output, error, int(peak) if peak.isdigit() else 10**6, left)


def refused(at: Path, path: Path, *words: str, options: tuple[str, ...] = ("--lenient",)) -> None:
    """Hold that a file is refused with these words, in bounded memory, and leaves nothing behind."""
    done = run(at, "import", str(path), "--name", "hostile", "--language", "fr", *options)
    assert "Traceback" not in done.error
    assert done.status == 2, done.error[-2000:] + done.output
    assert all(word in done.error for word in words), done.error[-2000:]
    assert done.peak < MOST
    assert not any("hostile" in name or "unpacked/" in name for name in done.left), done.left


def squeezed(path: Path, pieces: Iterator[bytes]) -> Path:
    """Write pieces as gzip, one at a time."""
    packer = zlib.compressobj(9, wbits=31)
    with path.open("wb") as out:
        for piece in pieces:
            out.write(packer.compress(piece))
        out.write(packer.flush())
    return path


def article(number: int, text: str) -> bytes:
    return json.dumps({"id": str(number), "code": "A", "article_no": "1", "text": text}).encode() + b"\n"


@pytest.mark.parametrize(("first", "count"), [("", 300), ("\U0001f525", 80)])
def test_gzip_of_json_lines(tmp_path: Path, first: str, count: int) -> None:
    """A single sign beyond U+FFFF has each character of a text take four bytes in memory."""
    lines = (article(n, first + "four " * 199_000) for n in range(count))
    path = squeezed(tmp_path / "articles.jsonl.gz", lines)
    assert path.stat().st_size < 2**20
    refused(tmp_path, path, "more than 60 times its own size, and 256 MB", "set PANDECT_UNPACKED_MB=1024")


def test_gzip_of_short_articles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each takes 300 bytes in memory besides what stands in it."""
    monkeypatch.setenv("PANDECT_UNPACKED_MB", "64")
    lines = (b'{"id":"%d","code":"A","text":"x"}\n' % n for n in range(225_000))
    refused(tmp_path, squeezed(tmp_path / "articles.jsonl.gz", lines), "60 times its own size")


def test_gzip_of_escapes(tmp_path: Path) -> None:
    """Six bytes of the file are two in memory; before, this was refused: a tariff, 45 times its size."""
    drawn, letters = random.Random(3), [chr(code) for code in range(0x627, 0x64B)]
    words = ["".join(drawn.choices(letters, k=drawn.randint(2, 8))) for _ in range(4_000)]
    formula = " ".join(drawn.choices(words, k=60))
    texts = (f"{formula} {number} {' '.join(drawn.choices(words, k=4))}" for number in range(50_000))
    path = squeezed(tmp_path / "articles.jsonl.gz", (article(n, text) for n, text in enumerate(texts)))
    with gzip.open(path) as file:
        unpacked = sum(map(len, file))
    assert unpacked > max(100 * 10**6, 40 * path.stat().st_size)
    done = run(tmp_path, "import", str(path), "--name", "tariff", "--language", "ar")
    assert done.status == 0, done.error
    assert "50,000 articles" in done.output
    assert done.peak < MOST


def test_gzip_of_csv(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PANDECT_UNPACKED_MB", "64")
    rows = (b'%d,A,"%s"\n' % (n, b"four " * 20_000) for n in range(1, 750))
    path = squeezed(tmp_path / "law.csv.gz", (b"id,code,text\n", *rows))  # type: ignore[arg-type]
    refused(tmp_path, path, "64 MB", "set PANDECT_UNPACKED_MB=256")


def test_gzip_of_blank_lines(tmp_path: Path) -> None:
    path = squeezed(tmp_path / "articles.jsonl.gz", (b"\n" * 2**20 for _ in range(8)))
    refused(tmp_path, path, "1,000,000 blank lines", "Remove blank lines")


def test_a_row_of_csv_without_an_end(tmp_path: Path) -> None:
    rows = (b'"%s\n",' % (b"a" * 50_000) for _ in range(800))
    path = squeezed(tmp_path / "law.csv.gz", (b"id,code,text\n", *rows))  # type: ignore[arg-type]
    refused(tmp_path, path, "law.csv.gz:", "more than 16 MB", "Close its quotes")


def test_many_columns_of_csv(tmp_path: Path) -> None:
    path = tmp_path / "law.csv"
    path.write_text("id,code,text," + ",".join(f"c{n}" for n in range(150_000)) + "\n", "utf-8")
    refused(tmp_path, path, "150,003 columns came", "10,000")


@pytest.mark.parametrize(
    ("times", "words"), [(2_000_000, "has 9,999,999 characters"), (150_000, "60 times its own size")]
)
def test_a_dictionary_of_parquet(tmp_path: Path, times: int, words: str) -> None:
    """A value of 10 MB, named by each of 4,000 rows, is in 11 kB; a batch of them would be 2.5 GB."""
    path = tmp_path / "law.parquet"
    names, text = pa.array([str(n) for n in range(4_000)]), "four " * times
    texts = pa.DictionaryArray.from_arrays(pa.array([0] * 4_000, pa.int32()), pa.array([text]))
    written = pa.table({"id": names, "code": ["A"] * 4_000, "text": texts})
    pq.write_table(written, path, compression="zstd", dictionary_pagesize_limit=2**30)
    assert path.stat().st_size < 100_000
    refused(tmp_path, path, words, options=())


def test_a_row_of_parquet(tmp_path: Path) -> None:
    """A row of 300 MB in some kilobytes, whatever the footer says of it."""
    path = tmp_path / "law.parquet"
    row = pa.table({"id": ["1"], "code": ["A"], "text": ["four " * 60_000_000]})
    pq.write_table(row, path, compression="zstd", use_dictionary=False, write_statistics=False)
    assert path.stat().st_size < 100_000
    refused(tmp_path, path, "law.parquet", "PANDECT_UNPACKED_MB=")


def test_rows_of_parquet_are_read_a_few_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "law.parquet"
    pq.write_table(pa.table({"text": [f"{n % 10}" * 1_000 for n in range(900)]}), path, use_dictionary=False)
    metadata = pq.ParquetFile(path).metadata
    assert batch_rows(path, metadata) == MOST_ROWS
    monkeypatch.setattr(parquet_pages, "BATCH", 10 * 1_100)
    assert batch_rows(path, metadata) == 10
    pq.write_table(
        pa.table({"text": ["a" * 1_000] * 3_000, "note": ["b" * 1_000] * 3_000}),
        path, use_dictionary=False, data_page_size=2**30, write_batch_size=3_000,
    )  # fmt: skip
    monkeypatch.setenv("PANDECT_UNPACKED_MB", "4")
    with pytest.raises(BadInput, match="pages of 6 MB at once, up to column note, where 4 MB"):
        batch_rows(path, pq.ParquetFile(path).metadata)


@pytest.mark.parametrize("first", ["", "\u2019"])
def test_law_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: str) -> None:
    """What is not packed is held in memory all the same; one sign beyond Latin-1 doubles its text."""
    texts = [f"{first}{n} " + "four " * 2_000 for n in range(300)]  # 3 MB of characters
    plain, table = tmp_path / "articles.jsonl", tmp_path / "law.parquet"
    plain.write_bytes(b"".join(article(n, text) for n, text in enumerate(texts)))
    columns = {
        "id": [str(n) for n in range(300)],
        "code": ["A"] * 300,
        "article_no": ["1"] * 300,
        "text": texts,
    }
    pq.write_table(pa.table(columns), table, row_group_size=20)
    monkeypatch.setenv("PANDECT_UNPACKED_MB", "5" if first else "2")
    for path in (plain, table):
        refused(tmp_path, path, " MB of law, which is all held in memory", "set PANDECT_UNPACKED_MB=")
    monkeypatch.setenv("PANDECT_UNPACKED_MB", "8")
    for path in (plain, table):
        done = run(tmp_path, "import", str(path), "--name", path.suffix[1:], "--language", "fr")
        assert done.status == 0, done.error


def test_the_setting_of_what_is_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names it, and what it names lets the file in."""
    path = squeezed(tmp_path / "articles.jsonl.gz", (article(n, "four " * 199_000) for n in range(80)))
    monkeypatch.setenv("PANDECT_UNPACKED_MB", "50")
    refused(tmp_path, path, "and 50 MB", "set PANDECT_UNPACKED_MB=200")
    monkeypatch.setenv("PANDECT_UNPACKED_MB", "200")
    done = run(tmp_path, "import", str(path), "--name", "trusted", "--language", "fr")
    assert done.status == 0, done.error
    monkeypatch.setenv("PANDECT_UNPACKED_MB", "much")
    words = ("PANDECT_UNPACKED_MB: got 'much'", "a whole number of megabytes, such as 1024")
    refused(tmp_path, path, *words)


def test_pages_as_duckdb_writes_them(tmp_path: Path) -> None:
    """Pages of 105 MB, which its writer fills; before, 80 MB was the most of one."""
    drawn = random.Random(4)
    words = ["".join(drawn.choices("abcdefghilmnoprstu", k=drawn.randint(3, 11))) for _ in range(5_000)]
    texts = [" ".join(drawn.choices(words, k=170)) for _ in range(80_000)]
    names = [str(n) for n in range(len(texts))]
    path = tmp_path / "law.parquet"
    written = pa.table({"id": pa.array(names).cast(pa.binary()), "code": ["A"] * len(texts), "text": texts})
    pq.write_table(
        written, path, compression="zstd", use_dictionary=["code"], data_page_size=2**30,
        write_batch_size=len(texts),
    )  # fmt: skip
    del written, texts
    done = run(tmp_path, "import", str(path), "--name", "duck", "--language", "fr")
    assert done.status == 0, done.error
    assert "80,000 articles" in done.output
    assert done.peak < MOST


def test_pages_of_parquet_that_are_none(tmp_path: Path) -> None:
    path = tmp_path / "law.parquet"
    pq.write_table(pa.table({"id": ["1"], "code": ["A"], "text": ["Le four."]}), path)
    content = path.read_bytes()
    path.write_bytes(content[:4] + b"\xff" * 12 + content[16:])
    refused(tmp_path, path, "no header of a page is at byte 4", options=())


@pytest.mark.parametrize("source", ["legi", "akoma-ntoso", "gesetze-im-internet"])
def test_xml_of_many_elements(tmp_path: Path, source: str) -> None:
    """No article in it, and each element takes a hundred bytes in memory, or two."""
    path = tmp_path / "law.xml"
    root = {"legi": "LAW", "akoma-ntoso": "akomaNtoso", "gesetze-im-internet": "dokumente"}[source]
    with path.open("wb") as out:
        out.write(f"<{root}>".encode())
        for _ in range(30):
            out.write(b"<a/> " * 200_000)
        out.write(f"</{root}>".encode())
    words = ("8 MB came without an ARTICLE",) if source == "legi" else ("6,000,002 tags", "Cut the file")
    refused(tmp_path, path, *words, options=("--from", source))


def test_xml_of_many_parents() -> None:
    """What stands around articles that were read is not kept, however often it comes."""
    content = io.BytesIO(b"<LAW>" + b"<a><b/><b/><ARTICLE/></a>" * 5_000 + b"</LAW>")
    kept = [
        sum(1 for _ in element.getroottree().getroot().iter())
        for _, element in legi._articles(Path("law.xml"), content, Inspection())
    ]
    assert len(kept) == 5_000
    assert max(kept[2_000:]) <= max(kept[:2_000])  # the parser is some thousands of elements ahead


def test_ids_that_come_twice(tmp_path: Path) -> None:
    """25,000 of them in 25,000 articles: by the square that is ten minutes' work, where one is the end."""
    path = tmp_path / "articles.jsonl"
    with path.open("wb") as out:
        out.writelines(article(min(n, 25_000), "Le four.") for n in range(1, 50_001))
    done = run(tmp_path, "import", str(path), "--name", "hostile", "--language", "fr", "--lenient")
    assert done.status == 0, done.error
    assert (
        f"skipped 25,000: duplicate id (first at {path}:25001: id '25000' was already used at" in done.output
    )


def test_a_text_of_twenty_megabytes(tmp_path: Path) -> None:
    path = tmp_path / "articles.jsonl"
    path.write_bytes(article(1, "four " * 4_000_000))
    refused(tmp_path, path, "no articles in it")
    path.write_bytes(article(1, "four " * 200_001))
    words = ("the text has 1,000,005 characters, and 1,000,000 are read at most", "Cut it into articles")
    refused(tmp_path, path, f"{path}:1: ", *words, options=())


@pytest.mark.slow
def test_the_longest_text_is_built(tmp_path: Path) -> None:
    words = ("au mur " * 150_000)[:999_999]
    path = tmp_path / "articles.jsonl"
    path.write_bytes(article(1, words) + article(2, "Le four."))
    done = run(tmp_path, "import", str(path), "--name", "long", "--language", "fr", "--build")
    assert done.status == 0, done.error
    assert done.peak < MOST


def test_a_zip_of_many_files(tmp_path: Path) -> None:
    path = tmp_path / "law.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for n in range(300):
            archive.writestr(f"{n}.txt", "no law")
    refused(tmp_path, path, "no articles.jsonl.gz or articles.jsonl in it")


@pytest.mark.parametrize(
    "source", ["akoma-ntoso", "legi", "gesetze-im-internet", "parquet", "table", "pandect"]
)
def test_a_pipe_among_the_files(tmp_path: Path, source: str) -> None:
    folder = tmp_path / "law"
    folder.mkdir()
    for name in ("a.xml", "articles.jsonl", "articles.parquet", "law.csv", "card.json", "questions.jsonl"):
        os.mkfifo(folder / name)
    refused(tmp_path, folder, str(folder), options=("--from", source))


def test_a_pipe_of_questions(tmp_path: Path) -> None:
    law, asked = tmp_path / "law.csv", tmp_path / "asked.csv"
    law.write_text("id,code,text\n1,A,Le four.\n", "utf-8")
    os.mkfifo(asked)
    refused(tmp_path, law, "pipe", "Give a file", options=("--option", f"questions={asked}"))


ESCAPES = "\x1b]0;owned\x07\x1b[2J\u202e"


def test_escapes_do_not_reach_the_terminal(tmp_path: Path) -> None:
    """Neither from the names and values that errors quote nor from columns that are counted."""
    path = tmp_path / "articles.jsonl"
    good = {"id": "1", "code": "A", "article_no": "1", "text": "Le four.", f"extra{ESCAPES}": "x"}
    bad = {**good, "id": "2", "valid_from": ESCAPES}
    path.write_text("".join(json.dumps(each) + "\n" for each in (good, bad, good)), "utf-8")
    for options in ((), ("--lenient",)):
        done = run(tmp_path, "import", str(path), "--name", "escapes", "--language", "fr", *options)
        assert done.status == (0 if options else 2)
        assert not {"\x1b", "\x07", "\u202e"} & {*done.output, *done.error}
        assert "\\x1b" in done.output + done.error


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_a_terminal_of_another_encoding(tmp_path: Path, encoding: str) -> None:
    """It could not write the sign behind a hash, so the import ended there and nothing was built."""
    path = tmp_path / "articles.jsonl"
    path.write_bytes(b"".join(article(n, f"Le four num\xe9ro {n} du village.") for n in range(1, 9)))
    options = ("--name", "village", "--language", "fr", "--title", "Le “village”", "--build")
    done = run(tmp_path, "import", str(path), *options, PYTHONIOENCODING=encoding)
    assert done.status == 0, done.error
    assert "\\u2026" in done.output
    assert any(name.startswith("indexes/village/") for name in done.left), done.left


def test_half_pairs(tmp_path: Path) -> None:
    """In options they are bytes that are not UTF-8, in a card an escape without its other half."""
    path = tmp_path / "articles.jsonl"
    path.write_bytes(article(1, "Le four."))
    refused(tmp_path, path, "'\\udcff'", "Remove that character", options=("--title", b"\xff"))  # type: ignore[arg-type]
    (tmp_path / "card.json").write_text('{"name": "x", "title": "\\ud800", "language": "fr"}', "utf-8")
    refused(tmp_path, path, "card.json", "'\\ud800'", "Remove that character")


def test_memory_that_is_used_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def used_up(parsed: object) -> None:
        raise MemoryError

    monkeypatch.setattr(indexes.__main__, "bring_in", used_up)
    assert indexes.__main__.main(["import", str(tmp_path)]) == 2
    assert (
        "error: the memory is used up. Nothing was kept; give the law in smaller parts"
        in capsys.readouterr().err
    )
