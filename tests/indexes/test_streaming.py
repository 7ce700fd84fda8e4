"""Parsers stream: the memory they need does not grow with the file."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TEXT = "Le four commun est chauffé le mardi. " * 50  # about 1.9 kB
BOUND = 150  # MB above an import of the same modules: buffers and the largest record

# What a consumer that keeps nothing needs: prints rows, and the peak of the process in MB.
CONSUMER = """
import sys
from pathlib import Path
from indexes import delimited, jsonl, parquet, tabbed
from indexes.inspection import Inspection
from indexes.sources import legi
kind, path = sys.argv[1], Path(sys.argv[2])
if kind == "parquet":
    import pyarrow.parquet
read = {
    "jsonl": lambda: jsonl.records(path, Inspection()),
    "array": lambda: jsonl.array(path, Inspection()),
    "csv": lambda: delimited.rows(path, Inspection()),
    "tsv": lambda: tabbed.cells(path, ("id", "text"), Inspection()),
    "parquet": lambda: parquet.rows(path, Inspection()),
    "legi": lambda: legi._records(path, None, None, Inspection(), None),
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
@pytest.mark.parametrize("kind", ["jsonl", "array", "csv", "tsv", "parquet", "legi"])
def test_200_megabytes_in_bounded_memory(tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"law.{kind}"
    rows = generate(kind, path, 200)
    assert path.stat().st_size > 190_000_000
    _, alone = consume(kind, tmp_path / "nothing")
    count, peak = consume(kind, path)
    assert count == rows
    assert peak - alone < BOUND, f"{peak} MB, of which {alone} MB before the first row"
