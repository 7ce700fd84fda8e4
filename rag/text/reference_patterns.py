"""The patterns that references to articles are read with, compiled once."""

from __future__ import annotations

import re
from collections.abc import Mapping

from rag.text.article_numbers import CHINESE_DIGITS, LATIN_ORDINALS

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
YEAR_BEFORE = re.compile(
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


def marks(marker: str, language: str) -> bool:
    """Tell whether a marker means an article in this language."""
    only = _ONLY.get(marker.casefold().rstrip("."))
    return only is None or language in only
