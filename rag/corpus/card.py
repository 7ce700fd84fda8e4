"""The card of a corpus: what it is, whose law, of what date, under which licence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from fnmatch import fnmatchcase
from typing import Literal


@dataclass(frozen=True, slots=True)
class Contact:
    """Where a person finds human help."""

    name: str
    url: str | None = None
    phone: str | None = None
    note: str | None = None
    # urgent situations that it is for: rag.screening.emergencies.Danger; () says nothing
    topics: tuple[str, ...] = ()
    themes: tuple[str, ...] = ()  # of laws that it advises on: `THEMES`; () is of no one more than another
    # interface language -> the note in it
    notes: Mapping[str, str] = field(default_factory=dict, hash=False)

    def noted(self, language: str) -> tuple[str, str]:
        """Return the note and the language that it is in; "" for the card's own."""
        own = self.notes.get(language)
        return (own, language) if own else (self.note or "", "")


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """A topic that people ask about and that a law outside this corpus governs."""

    id: str
    title: Mapping[str, str]  # interface language -> short name of the topic
    law: str  # the law that governs it, by its official name
    # all words of one phrase in a question make it this topic: see rag.corpus.out_of_scope
    phrases: tuple[str, ...]
    explain: Mapping[str, str]  # interface language -> one or two sentences
    url: str | None = None  # where to look
    article_url: str | None = None  # the same for the first article that `law` names
    codes: tuple[str, ...] = ()  # loaded codes that make the notice needless
    # interface language -> the time limit that matters most there, and from when it runs
    deadline: Mapping[str, str] = field(default_factory=dict)
    contact: Contact | None = None  # who helps with it
    terms: tuple[str, ...] = ()  # legal terms each of which names it alone: see `Topics.match_terms`
    names: tuple[str, ...] = ()  # that are written in every language: "RSA"


@dataclass(frozen=True, slots=True)
class Step:
    """Something that a person can do where some articles apply."""

    id: str
    text: Mapping[str, str]  # interface language -> one or two sentences
    articles: tuple[str, ...]  # patterns of the ids of the articles that open it, as `fnmatch` reads them
    url: str | None = None  # of the official service
    # urgent situations in which it is told at once: rag.screening.emergencies.Danger
    dangers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Moved:
    """An article number whose content was renumbered."""

    code: str
    old: str
    new: tuple[str, ...]
    since: str | None = None  # ISO date of the renumbering
    about: str | None = None  # what the old article was known for


@dataclass(frozen=True, slots=True)
class LoadedLaw:
    """One code or act of a corpus that holds several, where it has a page and a date of its own."""

    url: str | None = None  # its own page, where an article has no address
    law_date: date | None = None  # the day up to which its text was consolidated
    themes: tuple[str, ...] = ()  # of `THEMES`: what people look under


# What laws are grouped by for people, in the order in which they are offered.
THEMES = (
    "housing", "work", "family", "consumers", "money", "health", "road", "justice", "foreigners", "land",
    "state", "other",
)  # fmt: skip
# What happens to people, in the order in which examples are offered.
EVENTS = ("housing", "work", "family", "money", "neighbours", "death", "danger")
FEW_CODES = 5  # up to here nobody needs themes to find one


@dataclass(frozen=True, slots=True)
class CorpusCard:
    """One jurisdiction's articles in one language, described.

    Its hash leaves out what is long or has none; what is equal is equal in all.
    """

    name: str  # [a-z0-9-]+, the name of its index
    title: str
    language: str  # ISO 639-1
    jurisdiction: str = ""  # ISO 3166-1 alpha-2 where there is one
    licence: str = ""
    licence_url: str | None = None
    source: str = ""  # the attribution line that the licence asks for
    law_date: date | None = None  # the day up to which the law was consolidated
    official_site: str | None = None
    text_kind: Literal["official", "summary"] = "official"
    note: str = ""
    question_origin: Literal["", "machine"] = ""  # who wrote its questions; "": people, or it is not known
    contacts: tuple[Contact, ...] = field(default=(), hash=False)
    elsewhere: tuple[Elsewhere, ...] = field(default=(), hash=False)
    moved: tuple[Moved, ...] = field(default=(), hash=False)
    steps: tuple[Step, ...] = field(default=(), hash=False)  # in the order in which they are taken
    examples: tuple[str, ...] = field(default=(), hash=False)  # questions that the page offers
    events: Mapping[str, str] = field(default_factory=dict, hash=False)  # of `EVENTS` -> one of its questions
    # code -> short forms
    aliases: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)
    # code -> its page, date and themes; a code that is not named has the card's
    laws: Mapping[str, LoadedLaw] = field(default_factory=dict, hash=False)
    origin: str = ""  # the source that it came in by, whose facts the data card tells: indexes.sources
    # interface language -> what is not searched, in place of the general sentence; {}: nothing is said
    lacks: Mapping[str, str] | None = field(default=None, hash=False)
    # what the data card says over those facts
    described: Mapping[str, str] = field(default_factory=dict, hash=False)

    def steps_after(self, article_id: str) -> tuple[Step, ...]:
        """Return what a person can do where this article applies, in order."""
        return tuple(
            step for step in self.steps if any(fnmatchcase(article_id, each) for each in step.articles)
        )

    def adviser(self, code: str) -> Contact | None:
        """Return the first contact that advises on a theme of a law; None where none does."""
        themes = self.laws[code].themes if code in self.laws else ()
        return next((each for each in self.contacts if set(each.themes).intersection(themes)), None)

    def dated(self, code: str) -> date | None:
        """Return the day up to which a code was consolidated."""
        law = self.laws.get(code)
        return law.law_date if law is not None and law.law_date is not None else self.law_date

    def law_dates(self, codes: Iterable[str] | None = None) -> tuple[date, ...]:
        """Return the first and the last day up to which codes (all of them) were consolidated.

        One day where they are the same, () where none is known.
        """
        known = map(self.dated, codes) if codes is not None else [self.law_date, *map(self.dated, self.laws)]
        days = sorted({day for day in known if day is not None})
        return (days[0], days[-1]) if len(days) > 1 else tuple(days)

    def by_theme(self, codes: Iterable[str]) -> Mapping[str, tuple[str, ...]]:
        """Return the codes of each theme, in the order of `THEMES`; a code of several stands under each.

        What has no theme stands under "other". {} where no code has one, and where they are few: a list of
        them is short enough.
        """
        themes = {code: self.laws[code].themes if code in self.laws else () for code in codes}
        if len(themes) <= FEW_CODES or not any(themes.values()):
            return {}
        found = {
            each: tuple(c for c, own in themes.items() if each in (own or ("other",))) for each in THEMES
        }
        return {each: of for each, of in found.items() if of}

    def official_page(self, code: str, url: str | None) -> tuple[str | None, bool]:
        """Return where the official text of an article is, and whether that is the article's own address.

        Else it is the page of its code, or None.
        """
        law = self.laws.get(code)
        return (url, True) if url else (law.url if law is not None else None, False)
