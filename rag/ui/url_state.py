"""What was chosen on a page stands in its address, so that reload and "back" keep it; a question does not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date

import streamlit as st

_ADDRESS = "address_of"  # in the session: key -> what the address said of it when it was last read or written
_ANY_DAY = "any"


def follow(key: str, read: Callable[[Sequence[str]], object], default: object) -> None:
    """Take a widget's value from the address where that has changed; call it before the widget is drawn.

    `read` makes the value of what the address says, which anyone may have typed; a ValueError where that is
    of no use. Why the default is set here, and not by the widget: a value that is only forgotten comes back
    from the browser.
    """
    values = tuple(st.query_params.get_all(key))
    known: dict[str, tuple[str, ...]] = st.session_state.setdefault(_ADDRESS, {})
    if values == known.get(key, ()) and key in st.session_state:
        # Streamlit tells the browser of a value only in the run that set it. A box whose code comes over a
        # slow line after that run would start empty, and send that as a choice.
        st.session_state[key] = st.session_state[key]
        return
    if not values and key not in st.session_state and known.get(key):
        values = known[key]  # another page was looked at, and Streamlit forgets the boxes of one that is left
        st.query_params[key] = list(values)
    known[key] = values
    try:
        st.session_state[key] = read(values) if values else default
    except ValueError:
        st.session_state[key] = default


def set_parameter(key: str, written: Sequence[str]) -> None:
    """Write a choice into the address, as a step of "back"; an empty one removes the parameter."""
    known: dict[str, tuple[str, ...]] = st.session_state.setdefault(_ADDRESS, {})
    known[key] = tuple(written)
    if st.query_params.get_all(key) == list(written):
        return
    if written:
        st.query_params[key] = list(written)
    else:
        del st.query_params[key]


def restore_parameters() -> None:
    """Restore the parameters that a link to the same page left out."""
    known: dict[str, tuple[str, ...]] = st.session_state.get(_ADDRESS, {})
    for key, written in known.items():
        if written and key not in st.query_params:
            st.query_params[key] = list(written)


def single_value(allowed: Sequence[str]) -> Callable[[Sequence[str]], str]:
    """Return a parser of one allowed value."""
    return lambda given: allowed[allowed.index(given[0])]  # the ValueError is index's own


def allowed_values(allowed: Sequence[str]) -> Callable[[Sequence[str]], list[str]]:
    """Return a parser of several values that drops those not allowed."""

    def read(given: Sequence[str]) -> list[str]:
        values = [value for value in dict.fromkeys(given) if value in allowed]
        if not values:
            raise ValueError("no value that is allowed")
        return values

    return read


def read_day(values: Sequence[str]) -> date | None:
    """Read a day, or that any day will do (None)."""
    return None if values[0] == _ANY_DAY else date.fromisoformat(values[0])


def written_day(day: date | None) -> str:
    """Write a day so that `read_day` reads it."""
    return _ANY_DAY if day is None else day.isoformat()
