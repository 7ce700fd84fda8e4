"""fastText's own binary file: word vectors made of the vectors of a word's letters (Bojanowski et al. 2017).

The vector of a word is the mean of its own row, if it has one, and of the rows of its subwords: all runs of
`minn` to `maxn` letters of "<word>", numbered by a hash (FNV-1a, 32 bits) modulo the number of buckets:

    v(w) = (u_w + sum of z_g over g in G(w)) / (1 + |G(w)|)        a known word
    v(w) = (sum of z_g over g in G(w)) / |G(w)|                    a word that was never seen

The layout is that of version 12 (and 11, which had no subwords for classifiers): settings, words, matrix.
Rows are read in their order with jumps between them, so a packed file serves as well.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np

from rag.errors import BadInput
from rag.types import Floats

MAGIC = struct.pack("<i", 793712314)  # the first bytes of a file
VERSIONS = (11, 12)
SUPERVISED = 3
_HEAD = struct.Struct("<2i12id")  # magic, version; twelve settings; a sampling threshold
_WORDS = struct.Struct("<3i2q")  # entries, words, labels; tokens, entries of a pruned file
_ENTRY = struct.Struct("<qb")  # how often; word or label
_MATRIX = struct.Struct("<?2q")  # quantised; rows, columns
_END = b"</s>"
_BLOCK = 1 << 20  # bytes read at once
_LONGEST_WORD = 1 << 16  # bytes; more without an end is no file of words


@dataclass(frozen=True, slots=True)
class FastTextSettings:
    """What of the file's head the vectors depend on."""

    dim: int
    buckets: int
    minn: int
    maxn: int


def read_settings(head: bytes, path: Path) -> FastTextSettings:
    """Read the settings of a model from the first bytes of its file.

    Raises:
        BadInput: it is cut short, or of a version that nobody here reads.
    """
    if len(head) < _HEAD.size:
        raise BadInput(f"{path}: cut short in its head. Fetch the file again.")
    _, version, dim, _, _, _, _, _, _, model, buckets, minn, maxn, _, _ = _HEAD.unpack(head[: _HEAD.size])
    if version not in VERSIONS or dim < 1:
        raise BadInput(
            f"{path}: fastText's format {version} with vectors of {dim} numbers; expected version 11 or 12"
        )
    if version == VERSIONS[0] and model == SUPERVISED:
        maxn = 0  # as fastText itself reads these
    return FastTextSettings(dim, buckets, minn, maxn if buckets else 0)


def find(file: BinaryIO, wanted: Mapping[bytes, str], path: Path) -> dict[str, Floats]:
    """Return the vectors of these words, by their bytes; those without a row are made of their subwords.

    Raises:
        BadInput: the file is damaged, cut short or quantised.
    """
    settings = read_settings(file.read(_HEAD.size), path)
    entries, words, _, _, pruned = _WORDS.unpack(file.read(_WORDS.size))
    numbers: dict[bytes, int] = {}
    seen, behind = 0, file.tell()
    for seen, (raw, _) in enumerate(records(file, entries, b"\0", _ENTRY.size), 1):
        behind += len(raw) + 1 + _ENTRY.size
        if raw in wanted and seen <= words:
            numbers[raw] = seen - 1
    if seen < entries:
        raise BadInput(f"{path}: cut short after {seen:,} of {entries:,} words. Fetch it again.")
    file.seek(behind + 8 * max(pruned, 0))
    quantised, rows, columns = _MATRIX.unpack(file.read(_MATRIX.size))
    if quantised:
        raise BadInput(f"{path}: a quantised model (.ftz); give the full .bin that it was made of")
    if columns != settings.dim or rows < words:
        raise BadInput(f"{path}: {rows} rows of {columns} numbers do not fit its head. Fetch it again.")
    parts = {word: _rows(raw, numbers.get(raw), words, settings) for raw, word in wanted.items()}
    begin, size = file.tell(), 4 * settings.dim
    read: dict[int, Floats] = {}
    for row in sorted({row for of in parts.values() for row in of}):
        file.seek(begin + row * size)
        content = file.read(size)
        if len(content) < size:
            raise BadInput(f"{path}: cut short in row {row:,} of its vectors. Fetch the file again.")
        read[row] = np.frombuffer(content, dtype="<f4").astype(np.float32)
    return {
        word: np.asarray(np.mean([read[row] for row in of], axis=0, dtype=np.float64), dtype=np.float32)
        for word, of in parts.items()
        if of
    }


def records(file: BinaryIO, total: int, end: bytes, size: int) -> Iterator[tuple[bytes, bytes]]:
    """Yield words, each up to its end, with the bytes of a fixed size behind it.

    Fewer than the total where the file is cut short; afterwards it stands anywhere behind them.
    """
    buffer, at = b"", 0
    for _ in range(total):
        stop = buffer.find(end, at)
        while stop < 0 or len(buffer) < stop + 1 + size:
            more = file.read(_BLOCK)
            if not more or (stop < 0 and len(buffer) - at > _LONGEST_WORD):
                return
            buffer, at = buffer[at:] + more, 0
            stop = buffer.find(end)
        yield buffer[at:stop], buffer[stop + 1 : stop + 1 + size]
        at = stop + 1 + size


def subwords(word: str, minn: int, maxn: int) -> list[bytes]:
    """Return the runs of letters whose vectors a word is made of, of minn to maxn characters."""
    if not maxn:
        return []
    marked, found = f"<{word}>", []
    for start in range(len(marked)):
        for end in range(start + minn, min(start + maxn, len(marked)) + 1):
            if end - start > 1 or 0 < start < len(marked) - 1:  # a mark alone says nothing
                found.append(marked[start:end].encode("utf-8"))
    return found


def bucket(run: bytes) -> int:
    """Return the 32-bit FNV-1a hash of the bytes, each read as signed, as fastText reads them."""
    value = 2166136261
    for byte in run:
        value ^= byte if byte < 128 else byte | 0xFFFFFF00
        value = value * 16777619 & 0xFFFFFFFF
    return value


def _rows(raw: bytes, number: int | None, words: int, settings: FastTextSettings) -> list[int]:
    own = [] if number is None else [number]
    if raw == _END:  # the end of a sentence is no word of letters
        return own
    runs = subwords(raw.decode("utf-8"), settings.minn, settings.maxn)
    return own + [words + bucket(run) % settings.buckets for run in runs]
