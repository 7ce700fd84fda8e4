"""What the check of a summary against its official text may say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

NUMBER_ADDED, NUMBER_LOST = "number added", "number lost"
NEGATION_ADDED, NEGATION_LOST = "negation added", "negation lost"
OBLIGES, PERMITS = "obliges", "only permits"
PERSON_ADDED, PERSON_LOST = "person added", "person lost"
REFERENCE_ADDED = "reference added"
SHARED_WORDS = "shared words"
LONG_SENTENCE, HARD = "long sentence", "hard to read"
TOO_LONG, TOO_SHORT = "too long", "too short"

# kind -> what it says of a summary, in the order in which kinds are counted
KINDS = {
    NUMBER_ADDED: "a number that the official text does not have",
    NUMBER_LOST: "a time limit, age, amount, distance or fraction of the official text is missing",
    NEGATION_ADDED: "denies or forbids, the official text does not",
    NEGATION_LOST: "the official text denies or forbids, the summary does not",
    OBLIGES: "obliges to what the official text only permits",
    PERMITS: "only permits what the official text obliges to",
    PERSON_ADDED: "a person or body that the official text does not have",
    PERSON_LOST: "a public authority of the official text is missing",
    REFERENCE_ADDED: "refers to an article that the official text does not name",
    SHARED_WORDS: "eight or more consecutive words of the official text",
    LONG_SENTENCE: "a sentence of more than 40 words",
    HARD: "a low score of readability",
    TOO_LONG: "longer than the official text",
    TOO_SHORT: "short beside a long official text",
}

Remark: TypeAlias = tuple[str, str]  # what a rule yields: one of KINDS, and the words or figures it is about


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """One thing about a summary that a person has to look at."""

    article: str  # id of the summary
    kind: str  # one of KINDS
    detail: str  # the words or figures that it is about
