"""The limits by address of the pages' process, and the address of a session."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

import streamlit as st

from rag.visits import HEADER, Visits, from_environment


@st.cache_resource(show_spinner=False)
def visits() -> Visits:
    """Return the limits that every session shares."""
    return from_environment(os.environ)


def address() -> str | None:
    """Return where the person of this session asks from; None where that cannot be told: on this machine."""
    return visitor(st.context.ip_address, lambda header: st.context.headers.get_all(header))


def proxied(header: str) -> str | None:
    """Return what this machine or a proxy of the host sends in a header; None of whoever else sends it."""
    if not header:
        return None
    return visits().proxied(st.context.ip_address, st.context.headers.get_all(header))


def visitor(peer: str | None, headers: Callable[[str], Sequence[str]]) -> str | None:
    """Return whose connection it is, by its other end and its headers, see `Visits.address`."""
    header = os.environ.get(HEADER, "").strip()
    return visits().address(peer, headers(header) if header else ())
