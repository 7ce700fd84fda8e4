"""Our systems in others' harnesses, others' runs in ours, and the same numbers by two tools."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import ir_measures
import numpy as np
import pytest
import pytrec_eval

from indexes.corpus.corpus import write
from indexes.formats.trec import read_run
from rag.errors import BadInput, MissingExtra
from rag.types import Hit
from tests.fakes.ranking.benchmark import ANSWERED, ARTICLES, CORPUS
from training.eval.__main__ import main
from training.eval.harness import MTEBEncoder, MTEBSearch

# our name -> pytrec_eval's; its MRR has no cut-off, ours is over the whole run
PYTREC = {
    "R@5": "recall_5", "R@100": "recall_100", "MAP@100": "map_cut_100", "MAP": "map", "MRR": "recip_rank",
    "nDCG@10": "ndcg_cut_10", "R-precision": "Rprec", "P@5": "P_5", "Success@1": "success_1",
    "Success@10": "success_10",
}  # fmt: skip
IR = {
    "R@5": "R@5", "R@100": "R@100", "MAP@100": "AP@100", "MRR@10": "RR@10", "nDCG@10": "nDCG@10",
    "R-precision": "Rprec", "Success@1": "Success@1",
}  # fmt: skip
EXACT = 1e-9


@pytest.fixture
def law(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PANDECT_HOME", str(tmp_path / "home"))
    return write(CORPUS, tmp_path / "law")


def evaluated(law: Path, *options: str) -> Path:
    out = law.parent / f"out-{len(options)}"
    measures = sorted({*PYTREC, *IR})
    assert main(["--corpus", str(law), *options, "--measures", *measures, "--output", str(out)]) == 0
    return out


def test_two_tools_agree_with_metrics_json_on_the_files_that_it_lies_beside(law: Path) -> None:
    out = evaluated(law, "--systems", "bm25", "ql")
    entry = json.loads((out / "metrics.json").read_text(encoding="utf-8"))["systems"]
    differing = set()
    for name in ("bm25", "ql"):
        with (out / "qrels.txt").open() as qrels, (out / f"{name}.trec").open() as run:
            judged, ranked = pytrec_eval.parse_qrel(qrels), pytrec_eval.parse_run(run)
        assert len(judged) == len(ANSWERED)
        found = pytrec_eval.RelevanceEvaluator(judged, set(pytrec_eval.supported_measures)).evaluate(ranked)
        for ours, theirs in PYTREC.items():
            mean = sum(of[theirs] for of in found.values()) / len(judged)
            assert entry[name][ours]["value"] == pytest.approx(mean, abs=EXACT), (name, ours)
        measures = {ours: ir_measures.parse_measure(text) for ours, text in IR.items()}
        means = ir_measures.calc_aggregate(
            measures.values(),
            ir_measures.read_trec_qrels(str(out / "qrels.txt")),
            ir_measures.read_trec_run(str(out / f"{name}.trec")),
        )
        for ours, measure in measures.items():
            assert entry[name][ours]["value"] == pytest.approx(means[measure], abs=EXACT), (name, ours)
        differing.add(entry[name]["MAP"]["value"])
    assert all(0 < value < 1 for value in differing)  # so that agreeing says something


def test_a_run_that_was_written_is_measured_as_the_system_that_wrote_it(law: Path) -> None:
    first = evaluated(law, "--systems", "bm25")
    again = evaluated(law, "--run", f"theirs={first / 'bm25.trec'}", "--systems", "bm25", "run:theirs")
    systems = json.loads((again / "metrics.json").read_text(encoding="utf-8"))["systems"]
    assert list(systems) == ["bm25", "run:theirs"]
    for measure in PYTREC:
        assert systems["run:theirs"][measure]["value"] == systems["bm25"][measure]["value"]


def test_a_run_is_read_by_score_whatever_its_ranks_say(tmp_path: Path) -> None:
    file = tmp_path / "a.trec"
    file.write_text("q Q0 b 1 0.5 x\nq Q0 a 2 0.5 x\n\nq Q0 c 3 2e0 x\nr Q0 a 1 1 x\n", encoding="utf-8")
    run = read_run(file)
    assert run["q"] == (Hit("c", 2.0), Hit("a", 0.5), Hit("b", 0.5))
    assert run["r"].ids == ["a"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("q Q0 a 1 0.5\n", "line 1 has 5 columns"),
        ("q Q0 a 1 high x\n", "could not convert"),
        ("q Q0 a 1 nan x\n", "nan is no number"),
        ("q Q0 a 1 2 x\nq Q0 a 2 1 x\n", "line 2: a comes twice"),
    ],
)
def test_a_run_that_is_none(text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "a.trec").write_text(text, encoding="utf-8")
    with pytest.raises(BadInput, match=said):
        read_run(tmp_path / "a.trec")


@pytest.mark.parametrize(
    ("run", "said"),
    [
        ("q0 Q0 strange 1 1 x\n", "the run ranks strange, which small does not have"),
        ("other Q0 a1 1 1 x\n", "has none of the 20 questions that are asked"),
    ],
)
def test_a_run_of_something_else_is_refused(
    run: str, said: str, law: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = law.parent / "odd.trec"
    file.write_text(run, encoding="utf-8")
    assert main(["--corpus", str(law), "--run", f"odd={file}", "--systems", "run:odd"]) == 2
    assert said in capsys.readouterr().err
    assert main(["--corpus", str(law), "--run", str(file)]) == 2
    assert "expected NAME=FILE" in capsys.readouterr().err


# --- MTEB ---

OPTIONS = {
    "task_metadata": None,
    "hf_split": "test",
    "hf_subset": "default",
    "encode_kwargs": {},
    "num_proc": None,
}
DOCUMENTS = [{"id": a.id, "title": a.headings[0], "text": a.text} for a in ARTICLES]


def test_a_system_searches_as_mteb_asks_it_to() -> None:
    search = MTEBSearch("bm25", "fr")
    with pytest.raises(BadInput, match="call index"):
        search.search([], top_k=3)
    search.index(DOCUMENTS, **OPTIONS)
    queries = [{"id": q.id, "text": q.text} for q in ANSWERED]
    found = search.search(queries, top_k=5, **OPTIONS)
    assert list(found) == [q.id for q in ANSWERED]
    for question in ANSWERED:
        assert set(question.article_ids) <= set(found[question.id])
        assert (
            sorted(found[question.id].values(), reverse=True)
            == [-1.0, -2.0, -3.0, -4.0, -5.0][: len(found[question.id])]
        )
    some = {q.id: ["a0", "a3", "a13"] for q in ANSWERED}
    reranked = search.search(queries, top_k=5, top_ranked=some, **OPTIONS)
    assert all(set(of) <= {"a0", "a3", "a13"} for of in reranked.values())
    assert next(iter(reranked["q3"])) in {"a3", "a13"}


class _Letters:
    """An encoder that counts three letters."""

    name, dim = "letters", 3

    def encode_questions(self, questions: list[str]) -> np.ndarray:  # type: ignore[type-arg]
        counts = np.array([[text.count(c) + 1e-6 for c in "abc"] for text in questions], dtype=np.float32)
        return counts / np.linalg.norm(counts, axis=1, keepdims=True)

    def encode_articles(self, articles: list[object]) -> np.ndarray:  # type: ignore[type-arg]
        return self.encode_questions([f"{article.text}aa" for article in articles])  # type: ignore[attr-defined]


def _batches() -> Iterator[dict[str, list[str]]]:
    yield {"text": ["aab", "c"]}
    yield {"text": ["b"]}


def test_an_encoder_encodes_batches_and_sentences_alike() -> None:
    encoder = MTEBEncoder(_Letters())  # type: ignore[arg-type]
    vectors = encoder.encode(_batches(), **OPTIONS)
    assert vectors.shape == (3, 3)
    assert np.array_equal(vectors, encoder.encode(["aab", "c", "b"]))
    documents = encoder.encode(_batches(), prompt_type="document", **OPTIONS)
    assert documents[2, 0] > 0.8 > vectors[2, 0]
    assert encoder.similarity(vectors, documents).shape == (3, 3)
    assert encoder.similarity_pairwise(vectors, vectors) == pytest.approx([1, 1, 1], abs=1e-6)


def test_the_protocols_of_mteb_are_kept() -> None:
    protocols = pytest.importorskip("mteb.models.models_protocols", reason="mteb is not installed")
    assert isinstance(MTEBSearch(), protocols.SearchProtocol)
    assert isinstance(MTEBEncoder(_Letters()), protocols.EncoderProtocol)  # type: ignore[arg-type]
    assert MTEBSearch("rrf:bm25,dense-law").mteb_model_meta.name == "pandect/rrf-bm25,dense-law"


def test_without_mteb_its_description_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "mteb.models", None)
    with pytest.raises(MissingExtra, match='pip install "mteb'):
        _ = MTEBSearch().mteb_model_meta
