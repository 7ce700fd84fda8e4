"""Rule 4: persons and bodies that a summary adds, and public authorities that it loses."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from indexes.digest.finding import PERSON_ADDED, PERSON_LOST, Finding
from indexes.digest.parties import PEOPLE, Person
from indexes.digest.text import Wording, any_of


def persons(article_no: str, official: Wording, summary: Wording, headings: Wording) -> Iterator[Finding]:
    """Yield persons whom the summary alone names, and authorities whom the official text alone names.

    The headings speak for the official text too: below "Du tuteur" an article says "il".
    """
    context = f"{official.plain}\n{headings.plain}"
    for person in PEOPLE:
        said, known = _patterns(person)
        if said.search(summary.plain):
            if not known.search(context):
                yield Finding(article_no, PERSON_ADDED, person.name)
        elif person.authority and said.search(official.plain) and not known.search(summary.plain):
            yield Finding(article_no, PERSON_LOST, person.name)


@lru_cache(maxsize=len(PEOPLE))
def _patterns(person: Person) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return what names a person, and what names it or speaks of it otherwise."""
    return any_of(person.said), any_of(person.said, person.akin)
