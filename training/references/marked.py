"""A reader of references against the `<ref>` elements of Akoma Ntoso, in the text that is left without them.

A mark-up marks some references and passes others over, so what is read outside of its elements is neither
right nor wrong. Inside of them it is known what is meant: whether the act at hand or which other, and which
article. Compared are, article by article, the sets of pairs (law, number) and of laws.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from indexes.corpus.corpus import Corpus
from indexes.formats.validation import Inspection, UnfitError
from indexes.sources import registry
from indexes.sources.akoma_ntoso.document import Document, documents, root_of
from indexes.sources.akoma_ntoso.references import Resolver, addressed, numbered
from indexes.sources.akoma_ntoso.source import MOST_MB, read_at_most, xml_files
from indexes.sources.akoma_ntoso.text import Element
from rag.errors import BadInput
from rag.text.article_numbers import number_key
from rag.types import Article
from training.references.scores import Claim, Difference, Found, Reader, numbers

# Signs of private use, put around what is in an element; its number stands between the first two.
_OPEN, _NUMBERED, _CLOSE, _DIGIT = "\ue000", "\ue001", "\ue002", 0xE010
_MARK = re.compile(rf"{_OPEN}([\ue010-\ue019]+){_NUMBERED}|{_CLOSE}")
# What stands alone in some elements: a part of an article, which is no reference here.
_PART = (
    "abs(?:atz|ätze)?|nummern?|nr|satz|sätze|halbsatz|buchstaben?|comma|commi|letter[ae]|numer[oi]|paragraphs?|"
    "paragrafo|points?|sub-?(?:section|paragraph)s?|alin[ée]as?|lid|onderdeel"
)
_PARTS = re.compile(rf"(?:\W*(?:{_PART})\W+(?:\d+\w*|\w|[ivx]+)(?!\w))+\W*", re.IGNORECASE)


class Span(NamedTuple):
    """What an element marks in an article's text."""

    start: int
    end: int
    ends: tuple[str, ...]  # an address, or both of a range


@dataclass(frozen=True)
class Marked:
    """Law in one language with the places of its mark-up."""

    corpus: Corpus
    spans: Mapping[int, Sequence[Span]]  # position of an article -> in the order of its text
    at: Mapping[int, int]  # position of an article -> its document
    documents: Sequence[Document] = field(repr=False)
    resolver: Resolver = field(repr=False)
    positions: Mapping[tuple[int, int], int] = field(repr=False)  # document and unit -> article
    passed_over: int = 0  # articles whose text could not be found again


def read_marked(path: Path) -> list[Marked]:
    """Read a file, a folder or an archive of acts, a corpus a language.

    Raises:
        BadInput: there is no act, or one cannot be used.
        MissingExtra: lxml is not installed.
    """
    read: dict[str, list[tuple[str, list[Document], Mapping[int, tuple[str, ...]]]]] = {}
    for place, file, _ in xml_files(path, Inspection(lenient=False)):
        try:
            root = root_of(read_at_most(file, MOST_MB * 1_000_000))
        except UnfitError as unfit:
            raise BadInput(f"{place}: {unfit.problem}. {unfit.cure}.") from None
        addresses = _mark(root)
        if found := documents(root, place.stem):
            read.setdefault(found[0].language, []).append((str(place), found, addresses))
    if not read:
        raise BadInput(f"{path}: no act in Akoma Ntoso in it. Give .xml or .akn files with law.")
    return [
        _marked(path, language, sorted(acts, key=lambda a: a[0])) for language, acts in sorted(read.items())
    ]


def _mark(root: Element) -> dict[int, tuple[str, ...]]:
    """Put signs around what is in the elements, and return number -> addresses."""
    named = {
        id_: href
        for meta in root.iter("meta")
        for each in meta.iter()
        if isinstance(each.tag, str) and each.tag.startswith(("TLC", "activeRef", "passiveRef", "original"))
        and (id_ := each.get("eId") or each.get("id")) and (href := each.get("href"))
    }  # fmt: skip
    addresses = {}
    for n, element in enumerate(root.iter("ref", "rref")):
        keys = ("from", "upTo") if element.tag == "rref" else ("href",)
        ends = [(element.get(key) or "").strip() for key in keys]
        addresses[n] = tuple(named.get(end.lstrip("#"), end) for end in ends if end)
        digits = "".join(chr(_DIGIT + int(digit)) for digit in str(n))
        element.text = f"{_OPEN}{digits}{_NUMBERED}{element.text or ''}"
        if len(element):
            element[-1].tail = f"{element[-1].tail or ''}{_CLOSE}"
        else:
            element.text += _CLOSE
    return addresses


def _marked(
    path: Path, language: str, acts: Sequence[tuple[str, list[Document], Mapping[int, tuple[str, ...]]]]
) -> Marked:
    corpus, _ = registry.load("akoma-ntoso", path, language=language or None)
    known = {
        (own.get("frbr_work", ""), own.get("eid", ""), article.article_no, article.text): i
        for i, article in enumerate(corpus.articles)
        for own in [corpus.extras.get(article.id, {})]
    }
    every: list[Document] = [document for _, found, _ in acts for document in found]
    files = [n for n, (_, found, _) in enumerate(acts) for _ in found]
    spans: dict[int, Sequence[Span]] = {}
    at, positions, passed_over = {}, {}, 0
    for d, document in enumerate(every):
        for u, unit in enumerate(document.units):
            text, marks = _unmarked(unit.text)
            position = known.get((document.work, unit.eid, _unmarked(unit.number)[0], text))
            if position is None:
                passed_over += bool(marks)
                continue
            positions[d, u], at[position] = position, d
            spans[position] = [Span(start, end, acts[files[d]][2][n]) for n, start, end in marks]
    resolver = Resolver(every, files)
    return Marked(corpus, spans, at, every, resolver, positions, passed_over)


def _unmarked(text: str) -> tuple[str, list[tuple[int, int, int]]]:
    """Return a text without signs, and of each element its number, start and end in the text."""
    out: list[str] = []
    length, last = 0, 0
    opened: list[tuple[int, int]] = []
    found = []

    def add(piece: str) -> None:
        nonlocal length
        if piece[:1] in (" ", "\n") and (not out or out[-1][-1] in " \n"):
            piece = piece.lstrip(" \n") if not out or out[-1][-1] == "\n" else piece.lstrip(" ")
        if piece:
            out.append(piece)
            length += len(piece)

    for mark in _MARK.finditer(text):
        add(text[last : mark.start()])
        last = mark.end()
        if mark[1] is not None:
            opened.append((int("".join(str(ord(c) - _DIGIT) for c in mark[1])), length))
        elif opened:
            number, start = opened.pop()
            found.append((number, start, length))
    add(text[last:])
    made = "".join(out)
    trimmed = [
        (
            n,
            start + len(made[start:end]) - len(made[start:end].lstrip()),
            start + len(made[start:end].rstrip()),
        )
        for n, start, end in found
    ]
    return made, sorted((each for each in trimmed if each[1] < each[2]), key=lambda each: each[1])


class _Meant(NamedTuple):
    """What an element leads to."""

    law: str  # "" the law at hand, the name of another of the corpus, or an address that begins with "/"
    articles: frozenset[str]


def compare(law: Marked, reader: Reader) -> tuple[list[Claim], list[Difference], Counter[str]]:
    """Return what the mark-up says of what is read, and how much of it is passed over, by reason.

    Passed over are elements around a part of an article alone ("comma 2"), which is no reference here, and
    those that lead nowhere. A marked pair is met wherever the article is read to
    have it; what is read is charged only where it overlaps an element, and of its numbers those that the
    element's text has, or that have to be worked out ("the article before").
    """
    claims: list[Claim] = []
    differences: list[Difference] = []
    counts: Counter[str] = Counter({"articles whose text was not found again": law.passed_over})
    for i, spans in law.spans.items():
        article = law.corpus.articles[i]
        found = [*reader.read(article)]
        counts["references read"] += len(found)
        counts["elements"] += len(spans)
        meant: list[tuple[Span, _Meant]] = []
        for span in spans:
            leads = _meant(law, i, span)
            overlapping = [each for each in found if each.start < span.end and span.start < each.end]
            if leads is None:
                counts["elements that lead nowhere"] += 1
            elif _PARTS.fullmatch(article.text[span.start : span.end]) or (
                not leads.law and leads.articles <= _own(article) and not overlapping
            ):
                counts["elements around parts of an article"] += 1
            else:
                meant.append((span, leads))
        inside = sum(any(each.start < s.end and s.start < each.end for s, _ in meant) for each in found)
        counts["references read that are marked"] += inside
        new, told = _article(law, reader, i, meant, found)
        claims += new
        differences += told
    return claims, differences, counts


def _own(article: Article) -> frozenset[str]:
    return frozenset({number_key(article.article_no)})


def _meant(law: Marked, i: int, span: Span) -> _Meant | None:
    at = law.at[i]
    targets = law.resolver.find(span.ends, at)
    if isinstance(targets, list):
        reached = [law.positions.get((document, unit)) for document, unit in targets]
        articles = [law.corpus.articles[position] for position in reached if position is not None]
        return _of(law, i, articles) if articles else None
    address = next(iter(span.ends), "")
    document = law.resolver.document(address, at)
    if document is not None:
        code = law.documents[document].code
        here = code == law.corpus.articles[i].code or document == at
        return _Meant("" if here else code, frozenset())
    work, _ = addressed(address)
    if not re.search(r"\d", work):
        return None
    return _Meant(f"/{work.strip('/')}", frozenset(filter(None, map(numbered, span.ends))))


def _of(law: Marked, i: int, articles: Sequence[Article]) -> _Meant:
    code = articles[0].code
    name = "" if code == law.corpus.articles[i].code else code
    return _Meant(name, frozenset(number_key(a.article_no) for a in articles if a.code == code))


def _article(
    law: Marked, reader: Reader, i: int, meant: Sequence[tuple[Span, _Meant]], found: Sequence[Found]
) -> tuple[list[Claim], list[Difference]]:
    article = law.corpus.articles[i]
    outside = [leads.law for _, leads in meant if leads.law.startswith("/")]
    says = {(leads.law, number) for _, leads in meant for number in leads.articles}
    says_laws = {leads.law for _, leads in meant}
    read: set[tuple[str, str]] = set()
    read_laws: set[str] = set()
    charged: dict[tuple[str, str], str] = {}  # -> kind
    charged_laws: dict[str, str] = {}
    differences = []
    for each in found:
        near = [(span, leads) for span, leads in meant if each.start < span.end and span.start < each.end]
        name, articles = _read(law, reader, i, each, [leads.law for _, leads in near], outside)
        pairs = {(name, number) for number in articles}
        read |= pairs
        read_laws.add(name)
        if not near:
            continue
        written = {token for span, _ in near for token in _written(article.text[span.start : span.end])}
        judged = {p for p in pairs if p in says or p[1] in written or each.kind == "relative"}
        charged |= {pair: each.kind for pair in judged if pair not in charged}
        charged_laws.setdefault(name, each.kind)
        if name not in says_laws or not judged <= says:
            wrong = f"found: {each.kind} {', '.join(sorted(articles)) or '-'} of {name or 'this law'}"
            differences.append(Difference(article.id, each.start, each.end, wrong))
    for span, leads in meant:
        if leads.law not in read_laws or not {(leads.law, number) for number in leads.articles} <= read:
            missed = f"marked: {', '.join(sorted(leads.articles)) or '-'} of {leads.law or 'this law'}"
            differences.append(Difference(article.id, span.start, span.end, missed))
    claims = [
        *(Claim("article", kind, False, pair in says) for pair, kind in charged.items()),
        *(Claim("article", _kind(*pair), True, pair in read) for pair in sorted(says)),
        *(Claim("document", kind, False, name in says_laws) for name, kind in charged_laws.items()),
        *(Claim("document", _kind(name, ""), True, name in read_laws) for name in sorted(says_laws)),
    ]
    return claims, sorted(differences, key=lambda d: (d.start, d.what))


def _kind(name: str, number: str) -> str:
    """Return the kind that a mark-up means, which does not tell relative ones from numbers."""
    return ("external" if number else "law") if name else ("internal" if number else "level")


def _read(
    law: Marked, reader: Reader, i: int, reference: Found, near: Sequence[str], outside: Sequence[str]
) -> tuple[str, frozenset[str]]:
    """Return the law that a reference names, as the mark-up calls it if they agree, and its numbers.

    `near` are the laws of the elements that it overlaps, `outside` all addresses of acts outside the corpus.
    """
    article = law.corpus.articles[i]
    reached = [law.corpus.articles[position] for position in reader.resolve(article, reference)]
    if reached and reference.kind not in ("level", "law"):
        name, articles = _of(law, i, reached)
        return name, articles
    stated = frozenset(end for number in numbers(reference.articles) for end in number.split(".."))
    if reference.kind == "relative":
        stated = _own(article) if tuple(reference.articles) == ("0",) else frozenset()
    if not reference.law or reached:
        return _of(law, i, reached).law if reached else "", stated
    name = reference.law
    if not re.search(r"\d", name):  # "codice penale"
        return next((o for o in near if o.startswith("/")), name), stated
    if any(_agrees(name, own) for own in law.documents[law.at[i]].names):
        return "", stated
    return next((o for o in (*near, *outside) if o.startswith("/") and _agrees(name, o)), name), stated


def _agrees(name: str, address: str) -> bool:
    """Tell whether a law's name may be that of an address: the numbers of one are all in the other.

    "legge 3 aprile 2006, n. 152" is /it/act/legge/stato/2006-04-03/152, "92/43/CEE del 21 maggio 1992" is
    /eu/act/directive/1992/43.
    """
    there = _numbers(address)
    stated = _numbers(name)
    short = {number % 100 if 1900 <= number < 2000 else number for number in there}  # 92/43/CEE
    return bool(stated) and any(
        stated <= some or (len(some) > 1 and some <= stated) for some in (there, short)
    )


def _numbers(text: str) -> set[int]:
    return {int(number) for number in re.findall(r"\d+", text)}


def _written(text: str) -> Iterator[str]:
    """Yield the numbers that a text has."""
    for token in re.findall(r"\d[\w.-]*(?: (?:bis|ter|quater)\b)?|[LRDA]\.? ?\d[\w-]*", text):
        yield number_key(token)
