"""Whether a question is about another country's law than the one that is loaded."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from rag.answer.screening.patterns import data, plain

# "la loi belge", "code de la famille algerien", "droit de succession grec"; "Belgian law"; "瑞士法律"
_OF_LAW = (
    r"droits?|lois?|legislation|codes?(?: (?:civil|penal|de la famille|du travail))?|reglementation|"
    r"diritto|leggi?e?|codice(?: civile| penale)?"
)
_LAW_OF = r"laws?|act|legislation|code|recht|\w+recht\w*|gesetz\w*|wet|wetten|wetgeving|wetboek"
_LAW = (
    rf"\b(?:{_OF_LAW})(?: (?:de|des|du|d'|della|di|dei|delle)? ?\w+){{{{0,2}}}}? (?:{{of}})\b"
    rf"|\b(?:{{of}}) (?:\w+ ){{{{0,2}}}}?(?:{_LAW_OF})\b"
    r"|(?:{name})的?(?:法律|法|民法典?|刑法|婚姻法|继承法|合同法)"
    r"|\b(?:loi|lois|droit|code (?:civil|penal|de la famille|du travail)|law|laws|legge|wet|gesetz|recht)"
    r"(?: \w+)? (?:en|de|du|des|au|aux|d'|of|in|della|dell'|del|van|von|der|degli) ?(?:la |l'|the |der )?"
    r"(?:{name})\b"
)
_IN = r"(?:en|au|aux|a|in the|in der|in den|in het|in|im|nel|nella|negli|nei|在)"
# "En Belgique, quel …", "Au Japon, les epoux …", "Luxembourg : quel …"
_FRAME = r"^(?:{inside} ?(?:{name})(?: |,|，|:|$)|(?:{name}) ?[:,，]|在(?:{name}))"
# "divorce par consentement mutuel en suisse quels papiers": nobody says what he has, was or did there
_SHORT = (
    r"(?:\b{inside} (?:l'|la |le |les )?(?:{name})(?: et)?\b|\b(?:{name})$"
    r"|^(?:heritage|divorce|mariage|succession|bail) (?:{name})\b)"
)
_THERE = (
    r"\b(?:proprietaire|proprio|bailleur|bailleresse|patron|employeur|commune|mairie|notaire|tribunal|juge|"
    r"loyer|voisin|landlord|employer|huisbaas|verhuurder|vermieter|arbeitgeber|padrone)(?: \w+)?"
    r" (?:a|de|in|en|aus|di|at|from|van) (?:l'|la )?(?:{city}|{name})\b"
    r"|\b(?:canton|province) de\b.{{0,10}}\b(?:{city})\b"
)
# What ties a person or a thing to a country without asking for its law: that is private international law.
_TIED = re.compile(
    r"\b(?:j'ai|je suis|j'habite|je vis|mon|ma|mes|notre|nos|marie*s?|nee?s?|achet\w*|habit\w*|vit|vivent|"
    r"parti\w*|"
    r"appartement|maison|terrain|bien|biens|compte|voiture|reconnue?|valable|valide|transcri\w*|adoption|adopte\w*|"
    r"testament|my|our|i|ik|mijn|ons|onze|ich|mein|meine|unser\w*|mio|mia|nostr[oa]|miei|ho|sono)\b|我|我们"
)
_KEYWORDS = 11  # words; a longer question tells a story, in which a country is a mere place


@dataclass(frozen=True, slots=True)
class _Country:
    law: re.Pattern[str]
    frame: re.Pattern[str]
    short: re.Pattern[str]
    there: re.Pattern[str]
    named: re.Pattern[str]


@cache
def _countries() -> dict[str, _Country]:
    made = {}
    for code, words in data("countries").items():
        fill = dict(words, inside=_IN)
        law = f"{_LAW.format(**fill)}|(?<![a-z])(?:{words['code']})(?![a-z])"
        made[code] = _Country(
            re.compile(law),
            re.compile(_FRAME.format(**fill)),
            re.compile(_SHORT.format(**fill)),
            re.compile(_THERE.format(**fill)),
            re.compile(rf"(?<![a-z])(?:{words['name']}|{words['of']})(?![a-z])"),
        )
    return made


def other_country(question: str, jurisdiction: str) -> str | None:
    """Return the country whose law the question asks for, where that is not the one loaded.

    A country that is only a place in the story ("my flat in Spain") is none: whose law governs it is
    itself a question for the law that is loaded. Where a question names the loaded law too, or its
    country without asking for another one's law, it is left alone.

    Args:
        question: as typed.
        jurisdiction: of the corpus, ISO 3166-1 alpha-2; where it is empty nothing can be told.

    Returns:
        Two letters, or None.
    """
    own = jurisdiction.upper()
    countries = _countries()
    if own not in countries:
        return None
    text = plain(question)
    others = {code: country for code, country in countries.items() if code != own}
    if not countries[own].law.search(text):
        for code, country in others.items():
            if country.law.search(text):
                return code
    if countries[own].named.search(text):
        return None
    tied = _TIED.search(text) is not None
    for code, country in others.items():
        framed = country.frame.search(text) and not re.search("我", text)
        short = not tied and len(text.split()) <= _KEYWORDS and country.short.search(text)
        if framed or short or country.there.search(text):
            return code
    return None
