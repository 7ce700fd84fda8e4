"""The card of a corpus as card.json, and as options typed on a command line."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, fields
from datetime import date
from pathlib import Path
from typing import Any, TypeAlias, TypedDict, TypeVar

from indexes.corpus.articles import day, text, texts
from indexes.formats.jsonl import Record, decode
from indexes.formats.limits import RECORD
from indexes.formats.validation import Inspection, SkipReason, SourceLocation, UnfitError
from rag.corpus.card import EVENTS, THEMES, Contact, CorpusCard, Elsewhere, LoadedLaw, Moved, Step
from rag.errors import BadInput

FILE = "card.json"
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")
_LANGUAGE = re.compile(r"[a-z]{2}")
_LANGUAGES = "fr, nl, en, de, it, zh"  # those that questions can be asked in
_KINDS = ("official", "summary")
_Parser: TypeAlias = Callable[[Record, str], object]
_T = TypeVar("_T", CorpusCard, Contact, Elsewhere, LoadedLaw, Moved, Step)


class CardOptions(TypedDict, total=False):
    """What may be said of a corpus when it is imported; it overrides what the source says."""

    name: str
    title: str
    language: str
    jurisdiction: str
    licence: str
    licence_url: str
    source: str
    law_date: str
    official_site: str
    text_kind: str
    note: str


def read_card(path: Path) -> CorpusCard:
    """Read a card.json.

    Raises:
        BadInput: it is not JSON, a key is unknown or missing, or a value is of another type.
    """
    try:
        if path.stat().st_size > RECORD:
            raise BadInput(
                f"{path}: more than {RECORD // 2**20} MB came, which no card is. Write a short one."
            )
        content = path.read_bytes()
    except OSError as error:
        cure = f"Write a {FILE} beside the articles"
        raise BadInput(f"{path}: cannot be read ({error.strerror}). {cure}.") from None
    try:
        record = json.loads(decode(content, SourceLocation(path, 1), Inspection()) or "")
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{path}: not JSON ({error}). Correct it at that place.") from None
    if not isinstance(record, dict):
        cure = 'Write {"name": ..., "title": ..., "language": ...}'
        raise BadInput(f"{path}: an object was expected. {cure}.")
    return parse_card(record, str(path))


def parse_card(record: Record, where: str) -> CorpusCard:
    """Make a card of a record; `where` begins the errors."""
    try:
        json.dumps(record, ensure_ascii=False, default=str).encode()
    except UnicodeEncodeError as error:
        half = error.object[error.start : error.end]
        raise BadInput(
            f"{where}: {half!r} in it cannot be written as UTF-8. Remove that character."
        ) from None
    try:
        card = _build(CorpusCard, record)
    except UnfitError as unfit:
        raise BadInput(f"{where}: {unfit.problem}. {unfit.cure}.") from None
    if not _NAME.fullmatch(card.name):  # it becomes the name of a folder
        cure = "Use lower-case letters, digits and hyphens, 64 at most"
        raise BadInput(f"{where}: name is {card.name!r}. {cure}.")
    if not _LANGUAGE.fullmatch(card.language):
        raise BadInput(f"{where}: language is {card.language!r}. Use two letters of ISO 639-1: {_LANGUAGES}.")
    if card.text_kind not in _KINDS:
        raise BadInput(f"{where}: text_kind is {card.text_kind!r}. Use one of: {', '.join(_KINDS)}.")
    return card


def card_bytes(card: CorpusCard) -> bytes:
    """Return card.json: UTF-8, indented for people."""
    return (json.dumps(card_record(card), ensure_ascii=False, indent=2) + "\n").encode()


def with_options(base: CorpusCard | str, options: CardOptions) -> CorpusCard:
    """Return the card with what was typed put over it.

    Args:
        base: what the source says of itself; or, where it says nothing, a name that is made fit if need be.
        options: typed by a person; a None is as good as absent.

    Raises:
        BadInput: an option is unknown or unfit, or there is no language.
    """
    if isinstance(base, str):
        slug = re.sub(r"[^a-z0-9]+", "-", base.lower()).strip("-")[:64] or "corpus"
        record: dict[str, object] = {"name": slug, "title": base}
    else:
        record = dict(card_record(base))
    record |= {key: value for key, value in options.items() if value is not None}
    if not record.get("language"):
        of = base if isinstance(base, str) else base.name
        raise BadInput(f"the language of {of} is not known. Pass --language with two letters: {_LANGUAGES}.")
    return parse_card(record, "the card of the corpus")


def card_record(of: CorpusCard | Contact | Elsewhere | LoadedLaw | Moved | Step) -> Record:
    """Return what card.json holds of a card or a part of it: what differs from the default, in order."""
    plain: dict[str, object] = {}
    for each in fields(of):
        value = getattr(of, each.name)
        default = each.default if each.default_factory is MISSING else each.default_factory()
        if value == default:
            continue
        if isinstance(value, date):
            value = value.isoformat()
        elif isinstance(value, Contact):
            value = card_record(value)
        elif isinstance(value, tuple):
            value = [part if isinstance(part, str) else card_record(part) for part in value]
        elif isinstance(value, Mapping):
            value = {key: _plain(part) for key, part in value.items()}
        plain[each.name] = value
    return plain


def _plain(part: str | LoadedLaw | Sequence[str]) -> object:
    if isinstance(part, LoadedLaw):
        return card_record(part)
    return part if isinstance(part, str) else list(part)


def _build(kind: type[_T], record: Record) -> _T:
    """Make a dataclass of a record, each value by its parser; unknown keys are refused."""
    known = [each.name for each in fields(kind)]
    unknown = sorted(record.keys() - set(known))
    if unknown:
        cure = f"A {kind.__name__} knows: {', '.join(known)}"
        raise UnfitError(SkipReason.WRONG_TYPE, f"unknown key {', '.join(unknown)}", cure)
    needed = [f.name for f in fields(kind) if f.default is MISSING and f.default_factory is MISSING]
    missing = [key for key in needed if record.get(key) is None]
    if missing:
        cure = f"A {kind.__name__} needs: {', '.join(needed)}"
        raise UnfitError(SkipReason.MISSING_COLUMN, f"no {', '.join(missing)}", cure)
    parsers = _PARSERS[kind]
    given: dict[str, Any] = {
        key: parsers.get(key, text)(record, key) for key, value in record.items() if value is not None
    }
    return kind(**given)


def _many(kind: type[_T]) -> _Parser:
    def parse(record: Record, key: str) -> tuple[_T, ...]:
        parts = record[key]
        if not isinstance(parts, list) or not all(isinstance(part, dict) for part in parts):
            cure = f'Write "{key}": [{{...}}, ...]'
            raise UnfitError(SkipReason.WRONG_TYPE, f"{key} is not a list of objects", cure)
        made = []
        for i, part in enumerate(parts, 1):
            try:
                made.append(_build(kind, part))
            except UnfitError as unfit:
                raise UnfitError(unfit.reason, f"{key}, entry {i}: {unfit.problem}", unfit.cure) from None
        return tuple(made)

    return parse


def _themes(record: Record, key: str) -> Sequence[str]:
    found = texts(record, key)
    _check_themes(found, key)
    return found


def _check_themes(themes: Sequence[str], place: str) -> None:
    if unknown := set(themes).difference(THEMES):
        cure = f"Use some of {', '.join(THEMES)}"
        raise UnfitError(SkipReason.WRONG_TYPE, f"{place}: no theme {', '.join(sorted(unknown))}", cure)


def _contact(record: Record, key: str) -> Contact:
    part = record[key]
    if not isinstance(part, dict):
        cure = f'Write "{key}": {{"name": ..., "url": ..., "phone": ...}}'
        raise UnfitError(SkipReason.WRONG_TYPE, f"{key} is not an object", cure)
    try:
        return _build(Contact, part)
    except UnfitError as unfit:
        raise UnfitError(unfit.reason, f"{key}: {unfit.problem}", unfit.cure) from None


def _mapping(each: _Parser) -> _Parser:
    def parse(record: Record, key: str) -> Mapping[str, object]:
        parts = record[key]
        if not isinstance(parts, dict):
            cure = f'Write "{key}": {{"...": ...}}'
            raise UnfitError(SkipReason.WRONG_TYPE, f"{key} is not an object", cure)
        return {part: each(parts, part) for part in parts}

    return parse


def _law(record: Record, key: str) -> LoadedLaw:
    part = record[key]
    if not isinstance(part, dict):
        cure = 'Write "laws": {"CODE": {"url": ..., "law_date": ..., "themes": [...]}}'
        raise UnfitError(SkipReason.WRONG_TYPE, f"laws, {key}: not an object", cure)
    law = _build(LoadedLaw, part)
    _check_themes(law.themes, f"laws, {key}")
    return law


def _events(record: Record, key: str) -> object:
    found = record[key]
    if isinstance(found, dict) and (unknown := set(found).difference(EVENTS)):
        cure = f"Use some of {', '.join(EVENTS)}"
        raise UnfitError(SkipReason.WRONG_TYPE, f"events: no event {', '.join(sorted(unknown))}", cure)
    return _mapping(text)(record, key)


# How to read the fields that are not plain text.
_PARSERS: Mapping[type, Mapping[str, _Parser]] = {
    Contact: {"topics": texts, "themes": _themes, "notes": _mapping(text)},
    Moved: {"new": texts},
    Step: {"text": _mapping(text), "articles": texts, "dangers": texts},
    LoadedLaw: {"law_date": day, "themes": texts},
    Elsewhere: {
        "title": _mapping(text),
        "explain": _mapping(text),
        "phrases": texts,
        "codes": texts,
        "deadline": _mapping(text),
        "contact": _contact,
        "terms": texts,
        "names": texts,
    },
    CorpusCard: {
        "law_date": day,
        "contacts": _many(Contact),
        "elsewhere": _many(Elsewhere),
        "moved": _many(Moved),
        "steps": _many(Step),
        "examples": texts,
        "events": _events,
        "aliases": _mapping(texts),
        "laws": _mapping(_law),
        "described": _mapping(text),
        "lacks": _mapping(text),
    },
}
