"""`python -m training.eval fuse`: marks by hand, from the files to the files, and what it refuses."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest

from indexes.corpus.corpus import write
from rag.fusion.normalisation import ScoreDistribution
from rag.types import ArticleOrder, Question, Ranking, no_progress
from tests.fakes.models import neural, vector_files
from tests.fakes.ranking.benchmark import CORPUS, TOPICS
from training.eval.__main__ import main
from training.eval.fuse import fused
from training.fusion.archive import Archive, Pairs, SystemOutput
from training.neural.data.task import Data, tasks
from training.neural.run import run as train
from training.tables.fusion import found_alone, regions, study_counts, study_table

IDS = ["a", "b", "c", "d", *(f"{kind}{n}" for kind in "xyz" for n in range(10, 30))]
ORDER = ArticleOrder.of(IDS)
TOLD = ScoreDistribution.of(range(100))


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PANDECT_HOME", str(tmp_path / "home"))


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(CORPUS, tmp_path_factory.mktemp("law") / "corpus")


def run(*arguments: object) -> int:
    return main(["fuse", *(str(a) for a in arguments)])


def ranked(kind: str, *best: str) -> Ranking:
    """The best as they come, then x10, x11 … of this kind."""
    ids = [*best, *(i for i in IDS if i.startswith(kind))]
    return Ranking.of([(id_, 50.0 - n) for n, id_ in enumerate(ids)]).within(ORDER)


def test_marks_counts_and_what_is_found_alone() -> None:
    """Ten questions: "one" finds the gold of five, "two" of the other five, "lost" of none."""
    questions = [Question(f"q{n}", f"Question {n}", ("a",)) for n in range(10)]
    runs = {
        "one": {q.id: ranked("x", "a") if n < 5 else ranked("x") for n, q in enumerate(questions)},
        "two": {q.id: ranked("y") if n < 5 else ranked("y", "a") for n, q in enumerate(questions)},
        "lost": {q.id: ranked("z", "b", "c", "d") for q in questions},
    }
    pairs = Pairs.of([questions], ORDER, seed=1)
    paired = np.where(pairs.right, 99.0, 1.0)
    asked = {name: SystemOutput(of, (TOLD,), paired) for name, of in runs.items()}
    qrels = {q.id: frozenset(q.article_ids) for q in questions}
    entry = fused(asked, qrels, pairs, [questions], seed=1).to_json(seed=1)
    assert {name: of["R@10"]["value"] for name, of in entry["systems"].items()} == {
        "one": 0.5, "two": 0.5, "lost": 0.0
    }  # fmt: skip
    by_name = {c["name"]: c for c in entry["configurations"]}
    rrf = by_name["rrf:one,two"]  # 1/61, as y10, which comes after it
    assert (rrf["R@10"], rrf["better"], rrf["worse"]) == (1.0, True, False)
    assert rrf["difference"]["value"] == 0.5
    assert rrf["difference"]["low"] > 0
    lost = by_name["rrf:one,lost"]  # as good as the best part: no mark
    assert (lost["R@10"], lost["better"], lost["worse"]) == (0.5, False, False)
    assert [by_name["min-max-tuned:one,two"]["chosen"]] == [[[0.5, 0.5]] * 5]
    found = entry["complementarity"]["found"]
    assert (found["first"], found["gold"]) == (10, 10)
    assert {name: count for name, count in found["by"].items() if count} == {"one": 5, "two": 5}
    assert len(found["by"]) == 7
    assert entry["complementarity"]["regions"][0]["both high"] == {"right": 1.0, "wrong": 0.0}
    assert entry["complementarity"]["regions"][0]["both low"] == {"right": 0.0, "wrong": 1.0}
    assert entry["oracle"]["choice"]["R@10"]["value"] == 1.0
    assert "| `one`, `two` | 100.0 ++ | 100.0 ++ |" in study_table(entry)
    counts = study_counts(entry).splitlines()
    better = sum(c["better"] for c in entry["configurations"])
    assert counts[-1].startswith(f"| all | 32 | {better} (")
    assert "| `one` | 5 | 50.0 |" in found_alone(entry)
    assert "| `one`, `two` | 100 / 0 | 0 / 0 | 0 / 0 | 0 / 100 |" in regions(entry)


def test_worse_than_one_part() -> None:
    """What both find by themselves a third list buries: it agrees with nobody, but Borda counts it."""
    questions = [Question(f"q{n}", f"Question {n}", ("a",)) for n in range(10)]
    noise = Ranking.of([(f"x{n}", 90.0 - n) for n in range(10, 30)]).within(ORDER)
    weak = Ranking.of([("b", 9.0), ("a", 8.0)]).within(ORDER)
    runs = {"good": dict.fromkeys([q.id for q in questions], weak)}
    runs["noise"] = dict.fromkeys([q.id for q in questions], noise)
    pairs = Pairs.of([questions], ORDER, seed=1)
    asked = {name: SystemOutput(of, (TOLD,), np.zeros(len(pairs.question))) for name, of in runs.items()}
    found = fused(asked, {q.id: frozenset({"a"}) for q in questions}, pairs, [questions], seed=1)
    borda = next(c for c in found.to_json(1)["configurations"] if c["method"] == "borda")
    assert (borda["R@10"], borda["better"], borda["worse"]) == (
        0.0,
        False,
        True,
    )  # 20 to 11 points are before it
    assert "0.0 --" in study_table(found.to_json(1))


def test_rankings_are_asked_once(corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["--corpus", corpus, "--systems", "bm25", "ql", "tfidf", "--rankings", tmp_path / "kept"]
    assert run(*command, "--output", tmp_path / "out") == 0
    printed = capsys.readouterr().out
    assert "32 configurations, 18 questions" in printed
    files = {path: path.stat().st_mtime_ns for path in (tmp_path / "kept").iterdir()}
    assert sorted(path.name.split("-")[0] for path in files) == ["bm25", "ql", "tfidf"]
    entry = json.loads((tmp_path / "out" / "fusion.json").read_text(encoding="utf-8"))
    assert entry["command"].startswith("python -m training.eval fuse --corpus ")
    assert len(entry["configurations"]) == 32
    assert (tmp_path / "out" / "fusion.md").read_text(encoding="utf-8").strip() in printed
    for name in ("distributions", "regions", "scatter"):
        svg = (tmp_path / "out" / f"{name}.svg").read_text(encoding="utf-8")
        assert ET.fromstring(svg).tag.endswith("svg")  # noqa: S314 - our own
    lines = (tmp_path / "out" / "distributions.svg").read_text(encoding="utf-8")
    assert all(f'stroke-dasharray="{dash}"' in lines for dash in ("7 4", "2 3"))  # told apart without colour

    assert run(*command, "--output", tmp_path / "again") == 0
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "kept").iterdir()} == files
    again = json.loads((tmp_path / "again" / "fusion.json").read_text(encoding="utf-8"))
    assert again["configurations"] == entry["configurations"]
    assert again["complementarity"] == entry["complementarity"]

    assert run(*command, "--seed", 7) == 0  # other pairs are looked at
    assert len(list((tmp_path / "kept").iterdir())) == 6
    for path in (tmp_path / "kept").iterdir():
        path.write_bytes(b"cut off")
    capsys.readouterr()
    assert run(*command) == 2
    assert "remove it, and it is asked anew" in capsys.readouterr().err


def times(kept: Path) -> dict[str, int]:
    """When each file of rankings was written, by its name without the hash."""
    return {path.name.rpartition("-")[0]: path.stat().st_mtime_ns for path in kept.iterdir()}


def test_one_more_system_asks_no_other_anew(corpus: Path, tmp_path: Path) -> None:
    words = {w: [float(n == i) for i in range(len(TOPICS))] for n, t in enumerate(TOPICS) for w in t.split()}
    one, two = (vector_files.binary(tmp_path / f"{name}.bin", words) for name in ("one", "two"))
    kept = tmp_path / "kept"
    command = ["--corpus", corpus, "--rankings", kept, "--systems", "bm25", "vectors:one"]
    assert run(*command, "--vectors", one) == 0
    before = times(kept)
    assert set(before) == {"bm25", "vectors-one"}
    assert run(*command, "vectors:two", "--vectors", one, two) == 0
    assert len(list(kept.iterdir())) == 3
    assert times(kept) == before | {"vectors-two": times(kept)["vectors-two"]}
    (tmp_path / "elsewhere").mkdir()
    assert run(*command, "--vectors", vector_files.binary(tmp_path / "elsewhere" / "one.bin", words)) == 0
    assert len(list(kept.iterdir())) == 4  # of another file under the same name


@pytest.mark.slow
@pytest.mark.models
def test_one_more_trained_model_asks_no_other_anew(tmp_path: Path) -> None:
    pytest.importorskip("sentence_transformers")
    corpus = write(neural.LAYLAW, tmp_path / "law")
    data = Data(neural.LAYLAW, neural.ASKED)
    [one, two, other] = tasks(neural.recipe(), data, folds=3, only="0", seeds=(1, 2, 3))
    for task, name in ((one, "one"), (two, "two"), (other, "other")):
        train(task, neural.order_of(tmp_path / name), neural.here())
    kept = tmp_path / "kept"
    command = ["--corpus", corpus, "--folds", 3, "--only-fold", 0, "--device", "cpu", "--rankings", kept]
    systems = ["--systems", "bm25", "model:one"]
    trained = [["--trained", f"{name}={tmp_path / name}"] for name in ("one", "two")]
    assert run(*command, *trained[0], *systems) == 0
    before = times(kept)
    assert set(before) == {"bm25", "model-one"}
    assert run(*command, *trained[0], *trained[1], *systems, "model:two") == 0
    assert len(list(kept.iterdir())) == 3
    assert times(kept) == before | {"model-two": times(kept)["model-two"]}
    assert run(*command, "--trained", f"one={tmp_path / 'other'}", *systems) == 0
    assert len(list(kept.iterdir())) == 4  # another model under the same name


def test_what_learns_is_asked_fold_by_fold(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = ["bm25", "bm25+questions"]
    assert run("--corpus", corpus, "--folds", 3, "--systems", *names, "--output", tmp_path / "o") == 0
    entry = json.loads((tmp_path / "o" / "fusion.json").read_text(encoding="utf-8"))
    assert (entry["folds"], entry["questions"]) == (3, 18)
    tuned = [c for c in entry["configurations"] if c["weights"] == "tuned"]
    assert {len(c["chosen"]) for c in tuned} == {3}
    assert "8 configurations" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        (["bm25"], "two to five different"),
        (["bm25", "bm25"], "two to five different"),
        (["bm25", "rrf:bm25,ql"], "made of other systems"),
        (["bm25", "siblings:bm25"], "made of other systems"),
        (["bm25", "nothing"], "no system 'nothing'"),
        (["bm25", "bm25+questions"], "no questions to learn from"),
    ],
)
def test_systems_that_cannot_be_fused(
    corpus: Path, capsys: pytest.CaptureFixture[str], typed: list[str], told: str
) -> None:
    assert run("--corpus", corpus, "--systems", *typed) == 2
    assert told in capsys.readouterr().err


def test_too_few_questions_and_a_folder_that_is_there(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("--corpus", corpus, "--systems", "bm25", "ql", "--output", tmp_path) == 2
    assert "is there already" in capsys.readouterr().err
    few = tmp_path / "few.jsonl"
    few.write_text('{"id": "q", "question": "Le bail ?", "article_ids": ["a2"]}\n', encoding="utf-8")
    assert run("--corpus", corpus, "--questions", few, "--systems", "bm25", "ql") == 2
    assert "give at least 10" in capsys.readouterr().err


def test_a_system_that_ranks_only_what_another_found() -> None:
    class Shortlist:
        def search(self, questions: list[str], k: int, where: object = None) -> list[Ranking]:
            return [ranked("x", "a") for _ in questions]

    part = [Question("q", "?", ("a",))]
    archive = Archive(None, ORDER, [part], Pairs.of([part], ORDER, 1), no_progress)
    with pytest.raises(Exception, match="cannot score the whole corpus"):
        archive.asked("shortlist", {}, lambda number: Shortlist())


def test_pairs_are_balanced_and_hold_no_gold_article_among_the_wrong() -> None:
    parts = [[Question(f"q{p}{n}", "?", ("a", "b")) for n in range(80)] for p in range(2)]
    pairs = Pairs.of(parts, ORDER, seed=3)
    assert [len(ids) for ids in pairs.questions] == [50, 50]
    assert sum(pairs.right) == len(pairs.right) / 2 == 200
    wrong = pairs.article[~np.array(pairs.right)]
    assert not {"a", "b"} & {IDS[position] for position in wrong}
