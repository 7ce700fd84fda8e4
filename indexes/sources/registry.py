"""Where law comes from: one file a source; `SOURCES` names them, `load` calls one by its name."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from indexes.corpus.card import CardOptions
from indexes.corpus.corpus import ARTICLES, Corpus
from indexes.formats.validation import ImportReport
from indexes.sources import (
    bbsard,
    beir,
    bsard,
    de,
    fr,
    jurifindit,
    legi,
    lleqa,
    mmarco,
    pandect,
    parquet,
    stard,
    stard_original,
    table,
    trec,
)
from indexes.sources.source import Source
from rag.errors import BadInput
from rag.types import Progress, no_progress

__all__ = ["SOURCES", "Source", "detect", "load", "options", "recognise"]

SOURCES: Mapping[str, Source] = MappingProxyType(
    {
        "pandect": pandect.SOURCE,
        "stard": stard.SOURCE,
        "fr": fr.SOURCE,
        "de": de.SOURCE,
        "stard-original": stard_original.SOURCE,
        "bsard": bsard.SOURCE,
        "bbsard": bbsard.SOURCE,
        "lleqa": lleqa.SOURCE,
        "jurifindit": jurifindit.SOURCE,
        "mmarco": mmarco.SOURCE,
        "legi": legi.SOURCE,
        "beir": beir.SOURCE,
        "trec": trec.SOURCE,
        "parquet": parquet.SOURCE,
        "table": table.SOURCE,
    }
)
_WITH_CARDS = ("beir", "trec", "parquet")  # our exports in these have a card.json, by which pandect is known
_LINES = (".jsonl", ".jsonl.gz")
_COMMON = ("lenient", "progress")


def load(
    name: str, path: Path, /, *, lenient: bool = False, progress: Progress = no_progress, **given: object
) -> tuple[Corpus, ImportReport]:
    """Load a corpus with the source of this name.

    Args:
        name: a key of `SOURCES`.
        path: the file or folder that the source reads.
        lenient: skip and count bad input instead of stopping at the first.
        progress: called with bytes read and bytes in all, for each file.
        given: the source's own options and those of the card; a None is as good as absent.

    Raises:
        BadInput: no such source or option, or the files cannot be used.
    """
    if name not in SOURCES:
        raise BadInput(f"no source {name!r}. Use one of: {', '.join(SOURCES)}.")
    known = options(name)
    given = {key: value for key, value in given.items() if value is not None}
    unknown = sorted(given.keys() - set(known))
    if unknown:
        raise BadInput(f"the source {name} has no option {', '.join(unknown)}. It has: {', '.join(known)}.")
    given = {key: _switch(name, key, value) for key, value in given.items()}
    return SOURCES[name].load(path, lenient=lenient, progress=progress, **given)


def _switch(name: str, key: str, value: object) -> object:
    """Return the truth value of one typed for an option that is a switch; others as they are."""
    parameter = inspect.signature(SOURCES[name].load).parameters.get(key)
    if parameter is None or not isinstance(parameter.default, bool) or not isinstance(value, str):
        return value
    if value.casefold() not in ("true", "false"):
        raise BadInput(f"the option {key} of {name} is {value!r}. Give true or false.")
    return value.casefold() == "true"


def options(name: str) -> tuple[str, ...]:
    """Return the options of a source: its own, then those of the card."""
    parameters = inspect.signature(SOURCES[name].load).parameters.values()
    own = [p.name for p in parameters if p.kind is p.KEYWORD_ONLY and p.name not in _COMMON]
    return (*own, *CardOptions.__annotations__)


def detect(path: Path) -> str:
    """Return the name of the source that reads this path, judged by its files; `pandect` if none is sure."""
    return recognise(path) or "pandect"


def law(path: Path, *, language: str | None = None) -> Corpus:
    """Read law in whatever format it is recognised by.

    Args:
        path: a corpus folder, its file of articles or a data set.
        language: two letters, where the files do not tell it.

    Raises:
        BadInput: there is no such path, or the files cannot be used.
    """
    if not path.exists():
        raise BadInput(f"{path} does not exist: give a corpus folder or its articles.jsonl.gz")
    corpus, _ = load(detect(path), path, language=language)
    return corpus


def recognise(path: Path) -> str | None:
    """Return the name of the source that surely reads this path, or None where its files tell nothing."""
    order = sorted(SOURCES, key=lambda name: name not in _WITH_CARDS)
    own = path.name.lower().endswith(_LINES) or any((path / name).is_file() for name in ARTICLES)
    sure = (name for name in order if SOURCES[name].recognises(path) and not (own and name == "table"))
    return next(sure, "pandect" if own else None)
