"""Trained models among the systems of `training.eval`: by name, and never asked what they learnt from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from indexes.corpus import Corpus
from rag.errors import BadInput
from rag.types import Question, Retriever
from training.neural.learnt import keys
from training.neural.result import MANIFEST, Trained, open_result


@dataclass
class Models:
    """Result folders by name; one with folders of folds in it holds a model for each fold."""

    found: Mapping[str, tuple[Trained, ...]]
    asked: frozenset[str] = frozenset()  # hashes of all questions that are asked in some fold
    _made: dict[tuple[Path, str], Retriever] = field(default_factory=dict, repr=False)

    @classmethod
    def read(cls, typed: Sequence[str], asked: Sequence[Question]) -> Models:
        """Open what was typed as NAME=FOLDER, or FOLDER for one that bears its recipe's name.

        Raises:
            BadInput: a folder holds no result, or two have one name.
        """
        found: dict[str, tuple[Trained, ...]] = {}
        for given in typed:
            name, equals, folder = given.rpartition("=")
            trained = _opened(Path(folder))
            name = name if equals else trained[0].recipe.name
            if name in found or set(name) & set(",:") or not name:
                raise BadInput(
                    f"--trained {given}: give each model a name of its own, without commas and colons"
                )
            found[name] = trained
        return cls(found, keys(asked))

    @property
    def names(self) -> tuple[str, ...]:
        """The names that were given."""
        return tuple(self.found)

    def retriever(self, name: str, corpus: Corpus, learn: Sequence[Question]) -> Retriever:
        """Return the model of this name that knows nothing but what may be learnt from.

        Args:
            name: as it was given.
            corpus: what it ranks.
            learn: the questions that may be learnt from.

        Raises:
            BadInput: every model of this name learnt from questions that are asked.
        """
        barred = self.asked - keys(learn)
        fit = [trained for trained in self.found[name] if not trained.learnt & barred]
        if not fit:
            seen = min(len(trained.learnt & barred) for trained in self.found[name])
            raise BadInput(
                f"model {name} learnt from {seen} of the questions that it would be asked: train it with the "
                "same folds (python -m training.train RECIPE --folds K, --fold-seed as the --seed here) and "
                "give the folder that holds them all"
            )
        chosen = max(fit, key=lambda trained: len(trained.learnt))  # of several, the one that knows most
        key = chosen.folder, corpus.sha256
        if key not in self._made:
            self._made.clear()  # one model at a time: they are large
            self._made[key] = chosen.system().retriever(corpus)
        return self._made[key]


def _opened(folder: Path) -> tuple[Trained, ...]:
    if (folder / MANIFEST).is_file():
        return (open_result(folder),)
    inside = sorted(path.parent for path in folder.glob(f"*/{MANIFEST}"))
    if not inside:
        return (open_result(folder),)  # which says what it lacks
    return tuple(map(open_result, inside))
