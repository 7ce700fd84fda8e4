"""Numbers of articles, Roman and Chinese alike, and dates: each one term, one spelling."""

from __future__ import annotations

import re
import unicodedata

from rag.text.folding import fold, level

LATIN_ORDINALS = (
    "bis|ter|quater|quinquies|quinter|sexies|septies|octies|nonies|novies|decies|undecies|duodecies|terdecies"
)
CHINESE_DIGITS = "0-9〇零一二三四五六七八九十百千万两○"
CHINESE_UNITS = "条章节编款项目"
# 第五十四条, 第133条之一
CHINESE_REFERENCE = rf"第 ?[{CHINESE_DIGITS}]+ ?[{CHINESE_UNITS}](?:之[{CHINESE_DIGITS}]+)?"

# L. 1234-5, L1234-5, R.* 421-1, LO 123; a letter and a space only before what looks like an article.
_SERIES = (
    r"(?:(?:L\.?O\.?|[LRDAlrda]\.) ?\*{0,2} ?(?=\d{2})|[LRDAlrda]\*{0,2}(?=\d)"
    r"|[LRDA] (?=\d+-\d)|[LR] (?=\d{3})|[lr] (?=\d{2,}-\d))"
)
_DIGITS = r"\d+(?:[-.:/]\d+)*(?:,\d{1,2}(?!\d))?"
_LETTERED = r"(?:-[A-Z](?![\w]))?"  # L123-4-A
_DATE = re.compile(r"(\d{1,2})[-./](\d{1,2})[-./](\d{4})")
_SERIES_SIGNS = re.compile(r"^(lo|l\.o|[lrda])\.? ?\*{0,2} ?(?=\d)")
_ORDINAL_SIGNS = re.compile(rf"(?<=\d)[- ]+(?={LATIN_ORDINALS}|[a-z](?![a-z]))")
_WORTH = {c: n for n, c in enumerate("零一二三四五六七八九")} | {"〇": 0, "○": 0, "两": 2}
_POWERS = {"十": 10, "百": 100, "千": 1000}


def number_pattern(spaced_ordinals: bool) -> str:
    """Return the pattern of a number in running text; where ordinals are spaced, "2 bis" is one number."""
    gap = "[- ]?" if spaced_ordinals else "-?"
    ordinal = rf"{gap}(?:{LATIN_ORDINALS})(?!\w)"
    rest = rf"(?:{ordinal}|\w*{_LETTERED})"
    return rf"(?:(?<![\w.'])|(?<=')){_SERIES}{_DIGITS}{rest}|{_DIGITS}{rest}"


def number_term(typed: str) -> str:
    """Return the one spelling of a number: "L. 1234-5" gives "l1234-5", "6.7.1989" "06/07/1989"."""
    text = unicodedata.normalize("NFKC", level(typed)).casefold()
    if date := _DATE.fullmatch(text):
        day, month, year = date.groups()
        return f"{int(day):02}/{int(month):02}/{year}"
    text = _SERIES_SIGNS.sub(lambda series: series[1].replace(".", ""), text)
    plain = unicodedata.normalize("NFKD", _ORDINAL_SIGNS.sub("", text))
    return "".join(c for c in plain if c.isalnum() or c in "-.:/,")


def chinese_number(numeral: str) -> int | None:
    """Return the value of a Chinese numeral or of digits ("一千零三十二", "1032"), None if it is neither."""
    text = unicodedata.normalize("NFKC", numeral).replace(" ", "")
    if text.isdecimal():
        return int(text) if len(text) < 12 else None
    if text and all(c in _WORTH for c in text):  # read out digit by digit: 一〇三二
        return int("".join(str(_WORTH[c]) for c in text)) if len(text) < 12 else None
    total = section = digit = 0
    for c in text:
        if c in _WORTH:
            digit = _WORTH[c]
        elif c in _POWERS:
            section += (digit or 1) * _POWERS[c]
            digit = 0
        elif c == "万":
            total, section, digit = (total + section + digit) * 10_000, 0, 0
        else:
            return None
    return total + section + digit if text else None


def chinese_reference_term(typed: str) -> str:
    """Return the one spelling of a place in a law: "第五十四条" and "第 54 条" give "第54条"."""
    text = level(typed).replace(" ", "")
    found = re.fullmatch(rf"第([{CHINESE_DIGITS}]+)([{CHINESE_UNITS}])(?:之([{CHINESE_DIGITS}]+))?", text)
    if found is None or (value := chinese_number(found[1])) is None:
        return text
    inserted = chinese_number(found[3]) if found[3] else None
    return f"第{value}{found[2]}" + (f"之{inserted}" if inserted is not None else "")


SERIES_LETTERS = re.compile(r"^(?:lo|[lrda])(?=\d)")  # of a key: see number_key
_LABELS = re.compile(
    r"^(?:§+|articles?|articol[oi]|artikel|artt|arts?|sections?|sec|paragraph|s(?=[. ]\d))(?![a-z])\.? *"
)
_FIRST = re.compile(r"^(?:1(?:er|ere|re|°|º|st|o)|premier|premiere|primo)$")


def number_key(article_no: str) -> str:
    """Return what two spellings of one article number have in common.

    "L. 1234-5" and "l1234-5", "2 bis" and "2-bis", "Article 1er" and "1", "第一千零三十二条" and
    "第1032条" and "1032" give the same key. An empty key means that there is no number.
    """
    text = unicodedata.normalize("NFKC", level(article_no)).casefold().strip().rstrip(".:")
    if text.startswith("第"):
        return chinese_reference_term(text)[1:].replace("条之", "-").rstrip(CHINESE_UNITS)
    text = _LABELS.sub("", text.replace("–", "-"))
    plain = "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))
    if _FIRST.match(plain.replace(" ", "")):
        return "1"
    plain = _SERIES_SIGNS.sub(lambda series: series[1].replace(".", ""), plain)
    plain = re.sub(r"(?<=\d)[- ]+(?=[a-z])", "", plain)  # 2 bis, 2-bis, 573 c, L123-4-A
    return fold(plain) if plain.isalpha() else "".join(c for c in plain if c.isalnum() or c in "-.:/")
