"""What an article sets as time limits and amounts, and what is known of the summary that is shown of it."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class TimeLimit:
    """Something that must be done within a time, as the text shown says it."""

    what: str
    within: str  # "2 mois"
    start: str = ""  # from when it runs; empty where the article does not say
    otherwise: str = ""  # what happens else; empty where the article does not say
    clause: str = ""  # the words of the text shown that say so


@dataclass(frozen=True, slots=True)
class Amount:
    """An amount of money, an age or a share that an article sets."""

    what: str
    value: str  # "90 €", "16 ans"
    clause: str = ""  # the words of the text shown that say so


@dataclass(frozen=True, slots=True)
class ArticleFacts:
    """What stands beside the text of one article."""

    time_limits: tuple[TimeLimit, ...] = ()
    amounts: tuple[Amount, ...] = ()
    note: str = ""  # what a reader must know of the text: a decree is missing, it is amended soon
    official: str = ""  # fingerprint of the official text that the summary was written from
    outdated: bool = False  # the official text has changed since: what was read from it may be wrong

    @property
    def shown(self) -> ArticleFacts:
        """What may be shown: no time limit and no amount that was read from a text that has changed since."""
        return replace(self, time_limits=(), amounts=()) if self.outdated else self
