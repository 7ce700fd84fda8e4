"""Sentences of real law, and what a lying model makes of them; measuring data, never copied here."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random

from rag.answer.types import Quote, Statement
from rag.answer.verification.quotes import sentences
from rag.types import Article

LONGEST = 1_200  # characters of a sentence that a model would copy
SHORTEST = 8  # words

_NUMBER = {
    "fr": (
        r"\b(deux|trois|quatre|cinq|six|huit|dix|quinze|vingt|trente)(?="
        r" (?:ans|mois|jours|semaines|heures)\b)"
    ),
    "de": r"\b(zwei|drei|vier|fünf|sechs|acht|zehn)(?= (?:Jahre|Monate|Tage|Wochen|Stunden)n?\b)",
}
_DENIED = {
    "fr": r"(?<!ul )\b(ne peut|ne peuvent|n'est pas|ne sont pas)\b(?! (?:pas|non plus|ni|plus)\b)",
    "de": r"\b(nicht|keine)\b",
}
_AFFIRMED = {
    "ne peut": "peut",
    "ne peuvent": "peuvent",
    "n'est pas": "est",
    "ne sont pas": "sont",
    "nicht": "",
    "keine": "eine",
}
_MODAL = {
    "fr": (r"(?<!ne )\b(peut|doit)\b(?! être (?:que|qu))", {"peut": "doit", "doit": "peut"}),
    "de": (r"\b(kann|muss)\b", {"kann": "muss", "muss": "kann"}),
}
_PARTY = {
    "fr": {
        "bailleur": "locataire",
        "locataire": "bailleur",
        "créancier": "débiteur",
        "débiteur": "créancier",
        "vendeur": "acheteur",
        "employeur": "salarié",
        "salarié": "employeur",
        "donateur": "donataire",
    },
    "de": {
        "Vermieter": "Mieter",
        "Mieter": "Vermieter",
        "Gläubiger": "Schuldner",
        "Schuldner": "Gläubiger",
        "Verkäufer": "Käufer",
        "Käufer": "Verkäufer",
        "Arbeitgeber": "Arbeitnehmer",
        "Arbeitnehmer": "Arbeitgeber",
    },
}


@dataclass(frozen=True)
class Sentence:
    article: Article
    text: str

    def said(self, text: str, quote: str | None = None) -> Statement:
        return Statement(
            text, (self.article.id,), (Quote(self.article.id, self.text if quote is None else quote),)
        )


def drawn(data: Path, language: str, count: int, seed: int) -> list[Sentence]:
    """Draw one sentence an article."""
    random = Random(seed)  # noqa: S311 - draws cases
    with gzip.open(data / language / "articles.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    found: list[Sentence] = []
    for row in random.sample(rows, len(rows)):
        article = Article(str(row["id"]), row["code"], str(row["article_no"]), row["text"])
        start, end = random.choice(sentences(article.text) or [(0, 0)])
        text = " ".join(article.text[start:end].split())
        if len(text) <= LONGEST and len(text.split()) >= SHORTEST:
            found.append(Sentence(article, text))
        if len(found) == count:
            break
    return found


def _replaced(
    pattern: str, by: Callable[[str], str]
) -> Callable[[Sentence, Sentence, Random], Statement | None]:
    def lie(one: Sentence, _: Sentence, random: Random) -> Statement | None:
        places = list(re.finditer(pattern, one.text))
        if not places:
            return None
        at = random.choice(places)
        text = " ".join((one.text[: at.start()] + by(at[0]) + one.text[at.end() :]).split())
        return one.said(text)

    return lie


def _word_dropped(one: Sentence, _: Sentence, random: Random) -> Statement:
    words = one.text.split()
    at = random.choice([at for at in range(1, len(words) - 1) if any(map(str.isalnum, words[at]))])
    return one.said(one.text, " ".join(words[:at] + words[at + 1 :]))


def _split(one: Sentence, _: Sentence, random: Random) -> Statement:
    words = one.text.split()
    at = random.randint(2, len(words) - 4)
    return one.said(
        one.text,
        " ".join(words[:at]) + random.choice((" … ", " [...] ", " (...) ")) + " ".join(words[at + 2 :]),
    )


def _neighbour(one: Sentence, other: Sentence, _: Random) -> Statement:
    return one.said(other.text, other.text)


def _another_claim(one: Sentence, other: Sentence, _: Random) -> Statement:
    return one.said(other.text)


def _look_alike(one: Sentence, _: Sentence, random: Random) -> Statement:
    at = random.choice([at for at, sign in enumerate(one.text) if sign in "aeo"])
    return one.said(
        one.text, one.text[:at] + {"a": "а", "e": "е", "o": "о"}[one.text[at]] + one.text[at + 1 :]
    )


def _lies(language: str) -> Mapping[str, Callable[[Sentence, Sentence, Random], Statement | None]]:
    modal, other_modal = _MODAL[language]
    parties = _PARTY[language]
    other_number = {"fr": "soixante", "de": "sechzig"}[language]
    return {
        "number changed": _replaced(_NUMBER[language], lambda _: other_number),
        "figure changed": _replaced(
            r"(?<![\w.,/-])\d+(?= (?:€|euros?|%|ans|mois|jours|Euro|Jahre|Tage|Prozent))", lambda n: f"{n}7"
        ),
        "negation dropped": _replaced(_DENIED[language], _AFFIRMED.__getitem__),
        "force changed": _replaced(modal, other_modal.__getitem__),
        "party swapped": _replaced(rf"\b({'|'.join(parties)})\b", parties.__getitem__),
        "word dropped from quote": _word_dropped,
        "split quote": _split,
        "look-alike": _look_alike,
        "neighbour's text": _neighbour,
        "another claim": _another_claim,
    }


def lies(
    found: list[Sentence], language: str, seed: int
) -> Iterator[tuple[str, Statement, tuple[Article, Article]]]:
    """Yield kind, statement and the articles that were shown, for every sentence that the kind fits."""
    random = Random(seed)  # noqa: S311 - draws cases
    for kind, lie in _lies(language).items():
        for one, other in zip(found, [*found[1:], found[0]], strict=True):
            if one.text != other.text and (statement := lie(one, other, random)) is not None:
                yield kind, statement, (one.article, other.article)
