from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from rag.errors import BadSetting
from rag.library import Command, ImportRequest
from rag.ui import visits
from rag.ui.i18n import LANGUAGES, words
from rag.ui.pages.law import access
from rag.visits import PASSWORDS
from tests.fakes.pages.any_page_driver import SCRIPT
from tests.fakes.pages.ask_page_driver import body, checked, press
from tests.fakes.pages.browser import served
from tests.fakes.pages.law_library import JOBS, PASSWORD, SAID, FakeLibrary
from tests.paths import ROOT
from tests.rag.ui.test_visits import Context
from training.pages.visitor import LARGEST, Visitor

CARD = {"title": "", "language": "", "licence": "", "law-date": ""}


@pytest.fixture(autouse=True)
def operated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(access.PASSWORD, PASSWORD)
    visits.visits.clear()


def open_law(library: FakeLibrary, *, known: bool = True, **query: str) -> AppTest:
    app = AppTest.from_file(SCRIPT, default_timeout=30)
    app.session_state["page"] = "law"
    app.session_state["library"] = library
    if known:
        app.session_state["operator"] = access._hash(PASSWORD)
    app.context["locale"] = "en-GB"
    app.query_params.update(query)
    return checked(app.run())


def log_in(app: AppTest, typed: str) -> AppTest:
    app.text_input(key="operator_password").set_value(typed)
    return checked(app.button[0].click().run())


def alert(app: AppTest) -> str:
    [said] = [p for p in body(app).all("p") if p.attributes.get("role") == "alert"]
    return said.text


def test_nobody_sees_the_page_without_the_password() -> None:
    app = open_law(FakeLibrary(), known=False)
    assert "Le droit" not in body(app).text
    assert not app.selectbox

    assert alert(log_in(app, "another password")) == "That is not the password."
    assert "Le <b>droit</b> de la mare" in body(log_in(app, PASSWORD)).text
    assert "Le droit" not in body(press(app, "operator-out")).text


def test_wrong_passwords_end_for_an_address_and_not_for_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(visits, "address", lambda: "192.0.2.7")
    app = open_law(FakeLibrary(), known=False)
    for _ in range(PASSWORDS.calls):
        assert alert(log_in(app, "another password")) == "That is not the password."
    assert alert(log_in(app, PASSWORD)).startswith("Too many attempts. Try again in 60 min")
    monkeypatch.setattr(visits, "address", lambda: None)  # this machine has a count of its own
    assert "Le <b>droit</b> de la mare" in body(log_in(app, PASSWORD)).text


@pytest.mark.slow
def test_a_password_that_was_changed_lets_nobody_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    app = open_law(FakeLibrary())
    monkeypatch.setenv(access.PASSWORD, "another password")
    assert "Le droit" not in body(checked(app.run())).text


@pytest.mark.parametrize(
    ("peer", "sent", "offered"),
    [
        (None, ["anne"], True),
        ("10.0.0.1", ["anne"], True),
        ("10.0.0.1", [" "], False),
        ("10.0.0.1", [], False),
        ("192.0.2.7", ["anne"], False),  # anybody may send one
    ],
)
@pytest.mark.parametrize("forwarded", [[], ["192.0.2.7, 10.0.0.11"]])
def test_a_header_is_believed_of_proxies_alone(
    peer: str | None, sent: list[str], offered: bool, forwarded: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(access.PASSWORD)
    monkeypatch.setenv(access.HEADER, "X-Operator")
    monkeypatch.setenv("PANDECT_PROXIES", "10.0.0.0/24")
    monkeypatch.setattr("rag.ui.visits.st.context", Context(peer, x_operator=sent, x_forwarded_for=forwarded))
    assert access.is_offered() is offered
    monkeypatch.delenv(access.HEADER)
    assert not access.is_offered()


@pytest.mark.parametrize(
    ("peer", "forwarded"),
    [
        ("10.0.0.1", "10.0.0.1"),  # a visitor within PANDECT_PROXIES, whom the server takes for its peer
        ("10.0.0.1", "192.0.2.7, 10.0.0.1:+80"),
        ("2001:db8::1", "[2001:db8::1]:80, 127.0.0.1"),
        (None, "127.0.0.1"),  # forged, where FORWARDED_ALLOW_IPS names visitors
        (None, "[::1]:80"),
    ],
)
def test_a_header_is_not_believed_of_a_peer_that_may_be_another(
    peer: str | None, forwarded: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(access.PASSWORD)
    monkeypatch.setenv(access.HEADER, "X-Operator")
    monkeypatch.setenv("PANDECT_PROXIES", "10.0.0.0/24, 2001:db8::1")
    context = Context(peer, x_operator=["anne"], x_forwarded_for=[forwarded])
    monkeypatch.setattr("rag.ui.visits.st.context", context)
    monkeypatch.delenv(visits.BELIEVED, raising=False)
    assert not access.is_offered()
    monkeypatch.setenv(visits.BELIEVED, "none")  # then the peer is the peer
    assert access.is_offered()


def test_a_short_password_offers_nothing_and_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(access.PASSWORD, "short")
    assert not access.is_offered()
    with pytest.raises(BadSetting, match="PANDECT_OPERATOR_PASSWORD: 5 characters came; give 12 or more"):
        access.password()


def test_what_is_installed_is_told_as_text() -> None:
    said = body(open_law(FakeLibrary()))

    assert [h.text.strip() for h in said.all("h4")][:4] == [
        "Le droit de tous", "Le <b>droit</b> de la mare This page opens it", "Le droit neuf", "usagé",
    ]  # fmt: skip
    assert (
        "from 1 January 2025 to 1 January 2026" in said.text
        or "1 January 2025 to 1 January 2026" in said.text
    )
    assert "12.3 MB" in said.text
    assert "not built" in said.text
    assert "manifest.json is missing" in said.text
    audited = [row.text for row in said.all("tr")][:8]
    assert audited[:2] == [
        "Articles without text12, under 1% (m-7, m-9)",
        "Articles whose text cannot be searched1, under 1% (m-3) look at it",
    ]
    assert audited[-4:] == [
        "Questions without a word of what answers them12%",
        "Questions that are expected to find an answer among ten articles56% to 82%",
        "Answering articles that are expected among the first ten45% to 77%",
        "“Probably no article answers”It is said. Held-back questions: 200; calibration error: 5%",
    ]
    assert "What an audit found (2 things to look at)" in said.text
    assert [row.text for row in said.all("tr")][8:10] == [
        "202611022,889 articles3 changed",
        "202611012,880 articlesin use",
    ]


@pytest.mark.slow
@pytest.mark.parametrize("language", LANGUAGES)
def test_it_is_drawn_in_every_language(language: str) -> None:
    app = open_law(FakeLibrary(JOBS["running"]), lang=language)
    assert not re.search(r"{\w+}", body(app).text)
    assert words(language)("Bring law in") in body(app).text


@pytest.mark.slow
def test_each_button_begins_its_command() -> None:
    library = FakeLibrary()
    app = open_law(library)
    assert not [b.key for b in app.button if b.key and b.key.endswith("-of-builtin") and "check" not in b.key]
    assert "Another can be opened below" in body(app).text
    assert not [b.key for b in app.button if b.key in ("law-open-mare", "law-open-neuf", "law-open-usagé")]
    for key in (
        "open-builtin", "check-of-builtin", "build-of-neuf", "audit-of-mare", "rollback-of-mare"
    ):  # fmt: skip
        press(app, f"law-{key}")

    assert library.done == [
        ("open", "builtin"),
        (Command.CHECK, "builtin", ""),
        (Command.BUILD, "neuf", ""),
        (Command.AUDIT, "mare", ""),
        (Command.ROLL_BACK, "mare", "20261102"),
    ]


@pytest.mark.slow
def test_the_open_law_is_removed_only_where_no_other_can_be_opened() -> None:
    app = open_law(FakeLibrary())
    assert "law-removing-of-mare" not in [b.key for b in app.button]
    assert "open another law first" in body(app).text
    assert "law-removing-of-neuf" in [b.key for b in app.button]


@pytest.mark.slow
def test_removing_is_asked_twice() -> None:
    library = FakeLibrary(kept=False)
    app = press(open_law(library), "law-removing-of-mare")
    assert "until the server is started again" in body(app).text
    press(app, "law-keep")
    assert library.done == []
    press(press(app, "law-removing-of-mare"), "law-remove")
    assert library.done == [(Command.REMOVE, "mare", "")]


def test_law_is_looked_at_with_its_columns_before_it_is_imported() -> None:
    library = FakeLibrary()
    app = open_law(library)
    assert not [box for box in app.selectbox if (box.key or "").startswith("law-column")]
    app.text_input(key="law-path").set_value("/srv/law.csv")
    assert "'' cannot name a corpus" in body(press(checked(app.run()), "law-preview")).text
    for key, value in (("name", "mare"), ("title", "La mare"), ("licence", "CC0-1.0")):
        app.text_input(key=f"law-{key}").set_value(value)
    app.selectbox(key="law-language").set_value("fr")
    app.selectbox(key="law-column-id").set_value("nr")
    app.selectbox(key="law-column-code").set_value("loi")
    press(app, "law-preview")

    card = {"title": "La mare", "language": "fr", "licence": "CC0-1.0", "law-date": ""}
    assert library.done == [
        (ImportRequest("/srv/law.csv", "mare", "", {"id": "nr", "code": "loi"}, card, False),)
    ]
    library.now = JOBS["previewed"]
    app = checked(app.run())
    assert "La pêche est <b>permise</b>." in body(app).text
    press(app, "law-install")
    assert library.done[1:] == [("install",)]


@pytest.mark.parametrize(
    ("path", "sha256"), [("https://law.example.org/law.csv", "ab" * 32), ("hf://datasets/us/law/law.csv", "")]
)
def test_the_columns_of_a_fetched_table_are_chosen_after_the_look_at_it(path: str, sha256: str) -> None:
    library = FakeLibrary()
    app = open_law(library)
    app.text_input(key="law-path").set_value(path)
    app.text_input(key="law-name").set_value("mare")
    checked(app.run())
    if sha256:
        app.text_input(key="law-sha256").set_value(f" {sha256} ")
    press(app, "law-preview")
    assert library.done == [(ImportRequest(path, "mare", sha256, {}, CARD, False),)]
    assert "law-column-id" not in {box.key for box in app.selectbox}

    library.now = JOBS["unmapped"]
    said = body(checked(app.run()))
    assert "It cannot be read so; the last lines say why." in said.text
    assert "#bring-law-in" in {a.attributes.get("href") for a in said.all("a")}
    assert "bring-law-in" in {h.attributes.get("id") for h in said.all("h3")}
    app.selectbox(key="law-column-id").set_value("nr")
    app.selectbox(key="law-column-code").set_value("loi")
    press(app, "law-preview")
    chosen = {"id": "nr", "code": "loi"}
    assert library.done[1:] == [(ImportRequest(path, "mare", sha256, chosen, CARD, False),)]
    app.text_input(key="law-path").set_value("/srv/law")  # no table: what was chosen goes with it
    press(checked(app.run()), "law-preview")
    assert library.done[2:] == [(ImportRequest("/srv/law", "mare", "", {}, CARD, False),)]


@pytest.mark.slow
def test_while_a_job_runs_it_can_be_stopped_and_nothing_else_begun() -> None:
    library = FakeLibrary(JOBS["running"])
    app = open_law(library)
    begins = [b for b in app.button if b.key not in ("law-stop", "operator-out", "law-look")]
    assert begins
    assert all(b.disabled for b in begins)
    assert "It was stopped." in body(press(app, "law-stop")).text
    library.now = JOBS["failed"]
    assert "error: law.csv:3: no text" in body(checked(app.run())).text


@pytest.mark.slow
def test_what_was_said_is_counted_and_each_question_is_looked_at() -> None:
    library = FakeLibrary()
    app = open_law(library)
    assert "It answers my question3It is the wrong article1" in body(app).text
    app = press(app, "law-look")  # at those of the law that the page opens
    assert "Puis-je pêcher ?" in body(app).text
    app = press(press(app, "law-accept"), "law-refuse")
    assert "No question waits for a look." in body(app).text
    assert [b.proto.label for b in app.get("download_button")] == ["Save one annotated question"]
    press(app, "law-gain")
    assert library.done == [(Command.GAIN, "mare", SAID[:1])]
    library.now = JOBS["gained"]
    assert "+0.044 [+0.018, +0.074]" in body(checked(app.run())).text


@pytest.mark.parametrize("offered", [True, False])
def test_the_address_is_there_only_with_a_setting(
    offered: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    addresses: list[str] = []
    navigation = st.navigation

    def listed(pages: list[st.Page], **given: Any) -> object:
        addresses.extend(page.url_path for page in pages)
        return navigation(pages, **given)

    monkeypatch.setattr(st, "navigation", listed)
    monkeypatch.setenv("PANDECT_HOME", str(tmp_path))
    monkeypatch.setenv("PANDECT_INDEX", "nothing-here")
    if not offered:
        monkeypatch.delenv(access.PASSWORD)
    checked(AppTest.from_file(ROOT / "app.py", default_timeout=60).run())
    assert ("law" in addresses) is offered
    assert "browse" in addresses


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sent", "settings", "there"),
    [
        ({"X-Operator": "anne"}, {}, True),
        ({}, {"FORWARDED_ALLOW_IPS": "none"}, False),
        ({"X-Operator": "anne", "X-Forwarded-For": "198.51.100.7"}, {"FORWARDED_ALLOW_IPS": "none"}, True),
        ({"X-Operator": "anne", "X-Forwarded-For": "198.51.100.7"}, {}, False),
        (
            {"X-Operator": "anne", "X-Forwarded-For": "198.51.100.7"},
            {"PANDECT_PROXIES": "198.51.100.0/24"},
            False,
        ),
    ],
)
def test_a_proxy_on_this_machine_lets_its_operators_in(
    sent: dict[str, str], settings: dict[str, str], there: bool, tmp_path: Path
) -> None:
    client = pytest.importorskip("websockets.asyncio.client")

    async def keys(port: str) -> set[str]:
        address = f"ws://127.0.0.1:{port}/_stcore/stream"
        given = {"subprotocols": ["streamlit"], "max_size": LARGEST, "compression": None}
        async with client.connect(address, additional_headers=sent, **given) as socket:
            visitor = Visitor(socket)
            await visitor.go("law")
            return set(visitor._widgets)

    with served(ROOT / "app.py", tmp_path, PANDECT_OPERATOR_HEADER="X-Operator", **settings) as server:
        found = asyncio.run(keys(server.url.rpartition(":")[2]))
    assert ("law-path" in found) is there
    assert ("question" in found) is not there  # like any address that is not there
