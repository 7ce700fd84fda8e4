"""Which address a person has, and what one address may do."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from streamlit.testing.v1 import AppTest
from streamlit.web.server.starlette import starlette_server

from rag.errors import BadInput, BadSetting
from rag.feedback import Feedback
from rag.ui import visits
from rag.ui.i18n import words
from rag.visits import from_environment
from tests.paths import ROOT

T = words("en")
APP = str(ROOT / "app.py")


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
        ("X-Forwarded-For", Context("192.0.2.7", x_forwarded_for=["forged"]), "192.0.2.7"),
        ("X-Forwarded-For", Context("unix", x_forwarded_for=["198.51.100.1"]), "unix"),
        ("X-Forwarded-For", Context(None, x_forwarded_for=["198.51.100.1"]), "198.51.100.1"),
        ("X-Forwarded-For", Context("::ffff:10.0.0.1", x_forwarded_for=["198.51.100.1"]), "198.51.100.1"),
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
    monkeypatch.setenv("PANDECT_PROXIES", "10.0.0.0/24, 2001:db8::1")
    monkeypatch.setattr("rag.ui.visits.st.context", context)

    assert visits.address() == found


def test_no_proxy_is_trusted_unless_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PANDECT_ADDRESS_HEADER", "X-Forwarded-For")
    monkeypatch.setattr("rag.ui.visits.st.context", Context("10.0.0.1", x_forwarded_for=["198.51.100.1"]))
    assert visits.address() == "10.0.0.1"
    with pytest.raises(BadSetting, match=r"PANDECT_PROXIES: got 'proxy'; expected addresses or networks"):
        from_environment({"PANDECT_PROXIES": "proxy"})


def test_the_server_itself_believes_this_machine_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """docs/host.md says so of what Streamlit serves with."""
    monkeypatch.delenv("FORWARDED_ALLOW_IPS", raising=False)
    assert not {"proxy_headers", "forwarded_allow_ips"} & set(starlette_server._get_uvicorn_config_kwargs())
    config = uvicorn.Config(APP)
    assert (config.proxy_headers, config.forwarded_allow_ips) == (True, "127.0.0.1,::1")


@pytest.mark.parametrize(
    ("setting", "value", "expected"),
    [
        ("PANDECT_SEARCHES_PER_ADDRESS", "many", "a rate such as 20/hour"),
        ("PANDECT_FEEDBACK_PER_ADDRESS", "5/year", "a rate such as 20/hour"),
        ("PANDECT_MESSAGES_PER_ADDRESS", "5/year", "a rate such as 20/hour"),
        ("PANDECT_FEEDBACK_DAYS", "0", "a whole number of days"),
        ("PANDECT_MODEL_PER_ADDRESS", "x", "a rate such as 20/hour"),
        ("PANDECT_PROXIES", "x", "addresses or networks"),
    ],
)
def test_a_bad_setting_is_told_at_the_start_by_the_page_and_by_health(
    setting: str, value: str, expected: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Before, the page said that the index cannot be opened, and /health that all is well."""
    monkeypatch.setenv("PANDECT_FEEDBACK", "feedback.db")
    monkeypatch.setenv("PANDECT_MODEL", "ollama:llama")
    monkeypatch.setenv(setting, value)
    monkeypatch.setitem(sys.modules, "app", None)
    del sys.modules["app"]
    app = importlib.import_module("app")
    assert setting in caplog.text
    assert expected in caplog.text
    assert not app._healthy()
    if setting != "PANDECT_MODEL_PER_ADDRESS":  # without the model the page goes on, and says why
        page = AppTest.from_file(APP, default_timeout=60).run()
        said = "".join(block.body for block in page.html)
        assert f"{setting}" in said
        assert "cannot be opened" not in said
        assert "A setting of this page is wrong" in said


def test_a_setting_that_cannot_be_used_is_said() -> None:
    with pytest.raises(BadInput, match=r"PANDECT_SEARCHES_PER_ADDRESS: got 'many'; expected a rate such as"):
        from_environment({"PANDECT_SEARCHES_PER_ADDRESS": "many"})


def searching() -> None:
    import streamlit as st

    from rag.ui.i18n import words
    from rag.ui.search import may_search

    st.text("searched" if may_search(words("en")) else "refused")


@pytest.mark.slow
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


@pytest.mark.slow
def test_feedback_of_one_address_ends(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PANDECT_FEEDBACK_PER_ADDRESS", "3/hour")
    monkeypatch.setattr("rag.ui.visits.address", lambda: "192.0.2.7")
    said: list[Any] = [
        AppTest.from_function(saying, args=(str(tmp_path / "f.db"),), default_timeout=30).run().text[0].value
        for _ in range(5)
    ]

    shared = "From this connection, which others may share, enough was sent for now. You may try again later."
    assert said == ["Thank you. It is kept."] * 3 + [shared] * 2
    assert len(list(Feedback(tmp_path / "f.db").words())) == 3
    assert {word.day for word in Feedback(tmp_path / "f.db").words()} == {date.today()}


def test_feedback_of_one_reader_ends_by_another_word(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("rag.ui.components.feedback.MOST", 0)
    app = AppTest.from_function(saying, args=(str(tmp_path / "f.db"),), default_timeout=30).run()
    assert app.text[0].value == "Thank you, that is enough from one reader."
