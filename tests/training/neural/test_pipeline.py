"""Sweeps with systems: refused early, honest about what was learnt, and run whole from a hub to the table."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rag.errors import BadInput
from rag.types import Question
from tests.fakes.law.hub_dataset import COMMIT, the_hub
from tests.fakes.law.odd_server import Odd, serving
from tests.fakes.models.neural import ASKED, LAYLAW, NEEDS_TORCH, recipe
from tests.fakes.models.published import PUBLISHED, bsard
from training import train
from training.neural.data import seen_questions
from training.neural.data.task import MANIFEST, TrainingTask
from training.neural.pipeline import Pipeline
from training.neural.recipe.recipe import read_recipe
from training.neural.recipe.sweep import (
    PublishedSystem,
    Sweep,
    SweepPart,
    made_of,
    models_of,
    only,
    read_sweep,
    rerankings,
    training_recipe,
    without_asked,
)
from training.neural.result import DEV_ONLY, fitted_questions, open_result
from training.neural.systems.biencoder import TextVectors
from training.neural.systems.graph_network import GraphNetwork
from training.tables.neural import systems_table

NAME = "bsard-pipeline"
LAST = "model:reranker:tuned:bm25,model:GIR"
WHOLE = [*NEEDS_TORCH, pytest.mark.slow]


def the(name: str) -> Sweep:
    sweep = read_sweep(name)
    assert sweep is not None
    return sweep


def test_a_system_is_taken_apart_by_its_name() -> None:
    assert made_of(LAST) == [LAST, "tuned:bm25,model:GIR", "bm25", "model:GIR"]
    assert made_of("siblings:model:a") == ["siblings:model:a", "model:a"]
    assert models_of(LAST) == {"reranker", "GIR"}
    assert models_of("rrf:bm25,dense") == set()
    mixed = "tuned:bm25,model:GIR,model:reranker:model:GIR"
    assert models_of(mixed) == {"reranker", "GIR"}
    assert rerankings([mixed, LAST, "bm25"]) == ["model:reranker:model:GIR", LAST]


def test_systems_of_some_trainings_alone() -> None:
    sweep = only(the(NAME), ["DAR", "GIR"])
    assert sweep.systems == ("bm25", "model:DAR", "model:GIR", "tuned:bm25,model:DAR", "tuned:bm25,model:GIR")
    with pytest.raises(BadInput, match="'GIR' begins with the model of 'DAR'"):
        only(the(NAME), ["GIR"])
    with pytest.raises(BadInput, match="'reranker' draws negatives by the model of 'DAR'"):
        only(the(NAME), ["reranker"])


@pytest.mark.parametrize(("changed", "said"), [
    ("systems = ['bm25', 'model:b']", "no system 'model:b'"),
    ("systems = ['model:b:bm25']", "no system 'model:b:bm25'"),
    ("systems = ['model:a:tuned:bm25']", "name two or more different systems"),
    ("systems = ['bm25', 'bm25']", "names one twice"),
    ("systems = ['bm26']", "no system 'bm26'"),
    ("[[runs]]\nname = 'b'\nrecipe = 'x'\nnegatives = 'a'", "negatives = 'a' of 'b' names no training above"),
    ("[[published]]\nname = 'X'\npaper = 'P'\nprotocol = 'p'\nvalues = {'R@10' = 1.0}\nbeside = 'bm25'",
     "which is none of systems: none"),
    ("[[published]]\nname = 'X'\npaper = 'P'\nprotocol = 'p'\nvalues = {'R@7' = 1.0}", "has R@7: add it"),
    ("[[published]]\nname = 'X'\nvalues = {'R@10' = 1.0}", "needs the key 'paper'"),
    ("systems = ['bm25']\n[[runs]]\nname = 'x:y'\nrecipe = 'x'", "take another name"),
    ("systems = ['bm25']\n[[runs]]\nname = 'Systems'\nrecipe = 'x'", "take another name"),
])  # fmt: skip
def test_wrong_systems_are_refused_before_anything_is_trained(
    changed: str, said: str, tmp_path: Path
) -> None:
    path = tmp_path / "s.toml"
    path.write_text(f"name = 's'\n{changed}\n[[runs]]\nname = 'a'\nrecipe = 'x'\n", encoding="utf-8")
    with pytest.raises(BadInput) as refused:
        read_sweep(str(path))
    assert said in str(refused.value)


@pytest.mark.data
@pytest.mark.skipif(not PUBLISHED.exists(), reason="needs shared/published")
def test_what_was_published_stands_beside_as_it_was_printed() -> None:
    files = {"BSARD 2022": ("bsard.json", "CamemBERT"), "JuriFindIT 2026": ("jurifindit.json", None)}
    rows = the(NAME).published
    assert {row.beside for row in rows} == {"bm25", "model:DAR", "model:GIR", None}
    for row in rows:
        paper, _, table = row.paper.partition(", Table ")
        file, encoder = files[paper]
        tables = json.loads((PUBLISHED / file).read_text(encoding="utf-8"))
        [printed] = [t for t in tables if t["table"] == table]
        assert (printed["dataset"], printed["split"], printed["unit"].split(";")[0]) == (
            "BSARD",
            "test",
            "percent",
        )
        [found] = [
            one for one in printed["rows"]
            if one["system"].removesuffix(" (official)") == row.name
            and (encoder is None or row.name == "BM25" or (one["encoder"] == encoder and one["trained"]))
        ]  # fmt: skip
        assert dict(row.values) == {m: v for m, v in found["values"].items() if m != "latency_ms"}
        assert "number of runs not stated" in printed["protocol"]
        assert "number of runs not stated" in row.protocol


def test_the_reranker_is_trained_as_on_lleqa() -> None:
    own, lleqa = read_recipe("bsard-monobert"), read_recipe("lleqa-monobert")
    assert replace(own.training, synthetic=None) == lleqa.training
    assert (own.model, own.text, own.negatives) == (lleqa.model, lleqa.text, lleqa.negatives)
    shares = {read_recipe(part.recipe).evaluation.dev for part in the(NAME).runs}
    assert shares == {0.1}  # so all three have the same dev questions


def test_a_graph_network_begins_with_a_whole_result_and_others_with_its_model(tmp_path: Path) -> None:
    sweep = the(NAME)
    gir = training_recipe(sweep, sweep.runs[1], (), tmp_path)
    assert (gir.system, gir.model.backbone) == ("graph", str(tmp_path))
    reranker = training_recipe(sweep, sweep.runs[2], (), None, drawn=tmp_path)
    assert reranker.negatives.model == str(tmp_path)
    assert [dict(stage.mix) for stage in reranker.negatives.stages] == [{"bm25": 0.5, "model": 0.5}]
    rehearsed = training_recipe(sweep, sweep.runs[2], (), None).negatives  # nothing is trained yet
    assert (rehearsed.model, [dict(stage.mix) for stage in rehearsed.stages]) == (None, [{"bm25": 1.0}])
    with pytest.raises(BadInput, match="belong together"):  # told now, and not when DAR is trained
        training_recipe(sweep, sweep.runs[2], ["negatives.stages=[{mix={bm25=1.0}}]"], None)
    dense = SweepPart("b", "bsard-dar", after="a")
    assert training_recipe(sweep, dense, (), tmp_path).model.backbone == str(tmp_path / "model")


def task(learn: range, dev: range, held: range = range(40, 60)) -> TrainingTask:
    def of(part: range) -> tuple[Question, ...]:
        return tuple(ASKED[n] for n in part)

    return TrainingTask(recipe(), LAYLAW, of(learn), of(dev), of(held), seed=1)


def test_what_is_asked_is_not_learnt_in_other_case_or_blanks() -> None:
    asked = ASKED[40]
    twin = Question("twin", f"  {asked.text.upper()} ", asked.article_ids)
    found = without_asked(replace(task(range(20), range(20, 30)), learn=(*ASKED[:20], twin), dev=(twin,)))
    assert (found.learn, found.dev, found.held) == (ASKED[:20], (), ASKED[40:])


def pipeline(systems: tuple[str, ...], *own: TrainingTask, others: tuple[TrainingTask, ...] = ()) -> Pipeline:
    sweep = Sweep("s", (SweepPart("a", "x"), SweepPart("b", "y")), systems=systems)
    return Pipeline.of(sweep, own, others, {"a": recipe(), "b": read_recipe("scratch-cross-encoder")})


def test_weights_are_chosen_on_questions_that_no_training_learnt() -> None:
    tuned = ("tuned:bm25,model:a",)
    made = pipeline(tuned, task(range(20), range(20, 40)), task(range(5, 24), range(24, 40)))
    assert [q.id for q in made.dev] == [f"p{n}" for n in range(24, 40)]
    assert [q.id for q in made.learn] == [f"p{n}" for n in range(24)]
    assert "20 questions asked; weights of fusions chosen on 16 dev questions" in str(made)
    other = task(range(35, 40), range(0))  # one on other data has learnt five of them
    assert len(pipeline(tuned, task(range(20), range(20, 40)), others=(other,)).dev) == 15
    with pytest.raises(
        BadInput, match=r"tuned:bm25,model:a: 9 dev questions .* at least 10 .*evaluation.dev"
    ):
        pipeline(tuned, task(range(20), range(20, 29)))
    assert pipeline(("model:a",), task(range(20), range(0))).dev == ()  # without a fusion none is needed


def test_a_model_that_began_with_one_that_knows_the_dev_questions_is_refused(tmp_path: Path) -> None:
    made = pipeline(("tuned:bm25,model:a",), task(range(20), range(20, 40)))
    seen_questions.write(tmp_path, ASKED[:40])  # all of which it was fitted to or, as to dev, chosen by
    chosen_by = sorted(seen_questions.keys(ASKED[20:38]))
    (tmp_path / MANIFEST).write_text(json.dumps({DEV_ONLY: chosen_by}), encoding="utf-8")
    assert fitted_questions(tmp_path) == seen_questions.keys([*ASKED[:20], *ASKED[38:40]])
    with pytest.raises(BadInput, match="a began with a model that has learnt 2 of the 20 dev questions"):
        made.ask({"a": tmp_path}, argparse.Namespace(), "command")


def test_what_could_not_be_asked_after_the_trainings_is_refused_before() -> None:
    one = task(range(20), range(20, 40))
    assert pipeline(("model:b:model:a",), one)
    with pytest.raises(
        BadInput, match="model:a:bm25: tiny is a biencoder; what re-ranks is a cross-encoder or"
    ):
        pipeline(("model:a:bm25",), one)
    with pytest.raises(BadInput, match="learned: 20 questions to learn from, at least 100"):
        pipeline(("learned",), one)
    with pytest.raises(BadInput, match="hold back different questions"):
        pipeline(("bm25",), one, task(range(20), range(20, 40), range(41, 60)))
    with pytest.raises(BadInput, match="holds back no question"):
        pipeline(("bm25",), task(range(20), range(20, 40), range(0)))
    with pytest.raises(BadInput, match="no training is on the data of --corpus"):
        pipeline(("bm25",), others=(one,))


def test_the_table_tells_ours_from_what_was_published() -> None:
    rows = [
        PublishedSystem("DAR", "Paper, Table 4", "one run", {"R@10": 88.4}, beside="model:DAR"),
        PublishedSystem("DSR", "Paper, Table 4", "one run", {"MAP": 35.3}),
    ]
    measured = {"R@10": {"value": 0.5, "low": 0.4, "high": 0.6}}
    entry: dict[str, Any] = {
        "systems": {"model:DAR": measured, "bm25": {}}, "questions": 222, "tuned_on": "88 dev questions",
        "published": [{"name": r.name, "paper": r.paper, "protocol": r.protocol, "values": r.values,
                       "beside": r.beside} for r in rows],
    }  # fmt: skip
    assert systems_table(entry, ["R@10", "MAP"]).splitlines() == [
        "| system | R@10 | MAP |",
        "|---|---|---|",
        "| `model:DAR` | 50.0 (40.0–60.0) | – |",
        "| DAR, *published* (Paper, Table 4) | 88.4 | – |",
        "| `bm25` | – | – |",
        "| DSR, *published* (Paper, Table 4) | – | 35.3 |",
        "*published* in Paper, Table 4: one run",
        "ours: 222 questions, one training each; fusions: 88 dev questions",
    ]


@pytest.fixture
def odd(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Odd]:
    for name in ("http_proxy", "https_proxy", "all_proxy", "HF_TOKEN"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    monkeypatch.setenv("PANDECT_HOME", str(tmp_path / "home"))
    with serving() as server:
        monkeypatch.setenv("HF_ENDPOINT", server.address)
        yield server


def spoken(capsys: pytest.CaptureFixture[str], *typed: str) -> tuple[int, str, str]:
    code = train.main(typed)
    said = capsys.readouterr()
    return code, said.out, said.err


class TestWhole:
    pytestmark = WHOLE

    def test_one_command_goes_from_a_hub_to_the_table(
        self, odd: Odd, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        torch = pytest.importorskip("torch")
        pytest.importorskip("torch_geometric", reason="the extra [train] is not installed")
        monkeypatch.chdir(tmp_path)
        threads = torch.get_num_threads()
        torch.set_num_threads(1)
        place = bsard(tmp_path / "published")
        files = {p.relative_to(place).as_posix(): p.read_bytes() for p in place.rglob("*") if p.is_file()}
        odd.answer = the_hub(files, odd.address, name="maastrichtlawtech/bsard")
        typed = [
            NAME, "--corpus", "bsard", "--scratch", "--steps", "3", "--device", "cpu", "--unasked",
            "--set", "evaluation.dev=0.3", "--set", "evaluation.every=3", "--set", "training.batch=8",
            "--set", "model.scratch.layers=1", "--set", "model.scratch.width=32",
            "--output", "out",
        ]  # fmt: skip
        try:
            code, said, told = spoken(capsys, *typed)
            assert code == 0, told
            assert any(f"resolve/{COMMIT}/articles.csv" in seen.path for seen in odd.seen)
            self._holds(tmp_path / "out", said)
            table = said[said.index("| system |") :]
            # what is finished is passed over, also after a stop between the trainings and the systems
            metrics = tmp_path / "out" / "systems" / "metrics.json"
            before = json.loads(metrics.read_text(encoding="utf-8"))
            for file in metrics.parent.iterdir():
                file.unlink()
            metrics.parent.rmdir()
            code, said, told = spoken(capsys, *typed, "--resume")
            assert (code, "step 1/" in told) == (0, False), told
            assert said[said.index("| system |") :] == table
            written = metrics.stat().st_mtime_ns
            code, said, told = spoken(capsys, *typed, "--resume")
            assert (code, said[said.index("| system |") :]) == (0, table), told
            assert metrics.stat().st_mtime_ns == written
            metrics.write_text(json.dumps({**before, "asked_of": "others"}), encoding="utf-8")
            code, _, told = spoken(capsys, *typed, "--resume")
            assert (code, "is of other trainings, systems or questions" in told) == (2, True)
            # a network is laid where it shall run with the encoder that reads the law: there lie hours
            network = open_result(tmp_path / "out" / "gir").system("meta")
            assert isinstance(network, GraphNetwork)
            assert isinstance(network.encoder, TextVectors)
            assert network.encoder.system.module.device.type == "meta"
        finally:
            torch.set_num_threads(threads)

    def _holds(self, out: Path, said: str) -> None:
        sweep = the(NAME)
        entry = json.loads((out / "systems" / "metrics.json").read_text(encoding="utf-8"))
        assert (list(entry["systems"]), entry["questions"]) == (list(sweep.systems), 20)
        for measures in entry["systems"].values():
            for m in sweep.measures:
                assert measures[m]["low"] <= measures[m]["value"] <= measures[m]["high"]
        # fusions are tuned on the dev questions, and held against the best of their parts
        [chosen] = entry["fusions"]
        assert {name: choice["questions"] for name, choice in chosen.items()} == dict.fromkeys(
            (s for s in sweep.systems if s.startswith("tuned:")), 12
        )
        rivals = {c["a"]: c["b"] for c in entry["comparisons"]}
        assert rivals["tuned:bm25,model:GIR"] in ("bm25", "model:GIR")
        # nothing that is asked was learnt, and the graph stands on the DAR that was trained before it
        asked = seen_questions.keys(ASKED[40:])
        learnt = {name: seen_questions.read(out / name) for name in ("dar", "gir", "reranker")}
        assert all(known and not known & asked for known in learnt.values())
        assert learnt["dar"] <= learnt["gir"]
        for name, known in learnt.items():  # the dev questions chose the model, and it was fitted to none
            assert len(known - fitted_questions(out / name)) == 12
        kept = out / "gir" / "model" / "encoder" / "manifest.json"
        assert kept.read_bytes() == (out / "dar" / "manifest.json").read_bytes()
        reranker = json.loads((out / "reranker" / "recipe.json").read_text(encoding="utf-8"))
        assert reranker["negatives"]["model"] == str(Path("out") / "dar")
        for row in sweep.published:
            assert f"| {row.name}, *published* ({row.paper}) |" in said
        for system in sweep.systems:
            assert f"| `{system}` |" in said
