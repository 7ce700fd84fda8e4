"""The words of the interface: gettext catalogues read from `locales/*.po`, and the choice among them.

How each language writes numbers, dates, lists and brackets: six rows, as the Unicode Common Locale Data
Repository (version 46) has them. A library of all locales is ten megabytes of tables for these; words
(months, "%" and what stands before it) are in the catalogues.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from gettext import c2py
from importlib.resources import files

from rag.errors import BadInput


@dataclass(frozen=True, slots=True)
class Conventions:
    """What one language does between its words."""

    name: str  # in the language itself, for whoever looks for it
    tag: str  # BCP 47: a browser chooses the form of a Chinese character by it
    thousands: str
    decimal: str
    quotes: tuple[str, str]
    entry: str = "DD/MM/YYYY"  # how a day is typed; of the forms that Streamlit knows
    comma: str = ", "  # between what is listed
    space: str = " "  # between sentences
    brackets: tuple[str, str] = (" (", ")")
    elided: Mapping[str, str] | None = None  # before the 8th and the 11th of a month

    def joined(self, sentences: str) -> str:
        """Return what is said with a word before a date as it sounds: "dall’8 marzo", not "dal 8 marzo"."""
        forms = self.elided
        return _EIGHTH.sub(lambda found: forms[found[1]] + found[2], sentences) if forms else sentences


_EIGHTH = re.compile(r"\b(il|al|dal|del) ((?:8|11) [a-z]+ \d{4}\b)")  # otto, undici: they begin with a vowel

_ITALIAN = {"il": "l’", "al": "all’", "dal": "dall’", "del": "dell’"}
CONVENTIONS: Mapping[str, Conventions] = {
    "fr": Conventions("Français", "fr", "\u202f", ",", ("«\u00a0", "\u00a0»")),
    "nl": Conventions("Nederlands", "nl", ".", ",", ("‘", "’"), "DD-MM-YYYY"),
    "en": Conventions("English", "en", ",", ".", ("“", "”")),
    "de": Conventions("Deutsch", "de", ".", ",", ("„", "“"), "DD.MM.YYYY"),
    "it": Conventions("Italiano", "it", ".", ",", ("«", "»"), elided=_ITALIAN),
    "zh": Conventions("中文", "zh-Hans", ",", ".", ("“", "”"), "YYYY-MM-DD", "、", "", ("（", "）")),
}


def quotes_css() -> str:
    """Return the style of quoted questions, which follow the page, and of quoted law, which has its own."""
    rules = ['.stHtml q { quotes: "“" "”"; }']
    marks = {code: " ".join(f'"{mark}"' for mark in each.quotes) for code, each in CONVENTIONS.items()}
    rules += [f":root:lang({code}) .stHtml q {{ quotes: {both}; }}" for code, both in marks.items()]
    rules += [f".stHtml q.pd-told:lang({code}) {{ quotes: {both}; }}" for code, both in marks.items()]
    return "\n".join(rules)


LANGUAGES: Mapping[str, str] = {code: each.name for code, each in CONVENTIONS.items()}
_LINE = re.compile(r'(?:(msgid|msgid_plural|msgstr|msgstr\[(\d)\])\s+)?("(?:[^"\\]|\\.)*")')


def N_(message: str) -> str:  # noqa: N802 - gettext's own name for "translate this later"
    """Mark a message that is translated where it is shown, not where it stands."""
    return message


@dataclass(frozen=True, slots=True)
class Interface:
    """The interface in one language; a message is looked up first, then filled in."""

    language: str
    _catalogue: Mapping[str, str] = field(repr=False, compare=False)
    _plural: Callable[[int], int] = field(repr=False, compare=False)  # count -> which of a message's forms
    _whole: dict[str, str] = field(default_factory=dict, repr=False, compare=False)  # messages without blanks

    @property
    def how(self) -> Conventions:
        """How the language writes numbers, lists and brackets."""
        return CONVENTIONS[self.language]

    def __call__(self, message: str, /, **values: object) -> str:
        """Return the message in this language."""
        if values:
            return self.how.joined(self._catalogue.get(message, message).format(**values))
        translated = self._whole.get(message)
        if translated is None:  # no more than the code holds: what a person wrote fills blanks
            translated = self.how.joined(self._catalogue.get(message, message).format())
            self._whole[message] = translated
        return translated

    def n(self, one: str, many: str, count: int, /, **values: object) -> str:
        """Return the form of the message that goes with the count, which fills `{count}`."""
        both = f"{one}\0{many}"
        form = self._catalogue.get(both, both).split("\0")[self._plural(count)]
        return self.how.joined(form.format(count=self.number(count), **values))

    def number(self, value: int) -> str:
        """Return the number with the thousands apart, as this language writes it."""
        return f"{value:,}".replace(",", self.how.thousands)

    def decimal(self, value: float, places: int) -> str:
        """Return the number with so many places behind the decimal sign of this language."""
        whole, sign, rest = f"{value:,.{places}f}".partition(".")
        return whole.replace(",", self.how.thousands) + (self.how.decimal if sign else "") + rest

    def listed(self, parts: Iterable[str]) -> str:
        """Return the parts as a list within a sentence."""
        return self.how.comma.join(parts)

    def sentences(self, *parts: str) -> str:
        """Return sentences one behind the other."""
        return self.how.space.join(part for part in parts if part)

    def with_note(self, text: str, more: str) -> str:
        """Return what is said with more of it in brackets."""
        opening, after = self.how.brackets
        return f"{text}{opening}{more}{after}"

    def day(self, day: date) -> str:
        """Return the date in words."""
        month = self(MONTHS[day.month - 1])
        if day.day == 1:
            return self("1 {month} {year}", month=month, year=day.year)
        return self("{day} {month} {year}", day=day.day, month=month, year=day.year)

    def span(self, days: Sequence[date]) -> str:
        """Return the first and the last of some days, or the one that there is."""
        first, last = self.day(days[0]), self.day(days[-1])
        return first if first == last else self("{first} to {last}", first=first, last=last)

    def iso_day(self, text: str) -> str:
        """Return an ISO date in words, and anything else as it came."""
        try:
            return self.day(date.fromisoformat(text[:10]))
        except ValueError:
            return text


MONTHS = (
    N_("January"), N_("February"), N_("March"), N_("April"), N_("May"), N_("June"),
    N_("July"), N_("August"), N_("September"), N_("October"), N_("November"), N_("December"),
)  # fmt: skip


def choose(locale: str | None, browser: str | None, corpus: str | None) -> str:
    """Return the language to show: the one asked for, else the browser's, else the corpus's, else English.

    `locale` is what the address says (`?lang=fr`), which anyone may have typed; the others are BCP 47 tags.
    """
    for tag in (locale, browser, corpus):
        code = (tag or "").replace("_", "-").split("-")[0].lower()
        if code in LANGUAGES:
            return code
    return "en"


@functools.cache
def words(language: str) -> Interface:
    """Return the interface in one of `LANGUAGES`."""
    source = files("rag.ui.locales").joinpath(f"{language}.po").read_text(encoding="utf-8")
    catalogue = read_po(source, f"{language}.po")
    rule = catalogue[""].partition("plural=")[2].partition(";")[0]
    return Interface(language, catalogue, c2py(rule))  # gettext's own reader of a rule


def read_po(source: str, name: str = "catalogue") -> dict[str, str]:
    r"""Return msgid -> msgstr, plurals joined by "\0" as in a compiled catalogue; untranslated ones left out.

    Raises:
        BadInput: a line that is neither a comment nor a quoted string after its keyword.
    """
    entries: dict[str, str] = {}
    parts: dict[str, str] = {}
    last = ""
    for number, line in enumerate([*source.splitlines(), 'msgid ""'], start=1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        found = _LINE.fullmatch(text)
        if found is None or not (found[1] or last):
            raise BadInput(f'{name}, line {number}: got {text!r}; expected msgid "…" or msgstr "…"')
        if found[1] == "msgid":  # the entry before it is finished
            forms = [parts[key] for key in sorted(parts) if key.startswith("msgstr")]
            if forms and all(forms):
                message = "\0".join(parts[key] for key in ("msgid", "msgid_plural") if key in parts)
                entries[message] = "\0".join(forms)
            parts = {}
        last = found[1] or last
        parts[last] = parts.get(last, "") + ast.literal_eval(found[3])
    return entries
