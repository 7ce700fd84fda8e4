"""References of Akoma Ntoso, however they are spelt, to the articles that they lead to.

An address is a work and a place in it. Works are compared by their segments without what versions, languages
and publishers add (`/akn/it/act/decretoLegislativo/stato/2005-03-07/82/ita@2025-01-30/!main` and
`/it/act/decreto_legislativo/2005-03-07/82` are one), places by id, by id in other spellings, up to the
article that they are in (`#art_5-com2`, `~art_5`, `/section/5/2` for `art_5__para_2`, `section-5-2`), else by
the article's number.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple
from urllib.parse import unquote

from indexes.sources.akoma_ntoso.document import Document, Unit
from rag.text.article_numbers import number_key

WITHIN: Final = "within"  # leads to a whole act, or to a level or schedule over articles
LONGEST_RANGE = 300  # articles; "articles 1 to 999 of" a code says nothing of each of them

LONGEST_ADDRESS = 1000  # characters; a longer one leads nowhere, and its beginnings are not all looked up

_LATIN = r"(?:bis|ter|quater|quinquies|[a-z]{2,}(?:ies|decies))"
_NAMES = {
    "article": "art", "articolo": "art", "artikel": "art", "articulo": "art", "section": "sec",
    "paragraph": "para", "par": "para", "chapter": "chp", "chap": "chp", "schedule": "sch", "sched": "sch",
}  # fmt: skip
# What stands between a work and a place in it: version, language, component, format.
_BETWEEN = re.compile(
    r"(?:[a-z]{0,3}@[^/]*|!?main(?:\.xml)?|\d{4}-?\d{2}-?\d{2}|\d|[a-z]{2}|deu|ita|fra|eng|jo|oj|xml|html|akn|pdf|"
    r"enacted|made|data\.\w+|consolide|regelungstext[^/]*)(?:/|$)"
)
_DROPPED = {"akn", "main", "!main", "main.xml", "stato", ""}
_ARTICLE = re.compile(
    r"(?:hauptteil-n?\d+_)?(?:art(?:icle|icolo|ikel)?|sec(?:tion)?|rule|reg(?:ulation)?)[-_./ ]*[zn]?"
    rf"(\d+[a-z]*(?:[-_ ]?{_LATIN}\b)?(?:-\d+{_LATIN}?)*)(?![a-z0-9])"
)
_WITHIN_WORK = re.compile(rf"/{_ARTICLE.pattern}")  # .../ukpga/2000/36/section/18/4


class Target(NamedTuple):
    """An article by its document and its place there."""

    document: int
    unit: int


class Resolver:
    """Finds the articles that references lead to, among documents of one or many files."""

    def __init__(self, documents: Sequence[Document], files: Sequence[int]) -> None:
        """Take the documents, and of each the number of its file."""
        self._documents, self._files = documents, files
        self._works: dict[tuple[str, ...], list[int]] = {}
        self._together: dict[int, list[int]] = {}
        self._spelt: dict[int, dict[str, int]] = {}  # made when a document is first asked
        self._numbers: dict[int, dict[str, int]] = {}
        for i, document in enumerate(documents):
            self._together.setdefault(files[i], []).append(i)
            for name in document.names or [document.work]:
                for key in _keys(name):
                    known = self._works.setdefault(key, [])
                    if i not in known:
                        known.append(i)

    def find(self, reference: Sequence[str], at: int) -> list[Target] | str | None:
        """Return the articles that a reference of document `at` leads to; `WITHIN`; or None: not here.

        The reference is one address, or the two ends of a range.
        """
        ends = [self._find(end, at) for end in reference]
        met = [end for end in ends if isinstance(end, Target)]
        if len(met) == 2 and met[0].document == met[1].document and met[0].unit <= met[1].unit:
            document, first = met[0]
            last = min(met[1].unit, first + LONGEST_RANGE)
            return [Target(document, unit) for unit in range(first, last + 1)]
        return met or next((end for end in ends if isinstance(end, str)), None)

    def document(self, address: str, at: int) -> int | None:
        """Return the document of the act that an address of document `at` names; None: not here."""
        if len(address) > LONGEST_ADDRESS:
            return None
        work, _ = addressed(address)
        if not work:
            return at
        known = (self._works.get(key) for key in _beginnings(_segments(work)))
        documents = next(filter(None, known), None)
        if documents is None:
            return None
        return at if at in documents else documents[0]

    def _find(self, address: str, at: int) -> Target | str | None:
        if len(address) > LONGEST_ADDRESS or "<" in address or not address.strip("#~ /"):
            return None
        work, place = addressed(address)
        if not work:
            others = (i for i in self._together[self._files[at]] if i != at)
            return self._in([at, *others], place)
        raw = _segments(work)
        for length in range(len(raw), 1, -1):
            documents = self._works.get(tuple(map(_plain, raw[:length])))
            if documents:
                parts = [part for part in raw[length:] if not part.startswith("!")]
                components = {_plain(part) for part in raw[length:] if part.startswith("!")}
                rest = "/".join(parts)
                while (between := _BETWEEN.match(rest)) is not None:
                    rest = rest[between.end() :]
                place = "/".join(
                    part for part in (re.sub(r"\.(?:xml|akn|html)$|/(?:jo|oj)$", "", rest), place) if part
                )
                latest = sorted(documents, key=lambda i: self._documents[i].date or "", reverse=True)
                near = sorted(
                    latest, key=lambda i: (not self._is(i, components), self._files[i] != self._files[at])
                )
                return self._in(near, place) if place else self._whole(near)
        return self._in([at], place) if re.fullmatch(r"/?!?main", work) and place else None

    def _is(self, i: int, components: set[str]) -> bool:
        """Return whether a document is one of these components, such as "!schedule1"."""
        return bool(components & set(map(_plain, _segments(self._documents[i].work))))

    def _whole(self, documents: Sequence[int]) -> Target | str:
        first = self._documents[documents[0]]
        return Target(documents[0], 0) if first.label and len(first.units) == 1 else WITHIN

    def _in(self, documents: Sequence[int], place: str) -> Target | str | None:
        level: str | None = None
        for i in documents:
            found = self._place(i, place)
            if found is not None and found >= 0:
                return Target(i, found)
            level = level or (WITHIN if found is not None else None)
        return level

    def _place(self, i: int, place: str) -> int | None:
        """Return the unit of a place, -1 for a level over units, None where there is none."""
        document = self._documents[i]
        if (exact := document.places.get(place)) is not None:
            return exact
        if i not in self._spelt:
            self._spelt[i] = {}
            for id_, unit in document.places.items():
                self._spelt[i].setdefault(" ".join(_tokens(id_)), unit)
            units = [(number_key(u.number), n) for n, u in enumerate(document.units) if u.plain]
            self._numbers[i] = {key: n for key, n in reversed(units) if key}
        tokens = _tokens(place)
        for length in range(len(tokens), 0, -1):
            known = self._spelt[i].get(" ".join(tokens[:length]))
            if known is not None:  # a level is not what is below it
                return known if known >= 0 or length == len(tokens) else None
        number = _ARTICLE.match(place.casefold())
        return self._numbers[i].get(number_key(number[1])) if number else None


def addressed(address: str) -> tuple[str, str]:
    """Return the work that an address names, "" where it is the one at hand, and the place in it."""
    work, place = _parted(address)
    if not place and re.fullmatch(r"[\w.-]+", work):
        return "", work  # an id without its sign
    return work, place


def numbered(address: str) -> str:
    """Return the number of the article that an address names, as `number_key` gives it; "" for none."""
    if len(address) > LONGEST_ADDRESS:
        return ""
    work, place = addressed(address)
    named = _ARTICLE.match(place.casefold()) or _WITHIN_WORK.search(work.casefold())
    return number_key(named[1]) if named else ""


def _beginnings(segments: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yield the addresses of works that the segments begin with, the longest first."""
    plain = tuple(map(_plain, segments))
    return (plain[:length] for length in range(len(plain), 1, -1))


def _parted(address: str) -> tuple[str, str]:
    """Return work and place of an address."""
    text = re.sub(r"^[a-z]+://[^/]*", "", unquote(address).strip(), flags=re.IGNORECASE)
    text = re.sub(r"^.*?N2Ls\?", "", text)
    work, _, place = re.sub(r"[#~]+", "#", text).partition("#")
    return work, place.replace("#", "_")


def _segments(work: str) -> list[str]:
    text = work.casefold()
    if text.startswith("urn:nir:"):
        text = "it/act/" + re.sub(r"[:;]", "/", text.removeprefix("urn:nir:").partition("!")[0])
    parts = [part for segment in text.split("/") for part in re.split(r"(?<=.)(?=!)", segment)]
    parts = [part for part in parts if part not in _DROPPED]
    return parts[1:] if parts[:1] == ["id"] else parts


def _plain(segment: str) -> str:
    """Spell decretoLegislativo, decreto_legislativo and decreto.legislativo in one way."""
    return re.sub(r"[-_. ]", "", segment)


def _keys(name: str) -> Iterator[tuple[str, ...]]:
    """Yield the segments of a work's address; also with the year alone for the day, as some refer."""
    key = tuple(map(_plain, _segments(_parted(name)[0])))
    key = key[: len(key) - bool(key and re.fullmatch(r"[jo][oj]|\d{8}", key[-1]) and "eli" in key)]
    key = key[: len(key) - (key[-1:] == ("consolide",))]
    if len(key) > 1:
        yield key
        if any(re.fullmatch(r"[12]\d{7}", part) for part in key):
            yield tuple(part[:4] if re.fullmatch(r"[12]\d{7}", part) else part for part in key)


def _tokens(place: str) -> list[str]:
    """Cut a place into words and numbers: art_5-bis__para_2, art5bis-para2 and article/5bis/par/2 alike."""
    text = place.casefold()
    text = re.sub(r"(?<=_)(\d+[a-z]*)-(?=\d)", r"\1.", text)  # art_2-1: an article of its own, as 2-1
    text = re.sub(rf"(\d)[-_ ]({_LATIN})(?![a-z])", r"\1\2", text)
    words = re.findall(r"\d[\d.]*[a-z]*|[^\W\d_]+", text)
    return [_NAMES.get(word, word.rstrip(".")) for word in words]


def article_key(unit: Unit) -> str:
    """Return an id for an article that has none: by its number, "art_5-bis"."""
    return "art_" + re.sub(r"[^\w.-]+", "_", unit.number).strip("_").casefold() if unit.number else "text"
