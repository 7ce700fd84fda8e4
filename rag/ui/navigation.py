"""The pages, "Ask" at the bare address, and the links between them, which stay in the same session."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from urllib.parse import quote, unquote, urlencode

import streamlit as st

from rag.ui import layout
from rag.ui.html import Html, tag
from rag.ui.i18n import LANGUAGES, N_, Interface

ASK = ""
BROWSE = "browse"  # also its address: /browse
COMPARE = "compare"  # this and the next are reached from "About"
QUALITY = "quality"
ABOUT = "about"
SHEET = "sheet"  # reached from the articles that it prints
LAW = "law"  # reached by its address, and there only for whoever runs the site
TITLES = {
    ASK: N_("Ask"),
    BROWSE: N_("Browse the codes"),
    COMPARE: N_("Compare"),
    QUALITY: N_("Quality"),
    ABOUT: N_("About"),
    SHEET: N_("One-page sheet"),
    LAW: N_("The law of this server"),
}


def draw(t: Interface, *, law: bool = False) -> str:
    """Draw the links and return the name of the page that is open; "" is "Ask".

    `law` tells whether the page for operators is there.
    """
    all_of_them = {}
    for name, message in TITLES.items():
        if name == LAW and not law:
            continue
        title = t(message) if name else "Pandect"
        all_of_them[name] = st.Page(_stand_for(name), title=title, url_path=name, default=not name)
    chosen = st.navigation(list(all_of_them.values()), position="hidden")
    if chosen.url_path:  # the title that the whole app was given would hide the page's own
        st.set_page_config(page_title=f"{chosen.title} · Pandect")
    # Streamlit drops the address's parameters when it changes the page: the language goes along.
    query = {"lang": st.query_params["lang"]} if "lang" in st.query_params else None
    with st.container(key="pages", horizontal=True):
        for name, page in all_of_them.items():
            if name in (ASK, BROWSE, ABOUT):
                st.page_link(page, label=t(TITLES[name]), query_params=query)
    layout.content(chosen.url_path)
    return chosen.url_path


def _stand_for(name: str) -> Callable[[], None]:
    """Return what Streamlit names a page by: a function, which `app.py` never has it call."""

    def page() -> None: ...

    page.__name__ = page.__qualname__ = name or "ask"
    return page


MOST = 50  # articles that one address may name; more is no list that a person made
LONGEST = 400  # characters of an id in an address


def address(page: str = "", **parameters: str | None) -> str:
    """Return the address of a view, relative, with the language that the present address asks for.

    Relative addresses hold behind a proxy that serves the pages below a folder, as Streamlit's own do.
    Parameters that are empty are left out.
    """
    locale = st.query_params.get("lang")
    given = {key: value for key, value in parameters.items() if value}
    if locale is not None and locale in LANGUAGES:
        given["lang"] = locale
    return f"./{page}" + ("?" + urlencode(given, quote_via=quote, safe=",") if given else "")


def go(label: str, to: str, **attributes: str | None) -> Html:
    """Return a link to another view of the pages; a plain click keeps the session (`rag.ui.layout`)."""
    return tag("a", label, href=to, data_go="", **attributes)


def absolute(relative: str) -> str:
    """Return the whole address of a relative one, as this browser reaches the pages."""
    here = (st.context.url or "").partition("?")[0].partition("#")[0]
    root = here[: here.rfind("/") + 1] if "/" in here.partition("://")[2] else here + "/"
    return root + relative.removeprefix("./")


def listed(ids: Sequence[str]) -> str:
    """Write article ids for an address, commas between them: `parse_article_ids` reads them."""
    return ",".join(i.replace("%", "%25").replace(",", "%2C") for i in ids)


def parse_article_ids(text: str | None) -> tuple[str, ...]:
    """Parse article ids of an address, each once and `MOST` at most; the input is untrusted."""
    # a comma inside an id is written %2C, and the address escapes that % once more
    parts = (unquote(part.strip()) for part in (text or "")[: MOST * LONGEST].split(","))
    return tuple(dict.fromkeys(part for part in parts if part and len(part) <= LONGEST))[:MOST]
