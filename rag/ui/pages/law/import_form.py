"""Law that is to be brought in: where it is, what it is, and which column of it is what."""

from __future__ import annotations

from datetime import date

import streamlit as st

from rag.errors import PandectError
from rag.library import ImportRequest, OperatorLibrary
from rag.ui.html import tag
from rag.ui.i18n import CONVENTIONS, LANGUAGES, Interface
from rag.ui.pages.law.jobs import FORM, attempt, button, draw_beside_form

ASKED = ("id", "code", "article_no", "headings", "text", "url", "valid_from", "valid_to")  # others: --column


def draw(library: OperatorLibrary, t: Interface, *, running: bool) -> None:
    """Draw the form; what it begins reads the law and shows ten articles, before anything is written."""
    st.html(tag("h3", t("Bring law in"), class_="pd-law-part", id=FORM))
    place = st.text_input(
        t(
            "A file or folder of this server, an address, or of the hub a set (bsard) or a file ({file})",
            file="hf://datasets/…",
        ),
        key="law-path", placeholder="/srv/law.csv",
    )  # fmt: skip
    sent = st.file_uploader(t("Or a small file of yours, 1 MB at most"), key="law-upload")
    sha256 = ""
    if place.startswith(("http://", "https://")):
        sha256 = st.text_input(t("SHA-256 of the file at this address"), key="law-sha256").strip()
    name = st.text_input(t("Short name: small letters, digits, hyphens"), key="law-name")
    title = st.text_input(t("Title, as readers see it"), key="law-title")
    language = st.selectbox(
        t("Language of the law"), list(LANGUAGES), format_func=lambda code: LANGUAGES[code], index=None,
        placeholder="", key="law-language",
    )  # fmt: skip
    day = st.date_input(t("Law as of"), value=None, format=CONVENTIONS[t.language].entry, key="law-date",
                        min_value=date(1500, 1, 1))  # fmt: skip
    licence = st.text_input(t("Licence"), key="law-licence")
    try:
        path = library.upload(sent.name, sent.getvalue()) if sent is not None else place.strip()
        columns = _columns(library, path, sha256, t)
    except (PandectError, OSError) as error:
        st.html(tag("p", str(error), class_="pd-notice", role="alert", lang="en"))
        return
    replace = st.checkbox(t("Take the place of the law of this name"), key="law-replace")
    card = {
        "title": title,
        "language": language or "",
        "licence": licence,
        "law-date": day.isoformat() if day else "",
    }
    request = ImportRequest(path, name.strip(), sha256, columns, card, replace)
    given = library.preview, request
    button(t("Look at it first"), "preview", attempt, *given, type="primary", disabled=running)
    draw_beside_form(library, t)


def _columns(library: OperatorLibrary, path: str, sha256: str, t: Interface) -> dict[str, str]:
    """Draw which column fills which field, where a table names its columns; return those that were chosen.

    Those of a table at an address or on the hub are known once a look at it has fetched it.
    """
    found = library.columns(path, sha256) if path else ()
    if not found or {"id", "code", "text"} <= set(found):  # they are called as they must be
        return {}
    st.html(
        tag("p", t("Which column is what? Those of the same name are taken as they are."), class_="pd-hint")
    )
    chosen: dict[str, str] = {}
    with st.container(key="law-columns", horizontal=True):
        for field in ASKED:
            at = found.index(field) if field in found else None
            column = st.selectbox(field, found, index=at, placeholder="", key=f"law-column-{field}")
            if column is not None and column != field:
                chosen[field] = column
    return chosen
