"""Model cards, and the export of an encoder that does not let a licence be overlooked."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from indexes.build.build import BuildSettings, build
from indexes.build.fit_settings import FitSettings
from indexes.corpus.corpus import Corpus, read
from indexes.shipped_questions import written as written_for
from indexes.store import paths
from rag.corpus.licence import Grant
from rag.encoders.static import StaticEncoder
from rag.errors import BadInput
from rag.text.analysers import analyser
from tests.fakes.ranking.benchmark import CORPUS
from training import export_encoder as exporting
from training.cards import ModelCard, TrainingSource, markdown

TINY = FitSettings(dim=8, min_count=1, passes=1, question_passes=2, batch=8, random_negatives=4)
NC = {"licence": "CC BY-NC-SA 4.0", "licence_url": "https://nc.example", "source": "The <Lab>"}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PANDECT_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def built(encoder: str = "fit", corpus: Corpus = CORPUS, **card: object) -> Path:
    made = replace(corpus, card=replace(corpus.card, **card))  # type: ignore[arg-type]
    return build(made, "small", BuildSettings(encoder=encoder, fit=TINY))


def forget(folder: Path, **changes: object) -> None:
    """Take out of the manifest what indexes from before did not record, or change it."""
    path = folder / "manifest.json"
    record = json.loads(path.read_text(encoding="utf-8"))
    del record["encoder"]["learnt_from"], record["encoder"]["made_on"]
    record["encoder"].update(changes)
    del record["checksum"]  # as an earlier release wrote it
    path.write_text(json.dumps(record), encoding="utf-8")


def typed(screen: pytest.CaptureFixture[str], *words: str | Path) -> tuple[int, str, str]:
    screen.readouterr()
    status = exporting.main([str(word) for word in words])
    out, err = screen.readouterr()
    return status, out, err


@pytest.mark.slow
def test_a_free_encoder_is_written_with_its_card(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    built()
    status, out, err = typed(capsys, "small", tmp_path / "out")
    assert (status, err) == (0, "")
    assert out.endswith("with modelcard.md; licence inherited: CC0-1.0 (open)\n")
    cut = analyser("fr")
    there = StaticEncoder.load(paths.current("small") / "encoder", cut)
    here = StaticEncoder.load(tmp_path / "out", cut)
    assert here.dim == 8
    assert np.array_equal(here.encode_questions(["mur mitoyen"]), there.encode_questions(["mur mitoyen"]))
    text = (tmp_path / "out" / "modelcard.md").read_text(encoding="utf-8")
    for said in (
        CORPUS.sha256,
        CORPUS.questions_sha256,
        "| seed | 0 |",
        "| dim | 8 |",
        " cores",
        "Not measured",
    ):
        assert said in text
    assert "python -m indexes build small --encoder fit" in text


@pytest.mark.slow
@pytest.mark.parametrize(
    ("card", "told"),
    [
        (NC, "small: CC BY-NC-SA 4.0 (non-commercial). It may not be used commercially."),
        ({"licence": ""}, "small: none stated (no grant). The publisher states no licence"),
        ({"licence": "house rules"}, "small: house rules (no grant). No licence is known"),
        ({"licence": "CC BY-ND 4.0"}, "small: CC BY-ND 4.0 (no derivatives). It may be passed on"),
    ],
)
def test_a_restricted_one_asks_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], card: dict[str, str], told: str
) -> None:
    built(**card)
    status, out, err = typed(capsys, "small", tmp_path / "out")
    assert (status, out) == (2, "")
    assert err.startswith("error: static-fr-8 learnt from what may not be used freely: ")
    assert told in err
    assert "Add --accept-licence" in err
    assert not (tmp_path / "out").exists()
    assert typed(capsys, "small", tmp_path / "out", "--accept-licence")[0] == 0
    text = (tmp_path / "out" / "modelcard.md").read_text(encoding="utf-8")
    assert told.partition(": ")[2].partition(".")[0] in text


@pytest.mark.slow
def test_the_card_names_licence_source_and_metrics(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = built(**NC)
    measures = {m: {"value": 0.5, "low": 0.25, "high": 0.75} for m in
                ("R@10", "R@100", "MRR@10", "Success@1", "Success@10")}  # fmt: skip
    entry = {
        "corpus": {"name": "small", "sha256": CORPUS.sha256},
        "questions": 18,
        "command": "python -m training.eval --corpus x",
        "systems": {"dense": {**measures, "ms_per_question": {"median": 1.0, "p95": 2.0}}},
    }
    (tmp_path / "m.json").write_text(json.dumps(entry), encoding="utf-8")
    words = ("small", tmp_path / "out", "--accept-licence", "--metrics", tmp_path / "m.json")
    assert typed(capsys, *words)[0] == 0
    text = (tmp_path / "out" / "modelcard.md").read_text(encoding="utf-8")
    assert "**CC BY-NC-SA 4.0 (non-commercial)**. It may not be used commercially." in text
    assert "| small | CC BY-NC-SA 4.0 (non-commercial) https://nc.example | The &lt;Lab> |" in text
    assert "| `dense` | 50.0 (25.0–75.0)" in text
    assert "18 questions over small" in text
    entry["corpus"]["sha256"] = "0" * 64  # type: ignore[index]
    (tmp_path / "m.json").write_text(json.dumps(entry), encoding="utf-8")
    other = typed(capsys, "small", tmp_path / "two", *words[2:])[2]
    assert "measured on corpus 00000000…, small is built from" in other
    assert f"python -m training.eval --corpus {folder / 'corpus'}" in other
    (tmp_path / "m.json").write_text("[]", encoding="utf-8")
    assert "Give the metrics.json that python -m training.eval" in typed(capsys, *words)[2]


@pytest.mark.slow
def test_an_index_from_before_is_taken_at_its_card_or_not_at_all(tmp_path: Path) -> None:
    folder = built(**NC)
    forget(folder)
    with pytest.raises(BadInput, match=r"small: CC BY-NC-SA 4\.0"):
        exporting.export_encoder("small", tmp_path / "out")
    forgotten = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    forgotten["encoder"]["fitted_to"]["corpus_sha256"] = "f" * 64  # kept while the law changed
    (folder / "manifest.json").write_text(json.dumps(forgotten), encoding="utf-8")
    with pytest.raises(BadInput, match=r"corpus ffffffff…, not recorded: none stated \(no grant\)"):
        exporting.export_encoder("small", tmp_path / "out")


@pytest.mark.slow
def test_shipped_questions_and_borrowed_encoders_are_named(tmp_path: Path) -> None:
    ours = read(paths.builtin() / "corpus")
    with_ours = replace(
        CORPUS, questions=(*CORPUS.questions, replace(ours.questions[0], article_ids=("a1",)))
    )
    built(corpus=with_ours)
    card = exporting.export_encoder("small", tmp_path / "fitted")
    assert [s.name for s in card.sources] == ["small", "the questions that ship"]
    assert card.licence is not None
    assert card.licence.grant is Grant.ATTRIBUTION
    written = replace(written_for("zh")[0].question, article_ids=("a1",))
    built(corpus=replace(CORPUS, questions=(*CORPUS.questions, written)))
    told = exporting.export_encoder("small", tmp_path / "written").sources
    assert [s.name for s in told] == ["small", "the questions that ship"]
    assert "CC BY 4.0" in str(told[1])
    built("borrow", **NC)  # of its own corpus a borrowed encoder knows nothing
    card = exporting.export_encoder("small", tmp_path / "borrowed")
    assert [s.name for s in card.sources] == ["fr-full-text"]  # what ours was fitted to, as its index says
    assert card.command == "python -m indexes make-builtin LAW"


@pytest.mark.slow
def test_what_ships_can_be_exported(tmp_path: Path) -> None:
    card = exporting.export_encoder("builtin", tmp_path / "out")
    assert not card.restricted
    assert card.sources[0].attribution == "DILA, LEGI"
    text = (tmp_path / "out" / "modelcard.md").read_text(encoding="utf-8")
    for name, sha256 in card.files.items():
        assert f"| {name} | `{sha256}` |" in text
        assert (tmp_path / "out" / name).is_file()


@pytest.mark.slow
def test_there_must_be_something_to_export(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    built("none")
    assert "small has no encoder: nothing was fitted" in typed(capsys, "small", tmp_path / "out")[2]
    assert "python -m indexes" in typed(capsys, "nowhere", tmp_path / "out")[2]
    built()
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine").write_text("kept", encoding="utf-8")
    assert "is there already" in typed(capsys, "small", tmp_path / "out")[2]


def test_a_card_without_sources_allows_nothing() -> None:
    card = ModelCard(
        "m|x", "A <b>model</b>.", (), "Ranking.", (), (), {"corpus": None}, {"rate": 0.1}, "make it"
    )
    text = markdown(card)
    assert card.licence is None
    assert "What it learnt from is not recorded" in text
    assert "# m\\|x\n\nA &lt;b>model&lt;/b>." in text
    assert "| corpus | not recorded |" in text
    assert "on: not recorded." in text


def test_the_strictest_licence_is_inherited() -> None:
    free, bound = (
        TrainingSource.of({"name": "a", "licence": "MIT"}),
        TrainingSource.of({"name": "b", "licence": "CC BY-NC 4.0"}),
    )
    card = ModelCard("m", "", (free, bound), "", (), (), {}, {}, "make")
    assert card.restricted == (bound,)
    assert "**CC BY-NC 4.0 (non-commercial)**" in markdown(card)
