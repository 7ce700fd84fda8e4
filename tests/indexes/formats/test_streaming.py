"""Parsers stream: the memory they need does not grow with the file."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from tests.paths import ROOT

TEXT = "Le four commun est chauffé le mardi. " * 50  # about 1.9 kB
BOUND = 150  # MB above an import of the same modules: buffers and the largest record
MEGABYTES = int(os.environ.get("PANDECT_STREAM_MB", "200"))  # of each file; 2000 before a release

# What a consumer that keeps nothing needs: prints rows, and the peak of the process in MB.
CONSUMER = """
import sys
from pathlib import Path
from indexes.formats import csv, jsonl, parquet
from indexes.formats.validation import Inspection
from indexes.sources import legi
from indexes.sources.source import Reading
from rag.types import no_progress
kind, path = sys.argv[1], Path(sys.argv[2])
if kind == "parquet":
    import pyarrow.parquet
read = {
    "jsonl": lambda: jsonl.records(path, Inspection()),
    "array": lambda: jsonl.array(path, Inspection()),
    "csv": lambda: csv.rows(path, Inspection()),
    "tsv": lambda: csv.cells(path, ("id", "text"), Inspection()),
    "parquet": lambda: parquet.rows(path, Inspection()),
    "legi": lambda: legi._records(path, None, None, Reading(Inspection(), no_progress, {})),
    "tar": lambda: legi._records(path, None, None, Reading(Inspection(), no_progress, {})),
}[kind]
count = sum(1 for _ in read()) if path.exists() else 0
# not ru_maxrss, which a process takes over from the one that started it
[peak] = [line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")]
print(count, int(peak) // 1024)
"""


def consume(kind: str, path: Path) -> tuple[int, int]:
    """Read a file in a process of its own; return how many rows it had and the peak of memory in MB."""
    command = [sys.executable, "-c", CONSUMER, kind, str(path)]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    count, peak = run.stdout.split()
    return int(count), int(peak)


def generate(kind: str, path: Path, megabytes: int) -> int:
    """Write a file of about so many megabytes; return how many rows it has."""
    rows = megabytes * 1_000_000 // len(TEXT.encode())
    if kind == "parquet":
        import pyarrow as pa
        import pyarrow.parquet as pq

        # One row group, not compressed, every text its own: nothing a dictionary could save.
        with pq.ParquetWriter(
            path, pa.schema({"id": pa.string(), "text": pa.string()}), compression="none"
        ) as out:
            ids = [str(i) for i in range(rows)]
            out.write_table(pa.table({"id": ids, "text": [f"{i} {TEXT}" for i in ids]}), row_group_size=rows)
        return rows
    if kind == "tar":  # as LEGI comes: a file for each article
        with tarfile.open(path, "w") as tar:
            for i in range(rows):
                content = (
                    f"<ARTICLE><ID>{i}</ID><BLOC_TEXTUEL><CONTENU>{TEXT}</CONTENU></BLOC_TEXTUEL></ARTICLE>"
                ).encode()
                member = tarfile.TarInfo(f"legi/{i % 999}/LEGIARTI{i}.xml")
                member.size = len(content)
                tar.addfile(member, io.BytesIO(content))
                tar.members.clear()  # type: ignore[attr-defined]  # else every name stays in memory
        return rows
    with path.open("w", encoding="utf-8", newline="") as out:
        out.write({"csv": "id,text\n", "array": "[", "legi": "<LAW>"}.get(kind, ""))
        for i in range(rows):
            record = json.dumps({"id": str(i), "text": f"{i} {TEXT}"}, ensure_ascii=False)
            match kind:
                case "jsonl":
                    out.write(record + "\n")
                case "array":  # on one line, as json.dump writes it
                    out.write((", " if i else "") + record)
                case "csv":
                    out.write(f'{i},"{i} {TEXT}"\n')
                case "tsv":
                    out.write(f"{i}\t{i} {TEXT}\n")
                case "legi":
                    out.write(
                        f"<ARTICLE><ID>{i}</ID><BLOC_TEXTUEL><CONTENU>{TEXT}</CONTENU></BLOC_TEXTUEL></ARTICLE>"
                    )
        out.write({"array": "]", "legi": "</LAW>"}.get(kind, ""))
    return rows


@pytest.mark.slow
@pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="the peak of memory is read from Linux's /proc"
)
@pytest.mark.parametrize("kind", ["jsonl", "array", "csv", "tsv", "parquet", "legi", "tar"])
def test_a_large_file_streams_in_bounded_memory(
    tmp_path: Path, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / f"law.{kind}"
    rows = generate(kind, path, MEGABYTES)
    size = path.stat().st_size
    assert size > 0.95e6 * MEGABYTES
    _, alone = consume(kind, tmp_path / "nothing")
    count, peak = consume(kind, path)
    path.unlink()
    told = f"{kind}: {size / 1e6:,.0f} MB, {count:,} rows, peak {peak} MB ({alone} MB before the first row)"
    with capsys.disabled():
        print(f"\n{told}")  # noqa: T201
    assert count == rows
    assert peak - alone < BOUND


# What a corpus in memory costs beyond its texts: prints peak and texts in MB.
KEEPER = """
import sys
from pathlib import Path
from indexes.sources.registry import load

def peak():
    [line] = [line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")]
    return int(line) / 1024

before = peak()
corpus, _ = load("pandect", Path(sys.argv[1]), language="fr")
texts = sum(map(sys.getsizeof, (a.text for a in corpus.articles)))
print(peak() - before, texts / 2**20, len(corpus.articles))
"""


@pytest.mark.slow
@pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="the peak of memory is read from Linux's /proc"
)
def test_a_corpus_costs_little_more_than_its_texts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "law.jsonl"
    with path.open("w", encoding="utf-8") as out:
        for i in range(40_000):
            headings = [f"Livre {i % 9} : Des choses", "Titre I : Du four", f"Chapitre {i % 300}"]
            record = {
                "id": f"A{i}",
                "code": f"Code numéro {i % 40}",
                "article_no": str(i),
                "headings": headings,
            }
            record |= {"text": f"{i} {TEXT}", "language": "fr", "law_type": "national", "state": "VIGUEUR"}
            out.write(json.dumps(record, ensure_ascii=False) + "\n")
    command = [sys.executable, "-c", KEEPER, str(path)]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    peak, texts, count = map(float, run.stdout.split())
    with capsys.disabled():
        print(f"\n{count:,.0f} articles: {texts:.0f} MB of texts, {peak:.0f} MB at the peak")  # noqa: T201
    assert peak < 1.5 * texts
