"""Which address a person has, and what one address may do."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from rag.errors import BadInput
from rag.feedback import Feedback
from rag.ui import visits
from rag.ui.i18n import words

T = words("en")


class Context:
    """What Streamlit tells of a connection."""

    def __init__(self, ip_address: str | None, **headers: list[str]) -> None:
        self.ip_address, self.headers = ip_address, self
        self._sent = {name.replace("_", "-"): values for name, values in headers.items()}

    def get_all(self, name: str) -> list[str]:
        return self._sent.get(name.lower(), [])


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    visits.visits.clear()
    yield
    visits.visits.clear()


@pytest.mark.parametrize(
    ("header", "context", "found"),
    [
        ("", Context(None), None),
        ("", Context("192.0.2.7", x_forwarded_for=["198.51.100.1"]), "192.0.2.7"),  # anybody may send one
        ("X-Forwarded-For", Context("10.0.0.1", x_forwarded_for=["forged, 198.51.100.1"]), "198.51.100.1"),
        ("X-Forwarded-For", Context("10.0.0.1", x_forwarded_for=["forged", "198.51.100.2"]), "198.51.100.2"),
        ("X-Forwarded-For", Context("10.0.0.1"), "10.0.0.1"),  # who came round the proxy
        ("X-Forwarded-For", Context("10.0.0.1", x_forwarded_for=["198.51.100.2:4711"]), "198.51.100.2"),
        ("Forwarded-By", Context("10.0.0.1", forwarded_by=["[2001:db8:1:2::9]:4711"]), "2001:db8:1:2::/64"),
        ("", Context("2001:db8:1:2:aaaa::1"), "2001:db8:1:2::/64"),
        ("", Context("::ffff:192.0.2.7"), "192.0.2.7"),
    ],
)
def test_the_address_is_what_the_host_s_own_proxy_saw(
    header: str, context: Context, found: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PANDECT_ADDRESS_HEADER", header)
    monkeypatch.setattr("rag.ui.visits.st.context", context)

    assert visits.address() == found


def test_a_setting_that_cannot_be_used_is_said() -> None:
    with pytest.raises(BadInput, match=r"PANDECT_SEARCHES_PER_ADDRESS: got 'many'; expected a rate such as"):
        visits.from_environment({"PANDECT_SEARCHES_PER_ADDRESS": "many"})


def searching() -> None:
    import streamlit as st

    from rag.ui.i18n import words
    from rag.ui.search import may_search

    st.text("searched" if may_search(words("en")) else "refused")


def test_searches_of_one_address_end_and_those_of_others_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PANDECT_SEARCHES_PER_ADDRESS", "2/hour")
    found = []
    for address in ("192.0.2.7", "192.0.2.7", "192.0.2.7", "192.0.2.8"):
        monkeypatch.setattr("rag.ui.visits.address", lambda address=address: address)
        app = AppTest.from_function(searching, default_timeout=30).run()  # each a session of its own
        assert not app.exception
        found.append(app.text[0].value)
        said = app.html

    assert found == ["searched", "searched", "refused", "searched"]
    assert not said


def test_a_refused_search_says_how_long_to_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PANDECT_SEARCHES_PER_ADDRESS", "1/hour")
    monkeypatch.setattr("rag.ui.visits.address", lambda: "192.0.2.7")
    visits.visits().searches.take(address="192.0.2.7")
    app = AppTest.from_function(searching, default_timeout=30).run()

    # the first run of a page may take seconds of the hour
    assert re.search(r"Try again in 3,(600|5\d\d) seconds\.", app.html[0].body)


def saying(path: str) -> None:
    from pathlib import Path

    from rag.feedback import Feedback, FeedbackReason
    from rag.ui.components import feedback
    from rag.ui.i18n import words
    from tests.fakes.pages.ui_engine import CARD

    about = feedback.About("?", (), "law", "1", CARD, answered=False)
    import datetime

    word = feedback.FeedbackEntry(
        datetime.date.today(), about.index, about.version, (), FeedbackReason.NOT_THE_LAW
    )
    import streamlit as st

    st.text(feedback._thanks(Feedback(Path(path)), word, words("en")))


def test_feedback_of_one_address_ends(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PANDECT_FEEDBACK_PER_ADDRESS", "3/hour")
    monkeypatch.setattr("rag.ui.visits.address", lambda: "192.0.2.7")
    said: list[Any] = [
        AppTest.from_function(saying, args=(str(tmp_path / "f.db"),), default_timeout=30).run().text[0].value
        for _ in range(5)
    ]

    assert said == ["Thank you. It is kept."] * 3 + ["Thank you, that is enough from one reader."] * 2
    assert len(list(Feedback(tmp_path / "f.db").words())) == 3
    assert {word.day for word in Feedback(tmp_path / "f.db").words()} == {date.today()}
