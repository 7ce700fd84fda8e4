"""Questions that name an article by its number: straight to it, and to where its content moved.

Versions of one article: which of them held on a day, and never two of one article in a list. A corpus may
hold an article as it was and as it is. They bear the same number of the same code, and no day is in the
time of both. Two articles of one number whose times do overlap, such as the first articles of two annexes,
are different articles.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import date
from itertools import islice

import numpy as np

from rag.corpus.articles import Articles, Numbers
from rag.corpus.card import CorpusCard, Moved
from rag.text import data_lines
from rag.text.article_numbers import SERIES_LETTERS, number_key
from rag.text.code_names import CodeNames
from rag.text.folding import fold, level
from rag.text.references import Reference, find_references
from rag.types import Article, Filter, Ints, KnownItem, Shown, Why, in_force


def together(one: Article, other: Article) -> bool:
    """Tell whether there is a day on which both are in force; what has no date always is."""
    ends = ((one, other.valid_to), (other, one.valid_to))
    return all(a.valid_from is None or end is None or a.valid_from < end for a, end in ends)


def versions_in_force(articles: Sequence[Article], day: date | None) -> list[Article]:
    """Return, of each article's versions, those in force on a day, in their order.

    Where none is, the one nearest to the day is returned: the last one before it, else the first one
    after it. Without a day it is the newest.
    """
    groups: dict[tuple[str, str], list[Article]] = {}
    for article in articles:
        groups.setdefault((article.code, article.article_no), []).append(article)
    in_force_ids = {article.id for group in groups.values() for article in _of_day(group, day)}
    return [article for article in articles if article.id in in_force_ids]


def best_versions(ranked: Iterable[Article], taken: Iterable[Article] = ()) -> Iterator[Article]:
    """Yield ranked articles, only the best version of each, beside those that are taken already."""
    listed: dict[tuple[str, str], list[Article]] = {}
    for article in taken:
        listed.setdefault((article.code, article.article_no), []).append(article)
    for article in ranked:
        versions = listed.setdefault((article.code, article.article_no), [])
        if not article.article_no.strip() or all(together(article, other) for other in versions):
            versions.append(article)
            yield article


def _of_day(group: Sequence[Article], day: date | None) -> list[Article]:
    if len(group) == 1:
        return list(group)
    if day is None:
        newest = max(group, key=lambda a: (a.valid_from or date.min, a.id))
        return [article for article in group if article is newest or together(article, newest)]
    if held := [article for article in group if in_force(article, day)]:
        return held
    if expired := [article for article in group if article.valid_to is not None and article.valid_to <= day]:
        return [max(expired, key=lambda a: (a.valid_to or date.min, a.id))]
    return [min(group, key=lambda a: (a.valid_from or date.min, a.id))]


LONGEST_RANGE = 20  # articles that a range such as "205 à 211" names, its ends among them
LONGEST_SPAN = 2_000  # articles of all codes that are looked at for one range

_WORD = re.compile(r"[^\W_]+")
# just before a reference: what stood under the number before it was given to something else
_FORMER = re.compile(
    r"\b(?:anciens?|anciennes?|ex|oude|former|vecchio|ehemaliger?)[-\s]+(?:l['’])?$", re.IGNORECASE
)
# between two references that one "anciens" is for
_JOINED = re.compile(r"[\s,]*(?:et|ou|und|oder|and|or|e|o|en|of)?[\s,]*")
# How a text of the law names its own: "违反本条例", "this Act". 基本法 is a name, and other words end in 本.
_OWN = re.compile(
    r"(?:^|[^日基根资成文版样书原])本(?:实施)?(?:法|法典|条例|细则|办法|规定|解释|规则|章程|决定)$"
    r"|^(?:of )?this\b",
    re.IGNORECASE,
)


class KnownItems:
    """The articles of a corpus by code and number.

    Numbers match whatever their spelling: "L. 1234-5" and "L1234-5", "2 bis" and "2-bis", "1er" and
    "1", "第一千零三十二条" and "第1032条". Articles come in corpus order.
    """

    def __init__(self, articles: Sequence[Article], card: CorpusCard) -> None:
        self._articles = Articles.of(articles)
        self._names = CodeNames(self._articles.codes.counts, card.aliases, card.language)
        self._law_date = card.law_date
        self._renumbered: dict[str, list[Moved]] = {}
        for row in card.moved:
            self._renumbered.setdefault(number_key(row.old), []).append(row)
        words = (fold(word) for line in data_lines("codes/framing.txt") for word in line.split())
        self._framing = frozenset(filter(None, words))
        signs = sorted((word for word in self._framing if not word.isascii()), key=len, reverse=True)
        self._framing_signs = re.compile("|".join(map(re.escape, signs)))

    def find(
        self, question: str, day: date | None = None, within: str | None = None
    ) -> tuple[KnownItem, ...]:
        """Return one item for each article that the question names, in the order of the question.

        An item whose number is marked as an article's and that no article bears comes with `found`
        empty; a number that only stands beside a code must be an article's, or it is left out. An
        item of a law that the corpus does not hold comes with the code as typed and `found` empty.
        A range gives each article of it in the corpus's order, only its ends if it is longer than
        LONGEST_RANGE. "Ancien" before a reference marks it `former`.

        Of the versions of an article the one in force on the day is found, or the nearest to it; without
        a day, that of the corpus's own date, or the newest. In a text of the law, a number alone is
        `within` its code, else of any.
        """
        day = day or self._law_date
        items: dict[tuple[str, str | None], KnownItem] = {}
        opening: Reference | None = None
        former = False
        for read in find_references(question, self._names):
            reference = read
            if within is not None and (
                read.code_named is None or (read.unresolved and _OWN.search(read.code_named))
            ):
                reference = replace(read, code=within)  # it names no law, or "this law"
            named = [reference]
            if reference.through and opening is not None:
                named = [*self._between(opening, reference, day), reference]
            joined = opening is not None and _JOINED.fullmatch(question, opening.end, reference.start)
            former = bool(_FORMER.search(question[: reference.start]) or (former and joined))
            opening = reference
            for one in named:
                item = replace(self._item(one, day), former=former)
                if one.marked or item.found or item.moved:
                    items.setdefault((item.article_no, item.code), item)
        return tuple(items.values())

    def _between(self, opening: Reference, closing: Reference, day: date | None) -> list[Reference]:
        """Return a reference for each number between two of the same code, less the two."""
        if opening.unresolved or closing.unresolved:
            return []
        numbers: dict[str, str] = {}  # number -> name of its code
        codes, key_of = self._articles.codes, self._articles.number_keys
        closings = self._bearing(closing.number, closing.code, day)
        ends = dict(zip(codes.of[closings].tolist(), closings.tolist(), strict=True))
        for first in self._bearing(opening.number, opening.code, day).tolist():
            code = int(codes.of[first])
            last = ends.get(code, -1)
            if not 0 <= last - first <= LONGEST_SPAN:
                continue
            span = slice(first, last + 1)
            keys = key_of.of[self._articles.article_nos.of[span]]
            held = dict.fromkeys(keys[codes.of[span] == code].tolist())
            if len(held) <= LONGEST_RANGE:  # versions of one article count as one
                between = (n for n in held if n not in (keys[0], keys[-1]))
                numbers |= {key_of.keys[n]: codes.keys[code] for n in between}
        numbers.pop("", None)
        return [replace(closing, number=n, code=closing.code or code) for n, code in numbers.items()]

    def remainder(self, question: str) -> str:
        """Return what is left of a question without its references and the words around them.

        "Que dit l'article 1240 du code civil ?" leaves nothing; "article 1240 et mur mitoyen" leaves
        "et mur mitoyen". A question with no reference comes back as it is, less outer spaces.
        """
        references = find_references(question, self._names)
        if not references:
            return question.strip()
        starts, ends = [0, *(r.end for r in references)], [*(r.start for r in references), None]
        pieces = (question[start:end] for start, end in zip(starts, ends, strict=True))
        left = " ".join(" ".join(pieces).split()).strip(" ?!.,;:'\"’")
        plain = self._framing_signs.sub(" ", level(left))
        return "" if all(fold(word) in self._framing for word in _WORD.findall(plain)) else left

    def _item(self, reference: Reference, day: date | None) -> KnownItem:
        typed = SERIES_LETTERS.sub(lambda letters: letters[0].upper(), reference.number)
        if reference.unresolved:
            return KnownItem(reference.text.strip(), typed, reference.code_named, ())
        found = self._bearing(reference.number, reference.code, day)
        written = self._articles.article_nos
        numbers = np.unique(written.of[found])
        shown = written.keys[int(numbers[0])] if len(numbers) == 1 else typed
        renumbered = self._renumbered.get(reference.number, ())
        rows = tuple(row for row in renumbered if reference.code in (None, row.code))
        ids = tuple(self._articles.order.ids[position] for position in found.tolist())
        return KnownItem(reference.text.strip(), shown, reference.code, ids, rows)

    def _bearing(self, number: str, code: str | None, day: date | None) -> Ints:
        """Return the positions of a number; one that lacks its letter finds L, R and D of a code."""
        written = self._articles.article_nos
        for keys in (self._articles.number_keys, self._articles.bare_keys) if number else ():
            numbers = keys.at(number).tolist()  # its spellings
            if found := self._within(code, [written.of_number(n) for n in numbers]):
                return self._in_force(np.sort(np.concatenate(found)), day)
        return np.zeros(0, np.int64)

    def _within(self, code: str | None, positions: Sequence[Numbers]) -> list[Numbers]:
        """Return those of one code, in so many parts as hold any; of every code where none is named."""
        if code is not None:
            number = self._articles.codes.number(code)
            of = self._articles.codes.of
            positions = [each[of[each] == number] for each in positions] if number is not None else []
        return [each for each in positions if len(each)]

    def _in_force(self, positions: Numbers, day: date | None) -> Ints:
        """Return those that `versions_in_force` returns; what is alone in its code is not read for that."""
        _, code, often = np.unique(
            self._articles.codes.of[positions], return_inverse=True, return_counts=True
        )
        several = often[code] > 1
        held = [(int(position), self._articles[int(position)]) for position in positions[several]]
        left = {article.id for article in versions_in_force([article for _, article in held], day)}
        keep = ~several
        keep[several] = [article.id in left for _, article in held]
        return positions[keep].astype(np.int64)

    def pinned(
        self, known: Sequence[KnownItem], where: Filter | None, most: int | None = None
    ) -> list[Shown]:
        """Return the articles named by number, then those that took over an old number's content.

        They are `most` at most, where that is given: only so many are read.

        Who asks for the "ancien article" means the content of then: its heirs come first. An article
        that is named is shown whether it is in force on the filter's day or not, for it was asked for;
        whoever shows it says so.
        """
        day = where.in_force_on if where else None
        bearing: dict[str, Why] = {}
        heirs: dict[str, Why] = {}
        named = replace(where or Filter(), in_force_on=None)
        admits = self._articles.admitted(named) if known and named != Filter() else None
        place = self._articles.order.positions
        for item in known:
            found = (i for i in item.found if admits is None or admits[place[i]])
            bearing |= {article_id: Why(known=True) for article_id in found}
            for move in item.moved:
                for number in move.new:
                    parts = self._within(move.code, [self._articles.article_nos.at(number)])
                    held = [self._articles[int(position)] for part in parts for position in part]
                    admitted = (a for a in versions_in_force(held, day) if where is None or where.admits(a))
                    heirs |= {a.id: Why(moved_from=move.old) for a in admitted}
        former = bool(known) and all(item.former for item in known)
        first, then = (heirs, bearing) if former else (bearing, heirs)
        whys = {**first, **{i: why for i, why in then.items() if i not in first}}
        by_id = self._articles.by_id
        return [Shown(n, by_id[i], 0.0, why) for n, (i, why) in enumerate(islice(whys.items(), most), 1)]
