"""The script of the page (`script.js`), with the language and the words that it speaks."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from rag.ui.conventions import CONVENTIONS


def script(language: str, spoken: Mapping[str, str]) -> str:
    """Return the script element for a page in one of the interface's languages.

    Args:
        language: a key of `CONVENTIONS`.
        spoken: in that language, what is said by the script itself, and Streamlit's own English labels.
    """
    if language not in CONVENTIONS:
        raise ValueError(f"got {language!r}; expected one of {', '.join(CONVENTIONS)}")
    said = json.dumps(spoken).replace("<", "\\u003c")  # nothing in it can end the script
    told = _source().replace("LANGUAGE", CONVENTIONS[language].tag).replace("SPOKEN", said)
    return f"<script>{told}</script>"


def mark(text: str) -> str:
    """Return a mark of what was asked, by which the script knows it in its box; it tells nothing of it.

    FNV-1a (Fowler, Noll, Vo), 32 bits, over UTF-16 units, which are what a browser counts text in.
    """
    value = 0x811C9DC5
    for unit in memoryview(text.encode("utf-16", errors="surrogatepass")[2:]).cast("H"):
        value = ((value ^ unit) * 0x01000193) & 0xFFFFFFFF
    return f"{value:x}"


@cache
def _source() -> str:
    """Return `script.js` without its notes, which are for whoever reads it here."""
    lines = files("rag.ui").joinpath("script.js").read_text(encoding="utf-8").splitlines()
    return "\n".join(line for line in lines if not line.startswith("//")) + "\n"
