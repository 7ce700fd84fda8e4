"""Recipes of pretrained models: pooling, prompts and window by name, from `hub.toml`.

What a folder's own files say of the model in it, without loading it.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from importlib.resources import files
from pathlib import Path, PurePath
from typing import Any, Literal, TypeAlias, get_args

from rag.encoders.late_interaction import LateInteractionEncoder, late_kind, load_late
from rag.encoders.transformer import Pooling, TransformerEncoder, load_model
from rag.errors import BadInput


def folder_kind(folder: Path) -> Literal["sparse", "cross-encoder"] | None:
    """Return the kind of a model that is no encoder of vectors; None where the files do not say so.

    A SPLADE of sentence-transformers names its pooling, and a classifier its head.
    """
    if any("SpladePooling" in str(module) for module in _read(folder / "modules.json", [])):
        return "sparse"
    heads = _read(folder / "config.json", {}).get("architectures") or ()
    return "cross-encoder" if any(str(h).endswith("ForSequenceClassification") for h in heads) else None


def folder_window(folder: Path) -> int | None:
    """Return how many tokens it reads; None where the files do not say."""
    found = _read(folder / "config.json", {}).get("max_position_embeddings")
    return found if isinstance(found, int) else None


def folder_similarity(folder: Path) -> str | None:
    """Return by what its vectors are compared, as sentence-transformers wrote it; None where it did not."""
    found = _read(folder / "config_sentence_transformers.json", {}).get("similarity_fn_name")
    return found if isinstance(found, str) else None


def _read(path: Path, otherwise: Any) -> Any:  # noqa: ANN401 - JSON
    """Return what a JSON file holds; one that lacks, or is of another shape, says nothing."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return otherwise
    return found if isinstance(found, type(otherwise)) else otherwise


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


_KEYS = {field.name for field in fields(HubRecipe)} - {"name"}
_NEEDED = ("model", "kind", "window", "source")
_TYPES: Mapping[str, type] = {
    **dict.fromkeys(("window", "question_window", "chunk", "overlap"), int),
    **dict.fromkeys(("bare", "remote_code"), bool),
}
_CHOICES: Mapping[str, Sequence[str]] = {
    "kind": get_args(Kind),
    "pooling": get_args(Pooling),
    "similarity": get_args(Similarity),
}


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
    """Return the recipe of a name, or one made up for another hub id or folder: mean pooling, chunks 200/20.

    Args:
        name: of a recipe, its hub id, another hub id, or a folder.
        pooling: instead of what the recipe says.
    """
    known = recipes()
    found = known.get(name) or next((r for r in known.values() if r.model == name), None)
    if found is None:
        if pooling is None and Path(name).is_dir() and late_kind(name):
            return HubRecipe(name, name, "late-interaction", 0, "typed", chunk=0, overlap=0)
        if pooling is None and (kind := folder_kind(Path(name))) is not None:
            return _typed(name, kind)
        # `bare` only where a pooling was asked for: a folder may know its own
        return HubRecipe(name, name, "dense", 0, "typed", pooling=pooling, bare=pooling is not None)
    if pooling is None or pooling == found.pooling:
        return found
    return HubRecipe(
        **{field.name: getattr(found, field.name) for field in fields(HubRecipe)}
        | {"pooling": pooling, "bare": True}
    )


def _typed(name: str, kind: Kind) -> HubRecipe:
    said = folder_similarity(Path(name)) if kind == "sparse" else None
    similarity: Similarity | None = "cosine" if said == "cosine" else None
    window = min(folder_window(Path(name)) or WINDOW, WINDOW)
    return HubRecipe(name, name, kind, window, "typed", chunk=0, overlap=0, similarity=similarity)


def check(recipe: HubRecipe, *, kinds: Sequence[Kind] = ("dense",), remote_code: bool = False) -> None:
    """Refuse what `load` would refuse before it loads anything.

    Args:
        recipe: which.
        kinds: those that can be used.
        remote_code: whether code that comes with a model may be run.

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
    """Load the encoder of a recipe.

    Args:
        recipe: of a dense model.
        remote_code: run Python code that comes with the model.
        device: None takes the best there is.

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
    """Load the encoder of a recipe of late interaction.

    Args:
        recipe: of such a model.
        remote_code: run Python code that comes with the model.
        device: None takes the best there is.

    Raises:
        MissingExtra: sentence-transformers is not installed.
        BadInput: a model of another kind, one whose code may not be run, or one that cannot be loaded.
    """
    check(recipe, kinds=("late-interaction",), remote_code=remote_code)
    model = load_late(
        recipe.model,
        device=device,
        question_window=recipe.question_window,
        window=recipe.window or None,
        remote_code=remote_code,
    )
    return LateInteractionEncoder(model)
