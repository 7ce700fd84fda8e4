"""Where law comes from: one file a source; `SOURCES` names them, `load` calls one by its name."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import cast

from indexes.corpus import digest
from indexes.corpus.card import CardOptions, with_options
from indexes.corpus.corpus import ARTICLES, Corpus
from indexes.formats.validation import ImportReport, Inspection
from indexes.sources import (
    beir,
    bsard,
    jurifindit,
    legi,
    lleqa,
    mmarco,
    pandect,
    parquet,
    stard_original,
    table,
    trec,
)
from indexes.sources.akoma_ntoso import source as akoma_ntoso
from indexes.sources.publishers import gesetze_im_internet
from indexes.sources.source import Reading, Source
from rag.errors import BadInput
from rag.types import Progress, no_progress


def _read_digest(path: Path, reading: Reading, *, official: str | None = None) -> Corpus:
    """Read a digest with the law that it was written from, which any source may read."""
    if official is None:
        raise BadInput(
            f"{path}: a digest has its numbers, headings and links from the official law. Give the law that "
            "it was written from, in any format that import reads: --option official=PATH"
        )
    card = with_options(digest.read_card(path), reading.card)
    written = digest.read_digest(path, reading.inspection)
    texts = law(Path(official), language=card.language).articles
    return digest.assemble(texts, card, digest.read_laws(path), written)


SOURCES: Mapping[str, Source] = MappingProxyType(
    {
        "pandect": pandect.SOURCE,
        **pandect.MEASURING,
        "digest": Source(
            "a folder with card.json, laws.json, digest.jsonl, questions.jsonl; official=PATH is its law",
            _read_digest,
            recognises=lambda path: (path / digest.DIGEST).is_file(),
        ),
        "stard-original": stard_original.SOURCE,
        "bsard": bsard.SOURCE,
        "bbsard": bsard.BILINGUAL,
        "lleqa": lleqa.SOURCE,
        "jurifindit": jurifindit.SOURCE,
        "mmarco": mmarco.SOURCE,
        "legi": legi.SOURCE,
        "akoma-ntoso": akoma_ntoso.SOURCE,
        "gesetze-im-internet": gesetze_im_internet.SOURCE,
        "beir": beir.SOURCE,
        "trec": trec.SOURCE,
        "parquet": parquet.SOURCE,
        "table": table.SOURCE,
    }
)


def load(
    name: str, path: Path, /, *, lenient: bool = False, progress: Progress = no_progress, **given: object
) -> tuple[Corpus, ImportReport]:
    """Load a corpus with the source of this name, a key of `SOURCES`.

    A lenient load skips and counts bad input instead of stopping at the first. What is given are the
    source's own options and those of the card; a None is as good as absent.

    Raises:
        BadInput: no such source or option, or the files cannot be used.
    """
    if name not in SOURCES:
        raise BadInput(f"no source {name!r}. Use one of: {', '.join(SOURCES)}.")
    known, own = options(name), own_options(name)
    given = {key: value for key, value in given.items() if value is not None}
    unknown = sorted(given.keys() - set(known))
    if unknown:
        raise BadInput(f"the source {name} has no option {', '.join(unknown)}. It has: {', '.join(known)}.")
    typed = {key: value for key, value in given.items() if key in own}
    for key, value in typed.items():
        if isinstance(own[key].default, bool) and isinstance(value, str):  # a switch
            if value.casefold() not in ("true", "false"):
                raise BadInput(f"the option {key} of {name} is {value!r}. Give true or false.")
            typed[key] = value.casefold() == "true"
    card = cast("CardOptions", {key: value for key, value in given.items() if key not in own})
    inspection = Inspection(lenient=lenient)
    corpus = SOURCES[name].read(path, Reading(inspection, progress, card), **typed)
    return corpus, inspection.report(len(corpus.articles), len(corpus.questions))


def own_options(name: str) -> Mapping[str, inspect.Parameter]:
    """Return the options of a source that are not those of the card."""
    parameters = inspect.signature(SOURCES[name].read).parameters
    return {key: each for key, each in parameters.items() if each.kind is each.KEYWORD_ONLY}


def options(name: str) -> tuple[str, ...]:
    """Return the options of a source: its own, then those of the card."""
    return (*own_options(name), *CardOptions.__annotations__)


def detect(path: Path) -> str:
    """Return the name of the source that reads this path, judged by its files; `pandect` if none is sure."""
    return recognise(path) or "pandect"


def law(path: Path, *, language: str | None = None) -> Corpus:
    """Read a corpus folder, its file of articles or a data set; the language is for files that tell none.

    Raises:
        BadInput: there is no such path, or the files cannot be used.
    """
    if not path.exists():
        raise BadInput(f"{path} does not exist: give a corpus folder or its articles.jsonl.gz")
    corpus, _ = load(detect(path), path, language=language)
    return corpus


def recognise(path: Path) -> str | None:
    """Return the name of the source that surely reads this path, or None where its files tell nothing."""
    carded = (
        "digest",
        "beir",
        "trec",
        "parquet",
    )  # ours of these have a card.json, by which pandect is known
    order = (*carded, *SOURCES)
    own = path.name.lower().endswith((".jsonl", ".jsonl.gz")) or any(
        (path / name).is_file() for name in ARTICLES
    )
    sure = (name for name in order if SOURCES[name].recognises(path) and not (own and name == "table"))
    return next(sure, "pandect" if own else None)
