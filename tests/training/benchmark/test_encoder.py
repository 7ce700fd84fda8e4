"""The benchmark of an encoder says what it measured; how long anything took is no test's business."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from indexes.corpus.corpus import write
from indexes.store.paths import BUILTIN, locate
from rag.encoders.static import StaticEncoder
from rag.errors import BadInput
from rag.text.analysers import analyser
from tests.fakes.ranking.benchmark import CORPUS
from training.benchmark import __main__ as benchmark
from training.benchmark.encoder import time_questions


def figures(said: str) -> dict[str, float]:
    """What was said, by what it is of."""
    lines = [line for line in said.splitlines() if line.strip()]
    return {line[:60].strip(): float(line[60:].split()[0]) for line in lines}


@pytest.mark.slow
def test_the_encoder_that_ships_is_small_and_encodes_every_test_question(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert benchmark.main(["--encoding"]) == 0
    said = figures(capsys.readouterr().out)
    folder, _ = locate(BUILTIN)
    words = json.loads((folder / "encoder" / "vocabulary.json").read_text(encoding="utf-8"))
    assert said["terms that the encoder knows"] == len(words)
    assert 1 < said["encoder on disk"] <= 15
    assert said["a question encoded, median of 500"] > 0
    assert said["95th percentile"] > 0


@pytest.mark.parametrize("questions", [20, 0])
def test_an_encoder_is_fitted_with_questions_and_without(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], questions: int
) -> None:
    law = replace(CORPUS, questions=CORPUS.questions[:questions])
    assert benchmark.main(["--fitting", str(write(law, tmp_path / "law"))]) == 0
    said = figures(capsys.readouterr().out)
    assert said["articles"] == 30
    assert said["questions learnt from"] == (18 if questions else 0)  # two of twenty have no answer
    assert said["encoder fitted, the law cut to terms included"] >= 0
    assert said["terms that the encoder knows"] > 20
    asked = 19 if questions else 29  # the first warms up
    assert f"a question encoded, median of {asked}" in said


@pytest.mark.parametrize("way", ["corpus", "update", "learned", "fitting"])
def test_law_that_is_not_there_is_named(way: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert benchmark.main([f"--{way}", "no-such-law"]) == 2
    assert "error: no-such-law does not exist: give a corpus folder" in capsys.readouterr().err


def test_what_cannot_be_timed_is_refused() -> None:
    folder, _ = locate(BUILTIN)
    encoder = StaticEncoder.load(folder / "encoder", analyser("fr"))
    with pytest.raises(BadInput, match="1 texts to encode: give law"):
        time_questions(encoder, ["Qui répare le toit ?"], print)
