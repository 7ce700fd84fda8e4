"""Small files of word vectors in every format that is read, as the tools that made the formats write them."""

from __future__ import annotations

import gzip
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from rag.types import Floats

Table = Mapping[str, Sequence[float]]


def packed(path: Path) -> Path:
    """Return the same file, gzipped beside it."""
    with gzip.open(path.with_name(path.name + ".gz"), "wb") as file:
        file.write(path.read_bytes())
    return path.with_name(path.name + ".gz")


def text(path: Path, table: Table, *, counts: bool = True, end: str = " \n") -> Path:
    lines = [f"{word} {' '.join(f'{x:.6f}' for x in vector)}{end}" for word, vector in table.items()]
    dim = len(next(iter(table.values())))
    head = f"{len(table)} {dim}\n" if counts else ""
    path.write_bytes((head + "".join(lines)).encode())
    return path


def binary(path: Path, table: Table, *, end: bytes = b"\n") -> Path:
    dim = len(next(iter(table.values())))
    parts = [
        word.encode() + b" " + np.array(vector, dtype="<f4").tobytes() + end for word, vector in table.items()
    ]
    path.write_bytes(f"{len(table)} {dim}\n".encode() + b"".join(parts))
    return path


def fasttext(
    path: Path,
    words: Sequence[str],
    matrix: Floats,
    *,
    buckets: int,
    minn: int,
    maxn: int,
    labels: Sequence[str] = (),
    version: int = 12,
    model: int = 2,
    quantised: bool = False,
    pruned: int = -1,
) -> Path:
    dim = matrix.shape[1]
    head = struct.pack("<2i", 793712314, version)
    head += struct.pack("<12id", dim, 5, 5, 1, 5, 1, 1, model, buckets, minn, maxn, 100, 1e-4)
    listed = [(word, 0) for word in words] + [(label, 1) for label in labels]
    head += struct.pack("<3i2q", len(listed), len(words), len(labels), 100, pruned)
    for word, kind in listed:
        head += word.encode() + b"\0" + struct.pack("<qb", 3, kind)
    head += b"".join(struct.pack("<2i", 0, 0) for _ in range(max(pruned, 0)))
    head += struct.pack("<?2q", quantised, *matrix.shape)
    path.write_bytes(head + matrix.astype("<f4").tobytes() + struct.pack("<?2q", False, 0, dim))
    return path
