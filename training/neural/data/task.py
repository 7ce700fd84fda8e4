"""One training: which questions are learnt from, which are looked at, which are held back to measure."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from indexes.builtin_corpus import complete_corpus
from indexes.cli.progress import Bars
from indexes.corpus.corpus import HELD_OUT, SYNTHETIC, Corpus, human_or_synthetic, to_learn_from
from indexes.corpus.folds import pick
from indexes.corpus.questions import read_questions
from indexes.download.hub import DATASETS
from indexes.download.resolve import bring
from indexes.sources import registry
from indexes.store import paths
from rag.errors import BadInput
from rag.types import Question
from training.neural.data.seen_questions import digest
from training.neural.recipe.settings import Recipe
from training.neural.trainer.validation import split_dev
from training.splits.file import evaluated_folds

DEV = frozenset({"dev", "validation"})
MANIFEST, MODEL = "manifest.json", "model"  # of a training's result: the hash of every file, and its weights
# What is read of a format whose synthetic questions are left out unless they are asked for: all there are.
_WITH_SYNTHETIC = {"bsard": "train,test,synthetic", "jurifindit": "train,validation,synthetic"}


@dataclass(frozen=True)
class Data:
    """A corpus and its questions."""

    corpus: Corpus
    questions: tuple[Question, ...]


@dataclass(frozen=True)
class TrainingTask:
    """What one training may know, and what it is measured on afterwards."""

    recipe: Recipe
    corpus: Corpus
    learn: tuple[Question, ...] = field(repr=False)
    dev: tuple[Question, ...] = field(repr=False)
    held: tuple[Question, ...] = field(repr=False)
    seed: int
    fold: str | None = None

    @cached_property
    def data_sha256(self) -> str:
        """Hash of the data alone: law, questions, gold articles, and which part each question is in."""
        parts = [self.corpus.sha256, *map(digest, (self.learn, self.dev, self.held))]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()

    @cached_property
    def identity(self) -> str:
        """Hash of recipe, seed and data: whatever the weights, and the measures of them, follow from.

        The results that a recipe names, to begin with or to draw negatives by, count with what they hold: the
        same folder may have been trained anew.
        """
        parts = [dict(self.recipe.source), self.seed, self.data_sha256]
        named = (self.recipe.model.backbone, self.recipe.negatives.model)
        parts += [found for name in named if name is not None and (found := _result_sha256(Path(name)))]
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _result_sha256(place: Path) -> str | None:
    """Return a hash of the result, or those of folds, that a folder is or is the model of; None of none."""
    found = manifests(place.parent if place.name == MODEL else place)
    if not found:
        return None
    return hashlib.sha256(b"".join(hashlib.sha256(each.read_bytes()).digest() for each in found)).hexdigest()


def manifests(folder: Path) -> list[Path]:
    """Return the manifest of the result that a folder is, or those of the folds that lie in it."""
    own = folder / MANIFEST
    return [own] if own.is_file() else sorted(folder.glob(f"*/{MANIFEST}"))


def read_data(
    recipe: Recipe, path: Path | None, questions: Path | None, language: str | None, options: Sequence[str]
) -> Data:
    """Read the corpus and the questions that a training is given, and what else its recipe learns from.

    Without a path it is the corpus that ships, with its test questions; without a file of questions, the
    corpus's own. A path that is not there may be the name of a data set, which is fetched from the hub.
    Options are of the source, such as "splits=train,synthetic". Raises BadInput where they cannot be read,
    FetchError where the hub does not give them.
    """
    if path is None:
        corpus = complete_corpus(paths.builtin())
    else:
        corpus = _read(recipe, path, questions, language, options)
    if questions is None:
        return Data(corpus, corpus.questions)
    return Data(corpus, tuple(read_questions(questions, corpus.articles)))


def _read(
    recipe: Recipe, path: Path, questions: Path | None, language: str | None, options: Sequence[str]
) -> Corpus:
    if not path.exists():
        if str(path) not in DATASETS:
            raise BadInput(
                f"--corpus {path} does not exist: give a corpus folder, its articles' file, a data set, or "
                f"the name of one on the hub: {', '.join(DATASETS)}"
            )
        with closing(Bars()) as progress:
            path = bring(str(path), progress=progress).path
    name = registry.detect(path)
    given: dict[str, Any] = {}
    for typed in options:
        key, equals, value = typed.partition("=")
        if not equals:
            raise BadInput(f"--option {typed}: expected KEY=VALUE, such as splits=train,synthetic")
        given[key] = value
    wanted = any(stage.mix.get("published") for stage in recipe.negatives.stages)
    if wanted and recipe.negatives.per_question and "negatives" in registry.options(name):
        given.setdefault("negatives", True)
    # a training says how many synthetic questions were fetched
    fetched = any(path.glob("questions*_synthetic.csv")) or any(path.glob("synth_questions/*"))
    if recipe.training.synthetic and questions is None and name in _WITH_SYNTHETIC and fetched:
        given.setdefault("splits", _WITH_SYNTHETIC[name])
    corpus, _ = registry.load(name, path, language=language, **given)
    return corpus


def tasks(
    recipe: Recipe,
    data: Data,
    *,
    folds: int | None = None,
    splits: Path | None = None,
    only: str | None = None,
    fold_seed: int = 42,
    seeds: Sequence[int] = (1,),
) -> Iterator[TrainingTask]:
    """Yield the trainings: one a fold and seed.

    Without folds, questions marked test are held back, those marked dev or validation are the dev
    questions, and the others are learnt from. With folds it is as `training.eval` has them, and dev
    questions are taken out of those to learn from.

    Raises:
        BadInput: there is nothing to learn from, or no such fold.
    """
    for name, held, others in _parts(data, folds, splits, only, fold_seed):
        gold = cap_synthetic(to_learn_from(others), recipe.training.synthetic)
        marked = [q for q in others if q.split in DEV and q.article_ids]
        if not gold:
            raise BadInput(
                "no question with gold articles to learn from: give --questions with article_ids, or a "
                "corpus that has some that are not marked test, dev or validation"
            )
        for seed in seeds:
            learn, dev = gold, marked
            if not marked:  # taken out of what people asked, if they did
                human, written = human_or_synthetic(gold)
                learn, dev = split_dev(human, recipe.evaluation.dev, seed)
                learn += written
            yield TrainingTask(recipe, data.corpus, tuple(learn), tuple(dev), tuple(held), seed, name)


def cap_synthetic(questions: Sequence[Question], synthetic: int | None) -> list[Question]:
    """Return the questions with so many synthetic ones an article at most, None: any; the first stay."""
    taken: Counter[tuple[str, ...]] = Counter()
    capped = []
    for question in questions:
        taken[question.article_ids] += question.split == SYNTHETIC
        if question.split != SYNTHETIC or synthetic is None or taken[question.article_ids] <= synthetic:
            capped.append(question)
    return capped


def _parts(
    data: Data, folds: int | None, splits: Path | None, only: str | None, seed: int
) -> Iterator[tuple[str | None, list[Question], list[Question]]]:
    questions = data.questions
    if folds is None and splits is None:
        if only is not None:
            raise BadInput("--fold needs --folds or --splits: give the folds too")
        held = [q for q in questions if q.split in HELD_OUT - DEV]
        yield None, held, [q for q in questions if q.split not in HELD_OUT - DEV]
        return
    for number, fold in enumerate(evaluated_folds(questions, splits, folds or 0, seed, only)):
        name = only if only is not None else str(number)
        yield name, pick(questions, fold.held), to_learn_from(pick(questions, fold.learn))
