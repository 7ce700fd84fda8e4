"""The classifier with one label an article: it learns, is the same again, is saved, and refuses."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from small_benchmark import ANSWERED, ARTICLES, CORPUS

from indexes.corpus import write
from rag.errors import BadInput, MissingExtra
from rag.retrieval.scored import Mask
from rag.types import ArticleOrder, Question
from training.eval import main
from training.lsi import LSI, LSISettings, fit, read_settings

TINY = LSISettings(layers=1, hidden=32, heads=2, vocabulary=300, window=32, epochs=40, batch=5, rate=5e-3)
ORDER, MASK = ArticleOrder.of([a.id for a in ARTICLES]), Mask(ARTICLES)


def recall(model: LSI, questions: tuple[Question, ...] = ANSWERED, k: int = 2) -> float:
    rankings = model.over(ORDER, MASK).search([q.text for q in questions], k)
    shares = [
        len({h.article_id for h in r} & set(q.article_ids)) / len(q.article_ids)
        for q, r in zip(questions, rankings, strict=True)
    ]
    return float(np.mean(shares))


@pytest.fixture(scope="module")
def fitted() -> LSI:
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    return fit(ARTICLES, ANSWERED[:10], TINY, device="cpu")


@pytest.mark.models
def test_it_learns_and_finds_what_is_asked_in_other_words(fitted: LSI) -> None:
    untrained = fit(ARTICLES, ANSWERED[:10], replace(TINY, rate=0.0, epochs=1), device="cpu")
    assert fitted.losses[-1] < 0.5 * fitted.losses[0]
    assert recall(fitted, ANSWERED[:10]) > 0.9 > 0.3 > recall(untrained, ANSWERED[:10])
    # q10 to q17 ask about the topics of q0 to q7, with a word that nobody has seen
    assert recall(fitted, ANSWERED[10:]) > 0.7


@pytest.mark.models
def test_scores_rank_all_articles(fitted: LSI) -> None:
    system = fitted.over(ORDER, MASK)
    assert system.scores("Que dire du loyer ?").shape == (len(ARTICLES),)
    assert np.isneginf(system.scores("  ")).all()
    [together, blank], [alone] = system.search(["loyer", ""], 50), system.search(["loyer"], 50)
    assert (len(alone), blank) == (len(ARTICLES), ())
    assert together == alone
    assert np.isfinite(system.scores("\ud800 loyer")).all()
    with pytest.raises(BadInput, match="fit it anew"):
        fitted.over(ArticleOrder.of(["other"]), MASK)


@pytest.mark.models
def test_the_same_seed_gives_the_same_and_other_draws_are_left_alone(fitted: LSI, tmp_path: Path) -> None:
    import torch

    torch.manual_seed(7)
    expected = torch.rand(3)
    torch.manual_seed(7)
    again = fit(ARTICLES, ANSWERED[:10], TINY, device="cpu")
    assert torch.equal(torch.rand(3), expected)
    assert again.losses == pytest.approx(fitted.losses, abs=1e-6)
    assert again.scores("le loyer") == pytest.approx(fitted.scores("le loyer"), abs=1e-5)
    fitted.save(tmp_path / "lsi")
    loaded = LSI.load(tmp_path / "lsi", device="cpu")
    assert (loaded.ids, loaded.settings) == (fitted.ids, fitted.settings)
    assert loaded.scores("le loyer") == pytest.approx(fitted.scores("le loyer"), abs=1e-5)
    with pytest.raises(BadInput, match="there already"):
        fitted.save(tmp_path / "lsi")
    (tmp_path / "lsi" / "lsi.json").write_text("{}", encoding="utf-8")
    with pytest.raises(BadInput, match="no classifier"):
        LSI.load(tmp_path / "lsi")


@pytest.mark.models
def test_the_losses_are_those_of_the_equations() -> None:
    torch = pytest.importorskip("torch")
    from training.lsi import _loss

    class Fixed:
        settings = LSISettings()

        def _logits(self, texts: list[str]) -> object:
            return torch.tensor([[2.0, 1.0, 0.0, 0.0]])

    part = [("q", [0, 1])]
    z = np.array([2.0, 1.0, 0.0, 0.0])
    log_softmax = z - np.log(np.exp(z).sum())
    assert float(_loss(Fixed(), part)) == pytest.approx(-(log_softmax[0] + log_softmax[1]) / 2)  # type: ignore[arg-type]
    Fixed.settings = LSISettings(loss="bce")
    sigmoid = 1 / (1 + np.exp(-z))
    expected = -(np.log(sigmoid[:2]).sum() + np.log(1 - sigmoid[2:]).sum()) / 4
    assert float(_loss(Fixed(), part)) == pytest.approx(expected)  # type: ignore[arg-type]


@pytest.mark.models
def test_it_is_a_system_of_an_evaluation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("torch")
    monkeypatch.setenv("PANDECT_HOME", str(tmp_path / "home"))
    corpus = str(write(CORPUS, tmp_path / "corpus"))
    recipe = tmp_path / "lsi.toml"
    recipe.write_text(
        "layers = 1\nhidden = 32\nvocabulary = 300\nwindow = 32\nepochs = 20\nrate = 5e-3\n", "utf-8"
    )
    words = ["--corpus", corpus, "--lsi", str(recipe), "--systems", "lsi", "--device", "cpu"]
    assert main([*words, "--folds", "2", "--output", str(tmp_path / "out")]) == 0
    entry = json.loads((tmp_path / "out" / "metrics.json").read_text(encoding="utf-8"))
    assert entry["systems"]["lsi"]["R@100"]["value"] == 1.0  # every article is ranked
    assert main(words) == 2
    assert "lsi has no questions to learn from" in capsys.readouterr().err


@pytest.mark.parametrize(("text", "told"), [
    ("rates = 1.0", "no key 'rates'"), ("rate = 'x'", "rate = 'x'"), ("loss = 'hinge'", "loss 'hinge'"),
    ("hidden = 30\nheads = 4", "must divide"), ("epochs = 0", "1 or more"), ("[", "TOML"),
    ("epochs = true", "epochs = True"),
])  # fmt: skip
def test_a_wrong_recipe_is_refused(text: str, told: str, tmp_path: Path) -> None:
    path = tmp_path / "lsi.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(BadInput, match=told):
        read_settings(path)
    path.write_text("rate = 1\nseed = 3", encoding="utf-8")
    assert read_settings(path) == LSISettings(rate=1, seed=3)
    with pytest.raises(BadInput, match=r"absent\.toml"):
        read_settings(tmp_path / "absent.toml")


@pytest.mark.models
def test_what_cannot_be_fitted(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    with pytest.raises(BadInput, match="no question"):
        fit(ARTICLES, [Question("q", "Quoi ?", ("elsewhere",))], TINY)
    with pytest.raises(BadInput, match="cannot be loaded"):
        fit(ARTICLES, ANSWERED, replace(TINY, model=str(tmp_path)))


def test_without_torch_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtra, match=r"pip install 'pandect\[models\]'"):
        fit(ARTICLES, ANSWERED, TINY)
