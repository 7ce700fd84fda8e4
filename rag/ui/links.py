"""Links between the pages: real addresses, which open in the session that is there already."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import quote, unquote, urlencode

import streamlit as st

from rag.ui.html import Html, tag
from rag.ui.i18n import LANGUAGES

MOST = 50  # articles that one address may name; more is no list that a person made
LONGEST = 400  # characters of an id in an address


def address(page: str = "", **parameters: str | None) -> str:
    """Return the address of a view, relative, with the language that the present address asks for.

    Relative addresses hold behind a proxy that serves the pages below a folder, as Streamlit's own do.

    Args:
        page: "" is the page "Ask".
        parameters: those that are empty are left out.
    """
    asked = st.query_params.get("lang")
    given = {key: value for key, value in parameters.items() if value}
    if asked is not None and asked in LANGUAGES:
        given["lang"] = asked
    return f"./{page}" + ("?" + urlencode(given, quote_via=quote, safe=",") if given else "")


def go(label: str, to: str, **attributes: str | None) -> Html:
    """Return a link to another view of the pages; a plain click keeps the session (`rag.ui.browser`)."""
    return tag("a", label, href=to, data_go="", **attributes)


def absolute(relative: str) -> str:
    """Return the whole address of a relative one, as this browser reaches the pages."""
    here = (st.context.url or "").partition("?")[0].partition("#")[0]
    root = here[: here.rfind("/") + 1] if "/" in here.partition("://")[2] else here + "/"
    return root + relative.removeprefix("./")


def listed(ids: Sequence[str]) -> str:
    """Write article ids for an address, commas between them: `named` reads them."""
    return ",".join(i.replace("%", "%25").replace(",", "%2C") for i in ids)


def named(text: str | None) -> tuple[str, ...]:
    """Read article ids of an address, each once and no more than `MOST`; anyone may have typed them."""
    # a comma inside an id is written %2C, and the address escapes that % once more
    parts = (unquote(part.strip()) for part in (text or "")[: MOST * LONGEST].split(","))
    return tuple(dict.fromkeys(part for part in parts if part and len(part) <= LONGEST))[:MOST]
