"""What takes minutes to make, kept in a folder: made once, read the next time."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np

from indexes.build.fit_settings import Fitted
from indexes.corpus.corpus import appearing
from rag.errors import BadInput

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Kept:
    """A folder with a folder for each thing that is kept; None keeps nothing."""

    folder: Path | None

    def __call__(
        self, key: str, make: Callable[[], _T], save: Callable[[_T, Path], None], load: Callable[[Path], _T]
    ) -> _T:
        """Return what is kept under this key; make and keep it where there is nothing."""
        if self.folder is None:
            return make()
        folder = self.folder / "".join(c if c.isalnum() or c in "-." else "_" for c in key)
        if not folder.is_dir():
            made = make()
            try:
                with appearing(folder) as part:
                    save(made, part)
            except (BadInput, OSError):
                if not folder.is_dir():  # else another evaluation was first, with the same
                    raise
            return made
        return load(folder)


def save_fitted(fitted: Fitted, folder: Path) -> None:
    """Write the parameters of an encoder, unrounded, into an empty folder."""
    words = sorted(fitted.vocabulary, key=fitted.vocabulary.__getitem__)
    (folder / "vocabulary.json").write_text(json.dumps(words, ensure_ascii=False), encoding="utf-8")
    np.save(folder / "vectors.npy", fitted.vectors, allow_pickle=False)
    np.save(folder / "log_weights.npy", fitted.log_weights, allow_pickle=False)


def load_fitted(folder: Path) -> Fitted:
    """Read what `save_fitted` wrote."""
    words = json.loads((folder / "vocabulary.json").read_text(encoding="utf-8"))
    vocabulary: Mapping[str, int] = {word: i for i, word in enumerate(words)}
    return Fitted(vocabulary, np.load(folder / "vectors.npy"), np.load(folder / "log_weights.npy"))
