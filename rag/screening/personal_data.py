"""Personal data in a question: found before anything leaves the machine, and taken out on request.

Numbers are found by the packages that know them (phonenumbers, python-stdnum: both pure Python, extra
[llm]), so that their check digits are looked at; names, addresses and plates by patterns. Presidio was
considered: it finds the same numbers, and names by a spaCy model for each language, which is more than the
rest of Pandect weighs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, partial
from importlib import import_module
from types import ModuleType

from rag.errors import MissingExtra, install_hint
from rag.text.folding import level
from rag.text.patterns import data

_NAME_LETTER = r"[^\W\d_\u4e00-\u9fff]"
_WORD = rf"{_NAME_LETTER}(?:{_NAME_LETTER}|[\u0300-\u036f'-])*"
_CHINESE_TITLES = ("先生", "女士", "小姐", "太太", "律师", "医生", "老师", "经理", "某")
_Span = tuple[int, int]
_EMAIL = re.compile(r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}", re.ASCII)
_IBAN = re.compile(r"(?<![A-Z0-9])[A-Z]{2}\d{2}(?: ?[A-Z0-9]){11,30}", re.IGNORECASE | re.ASCII)
_CARD = re.compile(r"(?<![\d.,-])[2-6]\d{3}(?:[ -]?\d){9,15}(?![\d,]|\.\d)", re.ASCII)
# country -> how its number is written, the module that checks it, the words that must stand near if the check
# digit alone proves little (one nine-digit number in eleven passes that of the Netherlands)
_NATIONAL: tuple[tuple[str, str, str, str], ...] = (
    ("FR", r"[12478] ?\d{2} ?\d{2} ?\d[\dAB] ?\d{3} ?\d{3} ?\d{2}", "fr.nir", ""),
    ("BE", r"\d{2}[. ]?\d{2}[. ]?\d{2}[- .]?\d{3}[. ]?\d{2}", "be.nn", ""),
    ("DE", r"[1-9]\d ?\d{3} ?\d{3} ?\d{3}", "de.idnr", ""),
    ("IT", r"[A-Z]{6}\d{2}[A-Z]\d{2}[A-Z]\d{3}[A-Z]", "it.codicefiscale", ""),
    ("NL", r"\d{8,9}", "nl.bsn", r"\bbsn\b|burgerservice|sofi"),
    ("CH", r"756[. ]?\d{4}[. ]?\d{4}[. ]?\d{2}", "ch.ssn", ""),
    ("CN", r"[1-9]\d{16}[\dX]", "cn.ric", ""),
    ("AT", r"\d{4} ?\d{6}", "at.vnr", r"\bsv|sozialvers|versicherungs"),
    ("ES", r"\d{8}-?[A-Z]", "es.dni", ""),
)
_NINO = re.compile(r"\b[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?\d{2} ?\d{2} ?\d{2} ?[A-D]\b")  # no check digit
_NEAR = 40  # characters before a number in which such a word must stand


@cache
def _patterns(part: str) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(pattern) for pattern in data("rag.screening", "personal")[part].values())


def _addresses(text: str, _: str) -> Iterator[_Span]:
    """Yield the places of streets with a number, with the town where it follows."""
    for pattern in _patterns("addresses"):
        for found in pattern.finditer(text):
            yield found.start(), found.start() + len(found[0].rstrip(" ,"))


def _plates(text: str, region: str) -> Iterator[_Span]:
    for country, pattern in zip(
        data("rag.screening", "personal")["plates"], _patterns("plates"), strict=True
    ):
        if country != "IT" or region == "IT":  # letters and digits without a hyphen are much else elsewhere
            for found in pattern.finditer(text):
                yield found.span()


@cache
def _name_patterns() -> tuple[re.Pattern[str], ...]:
    read = data("rag.screening", "personal")
    fill = {
        "Cap": rf"(?=[^\W\d_\u4e00-\u9fffa-zà-öø-ÿ]){_WORD}",
        "word": _WORD,
        "part": f"(?:{read['parts']})",
        "german": read["german_names"],
        "sur": f"[{read['surnames']}]",
    }
    return tuple(re.compile(pattern.format(**fill)) for pattern in read["names"])


def _names(text: str, _: str) -> Iterator[_Span]:
    """Yield the places of names that a title, a relation or "my name is" shows, the longest first.

    They may overlap: "Frau Dr. Weber" comes before "Dr. Weber".
    """
    read = data("rag.screening", "personal")
    spans = []
    for pattern in _name_patterns():
        for found in pattern.finditer(text):
            typed = found["found"]
            if typed[0] not in read["everyday"] or typed.endswith(_CHINESE_TITLES):
                start, end = found.span("found")
                if (last := _end_of_name(text, start, end)) is not None:
                    spans.append((start, last))
    yield from sorted(spans, key=lambda span: (span[0] - span[1], span))


def _end_of_name(text: str, start: int, end: int) -> int | None:
    """Return where the last word of a name ends, before one that is none; None where no name is left."""
    read = data("rag.screening", "personal")
    titles, none = re.compile(read["titles"], re.IGNORECASE), read["not_names"].split()
    particles = read["parts"].replace("|", " ").split()  # "Le" of "Le Goff": a name only before another word
    last = None
    for word in re.compile(r"\S+").finditer(text, start, end):
        bare = word[0].strip(".,'-")
        if (last is None and titles.fullmatch(word[0])) or bare in particles:
            continue
        if bare.casefold() in none:
            break
        last = word.end()
    return last


class PersonalDataKind(StrEnum):
    """What a finding is; where two overlap, the first of this order is kept."""

    EMAIL = "email"
    IBAN = "iban"
    NATIONAL = "national"  # of identity, social security or tax
    CARD = "card"
    PHONE = "phone"
    ADDRESS = "address"
    PLATE = "plate"
    NAME = "name"


@dataclass(frozen=True, slots=True, order=True)
class PersonalDataSpan:
    """Personal data at `question[start:end]`."""

    start: int
    end: int
    kind: PersonalDataKind


def personal_data(question: str, jurisdiction: str) -> tuple[PersonalDataSpan, ...]:
    """Return the personal data of a question, in order; findings do not overlap.

    What it cannot find: a name without anything that shows it to be one ("Pierre et moi"), and whatever
    describes a person without naming them. Telephone numbers are read as in the jurisdiction, ISO 3166-1.

    Raises:
        MissingExtra: phonenumbers or python-stdnum is not installed.
    """
    # What was found is masked and the rest read again, for a pattern may have taken in what follows: two
    # account numbers in a row. So nothing is left that would show once the findings are taken out.
    rest, found = question, list[PersonalDataSpan]()
    while fresh := _read(rest, jurisdiction.upper()):
        found += fresh
        for each in fresh:
            rest = f"{rest[: each.start]}{'[' * (each.end - each.start)}{rest[each.end :]}"
    return tuple(sorted(found))


def _read(question: str, region: str) -> list[PersonalDataSpan]:
    text = level(question)  # one character for one, so places are those of the question
    found: list[PersonalDataSpan] = []
    for kind, find in _FINDERS.items():
        # an address may hold "_", which `level` takes for a blank
        for start, end in find(question if kind is PersonalDataKind.EMAIL else text, region):
            if not any(start < other.end and other.start < end for other in found):
                found.append(PersonalDataSpan(start, end, kind))
    return found


def redact(question: str, findings: Iterable[PersonalDataSpan], language: str) -> str:
    """Return the question with a placeholder for each finding, in English if need be."""
    known = data("rag.screening", "personal")["placeholders"]
    words = known.get(language, known["en"])
    pieces, at = [], 0
    for finding in sorted(findings):
        pieces += [question[at : finding.start], words[finding.kind]]
        at = finding.end
    return "".join([*pieces, question[at:]])


def _imported(module: str, package: str) -> ModuleType:
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingExtra(
            f"personal data is looked for before a question leaves, which needs {package}: "
            f"run {install_hint('llm')}"
        ) from error


def _checked(module: str) -> Callable[..., bool]:
    """Return what tells whether a number is valid, of a module of python-stdnum."""
    valid: Callable[..., bool] = _imported(f"stdnum.{module}", "python-stdnum").is_valid
    return valid


def _emails(text: str, _: str) -> Iterator[_Span]:
    for found in _EMAIL.finditer(text):
        yield found.start(), found.start() + len(found[0].rstrip(".-_"))


def _ibans(text: str, _: str) -> Iterator[_Span]:
    valid = partial(_checked("iban"), check_country=False)  # the check digits are enough
    for found in _IBAN.finditer(text):
        for length in range(len(found[0]), 14, -1):  # it may have taken in the words that follow
            if found[0][length - 1] != " " and valid(found[0][:length]):
                yield found.start(), found.start() + length
                break


def _national(text: str, region: str) -> Iterator[_Span]:
    for country, pattern, module, near in _NATIONAL:
        valid = _checked(module)
        number = re.compile(rf"(?<![\w.,-])(?:{pattern})(?![\w]|[.,-]\d)", re.ASCII | re.IGNORECASE)
        for found in number.finditer(text):
            left = text[max(0, found.start() - _NEAR) : found.start()].lower()
            sure = not near or (region == country and re.search(near, left))
            if sure and valid(found[0]):
                yield found.span()
    for found in _NINO.finditer(text):
        yield found.span()


def _cards(text: str, _: str) -> Iterator[_Span]:
    valid = _checked("luhn")
    for found in _CARD.finditer(text):
        if valid(re.sub("[ -]", "", found[0])):
            yield found.span()


def _phones(text: str, region: str) -> Iterator[_Span]:
    phonenumbers = _imported("phonenumbers", "phonenumbers")
    known = region if region in phonenumbers.SUPPORTED_REGIONS else None
    for found in phonenumbers.PhoneNumberMatcher(text, known):
        yield found.start, found.end


_FINDERS: Mapping[PersonalDataKind, Callable[[str, str], Iterator[_Span]]] = {  # text, region -> places
    PersonalDataKind.EMAIL: _emails,
    PersonalDataKind.IBAN: _ibans,
    PersonalDataKind.NATIONAL: _national,
    PersonalDataKind.CARD: _cards,
    PersonalDataKind.PHONE: _phones,
    PersonalDataKind.ADDRESS: _addresses,
    PersonalDataKind.PLATE: _plates,
    PersonalDataKind.NAME: _names,
}
