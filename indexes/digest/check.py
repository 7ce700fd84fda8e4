"""A summary beside its official text: all rules, in the order of `indexes.digest.finding.KINDS`."""

from __future__ import annotations

from itertools import chain

from indexes.digest.finding import Finding
from indexes.digest.modality import force, negations
from indexes.digest.parties import persons
from indexes.digest.quantities import numbers
from indexes.digest.readability import reading, shared_words
from indexes.digest.references import references
from indexes.digest.text import wording
from rag.types import Article


def check(official: Article, summary: Article) -> tuple[Finding, ...]:
    """Return what a person has to look at in our words for an official article of the same number.

    The headings of the official article count as its words for the persons that it names.
    """
    law, ours = wording(official.text), wording(summary.text)
    headings = wording(" / ".join(official.headings))
    remarks = chain(
        numbers(law, ours),
        negations(law, ours),
        force(law, ours),
        persons(law, ours, headings),
        references(official.article_no, law, ours),
        shared_words(law, ours),
        reading(law, ours),
    )
    return tuple(Finding(summary.id, kind, detail) for kind, detail in dict.fromkeys(remarks))
