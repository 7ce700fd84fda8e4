"""LEGI: the open bulk of French law, one XML file for each version of an article (DILA)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from indexes.corpus.corpus import Corpus
from indexes.download.archive import is_archive, members
from indexes.formats.jsonl import Record
from indexes.formats.limits import BETWEEN, is_pipe
from indexes.formats.validation import Inspection, SkipReason, SourceLocation
from indexes.sources.source import Reading, Records, Source, card_of
from rag.errors import BadInput, MissingExtra, install_hint

CARD = card_of("legi")
_IN_FORCE = "VIGUEUR,VIGUEUR_DIFF,ABROGE_DIFF"  # today, later, and until a day that is known already
_NEVER = ("2999-01-01", "2222-02-22")  # how LEGI writes that a day is not known
_BREAKS = {"p", "br", "div", "tr", "li", "table", "ul", "ol", "blockquote", "h1", "h2", "h3", "h4", "h5"}
_CELLS = {"td", "th"}


def read(path: Path, reading: Reading, *, states: str = _IN_FORCE, codes: str | None = None) -> Corpus:
    """Read articles of one or more XML files, with their dates and the titles they stand under.

    An article's valid_to is the first day on which it no longer holds, as in LEGI. Its state and kind of
    text are kept with the extra columns; the articles it cites are its references.

    Args:
        path: a file, a folder with files below it, or the .tar.gz or .zip as it was downloaded, which is
            read without unpacking it.
        reading: the import; a lenient one skips files that are not XML, and articles without text.
        states: which values of ETAT to take, with commas; "all" takes every version there ever was.
        codes: only of these texts: ids (LEGITEXT...) or titles, with semicolons; None takes all.

    Raises:
        BadInput: nothing was found, or a file is no XML and the import not lenient.
        MissingExtra: lxml is not installed.
    """
    wanted = None if states == "all" else frozenset(state.strip() for state in states.split(","))
    only = frozenset(code.strip() for code in codes.split(";") if code.strip()) if codes else None
    return reading.corpus(CARD, _records(path, wanted, only, reading), path=path)


def _records(
    path: Path, states: frozenset[str] | None, codes: frozenset[str] | None, reading: Reading
) -> Records:
    for number, (name, file) in enumerate(_files(path), 1):
        for place, element in _articles(name, file, reading.inspection):
            if states is not None and _text(element, ".//META_ARTICLE/ETAT") not in states:
                continue
            title, id_ = _law(element)
            if codes is None or {title, id_} & codes:
                yield place, _record(element, title)
        if number % 1000 == 0:
            reading.progress("reading", number, None)


def _files(path: Path) -> Iterator[tuple[Path, IO[bytes]]]:
    """Yield the XML files of a path, always in one order; a tree of millions is not listed at once."""
    if path.is_file() and is_archive(path):
        for name, packed in members(path):
            if name.lower().endswith(".xml"):
                yield path / name, packed
    elif path.is_file():
        with path.open("rb") as file:
            yield path, file
    elif path.is_dir():
        for folder, below, names in os.walk(path):
            below.sort()
            for name in sorted(names):
                if name.lower().endswith(".xml") and not is_pipe(Path(folder) / name):
                    with (Path(folder) / name).open("rb") as file:
                        yield Path(folder) / name, file
    else:
        raise BadInput(f"{path}: no such file or folder. Give LEGI's files or the archive of them.")


class _Bounded:
    """A file that is refused where no article comes: what stands between two of them is in memory."""

    def __init__(self, path: Path, file: IO[bytes]) -> None:
        self._path, self._file = path, file
        self.since = 0  # bytes since the last article

    def read(self, size: int) -> bytes:
        """Return at most so many bytes."""
        found = self._file.read(size)
        self.since += len(found)
        if self.since > BETWEEN:
            problem = f"{BETWEEN // 2**20} MB came without an ARTICLE, or with one that does not end"
            raise BadInput(f"{self._path}: {problem}. Give LEGI's files, or name the format with --from.")
        return found


def _articles(path: Path, file: IO[bytes], inspection: Inspection) -> Iterator[tuple[SourceLocation, Any]]:
    """Yield each ARTICLE of a file; entities, DTDs and the network are left alone."""
    try:
        from lxml import etree
    except ImportError as error:
        raise MissingExtra(f"LEGI needs lxml: run {install_hint('law')}") from error
    line, bounded = 1, _Bounded(path, file)
    try:
        for _, element in etree.iterparse(
            bounded, events=("end",), tag="ARTICLE", resolve_entities=False, load_dtd=False, no_network=True
        ):
            line = element.sourceline or 1
            yield SourceLocation(path, line), element
            element.clear()
            bounded.since = 0
            for each in (element, *element.iterancestors()):
                parent = each.getparent()  # none for the root, which may have comments before it all the same
                while parent is not None and each.getprevious() is not None:
                    del parent[0]
    except etree.XMLSyntaxError as error:
        place = SourceLocation(path, (error.position or (line, 0))[0] or line)
        inspection.refuse(SkipReason.INVALID_XML, place, f"not XML ({error.msg})", "Fetch the file again")


def _record(element: Any, code: str) -> Record:  # noqa: ANN401  # lxml has no types
    id_ = _text(element, ".//META_COMMUN/ID")
    nature = element.find(".//CONTEXTE/TEXTE")
    kind = nature.get("nature", "") if nature is not None else ""
    until = _day(_text(element, ".//META_ARTICLE/DATE_FIN"))
    return {
        "id": id_ or None,
        "code": code,
        "article_no": _text(element, ".//META_ARTICLE/NUM"),
        "text": _plain(element.find("./BLOC_TEXTUEL/CONTENU")),
        "headings": _headings(element.find(".//CONTEXTE//TM"), until),
        "url": f"https://www.legifrance.gouv.fr/codes/article_lc/{id_}" if id_ and kind == "CODE" else None,
        "valid_from": _day(_text(element, ".//META_ARTICLE/DATE_DEBUT")),
        "valid_to": until,
        "references": [
            link.get("id")
            for link in element.iterfind("./LIENS/LIEN")
            if link.get("typelien") == "CITATION"
            and link.get("sens") == "source"
            and (link.get("id") or "").startswith("LEGIARTI")
        ],
        "state": _text(element, ".//META_ARTICLE/ETAT"),
        "kind": kind,
    }


def _law(element: Any) -> tuple[str, str]:  # noqa: ANN401
    """Return title and id of an article's text, by the latest of its consolidated titles."""
    titles = element.findall(".//CONTEXTE/TEXTE/TITRE_TXT")
    named = [title for title in titles if (title.get("id_txt") or "").startswith("LEGITEXT")] or titles
    if not named:
        return "", ""
    last = max(named, key=lambda title: title.get("debut") or "")
    text = " ".join("".join(last.itertext()).split())
    return text or (last.get("c_titre_court") or "").strip(), last.get("id_txt") or ""


def _headings(element: Any, until: str | None) -> list[str]:  # noqa: ANN401
    """Return the titles from the outermost section inwards, as they were when the article last held."""
    found = []
    while element is not None:
        titles = element.findall("./TITRE_TM")
        if until is not None:  # a title of later was never over this version of the article
            titles = [title for title in titles if (title.get("debut") or "") < until] or titles
        if titles:
            last = max(titles, key=lambda title: (title.get("fin") or "", title.get("debut") or ""))
            found.append(" ".join("".join(last.itertext()).split()))
        element = element.find("./TM")
    return [heading for heading in found if heading]


def _plain(element: Any) -> str:  # noqa: ANN401
    """Return the text of HTML: a line a paragraph, cells of a row apart."""
    if element is None:
        return ""
    # split and join: a third of the time that a pattern of blanks takes, over millions of articles
    lines = (" ".join(line.split()) for line in "".join(_pieces(element)).split("\n"))
    return "\n".join(line for line in lines if line)


def _pieces(element: Any) -> Iterator[str]:  # noqa: ANN401
    """Yield the text of an element with a line feed for each break; XML nests 256 deep at most here."""
    if isinstance(element.tag, str):  # a comment has none
        tag = element.tag.lower()
        mark = "\n" if tag in _BREAKS else " " if tag in _CELLS else ""
        yield mark + (element.text or "").replace("\n", " ")
        for child in element:
            yield from _pieces(child)
        yield mark
    yield (element.tail or "").replace("\n", " ")


def _text(element: Any, path: str) -> str:  # noqa: ANN401
    return (element.findtext(path) or "").strip()


def _day(text: str) -> str | None:
    return None if not text or text in _NEVER else text


def _recognises(path: Path) -> bool:
    return path.name.startswith(("Freemium_legi", "LEGI")) and (path.is_dir() or is_archive(path))


SOURCE = Source("LEGI's XML: a folder, or the archive as downloaded", read, recognises=_recognises)
