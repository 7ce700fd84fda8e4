"""Zero-shot with word vectors: a text's vector is the mean of its words' (Mikolov et al. 2013).

    E(t) = 1/|W(t)| * sum of v(w) over the words w of t that have a vector;   s(q, a) = cos(E(q), E(a))

as BSARD measured it (Louis & Spanakis 2022, section 4): mean pooling, cosine, nothing learnt. A word is
looked up as it is written, then in small letters; one that has no vector is passed over.

Files are read once from front to back, and only the words that are asked for stay. Three formats are told
apart by what the files hold: text ("word 0.1 0.2 …" a line, with or without a first line of counts:
word2vec's text, fastText's .vec, GloVe), word2vec's binary, and fastText's own .bin, which also makes vectors
of unknown words (`rag.encoders.fasttext`). Each may be packed by gzip; gigabytes take a pass of seconds.
"""

from __future__ import annotations

import gzip
import re
import struct
import zlib
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Literal, TypeAlias

import numpy as np

from rag.encoders import fasttext
from rag.encoders.static import unit
from rag.encoders.transformer import article_text
from rag.errors import BadInput
from rag.text.chinese import HAN, segment
from rag.text.folding import level
from rag.types import Article, Floats

Format: TypeAlias = Literal["text", "word2vec", "fasttext"]
WordVectors: TypeAlias = dict[str, Floats]  # word -> (dim,) float32

_HEAD = 1 << 20  # bytes that a file's format is told by
_GLOVE = 4  # numbers in the first line of a text file that begins without its counts, at least


@dataclass(frozen=True, slots=True)
class VectorFile:
    """A file of word vectors whose kind is known; nothing of it is held."""

    path: Path
    format: Format
    dim: int

    @property
    def name(self) -> str:
        """The file's name without .gz, .bin, .vec, .txt or .model."""
        name = self.path.name
        for ending in (".gz", ".bin", ".vec", ".txt", ".model"):
            name = name.removesuffix(ending)
        return name or self.path.name

    @property
    def subwords(self) -> bool:
        """Whether a word that it does not list may get a vector all the same."""
        return self.format == "fasttext"

    def find(self, words: Iterable[str]) -> WordVectors:
        """Return the vectors of those of the words, in the file's case, that have one, in one pass over it.

        Raises:
            BadInput: the file is damaged or cut short.
        """
        wanted = {word.encode("utf-8", "replace"): word for word in words if word}
        if not wanted:
            return {}
        with _reading(self.path) as file:
            if self.format == "fasttext":
                return fasttext.find(file, wanted, self.path)
            read = _text if self.format == "text" else _binary
            found: WordVectors = {}
            for word, vector in read(file, self.dim, wanted, self.path):
                found.setdefault(wanted[word], vector)  # the first of two: files list frequent words first
            return found


def open_vectors(path: Path) -> VectorFile:
    """Look at a file of word vectors.

    Raises:
        BadInput: it cannot be read, or is in none of the formats.
    """
    with _reading(path) as file:
        head = file.read(_HEAD)
    if head.startswith(fasttext.MAGIC):
        return VectorFile(path, "fasttext", fasttext.read_settings(head, path).dim)
    first, _, rest = head.partition(b"\n")
    counts = first.split()
    if len(counts) == 2 and all(c.isdigit() for c in counts):
        dim = int(counts[1])
        if dim < 1:
            raise BadInput(f"{path}: its first line says that vectors hold {dim} numbers")
        parts = rest.partition(b"\n")[0].split()
        is_text = len(parts) >= dim and _numbers(parts[-dim:]) is not None
        return VectorFile(path, "text" if is_text else "word2vec", dim)
    numbers = _numbers(counts[1:]) if len(counts) > _GLOVE else None
    if numbers is not None:
        return VectorFile(path, "text", len(numbers))
    raise BadInput(
        f"{path}: no file of word vectors: expected text (.vec: a first line of counts, then a word and its "
        "numbers a line), word2vec's binary or fastText's .bin, each also as .gz"
    )


@contextmanager
def _reading(path: Path) -> Iterator[BinaryIO]:
    """Open a file, unpacked if need be; what goes wrong with it is told with its name."""
    try:
        with path.open("rb") as plain:
            packed = plain.read(2) == b"\x1f\x8b"
            plain.seek(0)
            if packed:
                with gzip.open(plain) as unpacked:
                    yield unpacked  # type: ignore[misc]  # a GzipFile reads as a BinaryIO does
            else:
                yield plain
    except (EOFError, zlib.error, gzip.BadGzipFile, struct.error) as error:
        raise BadInput(f"{path}: damaged or cut short ({error}). Fetch the file again.") from None
    except OSError as error:
        raise BadInput(f"{path}: cannot be read ({error.strerror}). Give a file of word vectors.") from None


def _numbers(parts: list[bytes]) -> Floats | None:
    try:
        return np.array([float(part) for part in parts], dtype=np.float32)
    except ValueError:
        return None


def _text(file: BinaryIO, dim: int, wanted: Container[bytes], path: Path) -> Iterator[tuple[bytes, Floats]]:
    for number, line in enumerate(file, 1):
        word, _, rest = line.partition(b" ")
        if word not in wanted:
            continue
        parts = rest.split()
        if len(parts) > dim or (number == 1 and len(parts) == 1 < dim):
            continue  # a word with a blank in it; the line of counts
        vector = _numbers(parts)
        if vector is None or len(vector) != dim:
            raise BadInput(
                f"{path}:{number}: {len(parts)} numbers where {dim} were expected. Fetch the file again."
            )
        yield word, vector


def _binary(file: BinaryIO, dim: int, wanted: Container[bytes], path: Path) -> Iterator[tuple[bytes, Floats]]:
    total, seen = int(file.readline().split()[0]), 0
    for raw, content in fasttext.records(file, total, b" ", 4 * dim):
        seen += 1
        word = raw.lstrip(b"\n")  # some writers end a vector with a line end
        if word in wanted:
            yield word, np.frombuffer(content, dtype="<f4").astype(np.float32)
    if seen < total:
        raise BadInput(f"{path}: cut short after {seen:,} of {total:,} words. Fetch the file again.")


_WORD = re.compile(rf"[{HAN}]+|(?:(?![{HAN}])\w)+(?:-(?:(?![{HAN}])\w)+)*")
_HAN = re.compile(rf"[{HAN}]+")
Words = Callable[[str], list[str]]


def word_splitter(language: str) -> Words:
    """Return the tokeniser that vector files of this language were made with.

    Elisions part ("l'avocat": l, avocat), hyphened words stay whole; Chinese is cut by jieba.
    """

    def split_words(text: str) -> list[str]:
        found: list[str] = []
        for word in _WORD.findall(level(text)):
            found += segment(word) if language == "zh" and _HAN.fullmatch(word) else [word]
        return found

    return split_words


@dataclass(frozen=True)
class WordVectorEncoder:
    """Means of word vectors; the file is read for the words that are new, and those stay."""

    file: VectorFile
    words: Words
    known: dict[str, Floats | None] = field(default_factory=dict, repr=False)  # None: it has no vector

    @property
    def name(self) -> str:
        """The file's name without its ending."""
        return self.file.name

    @property
    def dim(self) -> int:
        """Length of a vector."""
        return self.file.dim

    def prepare(self, texts: Iterable[str]) -> float:
        """Look the words of these texts up in one pass; return the share of them that have a vector, or 1."""
        found = [vector for text in self._looked_up(texts) for vector in text]
        return sum(vector is not None for vector in found) / len(found) if found else 1.0

    def encode_questions(self, questions: Sequence[str]) -> Floats:
        """Return unit vectors, (n_questions, dim) float32; zeros where no word has a vector."""
        vectors = np.zeros((len(questions), self.dim), dtype=np.float32)
        for mine, text in zip(vectors, self._looked_up(questions), strict=True):
            if found := [vector for vector in text if vector is not None]:
                mine[:] = np.mean(found, axis=0, dtype=np.float64)
        return unit(vectors)

    def encode_articles(self, articles: Sequence[Article]) -> Floats:
        """Return unit vectors of code + headings + text, (n_articles, dim) float32."""
        return self.encode_questions([article_text(a) for a in articles])

    def _looked_up(self, texts: Iterable[str]) -> list[list[Floats | None]]:
        """Return of each text the vectors of its words."""
        tokens = [self.words(text) for text in texts]
        # a file with subwords has a vector for every word as it is written
        forms = {w: (w,) if self.file.subwords else (w, w.lower()) for text in tokens for w in text}
        if new := {form for of in forms.values() for form in of if form not in self.known}:
            found: WordVectors = self.file.find(new)
            self.known.update({form: found.get(form) for form in new})
        vectors = {
            word: next((v for form in of if (v := self.known[form]) is not None), None)
            for word, of in forms.items()
        }
        return [[vectors[word] for word in text] for text in tokens]
