"""Every recipe from random weights on real data: some articles and questions of the law that ships."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.fakes.models.neural import NEEDS_TORCH, here, order_of
from training.neural import result
from training.neural.data.task import Data, read_data, tasks
from training.neural.recipe.recipe import names, read_recipe
from training.neural.run import run

pytestmark = NEEDS_TORCH
# a third of the questions is learnt from, a third dev, a third held back
ASKED, ARTICLES = 18, 40


@pytest.fixture(scope="module")
def some() -> Data:
    law = read_data(read_recipe("scratch-siamese"), None, None, None, ())
    gold = [q for q in law.questions if q.article_ids]
    kinds = [[q for q in gold if q.split == split] for split in ("train", "dev", "test")]
    asked = tuple(q for kind in kinds for q in kind[: ASKED // 3])
    assert len(asked) == ASKED
    cited = {id_ for q in asked for id_ in q.article_ids}
    others = [a.id for a in law.corpus.articles if a.id not in cited][: ARTICLES - len(cited)]
    kept = tuple(a for a in law.corpus.articles if a.id in cited | set(others))
    return Data(replace(law.corpus, articles=kept, questions=asked, facts={}), asked)


# recipes of papers, small: what no recipe from scratch does is chunks of [CLS], in two towers, gradient
# caching, yes or no
SMALL = ("training.epochs=0", "model.scratch.layers=1", "model.scratch.width=32", "model.scratch.heads=2",
         "model.scratch.feedforward=32", "model.scratch.vocabulary=600")  # fmt: skip
PUBLISHED = {
    "bsard-dsr": ("text.chunk_tokens=24", "text.chunk_overlap=4", "text.chunks=3", "text.question_tokens=32"),
    "bsard-siamese": ("text.chunk_tokens=24", "text.chunk_overlap=4", "text.article_cut=400"),
    "jurifindit-dar": ("training.mini_batch=2", "text.article_tokens=64", "text.question_tokens=32"),
    "stard-reranker-lora": ("text.article_tokens=400", "text.question_tokens=32", "training.batch=2",
                            "negatives.per_question=2", "loss.rerank=3", "loss.r=2"),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", [*(n for n in names() if n.startswith("scratch-")), *PUBLISHED])
@pytest.mark.filterwarnings("ignore:.*is_gradient_checkpointing.*:FutureWarning")  # peft's
def test_it_is_trained_on_the_law_that_ships(name: str, some: Data, tmp_path: Path) -> None:
    changes = ["training.steps=2", "training.batch=6", "evaluation.candidates=20", "evaluation.every=2"]
    if name in PUBLISHED:
        changes += [*SMALL, *PUBLISHED[name]]
    of = read_recipe(name, changes, scratch=name in PUBLISHED)
    if of.system == "yes-no":
        pytest.importorskip("peft", reason="peft is not installed: pip install '.[train]'")
    [task] = tasks(of, some)
    run(task, order_of(tmp_path / "out"), here())
    entry = json.loads((tmp_path / "out" / "metrics.json").read_text(encoding="utf-8"))
    assert (entry["facts"]["steps"], entry["questions"]) == (2, ASKED // 3)
    assert [look["step"] for look in entry["dev"]] == [0, 2]
    [ranking] = (
        result.open_result(tmp_path / "out")
        .system("cpu")
        .retriever(some.corpus)
        .search([some.questions[0].text], 10)
    )
    assert len(ranking) == 10
