"""Operations by formula, against what the papers print and what a profiler counts; and a run of small law."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from indexes.corpus.corpus import write
from indexes.store.open_index import open_index
from indexes.store.paths import BUILTIN
from tests.fakes.ranking.benchmark import CORPUS
from training.benchmark import __main__ as benchmark
from training.benchmark.efficiency import (
    bm25_flops,
    colbert_flops,
    cross_encoder_flops,
    dense_flops,
    forward_flops,
    question_knn_flops,
    search_flops,
    splade_flops,
    static_forward_flops,
)
from training.eval.system_names import EXPANDED_BM25
from training.report.published import tables
from training.tables.efficiency import efficiency

QUESTION, ARTICLE, ARTICLES = 15, 157, 27_942  # of LLeQA, as the paper has them
BASE = 12, 768, 3072  # layers and widths of CamemBERT-base


def printed(system: str) -> float:
    [table] = [t for t in tables() if (t.paper, t.number) == ("know_when_to_fuse", "2")]
    return float(next(values["flops"] for name, values, _ in table.rows if name == system))


def test_the_formulas_give_what_the_paper_prints() -> None:
    forward = forward_flops(*BASE, QUESTION)
    assert bm25_flops(QUESTION, ARTICLES) == pytest.approx(printed("BM25"), rel=0.02)
    assert dense_flops(forward, 768, ARTICLES) == pytest.approx(printed("DPR FR-BASE"), rel=0.02)
    assert splade_flops(forward) == pytest.approx(printed("SPLADE FR-BASE"), rel=0.02)
    # it prints the square of |q|
    once = colbert_flops(forward, 128, QUESTION, ARTICLE, ARTICLES) - forward
    assert once * QUESTION + forward == pytest.approx(printed("ColBERT FR-BASE"), rel=0.02)
    # pairs of 128 tokens
    assert cross_encoder_flops(forward_flops(*BASE, 128)) == pytest.approx(
        printed("monoBERT FR-BASE"), rel=0.03
    )


@pytest.mark.models
@pytest.mark.parametrize("tokens", [7, 64])
def test_a_profiler_counts_the_products_of_a_pass_as_the_formula_does(tokens: int) -> None:
    torch = pytest.importorskip("torch")
    from torch.utils.flop_counter import FlopCounterMode
    from transformers import BertConfig, BertModel

    layers, width, inner = 3, 32, 96
    sizes: dict[str, Any] = {"num_hidden_layers": layers, "hidden_size": width, "intermediate_size": inner}
    # eager: of a fused attention on a processor the counter sees no product
    of = BertConfig(vocab_size=50, num_attention_heads=4, attn_implementation="eager", **sizes)
    model = BertModel(of, add_pooling_layer=False).eval()
    with torch.no_grad(), FlopCounterMode(display=False) as counter:
        model(torch.ones(1, tokens, dtype=torch.long))
    assert counter.get_total_flops() == forward_flops(layers, width, inner, tokens)


@pytest.mark.models
def test_a_profiler_counts_the_products_of_a_search_as_the_formulas_do() -> None:
    torch = pytest.importorskip("torch")
    from torch.utils.flop_counter import FlopCounterMode

    width, question, article, articles = 64, 9, 20, 300
    with torch.no_grad(), FlopCounterMode(display=False) as counter:
        # a static encoder: the weights of the question's terms times their vectors; then all articles
        vector = torch.rand(1, question) @ torch.rand(question, width)
        vector @ torch.rand(width, articles)
    # additions of a product of n: n - 1, which a profiler takes for n; normalising is no product
    found = dense_flops(static_forward_flops(question, width), width, articles)
    assert found == counter.get_total_flops() - articles + 3 * width
    with torch.no_grad(), FlopCounterMode(display=False) as counter:
        torch.rand(question, width) @ torch.rand(width, article * articles)
    # maxima over an article's tokens and their sum are no products
    maxima = question * (article + 1) * articles
    assert colbert_flops(0, width, question, article, articles) == counter.get_total_flops() + maxima
    with torch.no_grad(), FlopCounterMode(display=False) as counter:
        # annotated questions, each of which cites every article, so that no product is left out of the votes
        near = torch.rand(1, width) @ torch.rand(width, questions := 40)
        near @ torch.ones(questions, articles)
    # BM25 over the questions is a sum by looking up, and the last addition of a cosine is none
    by_words = bm25_flops(question, questions)
    found = question_knn_flops(question, width, questions, questions * articles)
    assert found == counter.get_total_flops() - questions + by_words


@pytest.mark.slow  # all questions that ship are analysed and encoded
def test_a_hybrid_search_of_what_ships_counts_the_nearest_questions() -> None:
    engine, asked = open_index(BUILTIN), ["Mon propriétaire peut-il garder le dépôt de garantie ?"]
    ways = (EXPANDED_BM25, "dense", "hybrid")
    words, meaning, hybrid = (search_flops(engine, name, asked) for name in ways)
    assert engine.searcher.question_knn is not None
    known, terms = engine.searcher.question_knn.index, len(engine.analyser.terms(asked[0]))
    cited = sum(len({id_ for id_ in q.article_ids if id_ in engine.articles}) for q in known.questions)
    assert known.vectors is not None
    compared = question_knn_flops(terms, known.vectors.shape[1], len(known.questions), cited)
    assert len(known.questions) > 10_000
    assert hybrid == words + meaning + compared


@pytest.mark.slow  # an index is built twice and opened thrice
def test_each_way_to_search_small_law_is_measured(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(CORPUS, tmp_path / "law")
    file = tmp_path / "efficiency.json"
    assert benchmark.main(["--efficiency", str(tmp_path / "law"), "--output", str(file)]) == 0
    entry = json.loads(file.read_text(encoding="utf-8"))
    systems = entry["systems"]
    assert list(systems) == [
        "bm25+questions+bridge",
        "dense",
        "hybrid",
    ]  # too few questions to learn a fusion
    words, dense, hybrid = systems.values()
    assert hybrid["index_bytes"] == words["index_bytes"] + dense["index_bytes"]
    assert hybrid["flops"] == pytest.approx(words["flops"] + dense["flops"])
    for of in systems.values():
        assert of["measures"]["R@10"] > 0.9
        assert of["core_ms"] == sorted(of["core_ms"])
        assert of["peak_bytes"] > of["index_bytes"] > 0
        assert of["training"]["kwh"] > 0
    assert efficiency(entry) in capsys.readouterr().out
    assert entry["machine"]


@pytest.mark.slow
def test_law_without_questions_cannot_be_measured(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from dataclasses import replace

    write(replace(CORPUS, questions=()), tmp_path / "law")
    assert benchmark.main(["--efficiency", str(tmp_path / "law")]) == 2
    assert "0 questions with an answer" in capsys.readouterr().err
