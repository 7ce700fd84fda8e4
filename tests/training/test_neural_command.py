"""The command line of training: folds, rehearsals, published files, what is trained among the systems."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from small_benchmark import ARTICLES, CORPUS, QUESTIONS
from small_neural import NEEDS_TORCH, TINY

from indexes.corpus import write
from rag.types import Article, Question
from training import train
from training.neural.recipe import read_recipe
from training.neural.run import draw_of
from training.neural.task import Data, tasks

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
    lines = ["name = 'tiny'", "system = 'biencoder'"]
    for name in ("text", "training", "evaluation"):
        lines += [f"[{name}]", *(f"{k} = {json.dumps(v)}" for k, v in TINY[name].items())]
    lines += ["[model.scratch]", *(f"{k} = {v}" for k, v in TINY["model"]["scratch"].items())]
    path = tmp_path / "tiny.toml"
    path.write_text("\n".join(lines), encoding="utf-8")
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
    from training.eval import main as evaluate

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


def test_a_rehearsal_writes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(CORPUS, tmp_path / "law")
    before = sorted(tmp_path.rglob("*"))
    for name in ("bsard-siamese", "jurifindit-dar", "stard-dense", "lleqa-colbert", "mmarco-colbert"):
        code, said, told = spoken(
            capsys, name, "--corpus", str(tmp_path / "law"), "--dry-run", "--device", "cpu"
        )
        assert code == 0, told
        assert "all of it runs" in said
    assert sorted(tmp_path.rglob("*")) == before


def bsard(folder: Path, articles: Sequence[Article], questions: Sequence[Question]) -> Path:
    """Write law and questions of our own as BSARD's files are."""
    (folder / "negatives").mkdir(parents=True)
    rows = ["id,reference,article,description,law_type,code,book,part,act,chapter,section,subsection"]
    rows += [
        f"{n},Art. {n} {a.code},{a.text},{a.headings[0]},national,{a.code},,,,,,"
        for n, a in enumerate(articles, 1)
    ]
    (folder / "articles.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    number = {a.id: str(n) for n, a in enumerate(articles, 1)}
    for split, asked in (("train", questions[:12]), ("test", questions[12:])):
        lines = ["id,category,subcategory,question,extra_description,article_ids"]
        for n, q in enumerate(asked, 1):
            gold = ",".join(number[i] for i in q.article_ids)
            lines.append(f'{n + 100 * (split == "test")},Housing,Rent,{q.text},,"{gold}"')
        (folder / f"questions_{split}.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    found = {str(n): [30, 29] for n in range(1, 13)}
    (folder / "negatives" / "bm25_negatives_train.json").write_text(json.dumps(found), encoding="utf-8")
    return folder


def test_published_files_are_rehearsed_with_their_negatives(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = bsard(tmp_path / "bsard", ARTICLES, [q for q in QUESTIONS if q.article_ids])
    mix = ("--set", "negatives.per_question=1", "--set", "negatives.stages=[{mix={published=1.0}}]")
    for name in ("bsard-siamese", "bsard-two-tower"):
        code, said, told = spoken(capsys, name, "--corpus", str(folder), "--dry-run", "--device", "cpu", *mix)
        assert code == 0, told
        assert "12 questions (24 examples) to learn from, 0 dev, 6 held back, 30 articles" in said
    task = next(tasks(read_recipe("bsard-siamese", [mix[1], mix[3]]), _data(folder)))
    draw = draw_of(task)
    assert draw is not None
    assert {i for q in task.learn for i in draw(q, 0.0, np.random.default_rng(0))} <= {"29", "30"}


def _data(folder: Path) -> Data:
    from training.neural.task import read_data

    of = read_recipe(
        "bsard-siamese", ["negatives.per_question=1", "negatives.stages=[{mix={published=1.0}}]"]
    )
    return read_data(of, folder, None, None, ())
