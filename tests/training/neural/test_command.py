"""The command line of training: folds, rehearsals, published files, what is trained among the systems."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from indexes.corpus.corpus import write
from tests.fakes.models.neural import NEEDS_TORCH, written
from tests.fakes.models.published import bsard, jurifindit, lleqa, mmarco, stard
from tests.fakes.ranking.benchmark import CORPUS
from training import train
from training.neural.data.negatives import hard_negative_sampler
from training.neural.data.task import read_data, tasks
from training.neural.recipe.recipe import names, read_recipe

pytestmark = NEEDS_TORCH


def spoken(capsys: pytest.CaptureFixture[str], *typed: str) -> tuple[int, str, str]:
    code = train.main(typed)
    said = capsys.readouterr()
    return code, said.out, said.err


def test_the_command_trains_folds_and_says_their_spread(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    law = tmp_path / "law"
    write(CORPUS, law)
    path = written(tmp_path / "tiny.toml")
    out = tmp_path / "out"
    common = (str(path), "--corpus", str(law), "--folds", "3", "--device", "cpu", "--measures", "R@10")
    code, said, told = spoken(capsys, *common, "--fold", "1", "--steps", "2", "--output", str(out))
    assert code == 0, told
    assert "before training" in said
    assert "to learn from" in told
    assert "left" in told
    code, _, told = spoken(capsys, *common, "--fold", "1", "--output", str(out))
    assert (code, "is there already" in told) == (2, True)
    code, said, told = spoken(capsys, *common, "--steps", "2", "--output", str(tmp_path / "all"))
    assert code == 0, told
    summary = json.loads((tmp_path / "all" / "summary.json").read_text(encoding="utf-8"))
    assert summary["trainings"] == ["fold-0", "fold-1", "fold-2"]
    assert set(summary["mean and sd over them"]["tiny"]["R@10"]) == {"mean", "sd"}
    # and what was trained is measured by name, each fold by the model that has not seen it
    from training.eval.__main__ import main as evaluate

    measured = (
        "--corpus",
        str(law),
        "--folds",
        "3",
        "--cache",
        str(tmp_path / "cache"),
        "--measures",
        "R@10",
    )
    systems = ("--systems", "bm25", "model:tiny", "rrf:bm25,model:tiny")
    assert (
        evaluate(
            [*measured, "--trained", f"tiny={tmp_path / 'all'}", *systems, "--output", str(tmp_path / "m")]
        )
        == 0
    )
    entry = json.loads((tmp_path / "m" / "metrics.json").read_text(encoding="utf-8"))
    value = entry["systems"]["model:tiny"]["R@10"]["value"]
    folds = [json.loads((tmp_path / "all" / f"fold-{i}" / "metrics.json").read_text()) for i in range(3)]
    own = [(f["systems"]["tiny"]["R@10"]["value"], f["questions"]) for f in folds]
    assert value == pytest.approx(np.average([v for v, _ in own], weights=[n for _, n in own]))
    capsys.readouterr()
    assert evaluate([*measured, "--trained", f"tiny={out}", *systems]) == 2
    assert "learnt from" in capsys.readouterr().err
    assert evaluate([*measured, "--systems", "model:other"]) == 2
    assert "model:NAME of --trained NAME=FOLDER" in capsys.readouterr().err


def test_of_several_seeds_the_best_on_dev_is_named_and_none_without_dev_questions(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    law = write(CORPUS, tmp_path / "law")
    typed = (
        str(written(tmp_path / "tiny.toml")), "--corpus", str(law), "--folds", "3", "--fold", "0",
        "--device", "cpu", "--measures", "R@10", "--seeds", "2", "--steps", "3",
    )  # fmt: skip
    for name, more in (("dev", ()), ("none", ("--set", "evaluation.dev=0.0"))):
        folder = tmp_path / name
        code, said, told = spoken(capsys, *typed, *more, "--output", str(folder))
        assert code == 0, told
        summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
        assert summary["trainings"] == ["seed-1", "seed-2"]
        made = [json.loads((folder / one / "metrics.json").read_text()) for one in summary["trainings"]]
        found = [one["systems"]["tiny"]["R@10"]["value"] for one in made]
        spread = summary["mean and sd over them"]["tiny"]["R@10"]
        assert spread["mean"] == pytest.approx(np.mean(found))
        assert spread["sd"] == pytest.approx(np.std(found, ddof=1))
        best = summary["best on dev"]
        if name == "dev":
            judged = [one["facts"]["dev R@10"] for one in made]
            assert best["training"] == ("seed-1" if judged[0] >= judged[1] else "seed-2")
            assert best["chosen by"] == "dev R@10"
            assert best["after"] == made[int(best["training"][-1]) - 1]["systems"]["tiny"]
            assert f"best on dev: {best['training']} (dev R@10): R@10 " in said
        else:
            assert all(one["facts"]["dev R@10"] is None for one in made)
            assert best == {"training": None, "chosen by": "no dev questions, none chosen", "after": {}}
            assert "best on dev: no dev questions, none chosen" in said


FILES = {"bsard": bsard, "lleqa": lleqa, "mmarco": mmarco, "jurifindit": jurifindit, "stard": stard}
OF_WORDS = [name for name in names() if read_recipe(name).system == "yes-no"]  # language models
OF_GRAPHS = [name for name in names() if read_recipe(name).system == "graph"]  # over an encoder that is there
ENCODERS = [name for name in names() if name not in (*OF_WORDS, *OF_GRAPHS)]
LEARNT = {"bsard": 40, "lleqa": 40, "mmarco": 24, "jurifindit": 80, "stard": 50}  # questions of each
LEARNT_OTHERWISE = {
    "bsard-dar": 36 + 5 * 40,  # four of the forty are its dev questions; five written ones an article
    "bsard-dsr": 36 + 5 * 40,
    "bsard-g-dsr": 36 + 5 * 40,
    "bsard-gir": 36 + 5 * 40,
    "bsard-monobert": 36,  # the same four are dev questions
    "stard-dense-gpt4": 36,  # one written question an article of forty, four of them dev
    "stard-dense-cail": 72,  # all eighty, but for eight
}
SYNTHETIC = {
    "bsard-dar": (200, 5),
    "bsard-dsr": (200, 5),
    "bsard-g-dsr": (200, 5),
    "bsard-gir": (200, 5),
    "jurifindit-dar": (40, 1),
    "jurifindit-gir": (40, 1),
    "stard-dense-gpt4": (36, 1),
}
NEEDING = [name for name in names() if read_recipe(name).needs]  # other questions than the corpus's own


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    at = tmp_path_factory.mktemp("published")
    return {name: write_(at / name) for name, write_ in FILES.items()}


@pytest.fixture(scope="module")
def brought(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two written questions for each of STARD's articles."""
    path = tmp_path_factory.mktemp("brought") / "written.jsonl"
    asked = [{"id": f"w{n}", "question": f"问 {n}", "article_ids": [str(n % 40)], "split": "synthetic"}
             for n in range(80)]  # fmt: skip
    path.write_text("".join(json.dumps(each) + "\n" for each in asked), encoding="utf-8")
    return path


@pytest.mark.parametrize("name", [n for n in names() if not n.startswith("scratch-")])
@pytest.mark.filterwarnings("ignore:.*is_gradient_checkpointing.*:FutureWarning")  # peft's
def test_every_recipe_of_a_paper_is_rehearsed_on_its_files(
    name: str, published: dict[str, Path], brought: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if name in OF_WORDS:
        pytest.importorskip("peft", reason="peft is not installed: pip install '.[train]'")
    data = name.partition("-")[0].replace("static", "stard")  # of any law
    before = sorted(published[data].rglob("*"))
    typed = [name, "--corpus", str(published[data]), "--dry-run", "--device", "cpu"]
    if data == "mmarco":
        typed += ["--option", "splits=train,dev"]  # else its dev queries alone are read
    if name in NEEDING:
        typed += ["--questions", str(brought)]
    code, said, told = spoken(capsys, *typed)
    assert code == 0, told
    assert f"{LEARNT_OTHERWISE.get(name, LEARNT[data])} questions (" in said
    if name in SYNTHETIC:
        found, most = SYNTHETIC[name]
        assert f"{found} of those to learn from are synthetic, at most {most} an article" in said
    assert "all of it runs" in said
    assert sorted(published[data].rglob("*")) == before  # nothing is written


@pytest.mark.parametrize("name", NEEDING)
def test_what_shall_not_learn_the_corpus_s_own_questions_asks_for_others(
    name: str, published: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "that you bring" in read_recipe(name).about
    corpus = ("--corpus", str(published["stard"]), "--dry-run", "--device", "cpu")
    sweep, data = {"gpt4": ("written", "written"), "cail": ("transfer", "professional")}[name.split("-")[-1]]
    told_to_type = f"python -m training.train stard-{sweep} --corpus FOLDER --data {data}=FILE"
    own = tmp_path / "own.toml"  # a sweep that gives it none either
    own.write_text(f"name = 'own'\n[[runs]]\nname = 'a'\nrecipe = '{name}'\n", encoding="utf-8")
    for typed in (name, str(own)):
        code, said, told = spoken(capsys, typed, *corpus)
        assert (code, said) == (2, "")
        assert f"{name} must not learn from the corpus's own questions" in told
        assert "give --questions FILE" in told
        assert told_to_type in told


@pytest.mark.parametrize("name", ENCODERS)
def test_any_recipe_takes_a_small_encoder_from_random_weights(name: str) -> None:
    of = read_recipe(name, ["model.scratch.layers=1"], scratch=True)
    assert of.model.backbone is None
    assert of.model.scratch is not None
    assert of.model.scratch.layers == 1
    assert replace(of.model, backbone="x", scratch=None) == replace(
        read_recipe(name).model, backbone="x", scratch=None
    )


@pytest.mark.parametrize("name", OF_GRAPHS)
def test_a_graph_network_takes_the_encoder_of_an_index_instead_of_one_that_is_trained(name: str) -> None:
    of = read_recipe(name, scratch=True)
    assert (of.model.backbone, of.model.scratch) == ("static", None)
    assert of.model.graph == read_recipe(name).model.graph


def test_a_recipe_of_a_paper_is_trained_from_random_weights(
    published: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    typed = ["bsard-siamese", "--corpus", str(published["bsard"]), "--device", "cpu", "--steps", "2"]
    typed += ["--set", "model.scratch.width=16", "--output", str(tmp_path / "out")]
    code, _, told = spoken(capsys, *typed)
    assert (code, "--scratch takes the latter" in told) == (2, True)
    code, _, told = spoken(capsys, *typed, "--scratch")
    assert code == 0, told
    kept = json.loads((tmp_path / "out" / "recipe.json").read_text(encoding="utf-8"))
    assert kept["model"] == {"towers": 1, "pooling": "cls", "scratch": {"width": 16, "positions": 512}}
    for wrong in ("model=3", "model.scratch=3"):
        code, _, told = spoken(capsys, *typed, "--scratch", "--set", wrong)
        assert (code, "is 3: expected a table" in told) == (2, True)


def test_published_negatives_are_drawn(published: dict[str, Path]) -> None:
    of = read_recipe(
        "bsard-siamese", ["negatives.per_question=1", "negatives.stages=[{mix={published=1.0}}]"]
    )
    task = next(tasks(of, read_data(of, published["bsard"], None, None, ())))
    assert (len(task.learn), len(task.dev), len(task.held)) == (40, 0, 20)
    draw = hard_negative_sampler(task)
    assert draw is not None
    drawn = {id_ for q in task.learn for id_ in draw(q, 0.0, np.random.default_rng(0))}
    assert drawn == {"39", "40"}
