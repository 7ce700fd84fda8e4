"""`python -m training.eval` on a small benchmark, from the files to the files."""

from __future__ import annotations

import json
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from indexes.build.fit_settings import FitSettings
from indexes.corpus.corpus import write
from rag.graph.smoothing import KINDS
from rag.types import Question
from tests.fakes.ranking.benchmark import (
    CORPUS,
    QUESTIONS,
    articles_as_records,
    questions_as_records,
    write_lines,
)
from training.eval.__main__ import main, parser
from training.eval.folds import FORKS
from training.eval.metrics import DEFAULT
from training.eval.questions import add_training_questions, grouped, planned
from training.eval.system_names import SYSTEMS
from training.eval.workbench import Bench
from training.splits.__main__ import main as split_command

LEXICAL = ["bm25", "tfidf", "ql"]


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PANDECT_HOME", str(tmp_path / "home"))


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return write(CORPUS, tmp_path / "corpus")


def run(*arguments: object) -> int:
    return main([str(a) for a in arguments])


def said(folder: Path) -> dict[str, Any]:
    entry: dict[str, Any] = json.loads((folder / "metrics.json").read_text(encoding="utf-8"))
    return entry


@pytest.mark.slow
def test_five_folds_of_every_system(corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--corpus", corpus, "--folds", 5, "--output", tmp_path / "out") == 0
    printed = capsys.readouterr().out
    entry = said(tmp_path / "out")
    assert list(entry["systems"]) == [name for name in SYSTEMS if name != "learned"]  # too few for it
    assert (entry["questions"], entry["unanswerable"], entry["seed"]) == (18, 2, 42)
    assert entry["learnt_from"] == "the other folds"
    assert entry["tuned_on"] is None
    assert entry["command"].startswith("python -m training.eval --corpus ")
    for system in entry["systems"].values():
        assert set(system) == {*DEFAULT, "by_category", "ms_per_question"}
        assert {"value", "low", "high", "fold_mean", "fold_sd"} <= set(system["R@10"])
        assert set(system["by_category"]) == {"c0", "c1"}  # those without gold are not there
    assert entry["systems"]["bm25"]["R@20"]["value"] > 0.9
    assert "30 articles, 18 questions with gold articles and 2 without" in printed
    assert "tfidf vs bm25" in printed  # a best single one
    assert "p Holm" in printed
    assert str(tmp_path / "out") in printed


def test_comparisons_choices_and_curves_are_told(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = ["bm25", "ql", "tuned:bm25,ql", "comb-mnz:bm25,ql", "percentile:bm25,ql"]
    assert (
        run("--corpus", corpus, "--folds", 5, "--systems", *names, "--curves", "--output", tmp_path / "o")
        == 0
    )
    printed = capsys.readouterr().out
    entry = said(tmp_path / "o")
    assert [len(fold) for fold in entry["fusions"]] == [1] * 5
    for fold, of in enumerate(entry["fusions"]):
        choice = of["tuned:bm25,ql"]
        assert set(choice["weights"]) == {"bm25", "ql"}
        assert choice["questions"] < 18 - 2  # some of the learning folds' own, and none of those asked
        assert f"fold {fold}: tuned:bm25,ql is {choice['method']} of" in printed
    family = [(c["a"], c["measure"]) for c in entry["comparisons"]]
    assert len(family) == len(set(family)) == 4 * 3
    assert all(0 <= c["p_holm"] <= 1 and c["questions"] == 18 for c in entry["comparisons"])
    assert {c["b"] for c in entry["comparisons"]} <= {"bm25", "ql"}
    assert (tmp_path / "o" / "tuned-bm25,ql.trec").is_file()
    drawn = json.loads((tmp_path / "o" / "curves.json").read_text(encoding="utf-8"))["curves"]
    assert [(c["a"], c["b"]) for c in drawn["min-max"]] == [("bm25", "ql")]
    assert (tmp_path / "o" / "curves.svg").read_text(encoding="utf-8").startswith("<svg")


def test_the_graph_s_weights_are_chosen_inside_folds(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ways = [f"{kind}:bm25" for kind in KINDS]
    names = ["bm25", "ql", *ways, *(f"{kind}@0:bm25" for kind in KINDS)]
    assert run("--corpus", corpus, "--folds", 5, "--systems", *names, "--output", tmp_path / "o") == 0
    printed, entry = capsys.readouterr().out, said(tmp_path / "o")
    for fold, of in enumerate(entry["fusions"]):
        assert list(of) == ways
        for kind, way in zip(KINDS, ways, strict=True):
            tried = of[way]["tried"]
            assert tried[str(of[way]["weight"])] == max(tried.values())
            assert f"fold {fold}: {way} is {kind} with weight {of[way]['weight']}" in printed
    runs = {name: (tmp_path / "o" / f"{name.replace(':', '-')}.trec").read_text() for name in names}
    lists = {name: [line.split()[:4] for line in text.splitlines()] for name, text in runs.items()}
    assert all(lists[f"{kind}@0:bm25"] == lists["bm25"] for kind in KINDS)  # no weight, the same list
    assert {(c["a"], c["b"]) for c in entry["comparisons"]} >= {(way, "bm25") for way in ways}


def test_folds_are_those_of_the_definition(corpus: Path, tmp_path: Path) -> None:
    assert (
        run(
            "--corpus",
            corpus,
            "--folds",
            4,
            "--only-fold",
            1,
            "--seed",
            7,
            "--systems",
            "bm25",
            "--output",
            tmp_path / "out",
        )
        == 0
    )
    order = np.random.default_rng(7).permutation(len(QUESTIONS))
    expected = {QUESTIONS[q].id for place, q in enumerate(order) if place % 4 == 1}
    lines = (tmp_path / "out" / "bm25.trec").read_text(encoding="utf-8").splitlines()
    asked = {line.split()[0] for line in lines}
    assert asked <= expected
    assert {q for q in expected if not q.startswith("none")} <= asked
    assert said(tmp_path / "out")["questions"] == sum(not q.startswith("none") for q in expected)


UNIQUE = tuple(
    Question(f"u{n}", f"zy{chr(97 + n)}x", (f"a{n}",)) for n in range(10)
)  # words that no article has


def test_a_question_is_not_found_through_itself(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each question is one word of its own: only an index that has seen the question can answer it."""
    asked = write_lines(tmp_path / "asked.jsonl", questions_as_records(UNIQUE))
    both = ("--corpus", corpus, "--questions", asked, "--systems", "bm25+questions", "dense", "hybrid")
    assert run(*both, "--folds", 5, "--output", tmp_path / "folds") == 0
    assert capsys.readouterr().err.count("word for word") == 0
    for system in said(tmp_path / "folds")["systems"].values():
        assert system["R@100"]["value"] == 0
    # the same questions to learn from: now they are found, and it is said why
    assert run(*both, "--annotated", asked, "--output", tmp_path / "leak") == 0
    assert "10 of the questions asked are also learnt from, word for word" in capsys.readouterr().err
    assert said(tmp_path / "leak")["systems"]["bm25+questions"]["R@10"]["value"] == 1


def test_no_fold_s_systems_know_its_questions() -> None:
    bench = Bench(replace(CORPUS, questions=()), fit=FitSettings(dim=8, min_count=1, random_negatives=4))
    learn, held = UNIQUE[:8], UNIQUE[8:]
    systems = bench.systems(["bm25+questions", "dense"], learn)
    for system in systems.values():
        assert all(system.search([q.text], 10) == [()] for q in held)
        assert all(system.search([q.text], 10) != [()] for q in learn)
    again = bench.systems(["bm25+questions", "dense"], held)  # nothing of the fold before is left
    for system in again.values():
        assert all(system.search([q.text], 10) == [()] for q in learn)


def test_other_questions_to_learn_from(corpus: Path, tmp_path: Path) -> None:
    records = [
        {"id": "w1", "question": "ronces envahissantes", "code": "Code civil", "article_no": "0"},
        {"id": "w2", "question": "ailleurs", "code": "Code du travail", "article_no": "0"},
        {"id": "w3", "question": "ronces tenues en secret", "article_ids": ["a1"], "split": "test"},
    ]
    annotated = write_lines(tmp_path / "written.jsonl", records)
    asked = write_lines(
        tmp_path / "asked.jsonl", [{"id": "q", "question": "des ronces", "article_ids": ["a0"]}]
    )
    output = tmp_path / "out"
    assert run("--corpus", corpus, "--questions", asked, "--annotated", annotated, "--output", output,
               "--systems", "bm25", "bm25+questions") == 0  # fmt: skip
    entry = said(output)
    assert entry["systems"]["bm25"]["R@10"]["value"] == 0
    assert entry["systems"]["bm25+questions"]["R@10"]["value"] == 1
    assert entry["learnt_from"] == str(annotated)
    assert (
        len((output / "bm25+questions.trec").read_text(encoding="utf-8").splitlines()) == 1
    )  # a1 was held out


def test_questions_beside_those_of_each_fold(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = [
        {"id": f"w{n}", "question": f"Que dire de mot{n} ?", "split": "synthetic"}
        | {"code": "Code civil", "article_no": str(n % 10)}
        for n in range(18)
    ]
    written = write_lines(tmp_path / "written.jsonl", told)
    # a question's own word stands in nothing else, so only what was written for it can tell of it
    asked = write_lines(
        tmp_path / "asked.jsonl",
        [{"id": f"q{n}", "question": f"mot{n}", "article_ids": [f"a{n % 10}"]} for n in range(18)],
    )
    typed = ["--corpus", corpus, "--questions", asked, "--folds", 3, "--systems", "bm25+questions"]
    assert run(*typed, "--output", tmp_path / "alone") == 0
    assert run(*typed, "--beside", written, "--output", tmp_path / "beside") == 0
    alone, beside = said(tmp_path / "alone"), said(tmp_path / "beside")
    assert alone["systems"]["bm25+questions"]["R@10"]["value"] == 0
    assert beside["systems"]["bm25+questions"]["R@10"]["value"] == 1
    assert beside["learnt_from"] == f"the other folds, and {written}"
    assert beside["questions"] == alone["questions"] == 18
    assert run("--corpus", corpus, "--beside", written, "--systems", "bm25") == 2
    assert "beside nothing: add --folds, --splits or --annotated" in capsys.readouterr().err
    assert run("--beside", written, "--systems", "bm25") == 2
    assert "fit one anew" in capsys.readouterr().err
    assert run("--corpus", corpus, "--folds", 3, "--tune", "--beside", written) == 2
    assert "--tune chooses without what --beside adds" in capsys.readouterr().err


def test_what_a_machine_wrote_is_learnt_from_and_not_asked(tmp_path: Path) -> None:
    written = [
        Question(f"w{n}", f"Que dire de mot{n} donc ?", (f"a{n % 10}",), split="synthetic") for n in range(18)
    ]
    mixed = write(replace(CORPUS, questions=(*written, *QUESTIONS)), tmp_path / "mixed")
    plain = write(CORPUS, tmp_path / "plain")
    typed = ["--folds", 3, "--systems", "bm25", "bm25+questions"]
    assert run("--corpus", plain, *typed, "--output", tmp_path / "one") == 0
    assert run("--corpus", mixed, *typed, "--output", tmp_path / "two") == 0
    one, two = said(tmp_path / "one"), said(tmp_path / "two")
    assert two["questions"] == one["questions"] == 18
    assert two["systems"]["bm25"]["R@10"] == one["systems"]["bm25"]["R@10"]  # the same folds
    told = (tmp_path / "two" / "bm25.trec").read_text(encoding="utf-8").splitlines()
    assert {line.split()[0] for line in told} <= {q.id for q in QUESTIONS}
    plan = planned(parser().parse_args(["--folds", "3"]), [*written, *QUESTIONS], [])
    for held, learn, tune in plan:
        assert {q.id for q in written} < {q.id for q in learn}
        assert not {q.id for q in written} & {q.id for q in (*held, *tune)}


def test_a_file_of_splits_may_hold_written_questions(tmp_path: Path) -> None:
    written = [replace(q, id=f"w-{q.id}", split="synthetic") for q in QUESTIONS[:6]]
    mixed = write(replace(CORPUS, questions=(*QUESTIONS, *written)), tmp_path / "mixed")
    splits = tmp_path / "folds.jsonl"
    assert split_command([str(mixed), "--folds", "4", "--output", str(splits)]) == 0
    assert run("--corpus", mixed, "--splits", splits, "--systems", "bm25+questions", "--output",
               tmp_path / "out") == 0  # fmt: skip
    assert said(tmp_path / "out")["questions"] == 18


def test_what_is_chosen_inside_grouped_folds_is_chosen_on_them(corpus: Path, tmp_path: Path) -> None:
    splits = tmp_path / "grouped.jsonl"
    make = [str(corpus), "--folds", "3", "--grouped", "--group-by", "articles", "--output", str(splits)]
    assert split_command(make) == 0
    fold_of = grouped(parser().parse_args(["--splits", str(splits)]))
    assert fold_of is not None
    assert fold_of.keys() == {q.id for q in QUESTIONS}
    assert set(fold_of.values()) == {"0", "1", "2"}
    plain = tmp_path / "plain.jsonl"
    assert split_command([str(corpus), "--folds", "3", "--output", str(plain)]) == 0
    assert grouped(parser().parse_args(["--splits", str(plain)])) is None
    assert grouped(parser().parse_args(["--folds", "3"])) is None
    assert run("--corpus", corpus, "--splits", splits, "--systems", "tuned:bm25,ql", "--output",
               tmp_path / "out") == 0  # fmt: skip
    of_folds = [each["tuned:bm25,ql"]["questions"] for each in said(tmp_path / "out")["fusions"]]
    sizes = Counter(fold_of[q.id] for q in QUESTIONS if q.article_ids)
    assert of_folds == [sizes.total() - sizes[name] for name in "012"]  # all others, fold by fold


def test_what_is_there_word_for_word_is_not_learnt_twice(corpus: Path, tmp_path: Path) -> None:
    told = [{"id": f"w{n}", "question": q.text, "article_ids": list(q.article_ids)}
            for n, q in enumerate(QUESTIONS[:18])]  # fmt: skip
    again = [*told, {"id": "new", "question": "Autre chose ?", "article_ids": ["a1"]}]
    more = write_lines(tmp_path / "more.jsonl", again)
    plan = planned(parser().parse_args(["--folds", "3"]), list(QUESTIONS), [])
    for (_, before, _), (_, learn, _) in zip(plan, add_training_questions(plan, more, CORPUS), strict=True):
        texts = [q.text for q in learn]
        assert len(set(texts)) == len(texts)
        assert "Autre chose ?" in texts
        assert learn[: len(before)] == before


def test_plain_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    law = write_lines(tmp_path / "articles.jsonl.gz", articles_as_records())
    asked = write_lines(tmp_path / "asked.jsonl", questions_as_records())
    assert run("--corpus", law, "--questions", asked, "--language", "fr", "--systems", *LEXICAL) == 0
    assert "30 articles, 18 questions" in capsys.readouterr().out
    assert run("--corpus", law, "--questions", asked, "--systems", *LEXICAL) == 2
    assert "--language" in capsys.readouterr().err


def test_what_was_analysed_is_kept_and_gives_the_same(corpus: Path, tmp_path: Path) -> None:
    names = ("--systems", "bm25", "dense")
    for output in ("first", "second"):
        assert (
            run("--corpus", corpus, *names, "--cache", tmp_path / "cache", "--output", tmp_path / output) == 0
        )
    kept = [p.name.split("-")[0] for p in (tmp_path / "cache" / CORPUS.sha256[:16]).iterdir()]
    assert sorted(kept) == ["counts", "fitted"]
    for name in ("bm25", "dense"):
        first, second = (
            (tmp_path / o / f"{name}.trec").read_text(encoding="utf-8") for o in ("first", "second")
        )
        assert first == second


@pytest.mark.slow
@pytest.mark.skipif(not FORKS, reason="nothing forks here")
def test_folds_asked_side_by_side_answer_the_same(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "lightgbm", raising=False)  # of another test: nothing here uses it
    systems = ("--systems", "bm25+questions", "dense", "hybrid", "tuned")
    for jobs, out in ((1, "one"), (2, "two"), (9, "nine")):
        assert (
            run("--corpus", corpus, "--folds", 3, *systems, "--jobs", jobs, "--output", tmp_path / out) == 0
        )
    assert "parts of the questions" in capsys.readouterr().err
    one = said(tmp_path / "one")
    for other in ("two", "nine"):
        for run_file in (tmp_path / "one").glob("*.trec"):
            assert (tmp_path / other / run_file.name).read_bytes() == run_file.read_bytes()
        told = said(tmp_path / other)
        assert told["jobs"] > 1
        assert list(told["systems"]) == list(one["systems"])
        assert told["fusions"] == one["fusions"]
        for name, system in told["systems"].items():
            assert {**system, "ms_per_question": 0} == {**one["systems"][name], "ms_per_question": 0}


def test_an_encoder_of_several_fits_is_measured(corpus: Path, tmp_path: Path) -> None:
    for fits in (1, 2):
        assert (
            run(
                "--corpus",
                corpus,
                "--folds",
                2,
                "--systems",
                "dense",
                "--fits",
                fits,
                "--output",
                tmp_path / str(fits),
            )
            == 0
        )
    runs = [(tmp_path / str(fits) / "dense.trec").read_text(encoding="utf-8") for fits in (1, 2)]
    assert runs[0] != runs[1]


def test_the_seed_fixes_the_intervals(corpus: Path, tmp_path: Path) -> None:
    ranks_1_to_3 = [replace(q, article_ids=(f"a{n % 10 + n % 3 * 10}",)) for n, q in enumerate(QUESTIONS)]
    asked = write_lines(tmp_path / "asked.jsonl", questions_as_records(ranks_1_to_3))
    same = ("--corpus", corpus, "--questions", asked, "--systems", "bm25")
    for output, seed in (("a", 1), ("b", 1), ("c", 2)):
        assert run(*same, "--seed", seed, "--output", tmp_path / output) == 0
    a, b, c = (said(tmp_path / output)["systems"]["bm25"]["MRR@10"] for output in "abc")
    assert a == b
    assert a["value"] == c["value"]
    assert (a["low"], a["high"]) != (c["low"], c["high"])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--systems", "bm26"], "no system 'bm26': choose among bm25"),
        (["--systems", "dense", "bm25+questions"], "add --folds 5 or --annotated PATH"),
        (["--measures", "R@0"], "no measure 'R@0'"),
        (["--tune"], "--tune needs --folds"),
        (["--curves"], "--curves needs --output"),
        (["--systems", "tuned"], "add --folds 5 or --annotated PATH"),
        (["--systems", "rrf:bm25"], "name two or more different systems"),
        (["--only-fold", "0"], "--only-fold needs --folds"),
        (["--folds", "5", "--only-fold", "5"], "folds 0 to 4"),
        (["--folds", "5", "--jobs", "0"], "--jobs 0: give 1 or more"),
        (["--fits", "0"], "--fits 0: an encoder is fitted once or more"),
        (["--folds", "1"], "at least 2 folds"),
        (["--folds", "0"], "at least 2 folds"),
        (["--folds", "21"], "21 folds of 20 questions"),
        (["--questions", "absent.jsonl"], "absent.jsonl"),
        (["--annotated", "absent.jsonl"], "absent.jsonl"),
        (["--output", "{corpus}"], "there already"),
    ],
)
def test_errors_say_what_to_type(
    corpus: Path, arguments: list[str], words: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    before = sorted(tmp_path.rglob("*"))
    assert run("--corpus", corpus, *(a.format(corpus=corpus) for a in arguments)) == 2
    printed = capsys.readouterr()
    assert printed.err.splitlines()[-1].startswith("error: ")
    assert words in printed.err
    assert printed.out == ""
    assert sorted(tmp_path.rglob("*")) == before  # told before any work


def test_no_corpus_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--corpus", tmp_path / "absent") == 2
    assert "does not exist" in capsys.readouterr().err


def test_no_question_has_gold(corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = write_lines(tmp_path / "asked.jsonl", questions_as_records(QUESTIONS[18:]))
    assert run("--corpus", corpus, "--questions", asked) == 2
    assert "has gold articles" in capsys.readouterr().err
    mixed = write_lines(tmp_path / "mixed.jsonl", questions_as_records(QUESTIONS[17:]))
    with_gold = next(n for n, q in enumerate(np.random.default_rng(42).permutation(3)) if q == 0)
    other = (with_gold + 1) % 3
    assert (
        run("--corpus", corpus, "--questions", mixed, "--folds", 3, "--only-fold", other, "--systems", "bm25")
        == 2
    )
    assert f"no question of fold {other} has gold articles" in capsys.readouterr().err


def test_nothing_to_learn_from_in_the_file(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    records = [
        {"id": "1", "question": "un", "code": "Code du travail", "article_no": "1"},
        {"id": "2", "question": "deux", "article_ids": ["not here"]},
    ]
    annotated = write_lines(tmp_path / "other.jsonl", records)
    assert run("--corpus", corpus, "--annotated", annotated) == 2
    assert "none of its questions cites an article of small" in capsys.readouterr().err


def test_help_teaches(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--help"])
    assert ended.value.code == 0
    printed = capsys.readouterr().out
    assert "examples" in printed
    assert all(
        name in printed for name in (*SYSTEMS, "--folds", "--annotated", "metrics.json", "articles.jsonl")
    )


def test_the_hybrid_without_questions_is_of_bm25_and_the_encoder() -> None:
    systems = Bench(CORPUS).systems(["hybrid"], [])
    assert list(systems["hybrid"].parts) == ["bm25+preceding", "dense"]  # type: ignore[attr-defined]
    learnt = Bench(CORPUS).systems(["hybrid"], QUESTIONS[:18])
    assert list(learnt["hybrid"].parts) == ["bm25+questions+bridge", "dense"]  # type: ignore[attr-defined]
    plain = Bench(CORPUS).systems(["hybrid-without-bridge"], QUESTIONS[:18])
    assert list(plain["hybrid-without-bridge"].parts) == ["bm25+questions", "dense"]  # type: ignore[attr-defined]


def test_the_encoder_that_ships_is_fitted_already(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--fits", 3) == 2
    assert "--fits 3: the encoder that ships is fitted already: add --corpus" in capsys.readouterr().err


@pytest.mark.slow
def test_the_index_that_ships_has_no_questions_to_tune_on(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--systems", "bm25", "tuned"]) == 2
    assert "tuned needs questions that its parts have not learnt from" in capsys.readouterr().err


@pytest.mark.parametrize("option", [["--folds", "5"], ["--annotated", "more.jsonl"]])
def test_the_index_that_ships_cannot_be_measured_on_what_it_has_seen(
    option: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(option) == 2
    assert "add --corpus" in capsys.readouterr().err


@pytest.mark.slow
def test_the_questions_that_ship_can_be_learnt_from(tmp_path: Path) -> None:
    law = [
        {"id": "L1", "code": "Code civil", "article_no": "671", "text": "Les arbres se plantent plus loin."},
        {"id": "L2", "code": "Code civil", "article_no": "1240", "text": "Qui cause un tort le répare."},
        {"id": "L3", "code": "Code du vent", "article_no": "1240", "text": "Le vent souffle."},
    ]
    articles = write_lines(tmp_path / "articles.jsonl", law)
    asked = write_lines(
        tmp_path / "asked.jsonl",
        [{"id": "x", "question": "mon voisin plante un arbre", "article_ids": ["L1"]}],
    )
    output = tmp_path / "out"
    assert run("--corpus", articles, "--language", "fr", "--questions", asked, "--annotated", "builtin",
               "--systems", "bm25+questions", "--output", output) == 0  # fmt: skip
    entry = json.loads((output / "metrics.json").read_text(encoding="utf-8"))
    assert entry["learnt_from"] == "builtin"
    assert [source["name"] for source in entry["sources"]][1:] == ["droit-courant"]


@pytest.mark.slow
def test_the_bench_knows_the_words_that_the_page_knows() -> None:
    import indexes
    from indexes.corpus.corpus import read, to_learn_from
    from indexes.store import paths
    from rag.text.spelling import TolerantAnalyser
    from training.eval.questions import fitted_parts
    from training.eval.workbench import Bench

    engine = indexes.open()
    corpus = read(paths.builtin() / "corpus")
    assert engine.searcher.meaning is not None
    bench = Bench(corpus, ready=fitted_parts(paths.builtin(), corpus))
    made = bench.systems(["hybrid", "bm25+questions"], to_learn_from(corpus.questions))
    assert isinstance(engine.analyser, TolerantAnalyser)
    for whole in (*made["hybrid"].parts.values(), made["bm25+questions"]):  # type: ignore[attr-defined]
        part = getattr(whole, "keyword", whole)  # of a bridge
        reads = (
            part.encoder.analyser if hasattr(part, "index") and hasattr(part, "encoder") else part.analyser
        )
        assert reads._known == engine.analyser._known
    asked = "mon voisn a planté un arbre contre ma cloturre"
    found = made["hybrid"].search([asked], 10)[0]
    assert [h.article_id for h in found] == [s.article.id for s in engine.ask(asked).shown]
