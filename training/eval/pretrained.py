"""Systems that learn nothing here: word vectors and pretrained encoders, models that re-rank among them."""

from __future__ import annotations

import argparse
import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from functools import cache, partial
from pathlib import Path, PurePath
from typing import TypeAlias, get_args

import numpy as np

from rag.encoders import model_recipes
from rag.encoders.model_recipes import HubRecipe
from rag.encoders.transformer import TransformerEncoder, article_text, resolve_commit
from rag.encoders.word_vectors import VectorFile, WordVectorEncoder, open_vectors, word_splitter
from rag.errors import BadInput
from rag.retrieval.colbert import ColBERT
from rag.retrieval.dense import Dense, build_vectors
from rag.retrieval.token_index import TokenVectors
from rag.types import Floats, Reranker, Retriever
from training.eval.context import BenchLike, Extra, FoldContext, RerankMethod
from training.eval.system_names import ENCODER
from training.neural.recipe.recipe import parse_recipe
from training.neural.recipe.settings import Pairwise, Recipe
from training.neural.systems.backbone import require
from training.neural.systems.cross_encoder import CrossEncoder, PairReader
from training.neural.systems.splade import SpladeSystem

PROGRESS_BATCH = 256  # articles encoded between two looks at the progress
Say: TypeAlias = Callable[[str], object]


def zero_shot(
    parsed: argparse.Namespace, questions: Sequence[str], say: Say
) -> tuple[dict[str, Extra], dict[str, RerankMethod]]:
    """Return the systems `vectors:NAME` and `encoder:NAME`, and the encoders that read pairs, which re-rank.

    Files and names are checked now, models are loaded when the system is made. The words of the questions
    are looked up together with the corpus's.

    Raises:
        BadInput: no such file, no such kind of model, two of one name, or code that may not be run.
    """
    made: dict[str, Extra] = {}
    pairs: dict[str, RerankMethod] = {}

    def add(
        name: str, make: Callable[[BenchLike], Retriever], made_of: str, model: str | None = None
    ) -> None:
        if name in made:
            raise BadInput(f"{name} was given twice, or two files bear this name: rename one")
        once = cache(make)  # it learns from no question: the same in every fold
        made[name] = Extra(lambda bench, context, system: once(bench), model=model, made_of=(made_of,))

    for path in parsed.vectors:
        file = open_vectors(path)
        add(_system_name("vectors:", file.name), partial(_vectors, file, questions, say), str(path))
    for typed in parsed.encoder:
        recipe = model_recipes.find_recipe(typed)
        if recipe.kind != "cross-encoder":  # which knows no pooling
            recipe = model_recipes.find_recipe(typed, pooling=parsed.pooling)
        if recipe.kind == "yes-no":
            raise BadInput(
                f"{recipe.name} says yes or no of a pair: give --rerank yes-no:bm25 --yes-no-model "
                f"{recipe.name} instead"
            )
        model_recipes.check(recipe, kinds=get_args(model_recipes.Kind), remote_code=parsed.remote_code)
        commit = resolve_commit(recipe.model, recipe.revision)
        recipe = replace(recipe, revision=commit or recipe.revision)
        model = f"{recipe.model}@{commit}" if commit else None
        name = _system_name(ENCODER, PurePath(recipe.name).name)
        if recipe.kind != "cross-encoder":
            add(name, partial(_MAKERS[recipe.kind], recipe, parsed), repr(recipe), model)
        elif name in pairs:
            raise BadInput(f"{name} was given twice, or two folders bear this name: rename one")
        else:
            depth = parsed.rerank_depth or Pairwise().rerank
            pairs[name] = RerankMethod(_pair_reader(recipe, parsed), depth, model)
    if both := sorted(set(pairs) & set(made)):
        raise BadInput(f"{both[0]} was given twice, or two folders bear this name: rename one")
    return made, pairs


def _system_name(prefix: str, name: str) -> str:
    return f"{prefix}{name}".replace(",", "-")  # a comma parts the names of a fusion


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


def _dense(recipe: HubRecipe, parsed: argparse.Namespace, bench: BenchLike) -> Dense:
    encoder = model_recipes.load(recipe, remote_code=parsed.remote_code, device=parsed.device)
    # the same weights, recipe and articles give the same vectors: hours of work for a large model
    key = {"weights": encoder.sha256, **asdict(recipe)}
    name = hashlib.sha256(json.dumps(key, sort_keys=True).encode()).hexdigest()[:16]
    vectors = bench.cache(f"vectors-{name}", partial(_encode, encoder, bench), _save, _load)
    return Dense(encoder, build_vectors(vectors), bench.order, bench.mask)


def _late_interaction(recipe: HubRecipe, parsed: argparse.Namespace, bench: BenchLike) -> ColBERT:
    encoder = model_recipes.load_tokens(recipe, remote_code=parsed.remote_code, device=parsed.device)
    bench.progress(f"encoding tokens with {recipe.name}", 0, 1)
    vectors = TokenVectors.temporary(encoder.dim, encoder.in_batches(bench.corpus.articles))
    bench.progress(f"encoding tokens with {recipe.name}", 1, 1)
    return ColBERT(encoder, vectors, bench.order, bench.mask)


def _splade(recipe: HubRecipe, parsed: argparse.Namespace, bench: BenchLike) -> Retriever:
    require()
    system = SpladeSystem.build(published_recipe(recipe, remote_code=parsed.remote_code), recipe.model)
    system.to(parsed.device)
    bench.progress(f"encoding articles with {recipe.name}", 0, 1)
    made = system.retriever(bench.corpus)
    bench.progress(f"encoding articles with {recipe.name}", 1, 1)
    return made


_MAKERS: Mapping[str, Callable[[HubRecipe, argparse.Namespace, BenchLike], Retriever]] = {
    "dense": _dense,
    "late-interaction": _late_interaction,
    "sparse": _splade,
}


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


def published_recipe(of: HubRecipe, *, remote_code: bool = False) -> Recipe:
    """Return the recipe that reads texts as a published model wants them, "sparse" or "cross-encoder".

    What it says of training is not used. Of a pair the question has a quarter of the window, as in our
    recipes of monoBERT, where nothing is said of it.
    """
    pairs = of.kind == "cross-encoder"
    question_window = of.question_window or (of.window // 4 if pairs else of.window)
    text = {"question_tokens": question_window, "article_tokens": of.window}
    prompts = {"question_prompt": of.question_prompt, "article_prompt": of.passage_prompt}
    return parse_recipe(
        {
            "name": PurePath(of.name).name,
            "system": "cross-encoder" if pairs else "splade",
            "model": {"backbone": of.model, "remote_code": remote_code}
            | ({"revision": of.revision} if of.revision else {}),
            "text": {**text, **prompts},
            "training": {"batch": 1, "steps": 1},
            "negatives": {"per_question": 1},
            "loss": {} if pairs else {"similarity": of.similarity or "dot"},
        },
        of.name,
    )


def _pair_reader(of: HubRecipe, parsed: argparse.Namespace) -> Callable[[BenchLike, FoldContext], Reranker]:
    """Return what makes a reader of a published model, which is loaded when it is first used."""

    @cache
    def loaded() -> CrossEncoder:
        require()
        recipe = published_recipe(of, remote_code=parsed.remote_code)
        try:
            system = CrossEncoder.build(recipe, of.model)
        except RuntimeError as error:  # torch's, of a head with other outputs than one
            raise BadInput(
                f"{of.model} does not say one number of a pair: give a model with one output"
            ) from error
        system.to(parsed.device)
        return system

    return lambda bench, context: PairReader(loaded(), bench.corpus.articles)
