"""One file of Akoma Ntoso as documents and their articles: any version, profile, prefix or namespace.

What is cut out as an article: `article`; `section`, `rule` or `clause` where a part of an act has none, and
an `hcontainer` that says so by its name; `paragraph` where there are none of these either, as in schedules; a
level without any of them; and a whole `doc`, such as an attachment, that has no structure. What is quoted
(`quotedStructure`) belongs to another act: it is text of the article that quotes it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import NamedTuple

from indexes.formats.limits import NODES
from indexes.formats.validation import SkipReason, UnfitError
from indexes.sources.akoma_ntoso.text import (
    NOTES,
    QUOTED,
    SKIPPED,
    TITLES,
    VOCABULARY,
    Element,
    Text,
    attribute,
    words,
)
from rag.errors import MissingExtra, install_hint

DEEPEST = 200  # elements inside one another; law has sixty at most, and text is put together by recursion

_DOCUMENTS, _BODIES, _LEVELS = (
    frozenset[str](VOCABULARY[name]) for name in ("documents", "bodies", "levels")
)
_AMENDING = QUOTED | {"mod", "mmod", "rmod", "quotedText"}  # what is in these belongs to another act
_PARAGRAPH = 1
# What is an article if nothing in it ranks higher: sections of instruments are groups of their regulations.
_KINDS = {
    "article": 5, "rule": 4, "regulation": 4, "section": 3, "clause": 2, "paragraph": _PARAGRAPH,
}  # fmt: skip
_FINAL = ("proviso", "transitional")  # provisions whose articles are numbered anew
_SCHEDULE = re.compile(r"sched|annex|anlage|anhang|alleg|append|attach|bijlage|anexo", re.IGNORECASE)
_LABEL = re.compile(
    r"(?:§+\s*|(?:art(?:icle|icolo|ikel|ículo|igo)?s?|sect?(?:ion)?|rule|reg(?:ulation)?|clause)\b\.?\s*)",
    re.IGNORECASE,
)
_EDGES = " .:;,–—-\u00a0"
_DAYS = ("dateApplicability", "dateEndApplicability")  # JOLux, in Luxembourg and Switzerland
_XHTML, _MATHML = "http://www.w3.org/1999/xhtml", "http://www.w3.org/1998/Math/MathML"
_REGIONAL = re.compile(r"/(?:regione?|land|canton|kanton|provincia|comune)[./:_-]", re.IGNORECASE)
_NATIONAL = re.compile(r"/(?:stato|bund|etat|ukpga|cc)(?:/|$)")
_LONG = 120  # characters of a title that is too long for a name


@dataclass(slots=True)
class Unit:
    """An article, or what stands for one."""

    number: str  # "5-bis"; in a schedule or an attachment with its name: "Schedule 1, paragraph 2"
    eid: str  # as the file has it; "" where it has none
    text: str  # its heading, then a line a paragraph with its number
    headings: list[str]  # number and title of each level, outermost first
    plain: bool = True  # whether a reference finds it by its number alone
    notes: list[str] = field(default_factory=list)
    references: list[list[str]] = field(default_factory=list)  # an address, or both ends of a range
    note_references: list[list[str]] = field(default_factory=list)
    valid_from: str | None = None
    valid_to: str | None = None


@dataclass(slots=True)
class Document:
    """An act, a bill, or a doc inside one."""

    kind: str  # act, bill, doc, ...
    work: str  # FRBRthis of the work: what it is, whatever its version and language
    expression: str  # the same of this version in this language
    names: list[str]  # all addresses by which it is known
    date: str | None  # of the version
    made: str | None  # of the work
    language: str  # two letters, or ""
    country: str  # ISO 3166-1 alpha-2, or ""
    region: str
    law_type: str | None
    title: str
    code: str  # what its articles stand under: the title, or type, date and number where that is long
    aliases: list[str]  # short forms
    label: str  # of an attachment: "Annex I"; "" of an act
    units: list[Unit] = field(default_factory=list)
    places: dict[str, int] = field(default_factory=dict)  # id -> its unit; -1 for a level over units
    empty: int = 0  # articles without any text: repealed, or an image
    by_path: bool = False  # whether `work` is made of the file's path, for want of an address
    elsewhere: int = 0  # references outside the articles of this file: in notes, prefaces, metadata


class _Level(NamedTuple):
    """A level that articles stand under."""

    element: Element
    number: str
    title: str


def root_of(content: bytes) -> Element:
    """Parse XML without entities, network or DTD and return its root, its tags without namespaces.

    Raises:
        UnfitError: it is no XML, has too many elements, declares entities, or nests too deep.
        MissingExtra: lxml is not installed.
    """
    try:
        from lxml import etree
    except ImportError as error:
        raise MissingExtra(f"Akoma Ntoso needs lxml: run {install_hint('law')}") from error
    if (nodes := content.count(b"<") + content.count(b"=")) > NODES:
        problem = f"{nodes:,} tags and attributes came, and {NODES:,} are read at most"
        raise UnfitError(SkipReason.INVALID_XML, problem, "Cut the file into acts")
    parser = etree.XMLParser(
        resolve_entities=False, load_dtd=False, no_network=True, remove_comments=True, remove_pis=True
    )
    try:
        root = etree.fromstring(content, parser)
    except etree.XMLSyntaxError as error:
        line = (error.position or (0, 0))[0]
        problem = f"not XML, or broken off ({error.msg}, line {line})"
        raise UnfitError(SkipReason.INVALID_XML, problem, "Fetch the file again") from None
    declared = root.getroottree().docinfo.internalDTD
    entities = [] if declared is None else declared.entities()
    if entities or next(root.iter(etree.Entity), None) is not None:
        problem = "it declares entities, which no publisher of law does and which can hide any text"
        raise UnfitError(SkipReason.INVALID_XML, problem, "Fetch the file from its publisher")
    depth = 0
    for event, _ in etree.iterwalk(root, events=("start", "end")):
        depth += 1 if event == "start" else -1
        if depth > DEEPEST:
            problem = f"its elements nest more than {DEEPEST} deep"
            raise UnfitError(SkipReason.INVALID_XML, problem, "Fetch the file from its publisher")
    return _without_namespaces(root)


def _without_namespaces(root: Element) -> Element:
    """Name elements by their local names; take away those of other vocabularies, which hold metadata."""
    from lxml import etree

    for foreign in root.iter("{*}foreign"):  # the one place for text in another vocabulary
        for each in foreign.iter("{*}*"):
            each.tag = etree.QName(each).localname
    own = {etree.QName(root).namespace, None, _XHTML, _MATHML}
    others = set()
    for each in root.iter("{*}*"):
        name = etree.QName(each)
        if name.namespace in own:
            each.tag = name.localname
        else:
            others.add(name.namespace)
            day = attribute(each, "name") or ""
            if day in _DAYS and (holder := _holder(each)) is not None:
                holder.set(day, (each.text or "").strip())
    etree.strip_elements(root, *(f"{{{other}}}*" for other in others), with_tail=False)
    return root


def _holder(element: Element) -> Element | None:
    """Return the article that metadata stands in."""
    return next((each for each in element.iterancestors() if each.tag in _KINDS), None)


def documents(root: Element, name: str) -> list[Document]:
    """Return the documents with law in a file, the act first; none if it is another format, or a judgment.

    `name` stands for the address of a work that has none.
    """
    if root.tag.casefold() != "akomantoso":
        return []
    bodies = {
        element: body
        for element in root.iter(*_DOCUMENTS)
        if (body := next((each for each in element if each.tag in _BODIES), None)) is not None
        and not any(each.tag in QUOTED for each in element.iterancestors())
    }
    first = next((each for each in bodies if each.tag in ("act", "bill")), next(iter(bodies), None))
    if first is None:
        return []
    main = _described(first, root, None, name)
    others = [each for each in bodies if each is not first]
    found = [main, *(_described(each, root, main, name) for each in others)]
    for document, element in zip(found, [first, *others], strict=True):
        _Divider(document, element, main).divide(bodies[element])
    if main.date == main.made:  # a publisher that dates articles alone
        main.date = max((u.valid_from for u in main.units if u.valid_from), default=main.date)
    counted = sum(len(unit.references) for document in found for unit in document.units)
    main.elsewhere = sum(1 for _ in root.iter("ref", "rref")) - counted
    return found


# --- what a document says of itself ---


def _described(element: Element, root: Element, main: Document | None, name: str) -> Document:
    meta = element.find("meta")

    def values(path: str, attribute: str = "value") -> list[str]:
        where = meta.findall(f"identification/{path}") if meta is not None else []
        return [value for each in where if (value := (each.get(attribute) or "").strip())]

    works, expressions = (
        [*values(f"FRBR{what}/FRBRthis"), *values(f"FRBR{what}/FRBRuri")] for what in ("Work", "Expression")
    )
    aliases = [*values("FRBRWork/FRBRalias"), *values("FRBRExpression/FRBRalias")]
    spoken = [*values("FRBRExpression/FRBRlanguage", "language"), *_in_address(expressions, _SPOKEN)]
    language = _language(next(iter(spoken), ""))
    country, region = _country(next(iter([*values("FRBRWork/FRBRcountry"), *_in_address(works, _STATE)]), ""))
    applied = (
        [] if meta is None else meta.xpath("identification//FRBRdate[contains(@name, 'Applicability')]/@date")
    )
    dates = [day for text in applied or values("FRBRExpression/FRBRdate", "date") if (day := _day(text))]
    nested = next(element.iterancestors("attachments", "components", "collectionBody"), None) is not None
    title, code, short = _named(element, root, meta, language or (main.language if main else ""))
    attached = nested and element.tag in ("doc", "statement")
    label = _attachment_label(element, title) if attached else ""
    work = next(iter(works), "")
    if attached and main is not None:
        code, short = main.code, main.aliases
        if not work or work == main.work:
            work = f"{main.work}!{_slug(label)}"
        if (parted := re.fullmatch(r"(.*\S)\s*-\s*art\.?\s*(\S.*)", label, re.IGNORECASE)) is not None:
            # Normattiva's way with a code or treaty that an act approves: an attachment for each article
            code = parted[1] if parted[1].casefold().startswith("codice") else f"{parted[1]} ({main.code})"
            short = []
    return Document(
        kind=element.tag,
        work=work or name,
        expression=next(iter(expressions), ""),
        names=list(dict.fromkeys([*works, *expressions, *(a for a in aliases if "/" in a or ":" in a)])),
        date=max(dates, default=None) or (main.date if main else None),
        made=next((day for text in values("FRBRWork/FRBRdate", "date") if (day := _day(text))), None),
        language=language or (main.language if main else ""),
        country=country or (main.country if main else ""),
        region=region,
        law_type=_law_type(works, region) or (main.law_type if attached and main else None),
        title=title,
        code=code or (main.code if main else "") or next(iter(a for a in aliases if " " in a), work or name),
        aliases=short,
        label=label,
        by_path=not works and (main is None or main.by_path),
    )


def _law_type(works: Sequence[str], region: str) -> str | None:
    if region or any(map(_REGIONAL.search, works)):
        return "regional"
    return "national" if any(map(_NATIONAL.search, works)) else None


_STATE, _SPOKEN = re.compile(r"^(?:/akn)?/([a-z]{2}(?:-[a-z]+)?)/"), re.compile(r"/([a-z]{3})@")


def _in_address(addresses: Sequence[str], part: re.Pattern[str]) -> list[str]:
    return [found[1] for each in addresses if (found := part.search(each))]


def _language(text: str) -> str:
    last = text.rpartition("/")[2].casefold().partition("-")[0]
    return last if len(last) == 2 else VOCABULARY["languages"].get(last, "")


def _country(text: str) -> tuple[str, str]:
    """Return country and region: "ita", "LUX" behind an address and "GB-UKM" are IT, LU and GB."""
    code, _, part = text.rpartition("/")[2].upper().partition("-")
    country = VOCABULARY["countries"].get(code, code if len(code) == 2 else "")
    return country, f"{country}-{part}" if country and part not in ("", "UKM", "EW") else ""


def _named(
    element: Element, root: Element, meta: Element | None, language: str
) -> tuple[str, str, list[str]]:
    """Return title, name of the code and short forms."""
    fronts = [each for each in element if each.tag in ("preface", "coverPage", "preamble")]
    if element.tag in ("act", "bill") and not any(front.find(".//docTitle") is not None for front in fronts):
        fronts += root.iterfind("*/coverPage")

    def first(tag: str) -> str:
        found = (each for front in fronts for each in front.iter(tag))
        return next((text for each in found if (text := words(each))), "")

    title, short = first("docTitle"), first("shortTitle").strip("()[] ")
    long = [words(p) for front in fronts for each in front.iter("longTitle") for p in each.iterfind("p")]
    names = [] if meta is None else list(meta.iterfind(".//FRBRname"))
    own = [n for n in names if attribute(n, "lang") == language] or names
    named = [(n.get("value") or "", n.get("shortForm") or attribute(n, "lang") or "") for n in own]
    title = title or short or " ".join(long) or next((v for v, s in named if s or v.count(" ") > 2), "")
    if not short and (parted := re.fullmatch(r"(.*\S)\s*\(([^\s()\d]{2,15})\)", title.strip(_EDGES))):
        title, short = parted[1], parted[2]
    title = re.sub(r"^Version consolidée applicable au [\d/]+ ?:? ?", "", title)
    title = re.sub(r"\s*\(\d+[A-Z]\d+\)$", "", title.strip(_EDGES)).strip(_EDGES)
    kind, number = first("docType"), re.sub(r"^[nN][°o.]*\s*", "", first("docNumber"))
    day = first("docDate").lstrip("0")
    reference = ""
    if kind and number and language == "it":
        reference = f"{kind.capitalize()} {day}, n. {number}" if day else f"{kind.capitalize()} n. {number}"
    forms = [short, *(n.get("shortForm") or "" for n in own), *([reference] if len(title) <= _LONG else [])]
    if len(title) <= _LONG:
        code = title
    elif reference:
        code = reference
    else:
        code = title[: _LONG + 40].rpartition(" ")[0] + "…"
    return title, code or reference, [each for each in dict.fromkeys(forms) if each and each != code]


def _attachment_label(element: Element, title: str) -> str:
    heading = " - ".join(words(each) for each in element.getparent().iterchildren("num", "heading"))
    name = (element.get("name") or "").strip()
    known = [each.get("value") or "" for each in element.iterfind("meta/identification/FRBRWork/*")]
    if name.isalpha() and name.islower():  # "annex", "schedule": what it is, not what it is called
        name = next((each for each in known if each and not re.search(r"[/:]|^\w{2}$|^\d", each)), name)
    return _capitalised(heading or (title if len(title) <= _LONG else "") or name or "Annex")


def _capitalised(text: str) -> str:
    """Write "SCHEDULE 1" as "Schedule 1"."""
    return re.sub(r"^[A-ZÀ-Ý]{3,}(?= \S{1,4}$)", lambda word: word[0].capitalize(), text)


def _slug(text: str) -> str:
    return re.sub(r"[^\w.-]+", "_", text.strip()).strip("_").lower() or "doc"


# --- dates of force ---


def _day(text: str) -> str | None:
    """Return an ISO date; None for the days that stand for "not known": 1001-01-01, 9999-12-31."""
    try:
        day = date.fromisoformat(text.strip()[:10])
    except ValueError:
        return None
    return day.isoformat() if 1100 < day.year < 2200 else None


def _periods(meta: Element | None) -> dict[str, tuple[str | None, str | None]]:
    """Return id -> first day and day after the last, of temporal groups and of events, which have a first."""
    found: dict[str, tuple[str | None, str | None]] = {}
    if meta is None:
        return found
    for event in meta.iter("eventRef"):
        for key in ("eId", "id", "wId"):
            if id_ := event.get(key):
                found[id_] = _day(event.get("date") or ""), None

    def day(interval: Element, key: str) -> str | None:
        text = (interval.get(key) or "").lstrip("#")
        return found.get(text, (None, None))[0] or _day(text)

    for group in meta.iter("temporalGroup"):
        intervals = list(group.iter("timeInterval"))
        force = [
            i for i in intervals if re.search("force|geltung", i.get("refersTo") or "", re.IGNORECASE)
        ] or intervals
        if force and (id_ := group.get("eId") or group.get("id")):
            found[id_] = day(force[-1], "start"), day(force[-1], "end")
    return found


# --- articles ---


class _Divider:
    """Cuts the body of a document into its articles."""

    def __init__(self, document: Document, element: Element, main: Document) -> None:
        self._document, self._main = document, main
        meta = element.find("meta")
        self._periods = _periods(meta)
        known = [] if meta is None else list(meta.iter())
        self._notes = {i: e for e in element.iter("note") if (i := _id(e))}
        self._hrefs = {
            i: href
            for e in known
            if e.tag.startswith(("TLC", "activeRef", "passiveRef", "original"))
            and (i := _id(e))
            and (href := e.get("href"))
        }
        self._inner: dict[Element, int] = {}

    def divide(self, body: Element) -> None:
        """Fill units and places of the document."""
        self._count(body)
        if body.tag == "mainBody" and self._inner[body] <= _PARAGRAPH:
            self._unit([body], _Level(body, "", ""), [], 0)
        else:
            self._visit(body, [])
        for after in body.itersiblings("conclusions"):  # where Fedlex has final provisions; and signatures
            self._count(after)
            for each in after:
                own, inner = _kind(each), self._inner.get(each, 0)
                if own > _PARAGRAPH and own >= inner:
                    self._unit([each], _level(each), [], own)
                elif inner > _PARAGRAPH:
                    self._visit(each, [_level(each)])

    def _count(self, element: Element) -> int:
        """Note which kinds of articles are in each element, and return those with its own."""
        inner = 0
        for child in element:
            if child.tag not in _AMENDING and child.tag not in NOTES:
                inner = max(inner, self._count(child))
        self._inner[element] = inner
        return max(inner, _kind(element))

    def _visit(self, element: Element, levels: list[_Level]) -> None:
        loose: list[Element] = []
        outer = levels

        def settle() -> None:
            if loose:
                over = levels[-1] if levels else _Level(element, "", "")
                self._unit(list(loose), over, levels, 0)
                loose.clear()

        for child in element:
            if child.tag in TITLES or child.tag in SKIPPED:
                continue
            own, inner = _kind(child), self._inner.get(child, 0)
            if child.tag == "crossHeading":
                settle()
                levels = [*outer, _Level(child, "", words(child))]
            elif own and own >= inner:
                settle()
                self._unit([child], _level(child), levels, own)
            elif inner and (inner > _PARAGRAPH or child.tag in _LEVELS or child.tag == "section"):
                settle()
                self._place(child, -1)
                self._visit(child, [*levels, _level(child)])
            elif child.tag in _LEVELS:
                settle()
                if any(each.tag in _LEVELS for each in child):
                    self._place(child, -1)
                    self._visit(child, [*levels, _level(child)])
                else:
                    self._unit([child], _level(child), levels, 0)
            else:
                loose.append(child)
        settle()

    def _place(self, element: Element, unit: int, known: str = "") -> None:
        for key in ("eId", "id", "wId"):
            id_ = element.get(key)
            derived = known and id_ and re.match(rf"{re.escape(known)}[^\w]|{re.escape(known)}_", id_)
            if id_ and not derived:  # else a reference to it is found by what it begins with
                self._document.places.setdefault(id_, unit)

    def _unit(self, elements: Sequence[Element], level: _Level, levels: list[_Level], kind: int) -> None:
        """Add an article: one element, or those that stand loose in a level."""
        document, element = self._document, elements[0]
        whole = element is level.element
        eid = _id(element) if whole and element.tag not in _BODIES else ""
        number, first, head = _split_number(level.number, eid) if kind else (level.number, "", "")
        text = Text(self._notes, document.country == "GB")
        text.line(head)
        if whole:
            for each in element.iterchildren("num"):
                text.skim(each)
            for heading in element.iterchildren("heading", "subheading"):
                text.line(heading)
            text.number(first)
        for each in (c for c in element if c.tag not in TITLES) if whole else elements:
            text.add(each)
        text.finish()
        if not (made := str(text)):
            self._place(element, -1)
            document.empty += bool(kind)
            return
        for each in elements:
            for below in each.iter():
                self._place(below, len(document.units), eid)
        number, plain = self._number(number, level, levels, kind)
        document.units.append(
            Unit(
                number,
                eid,
                made,
                self._headings(levels, labelled=bool(whole and (kind or levels))),
                plain,
                text.notes,
                self._followed(text.references),
                self._followed(text.note_references),
                *self._force(level.element),
            )
        )

    def _headings(self, levels: list[_Level], *, labelled: bool) -> list[str]:
        document = self._document
        headings = [each.title for each in levels if each.title]
        if document.label and labelled:
            headings.insert(0, document.label)
        if (
            document.code == self._main.code
            and document.title != document.code
            and len(document.title) > _LONG
        ):
            headings.insert(0, document.title)
        return headings

    def _followed(self, references: list[list[str]]) -> list[list[str]]:
        """Return references with the addresses behind the names that the metadata gives to some."""
        return [[self._hrefs.get(end.lstrip("#"), end) for end in ends] for ends in references]

    def _number(self, number: str, level: _Level, levels: list[_Level], kind: int) -> tuple[str, bool]:
        """Return an article's number, and whether it is found by that alone; others go by their place."""
        document = self._document
        scheduled = next((i for i, each in enumerate(levels) if _is_schedule(each.element)), None)
        under = [] if scheduled is None else levels[scheduled:]
        over = [
            _capitalised(n) for e in under if (n := e.number or (e.title if e.element.tag in _FINAL else ""))
        ]
        if kind:
            german = document.country == "DE" and number.casefold().startswith("artikel")
            number = number if german else _LABEL.sub("", number, count=1).strip(f"{_EDGES}§") or number
            number = f"paragraph {number}" if kind == _PARAGRAPH and over else number
        elif level.element.tag not in _BODIES:
            number = _capitalised(level.number or level.title)
        parted = re.fullmatch(r".*\S\s*-\s*art\.?\s*(\S.*)", document.label, re.IGNORECASE)
        if parted is not None and not kind:
            return parted[1].strip(_EDGES), True
        parts = [document.label, *(each for each in over if each != number), number]
        return ", ".join(part for part in parts if part), bool(kind) and not over and not document.label

    def _force(self, element: Element) -> tuple[str | None, str | None]:
        for each in (element, *element.iterancestors()):
            own = each.get(_DAYS[0])
            if own is not None:
                return _ordered(_day(own), _day(each.get(_DAYS[1]) or ""))
            for id_ in (each.get("period") or "").replace("#", " ").split():
                if any(found := self._periods.get(id_, (None, None))):
                    return _ordered(*found)
        return None, None


def _ordered(first: str | None, end: str | None) -> tuple[str | None, str | None]:
    return first, None if first and end and end <= first else end


def _kind(element: Element) -> int:
    tag = element.tag
    if tag in ("hcontainer", "level"):
        tag = (element.get("name") or element.get("class") or "").casefold()
    return _KINDS.get(tag, 0)


def _id(element: Element) -> str:
    return element.get("eId") or element.get("id") or element.get("wId") or ""


def _split_number(number: str, eid: str) -> tuple[str, str, str]:
    """Return an article's number, its first paragraph's, and a heading run together with it."""
    # each search begins at the first digit of a number alone: else thousands of digits cost their square
    tail = re.search(r"(?<!\d)\d++[a-zA-Z]*$", eid)
    if tail and (not number or re.fullmatch(r"\(\w+\)", number)):
        return tail[0], number, ""
    parted = re.fullmatch(r"(.*?(?<!\d)\d++(?:[- ]?[a-z]+)?)\s*[.:–—-]+\s+([^\W\d_]{2,}.*)", number)
    return (parted[1], "", parted[2]) if parted and parted[2][0].isupper() else (number, "", "")


def _is_schedule(element: Element) -> bool:
    named = f"{element.get('name') or ''} {element.get('class') or ''}"
    number = element.find("num")
    return element.tag in _FINAL or bool(
        _SCHEDULE.search(named) or (number is not None and _SCHEDULE.match(words(number)))
    )


def _level(element: Element) -> _Level:
    """Return number and title of a level: "PART II", "PART II - Of bread"."""
    number = next((words(each) for each in element if each.tag == "num"), "").strip(_EDGES)
    heads = [words(each) for each in element if each.tag in ("heading", "subheading")]
    head = " - ".join(each for each in heads if each)
    while number and head.casefold().startswith(number.casefold()) and len(head) > len(number):
        head = head[len(number) :].lstrip(_EDGES)
    return _Level(element, number, " - ".join(part for part in (number, head.strip(_EDGES)) if part))
