"""What the page says when there is no index to search."""

from __future__ import annotations

import re

import streamlit as st

from rag.errors import DamagedIndex, MissingIndex, PandectError, StaleIndex
from rag.ui.html import tag
from rag.ui.i18n import N_, Words

# The command stands in the error's text ("…: run python -m indexes build belgium to …"); prose ends it.
_COMMAND = re.compile(
    r"(?:python3? -m [\w.]+|pip install|git checkout)(?: +(?!(?:to|or|and|then|for|if)\b)[\w./\\:=@+~'\"-]+)*"
)
_LIST = "python -m indexes list"  # what to type when the error names no command
_TYPE = N_("Whoever runs this page can type:")
_SAID: tuple[tuple[type[PandectError], str, str], ...] = (
    (
        MissingIndex,
        N_("No law is loaded here yet"),
        N_("The page looked for an index of articles and found none."),
    ),
    (
        DamagedIndex,
        N_("The index is damaged"),
        N_("Its files are not those that were built, so nothing is searched with it."),
    ),
    (
        StaleIndex,
        N_("The index is out of date"),
        N_("It was built for another state of the law or of this program."),
    ),
    (
        PandectError,
        N_("The index cannot be opened"),
        N_("The page found it, and could not read it."),
    ),
)


def draw(error: PandectError, t: Words) -> None:
    """Draw the reason calmly, the command to type, and a way to try again."""
    title, reason = next((title, reason) for kind, title, reason in _SAID if isinstance(error, kind))
    explained = tag("p", t.sentences(t(reason), t(_TYPE)))
    st.html(tag("div", tag("h2", t(title)), explained, class_="pd-box", role="status"))
    st.code(command(str(error)), language=None)
    message = tag("pre", str(error), lang="en")
    st.html(tag("details", tag("summary", t("What the program says")), message, class_="pd-whole"))
    st.button(t("Try again"), key="again")


def command(message: str) -> str:
    """Return the command that an error's text tells to type."""
    found = _COMMAND.search(message)
    return found[0].rstrip(".: ") if found else _LIST
