"""What `python -m indexes import --help` says of formats, their options, and cleaning."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping

from indexes import sources
from indexes.cleaning import KINDS
from indexes.corpus.card import CardOptions

_WIDTH = 100  # of a line
_CLEANING = """\
cleaning, for --clean, in the order in which it is done. Original texts and removed articles are kept
in the corpus folder; an article that a question cites is never lost."""
_TAGS = """\
tags=true puts what the askers' tags say in front of the questions: their situation in BSARD and bBSARD
(extra_description), regions and topics in LLeQA, topics in JuriFindIT; tags=COLUMN,COLUMN takes these."""


def described() -> str:
    """Return the formats, the options of each, and the kinds of cleaning."""
    formats = {name: source.summary for name, source in sources.SOURCES.items()}
    options = {name: ", ".join(own) for name in formats if (own := _own(name))}
    parts = ["Read law and its questions from files.", "", "formats, for --from:", *_table(formats)]
    parts += ["", "their options, for --option:", *_table(options), "", _TAGS, "", _CLEANING, *_table(KINDS)]
    return "\n".join(parts)


def _own(name: str) -> list[str]:
    """Return the options that are the format's alone; columns have a switch of their own."""
    return [key for key in sources.options(name) if key not in (*CardOptions.__annotations__, "column")]


def _table(rows: Mapping[str, str]) -> list[str]:
    width = max(map(len, (*sources.SOURCES, *KINDS))) + 4
    return [
        line
        for name, text in rows.items()
        for line in textwrap.wrap(
            text, _WIDTH, initial_indent=f"  {name}".ljust(width), subsequent_indent=" " * width
        )
    ]
