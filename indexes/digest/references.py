"""Rule 5: articles that a summary names, and whether the official text names them too."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from indexes.digest.finding import REFERENCE_ADDED, Remark
from indexes.digest.text import Wording
from rag.text.article_numbers import number_key

_SUFFIX = r"(?: (?:bis|ter|quater|quinquies|sexies)\b)?"
_NUMBER = rf"(?:[lrd](?:\. ?|\*+ ?)?|[lr] )?\d+(?:-\d+)*(?:er\b)?{_SUFFIX}"
_AFTER = r" ?(?:%|(?:ans?|annees?|mois|semaines?|jours?|heures?|euros?|fois|metres?|personnes?|enfants?)\b)"
_GAP = r"(?: ?, ?(?:et |ou )?| (?:et|ou|a|au) )(?:de |du |a |aux? |les? )?(?:l'|d')?(?:articles? )?"
_PARTS = r"(?:,? (?:alineas?|paragraphe) \d+(?: (?:et|ou|a) \d+)?|,? [a-z]+ alinea| ?\(\d+°?\)|,? \d+°)?"
_CITED = re.compile(
    rf"\b(?:articles?|art\.) (?P<numbers>{_NUMBER}{_PARTS}(?:{_GAP}{_NUMBER}(?![\d°]|{_AFTER}){_PARTS})*)"
)
_PART = re.compile(r",? (?:alineas?|paragraphe) \d+(?: (?:et|ou|a) \d+)?| ?\(\d+°?\)|,? \d+°")
_ONE = re.compile(rf"(?<![\w-]){_NUMBER}(?![°\w])")
_RANGE = re.compile(rf"({_NUMBER}) (?:a|au|jusqu'a) (?:l'article )?({_NUMBER})")
_NEIGHBOUR = re.compile(  # "aux deux articles précédents", "ci-dessus"
    r"\b(?:articles?|dispositions?|regles?) (?:qui )?(?:precede\w*|suivant\w*)"
    r"|\b(?:precedent|suivant)e?s? articles?\b|\bci-(?:dessus|apres)\b"
)
_NEAR = 2  # "articles précédents" may be that far away, counted by the number before the first hyphen


@dataclass(frozen=True, slots=True)
class CitedNumbers:
    """Numbers of articles that stand together after one word "article"."""

    start: int
    end: int
    numbers: tuple[str, ...]  # as `number_key` gives them


def cited(text: Wording) -> Iterator[CitedNumbers]:
    """Yield the places of a text that name articles by their numbers."""
    for found in _CITED.finditer(text.plain):
        numbers = _ONE.finditer(_PART.sub("", found["numbers"]))
        yield CitedNumbers(*found.span("numbers"), tuple(number_key(one[0]) for one in numbers))


def references(article_no: str, official: Wording, summary: Wording) -> Iterator[Remark]:
    """Yield the articles that a summary names and the official text does not, itself aside.

    A number inside a range of the official text ("205 à 211") is named by it; so is a neighbour
    where the official text says "l'article précédent".
    """
    own = number_key(article_no)
    known = {number_key(one[0]) for one in _ONE.finditer(official.plain)} | {own}
    known |= {number for place in cited(official) for number in place.numbers}
    ranges = [(_order(first), _order(last)) for first, last in _RANGE.findall(official.plain)]
    neighbour = _NEIGHBOUR.search(official.plain) is not None
    for number in dict.fromkeys(number for place in cited(summary) for number in place.numbers):
        at = _order(number)
        within = any(first <= at <= last for first, last in ranges)
        near = neighbour and abs(at[0] - _order(own)[0]) <= _NEAR
        if number not in known and not within and not near:
            yield REFERENCE_ADDED, number


def _order(number: str) -> tuple[int, ...]:
    """Return what a number such as "373-2-6" sorts by; one without digits sorts first."""
    return tuple(int(digits) for digits in re.findall(r"\d+", number)) or (0,)
