from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

import indexes
from rag.engine.result import Result
from rag.errors import DamagedIndex, MissingIndex, PandectError, StaleIndex, without_paths
from rag.ui.components import notices as failure
from tests.fakes.pages.ask_page_driver import ask
from tests.fakes.pages.html_reader import read
from tests.fakes.pages.ui_engine import CARD, QUESTION, FakeEngine
from tests.paths import ROOT

APP = ROOT / "app.py"


def failing(name: str, text: str, language: str) -> None:
    from rag import errors
    from rag.ui.components import notices as failure
    from rag.ui.i18n import words

    failure.draw_failure(getattr(errors, name)(text), words(language))


@pytest.mark.parametrize(
    ("error", "language", "title"),
    [
        (MissingIndex, "fr", "Aucun texte de loi n’est encore chargé"),
        (MissingIndex, "en", "No law is loaded here yet"),
        (DamagedIndex, "fr", "L’index est endommagé"),
        (StaleIndex, "fr", "L’index n’est plus à jour"),
        (PandectError, "fr", "L’index ne s’ouvre pas"),
    ],
)
def test_each_failure_is_calm_and_names_the_command(
    error: type[PandectError], language: str, title: str
) -> None:
    text = "<b>belgium</b> is not there: run python -m indexes build belgium"
    app = AppTest.from_function(failing, args=(error.__name__, text, language), default_timeout=30).run()
    said = read("".join(block.body for block in app.html))

    assert not app.exception
    assert said.one("h2").text == title
    assert [block.value for block in app.code] == ["python -m indexes build belgium"]
    assert said.one("pre").text == text  # the text whole, and as text
    assert [button.key for button in app.button] == ["again"]


@pytest.mark.parametrize(
    ("message", "command"),
    [
        ("got x: run python -m indexes build x.", "python -m indexes build x"),
        ("run python -m indexes list to see those there are", "python -m indexes list"),
        (
            "run pip install --force-reinstall pandect (or git checkout y)",
            "pip install --force-reinstall pandect",
        ),
        (
            "run python -m indexes import ~/a/b.csv --name b: then again",
            "python -m indexes import ~/a/b.csv --name b",
        ),
        ("no command here", "python -m indexes list"),
    ],
)
def test_the_command_is_found_in_the_text(message: str, command: str) -> None:
    assert failure.command(message) == command


@pytest.mark.parametrize(
    ("message", "public"),
    [
        ("/srv/pandect/x.json is missing: run y", "…/x.json is missing: run y"),
        ("[Errno 2] No such file: '/srv/law/a b/c'", "[Errno 2] No such file: '…/a b/c'"),
        ("/srv/the law/indexes/x/CURRENT names 'v'", "…/CURRENT names 'v'"),
        ("under ~/.local/share/pandect/indexes (there: builtin)", "under …/indexes (there: builtin)"),
        (
            "see https://law.example.org/a/b, and docs/use.md",
            "see https://law.example.org/a/b, and docs/use.md",
        ),
        ("1/2 of 20/hour", "1/2 of 20/hour"),
    ],
)
def test_of_a_path_the_last_name_is_shown(message: str, public: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PANDECT_HOME", "/srv/the law")
    assert without_paths(message) == public


@pytest.mark.parametrize("where", ["no-such-index", "{tmp}/nowhere"])
def test_the_app_lives_on_when_its_index_is_missing(
    where: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("PANDECT_HOME", str(tmp_path))
    monkeypatch.setenv("PANDECT_INDEX", where.format(tmp=tmp_path))
    app = AppTest.from_file(APP, default_timeout=60)
    app.context["locale"] = "fr-FR"
    app.run()

    assert not app.exception
    html = "".join(block.body for block in app.html if not block.body.startswith(("<style", "<script")))
    said = read(html)
    assert said.one("h1").text == "Pandect"
    assert said.one("h2").text == "Aucun texte de loi n’est encore chargé"
    assert app.code[0].value.startswith("python -m indexes")
    assert str(tmp_path.parent) not in html + app.code[0].value  # who visits learns no path of the server
    assert str(tmp_path) in caplog.text  # who runs it finds it in the log
    assert said.one(class_="pd-notice").text  # once, although it was drawn before the index was looked for
    assert not app.text_area

    app.button(key="again").click().run()
    assert not app.exception


def start(
    monkeypatch: pytest.MonkeyPatch, opener: Callable[[str | None], FakeEngine], name: str, locale: str
) -> AppTest:
    """The app in a new session, its indexes opened by `opener`; a name opened once is kept."""
    monkeypatch.setattr(indexes, "open", opener)
    monkeypatch.setenv("PANDECT_INDEX", name)
    app = AppTest.from_file(APP, default_timeout=60)
    app.context["locale"] = locale
    app.run()
    assert not app.exception
    return app


def motto(app: AppTest) -> str:
    [masthead] = [block.body for block in app.html if block.body.startswith("<header")]
    return read(masthead).one(class_="pd-motto").text


@pytest.mark.slow
@pytest.mark.parametrize(
    ("locale", "corpus", "said"),
    [
        ("fr-CA", "zh", "Interrogez la loi avec vos mots."),
        ("es-ES", "fr", "Interrogez la loi avec vos mots."),
        ("es-ES", "la", "Ask the law in your own words."),
    ],
)
def test_a_browser_of_another_language_gets_that_of_the_corpus(
    locale: str, corpus: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = FakeEngine(card=replace(CARD, language=corpus))

    assert motto(start(monkeypatch, lambda _: engine, f"language-{locale}-{corpus}", locale)) == said


@pytest.mark.slow
def test_sessions_share_one_index_and_a_failure_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    tries: list[str | None] = []

    def mended_later(name: str | None) -> FakeEngine:
        tries.append(name)
        if len(tries) == 1:
            raise DamagedIndex("vectors.npy is not what was built: run python -m indexes build shared")
        return FakeEngine()

    broken = start(monkeypatch, mended_later, "shared", "en-GB")
    assert [block.value for block in broken.code] == ["python -m indexes build shared"]
    broken.button(key="again").click().run()
    assert [area.key for area in broken.text_area] == ["question"]

    start(monkeypatch, mended_later, "shared", "fr-FR")
    assert tries == ["shared", "shared"]  # once in vain, once for both sessions


def test_there_is_something_to_write_in_before_the_law_is_open(monkeypatch: pytest.MonkeyPatch) -> None:
    there: list[bool] = []

    def watched(_: str | None) -> FakeEngine:
        there.append("question" in st.session_state)
        return FakeEngine()

    app = start(monkeypatch, watched, "late", "fr-FR")
    assert there == [True]
    notices = [block for block in app.html if "pd-notice" in block.body and "<style" not in block.body]
    assert len(notices) == 1


def test_what_takes_its_time_says_so_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []

    @contextmanager
    def spinner(text: str, **_: object) -> Iterator[None]:
        said.append(text)
        yield
        said.append("over")

    class Asked(FakeEngine):
        def ask(self, *question: str, **how: Any) -> Result:
            said.append("asked")
            return super().ask(*question, **how)

    def opened(_: str | None) -> FakeEngine:
        said.append("opened")
        return Asked()

    monkeypatch.setattr(st, "spinner", spinner)
    monkeypatch.setattr("rag.ui.engine_cache._warm", lambda _: None)  # asks too, in its own time
    app = start(monkeypatch, opened, "meanwhile", "en-GB")
    assert said == ["Opening the law…", "opened", "over"]
    said.clear()
    ask(app, QUESTION)
    assert said == ["Opening the law…", "over", "Looking through 2,889 articles…", "asked", "over"]


def test_the_app_is_short() -> None:
    assert len(APP.read_text(encoding="utf-8").splitlines()) < 100
