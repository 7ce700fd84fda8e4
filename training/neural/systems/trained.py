"""Trained models among the systems of `training.eval`: by name, and never asked what they learnt from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from indexes.corpus.corpus import Corpus
from rag.errors import BadInput
from rag.types import Question, Reranker, Retriever
from training.neural.data.seen_questions import keys
from training.neural.recipe.settings import PAIRS, Pairwise
from training.neural.result import Trained, open_results, uncontaminated
from training.neural.systems.base import NeuralSystem
from training.neural.systems.cross_encoder import CrossEncoder, PairReader


@dataclass
class Models:
    """Result folders by name; one with folders of folds in it holds a model for each fold."""

    found: Mapping[str, tuple[Trained, ...]]
    in_folds: frozenset[str] = frozenset()  # hashes of all questions that are asked in some fold
    device: str | None = None  # None takes the best there is
    _made: dict[tuple[Path, str], Retriever] = field(default_factory=dict, repr=False)
    _loaded: dict[Path, NeuralSystem] = field(default_factory=dict, repr=False)

    @classmethod
    def read(cls, typed: Sequence[str], questions: Sequence[Question], device: str | None = None) -> Models:
        """Open what was typed as NAME=FOLDER, or FOLDER for one that bears its recipe's name.

        Raises BadInput where a folder holds no result, or two have one name.
        """
        found: dict[str, tuple[Trained, ...]] = {}
        for given in typed:
            name, equals, folder = given.rpartition("=")
            trained = open_results(Path(folder))
            name = name if equals else trained[0].recipe.name
            if name in found or set(name) & set(",:") or not name:
                raise BadInput(
                    f"--trained {given}: give each model a name of its own, without commas and colons"
                )
            found[name] = trained
        return cls(found, keys(questions), device)

    @property
    def names(self) -> tuple[str, ...]:
        """The names that were given."""
        return tuple(self.found)

    def retriever(self, name: str, corpus: Corpus, learn: Sequence[Question]) -> Retriever:
        """Return the model of this name that knows nothing but what may be learnt from, over this corpus.

        Raises BadInput where every model of this name learnt from questions that are asked.
        """
        chosen = self._chosen(name, learn)
        key = chosen.folder, corpus.sha256
        if key not in self._made:
            self._made.clear()  # one model at a time: they are large
            self._made[key] = self._system(chosen).retriever(corpus)
        return self._made[key]

    def reader(self, name: str, corpus: Corpus, learn: Sequence[Question]) -> Reranker:
        """Return the model that `retriever` takes as what puts any system's first articles in order.

        Where every model of that name learnt what is asked it is `BadInput`.
        """
        system = self._system(self._chosen(name, learn))
        if not isinstance(system, CrossEncoder):
            raise TypeError(f"{name} is a {system.recipe.system}")
        return PairReader(system, corpus.articles)

    def depth(self, name: str) -> int:
        """Return how many articles a model of this name puts in order, by its recipe.

        Raises BadInput where none was given, or it does not read question and article together.
        """
        losses = {one: first.recipe.loss for one, (first, *_) in self.found.items()}
        fit = {one: loss.rerank for one, loss in losses.items() if isinstance(loss, Pairwise)}
        if name not in fit:
            raise BadInput(
                f"--rerank model:{name}:SYSTEM needs --trained {name}=FOLDER of the system "
                f"{' or '.join(PAIRS)}, which read question and article together; of those given, "
                f"{', '.join(fit) or 'none'} does"
            )
        return fit[name]

    def _chosen(self, name: str, learn: Sequence[Question]) -> Trained:
        barred = self.in_folds - keys(learn)
        chosen = uncontaminated(self.found[name], barred)
        if chosen is None:
            seen = min(len(trained.learnt & barred) for trained in self.found[name])
            raise BadInput(
                f"model {name} learnt from {seen} of the questions that it would be asked: train it with the "
                "same folds (python -m training.train RECIPE --folds K, --fold-seed as the --seed here) and "
                "give the folder that holds them all"
            )
        return chosen

    def _system(self, chosen: Trained) -> NeuralSystem:
        if chosen.folder not in self._loaded:
            self._loaded.clear()  # one at a time here too
            self._loaded[chosen.folder] = chosen.system(self.device)
        return self._loaded[chosen.folder]
