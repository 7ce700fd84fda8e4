"""What an import was told, kept with the corpus so that an update can be told the same.

It lies in import.json in the corpus folder under PANDECT_HOME, and nowhere else: it holds paths of this
machine, so it goes neither into an index nor into an export. (What a corpus is and whose it is, which
does travel, is on its card.)
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from indexes.cleaning.clean import ordered_kinds
from indexes.sources import registry
from rag.errors import BadInput

FILE = "import.json"
FORMAT = 1
_CURE = "Import the law again, or remove the file: updates must then be told everything"


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """The options of an import, without the name of the corpus."""

    path: str  # an absolute path, an address, or the name of a data set on the hub
    source: str  # the format that read it
    sha256: str | None = None  # of the file at an address
    revision: str = "main"
    lenient: bool = False
    shipped_questions: bool = True
    column: tuple[str, ...] = ()  # FIELD=COLUMN
    option: tuple[str, ...] = ()  # KEY=VALUE; paths are absolute
    clean: tuple[str, ...] = ()  # kinds of `indexes.cleaning`
    card: Mapping[str, str] = field(default_factory=dict)  # what was typed of the card
    corpus_sha256: str = ""  # identity of the corpus that came of it


def import_options(parsed: argparse.Namespace, source: str, card: Mapping[str, object]) -> ImportOptions:
    """Return the import options of a command line, as `indexes.cli.arguments` has it for import and update.

    `source` is the one that read the files, typed or found out; in `card`, None is what was not typed.
    """
    return ImportOptions(
        path=_place(parsed.path),
        source=source,
        sha256=parsed.sha256,
        revision=parsed.revision,
        lenient=parsed.lenient,
        shipped_questions=not parsed.no_shipped_questions,
        column=tuple(parsed.column or ()),
        option=tuple(_option(source, text) for text in parsed.option),
        clean=ordered_kinds(parsed.clean),
        card={key: str(value) for key, value in card.items() if value is not None},
    )


def merge_with_record(parsed: argparse.Namespace, folder: Path) -> argparse.Namespace:
    """Return the options given now, filled with those of this corpus's last import.

    Columns and options belong to a format: they are repeated only if the files come in the same one.
    Cleaning is repeated unless another one, or "none", was typed.

    Raises:
        BadInput: import.json is there and cannot be used.
    """
    former = read_import(folder)
    if former is None:
        return parsed
    now = argparse.Namespace(**vars(parsed))
    path = Path(parsed.path).expanduser()
    found = parsed.format or (registry.recognise(path) if path.exists() else None) or former.source
    if found == former.source:
        now.format = former.source
        now.column = parsed.column or list(former.column) or None
        typed = {text.partition("=")[0] for text in parsed.option}
        now.option = [t for t in former.option if t.partition("=")[0] not in typed] + parsed.option
    now.clean = parsed.clean or list(former.clean)
    now.lenient = parsed.lenient or former.lenient
    now.no_shipped_questions = parsed.no_shipped_questions or not former.shipped_questions
    return now


def write_import(folder: Path, what: ImportOptions, corpus_sha256: str) -> None:
    """Write import.json into a corpus folder; the same import gives the same bytes."""
    record = {"format": FORMAT, **asdict(replace(what, corpus_sha256=corpus_sha256))}
    text = json.dumps(record, ensure_ascii=True, indent=2)  # a path may hold bytes that are not UTF-8
    (folder / FILE).write_text(f"{text}\n", encoding="utf-8")


def read_import(folder: Path) -> ImportOptions | None:
    """Read import.json of a corpus folder; None where it is absent.

    Raises:
        BadInput: it cannot be used.
    """
    path = folder / FILE
    if not path.is_file():
        return None
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        if record.pop("format") != FORMAT:
            raise ValueError(f"not of format {FORMAT}")
        known = {each.name: record[each.name] for each in fields(ImportOptions)}
        lists = {key: tuple(map(str, known[key])) for key in ("column", "option", "clean")}
        return ImportOptions(**{**known, **lists, "card": dict(known["card"])})
    except KeyError as error:
        raise BadInput(f"{path}: no {error} in it. {_CURE}.") from None
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise BadInput(f"{path}: cannot be used ({error}). {_CURE}.") from None


def _place(what: str) -> str:
    """Return where law came from, so that it is found again from any folder; without a password."""
    if what.startswith(("http://", "https://")):
        parts = urlsplit(what)
        return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))
    path = Path(what).expanduser()
    return str(path.resolve()) if path.exists() else what


def _option(source: str, text: str) -> str:
    key, _, value = text.partition("=")
    parameter = registry.own_options(source).get(key.replace("-", "_"))
    takes_path = parameter is not None and "Path" in str(parameter.annotation)
    return f"{key}={_place(value)}" if takes_path else text
