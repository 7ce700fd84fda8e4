"""Recipes of pretrained models: pooling, prompts and window by name, from `hub.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from importlib.resources import files
from pathlib import Path, PurePath
from typing import Literal, TypeAlias, get_args

from rag.encoders.late_interaction import LateInteractionEncoder, late_kind, load_late, read_json
from rag.encoders.transformer import Pooling, TransformerEncoder, load_model
from rag.errors import BadInput

Kind: TypeAlias = Literal["dense", "sparse", "late-interaction", "cross-encoder", "yes-no"]
Similarity: TypeAlias = Literal["cosine", "dot"]
_ENCODERS: Mapping[str, str] = {
    "dense": "one vector a text",
    "late-interaction": "one a token",
    "sparse": "weights of terms",
    "cross-encoder": "pairs",
}
WINDOW = 512  # tokens that a folder's model reads at most where its kind is known by its files alone: BERT's
CHUNK, OVERLAP = 200, 20  # tokens: those of BSARD (Louis & Spanakis 2022)


@dataclass(frozen=True, slots=True)
class HubRecipe:
    """How a pretrained model wants its text."""

    name: str
    model: str  # its id on the hub
    kind: Kind
    window: int  # tokens of an article that it reads at once
    source: str  # where the values are from
    pooling: Pooling | None = None
    question_prompt: str = ""
    passage_prompt: str = ""
    question_task: str | None = None  # the adapter for questions, of models that have one a task
    passage_task: str | None = None
    question_window: int | None = None  # tokens of a question, where they are fewer
    chunk: int = CHUNK  # tokens; 0 reads an article in one piece
    overlap: int = OVERLAP
    bare: bool = False  # the hub has the transformer alone: the pooling is put on here
    remote_code: bool = False  # it brings Python code of its own
    similarity: Similarity | None = None  # of sparse weights; None is the dot product
    revision: str | None = None  # of the hub; None is the newest


_KEYS = {field.name for field in fields(HubRecipe)} - {"name"}
_NEEDED = ("model", "kind", "window", "source")
_TYPES: Mapping[str, type] = {
    **dict.fromkeys(("window", "question_window", "chunk", "overlap"), int),
    **dict.fromkeys(("bare", "remote_code"), bool),
}
_CHOICES = {"kind": get_args(Kind), "pooling": get_args(Pooling), "similarity": get_args(Similarity)}


@lru_cache(maxsize=1)
def recipes() -> Mapping[str, HubRecipe]:
    """Return the recipes that ship, by name."""
    return parse((files("rag.encoders") / "hub.toml").read_text(encoding="utf-8"), "hub.toml")


def parse(source: str, name: str) -> Mapping[str, HubRecipe]:
    """Read recipes, one a table.

    Raises:
        BadInput: no TOML, a key that nobody knows, one that lacks, or a value that it cannot have.
    """
    try:
        tables = tomllib.loads(source)
    except tomllib.TOMLDecodeError as error:
        raise BadInput(f"{name}: not TOML ({error})") from None
    return {key: _recipe(key, table, f"{name}, [{key}]") for key, table in tables.items()}


def _recipe(name: str, table: object, place: str) -> HubRecipe:
    if not isinstance(table, dict):
        raise BadInput(f"{place}: expected a table of keys such as model and pooling")
    if unknown := sorted(set(table) - _KEYS):
        raise BadInput(f"{place}: no key {unknown[0]!r}; expected {', '.join(sorted(_KEYS))}")
    if lacking := [key for key in _NEEDED if key not in table]:
        raise BadInput(f"{place}: {', '.join(lacking)} lacks")
    for key, value in table.items():
        wanted = _TYPES.get(key, str)
        if type(value) is not wanted:  # True is an int to isinstance
            raise BadInput(f"{place}: {key} = {value!r}; expected {wanted.__name__}")
    recipe = HubRecipe(name=name, **table)
    for key, known in _CHOICES.items():
        value = getattr(recipe, key)
        if value not in known and (value is not None or key in _NEEDED):
            raise BadInput(f"{place}: {key} {value!r}; expected {', '.join(known)}")
    if recipe.kind == "dense" and recipe.pooling is None:
        raise BadInput(f"{place}: a dense model needs its pooling")
    chunked = 0 <= recipe.overlap < recipe.chunk or recipe.chunk == recipe.overlap == 0
    if recipe.window < 1 or not chunked or recipe.chunk > recipe.window:
        raise BadInput(
            f"{place}: chunks of {recipe.chunk} overlapping by {recipe.overlap} in {recipe.window} tokens: "
            "give overlap < chunk <= window, or 0 and 0 for no chunks"
        )
    return recipe


def find_recipe(name: str, *, pooling: Pooling | None = None) -> HubRecipe:
    """Return the recipe of a name or its hub id, or one made up for another hub id or a folder.

    What is made up has mean pooling and chunks of 200/20; `pooling` is taken instead of what a recipe says.
    """
    known = recipes()
    found = known.get(name) or next((r for r in known.values() if r.model == name), None)
    if found is None:
        if pooling is None and Path(name).is_dir() and late_kind(name):
            return HubRecipe(name, name, "late-interaction", 0, "typed", chunk=0, overlap=0)
        # `bare` only where a pooling was asked for: a folder may know its own
        other = None if pooling is not None else _no_encoder(name)
        return other or HubRecipe(name, name, "dense", 0, "typed", pooling=pooling, bare=pooling is not None)
    return found if pooling in (None, found.pooling) else replace(found, pooling=pooling, bare=True)


def _no_encoder(name: str) -> HubRecipe | None:
    """Return the recipe of a folder whose files say that its model gives a text no single vector.

    A SPLADE of sentence-transformers names its pooling, and a classifier its head.
    """
    folder = Path(name)
    config = read_json(folder / "config.json", {})
    longest = config.get("max_position_embeddings")
    window = min(longest if isinstance(longest, int) and longest else WINDOW, WINDOW)
    if any("SpladePooling" in str(module) for module in read_json(folder / "modules.json", [])):
        declared = read_json(folder / "config_sentence_transformers.json", {}).get("similarity_fn_name")
        similarity: Similarity | None = "cosine" if declared == "cosine" else None
        return HubRecipe(name, name, "sparse", window, "typed", chunk=0, overlap=0, similarity=similarity)
    if any(str(head).endswith("ForSequenceClassification") for head in config.get("architectures") or ()):
        return HubRecipe(name, name, "cross-encoder", window, "typed", chunk=0, overlap=0)
    return None


def check(recipe: HubRecipe, *, kinds: Sequence[Kind] = ("dense",), remote_code: bool = False) -> None:
    """Refuse what `load` would refuse before it loads anything; `kinds` are those that can be used.

    Raises:
        BadInput: a model of another kind, or one whose code may not be run.
    """
    if recipe.kind not in kinds:
        known = ", ".join(sorted(name for name, r in recipes().items() if r.kind in kinds))
        wanted = " or ".join(_ENCODERS[kind] for kind in kinds)
        raise BadInput(
            f"{recipe.name} is no encoder of {wanted} but of the kind {recipe.kind!r}; expected one of "
            f"{known}, another hub id, or a folder"
        )
    if recipe.remote_code and not remote_code:
        raise BadInput(
            f"{recipe.name} brings Python code of its own, which would be run here: if you trust "
            f"{recipe.model}, add --remote-code"
        )


def load(recipe: HubRecipe, *, remote_code: bool = False, device: str | None = None) -> TransformerEncoder:
    """Load the encoder of a dense model's recipe, as `load_model` does.

    Raises:
        MissingExtra: sentence-transformers is not installed.
        BadInput: a model of another kind, one whose code may not be run, or one that cannot be loaded.
    """
    check(recipe, remote_code=remote_code)
    model = load_model(
        recipe.model,
        pooling=recipe.pooling if recipe.bare else None,
        window=recipe.window or None,
        remote_code=remote_code,
        device=device,
        revision=recipe.revision,
    )
    encoder = TransformerEncoder(
        model,
        question_prompt=recipe.question_prompt,
        passage_prompt=recipe.passage_prompt,
        chunk=recipe.chunk,
        overlap=recipe.overlap,
    )
    encoder.name = PurePath(recipe.name).name
    encoder.question_task, encoder.passage_task = recipe.question_task, recipe.passage_task
    return encoder


def load_tokens(
    recipe: HubRecipe, *, remote_code: bool = False, device: str | None = None
) -> LateInteractionEncoder:
    """Load the encoder of a recipe of late interaction; what cannot be is refused as by `load`."""
    check(recipe, kinds=("late-interaction",), remote_code=remote_code)
    model = load_late(
        recipe.model,
        device=device,
        question_window=recipe.question_window,
        window=recipe.window or None,
        remote_code=remote_code,
        revision=recipe.revision,
    )
    return LateInteractionEncoder(model)
