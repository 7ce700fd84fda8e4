"""A page that runs while another version of its index is switched in."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

import indexes
from indexes.__main__ import main
from indexes.build.build import BuildSettings, build
from indexes.corpus.corpus import Corpus, write
from indexes.store import manifest
from indexes.store.paths import file_state
from indexes.store.versions import new_corpus
from rag.corpus.card import CorpusCard
from rag.types import Article
from rag.ui import engine_cache
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


@pytest.mark.slow
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


@pytest.mark.slow
@pytest.mark.parametrize("harm", ["missing", "leads nowhere", "damaged"])
def test_an_index_that_cannot_be_opened_for_a_while_takes_no_law_from_who_asks(
    opened: list[str], harm: str, tmp_path: Path
) -> None:
    app = AppTest.from_file(APP, default_timeout=60)
    app.context["locale"] = "fr-FR"
    checked(app.run())
    folder = tmp_path / "home" / "indexes" / "mare"
    current = (folder / "CURRENT").read_text()
    match harm:
        case "missing":
            (folder / "CURRENT").unlink()
        case "leads nowhere":
            (folder / "CURRENT").write_text("20990101\n")
        case "damaged":
            shutil.copytree(folder / current.strip(), folder / "20990101")
            (folder / "20990101" / "manifest.json").write_text("{}")
            (folder / "CURRENT").write_text("20990101\n")

    assert "le dimanche" in shown(ask(app, QUESTION))
    another = AppTest.from_file(APP, default_timeout=60)
    checked(another.run())
    assert "le dimanche" in shown(ask(another, QUESTION))  # whoever comes now is answered too
    assert engine_cache.healthy("mare", None, indexes.open, file_state)

    (folder / "CURRENT").write_text(current)
    assert "le dimanche" in shown(ask(app, QUESTION + " Vraiment ?"))
    assert len(opened) == 1


@pytest.mark.slow
def test_a_damaged_index_is_hashed_once_until_its_files_change(
    opened: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "home" / "indexes" / "mare"
    version = folder / (folder / "CURRENT").read_text().strip()
    file = version / "corpus" / "articles.jsonl"
    for cached in (engine_cache.engine, engine_cache._law):  # of other tests
        cached.clear()
    good = file.read_bytes()
    file.write_bytes(good.replace(b"dimanche", b"dimanchE"))
    hashed: list[Path] = []
    monkeypatch.setattr(manifest, "digest", lambda path, of=manifest.digest: hashed.append(path) or of(path))
    app = AppTest.from_file(APP, default_timeout=60)
    app.context["locale"] = "fr-FR"
    for _ in range(3):
        app.run()
        assert "endommagé" in "".join(block.body for block in app.html)
    once = hashed.count(file)
    file.write_bytes(good)
    assert "le dimanche" in shown(ask(app.run(), QUESTION))
    assert (once, hashed.count(file)) == (1, 2)
