"""Licences in result files, and the line that names a source that may not be used freely."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from indexes.corpus.card import card_bytes
from indexes.corpus.corpus import Corpus, write
from tests.fakes.ranking.benchmark import CORPUS, QUESTIONS, questions_as_records, write_lines
from training.eval import report
from training.eval.__main__ import main
from training.eval.report import question_cards, warnings


def carded(licence: str, name: str = "small") -> Corpus:
    card = replace(CORPUS.card, name=name, licence=licence, licence_url="https://l.example", source="The lab")
    return replace(CORPUS, card=card)


def test_a_result_file_names_where_its_corpus_comes_from() -> None:
    entry = report.record(
        {}, carded("CC BY-NC 4.0"), command=["x"], questions=1, unanswerable=0, seed=1, tuned_on=None,
        learnt_from=None,
    )  # fmt: skip
    assert entry["corpus"] | {"law_date": None} == {
        "name": "small", "sha256": CORPUS.sha256, "articles": 30, "licence": "CC BY-NC 4.0",
        "licence_url": "https://l.example", "source": "The lab", "grant": "non-commercial", "law_date": None,
    }  # fmt: skip


def test_only_what_is_restricted_is_warned_of() -> None:
    free, bound, none = (
        carded(text, name).card for text, name in (("MIT", "a"), ("CC BY-NC 4.0", "b"), ("", "c"))
    )
    assert warnings([free]) == []
    assert warnings([free, bound, replace(none, licence_url=None)]) == [
        "licence of b: CC BY-NC 4.0 (non-commercial). It may not be used commercially.",
        "licence of c: none stated (no grant). The publisher states no licence, so no use beyond what the "
        "law allows is granted.",
    ]


def test_questions_have_a_card_of_their_own(tmp_path: Path) -> None:
    asked = write_lines(tmp_path / "questions.jsonl", questions_as_records())
    assert question_cards(CORPUS.card, (asked, None, tmp_path / "absent")) == (CORPUS.card,)
    other = carded("CC BY-NC 4.0", "asked").card
    (tmp_path / "card.json").write_bytes(card_bytes(other))
    assert question_cards(CORPUS.card, (asked, asked)) == (CORPUS.card, other)
    assert question_cards(other, (asked,)) == (other,)


def test_eval_prints_and_writes_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PANDECT_HOME", str(tmp_path / "home"))
    law = write(replace(CORPUS, questions=()), tmp_path / "law")
    (tmp_path / "asked").mkdir()
    asked = write_lines(tmp_path / "asked" / "questions.jsonl", questions_as_records(QUESTIONS[:5]))
    (tmp_path / "asked" / "card.json").write_bytes(card_bytes(carded("CC BY-NC 4.0", "asked").card))
    words = ["--corpus", str(law), "--questions", str(asked), "--systems", "bm25", "--output"]
    assert main([*words, str(tmp_path / "out")]) == 0
    line = "licence of asked: CC BY-NC 4.0 (non-commercial). It may not be used commercially.\n"
    assert line in capsys.readouterr().out
    entry = json.loads((tmp_path / "out" / "metrics.json").read_text(encoding="utf-8"))
    assert [(s["name"], s["grant"]) for s in entry["sources"]] == [
        ("small", "open"),
        ("asked", "non-commercial"),
    ]
