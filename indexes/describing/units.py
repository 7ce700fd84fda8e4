"""What a length is counted in, each with a name that says exactly how: characters, words, tokens."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from indexes.describing.spread import Spread
from indexes.formats.jsonl import Progress
from rag.errors import BadInput, MissingExtra
from rag.text.analysers import LANGUAGES, analyser

_RUN = re.compile(r"\w+")


@dataclass(frozen=True)
class Unit:
    """Counts one kind of thing in texts."""

    name: str  # how it is done, for people
    count: Callable[[Sequence[str]], list[int]]  # one number a text


Units = Mapping[str, Unit]  # "characters", "words", "tokens"
Report = Callable[[str, int, int], object]  # what is read, bytes read, bytes in all
_CHUNK = 512  # texts that are cut at once: a tokenizer does them in parallel


class Lengths:
    """The lengths of texts in every unit, counted as the texts come by."""

    def __init__(self, units: Units) -> None:
        self._units = units
        self._counts = {name: Counter[int]() for name in units}

    def add(self, texts: Iterable[str]) -> None:
        """Count the texts; none of them is kept."""
        stream = iter(texts)
        while chunk := list(islice(stream, _CHUNK)):
            for name, unit in self._units.items():
                self._counts[name].update(unit.count(chunk))

    def spreads(self) -> dict[str, Spread]:
        """Return unit -> lengths."""
        return {name: Spread.of(counts) for name, counts in self._counts.items()}


def progress_of(what: str, report: Report | None) -> Progress | None:
    """Return what readers of files call, for a report of several files."""
    if report is None:
        return None

    def tell(done: int, total: int | None) -> None:
        report(what, done, total or done)

    return tell


def units(language: str, tokenizer: str | None = None) -> Units:
    """Return the units of a language.

    Args:
        language: of the texts, ISO 639-1.
        tokenizer: a tokenizer.json, the folder of one, or an id on the Hugging Face hub; None counts
            the terms of the language's analyser, which is what BM25 sees.

    Raises:
        BadInput: the tokenizer cannot be had.
        MissingExtra: the package tokenizers is not installed.
    """
    return {
        "characters": Unit("Unicode code points", lambda texts: [len(text) for text in texts]),
        "words": _words(language),
        "tokens": _terms(language) if tokenizer is None else _tokens(tokenizer),
    }


def _words(language: str) -> Unit:
    if language not in LANGUAGES:
        return _runs()
    cut = analyser(language, stop_words=False, chinese="words", stem=False)
    elided = ", elided ones (l', dell') not" if language in ("fr", "it") else ""
    how = f"as they are written, stop words too{elided} ({cut.id})"
    return Unit(how, lambda texts: [len(cut.terms(text)) for text in texts])


def _terms(language: str) -> Unit:
    if language not in LANGUAGES:
        return _runs()
    cut = analyser(language)
    how = f"terms of the analyser, without stop words ({cut.id})"
    return Unit(how, lambda texts: [len(cut.terms(text)) for text in texts])


def _runs() -> Unit:
    """Count runs of letters and digits, for a language that has no analyser here."""
    return Unit("runs of letters and digits", lambda texts: [len(_RUN.findall(text)) for text in texts])


def _tokens(wanted: str) -> Unit:
    try:
        from tokenizers import Tokenizer
    except ImportError as error:
        raise MissingExtra(
            "--tokenizer needs the package tokenizers, without torch: pip install tokenizers"
        ) from error
    place = Path(wanted).expanduser()
    file = place / "tokenizer.json" if place.is_dir() else place
    try:
        made: Any = Tokenizer.from_file(str(file)) if file.is_file() else Tokenizer.from_pretrained(wanted)
    except Exception as error:  # it raises bare Exceptions, and those of the hub's client
        raise BadInput(
            f"--tokenizer {wanted}: cannot be had ({error}): give a tokenizer.json, the folder of one, or "
            "the id of a model on the hub that has one and can be reached"
        ) from error
    made.no_truncation()  # a model's own cut at 512 tokens would hide every longer article
    made.no_padding()
    digest = hashlib.sha256(made.to_str().encode()).hexdigest()[:12]
    name = file.parent.name if file.is_file() and file.name == "tokenizer.json" else place.name
    name = name if file.is_file() else wanted

    def count(texts: Sequence[str]) -> list[int]:
        return [len(found.ids) for found in made.encode_batch(list(texts), add_special_tokens=False)]

    return Unit(f"{name} (tokenizers, sha256 {digest}), special tokens not counted", count)
