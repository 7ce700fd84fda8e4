"""A page that runs while another version of its index is switched in."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

import indexes
from indexes.__main__ import main
from indexes.build.build import BuildSettings, build
from indexes.corpus.corpus import Corpus, write
from indexes.store.versions import new_corpus
from rag.corpus.card import CorpusCard
from rag.types import Article
from tests.fakes.pages.ask_page_driver import ask, cards, checked
from tests.paths import ROOT

APP = ROOT / "app.py"
QUESTION = "Puis-je pêcher dans la mare ?"
POND = Corpus(
    CorpusCard("mare", "Le droit de la mare", "fr", licence="CC0-1.0"),
    (
        Article("m-1", "Code de la mare", "1", "La pêche est permise dans la mare le dimanche."),
        Article("m-2", "Code de la mare", "2", "Les canards traversent sans attendre."),
    ),
)


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """The pond's law under PANDECT_HOME, and the versions that were opened since."""
    monkeypatch.setenv("PANDECT_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PANDECT_INDEX", "mare")
    with new_corpus("mare", replace=False) as place:
        write(POND, place)
    build(POND, "mare", BuildSettings(encoder="none"))
    versions: list[str] = []
    open_index = indexes.open

    def counted(name: str | None) -> object:
        engine = open_index(name)
        versions.append(engine.info.version)
        return engine

    monkeypatch.setattr(indexes, "open", counted)
    return versions


def shown(app: AppTest) -> str:
    return " ".join(card.text for card in cards(app))


def test_the_next_question_meets_the_new_law_and_the_way_back(opened: list[str], tmp_path: Path) -> None:
    app = AppTest.from_file(APP, default_timeout=60)
    app.context["locale"] = "fr-FR"
    checked(app.run())
    assert "le dimanche" in shown(ask(app, QUESTION))
    checked(app.run())
    assert len(opened) == 1  # what did not change is not opened again

    strict = replace(POND.articles[0], text="La pêche est interdite dans la mare.")
    law = write(replace(POND, articles=(strict, POND.articles[1])), tmp_path / "law")
    assert main(["update", "mare", str(law)]) == 0
    assert "est interdite" in shown(ask(app, QUESTION))
    checked(app.run())
    assert len(opened) == 2

    assert main(["rollback", "mare"]) == 0
    assert "le dimanche" in shown(ask(app, QUESTION))
    assert len(opened) == 2  # the former version was still open
