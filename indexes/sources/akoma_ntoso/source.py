"""Akoma Ntoso as a source: a file, a folder or an archive of acts becomes one corpus.

What was read of a file is kept under PANDECT_HOME/downloads by the hash of its bytes: an import that was
stopped goes on where it was, and one of law that changed reads the changed files alone.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from datetime import date
from importlib.resources import files as resources
from itertools import islice
from pathlib import Path
from typing import IO

from indexes.corpus.corpus import Corpus
from indexes.download.archive import is_archive, members
from indexes.formats.jsonl import Record
from indexes.formats.limits import is_pipe
from indexes.formats.validation import Inspection, SkipReason, SourceLocation, UnfitError
from indexes.sources.akoma_ntoso import document as document_
from indexes.sources.akoma_ntoso.document import Document, Unit
from indexes.sources.akoma_ntoso.references import WITHIN, Resolver, article_key
from indexes.sources.akoma_ntoso.text import VOCABULARY
from indexes.sources.source import Reading, Records, Source
from indexes.store.atomic import replacing
from indexes.store.paths import home
from rag.corpus.card import CorpusCard
from rag.errors import BadInput

MOST_MB = 64  # of one act; parsed it takes some seven times that in memory. The longest known has 25 MB
VERSIONS = ("latest", "all")
_SUFFIXES = (".xml", ".akn")
_ROOT = re.compile(rb"<(?:[\w.-]+:)?akoma[nN]toso[\s>]")
_HEAD = 65_536  # bytes in which the root element begins
_LOOKED_AT = 20  # files of a folder, before it is said to be of another format


def read(path: Path, reading: Reading, *, versions: str = "latest", max_mb: str | float = MOST_MB) -> Corpus:
    """Read acts of one language, with their dates, headings and references to each other.

    Extra columns keep what has no field: the FRBR addresses of work and version, the id in the file, the full
    title, notes with the articles that they refer to, and the references that lead to no article here. The
    report counts what was resolved and what was not.

    Args:
        path: a file, a folder with files below it, or a zip or tar of them, which is read without unpacking.
        reading: the import; a lenient one skips files that are not XML, too large or declare entities.
        versions: "latest" takes the last version of each act; "all" takes every one there is, in force from
            its date to that of the next.
        max_mb: megabytes of the largest file that is read.

    Raises:
        BadInput: nothing was found; a file cannot be used and the import is not lenient; or the acts are in
            several languages and none was chosen.
        MissingExtra: lxml is not installed.
    """
    if versions not in VERSIONS:
        raise BadInput(f"versions is {versions!r}. Use one of: {', '.join(VERSIONS)}.")
    reader = _ActReader(path, reading, _megabytes(max_mb))
    every = reader.read()
    if not every:
        other = f" (other XML: {reader.other})" if reader.other else ""
        raise BadInput(f"{path}: no act in Akoma Ntoso in it{other}. Give .xml or .akn files with law.")
    language = _language(path, every, reading)
    acts = _versions([act for act in every if act[0].language in (language, "")], versions)
    if left_out := len(every) - len(acts):
        reading.inspection.note(f"acts left out, in other languages or earlier versions: {left_out:,}")
    reader.prune()
    _tell_codes_apart(acts)
    return reading.corpus(_card(path, acts, language), _records(path, acts, reading), path=path)


def _name(path: Path) -> str:
    return path.resolve().name.split(".")[0]


def _slug(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:64]


def _megabytes(typed: str | float) -> int:
    try:
        value = float(typed)
    except ValueError:
        value = 0
    if not 0 < value < 10_000:
        raise BadInput(
            f"max_mb is {typed!r}. Give the megabytes of the largest file to read, such as {MOST_MB}."
        )
    return int(value * 1_000_000)


# --- files ---


class _ActReader:
    """Parses each file once, whatever number of imports it takes."""

    def __init__(self, path: Path, reading: Reading, most: int) -> None:
        self._path, self._reading, self._most = path, reading, most
        name = str(reading.card.get("name") or _name(path))
        self._cache = home() / "downloads" / "akoma-ntoso" / (_slug(name) or "law")
        code = (resources(__package__) / name for name in ("document.py", "text.py", "vocabulary.toml"))
        self._version = b"".join(each.read_bytes() for each in code)  # another parser parses anew
        self._used: set[str] = set()
        self._counts: Counter[str] = Counter()
        self.other = ""  # the first XML file that holds no law

    def read(self) -> list[list[Document]]:
        """Return the documents of each file, in the order of their paths."""
        acts: list[tuple[str, list[Document]]] = []
        contents: set[bytes] = set()
        done, total = 0, _size(self._path)
        for place, file, size in xml_files(self._path, self._reading.inspection):
            content = self._content(place, file, size)
            done += len(content or b"")
            self._reading.progress("reading", done, total)
            if content is None:
                continue
            digest = hashlib.sha256(content).digest()
            if digest in contents:
                self._counts["twice"] += 1
                continue
            contents.add(digest)
            documents = self._documents(place, content)
            if documents:
                acts.append((str(place), documents))
            elif documents is not None:
                self._counts["other"] += 1
                self.other = self.other or str(place)
        self._report()
        return [documents for _, documents in sorted(acts, key=lambda act: act[0])]

    def _report(self) -> None:
        note, counts = self._reading.inspection.note, self._counts
        if counts["other"]:
            note(f"XML files passed over that hold no law: {counts['other']:,} (first {self.other})")
        if counts["twice"]:
            note(f"files passed over that are the same as another: {counts['twice']:,}")
        parsed, cached = counts["parsed"], counts["cached"]
        again = f"read now {parsed:,}, known from an earlier import {cached:,}"
        note(f"files of acts: {parsed + cached:,}; {again}")

    def prune(self) -> None:
        """Remove what is cached of files that are gone, or of an earlier state of them."""
        for file in self._cache.glob("*.json.gz"):
            if file.name.partition(".")[0] not in self._used:
                file.unlink(missing_ok=True)

    def _content(self, place: Path, file: IO[bytes], size: int | None) -> bytes | None:
        """Return the bytes of a file, or None if it is too large; no more of it is read than is allowed."""
        content = b"" if size is not None and size > self._most else read_at_most(file, self._most + 1)
        if len(content) > self._most or (size or 0) > self._most:
            problem = f"larger than {self._most / 1e6:g} MB, which no act is"
            cure = "Cut it into acts, or raise the limit with --option max_mb=N"
            self._reading.inspection.refuse(SkipReason.INVALID_XML, SourceLocation(place, 1), problem, cure)
            return None
        return content

    def _documents(self, place: Path, content: bytes) -> list[Document] | None:
        """Return the documents of a file, none if it holds no law; None if it was refused."""
        # the name too: it stands for the address of a work that has none
        stem = _known_as(place, self._path).encode("utf-8", "replace")
        key = hashlib.sha256(b"\0".join((self._version, stem, content))).hexdigest()[:32]
        self._used.add(key)
        file = self._cache / f"{key}.json.gz"
        documents = _cached(file)
        if documents is not None:
            self._counts["cached"] += bool(documents)
            return documents
        try:
            documents = document_.documents(document_.root_of(content), stem.decode())
        except UnfitError as unfit:
            self._reading.inspection.refuse(unfit.reason, SourceLocation(place, 1), unfit.problem, unfit.cure)
            return None
        self._counts["parsed"] += bool(documents)
        self._cache.mkdir(parents=True, exist_ok=True)
        with replacing(file) as part:
            part.write_bytes(gzip.compress(json.dumps([asdict(each) for each in documents]).encode(), 1))
        return documents


def _known_as(place: Path, root: Path) -> str:
    """Return what stands for the address of a work: no two files of an import have it in common."""
    if place == root:
        return place.stem
    path = place.relative_to(root).as_posix()
    bare = path.removesuffix(".xml")
    return path if bare.lower().endswith(_SUFFIXES) else bare


def _cached(file: Path) -> list[Document] | None:
    """Return what was parsed before; None where there is nothing, or nothing whole."""
    try:
        records = json.loads(gzip.decompress(file.read_bytes()))
        return [Document(**{**each, "units": [Unit(**unit) for unit in each["units"]]}) for each in records]
    except (OSError, ValueError, TypeError, KeyError, EOFError):
        return None


def xml_files(
    path: Path, inspection: Inspection, most: int | None = None
) -> Iterator[tuple[Path, IO[bytes], int | None]]:
    """Yield the XML files of a path, open until the next is taken, with their size where it is known.

    Of an archive only so many files are looked at. Files that cannot be opened are refused.
    """
    if path.is_file() and is_archive(path):
        for name, packed in islice(members(path), most):
            if name.lower().endswith(_SUFFIXES):
                yield path / name, packed, None
    elif path.is_file():
        yield from _opened(path, inspection)
    elif path.is_dir():
        for each in _walk(path):
            yield from _opened(each, inspection)
    else:
        raise BadInput(f"{path}: no such file or folder. Give a file of Akoma Ntoso, a folder or an archive.")


def _opened(path: Path, inspection: Inspection) -> Iterator[tuple[Path, IO[bytes], int | None]]:
    try:
        file = path.open("rb")
    except OSError as error:  # a link that leads nowhere; a file of somebody else
        problem, cure = f"cannot be read ({error.strerror})", "Give files that you may read"
        inspection.refuse(SkipReason.UNREADABLE, SourceLocation(path, 1), problem, cure)
        return
    with file:
        yield path, file, os.fstat(file.fileno()).st_size


def read_at_most(file: IO[bytes], most: int) -> bytes:
    """Return the bytes of a file, so many at most; a file in an archive gives them piece by piece."""
    content = bytearray()
    while len(content) < most and (piece := file.read(most - len(content))):
        content += piece
    return bytes(content)


def _walk(folder: Path) -> Iterator[Path]:
    for at, below, names in os.walk(folder):
        below.sort()
        found = (Path(at) / name for name in sorted(names) if name.lower().endswith(_SUFFIXES))
        yield from (each for each in found if not is_pipe(each))


def _size(path: Path) -> int | None:
    if path.is_dir():
        return sum(each.stat().st_size for each in _walk(path) if each.exists())
    return None if is_archive(path) or not path.is_file() else path.stat().st_size


def begins_with(path: Path, root: re.Pattern[bytes]) -> bool:
    """Return whether one of the first XML files of a path begins with this element."""
    named = path.is_dir() or is_archive(path) or path.name.lower().endswith(_SUFFIXES)
    if not named:
        return False
    try:
        return any(
            root.search(file.read(_HEAD).replace(b"\0", b""))  # UTF-16 too
            for _, file, _ in islice(xml_files(path, Inspection(lenient=True), 10 * _LOOKED_AT), _LOOKED_AT)
        )
    except (BadInput, OSError):
        return False


# --- languages and versions ---


def _language(path: Path, acts: Sequence[Sequence[Document]], reading: Reading) -> str:
    found = Counter(act[0].language for act in acts if act[0].language)
    listed = ", ".join(f"{language} ({n:,})" for language, n in sorted(found.items()))
    typed = reading.card.get("language")
    if typed is not None:
        if found and typed not in found and not any(not act[0].language for act in acts):
            raise BadInput(
                f"{path}: no act in {typed!r}; there are acts in {listed}. Pass --language with one of these."
            )
        return typed
    if len(found) > 1:
        raise BadInput(
            f"{path}: acts in {listed}, and a corpus has one language. Pass --language with one of these."
        )
    return next(iter(found), "")


def _versions(acts: list[list[Document]], versions: str) -> list[list[Document]]:
    """Return the acts that are taken; where all versions are, each holds until the next."""
    works: dict[str, list[list[Document]]] = {}
    for act in acts:
        works.setdefault(_work(act[0]), []).append(act)
    taken = []
    for group in works.values():
        group.sort(key=lambda act: act[0].date or "")  # stable: of one day, by path
        if versions == "latest" or len(group) == 1:
            taken.append(group[-1])
            continue
        for act, after in zip(group, [*group[1:], None], strict=True):
            if after is not None and after[0].date == act[0].date:
                continue
            for document in act:
                document.work += f"@{act[0].date or ''}"
                for unit in document.units:
                    unit.valid_from = unit.valid_from or act[0].date
                    unit.valid_to = unit.valid_to or (after[0].date if after is not None else None)
            taken.append(act)
    return taken


def _tell_codes_apart(acts: Sequence[Sequence[Document]]) -> None:
    """Add number or date to the title of acts that have it in common with another."""
    works: dict[str, set[str]] = {}
    for act in acts:
        works.setdefault(act[0].code, set()).add(_work(act[0]).partition("@")[0])
    common = {code for code, of in works.items() if len(of) > 1}
    for act in acts:
        own = act[0].code
        numbered = (alias for alias in act[0].aliases if re.search(r"\d", alias))
        mark = next(numbered, act[0].made or _work(act[0]))
        for document in act:
            if own in common and document.code == own:
                document.code = f"{own} ({mark})"


def _work(document: Document) -> str:
    """Return a work's address as ids have it: without host, component "main" or version; a path as it is."""
    if document.by_path:
        return document.work
    text = re.sub(r"^[a-z]+://[^/]*", "", document.work, flags=re.IGNORECASE)
    text = re.sub(r"/?!?\bmain(?=$|[/!@])", "", text)
    text = re.sub(r"(?<=\w)/(?:jo|oj|(?:consolide/)?\d{8})(?=$|!|@)", "", text) if "eli/" in text else text
    return "/".join(part for part in text.split("/") if part).removeprefix("akn/").removeprefix("id/")


# --- the corpus ---


def _card(path: Path, acts: Sequence[Sequence[Document]], language: str) -> CorpusCard | str:
    if not language:
        return _name(path)
    first = acts[0][0]
    countries = {act[0].country for act in acts}
    country = first.country if len(countries) == 1 else ""
    days = [act[0].date for act in acts if act[0].date]
    return CorpusCard(
        name=_slug(_name(path)) or "law",
        title=first.title if len(acts) == 1 and first.title else _name(path),
        language=language,
        origin="akoma-ntoso",
        jurisdiction=country,
        law_date=date.fromisoformat(max(days)) if days else None,
        official_site=VOCABULARY["sites"].get(country),
        aliases={d.code: tuple(d.aliases) for act in acts for d in act if d.aliases},
    )


def _records(path: Path, acts: Sequence[Sequence[Document]], reading: Reading) -> Records:
    documents = [document for act in acts for document in act]
    ids = _ids(documents)
    resolver = Resolver(documents, [i for i, act in enumerate(acts) for _ in act])
    tally: Counter[str] = Counter()
    place = SourceLocation(path, 1)

    def resolved(found: Sequence[Sequence[str]], at: int, count: Counter[str]) -> tuple[list[str], list[str]]:
        """Return the articles that references lead to, and the addresses of those that lead to none."""
        led: dict[str, None] = {}
        lost: dict[str, None] = {}
        for reference in found:
            targets = resolver.find(reference, at)
            if isinstance(targets, list):
                count["resolved"] += 1
                led |= {ids[document][n]: None for document, n in targets}
            else:
                count["within" if targets == WITHIN else "outside"] += 1
                lost[" - ".join(reference)] = None
        return list(led), [each for each in lost if each]

    for at, document in enumerate(documents):
        for unit, id_ in zip(document.units, ids[at], strict=True):
            led, lost = resolved(unit.references, at, tally)
            notes, _ = resolved(unit.note_references, at, Counter())
            more = {"unresolved_references": lost, "note_references": notes}
            own = [each for each in led if each != id_]
            extras = {column: value for column, value in more.items() if value}
            yield place, {**_record(document, unit, id_), "references": own, **extras}
    _count(documents, tally, reading)


def _ids(documents: Sequence[Document]) -> list[list[str]]:
    """Return the ids of the articles of each document: of the work and the file's own id, or the number."""
    used: Counter[str] = Counter()
    made = []
    for document in documents:
        work = _work(document)
        alone = bool(document.label) and len(document.units) == 1
        ids = []
        for unit in document.units:
            id_ = work if alone and not unit.eid else f"{work}#{unit.eid or article_key(unit)}"
            id_ = re.sub(r"\s+", "_", id_)
            used[id_] += 1
            ids.append(id_ if used[id_] == 1 else f"{id_};{used[id_]}")
        made.append(ids)
    return made


def _record(document: Document, unit: Unit, id_: str) -> Record:
    return {
        "id": id_,
        "code": document.code,
        "article_no": unit.number,
        "headings": unit.headings,
        "text": unit.text,
        "jurisdiction": document.country or None,
        "law_type": document.law_type,
        "region": document.region or None,
        "url": _url(document, unit),
        "valid_from": unit.valid_from,
        "valid_to": unit.valid_to,
        "document_type": document.kind,
        "frbr_work": document.work,
        "frbr_expression": document.expression,
        "eid": unit.eid,
        "full_title": document.title if document.title != document.code else "",
        "notes": unit.notes,
    }


def _url(document: Document, unit: Unit) -> str | None:
    """Return where the official text of an article is shown, where that can be told from its address."""
    urns = (re.match(r"(urn:nir:[^;]*;\w+)(.*)", name) for name in document.names)
    if (urn := next(filter(None, urns), None)) is not None:
        article = re.sub(r"[-\s]", "", unit.number.lower())
        own = unit.plain and not document.label and not urn[2] and re.fullmatch(r"\d+[a-z]*", article)
        return f"https://www.normattiva.it/uri-res/N2Ls?{urn[1]}" + (f"~art{article}" if own else "")
    web = next((name for name in document.names if name.startswith(("http://", "https://"))), None)
    if web is None:
        return None
    if document.country == "GB":
        own = re.fullmatch(r"(section|article|regulation|rule)-(\w+)", unit.eid)
        act = re.sub(r"^http://(www\.legislation\.gov\.uk)/(?:id/)?", r"https://\1/", web)
        return f"{act}/{own[1]}/{own[2]}" if own else act
    if "fedlex.data.admin.ch" in web:
        place = f"#{unit.eid}" if unit.eid else ""
        return web.replace("fedlex.data.admin.ch", "www.fedlex.admin.ch") + f"/{document.language}{place}"
    return web


def _count(documents: Sequence[Document], tally: Counter[str], reading: Reading) -> None:
    note = reading.inspection.note
    if total := tally.total():
        note(
            f"references in articles: {total:,}; to articles here {tally['resolved']:,}, "
            f"to whole acts or parts of them here {tally['within']:,}, "
            f"to other law {tally['outside']:,} (kept in unresolved_references)"
        )
    if elsewhere := sum(document.elsewhere for document in documents):
        note(f"references outside articles, in notes, titles and metadata: {elsewhere:,}")
    if empty := sum(document.empty for document in documents):
        note(f"articles without any text, left out: {empty:,}")


SOURCE = Source(
    "Akoma Ntoso (OASIS LegalDocML): a file, a folder or an archive of acts",
    read,
    recognises=lambda path: begins_with(path, _ROOT),
)
