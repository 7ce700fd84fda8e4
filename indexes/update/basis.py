"""What an update starts from: the term counts and vectors that the version in use keeps."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from indexes.build.learned_fusion import FOLDER as LEARNED
from indexes.build.score_distributions import FUSION
from indexes.store import paths
from indexes.store.manifest import Manifest, read, verify
from indexes.store.open import damaged_if_unreadable
from indexes.update import term_counts as counted
from indexes.update.diff import Former
from rag.retrieval.dense import Dense, Kind
from rag.retrieval.term_counts import FieldCounts
from rag.types import ArticleOrder, Floats

VECTORS = "vectors.faiss"
ENCODER = "encoder"
EXACT = "vectors.npy"  # (n_articles, dim) float32, where vectors.faiss holds rounded ones
_READ = ("corpus", counted.FOLDER, ENCODER, VECTORS, EXACT, FUSION, LEARNED)


@dataclass(frozen=True, slots=True)
class Start:
    """The version in use, what is read of it held against its manifest, and its corpus."""

    folder: Path
    manifest: Manifest
    again: str  # the command that builds it from nothing
    former: Former

    @classmethod
    def of(cls, name: str) -> Start:
        """Read the version in use of an index.

        Raises:
            MissingIndex, DamagedIndex, StaleIndex: there is none, or nothing can start from it.
        """
        return cls.at(paths.current(name), paths.rebuild(name))

    @classmethod
    def at(cls, folder: Path, again: str) -> Start:
        """Read a version; `again` is the command that builds it from nothing.

        Raises:
            DamagedIndex, StaleIndex: nothing can start from it.
        """
        manifest = read(folder, again)
        verify(folder, manifest, again, below=_READ)  # what is wrong here would be stamped as right there
        with damaged_if_unreadable(folder, again):
            return cls(folder, manifest, again, Former.read(folder))


class Kept(NamedTuple):
    """The articles' vectors as they were encoded, and the kind of index that they lie in."""

    vectors: Floats | None  # None where only rounded ones are left
    kind: Kind


def keep(counts: FieldCounts, vectors: Floats | None, kind: Kind, folder: Path) -> None:
    """Write into a version what an update will start from.

    Vectors of the kind "8bit" are rounded within bounds that depend on all of them, so new ones could
    not join them without changing the others: they are kept as they were encoded, for updates alone.
    """
    counted.save(counts, folder / counted.FOLDER)
    if vectors is not None and kind == "8bit":
        np.save(folder / EXACT, vectors, allow_pickle=False)


def counts(folder: Path, order: ArticleOrder) -> FieldCounts | None:
    """Return the term counts that a version keeps; None where it keeps none.

    Raises:
        OSError, ValueError: they cannot be read.
    """
    kept = folder / counted.FOLDER
    return counted.load(kept, order) if kept.is_dir() else None


def vectors(folder: Path) -> Kept | None:
    """Return the vectors of a version; None where it has none.

    Raises:
        OSError, RuntimeError, ValueError: they cannot be read.
    """
    import faiss

    if not (folder / VECTORS).is_file():
        return None
    index = Dense.load_index(folder / VECTORS)
    if isinstance(index, faiss.IndexScalarQuantizer):
        exact = folder / EXACT
        return Kept(np.load(exact, allow_pickle=False) if exact.is_file() else None, "8bit")
    kind: Kind = "hnsw" if isinstance(index, faiss.IndexHNSW) else "flat"
    return Kept(index.reconstruct_n(0, index.ntotal), kind)
