"""Text of Akoma Ntoso: a line a block, its number before it; tables, lists, notes and references."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from importlib.resources import files
from typing import Any, TypeAlias

Element: TypeAlias = Any  # lxml has no types
VOCABULARY: Mapping[str, Any] = tomllib.loads(
    (files("indexes.sources.akoma_ntoso") / "vocabulary.toml").read_text(encoding="utf-8")
)
QUOTED, NOTES, SKIPPED, TITLES, _INLINE = (
    frozenset[str](VOCABULARY[name]) for name in ("quoted", "notes", "skipped", "titles", "inline")
)


class Text:
    """Text of elements: a line a block, a number before its block, notes and references apart."""

    def __init__(self, notes: Mapping[str, Element], bracketed: bool) -> None:
        self._notes, self._bracketed = notes, bracketed
        self._parts: list[str] = []
        self._taken: set[Element] = set()  # notes: each comes once, whatever refers to it
        self._asked: list[tuple[int, Element]] = []  # notes referred to, and their places among the notes
        self.notes: list[str] = []
        self.references: list[list[str]] = []
        self.note_references: list[list[str]] = []

    def __str__(self) -> str:
        """Return the text, blanks put right."""
        quoted = _QUOTES.sub("", "".join(self._parts))
        raw = _NUMBER.sub(_numbered, quoted).replace("\x04", "")
        lines = (" ".join(line.split()) for line in raw.split("\n"))
        return "\n".join(line for line in lines if line)

    def add(self, element: Element) -> None:
        """Add an element without what follows it."""
        tag = element.tag
        if tag in SKIPPED:
            return
        if tag in NOTES:
            if element not in self._taken:
                self._taken.add(element)
                self.notes.append(self._note(element))
        elif tag == "noteRef":
            note = self._notes.get((element.get("href") or "").lstrip("#"))
            if note is not None and note not in self._taken:
                self._taken.add(note)
                self._asked.append((len(self.notes), note))
                self.notes.append("")
        elif tag in ("eol", "br"):
            self._parts.append("\n")
        elif tag == "table":
            self._table(element)
        elif tag == "num":
            self.number(self._apart(element))
        else:
            self._element(element, tag)

    def skim(self, element: Element) -> None:
        """Keep the notes in an element, without its text."""
        self._apart(element)

    def finish(self) -> None:
        """Read the notes that were referred to, once all else is added.

        Notes refer to notes: were each read where it is referred to, a long chain of them would be a deep
        recursion.
        """
        for place, note in self._asked:  # it grows while it is read
            self.notes[place] = self._note(note)
        self._asked = []
        self.notes = [note for note in self.notes if note]

    def line(self, of: Element | str) -> None:
        """Add a text, or what is in an element, as one line."""
        self._parts.append(f"\n{of if isinstance(of, str) else self._apart(of)}\x04\n")

    def number(self, text: str) -> None:
        """Add a number, which the next block follows on its line."""
        bare = self._bracketed and len(text) <= 5 and text.isalnum()
        self._parts.append(f"\n\x02({text})\x03" if bare else f"\n\x02{text}\x03")

    def _element(self, element: Element, tag: str) -> None:
        block = "" if tag in _INLINE else "\n"
        self._parts.append(block)
        if tag in ("ref", "rref"):
            ends = [element.get("from"), element.get("upTo")] if tag == "rref" else [element.get("href")]
            self.references.append([end.strip() for end in ends if end] or [element.get("href") or ""])
        elif tag == "li":
            self._parts.append(f"\x02{_list_label(element)}\x03")
        elif tag == "img":
            self._parts.append(element.get("alt") or element.get("title") or "")
        quoted = tag in QUOTED or tag == "quotedText"
        begin, end = (element.get(key) or "" for key in ("startQuote", "endQuote")) if quoted else ("", "")
        self._parts.append(f"{begin}\x05" if begin else "")
        self.inside(element)
        self._parts.append(f"\x06{end}" if end else "")
        # no number waits longer than its own block; what follows a quotation goes on in its line
        self._parts.append(f"\x04{'' if end else block}" if block else "")

    def inside(self, element: Element) -> None:
        """Add what is in an element."""
        self._parts.append((element.text or "").replace("\n", " "))
        for child in element:
            if isinstance(child.tag, str):
                self.add(child)
            self._parts.append((child.tail or "").replace("\n", " "))

    def _apart(self, element: Element) -> str:
        """Return the text in an element as one line."""
        parts, self._parts = self._parts, []
        self.inside(element)
        text = " ".join(str(self).split())
        self._parts = parts
        return text

    def _note(self, element: Element) -> str:
        references, self.references = self.references, self.note_references
        text = self._apart(element)
        self.references = references
        return text

    def _table(self, table: Element) -> None:
        for row in table.iter("tr", "caption"):
            if next((t for t in row.iterancestors("table")), None) is not table:
                continue  # of a table in a cell
            cells = [row] if row.tag == "caption" else [c for c in row if c.tag in ("td", "th")]
            line = " | ".join(self._apart(cell) for cell in cells)
            self._parts.append(f"\n{line}\x04\n" if line.strip(" |") else "")


_QUOTES = re.compile(r"\x05[\s\x04]*|[\s\x04]*\x06")  # signs of quotation stand at the words
_NUMBER = re.compile(r"\x02([^\x03]*)\x03\s*")


def _numbered(match: re.Match[str]) -> str:
    """Put a number before its text, once: some files have it in both."""
    number = match[1]
    if not number:
        return ""
    twice = not number[-1:].isalnum() and match.string.startswith(number, match.end())
    return "" if twice else f"{number} "


def words(element: Element) -> str:
    """Return what is in an element as one line, without notes."""
    text = Text({}, False)
    text.inside(element)
    return " ".join(str(text).split())


def _list_label(item: Element) -> str:
    """Return the sign before an item of an HTML list, which is drawn from attributes."""
    own = attribute(item, "symbol") or item.get("value")
    if own:
        return own
    parent = item.getparent()
    if parent is None or parent.tag != "ol":
        return "-"
    symbol = attribute(parent, "symbol") or {"a": "a)", "i": "i)", "A": "A)", "I": "I."}.get(
        parent.get("type") or "", "1."
    )
    start = attribute(parent, "start") or "1"
    place = (int(start) if start.isdigit() and len(start) < 6 else 1) + sum(
        1 for _ in item.itersiblings("li", preceding=True)
    )
    parts = re.fullmatch(r"(\W*)(\d+|[ivx]+|[a-z])(\W*)", symbol, re.IGNORECASE)
    if parts is None:
        return ""  # "custom": the item's own text has it
    before, sign, after = parts.groups()
    if sign.isdigit():
        written = str(place)
    elif sign.lower() == "i":
        written = _roman(place)
    else:
        written = chr(ord("a") + (place - 1) % 26) * ((place - 1) // 26 + 1)
    return f"{before}{written.upper() if sign.isupper() else written}{after}"


def _roman(value: int) -> str:
    written = ""
    for worth, sign in (
        (100, "c"),
        (90, "xc"),
        (50, "l"),
        (40, "xl"),
        (10, "x"),
        (9, "ix"),
        (5, "v"),
        (4, "iv"),
        (1, "i"),
    ):
        written += sign * (value // worth)
        value %= worth
    return written


def attribute(element: Element, name: str) -> str | None:
    """Return an attribute by its local name."""
    return next((value for key, value in element.attrib.items() if key.rpartition("}")[2] == name), None)
