"""A model's words without markup: for what is shown beside the answer, without the authority of the law."""

from __future__ import annotations

import html
import re
import unicodedata

_TAG = re.compile(r"<[^<>]*>")
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_ADDRESS = re.compile(r"(?:\b[a-z][a-z0-9+.-]*://|\bwww\.)\S+", re.IGNORECASE)
_MARKS = re.compile(r"[*_`#~|<>\[\]{}\\]+")
LONGEST = 300  # characters: a sentence


def plain(text: str) -> str:
    """Return the text on one line without tags, links, addresses, marks and invisible characters."""
    for _ in range(2):  # "&lt;b&gt;" becomes a tag when it is read
        text = _TAG.sub(" ", html.unescape(text))
    text = _ADDRESS.sub(" ", _LINK.sub(r"\1", text))
    text = "".join(" " if char.isspace() else char for char in _MARKS.sub(" ", text))
    # Cc, Cf, Co, Cs: control, direction and other invisible characters, of which none belongs into a sentence
    text = "".join(char for char in text if not unicodedata.category(char).startswith("C"))
    text = " ".join(text.split())
    return text if len(text) <= LONGEST else text[: LONGEST - 1].rstrip() + "…"
