"""Sweeps: read strictly, rehearsed on published formats, trained and held beside what was published."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from indexes.corpus.corpus import write
from rag.errors import BadInput
from rag.types import Question
from tests.fakes.models.neural import ASKED, LAYLAW, NEEDS_TORCH, written
from tests.fakes.models.published import PUBLISHED, bsard, jurifindit, lleqa, mmarco, stard
from training import train
from training.neural.data import seen_questions
from training.neural.data.task import Data, cap_synthetic, read_data, tasks
from training.neural.recipe.recipe import read_recipe
from training.neural.recipe.sweep import (
    CORPUS,
    Sweep,
    SweepPart,
    folder,
    learning,
    only,
    read_sweep,
    sweep_names,
    sweep_questions,
    training_recipe,
)
from training.neural.run import plan, training_batches
from training.tables.neural import costs, sweep_table, trained

# sweep -> file, table, by which of a row's texts a training is known, and what makes its numbers percent
PRINTED: dict[str, tuple[str, str, str, float]] = {
    "jurifindit-batch": ("jurifindit.json", "13", "system", 1),
    "jurifindit-pooling": ("jurifindit.json", "14", "system", 1),
    "jurifindit-synthetic": ("jurifindit.json", "12", "system", 1),
    "jurifindit-backbone": ("jurifindit.json", "3", "encoder", 1),
    "jurifindit-gir-architectures": ("jurifindit.json", "15", "system", 1),
    "mmarco-backbone": ("know_when_to_fuse.json", "7", "encoder", 100),
    "stard-transfer": ("stard.json", "3", "system", 100),
    "stard-written": ("stard.json", "3", "system", 100),
    "lleqa-pretrained-dpr": ("know_when_to_fuse.json", "5", "note", 100),
    "lleqa-pretrained-colbert": ("know_when_to_fuse.json", "5", "note", 100),
    "lleqa-pretrained-splade": ("know_when_to_fuse.json", "5", "note", 100),
    "lleqa-pretrained-monobert": ("know_when_to_fuse.json", "5", "note", 100),
}
ROW = {
    "lay": "Dense-STARD",
    "professional": "Dense-CAIL",
    "written": "Dense-GPT4",
    "cls": "DAR, CLS pooling",
    "mean": "DAR, Mean pooling",
}
ROW |= {
    f"{network}, {edges}": f"DAR + GIR, {network}, {edges}"
    for network in ("GraphConv", "SAGE", "HGT", "GAT", "GATv2")
    for edges in ("no reference edges", "reference edges")
}

# sweep -> questions that each training learns from, of the small files of the published formats
LEARNT = {
    "bsard-pipeline": [
        228,
        228,
        28,
    ],  # of 40 twelve are dev; five written ones an article, none for the reranker
    "gir-ablation": [54] * 15,
    "jurifindit-backbone": [76] * 4,  # 40 of which four are dev, and a synthetic one for each of 40 articles
    "jurifindit-batch": [76] * 7,
    "jurifindit-gir-architectures": [76] * 10,
    "jurifindit-pooling": [76] * 2,
    "jurifindit-synthetic": [36, 76, 116, 156, 156],  # three an article are there
    "lleqa-pretrained-colbert": [24, 40, 40],  # of mMARCO-fr first
    "lleqa-pretrained-dpr": [24, 40, 40],
    "lleqa-pretrained-monobert": [24, 40, 40],
    "lleqa-pretrained-splade": [24, 40, 40],
    "mmarco-backbone": [22] * 4,
    "scratch-chunks": [54, 54],
    "scratch-systems": [54, 54, 54, 57, 54, 54, 54],
    # of 80 written ones, one of them dev, and 35 of the other folds, four of them dev; both systems
    "stard-fusion": [79, 31, 79, 31],
    "stard-transfer": [18, 31],  # 20 brought, two of them dev; 35 of the other folds, four of them dev
    "stard-written": [36, 31],  # one of two for each of 40 articles, four of them dev
}

KIND = {"dpr": "DPR", "splade": "SPLADE", "colbert": "ColBERT", "monobert": "monoBERT"}


def the(name: str) -> Sweep:
    sweep = read_sweep(name)
    assert sweep is not None
    return sweep


@pytest.mark.parametrize("name", sweep_names())
def test_every_sweep_that_ships_can_be_read(name: str) -> None:
    sweep = the(name)
    assert sweep.name == name
    assert sweep.about
    for part in sweep.runs:
        assert training_recipe(sweep, part, (), None).training.batch
        small = training_recipe(sweep, part, (), None, scratch=True)
        assert small.model.backbone == ("static" if small.system == "graph" else None)
    assert name in PRINTED or not any(part.published for part in sweep.runs)


@pytest.mark.data
@pytest.mark.skipif(not PUBLISHED.exists(), reason="needs shared/published")
@pytest.mark.parametrize("name", PRINTED)
def test_what_stands_beside_is_what_was_printed(name: str) -> None:
    file, table, by, factor = PRINTED[name]
    [printed] = [t for t in json.loads((PUBLISHED / file).read_text("utf-8")) if t["table"] == table]
    kind = KIND.get(name.rpartition("-")[2])
    for part in the(name).runs:
        rows = [
            row for row in printed["rows"]
            if (kind is None or row["system"].startswith(kind)) and _is(row, by, part.name)
        ]  # fmt: skip
        if not part.published:
            assert part.name == "first"
            continue
        [row] = [row for row in rows if row["trained"] or part.learn]
        for measure, value in part.published.items():
            assert value == pytest.approx(factor * row["values"][measure])


def _is(row: dict[str, Any], by: str, name: str) -> bool:
    said = str(row[by])
    if by == "note":
        return said.startswith(f"{name} pre-finetuning")
    if by == "encoder":
        return said == name and not row["system"].startswith("DAR + GIR")
    name = ROW.get(name, f"DAR, {name}")
    return said == name or said.startswith(f"{name} question")


def test_the_split_that_the_paper_measures_on_is_held_back() -> None:
    asked = [replace(q, split=s) for q, s in zip(ASKED, ("train", "dev", "validation", "test"), strict=False)]
    sweep = Sweep("s", (SweepPart("a", "scratch-siamese"),), held="validation")
    found = sweep_questions(sweep, asked)
    assert [(q.id, q.split) for q in found] == [("p0", "train"), ("p2", "test")]  # p1 and p3 are left out
    assert sweep_questions(replace(sweep, held=None), asked) == tuple(asked)
    with pytest.raises(BadInput, match="no question bears the split 'validation'"):
        sweep_questions(sweep, asked[:2])


def test_synthetic_questions_are_counted_by_article() -> None:
    asked = [
        Question("r", "réel", ("a",)),
        *(Question(f"s{n}", f"q{n}", (gold,), split="synthetic") for n, gold in enumerate("abaab")),
    ]
    kept = {n: [q.id for q in cap_synthetic(asked, n)] for n in (0, 1, 2, None)}
    assert kept == {
        0: ["r"], 1: ["r", "s0", "s1"], 2: ["r", "s0", "s1", "s2", "s4"], None: [q.id for q in asked],
    }  # fmt: skip
    many = SweepPart("a", "jurifindit-dar", synthetic=3)
    assert training_recipe(Sweep("s", (many,)), many, (), None).training.synthetic == 3
    own = SweepPart("a", "jurifindit-dar")
    assert training_recipe(Sweep("s", (own,)), own, (), None).training.synthetic == 1


def test_the_recipe_alone_reads_and_counts_synthetic_questions(tmp_path: Path) -> None:
    path, recipe = jurifindit(tmp_path), read_recipe("jurifindit-dar")
    [task] = tasks(recipe, read_data(recipe, path, None, None, ()))
    # 40 that people asked and one of three for each of 40 articles; those of the validation are looked at
    assert (len(task.learn), len(task.dev), len(task.held)) == (80, 20, 0)
    said = plan(task, training_batches(task), None, None)
    assert "40 of those to learn from are synthetic, at most 1 an article" in said
    none = read_recipe("jurifindit-dar", ["training.synthetic=0"])
    [task] = tasks(none, read_data(none, path, None, None, ("splits=train,validation,synthetic",)))
    assert len(task.learn) == 40
    [task] = tasks(recipe, read_data(recipe, path, None, None, ("splits=train,validation",)))
    assert "0 of those to learn from are synthetic, at most 1 an article: give some" in plan(
        task, training_batches(task), None, None
    )


def test_jurifindit_s_questions_are_shared_out_as_its_sweeps_need_them(tmp_path: Path) -> None:
    path, sweep = jurifindit(tmp_path), the("jurifindit-synthetic")
    for most, part in enumerate(sweep.runs):
        recipe = training_recipe(sweep, part, (), None)
        data = read_data(recipe, path, None, None, part.options)
        [task] = tasks(recipe, Data(data.corpus, sweep_questions(sweep, data.questions)))
        # three synthetic ones an article are there; none of them is a dev question
        assert (len(task.learn), len(task.dev)) == (36 + 40 * min(most, 3), 4)
        assert {q.split for q in task.dev} == {"train"}
        assert len(task.held) == 20


def test_others_may_be_learnt_from_but_never_what_is_held_back() -> None:
    recipe = training_recipe(the("stard-transfer"), the("stard-transfer").runs[0], (), None)
    [task] = tasks(recipe, Data(LAYLAW, ASKED), folds=3, only="0")
    others = [Question(f"o{n}", f"moyen {n}", ("l1",)) for n in range(20)]
    found = learning(task, [*others, *task.held])
    assert {q.id for q in (*found.learn, *found.dev)} == {q.id for q in others}
    assert (found.held, learning(task, None)) == (task.held, task)
    with pytest.raises(BadInput, match="no gold articles"):
        learning(task, task.held)


@pytest.mark.parametrize(("changed", "said"), [
    ("compare = ['a', 'c']", "expected two names of ['a', 'b']"),
    ("measures = ['speed']", "speed"),
    ("held = 3", "held is 3"),
    ("[[runs]]\nname = 'A'\nrecipe = 'x'", "cannot be told from another's"),
    ("[[runs]]\nname = 'c'\nrecipe = 'x'\nafter = 'd'", "names no training above it"),
    ("[[runs]]\nname = 'c'\nrecipe = 'x'\nsynthetic = -1", "synthetic is -1"),
    ("[[runs]]\nname = 'c'\nrecepe = 'x'", "did you mean 'recipe'?"),
])  # fmt: skip
def test_a_wrong_sweep_is_refused(changed: str, said: str, tmp_path: Path) -> None:
    runs = "\n[[runs]]\nname = 'a'\nrecipe = 'x'\n[[runs]]\nname = 'b'\nrecipe = 'x'\n"
    head, tail = ("", changed) if changed.startswith("[[") else (changed, "")
    path = tmp_path / "s.toml"
    path.write_text(f"name = 's'\n{head}{runs}{tail}", encoding="utf-8")
    with pytest.raises(BadInput) as refused:
        read_sweep(str(path))
    assert said in str(refused.value)
    assert read_sweep("scratch-siamese") is None  # a recipe
    assert read_sweep(str(tmp_path / "absent.toml")) is None
    assert folder("CLS, or mean/2") == "cls-or-mean-2"


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Data sets in their published formats, the law of the tests for what is from scratch, questions."""
    at = tmp_path_factory.mktemp("files")
    made = {
        write_.__name__: write_(at / write_.__name__) for write_ in (bsard, jurifindit, lleqa, mmarco, stard)
    }
    asked = {
        "professional": [
            {"id": f"c{n}", "question": f"事实 {n}", "article_ids": [str(n)]} for n in range(20)
        ],
        "written": [  # two questions an article: one of them is learnt from
            {"id": f"w{n}", "question": f"问 {n}", "article_ids": [str(n % 40)], "split": "synthetic"}
            for n in range(80)
        ],
    }
    for name, questions in asked.items():
        made[name] = at / f"{name}.jsonl"
        made[name].write_text("\n".join(map(json.dumps, questions)), encoding="utf-8")
    law = write(LAYLAW, at / "law")
    return {**made, "scratch": law, "gir": law, "law": made["stard"]}


def spoken(capsys: pytest.CaptureFixture[str], *typed: str) -> tuple[int, str, str]:
    code = train.main(typed)
    said = capsys.readouterr()
    return code, said.out, said.err


@pytest.fixture
def one_core() -> Iterator[None]:
    """Steps this small are slower on several cores, and many times so where others work beside them."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


class TestWithTorch:
    pytestmark = NEEDS_TORCH

    @pytest.mark.usefixtures("one_core")
    @pytest.mark.parametrize("name", sweep_names())
    def test_every_sweep_is_rehearsed_on_the_published_formats(
        self, name: str, files: dict[str, Path], capsys: pytest.CaptureFixture[str]
    ) -> None:
        parts = the(name).runs
        if any(training_recipe(the(name), part, (), None).system == "graph" for part in parts):
            pytest.importorskip("torch_geometric", reason="the extra [train] is not installed")
        typed = [name, "--corpus", str(files[name.partition("-")[0]]), "--dry-run", "--device", "cpu"]
        typed += ["--folds", "3", "--fold", "0"] if name.startswith("stard") else []
        typed += ["--set", "evaluation.dev=0.3"] if the(name).systems else []  # enough to choose weights on
        needed = {data for part in parts for data in (part.data, part.learn) if data is not None} - {CORPUS}
        if needed:
            code, said, told = spoken(capsys, *typed)
            assert (code, said) == (2, "")
            assert [data for data in needed if f"--data {data}=PATH" not in told] == []
        for data in needed:
            typed += ["--data", f"{data}={files[data]}"]
        code, said, told = spoken(capsys, *typed)
        assert code == 0, told
        assert said.count("all of it runs") == len(parts)
        for part, block in zip(parts, said.split("Nothing was written.\n"), strict=False):
            recipe = training_recipe(the(name), part, (), None)
            assert block.startswith(f"{part.name}\n{recipe.name} ({recipe.system}), seed 1")
            most = recipe.training.synthetic
            assert not most or f"are synthetic, at most {most} an article" in block
        assert [int(found) for found in re.findall(r"^(\d+) questions \(", said, re.M)] == LEARNT[name]

    def test_a_model_is_trained_with_and_without_other_data_first(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        write(LAYLAW, tmp_path / "law")
        typed = (
            str(_with_and_without(tmp_path)), "--corpus", str(tmp_path / "law"), "--folds", "3",
            "--fold", "0", "--data", f"mmarco={mmarco(tmp_path / 'mmarco')}", "--device", "cpu",
            "--seeds", "2", "--output", str(tmp_path / "out"),
        )  # fmt: skip
        code, said, told = spoken(capsys, *typed)
        assert code == 0, told
        entry = json.loads((tmp_path / "out" / "sweep.json").read_text(encoding="utf-8"))
        first, without, with_ = entry["rows"]
        assert [row["trainings"] for row in entry["rows"]] == [1, 2, 2]  # what others begin with is one
        assert first["after"] == {}  # nothing of it is held back
        # what one gains over the other is the difference of the means over seeds, paired by question
        gained = entry["compared"]["difference"]["R@10"]
        assert gained["value"] == pytest.approx(
            with_["after"]["R@10"]["mean"] - without["after"]["R@10"]["mean"]
        )
        assert gained["low"] <= gained["value"] <= gained["high"]
        assert "| with − without |" in said
        assert "+2.0 |" in said  # published 52 and 50
        # it began with the other's weights, and hands on what that had learnt, and from whom
        made = tmp_path / "out" / "with" / "seed-1"
        assert seen_questions.read(tmp_path / "out" / "first") < seen_questions.read(made)
        sources = json.loads((made / "manifest.json").read_text(encoding="utf-8"))["learnt_from"]
        assert [source["name"] for source in sources] == ["laylaw", "mmarco-fr"]
        # what is finished is passed over
        assert spoken(capsys, *typed)[0] == 2
        (tmp_path / "out" / "sweep.json").unlink()
        code, _, told = spoken(capsys, *typed, "--resume")
        assert (code, "step 1/" in told) == (0, False)
        assert (
            json.loads((tmp_path / "out" / "sweep.json").read_text(encoding="utf-8"))["rows"] == entry["rows"]
        )
        code, _, told = spoken(capsys, *typed, "--resume", "--set", "training.batch=4")
        assert (code, "is another training" in told) == (2, True)
        for table in (trained(entry), costs(entry), sweep_table(entry)):
            assert len({line.count("|") for line in table.splitlines()}) == 1


def _with_and_without(at: Path) -> Path:
    written(at / "tiny.toml")
    path = at / "sweep.toml"
    path.write_text(
        f"""
name = "with-and-without"
measures = ["R@10"]
compare = ["with", "without"]
set = ["training.steps=2", "evaluation.keep=last"]
[[runs]]
name = "first"
recipe = '{at / "tiny.toml"}'
data = "mmarco"
options = ["splits=train,dev"]
[[runs]]
name = "without"
recipe = '{at / "tiny.toml"}'
published = {{ "R@10" = 50 }}
[[runs]]
name = "with"
recipe = '{at / "tiny.toml"}'
after = "first"
published = {{ "R@10" = 52.0 }}
""",
        encoding="utf-8",
    )
    return path


def test_some_trainings_of_a_sweep_alone() -> None:
    sweep = the("scratch-systems")
    assert [part.name for part in only(sweep, ["two-tower", "LSI"]).runs] == ["LSI", "two-tower"]
    assert only(sweep, None) == sweep
    with pytest.raises(BadInput, match="--only 'Siamese': the trainings of scratch-systems are 'LSI', 'siam"):
        only(sweep, ["Siamese"])
    pretrained = the("lleqa-pretrained-dpr")
    [after] = [part for part in pretrained.runs if part.after]
    with pytest.raises(BadInput, match="name that too"):
        only(pretrained, [after.name])
