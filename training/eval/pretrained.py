"""Zero-shot systems of an evaluation: word vectors and pretrained encoders, nothing of them learnt here.

Published models of kinds that are trained here too, as they are: SPLADE, and monoBERT, which re-ranks.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

import numpy as np

from rag.encoders import model_recipes
from rag.encoders.model_recipes import HubRecipe
from rag.encoders.transformer import Pooling, TransformerEncoder, article_text
from rag.encoders.word_vectors import VectorFile, WordVectorEncoder, open_vectors, word_splitter
from rag.errors import BadInput
from rag.retrieval.colbert import ColBERT
from rag.retrieval.dense import Dense, build_vectors
from rag.types import Floats, Reranker, Retriever
from training.eval.external_system import Extra, Extras, System, cached_per_bench
from training.eval.system_names import ENCODER
from training.neural.recipe.recipe import parse_recipe
from training.neural.recipe.settings import Pairwise, Recipe
from training.neural.systems.backbone import require
from training.neural.systems.base import NeuralSystem as NeuralSystem
from training.neural.systems.colbert import token_vectors
from training.neural.systems.cross_encoder import CrossEncoder, PairReader
from training.neural.systems.splade import SpladeSystem

if TYPE_CHECKING:
    from training.eval.context import BenchLike, FoldContext


PROGRESS_BATCH = 256  # articles encoded between two looks at the progress
Say = Callable[[str], object]


def zero_shot(
    vectors: Sequence[Path],
    encoders: Sequence[str],
    questions: Sequence[str],
    *,
    pooling: Pooling | None = None,
    remote_code: bool = False,
    device: str | None = None,
    say: Say = lambda line: None,
) -> Extras:
    """Return the systems `vectors:NAME` and `encoder:NAME`.

    Files and names are checked now, models are loaded when the system is made. An encoder that reads
    question and article together is left out: `training.eval.pretrained` has it re-rank.

    Args:
        vectors: files of word vectors.
        encoders: names of recipes, hub ids or folders.
        questions: that will be asked: their words are looked up together with the corpus's.
        pooling: of the encoders, instead of their recipes'.
        remote_code: run the code that comes with a model.
        device: None takes the best there is.
        say: told what a person should know, such as how many words have a vector.

    Raises:
        BadInput: no such file, no such kind of model, or two of one name.
    """
    made: dict[str, Extra] = {}
    for path in vectors:
        file = open_vectors(path)
        _add(made, f"vectors:{file.name}", partial(_vectors, file, questions, say))
    options = {"remote_code": remote_code, "device": device}
    for name in encoders:
        recipe = model_recipes.find_recipe(name, pooling=pooling)
        if recipe.kind == "cross-encoder":
            continue
        if recipe.kind == "yes-no":
            raise BadInput(
                f"{recipe.name} says yes or no of a pair: give --rerank yes-no:bm25 --yes-no-model "
                f"{recipe.name} instead"
            )
        model_recipes.check(recipe, kinds=ENCODES, remote_code=remote_code)
        _add(made, f"{ENCODER}{Path(recipe.name).name}", partial(_MAKERS[recipe.kind], recipe, options))
    return made


def _add(made: dict[str, Extra], name: str, make: Callable[[BenchLike], Retriever]) -> None:
    name = name.replace(",", "-")  # a comma parts the names of a fusion
    if name in made:
        raise BadInput(f"{name} was given twice, or two files bear this name: rename one")

    def system_of_fold(bench: BenchLike, context: FoldContext, system: System) -> Retriever:
        return make(bench)

    made[name] = cached_per_bench(Extra(system_of_fold))


def _vectors(file: VectorFile, questions: Sequence[str], say: Say, bench: BenchLike) -> Dense:
    encoder = WordVectorEncoder(file, word_splitter(bench.corpus.card.language))
    articles = bench.corpus.articles
    bench.progress(f"reading {file.path.name}", 0, 1)
    encoder.prepare([*(article_text(a) for a in articles), *questions])  # one pass for both
    bench.progress(f"reading {file.path.name}", 1, 1)
    shares = [100 * encoder.prepare(texts) for texts in (map(article_text, articles), questions)]
    say(
        f"vectors:{file.name}: {shares[0]:.1f} % of the words of the law and {shares[1]:.1f} % of those "
        "of the questions have a vector"
    )
    return Dense(encoder, build_vectors(encoder.encode_articles(articles)), bench.order, bench.mask)


def _encoder(recipe: HubRecipe, options: dict[str, bool | str | None], bench: BenchLike) -> Dense:
    encoder = model_recipes.load(recipe, **options)  # type: ignore[arg-type]  # each is of its own type
    # the same weights, recipe and articles give the same vectors: hours of work for a large model
    key = {"weights": encoder.sha256, **asdict(recipe)}
    name = hashlib.sha256(json.dumps(key, sort_keys=True).encode()).hexdigest()[:16]
    vectors = bench.cache(f"vectors-{name}", partial(_encode, encoder, bench), _save, _load)
    return Dense(encoder, build_vectors(vectors), bench.order, bench.mask)


def _tokens(recipe: HubRecipe, options: dict[str, bool | str | None], bench: BenchLike) -> ColBERT:
    encoder = model_recipes.load_tokens(recipe, **options)  # type: ignore[arg-type]  # each is of its own type
    bench.progress(f"encoding tokens with {recipe.name}", 0, 1)
    vectors = token_vectors(encoder, bench.corpus.articles)
    bench.progress(f"encoding tokens with {recipe.name}", 1, 1)
    return ColBERT(encoder, vectors, bench.order, bench.mask)


def _splade(recipe: HubRecipe, options: dict[str, bool | str | None], bench: BenchLike) -> Retriever:

    return splade(recipe, options, bench)


_MAKERS: Mapping[str, Callable[[HubRecipe, dict[str, bool | str | None], BenchLike], Retriever]] = {
    "dense": _encoder,
    "late-interaction": _tokens,
    "sparse": _splade,
}
ENCODES: tuple[model_recipes.Kind, ...] = ("dense", "late-interaction", "sparse")


def _encode(encoder: TransformerEncoder, bench: BenchLike) -> Floats:
    articles = bench.corpus.articles
    parts = [np.zeros((0, encoder.dim), dtype=np.float32)]
    for begin in range(0, len(articles), PROGRESS_BATCH):
        bench.progress(f"encoding articles with {encoder.name}", begin, len(articles))
        parts.append(encoder.encode_articles(articles[begin : begin + PROGRESS_BATCH]))
    bench.progress(f"encoding articles with {encoder.name}", len(articles), len(articles))
    return np.concatenate(parts)


def _save(vectors: Floats, folder: Path) -> None:
    np.save(folder / "vectors.npy", vectors, allow_pickle=False)


def _load(folder: Path) -> Floats:
    loaded: Floats = np.load(folder / "vectors.npy", allow_pickle=False)
    return loaded


_SYSTEMS: Mapping[str, str] = {"sparse": "splade", "cross-encoder": "cross-encoder"}


def published_recipe(of: HubRecipe, *, remote_code: bool = False) -> Recipe:
    """Return the recipe that reads texts as a published model wants them.

    What it says of training is not used. Of a pair the question has a quarter of the window, as in our
    recipes of monoBERT, where nothing is said of it.

    Args:
        of: of the kind "sparse" or "cross-encoder".
        remote_code: run the code that comes with the model.
    """
    pairs = of.kind == "cross-encoder"
    question_window = of.question_window or (of.window // 4 if pairs else of.window)
    text = {"question_tokens": question_window, "article_tokens": of.window}
    prompts = {"question_prompt": of.question_prompt, "article_prompt": of.passage_prompt}
    return parse_recipe(
        {
            "name": PurePath(of.name).name,
            "system": _SYSTEMS[of.kind],
            "model": {"backbone": of.model, "remote_code": remote_code},
            "text": {**text, **prompts},
            "training": {"batch": 1, "steps": 1},
            "negatives": {"per_question": 1},
            "loss": {} if pairs else {"similarity": of.similarity or "dot"},
        },
        of.name,
    )


def splade(of: HubRecipe, options: Mapping[str, Any], bench: BenchLike) -> Retriever:
    """Return an inverted index of a corpus, by a published SPLADE.

    Args:
        of: of the kind "sparse".
        options: remote_code, and the device; None takes the best there is.
        bench: whose corpus.

    Raises:
        MissingExtra: torch is not installed.
        BadInput: the model cannot be loaded.
    """
    require()
    system = SpladeSystem.build(published_recipe(of, remote_code=options["remote_code"]), of.model)
    _place(system, options["device"])
    bench.progress(f"encoding articles with {of.name}", 0, 1)
    made_ = system.retriever(bench.corpus)
    bench.progress(f"encoding articles with {of.name}", 1, 1)
    return made_


@dataclass
class PairModel:
    """A published model that reads question and article together, loaded when it is first used."""

    published: HubRecipe
    options: Mapping[str, Any]  # remote_code, and the device
    _system: CrossEncoder | None = field(default=None, repr=False)

    @property
    def depth(self) -> int:
        """How many articles it puts in order where nobody says."""
        return Pairwise().rerank

    def reader(self, bench: BenchLike) -> Reranker:
        """Return it as what puts any system's first articles in order.

        Raises:
            MissingExtra: torch is not installed.
            BadInput: the model cannot be loaded, or says more than one number of a pair.
        """
        if self._system is None:
            require()
            recipe = published_recipe(self.published, remote_code=self.options["remote_code"])
            try:
                self._system = CrossEncoder.build(recipe, self.published.model)
            except RuntimeError as error:  # torch's, of a head with other outputs than one
                raise BadInput(
                    f"{self.published.model} does not say one number of a pair: give a model with one output"
                ) from error
            _place(self._system, self.options["device"])
        return PairReader(self._system, bench.corpus.articles)


def pair_models(
    encoders: Sequence[str], *, remote_code: bool = False, device: str | None = None
) -> dict[str, PairModel]:
    """Return those of the encoders that read question and article together, by name: "encoder:NAME".

    Raises:
        BadInput: one brings code that may not be run, or two are of one name.
    """
    found: dict[str, PairModel] = {}
    for typed in encoders:
        recipe = model_recipes.find_recipe(typed)
        if recipe.kind != "cross-encoder":
            continue
        model_recipes.check(recipe, kinds=("cross-encoder",), remote_code=remote_code)
        name = f"{ENCODER}{PurePath(recipe.name).name}".replace(",", "-")
        if name in found:
            raise BadInput(f"{name} was given twice, or two folders bear this name: rename one")
        found[name] = PairModel(recipe, {"remote_code": remote_code, "device": device})
    return found


def _place(system: NeuralSystem, device: str | None) -> None:
    import torch

    system.module.to(device or ("cuda" if torch.cuda.is_available() else "cpu")).eval()
