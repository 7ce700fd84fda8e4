"""A summary beside its official text: all rules, in the order of `indexes.digest.finding.KINDS`."""

from __future__ import annotations

from itertools import chain

from indexes.digest.finding import Finding
from indexes.digest.modality import force, negations
from indexes.digest.parties import persons
from indexes.digest.quantities import counted, numbers
from indexes.digest.readability import hard, length, long_sentences, shared_words
from indexes.digest.references import references
from indexes.digest.text import wording
from rag.types import Article

FRENCH = "fr"  # whose words rules of negation, duty, persons, references and reading ease know


def check(official: Article, summary: Article, language: str = FRENCH) -> tuple[Finding, ...]:
    """Return what a person has to look at in our words for an official article of the same number.

    The headings of the official article count as its words for the persons that it names. In another language
    than French only numbers, copied words, long sentences and lengths are compared.
    """
    law, ours = wording(official.text), wording(summary.text)
    headings = wording(" / ".join(official.headings))
    if language == FRENCH:
        told = chain(
            numbers(law, ours),
            negations(law, ours),
            force(law, ours),
            persons(law, ours, headings),
            references(official.article_no, law, ours),
        )
    else:
        told = chain(counted(official, summary, language))
    ease = hard(ours) if language == FRENCH else ()
    remarks = chain(told, shared_words(law, ours), long_sentences(ours), ease, length(law, ours))
    return tuple(Finding(summary.id, kind, detail) for kind, detail in dict.fromkeys(remarks))
