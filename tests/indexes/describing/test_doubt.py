from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import indexes
from indexes.__main__ import main
from indexes.build.build import build
from indexes.describing import audit, doubt
from indexes.describing.calibration import AnsweredQuestions, CalibrationPlan
from indexes.describing.doubt import Doubt, made_questions
from indexes.store import open_index, paths
from rag.engine.confidence import NAMES, SIGNS, Confidence
from rag.library import AuditKind
from rag.types import Article, Question
from tests.fakes.law.corpus import FIT, VILLAGE, install
from tests.paths import ROOT

NONE, ONE = (dict.fromkeys(NAMES, x) for x in (0.0, 1.0))
FLAT = Confidence(-8.0, SIGNS, NONE, ONE, 0.1, 0.03)
WORDS = [f"{a}{b}{c}er" for a in "bdfgl" for b in "aeiou" for c in "mnrst"]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PANDECT_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("PANDECT_INDEX", raising=False)
    return tmp_path / "home"


def test_questions_are_made_of_the_law_and_of_scripts_without_blanks() -> None:
    law = [
        Article("1", "Code", "1", "Les arbres sont plantés loin du voisin.", ("Des biens", "Des arbres")),
        Article("2", "Code", "2", "Les haies aussi.", ("Des biens", "Des arbres")),
        Article("3", "Code", "3", "", ("Des biens", "Du néant")),
        Article("4", "法", "4", "承租人应当按照约定的方法使用租赁物并且支付租金。"),
    ]
    made = {q.id: q for q in made_questions(law, random.Random(1))}

    assert (made["heading of 1"].text, made["heading of 1"].article_ids) == ("Des arbres", ("1", "2"))
    assert {id_ for q in made.values() for id_ in q.article_ids} == {"1", "2", "4"}  # 3 has no text
    for word in made["words of 1"].text.split():
        assert word in law[0].text.split()
    assert made["words of 4"].text in law[3].text
    assert {q.id: q for q in made_questions(law, random.Random(1))} == made


def measured(odds: np.ndarray, found: np.ndarray) -> Doubt:
    """People's questions, each asked with an answer and without; only the first may be found."""
    asked = [Question(str(i), "q", ("a",) if i % 2 == 0 else ()) for i in range(len(odds))]
    fitted = np.ones(len(odds), np.bool_)
    answered = AnsweredQuestions(tuple(asked), np.zeros((len(odds), len(NAMES))), found, fitted)
    return doubt._measured(
        Doubt(len(odds) // 2, 300, 0.02, confidence=FLAT), answered, odds, CalibrationPlan()
    )


def test_what_made_questions_say_is_scaled_to_what_people_ask() -> None:
    """Log-odds that are far too low and steep come out calibrated; the same order is kept."""
    rng = np.random.default_rng(1)
    true = rng.normal(size=400) + np.tile([1.5, -4.0], 200)
    found = (rng.random(400) < 1 / (1 + np.exp(-true))) * np.tile([1.0, 0.0], 200)
    fitted = measured(3 * true - 8, found)

    assert fitted.good_enough
    assert fitted.error is not None
    assert fitted.error < 0.06
    assert fitted.alarms is not None
    assert fitted.told is not None
    assert fitted.told > fitted.alarms
    assert fitted.confidence is not None
    assert fitted.confidence.weights["known"] == pytest.approx(1 / 3, abs=0.15)  # was 1, and 3 times too much
    assert fitted.confidence.odds(NONE) == pytest.approx(0, abs=0.7)  # was -8, which is what truly was 0


def test_a_doubt_that_tells_nothing_apart_is_not_used() -> None:
    rng = np.random.default_rng(2)
    fitted = measured(rng.normal(size=240), (rng.random(240) < 0.5) * np.tile([1.0, 0.0], 120))

    assert not fitted.good_enough
    assert fitted.confidence is None


@pytest.mark.parametrize(
    ("change", "good"),
    [
        ({}, True),
        ({"error": 0.11}, False),
        ({"auc": 0.49}, False),
        ({"alarms": 0.07}, False),
        ({"error": None}, False),
    ],
)
def test_the_criterion(change: dict[str, float | None], good: bool) -> None:
    fitted = Doubt(100, 300, 0.02, 0.1, 0.6, 0.06, 0.1)
    assert replace(fitted, **change).good_enough is good


def test_an_index_without_its_own_doubt_takes_no_other(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even one that would fit: neither the shipped one, nor of another version, nor of another law."""
    version = install(settings=FIT)
    engine = indexes.open("village")
    assert engine.notices.confidence is None
    fits = replace(FLAT, corpus_sha256=engine.info.corpus_sha256, ranked_by=engine.searcher.ranked_by)

    shipped = home / "shipped" / "index"
    shipped.mkdir(parents=True)
    for module in (open_index, paths):
        monkeypatch.setattr(module, "builtin", lambda: shipped)
    for strange in (
        paths.version_file(shipped, paths.CONFIDENCE),
        version.with_name(paths.CONFIDENCE),
        version.with_name(f"20200101T000000000000-00000000.{paths.CONFIDENCE}"),
    ):
        strange.write_text(fits.to_json(), encoding="utf-8")
        assert indexes.open("village").notices.confidence is None

    own = paths.version_file(version, paths.CONFIDENCE)
    own.write_text(replace(fits, corpus_sha256="of another law").to_json(), encoding="utf-8")
    assert indexes.open("village").notices.confidence is None
    own.write_text("{}", encoding="utf-8")
    assert indexes.open("village").notices.confidence is None  # the law opens all the same
    opened = paths.current_version("village")
    own.unlink()
    assert paths.current_version("village") == str(version)
    own.write_text(fits.to_json(), encoding="utf-8")
    assert paths.current_version("village") not in (opened, str(version))  # so that a page opens it anew
    assert indexes.open("village").notices.confidence == fits


@pytest.mark.slow
def test_a_build_audits_the_law_and_its_doubt_is_of_that_version_alone(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doubt, "MADE", 50)
    monkeypatch.setattr(audit, "SAMPLE", 20)
    chance = random.Random(7)
    articles = [
        Article(str(i), "Code", str(i), " ".join(chance.choices(WORDS, k=14)), (f"Du {WORDS[i % 40]}",))
        for i in range(120)
    ]
    held = [
        Question(f"q{i}", " ".join(chance.sample(articles[i].text.split(), 3)), (str(i),), split="test")
        for i in range(doubt.PEOPLE)
    ]
    law = replace(VILLAGE, articles=tuple(articles), questions=tuple(held))
    former = install(law, settings=FIT)
    assert main(["audit", "village"]) == 0
    said = capsys.readouterr().out
    assert '"probably no article answers" was fitted to this index' in said
    assert "on 100 questions that were held back" in said
    kept = indexes.open("village").notices.confidence
    assert kept is not None
    [found] = [each for each in audit.load(former) if each.kind is AuditKind.DOUBT]
    assert (found.count, found.grave) == (100, False)
    assert 0 < found.share <= doubt.ERROR

    build(law, "village", FIT)  # the same law: a new index all the same, whose doubt nobody has fitted
    assert indexes.open("village").notices.confidence is None
    assert audit.load(paths.current("village")) == ()
    assert main(["rollback", "village"]) == 0
    assert indexes.open("village").notices.confidence == kept

    few = replace(law, questions=law.questions[1:])
    install(few, settings=FIT)
    assert main(["audit", "village"]) == 0
    assert "99 annotated questions are held back, 100 are needed" in capsys.readouterr().out
    assert indexes.open("village").notices.confidence is None
    assert main(["remove", "village"]) == 0
    assert not (home / "indexes" / "village").exists()


def test_why_people_are_asked_stands_in_the_record() -> None:
    laws = json.loads((ROOT / "docs/results/everyday/doubt.json").read_text(encoding="utf-8"))["laws"]
    assert all(law["error_alone"] > doubt.ERROR and law["alarms_alone"] > doubt.ALARMS for law in laws)
    tested = [law for law in laws if law["people"] >= doubt.PEOPLE]
    assert tested
    assert all(law["error"] <= doubt.ERROR and law["alarms"] <= doubt.ALARMS for law in tested)
