"""gesetze-im-internet.de: German federal law, one XML file an act, as its xml.zip holds it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from datetime import date
from pathlib import Path

from indexes.corpus.corpus import Corpus
from indexes.formats.jsonl import Record
from indexes.formats.validation import SkipReason, SourceLocation, UnfitError
from indexes.sources.akoma_ntoso.document import root_of
from indexes.sources.akoma_ntoso.source import MOST_MB, begins_with, read_at_most, xml_files
from indexes.sources.akoma_ntoso.text import Element
from indexes.sources.source import Reading, Records, Source
from rag.corpus.card import CorpusCard
from rag.errors import BadInput

_SITE = "https://www.gesetze-im-internet.de"
_BLOCKS = {"P", "BR", "DL", "DD", "LA", "table", "row", "Title", "pre", "Citation", "Content"}
_LEFT_OUT = {"FnR", "TOC", "kommentar", "IMG", "FILE", "Ident"}
_CONTENTS = re.compile(r"Inhalts(?:übersicht|verzeichnis)", re.IGNORECASE)


def read(path: Path, reading: Reading) -> Corpus:
    """Read one act or many: a file, a folder, or archives unpacked.

    An article's code is the act's abbreviation ("BGB"), its first heading the act's title, the first line of
    its text its own. Footnotes stay in the extra column notes.

    Raises:
        BadInput: nothing was found, or a file cannot be used and the import is not lenient.
        MissingExtra: lxml is not installed.
    """
    built: list[date] = []
    # the articles are read before the card is needed, whose date they tell
    records = list(_records(path, reading, built))
    if not records:
        raise BadInput(f"{path}: no act of gesetze-im-internet.de in it. Give its .xml, or a folder of them.")
    titles = {str(record["code"]) for _, record in records}
    card = CorpusCard(
        name=re.sub(r"[^a-z0-9]+", "-", path.resolve().name.split(".")[0].lower()).strip("-")[:64]
        or "gesetze",
        title=f"{next(iter(titles))} (gesetze-im-internet.de)"
        if len(titles) == 1
        else "Deutsches Bundesrecht",
        language="de",
        jurisdiction="DE",
        licence="Gemeinfrei (§ 5 UrhG)",
        licence_url=f"{_SITE}/urhg/__5.html",
        source="gesetze-im-internet.de, Bundesministerium der Justiz und Bundesamt für Justiz",
        law_date=max(built, default=None),
        official_site=_SITE,
    )
    return reading.corpus(card, records, path=path)


def _records(path: Path, reading: Reading, built: list[date]) -> Records:
    used: Counter[str] = Counter()
    for number, (place, file, _) in enumerate(xml_files(path, reading.inspection), 1):
        where = SourceLocation(place, 1)
        content = read_at_most(file, MOST_MB * 1_000_000 + 1)
        try:
            if len(content) > MOST_MB * 1_000_000:
                problem, cure = f"larger than {MOST_MB} MB, which no act is", "Cut it into acts"
                raise UnfitError(SkipReason.INVALID_XML, problem, cure)
            root = root_of(content)
        except UnfitError as unfit:
            reading.inspection.refuse(unfit.reason, where, unfit.problem, unfit.cure)
            continue
        reading.progress("reading", number, None)
        if root.tag != "dokumente":
            continue
        if (day := _day(root.get("builddate") or "")) is not None:
            built.append(day)
        for record in _articles(root):
            used[str(record["id"])] += 1
            count = used[str(record["id"])]
            yield where, record if count == 1 else {**record, "id": f"{record['id']};{count}"}


def _day(builddate: str) -> date | None:
    """Return the day of "20240229101112", None if it is none."""
    found = re.match(r"((?:19|20)\d{2})(\d{2})(\d{2})", builddate, re.ASCII)
    try:
        return date(int(found[1]), int(found[2]), int(found[3])) if found else None
    except ValueError:  # 31 February
        return None


def _articles(root: Element) -> Iterator[Record]:
    title, levels = "", list[tuple[str, str]]()
    for norm in root.iterchildren("norm"):
        meta = norm.find("metadaten")
        if meta is None:
            continue
        title = title or _line(meta, "kurzue") or _line(meta, "langue")
        if (level := meta.find("gliederungseinheit")) is not None:
            key = _line(level, "gliederungskennzahl")
            # three digits a level: 010 is over 010020; what does not begin the key is no longer over it
            levels = [each for each in levels if key.startswith(each[0]) and len(each[0]) < len(key)]
            named = (_line(level, "gliederungsbez"), _line(level, "gliederungstitel"))
            levels.append((key, " - ".join(part for part in named if part)))
        number = _line(meta, "enbez")
        text = "\n".join(filter(None, (_line(meta, "titel"), _text(norm.find("textdaten/text")))))
        if not number or not text or _CONTENTS.match(number):
            continue
        code = _line(meta, "jurabk") or _line(meta, "amtabk") or title
        bare = re.sub(r"^§\s*(?=\d)", "", number)
        yield {
            "id": f"{code}-{bare}".replace(" ", "_"),
            "code": code,
            "article_no": bare,
            "headings": [each for each in (title, *(name for _, name in levels)) if each],
            "text": text,
            "jurisdiction": "DE",
            "law_type": "national",
            "url": _url(code, number),
            "doknr": norm.get("doknr"),
            "notes": [note for each in norm.iterfind("textdaten/fussnoten") if (note := _text(each))],
        }


def _url(code: str, number: str) -> str | None:
    """Return the address of a paragraph or article, whose folder is the abbreviation in small letters."""
    found = re.fullmatch(r"(§|Art\.?) (\d+[a-z]*)", number)
    if found is None or not code.isascii():
        return None
    folder = re.sub(r"[^a-z0-9]+", "_", code.lower())
    return f"{_SITE}/{folder}/{'__' if found[1] == '§' else 'art_'}{found[2]}.html"


def _line(element: Element, tag: str) -> str:
    found = element.find(tag)
    return "" if found is None else " ".join(_text(found).split())


def _text(element: Element | None) -> str:
    if element is None:
        return ""
    # "\x02": no line ends between a number and its text
    joined = re.sub(r"[\s\x02]*\x02[\s\x02]*", " ", "".join(_pieces(element)))
    lines = (" ".join(line.split()) for line in joined.split("\n"))
    return "\n".join(line.strip(" |") for line in lines if line.strip(" |"))


def _pieces(element: Element) -> Iterator[str]:
    """Yield the text of an element with a line feed for each break; `root_of` limits how deep it nests."""
    yield (element.text or "").replace("\n", " ")
    for child in element:
        tag = child.tag
        if tag == "entry":
            yield " ".join("".join(_pieces(child)).replace("\x02", " ").split()) + " | "
        elif tag not in _LEFT_OUT:
            mark = "\n" if tag in _BLOCKS else ""
            yield "\n" if tag == "DT" else mark
            yield from _pieces(child)
            yield "\x02" if tag == "DT" else mark
        yield (child.tail or "").replace("\n", " ")


SOURCE = Source(
    "German federal law of gesetze-im-internet.de: xml.zip, or a folder of its files",
    read,
    recognises=lambda path: begins_with(path, re.compile(rb"<dokumente[\s>]")),
)
