"""How an article is cited, in the form of the country whose law it is.

The forms are those that lawyers of each country use; what is in no table is cited by its whole name, which
nobody misreads.
"""

from __future__ import annotations

import re
import tomllib
from importlib.resources import files

from rag.corpus.card import CorpusCard
from rag.types import Article

_MARKS = ("§", "第", "art", "section", "schedule", "anne", "alleg", "anhang", "bijlage")
# country -> whole name in small letters -> the usual short form
_SHORT = tomllib.loads((files("rag.corpus") / "citations.toml").read_text(encoding="utf-8"))
_PARAGRAPHS = ("DE", "AT")  # countries whose laws in German are cut into §§
_ARTICLES_IN_GERMAN = ("GG", "EGBGB", "EGStGB")  # German laws whose units are articles, not paragraphs
# of a card that names no country
_LANGUAGE_HOME = {"fr": "FR", "de": "DE", "it": "IT", "nl": "NL", "zh": "CN"}
_DUTCH_BOOK = re.compile(r"burgerlijk wetboek,? boek (\d+[a-z]?)", re.IGNORECASE)
_SECTION = re.compile(r"(?:section|sec\.|s\.?) (?=\d)", re.IGNORECASE)
_DIGITS = "零一二三四五六七八九"


def citation(article: Article, card: CorpusCard) -> str:
    """Return the line to copy: "C. civ., art. 1240", "§ 573c BGB", "art. 2043 c.c.", "art. 6:162 BW".

    The short forms that the card gives its codes ("C. civ.") come before those of the tables here.
    """
    language, country = _home(article, card)
    code, number = _short(article.code, country, card), article.article_no.strip()
    bare = is_bare(number)
    if language == "zh":
        return f"《{article.code}》{_chinese(number)}" if bare else f"《{article.code}》{number}"
    if not code:
        return f"art. {number}" if bare else number
    if language == "de" and country in _PARAGRAPHS:
        sign = "Art." if code in _ARTICLES_IN_GERMAN else "§"
        return f"{sign} {number} {code}" if bare else f"{number} {code}"
    if country == "CH":
        sign = "Art." if language == "de" else "art."
        return f"{sign} {number} {code}" if bare else f"{number} {code}"
    if country in ("GB", "IE") and language == "en":  # OSCOLA: the act, then its section
        section = _SECTION.sub("", number)
        return f"{code}, s {section}" if bare or section != number else f"{code}, {number}"
    if country in ("BE", "LU", "IT", "NL"):
        if country == "NL" and (book := _DUTCH_BOOK.fullmatch(article.code.strip())):
            code, number = "BW", number if ":" in number else f"{book[1]}:{number}"
        # a short form follows as one word, a title after a comma
        between = " " if code != article.code else ", "
        return f"art. {number}{between}{code}" if bare else f"{number}{between}{code}"
    return f"{code}, art. {number}" if bare else f"{code}, {number}"


def signed(article: Article, card: CorpusCard) -> str:
    """Return an article's number as its law calls it: "§ 573c" in Germany and Austria, "671" elsewhere."""
    number = article.article_no.strip()
    language, country = _home(article, card)
    if language != "de" or country not in _PARAGRAPHS or not number or not is_bare(number):
        return number
    return number if _short(article.code, country, card) in _ARTICLES_IN_GERMAN else f"§\u00a0{number}"


def _home(article: Article, card: CorpusCard) -> tuple[str, str]:
    """Return the language of the law and its country, ISO 3166-1 alpha-2."""
    language = article.language or card.language
    country = article.jurisdiction or card.jurisdiction or _LANGUAGE_HOME.get(language, "")
    return language, country[:2].upper()


def is_bare(number: str) -> bool:
    """Tell whether an article number does not say itself what it is, as "§ 5" and "第五条" do."""
    return not number.strip().lower().startswith(_MARKS)


def _short(code: str, country: str, card: CorpusCard) -> str:
    """Return the short form of a code: the card's first, else the table's, else its name.

    What is longer than the name is none: a code "BGB" may have its title among what people call it.
    """
    given = next((each for each in card.aliases.get(code, ()) if len(each) <= len(code)), None)
    return given or _SHORT.get(country, {}).get(code.strip().casefold().replace("’", "'"), code)


def _chinese(number: str) -> str:
    """Return a number as Chinese law writes it: "1165" is 第一千一百六十五条, "133-1" 第一百三十三条之一."""
    main, _, inserted = number.partition("-")
    if not (main.isascii() and main.isdigit() and 0 < int(main) < 10_000):
        return f"第{number}条"
    if not inserted:
        return f"第{numeral(int(main))}条"
    valid = inserted.isascii() and inserted.isdigit() and 0 < int(inserted) < 100
    return f"第{numeral(int(main))}条之{numeral(int(inserted))}" if valid else f"第{number}条"


def numeral(value: int) -> str:
    """Return a whole number from 1 to 9,999 in Chinese: 1165 is 一千一百六十五, 12 is 十二."""
    written, gap = "", False
    for worth, unit in ((1000, "千"), (100, "百"), (10, "十"), (1, "")):
        digit = value // worth % 10
        if digit:
            written += ("零" if gap and written else "") + _DIGITS[digit] + unit
        gap = not digit
    return written.removeprefix("一") if written.startswith("一十") else written
