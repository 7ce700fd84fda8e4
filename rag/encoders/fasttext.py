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

MAGIC = 793712314
VERSIONS = (11, 12)
SUPERVISED = 3
_HEAD = struct.Struct("<2i12id")  # magic, version; twelve settings; a sampling threshold
_WORDS = struct.Struct("<3i2q")  # entries, words, labels; tokens, entries of a pruned file
_ENTRY = struct.Struct("<qb")  # how often; word or label
_MATRIX = struct.Struct("<?2q")  # quantised; rows, columns
_END = b"</s>"
_LONGEST_WORD = 1 << 16  # bytes


@dataclass(frozen=True, slots=True)
class FastTextSettings:
    """What of the file's head the vectors depend on."""

    dim: int
    buckets: int
    minn: int
    maxn: int


def is_fasttext(head: bytes) -> bool:
    """Tell whether a file that begins so is one of fastText's."""
    return head[:4] == struct.pack("<i", MAGIC)


def read_dimension(head: bytes, path: Path) -> int:
    """Return the dimension of a model from the first bytes of its file.

    Raises:
        BadInput: it is cut short, or of a version that nobody here reads.
    """
    return _settings(head, path).dim


def find(file: BinaryIO, wanted: Mapping[bytes, str], path: Path) -> dict[str, Floats]:
    """Return the vectors of these words; those without a row are made of their subwords.

    Args:
        file: at its beginning.
        wanted: a word's bytes -> the word.
        path: for errors.

    Raises:
        BadInput: it is damaged, cut short or quantised.
    """
    settings = _settings(file.read(_HEAD.size), path)
    entries, words, _, _, pruned = _WORDS.unpack(file.read(_WORDS.size))
    numbers = {word: i for i, word in _entries(file, entries, path) if word in wanted and i < words}
    if pruned >= 0:
        file.seek(8 * pruned, 1)
    quantised, rows, columns = _MATRIX.unpack(file.read(_MATRIX.size))
    if quantised:
        raise BadInput(f"{path}: a quantised model (.ftz); give the full .bin that it was made of")
    if columns != settings.dim or rows < words:
        raise BadInput(f"{path}: {rows} rows of {columns} numbers do not fit its head. Fetch it again.")
    parts = {word: _rows(raw, numbers.get(raw), words, settings) for raw, word in wanted.items()}
    parts = {word: list_ for word, list_ in parts.items() if list_}
    needed = sorted({row for list_ in parts.values() for row in list_})
    read = dict(_read(file, needed, settings.dim, path))
    return {
        word: np.asarray(np.mean([read[row] for row in list_], axis=0, dtype=np.float64), dtype=np.float32)
        for word, list_ in parts.items()
    }


def subwords(word: str, minn: int, maxn: int) -> list[bytes]:
    """Return the runs of letters whose vectors a word is made of, of minn to maxn characters."""
    if not maxn:
        return []
    marked, found = f"<{word}>", []
    for start in range(len(marked)):
        for length in range(minn, maxn + 1):
            end = start + length
            if end > len(marked):
                break
            if length > 1 or 0 < start < len(marked) - 1:  # a mark alone says nothing
                found.append(marked[start:end].encode("utf-8"))
    return found


def bucket(run: bytes) -> int:
    """Return the 32-bit FNV-1a hash of the bytes, each read as signed, as fastText reads them."""
    value = 2166136261
    for byte in run:
        value ^= byte if byte < 128 else byte | 0xFFFFFF00
        value = value * 16777619 & 0xFFFFFFFF
    return value


def _settings(head: bytes, path: Path) -> FastTextSettings:
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


def _entries(file: BinaryIO, entries: int, path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield the words with their numbers, and leave the file behind them."""
    begin = file.tell()
    buffer, at, used = b"", 0, begin
    for number in range(entries):
        end = buffer.find(b"\0", at)
        while end < 0 or len(buffer) < end + 1 + _ENTRY.size:
            more = file.read(1 << 20)
            if not more or (end < 0 and len(buffer) - at > _LONGEST_WORD):
                raise BadInput(f"{path}: cut short after {number:,} of {entries:,} words. Fetch it again.")
            buffer, at = buffer[at:] + more, 0
            end = buffer.find(b"\0")
        yield number, buffer[at:end]
        used += end + 1 + _ENTRY.size - at
        at = end + 1 + _ENTRY.size
    file.seek(used)


def _rows(raw: bytes, number: int | None, words: int, settings: FastTextSettings) -> list[int]:
    own = [] if number is None else [number]
    if raw == _END:  # the end of a sentence is no word of letters
        return own
    runs = subwords(raw.decode("utf-8"), settings.minn, settings.maxn)
    return own + [words + bucket(run) % settings.buckets for run in runs]


def _read(file: BinaryIO, rows: list[int], dim: int, path: Path) -> Iterator[tuple[int, Floats]]:
    begin, size = file.tell(), 4 * dim
    for row in rows:
        file.seek(begin + row * size)
        content = file.read(size)
        if len(content) < size:
            raise BadInput(f"{path}: cut short in row {row:,} of its vectors. Fetch the file again.")
        yield row, np.frombuffer(content, dtype="<f4").astype(np.float32)
