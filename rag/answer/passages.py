"""Passages of an article that can be read alone: what a sentence needs beside it comes along.

A sentence torn out of its article misleads where the next one narrows it, and says nothing where it begins
with "he" or is one item of a list. A text is numbered by units, which are its sentences and lines; a unit
comes with those that it needs, and with what these need.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import chain

from rag.text.highlight import sentences
from rag.text.language import language_of
from rag.text.patterns import any_of, data, plain

RECENT = 512  # articles whose units stay at hand: some kilobytes each
SHORT = 280  # characters of a text that is shown whole: there is no telling its parts apart
STEM = 5  # letters of a name that is named again, in whatever form
OPENING = 60  # characters of a unit in which it shows that it needs another
NEAR = 3  # units between a limit and its rule that come with them: a gap would hide what "it" is

Span = tuple[int, int]  # start and end, in characters of the article's text

_ITEM = re.compile(  # begins an item of a list: 1°, 1., 1), a), (a), iv), -, •, 一、, （一）
    r"^(?:(?P<paragraph>\(\d{1,3}[a-z]?\))|(?P<number>\d{1,3}(?:[.)]|[°º]\)?)(?=\s|[^\d\s]))|(?P<roman>\(?[ivx]{2,5}[.)]\s)"
    r"|(?P<letter>\(?[a-z]{1,2}[.)]\s)"
    r"|(?P<dash>[-–—•*·]\s)|(?P<han>[（(]?[一二三四五六七八九十]{1,3}[）)、]))",
    re.IGNORECASE,
)
_FIRST = re.compile(r"^[（(]?(?:1|a|i|一)[.)）、°º]", re.IGNORECASE)
_LEADS = re.compile(  # into a list: a colon, "one of the following."
    r"[:：]$|(?:suivante?s?|ci-après|following|below|folgende[nrs]?|seguent[ei]|volgende)\.$", re.IGNORECASE
)
_GOES_ON = re.compile(r"[;；,，、]$")
_ALL = re.compile(r"(?:\b(?:et|and|und|sowie)|[且并和及])[;；,，]?$", re.IGNORECASE)  # every item counts


@dataclass(frozen=True, slots=True)
class Units:
    """A text in numbered units, and the units that each needs beside it."""

    spans: tuple[Span, ...]  # in order, not overlapping, without blanks around them
    needs: tuple[frozenset[int], ...]
    items: Mapping[int, tuple[int, ...]]  # of a unit that leads into a list

    def closure(self, wanted: Iterable[int]) -> tuple[int, ...]:
        """Return the wanted units in order, with all that they need and that these need.

        A unit that leads into a list comes with all its items where it is wanted itself, and alone where one
        of the items needs it.

        Raises:
            IndexError: there is no such unit.
        """
        chosen = list(wanted)
        if any(not 0 <= unit < len(self.spans) for unit in chosen):
            raise IndexError(f"units {chosen} of {len(self.spans)}")
        pending = [*chosen, *chain.from_iterable(self.items.get(unit, ()) for unit in chosen)]
        found: set[int] = set()
        while pending:
            if (unit := pending.pop()) not in found:
                found.add(unit)
                pending += self.needs[unit]
        return tuple(sorted(found))

    def touching(self, start: int, end: int) -> tuple[int, ...]:
        """Return the units that have characters between two places."""
        return tuple(i for i, (first, last) in enumerate(self.spans) if first < end and start < last)

    def runs(self, wanted: Iterable[int]) -> tuple[Span, ...]:
        """Return the spans of the text that show the wanted units and what they need; neighbours are one."""
        return self.joined(self.closure(wanted))

    def joined(self, shown: Iterable[int]) -> tuple[Span, ...]:
        """Return the spans of the text that show these units and no other, in their order there."""
        made: list[tuple[int, int]] = []  # first and last unit
        for unit in sorted(shown):
            if made and made[-1][1] == unit - 1:
                made[-1] = (made[-1][0], unit)
            else:
                made.append((unit, unit))
        return tuple((self.spans[first][0], self.spans[last][1]) for first, last in made)


@lru_cache(maxsize=RECENT)
def units(text: str, language: str | None = None) -> Units:
    """Return the units of an article's text; of one without letters or digits, none.

    The language decides by which words a unit points back; it is guessed where none is given.
    """
    spans = tuple(span for span in sentences(text) if any(map(str.isalnum, text[slice(*span)])))
    if spans and spans[-1][1] - spans[0][0] <= SHORT:
        every = frozenset(range(len(spans)))
        return Units(spans, tuple(every - {i} for i in range(len(spans))), {})
    written = [text[start:end] for start, end in spans]
    leads = _lead_ins(written)
    needs = [set(() if lead is None else (lead,)) for lead in leads]
    items: dict[int, list[int]] = {}
    for i, lead in enumerate(leads):
        if lead is not None:
            items.setdefault(lead, []).append(i)
    for listed in items.values():
        if any(_ALL.search(written[i]) for i in listed[:-1]):
            for i in listed:
                needs[i].update(listed)
    back, itself, within = _pointing(language_of(text, language))
    for i, unit in enumerate(written):
        opening = plain(unit[:OPENING])
        points = (
            unit[:1].islower()
            or (back.search(opening) and not itself.search(opening))
            or (i and _names_again(plain(unit), within))
        )
        if points and leads[i] is None and not _ITEM.match(unit) and len(written) > 1:
            needs[i].add(i - 1 if i else 1)  # the first one points on, or to the headings
    for one, other in _limited(written, leads):
        needs[one].add(other)
    beside = tuple(frozenset(of - {i}) for i, of in enumerate(needs))
    return Units(spans, beside, {lead: tuple(listed) for lead, listed in items.items()})


def _lead_ins(written: Sequence[str]) -> list[int | None]:
    """Return, of each unit, the one that leads into the list that it is an item of, or goes on with one."""
    found: list[int | None] = []
    lists: list[tuple[str | None, int]] = []  # that are open: how their items begin, and what leads into them
    for i, unit in enumerate(written):
        before = written[i - 1] if i else ""
        item = _ITEM.match(unit)
        style = item.lastgroup if item else None
        lead = None
        if style == "paragraph" and not _LEADS.search(before) and style not in dict(lists):
            lists.clear()  # of a section: it stands for itself
        elif item and i:
            while lists and lists[-1][0] != style and any(known == style for known, _ in lists):
                lists.pop()  # an inner list has ended
            known = bool(lists) and lists[-1][0] == style
            begins = _FIRST.match(unit) is not None if style != "dash" else not _ITEM.match(before)
            if not known or begins:
                lists = [*(lists[:-1] if known else lists), (style, i - 1)]
            lead = lists[-1][1]
        elif i and _LEADS.search(before):  # a list without signs, or what is led into
            lists.append((None, i - 1))
            lead = i - 1
        elif i and (_GOES_ON.search(before) or unit[:1].islower()) and found[-1] is not None:
            lead = found[-1]
        elif lists and lists[-1][0] is None:
            lists.pop()
        found.append(lead)
    return found


def _limited(written: Sequence[str], leads: Sequence[int | None]) -> Iterator[tuple[int, int]]:
    """Yield which unit needs which: a limit what it narrows, and this the limit.

    It narrows the unit before it, or takes back all of its numbered paragraph; being one, all of the text.
    """
    begins = 0
    for i, unit in enumerate(written):
        sign = _ITEM.match(unit) if leads[i] is None else None
        paragraph = sign is not None and sign["paragraph"] is not None
        said, first = (plain(unit[sign.end() :]), 0) if sign and paragraph else (plain(unit), begins)
        if i and _limits("opens").search(plain(unit[:OPENING])):
            yield from ((i, i - 1), (i - 1, i))
        if first < i and leads[i] is None and _limits("takes_back").search(said):
            yield from ((earlier, i) for earlier in range(first, i))
            yield from ((i, earlier) for earlier in (range(first, i) if i - first <= NEAR else [first]))
        begins = i if paragraph else begins


def _names_again(unit: str, within: re.Pattern[str]) -> bool:
    """Tell whether a unit points to a thing by a name that it has not named itself: "this time limit"."""
    return any(found[1][:STEM] not in unit[: found.start()] for found in within.finditer(unit))


@cache
def _pointing(language: str) -> tuple[re.Pattern[str], ...]:
    """Return what points back at the beginning of a unit, what only looks like it, and what does anywhere."""
    words = data("rag.answer", "context").get(language, {})
    return tuple(any_of(filter(None, [words.get(kind)])) for kind in ("back", "itself", "within"))


@cache
def _limits(kind: str) -> re.Pattern[str]:
    return any_of(data("rag.answer", "limits")[kind])
