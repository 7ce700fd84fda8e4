"""A summary beside its official text: all rules, in the order of `indexes.digest.finding.KINDS`."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain

from indexes.digest.copied import shared_words
from indexes.digest.finding import Finding
from indexes.digest.modality import force, negations
from indexes.digest.numbers import numbers
from indexes.digest.parties import persons
from indexes.digest.readability import length, reading
from indexes.digest.references import references
from indexes.digest.text import wording
from rag.types import Article


def check(official: Article, summary: Article) -> tuple[Finding, ...]:
    """Return what a person has to look at in a summary; the same texts give the same findings.

    Args:
        official: the article as the law has it, with its headings.
        summary: our words for the article of the same number.
    """
    number = official.article_no
    law, ours = wording(official.text), wording(summary.text)
    headings = wording(" / ".join(official.headings))
    found: Iterable[Finding] = chain(
        numbers(number, law, ours),
        negations(number, law, ours),
        force(number, law, ours),
        persons(number, law, ours, headings),
        references(number, law, ours),
        shared_words(number, law, ours),
        reading(number, ours),
        length(number, law, ours),
    )
    return tuple(dict.fromkeys(found))
