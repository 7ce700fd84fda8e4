"""What a build makes of a corpus, with each kind of encoder."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

import indexes
from indexes.build.build import BuildSettings, build_into
from indexes.build.encoder_choice import FIT_FROM
from indexes.store import manifest, paths
from rag.errors import BadInput
from rag.retrieval.bm25 import BM25Settings
from rag.types import Article, Question
from tests.fakes.law.corpus import CODE, FIT, GOAT, NONE, TINY, VILLAGE, first, install
from tests.paths import ROOT

MARK = "belette"  # stands in extra columns alone


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PANDECT_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("PANDECT_INDEX", raising=False)
    return tmp_path / "home"


def entry_of(folder: Path) -> dict[str, object]:
    made = manifest.read(folder, "x")
    assert made.encoder is not None
    return dict(made.encoder)


def test_without_an_encoder() -> None:
    install(settings=NONE)
    engine = indexes.open("village")
    assert engine.modes == ("keyword",)
    assert first(engine) == "v-5"


def test_with_a_fitted_encoder() -> None:
    entry = entry_of(install(settings=FIT))
    assert (entry["kind"], entry["name"], entry["dim"]) == ("static", "static-fr-8", 8)
    engine = indexes.open("village")
    assert engine.modes == ("hybrid", "keyword", "meaning")
    assert engine.ask(GOAT, mode="meaning", k=12).status == "found"


def test_with_the_encoder_that_ships() -> None:
    shipped = manifest.read(paths.builtin(), "x")
    entry = entry_of(install(settings=BuildSettings(encoder="borrow")))
    assert entry == {**(shipped.encoder or {}), "borrowed_from": shipped.version}
    assert first(indexes.open("village"), "Mon chien a mordu le facteur") == "v-6"


def test_a_small_corpus_borrows_where_its_language_allows_it_and_else_stays_with_keywords() -> None:
    assert len(VILLAGE.articles) < FIT_FROM
    assert "borrowed_from" in entry_of(install(settings=BuildSettings()))
    dutch = replace(VILLAGE, card=replace(VILLAGE.card, language="nl"))
    assert manifest.read(install(dutch, settings=BuildSettings()), "x").encoder is None
    with pytest.raises(
        BadInput, match=r"no encoder to borrow for 'nl' .* use --encoder fit or --encoder none"
    ):
        install(dutch, settings=BuildSettings(encoder="borrow"))
    unstemmed = BuildSettings(encoder="borrow", analyser={"stem": False})
    with pytest.raises(BadInput, match=r"no encoder to borrow for 'fr' analysed by fr:words"):
        install(settings=unstemmed)  # its words would not be the encoder's


def test_a_large_corpus_gets_an_encoder_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("indexes.build.encoder_choice.FIT_FROM", len(VILLAGE.articles))
    assert "fitted_to" in entry_of(install(settings=BuildSettings(fit=TINY)))


def test_unfit_options() -> None:
    with pytest.raises(BadInput, match=r"analyser options .*lemmas.*give stop_words, chinese or stem"):
        install(settings=replace(NONE, analyser={"lemmas": True}))
    with pytest.raises(BadInput, match=r"no analyser for language 'xx'"):
        install(replace(VILLAGE, card=replace(VILLAGE.card, language="xx")))
    assert not list(paths.index_folder("village").iterdir())


def test_settings_are_kept_and_used() -> None:
    settings = BuildSettings(
        encoder="fit",
        fit=TINY,
        vectors="8bit",
        bm25=BM25Settings(k1=0.9, b=0.4),
        analyser={"stop_words": False},
    )
    made = manifest.read(install(settings=settings), "x")
    assert (made.bm25["k1"], made.bm25["b"]) == (0.9, 0.4)
    assert made.analyser["options"] == {"language": "fr", "stop_words": False}
    assert first(indexes.open("village")) == "v-5"


def test_held_out_questions_are_not_learnt_from() -> None:
    install()
    engine = indexes.open("village")
    # q1 is learnt from and says "voisine", which article 1 does not; q4 is a test question
    assert "v-1" in [s.article.id for s in engine.ask("voisine", mode="keyword").shown]
    assert engine.ask("à cause", mode="keyword").status == "nothing"
    assert engine.info.questions == 3


def test_progress_is_told_of_every_stage(tmp_path: Path) -> None:
    told: list[tuple[str, int, int]] = []
    build_into(tmp_path, VILLAGE, "village", "v", FIT, lambda *step: told.append(step))
    stages = list(dict.fromkeys(what for what, _, _ in told))
    assert stages == [
        "analysing articles",
        "fitting the encoder to the law",
        "fitting the encoder to questions",
        "encoding articles",
        "reading references",
    ]
    for stage in stages:
        counts = [(done, total) for what, done, total in told if what == stage]
        assert counts == sorted(counts)
        assert counts[-1][0] == counts[-1][1]


def test_extra_columns_do_not_reach_an_index(tmp_path: Path) -> None:
    marked = replace(
        VILLAGE,
        extras={article.id: {"stard_id": n, "note": MARK} for n, article in enumerate(VILLAGE.articles)},
        question_extras={"q1": {"note": MARK}},
    )
    plain = build_into(tmp_path / "plain", VILLAGE, "village", "v", FIT)
    made = build_into(tmp_path / "marked", marked, "village", "v", FIT)
    assert made.files == plain.files  # not one byte of the index depends on them
    assert made.corpus == plain.corpus
    engine = indexes.open(tmp_path / "marked")
    assert engine.ask(MARK, mode="keyword").status == "nothing"


def test_nothing_that_searches_or_learns_names_extra_columns() -> None:
    root = ROOT
    searching = [*(root / "rag").rglob("*.py"), *(root / "training").rglob("*.py")]
    fitting = ("build/static_encoder", "build/training_pairs", "build/contrastive", "store/open_index")
    searching += [root / "indexes" / f"{name}.py" for name in fitting]
    assert len(searching) > 40
    naming = [
        p.relative_to(root).as_posix()
        for p in searching
        if ".extras" in p.read_text("utf-8") or "question_extras" in p.read_text("utf-8")
    ]
    # one reads of them the negatives that BSARD published, one takes them away before a corpus is measured,
    # one says who is asked and who learns, and one holds references that were read against those of mark-up
    assert sorted(naming) == [
        "training/neural/data/negatives.py",
        "training/neural/trainer/validation.py",
        "training/references/marked.py",
        "training/splits/__main__.py",
    ]


def test_a_corpus_of_one_article_and_of_empty_looking_texts() -> None:
    odd = replace(
        VILLAGE,
        articles=(Article("x", CODE, "", "…"), Article("y", CODE, "2", "\N{GOAT} !")),
        questions=(Question("q", "?", ("x",)),),
    )
    for settings in (NONE, FIT):
        install(odd, settings=settings)
        assert indexes.open("village").ask("chèvre").status == "nothing"
    one = replace(VILLAGE, articles=VILLAGE.articles[:1], questions=())
    install(one, settings=FIT)
    assert first(indexes.open("village"), "le couvercle du puits") == "v-1"


def test_what_the_manifest_says_is_json(tmp_path: Path) -> None:
    build_into(tmp_path, VILLAGE, "village", "v", FIT)
    record = json.loads((tmp_path / "manifest.json").read_text(encoding="utf-8"))
    assert record["format"] == manifest.FORMAT
    assert record["encoder"]["settings"]["dim"] == 8
