"""What has no place in a plain sentence, such as a link, or in a passage of law."""

from __future__ import annotations

import re
import unicodedata

from rag.text.patterns import data

_HTML = r"<\s*[/!?]?\s*[a-z]|&(?:#x?[0-9a-f]+|[a-z]{2,8});|\bon[a-z]{3,15}\s*=|\bstyle\s*="
_ENDINGS = "|".join(data("rag.answer", "instructions")["endings"].split())
_LINK = (
    r"\b[a-z][a-z0-9+.-]{1,15}:/{1,2}|\bwww\.|\b(?:https?|ftp|hxxps?)(?![a-z])"
    r"|\b(?:javascript|data|mailto|tel|sms|file|vbscript|blob)\s*:\s*\S"
    r"|[\w.+-]+@[\w-]+\.\w|\b(?:\d{1,3}\.){3}\d{1,3}\b|[\[({](?:\.|dot|point|punkt|punto|at)[\])}]"
    r"|(?<![\w.-])[a-z0-9][\w-]*(?:\.[\w-]+)*\.[a-z]{2,24}(?::\d+)?/"
    rf"|(?<![\w.])[\w-]{{2,}}(?:\.[\w-]{{2,}})*\.(?:{_ENDINGS})(?![a-z0-9_-])"
)
_COUNTRY = re.compile(r"(?<![\w.])(?!\d+\.)[a-zA-Z0-9-]{2,}\.[a-z]{2}(?![\w-])")  # "evil.gg"
_MARKDOWN = (
    r"!?\[[^\]\n]*\]\s*[(\[:]|```|~~~|`|\*\*|__|~~|^\s{0,3}(?:#{1,6}\s|>|[*+]\s|\|)|\|\s*:?-{2,}|\$\$"
    r"|\\[a-z(\[]|\{\{|\}\}"
    r"|:[a-z_]+\[|:material/"
)
_JSON = r"[{}]|\"\s*:\s*[\"\[{]|<\||\|>|\[/?(?:INST|SYS)\]"
_SIGNS = re.compile(rf"{_HTML}|{_LINK}|{_MARKDOWN}|{_JSON}|[<>]", re.IGNORECASE | re.MULTILINE)
_PHONE = re.compile(r"(?<![\w])(?:\+|00)?\(?\d[\d\s().\-/]{6,}\d(?!\w)")
_DIALLED = re.compile(r"(?<![\w.,])\d(?:[ -]\d){3,}(?!\w)")  # digit by digit: no law writes a number so
_LEAST_PHONE = 8  # digits in one run; sums of law are shorter, dates are told apart below
_DATE = re.compile(r"\d{1,2}[-./]\d{1,2}[-./]\d{4}|\d{4}-\d{2}-\d{2}")
_GROUPED = re.compile(r"\d{1,3}(?:[ .,'\u00a0\u202f]\d{3})+(?:,\d\d)?")
_BLOB = re.compile(r"[A-Za-z0-9+/_-]{32,}={0,2}")  # keys and encoded texts; no word of law is as long
_MIXED_BLOB = re.compile(r"(?=\w*\d)(?=\w*[A-Z])(?=\w*[a-z])\w{16,}")
_WORD = re.compile(r"[^\W\d_]+")


def marked(text: str, articles: str = "") -> bool:
    """Tell whether a line holds what must not be rendered, or what reads otherwise than it looks.

    A long or odd word that stands in what the cited articles say is the law's. Telephone numbers and links
    have no place in an answer, whoever wrote them.
    """
    composed = unicodedata.normalize("NFC", text)
    read = unicodedata.normalize("NFKC", composed.replace("\u00ad", "")).replace("。", ".")
    if any(map(_odd, composed)) or _SIGNS.search(text) or _SIGNS.search(read) or _DIALLED.search(read):
        return True
    if any(_phone(number[0]) for number in _PHONE.finditer(text)):
        return True
    doubtful = [found[0] for pattern in (_BLOB, _MIXED_BLOB) for found in pattern.finditer(text)]
    doubtful += [found[0] for found in _COUNTRY.finditer(read)]
    doubtful += [word for word in _WORD.findall(text) if _mixed(word)]
    return any(piece not in articles for piece in doubtful)


_BULLET = re.compile(r"^\s*[*+]\s", re.MULTILINE)  # of a list in a law
_SUBSCRIBER = re.compile(r"(?<![\w.,/-])(?:\+\d{1,3}|0)(?:[ .()/-]{0,2}\d){7,12}(?![\w/-])")  # 01 23 45 67 89


def leads_away(text: str) -> bool:
    """Tell whether a passage of law holds a link, markup or a telephone number, which no law needs."""
    text = _BULLET.sub("", text)
    read = unicodedata.normalize("NFKC", text)
    return any(pattern.search(part) for pattern in (_SIGNS, _SUBSCRIBER) for part in (text, read))


def _odd(sign: str) -> bool:
    """Tell whether a character is invisible, a control, private or unassigned; soft hyphens are not odd.

    Nor are accents: of a composed text, the marks that are left strike a letter out or frame it.
    """
    kind = unicodedata.category(sign)
    if kind in ("Mn", "Me") or (kind == "So" and sign >= "\U0001f000"):  # pictures, letters in boxes
        return True
    if kind in ("Cc", "Cs", "Co", "Cn", "Zl", "Zp") or (kind == "Cf" and sign != "\u00ad"):
        return True
    return kind == "So" and unicodedata.normalize("NFKC", sign).isalpha()  # enclosed letters


def _mixed(word: str) -> bool:
    """Tell whether a word is of two scripts, or of one that no supported law is written in."""
    kinds = {_script(sign) for sign in word}
    return bool(kinds - {"LATIN", "CJK"}) or any(
        unicodedata.normalize("NFKC", sign) != sign and sign not in "ªº" and _script(sign) == "LATIN"
        for sign in word
    )


def _script(sign: str) -> str:
    name = unicodedata.name(sign, "UNKNOWN")
    first = name.partition(" ")[0]
    if first in ("FEMININE", "MASCULINE") or name.startswith(("COMBINING", "FULLWIDTH LATIN")):
        return "LATIN"
    if first == "MODIFIER" or name.startswith("MATHEMATICAL"):
        return first
    return "CJK" if first in ("CJK", "IDEOGRAPHIC", "KANGXI") else first


def _phone(number: str) -> bool:
    digits = sum(map(str.isdigit, number))
    whole = number.strip(" .()-/")
    return digits >= _LEAST_PHONE and not (_DATE.fullmatch(whole) or _GROUPED.fullmatch(whole))


_THOUGHTS = ("think", "thinking", "reasoning")
_OPENS = re.compile(rf"<({'|'.join(_THOUGHTS)})>", re.IGNORECASE)
_LONGEST_TAG = len("</reasoning>")


class ThoughtFilter:
    """Takes out of a stream what a model thinks between tags, however the stream is cut."""

    def __init__(self) -> None:
        self._held, self._within = "", ""

    def feed(self, text: str) -> str:
        """Return what is no thought; what may be the beginning of a tag waits for the rest."""
        text, self._held = self._held + text, ""
        said: list[str] = []
        while text:
            if self._within:
                ended = text.lower().find(f"</{self._within}>")
                if ended < 0:
                    self._held = text[-_LONGEST_TAG:]
                    break
                text, self._within = text[ended + len(self._within) + 3 :], ""
                said.append(" ")
            elif found := _OPENS.search(text):
                said.append(text[: found.start()])
                text, self._within = text[found.end() :], found[1].lower()
            else:
                at = text.rfind("<", max(0, len(text) - _LONGEST_TAG))
                at = len(text) if at < 0 else at
                said.append(text[:at])
                self._held = text[at:]
                break
        return "".join(said)

    def close(self) -> str:
        """Return what waited, when all has come."""
        held, self._held = ("" if self._within else self._held), ""
        return held


def without_thoughts(text: str) -> str:
    """Return a whole reply without what the model thought."""
    thoughts = ThoughtFilter()
    return thoughts.feed(text) + thoughts.close()
