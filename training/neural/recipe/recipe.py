"""Reads recipes: `training/recipes/NAME.toml`, or a file of one's own."""

from __future__ import annotations

import copy
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_type_hints

from rag.errors import BadInput
from training.eval.metrics import parse
from training.neural.recipe.settings import LOSSES, PAIRS, POSITIONS, LowRank, Recipe, Scratch, Text
from training.neural.recipe.toml import choose, read_table

FOLDER = Path(__file__).parents[2] / "recipes"
SOURCES = ("bm25", "model", "siblings", "random", "published")  # of negatives


@dataclass(frozen=True, slots=True)
class _Head:
    """The keys of a recipe that stand in no table."""

    name: str
    system: str
    about: str = ""
    paper: str = ""
    needs: Literal["questions"] | None = None


_FIELDS = get_type_hints(Recipe)
_TABLES = {name: _FIELDS[name] for name in ("model", "text", "training", "negatives", "evaluation")}


def names() -> list[str]:
    """Return the names of the recipes that ship."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def read_recipe(named: str, changes: Sequence[str] = (), *, scratch: bool = False) -> Recipe:
    """Read a recipe that ships, or a file.

    Changes are of settings, such as "training.batch=8", with values as in TOML; `scratch` puts a small
    encoder with random weights in the place of its backbone.

    Raises:
        BadInput: no such recipe, or it cannot be used; the text names the key and what was expected.
    """
    path = FOLDER / f"{named}.toml" if named in names() else Path(named)
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, IsADirectoryError):
        what = f"{named} is a folder" if path.is_dir() else f"no recipe {named!r}"
        raise BadInput(f"{what}: give the path of a TOML file or one of {', '.join(names())}") from None
    except UnicodeDecodeError as error:
        raise BadInput(f"{path}: not UTF-8 ({error.reason}). Save it as UTF-8.") from None
    except tomllib.TOMLDecodeError as error:
        raise BadInput(f"{path}: not TOML ({error}). Mend the line.") from None
    for change in changes:
        _change(tables, change)
    return parse_recipe(_with_scratch(tables, path.name) if scratch else tables, path.name)


def parse_recipe(tables: Mapping[str, Any], where: str = "recipe") -> Recipe:
    """Parse a recipe from the tables of TOML or JSON; BadInput says why they cannot be used."""
    head = read_table(_Head, {k: v for k, v in tables.items() if k not in (*_TABLES, "loss")}, f"{where}:")
    losses = choose(head.system, LOSSES, f"{where}: system")
    parts = {n: read_table(kind, tables.get(n, {}), f"{where}: [{n}]") for n, kind in _TABLES.items()}
    loss = read_table(losses, tables.get("loss", {}), f"{where}: [loss]")
    recipe = Recipe(
        head.name, head.system, loss=loss, about=head.about, paper=head.paper, needs=head.needs,
        source=dict(tables), **parts,
    )  # fmt: skip
    _check(recipe, where)
    return recipe


def _with_scratch(tables: Mapping[str, Any], where: str) -> Mapping[str, Any]:
    """Return the tables with an encoder from scratch, which reads as long texts as they ask for."""
    model = tables.get("model", {})
    if not isinstance(model, dict) or not isinstance(model.get("scratch", {}), dict):
        return tables  # which are refused for it
    if tables.get("system") == "graph":  # whose encoder is not trained: the one of an index stands for it
        others = {key: value for key, value in model.items() if key != "scratch"}
        return {**tables, "model": {**others, "backbone": "static"}}
    model = {key: value for key, value in model.items() if key != "backbone"}
    table = dict(model.get("scratch", {}))
    if "positions" not in table:
        any_length = {**tables, "model": {**model, "scratch": {**table, "positions": POSITIONS[1]}}}
        table["positions"] = max(_longest(parse_recipe(any_length, where)), Scratch().positions)
    return {**tables, "model": {**model, "scratch": table}}


def _change(tables: dict[str, Any], change: str) -> None:
    key, equals, value = change.partition("=")
    *path, last = key.strip().split(".")
    if not equals or not all((*path, last)):
        raise BadInput(f"--set {change}: expected TABLE.KEY=VALUE, such as training.batch=8")
    try:
        found = tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        found = value  # a bare word is a text
    for part in path:
        tables = tables.setdefault(part, {})
        if not isinstance(tables, dict):
            raise BadInput(f"--set {change}: {part} is no table")
    tables[last] = copy.deepcopy(found)


def _check(recipe: Recipe, where: str) -> None:
    """Refuse what is well-formed and makes no sense together."""
    model, training = recipe.model, recipe.training
    if (model.backbone is None) == (model.scratch is None):
        raise BadInput(
            f'{where}: [model] needs either backbone = "HUB/ID" or a table [model.scratch]: --scratch takes '
            "the latter instead of the former"
        )
    if bool(training.steps) == bool(training.epochs):
        raise BadInput(f"{where}: [training] needs either steps or epochs, above 0")
    if recipe.system != "biencoder" and (model.towers == 2 or recipe.text.chunk_tokens or model.articles):
        raise BadInput(
            f'{where}: towers = 2, chunk_tokens and [model.articles] are for system = "biencoder" alone: '
            "take them out"
        )
    if model.articles and not (recipe.text.chunk_tokens and recipe.text.chunks):
        raise BadInput(
            f"{where}: [model.articles] joins the chunks of an article: [text] needs chunk_tokens, such as "
            "200, and chunks, the most that an article has, such as 8"
        )
    if (recipe.system == "graph") != (model.graph is not None):
        raise BadInput(f'{where}: system = "graph" and the table [model.graph] belong together: give both')
    graph = model.graph
    if graph is not None and graph.architecture == "hgt" and graph.hidden % graph.heads:
        raise BadInput(
            f"{where}: [model.graph] hidden = {graph.hidden} cannot be shared among heads = {graph.heads} of "
            "hgt: give a multiple of heads"
        )
    if recipe.system == "graph" and (model.scratch is not None or training.mini_batch):
        raise BadInput(
            f"{where}: a graph network has no [model.scratch] and no mini_batch: name an encoder, such as "
            'backbone = "static", and leave mini_batch out'
        )
    if isinstance(recipe.loss, LowRank) and not recipe.loss.targets:
        raise BadInput(f"{where}: [loss] targets is empty: name the layers that learn, such as q_proj")
    parse(recipe.evaluation.measure)
    if recipe.model.scratch is not None:
        _check_scratch(recipe, recipe.model.scratch, where)
    _check_text(recipe.text, f"{where}: [text]")
    _check_negatives(recipe, f"{where}: [negatives]")


def _check_text(text: Text, where: str) -> None:
    if text.chunk_tokens and text.chunk_overlap >= text.chunk_tokens:
        raise BadInput(f"{where} chunks of {text.chunk_tokens} tokens cannot overlap by {text.chunk_overlap}")
    if text.chunks and not text.chunk_tokens:
        raise BadInput(f"{where} chunks = {text.chunks} and no chunk_tokens: give those too, such as 200")
    if text.chunk_tokens and text.article_prompt:
        raise BadInput(f"{where} article_prompt and chunk_tokens exclude each other: drop one")
    if not text.fields:
        raise BadInput(f"{where} fields is empty: name one or more of code, headings, text")


def _check_negatives(recipe: Recipe, where: str) -> None:
    negatives = recipe.negatives
    begins = [stage.begins for stage in negatives.stages]
    if not begins or begins[0] != 0 or begins != sorted(set(begins)):
        raise BadInput(f"{where} stages begin at {begins}: expected 0 first, then rising")
    used = set()
    for stage in negatives.stages:
        for source, share in stage.mix.items():
            choose(source, dict.fromkeys(SOURCES), f"{where} stages mix")
            used |= {source} if share else set()
        if not any(stage.mix.values()):
            raise BadInput(f"{where} a stage's mix has no share above 0")
    if ("model" in used) != (negatives.model is not None):
        raise BadInput(f'{where} the source "model" and model = "RESULT FOLDER" belong together: give both')
    lacking = recipe.system in PAIRS and not negatives.per_question
    if lacking or not (negatives.in_batch or negatives.per_question):
        raise BadInput(f"{where} there are none to learn from: set per_question to 1 or more")


def _check_scratch(recipe: Recipe, scratch: Scratch, where: str) -> None:
    if scratch.width % scratch.heads:
        raise BadInput(
            f"{where}: [model.scratch] width {scratch.width} is no multiple of its {scratch.heads} heads"
        )
    if recipe.system == "yes-no" and scratch.width // scratch.heads % 2:
        raise BadInput(f"{where}: [model.scratch] each of its heads needs an even share of width")
    longest = _longest(recipe)
    if longest > scratch.positions:
        raise BadInput(
            f"{where}: [text] texts of {longest} tokens, [model.scratch] reads {scratch.positions}: set "
            f"positions to {longest}"
        )


def _longest(recipe: Recipe) -> int:
    if recipe.system in PAIRS:
        return recipe.text.article_tokens  # of both together
    if recipe.system == "lsi":
        return recipe.text.question_tokens  # no article is read
    return recipe.text.longest
