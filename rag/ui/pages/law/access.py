"""Who runs the site: whoever knows its password, or whom the host's own proxy names."""

from __future__ import annotations

import hashlib
import hmac
import os

import streamlit as st

from rag.errors import BadSetting
from rag.ui import visits
from rag.ui.components.entries import heading
from rag.ui.html import tag
from rag.ui.i18n import Interface

PASSWORD = "PANDECT_OPERATOR_PASSWORD"  # noqa: S105 - the name of a setting
HEADER = "PANDECT_OPERATOR_HEADER"
LEAST = 12  # characters: ten attempts an hour do not find one of them
_KNOWN = "operator"  # in the session: the hash of the password that was right
_TYPED = "operator_password"


def password() -> str:
    """Return the password that the host has set, "" where it has none; BadSetting: it is too short."""
    found = os.environ.get(PASSWORD, "")
    if found and len(found) < LEAST:
        raise BadSetting(f"{PASSWORD}: {len(found)} characters came; give {LEAST} or more")
    return found


def is_offered() -> bool:
    """Tell whether the page is there for this person; of a password that is too short it is not."""
    try:
        return bool(password()) or _named()
    except BadSetting:  # the log has told it, and /health is not well
        return False


def _named() -> bool:
    return bool((visits.proxied(os.environ.get(HEADER, "").strip()) or "").strip())


def _hash(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "replace")).digest()


def admitted(t: Interface) -> bool:
    """Tell whether this person may see the page; draw the form that asks for the password where not."""
    wanted = password()
    known = st.session_state.get(_KNOWN)
    if _named() or (wanted and known is not None and hmac.compare_digest(known, _hash(wanted))):
        return True
    said = _try(wanted, t) if wanted and st.session_state.get(_TYPED) else ""
    st.html(tag("div", heading(t("For whoever runs this site"), "law"), class_="pd-found"))
    with st.form("operator", clear_on_submit=True, border=False):
        st.text_input(t("Password"), type="password", key=_TYPED, max_chars=1000)
        st.form_submit_button(t("Log in"))
    if said:
        st.html(tag("p", said, class_="pd-notice", role="alert"))
    return False


def _try(wanted: str, t: Interface) -> str:
    """Compare what was typed; return what is wrong."""
    wait = visits.visits().passwords.take(address=visits.address() or "this machine")
    if wait > 0:
        minutes = t.n("one minute", "{count} minutes", int(wait // 60) + 1)
        return t("Too many attempts. Try again in {time}.", time=minutes)
    if hmac.compare_digest(_hash(st.session_state[_TYPED]), _hash(wanted)):
        st.session_state[_KNOWN] = _hash(wanted)
        st.rerun()
    return t("That is not the password.")


def draw_way_out(t: Interface) -> None:
    """Draw the button that ends what a password began."""
    if st.session_state.get(_KNOWN) is not None and st.button(t("Log out"), key="operator-out"):
        del st.session_state[_KNOWN]
        st.rerun()
