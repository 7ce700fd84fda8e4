"""The limits by address of the pages' process, and the address of a session."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

import streamlit as st

from rag.visits import HEADER, THIS_MACHINE, Visits, from_environment

BELIEVED = "FORWARDED_ALLOW_IPS"  # of uvicorn: from where it reads X-Forwarded-For; "none" is no address


@st.cache_resource(show_spinner=False)
def visits() -> Visits:
    """Return the limits that every session shares."""
    return from_environment(os.environ)


def address() -> str | None:
    """Return where the person of this session asks from; None where that cannot be told: on this machine."""
    return visitor(st.context.ip_address, lambda header: st.context.headers.get_all(header))


def proxied(header: str) -> str | None:
    """Return what this machine or a proxy of the host sends in a header; None of whoever else sends it.

    None too where the other end of the connection may be another than is told: of a proxy that it believes,
    Streamlit's server (uvicorn) tells an address of X-Forwarded-For instead, unless FORWARDED_ALLOW_IPS=none.
    """
    peer, headers = st.context.ip_address, st.context.headers
    if not header:
        return None
    if os.environ.get(BELIEVED) != "none" and _named(peer, headers.get_all("X-Forwarded-For")):
        return None
    return visits().proxied(peer, headers.get_all(header))


def _named(peer: str | None, forwarded: Sequence[str]) -> bool:
    """Tell whether X-Forwarded-For names this peer, with or without a port; None is this machine."""
    named = [each.strip() for value in forwarded for each in value.split(",")]
    peers = THIS_MACHINE if peer is None else (peer,)
    return any(each == host or each.startswith((f"{host}:", f"[{host}]")) for each in named for host in peers)


def visitor(peer: str | None, headers: Callable[[str], Sequence[str]]) -> str | None:
    """Return whose connection it is, by its other end and its headers, see `Visits.address`."""
    header = os.environ.get(HEADER, "").strip()
    return visits().address(peer, headers(header) if header else ())
