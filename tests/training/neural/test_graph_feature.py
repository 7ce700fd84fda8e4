"""What a graph network's scores add to the learned fusion, and that no network knew the question."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from indexes.corpus.corpus import write
from rag.types import Floats, Ints, Question
from tests.fakes.ranking.benchmark import ANSWERED, CORPUS
from tests.training.fusion.test_learned import FEW, LAW, WORDS, Records
from training.eval.metrics import per_question
from training.neural.graph_feature import ADDED, WITH, WITHOUT, Refined, main, rankings

# no word of a question tells which article is right
ASKED = tuple(Question(f"q{n}", f"{WORDS[n % 6]} texte{n}", (LAW[7 * n % 30].id,)) for n in range(150))


class Oracle:
    """A network that knows what is right of each question, and remembers what it was shown."""

    def __init__(self) -> None:
        self.learnt: list[tuple[Question, ...]] = []
        self.told: list[tuple[str, int]] = []  # a question, and the network that was asked

    def __call__(self, learn: Sequence[Question]) -> Callable[[str, Ints], Floats]:
        self.learnt.append(tuple(learn))
        number = len(self.learnt) - 1

        def features(question: str, positions: Ints) -> Floats:
            self.told.append((question, number))
            gold = {q.text: q.article_ids[0] for q in ASKED}[question]
            right = np.array([LAW[p].id == gold for p in positions.tolist()], np.float32)
            return np.stack([right, 1 - right, right], axis=1)

        return features


def test_a_network_is_asked_only_what_it_has_not_learnt_and_what_it_knows_is_used() -> None:
    network = Oracle()
    learn, held = ASKED[:110], ASKED[110:]
    runs = rankings(Records(), learn, held, network, FEW)  # type: ignore[arg-type]
    assert len(network.told) == len(ASKED)
    for text, number in network.told:
        assert text not in {q.text for q in network.learnt[number]}
    assert network.learnt[-1] == learn
    qrels = {q.id: frozenset(q.article_ids) for q in held}
    found = {name: per_question(qrels, run, ("MRR@10",))["MRR@10"].mean() for name, run in runs.items()}
    assert found[WITH] > 0.9 > 0.6 > found[WITHOUT]


def test_features_are_cosine_rank_and_share_of_the_best() -> None:
    articles = np.eye(4, dtype=np.float32)
    refined = Refined(articles, lambda _: np.array([0.2, 0.8, 0.0, 0.4], np.float32))
    found = refined.features("", np.array([3, 0, 1]))
    assert found.shape == (3, len(ADDED))
    np.testing.assert_allclose(found, [[0.4, np.log(2), 0.5], [0.2, np.log(3), 0.25], [0.8, 0, 1]], rtol=1e-6)
    assert refined.features("", np.zeros(0, np.int64)).shape == (0, 3)


def test_a_wrong_recipe_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(CORPUS, tmp_path / "law")
    assert main(["--corpus", str(tmp_path / "law"), "--recipe", "nothing"]) == 2
    assert "nothing" in capsys.readouterr().err
    assert main(["--corpus", str(tmp_path / "law"), "--recipe", "scratch-siamese"]) == 2
    assert "scratch-siamese trains no graph network: give --recipe static-gir" in capsys.readouterr().err


@pytest.mark.models
@pytest.mark.skipif(find_spec("torch_geometric") is None, reason="the extra [train] is not installed")
def test_the_command_trains_a_network_a_fold(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = [
        replace(ANSWERED[n % 18], id=f"q{n}", text=f"{ANSWERED[n % 18].text} cas{n}") for n in range(210)
    ]
    write(replace(CORPUS, questions=tuple(asked)), tmp_path / "law")
    few = ("--set", "model.graph.hidden=8", "--set", "training.epochs=2")
    args = ["--corpus", str(tmp_path / "law"), "--only-fold", "0", *few]
    assert main([*args, "--output", str(tmp_path / "found.json")]) == 0
    assert "static-gir, 105 questions" in capsys.readouterr().out
    found = json.loads((tmp_path / "found.json").read_text())
    assert set(found) == {"R@10", "R@100", "MRR@10"}
    assert all(0 < each["with"] <= 1 for each in found.values())
