"""Rule 4: persons and bodies that a summary adds, and public authorities that it loses."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from indexes.digest.finding import PERSON_ADDED, PERSON_LOST, Remark
from indexes.digest.text import Wording, data, word_pattern
from rag.text.patterns import filled


@dataclass(frozen=True, slots=True)
class Person:
    """A person or body of French civil law; its words are written as `word_pattern` reads them."""

    name: str  # as findings call it
    names: str  # its names
    akin: str = ""  # other words by which a text speaks of it: "vente" of a seller
    authority: bool = False  # a summary must not lose it


_FIELDS = data("people")["fields"]
PEOPLE = tuple(
    Person(name, filled(names, _FIELDS), filled(akin, _FIELDS), authority)
    for name, names, akin, authority in data("people")["people"]
)


def persons(official: Wording, summary: Wording, headings: Wording) -> Iterator[Remark]:
    """Yield persons whom the summary alone names, and authorities whom the official text alone names.

    The headings speak for the official text too: below "Du tuteur" an article says "il".
    """
    context = f"{official.plain}\n{headings.plain}"
    for person in PEOPLE:
        names, known = _patterns(person)
        if names.search(summary.plain):
            if not known.search(context):
                yield PERSON_ADDED, person.name
        elif person.authority and names.search(official.plain) and not known.search(summary.plain):
            yield PERSON_LOST, person.name


@lru_cache(maxsize=len(PEOPLE))
def _patterns(person: Person) -> tuple[re.Pattern[str], re.Pattern[str]]:
    return word_pattern(person.names), word_pattern(person.names, person.akin)
