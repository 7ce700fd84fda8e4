"""The articles of an index on disk: opened without reading them, each read when it is shown.

The articles lie as their canonical lines in `corpus/articles.jsonl`; beside it, in `articles/`, lie where
each line begins and the columns of `rag.corpus.articles.Articles`, as memory-mapped numpy arrays: opening
costs the same for a thousand articles and for a million. Arrays rather than an SQLite file, because what is
asked of all articles at once (a filter, the ids of a ranking, facets) needs them anyway, and a binary search
in sorted keys then answers what is asked of one (its id, its number); any number of threads reads them
without a lock, and the same law gives the same bytes.
"""

from __future__ import annotations

import json
from array import array
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from indexes.corpus.articles import ValueCache, parse_article
from indexes.corpus.corpus import ARTICLES
from indexes.corpus.facts import read_facts
from indexes.formats.validation import UnfitError
from indexes.store import outdated
from rag.corpus.articles import Articles, Inverted, Numbers
from rag.corpus.asker_situations import mentions, situations
from rag.corpus.facts import ArticleFacts
from rag.errors import BadInput, DamagedIndex
from rag.storage import load_array, load_bytes
from rag.types import Article, ArticleOrder

FOLDER = "articles"  # of an index
FILE = f"corpus/{ARTICLES[1]}"  # of an index that has the folder
FACTS = "facts.json"
HELD = 50_000  # ids, or other keys, that are decoded at opening, in a twentieth of a second; more are not
RECENT = 4096  # articles that stay at hand: some megabytes
_INVERTED = ("codes", "law_types", "regions", "article_nos", "number_keys", "bare_keys")
_PLAIN = ("valid_from", "valid_to", "sections", "lengths", "referring")


def write(articles: Sequence[Article], language: str, folder: Path) -> None:
    """Write the columns of an index whose `FILE` holds these articles, one a line.

    The language says which situations of people the articles are searched for.
    """
    columns, place = Articles.of(articles), folder / FOLDER
    place.mkdir()
    with (folder / FILE).open("rb") as file:
        begins = array("q", [0])
        for line in file:
            begins.append(begins[-1] + len(line))
    _save(place / "begins", np.frombuffer(begins, np.int64))
    _save_texts(place / "ids", columns.order.ids)
    by_id = np.asarray(columns.order.by_id, np.int32)
    _save(place / "by_id", by_id)
    _save(place / "sorted", np.argsort(by_id).astype(np.int32))
    for name in _INVERTED:
        column: Inverted = getattr(columns, name)
        _save_texts(place / f"{name}.keys", column.keys)
        for part in ("of", "positions", "ends"):
            _save(place / f"{name}.{part}", getattr(column, part))
    for name in _PLAIN:
        _save(place / name, getattr(columns, name))
    counted = mentions((each.words for each in situations(language)), columns)
    facts = {"versions": columns.versions, "mentions": [[*each] for each in counted.items()]}
    (place / FACTS).write_text(json.dumps(facts, ensure_ascii=False) + "\n", encoding="utf-8")


def is_stored(folder: Path) -> bool:
    """Return whether an index was built with its columns; one of an earlier release was not."""
    return (folder / FOLDER / FACTS).is_file()


class StoredArticles(Articles):
    """The articles of an index that was built with their columns."""

    def __init__(self, folder: Path, cure: str, sha256: str = "") -> None:
        """Open what `write` wrote; `cure` is the command that builds the index, for errors.

        `sha256` is the identity of the corpus, by which out-of-date summaries are known.

        Raises:
            DamagedIndex, OSError, ValueError, KeyError: a file is missing or is something else.
        """
        self._file, self._cure, self._sha256, place = folder / FILE, cure, sha256, folder / FOLDER
        self._facts = lru_cache(maxsize=1)(self._read_facts)
        self._lines = load_bytes(self._file)
        self._begins = _load(place / "begins")
        if int(self._begins[-1]) != len(self._lines):
            raise ValueError(f"{self._file} has {len(self._lines)} bytes, its index {self._begins[-1]}")
        self._shared = ValueCache()
        self._recent = lru_cache(maxsize=RECENT)(self._read)
        ids, in_order = _load_texts(place / "ids"), _load(place / "sorted")
        positions = _Positions(ids, in_order) if isinstance(ids, Texts) else None
        self.order = ArticleOrder(ids, _load(place / "by_id"), positions)
        self.by_id = _ById(self)
        for name in _INVERTED:
            arrays = (_load(place / f"{name}.{part}") for part in ("of", "positions", "ends"))
            setattr(self, name, Inverted(_load_texts(place / f"{name}.keys"), *arrays))
        for name in _PLAIN:
            setattr(self, name, _load(place / name))
        facts = json.loads((place / FACTS).read_text(encoding="utf-8"))
        self.versions = int(facts["versions"])
        self.mentions = {tuple(words): int(often) for words, often in facts["mentions"]}
        if (self[0].id, self[-1].id) != (ids[0], ids[-1]):  # what is broken throughout is told at once
            raise ValueError(f"{self._file} holds other articles than its index")

    @property
    def facts(self) -> Mapping[str, ArticleFacts]:  # type: ignore[override]  # read when first looked at
        """What stands beside articles; DamagedIndex says that the file cannot be read."""
        return self._facts(outdated.stamp(self._sha256))

    def _read_facts(self, _: int) -> Mapping[str, ArticleFacts]:
        try:
            found = read_facts(self._file.parent, self.by_id)
            for id_ in outdated.read(self._sha256).keys() & found.keys():
                found[id_] = replace(found[id_], outdated=True)
        except BadInput as error:
            raise DamagedIndex(f"{error}: run {self._cure}") from error
        return found

    def __len__(self) -> int:
        """Count the articles."""
        return len(self._begins) - 1

    @overload
    def __getitem__(self, at: int) -> Article: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Article]: ...
    def __getitem__(self, at: int | slice) -> Article | Sequence[Article]:
        """Read an article, or some; DamagedIndex says that a line cannot be read."""
        if isinstance(at, slice):
            return tuple(map(self._recent, range(*at.indices(len(self)))))
        if not -len(self) <= at < len(self):
            raise IndexError(f"article {at} of {len(self)}")
        return self._recent(at % len(self))

    def __iter__(self) -> Iterator[Article]:
        """Read all articles, one after the other."""
        return map(self._read, range(len(self)))

    def _read(self, position: int) -> Article:
        line = self._lines[int(self._begins[position]) : int(self._begins[position + 1])]
        try:
            return parse_article(json.loads(line), self._shared, textless=True)
        except (ValueError, TypeError, AttributeError, UnfitError) as error:
            problem = f"article {position + 1} of {self._file} cannot be read ({error})"
            raise DamagedIndex(f"{problem}: run {self._cure}") from error


class Texts(Sequence[str]):
    """Texts one after the other in one array of UTF-8."""

    def __init__(self, content: npt.NDArray[np.uint8], ends: Numbers) -> None:
        """Take the bytes, and where each text begins, (n_texts + 1,)."""
        self._content, self._ends = memoryview(content), ends  # type: ignore[arg-type]  # it is a buffer

    def __len__(self) -> int:
        """Count the texts."""
        return len(self._ends) - 1

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[str]: ...
    def __getitem__(self, at: int | slice) -> str | Sequence[str]:
        """Decode a text, or some."""
        if isinstance(at, slice):
            return tuple(self[i] for i in range(*at.indices(len(self))))
        if at < 0:
            at += len(self)
        if not 0 <= at < len(self):
            raise IndexError(f"text {at} of {len(self)}")
        return str(self._content[int(self._ends[at]) : int(self._ends[at + 1])], "utf-8")


class _Positions(Mapping[str, int]):
    """Ids and their positions, found by halves among the sorted ids."""

    def __init__(self, ids: Sequence[str], in_order: Numbers) -> None:
        self._ids, self._sorted = ids, in_order
        self._recent = lru_cache(maxsize=RECENT)(self._find)  # an article is looked up ten times

    def __getitem__(self, id_: str) -> int:
        if (position := self._recent(id_)) is None:
            raise KeyError(id_)
        return position

    def _find(self, id_: str) -> int | None:
        place = bisect_left(self._sorted, id_, key=self._ids.__getitem__)
        found = int(self._sorted[place]) if place < len(self._sorted) else None
        return found if found is not None and self._ids[found] == id_ else None

    def __iter__(self) -> Iterator[str]:
        return iter(self._ids)

    def __len__(self) -> int:
        return len(self._ids)


class _ById(Mapping[str, Article]):
    """The articles by their ids."""

    def __init__(self, articles: Articles) -> None:
        self._articles = articles

    def __getitem__(self, id_: str) -> Article:
        return self._articles[self._articles.order.positions[id_]]

    def __contains__(self, id_: object) -> bool:
        return id_ in self._articles.order.positions

    def __iter__(self) -> Iterator[str]:
        return iter(self._articles.order.ids)

    def __len__(self) -> int:
        return len(self._articles)


def _save(path: Path, values: np.ndarray) -> None:
    wide = int(values.max(initial=0)) > np.iinfo(np.int32).max
    narrow = values.astype(np.int64 if wide else np.int32)
    np.save(path.with_name(f"{path.name}.npy"), narrow, allow_pickle=False)


def _load(path: Path) -> Any:  # noqa: ANN401 - an array of whatever type holds it
    return load_array(path.with_name(f"{path.name}.npy"))


def _load_texts(path: Path) -> Sequence[str]:
    """Open what `_save_texts` wrote; what is few texts is held, for then nothing is decoded twice."""
    texts = Texts(_load(path), _load(path.with_name(f"{path.name}.ends")))
    return texts if len(texts) > HELD else tuple(texts)


def _save_texts(path: Path, texts: Sequence[str]) -> None:
    content = [text.encode() for text in texts]
    ends = np.zeros(len(content) + 1, np.int64)
    ends[1:] = np.cumsum([len(each) for each in content])
    joined = np.frombuffer(b"".join(content), np.uint8)
    np.save(path.with_name(f"{path.name}.npy"), joined, allow_pickle=False)
    _save(path.with_name(f"{path.name}.ends"), ends)
