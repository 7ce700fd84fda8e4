"""Article references in a question: "art. 515-1 C. civ.", "§ 573c BGB", "民法典第1032条"."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias

from rag.text.article_numbers import CHINESE_DIGITS, LATIN_ORDINALS, number_key
from rag.text.code_names import CodeNames
from rag.text.folding import level

AROUND = " \n\r?!.,;:\"'«»“”()[]"
# L. 1234-5, L.1234-5, L1234-5, R.* 421-1; a small letter and a space only before 1234-5: "il a 1240".
_SERIES = (
    r"(?:(?:L\.?O|[LRDA])\. ?\*{0,2} ?(?=\d)|(?:LO|[LRDA])\*{0,2}(?=\d)"
    r"|(?-i:L\.?O|[LRDA])\*{0,2} (?=\d)|[lrd] (?=\d+-\d))?"
)
_NUMBER = (
    rf"(?:{_SERIES}\d{{1,5}}(?:[-.:]\d{{1,4}}|–\d{{1,2}}(?!\d))*(?:er|ere|ère|re|°|st)?(?!\d)"
    rf"(?:[- ]?(?:{LATIN_ORDINALS})(?![^\W_])|-?[A-Za-z](?![^\W_])"
    r"|(?-i: [a-z](?= [A-ZÄÖÜ][a-z]*[A-Z])))?"  # § 573 c BGB
    r"|premier(?!\w)|première(?!\w)|premiere(?!\w))"
)
_MARKER = (
    r"(?:l')?(?:articles?|articl|artcles?|artciles?|aricles?|artiles?|articels?|artilces?|articol[oi]|artikel[ns]?|artt?s?\.?"
    r"|§{1,2}|paragra(?:ph|f)(?:e?n)?|sections?|sec\.?|ss?\.(?= ?\d)|(?<!')s(?= \d))"
)
# Markers that mean something else in another language: "section 2" of a French code holds articles.
_ONLY: Mapping[str, tuple[str, ...]] = {
    "section": ("en",), "sec": ("en",), "s": ("en",), "ss": ("en",), "sections": ("en",),
    "paragraph": ("de", "en"), "paragraf": ("de",), "paragraphen": ("de",), "paragrafen": ("de",),
}  # fmt: skip

ITEM = re.compile(
    rf"(?:(?<![^\W_])(?P<marker>{_MARKER})\s*(?:n[°o]\.?\s?)?|(?<![\w.,:/€$£–-]))(?P<number>{_NUMBER})",
    re.IGNORECASE,
)
_SEPARATOR = (
    r"\s*(?:,|;|/|&|–"
    r"|(?:,\s*)?\b(?:et|ou|und|oder|and|or|e|o|en|of|à|a|bis|to|tot(?: en met)?|al|sowie)\b)\s*"
)
_THROUGH = r"\s*(?:–|(?:,\s*)?\b(?:jusqu'(?:au|à|a)|au|à|a|bis|to|tot(?: en met)?|al)\b)\s*"  # 205 à 211
MORE = re.compile(
    rf"(?:(?P<through>{_THROUGH})|{_SEPARATOR})(?:les?\s|der\s|den\s|de\s|the\s)?(?:(?P<marker>{_MARKER})\s*)?(?P<number>{_NUMBER})",
    re.IGNORECASE,
)
LIST_END = re.compile(
    rf"\s*(?:$|[?.!;:)\"»]|,\s*[^\W\d]|{_SEPARATOR}\d|\b(?:dit|parle|signifie|est|sont|se)\b)", re.IGNORECASE
)
NUMBER_END = re.compile(r"(?![\w/%€$£]|[.:,-]\d)")
PLURAL = re.compile(r"\w\w+s\.?|§§|artt\.?", re.IGNORECASE)  # a marker of more than one number
SERIES_LETTER = re.compile(r"[LRD]", re.IGNORECASE)
SERIES = re.compile(r"[LRD]O?\.? ?\*{0,2} ?\d{3,4}(?:-\d+)+", re.IGNORECASE)
YEAR_CONTEXT = re.compile(
    r"(?:\b(?:en|depuis|avant|après|apres|année|annee|l'an|de|du|d'|vers|seit|im jahr|jahr|von|in|since"
    r"|nel|dal|anno|sinds|jaar|avait|ai|a)|\d)\s*$",
    re.IGNORECASE,
)
LINK = re.compile(
    r"(?P<gap>[\s,(]*)(?:(?:du|de la|de l'|de|des|dans le|dans la|au|of the|of|in the|under the|in"
    r"|del|della|dello|dell'|dei|nel|der|dem|vom|im|van het|van de|van|uit het|uit de"
    r"|het|le|la|the)(?:\s+|(?<=')))?",
    re.IGNORECASE,
)
_ROMAN = r"(?-i:[IVX]{1,4})(?![^\W_])"
_PART = (
    r"\([0-9]{1,3}[a-z]?\)|\([a-z]{1,2}\)"
    r"|(?:alinéas?|alineas?|al\.?|paragraphe|lid|comma|co\.|lett\.|lettera|sub|n[°o]\.?|nr\.?|abs(?:atz|\.)?|satz|s\.|hs\.|alt\.|var\.)"
    r"\s*(?:\d{1,3}[a-z]?(?:er|°)?|premier|[a-z]\)?)(?![^\W_])|\d{1,2}°"
)
PARTS = re.compile(rf"(?:,?\s*(?:{_PART}))*", re.IGNORECASE)
GERMAN_PARTS = re.compile(rf"(?:,?\s*(?:{_PART}|{_ROMAN}))*", re.IGNORECASE)

_FRENCH_LAW = (
    r"(?:nouveau |ancien )?(?:loi|décret|decret|ordonnance|constitution|convention|règlement|reglement"
    r"|traité|traite|charte|directive|arrêté|arrete|déclaration|declaration|accord"
    r"|code(?= (?:du|de|des|d')\b))\b"
    r"(?: (?:n° ?[\d-]+|(?:européenne|europeenne|internationale|organique|général|general)\b)"
    r"| ?(?:du|de la|de l'|des|de|d') ?(?:\d{1,2}(?:er)? [^\W\d_]+ \d{4}|[^\W_]+)"
    r"| (?:\d{1,2}(?:er)? [^\W\d_]+ )?\d{4}(?![\w-])| \d{2,4}-\d{1,5}(?!\w))*"  # loi 6 juillet 1989
)
_ABBREVIATION = r"(?-i:[A-ZÄÖÜ][a-zäöüß]*[A-ZÄÖÜ][A-Za-zÄÖÜäöüß]*)"
UNNAMED: Mapping[str, re.Pattern[str]] = {  # a law that no table names
    "fr": re.compile(rf"{_FRENCH_LAW}|(?:(?<=du )|(?<=la ))(?-i:[A-Z]{{2,8}}\b)", re.IGNORECASE),
    "de": re.compile(
        rf"{_ABBREVIATION}(?: (?:[IVX]+|\d{{1,2}})\b)?"
        r"|(?-i:[A-ZÄÖÜ])[^\W\d_]*(?:gesetz|ordnung|gesetzbuch|verfassung)(?:e?s)?\b",
        re.IGNORECASE,
    ),
    "it": re.compile(
        r"(?:codice|legge|decreto|d\. ?l\.|d\. ?lgs\.?|dlgs|l\.(?= ?n?\.? ?\d)|regolamento"
        r"|testo unico|statuto|trattato|convenzione)"
        r"(?: (?:legislativo|legge|n\. ?)| ?(?:del|della|dell'|di|dei) ?[^\W_]+| ?\d+(?:/\d{2,4})?)*",
        re.IGNORECASE,
    ),
    "nl": re.compile(
        rf"(?:[^\W\d_]*wet(?:boek)?|besluit|verordening|verdrag|decreet|ordonnantie|codex)\b"
        r"(?: (?:van|op|op de|op het|inzake) [^\W_]+)*"
        rf"|{_ABBREVIATION}",
        re.IGNORECASE,
    ),
    "en": re.compile(
        r"(?:[^\W_]+(?:'s)? ){1,7}?(?:act|code|order|regulations?|rules|convention|constitution"
        r"|directive|charter)\b(?: \d{4})?"
        rf"|{_ABBREVIATION}(?: \d{{4}})?",
        re.IGNORECASE,
    ),
}

_HAN_NUMBER = rf"[{CHINESE_DIGITS}]{{1,9}}"
CHINESE_NUMBER = re.compile(_HAN_NUMBER)
CHINESE = re.compile(  # the second form, without 第, counts only beside a code or alone
    rf"(?P<marker>第)? ?(?P<numbers>{_HAN_NUMBER}(?:[、,和及与至到]{_HAN_NUMBER})*) ?条"
    rf"(?P<inserted>之{_HAN_NUMBER})?"
    rf"(?:第{_HAN_NUMBER}[款项目])*"
)
CHINESE_LIST = re.compile(r"\s*(?:[、,，和及与至到或]|以及|或者)\s*")
CHINESE_BOOK = re.compile(rf"第{_HAN_NUMBER}[编章节]$")
CHINESE_LINKS = "《》〈〉 的中之"
CHINESE_LAW = re.compile(r"[\u4e00-\u9fff]{1,28}(?:法|法典|条例|细则|办法|规定|解释)$")
CHINESE_QUOTED = re.compile(r"《[^》]{2,40}》(?=[^《。?？]{0,6}$)")
CHINESE_THIS = ("本法", "该法", "此法", "的法", "规定", "办法", "解释")  # ends of runs that name nothing

Span: TypeAlias = tuple[int, int, int]  # where a reference begins, and its number; where that ends
LONGEST = 2_000  # characters that are looked at; a reference stands in a sentence, not in a file


@dataclass(frozen=True, slots=True)
class Reference:
    """An article that a text names by its number."""

    text: str  # as typed, with the marker and the code that stand beside it
    start: int
    end: int
    number: str  # as `number_key` gives it
    code: str | None = None  # the corpus's name of the code; None: not named, or not in the corpus
    code_named: str | None = None  # the code as typed; with `code` None it is a law that is not loaded
    through: bool = False  # the last of a range that the reference before it opens: "205 à 211"
    marked: bool = True  # by a word or sign such as "art.", not by a code beside a number alone

    @property
    def unresolved(self) -> bool:
        """Whether a law is named that the corpus does not hold."""
        return self.code_named is not None and self.code is None


class _Code(NamedTuple):  # a law named beside a number
    start: int
    end: int
    code: str | None  # None: one that the corpus does not hold


def find_references(text: str, names: CodeNames) -> tuple[Reference, ...]:
    """Return the references of a text in order; they do not overlap.

    A number counts when a marker ("article", "§", "第…条") or a code stands beside it, when it is
    written as article numbers are (L1234-5), or when it is the whole question. Sums, durations and
    years inside a sentence do not.
    """
    flat = level(text[:LONGEST])
    found = _chinese(text, flat, names)
    taken = [(ref.start, ref.end) for ref in found]
    latin, at = _Latin(text, flat, names), 0
    for item in ITEM.finditer(flat):
        start, end = item.span()
        if start < at or any(a < end and start < b for a, b in taken):
            continue
        if new := latin.read(item):
            if new[0].start < at:  # the code between two numbers already stands in the reference before
                new[0] = replace(new[0], start=start, text=text[start : new[0].end])
            found += new
            at = new[-1].end
    return tuple(sorted(found, key=lambda ref: ref.start))


class _Latin:
    """Reads one marker with its numbers and the code before or after them."""

    def __init__(self, text: str, flat: str, names: CodeNames) -> None:
        self.text, self.flat, self.names = text, flat, names
        self.unnamed = UNNAMED.get(names.language)

    def read(self, item: re.Match[str]) -> list[Reference]:
        """Return the references that begin at a match of ITEM; none if it is only a number."""
        if item["marker"] is None:
            return self._unmarked(item)
        language = self.names.language
        if language not in _ONLY.get(item["marker"].casefold().rstrip("."), (language,)):
            return []
        spans = [(item.start(), item.start("number"), item.end("number"))]
        through: set[int] = set()  # places in `spans` that close a range
        several = PLURAL.fullmatch(item["marker"])
        end = self._past_parts(item.end("number"))
        while more := MORE.match(self.flat, end):
            after = self._past_parts(more.end("number"))
            second = several and len(spans) == 1 and NUMBER_END.match(self.flat, more.end("number"))
            if not (more["marker"] or second or LIST_END.match(self.flat, after) or self._code_after(after)):
                break  # not "article 205 et 3 enfants"
            if more["through"]:
                through.add(len(spans))
            spans.append((more.start("number"), more.start("number"), more.end("number")))
            end = after
        code = self._code_after(end) or self._code_before(item.start())
        return self._made(spans, end, code, marked=True, through=through)

    def _unmarked(self, item: re.Match[str]) -> list[Reference]:
        start, end = item.span("number")
        if not NUMBER_END.match(self.flat, end):
            return []
        code = None
        series = SERIES_LETTER.match(item["number"]) is not None
        if not YEAR_CONTEXT.search(self.flat, max(0, start - 20), start):
            code = self._code_after(self._past_parts(end), known_only=not series) or self._code_before(start)
        alone = not (self.flat[:start] + self.flat[end:]).strip(AROUND)
        if code is None and not alone and not SERIES.fullmatch(item["number"]):
            return []
        return self._made([(start, start, end)], end, code, marked=alone or series or code is None)

    def _made(
        self, spans: list[Span], end: int, code: _Code | None, marked: bool, through: Collection[int] = ()
    ) -> list[Reference]:
        begin, past, held = code or (spans[0][0], end, None)
        named = self.text[begin:past].strip() if code else None
        made = []
        for place, (start, first, last) in enumerate(spans):
            start = min(start, begin) if place == 0 else start
            stop = max(end, past) if place == len(spans) - 1 else last
            number, closes = number_key(self.flat[first:last]), place in through
            made.append(Reference(self.text[start:stop], start, stop, number, held, named, closes, marked))
        return made

    def _past_parts(self, at: int) -> int:
        """Return where the paragraphs, sentences and letters that follow a number end."""
        parts = GERMAN_PARTS if self.names.language == "de" else PARTS
        return parts.match(self.flat, at).end()  # type: ignore[union-attr]  # nothing is a match

    def _code_after(self, at: int, known_only: bool = False) -> _Code | None:
        link = LINK.match(self.flat, at)
        begins = (link.end(), link.end("gap")) if link else ()
        for begin in begins:
            if begin < len(self.flat) and (known := self.names.after(self.flat, begin)):
                return _Code(begin, *known)
        unnamed = None if known_only else self.unnamed
        for other in (unnamed.match(self.flat, begin) for begin in begins) if unnamed else ():
            if other and other.end() > other.start():
                return _Code(*other.span(), None)
        return None

    def _code_before(self, at: int) -> _Code | None:
        end = len(self.flat[:at].rstrip(" ,:;(-'"))
        if known := self.names.code_before(self.flat, end) or self.names.before_sign(self.flat, end):
            return _Code(known[0], end, known[1])
        if self.unnamed is not None and self.names.language == "fr":  # loi du 6 juillet 1989, article 22
            for other in self.unnamed.finditer(self.flat, max(0, end - 80), end):
                if other.end() == end and any(map(str.isdigit, other[0])):
                    return _Code(other.start(), end, None)
        return None


def _chinese(text: str, flat: str, names: CodeNames) -> list[Reference]:
    """Return the references of the form 第…条; a list shares the code that stands before it."""
    found: list[Reference] = []
    previous: _Code | None = None
    last = -1
    for item in CHINESE.finditer(flat):
        start = item.start()
        chained = last >= 0 and CHINESE_LIST.fullmatch(flat, last, start)
        code = previous if chained else _chinese_code(flat, start, names)
        if item["marker"] is None and code is None and flat.strip(AROUND) != item[0]:
            continue
        first = start if chained or code is None else code.start
        named = text[code.start : code.end] if code else None
        numbers = list(CHINESE_NUMBER.finditer(flat, item.start("numbers"), item.end("numbers")))
        for place, number in enumerate(numbers):
            begin = first if place == 0 else number.start()
            end = item.end() if place == len(numbers) - 1 else number.end()
            inserted = item["inserted"] or "" if place == len(numbers) - 1 else ""
            key = number_key(f"第{number[0]}条{inserted}")
            found.append(Reference(text[begin:end], begin, end, key, code.code if code else None, named))
        previous, last = code, item.end()
    return found


def _chinese_code(flat: str, at: int, names: CodeNames) -> _Code | None:
    """Return the law whose name stands before a reference, over the name of a book between them."""
    end = len(flat[:at].rstrip(CHINESE_LINKS))
    if book := CHINESE_BOOK.search(flat, max(0, end - 12), end):
        end = len(flat[: book.start()].rstrip(CHINESE_LINKS))
    ends = [end]
    if flat[:end].endswith("编"):  # 民法典婚姻家庭编
        ends += range(end - 3, max(0, end - 9), -1)
    for stop in ends:
        if known := names.before_sign(flat, stop) or names.code_before(flat, stop):
            start, code = known
            return _Code(start - (flat[max(0, start - 1) : start] in ("《", "〈")), end, code)
    if quoted := CHINESE_QUOTED.search(flat, max(0, at - 60), at):
        return _Code(quoted.start(), quoted.end(), None)
    other = CHINESE_LAW.search(flat, max(0, end - 30), end)
    if other and (len(other[0]) > 4 or other[0][-2:] not in CHINESE_THIS):
        return _Code(other.start(), end, None)
    return None
