"""How many indexes the page keeps open, and that nothing holds one that it has closed."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

import indexes
from indexes.build.build import BuildSettings, build
from indexes.corpus.corpus import Corpus, write
from indexes.store.versions import new_corpus
from rag.corpus.card import CorpusCard
from rag.engine.engine import Engine
from rag.types import Article
from tests.fakes.pages.ask_page_driver import ask, checked
from tests.paths import ROOT

APP = ROOT / "app.py"
KEPT = 2  # the one in use, and the one before: a switch back is at once
PONDS = ("nord", "sud", "est")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where three small indexes lie."""
    home = tmp_path_factory.mktemp("ponds")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PANDECT_HOME", str(home))
        for name in PONDS:
            articles = (
                Article(f"{name}-1", "Code de la mare", "1", f"La pêche dans la mare du {name} est permise."),
                Article(f"{name}-2", "Code de la mare", "2", "Les canards traversent sans attendre."),
            )
            law = Corpus(CorpusCard(name, f"La mare du {name}", "fr", licence="CC0-1.0"), articles)
            with new_corpus(name, replace=False) as place:
                write(law, place)
            build(law, name, BuildSettings(encoder="none"))
    return home


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch, home: Path) -> list[weakref.ref[Engine]]:
    """The engines that are opened from now on, by whatever page; what was open before is closed."""
    st.cache_resource.clear()
    monkeypatch.setenv("PANDECT_HOME", str(home))
    engines: list[weakref.ref[Engine]] = []
    open_index = indexes.open

    def watched(name: str | None) -> Engine:
        engine = open_index(name)
        engines.append(weakref.ref(engine))
        return engine

    monkeypatch.setattr(indexes, "open", watched)
    return engines


def alive(engines: list[weakref.ref[Engine]]) -> list[bool]:
    gc.unfreeze()  # as `rag.memory` does a little after an index was closed
    gc.collect()
    return [engine() is not None for engine in engines]


@pytest.mark.slow
def test_two_indexes_stay_open_and_the_rest_is_given_back(
    opened: list[weakref.ref[Engine]], monkeypatch: pytest.MonkeyPatch
) -> None:
    app = AppTest.from_file(APP, default_timeout=60)
    app.context["locale"] = "fr-FR"
    for n, name in enumerate(PONDS):
        monkeypatch.setenv("PANDECT_INDEX", name)
        checked(app.run())
        ask(app, "Puis-je pêcher dans la mare ?")
        app.checkbox[0].check().run()  # what is shared is drawn apart, and kept by the session
        assert f"mare du {name}" in " ".join(block.body for block in app.html)
        assert len(opened) == n + 1
    held = alive(opened)
    assert held == [False, True, True]
    assert sum(held) == KEPT


@pytest.mark.slow
def test_a_session_that_looks_away_keeps_no_index_open(
    opened: list[weakref.ref[Engine]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def session(name: str) -> AppTest:
        monkeypatch.setenv("PANDECT_INDEX", name)
        app = AppTest.from_file(APP, default_timeout=60)
        app.context["locale"] = "fr-FR"
        return ask(checked(app.run()), "Puis-je pêcher dans la mare ?")

    idle = session(PONDS[0])  # a page that stays open in some tab
    for name in PONDS[1:]:
        session(name)
    assert alive(opened)[0] is False
    assert idle.text_area(key="question").value == "Puis-je pêcher dans la mare ?"
