"""One file of splits: written, read, refused where it does not fit, and measured with."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexes.corpus.corpus import Corpus, write
from indexes.corpus.folds import Fold, folds, pick
from rag.errors import BadInput
from rag.types import Question
from tests.fakes.ranking.benchmark import CORPUS, QUESTIONS, questions_as_records, write_lines
from training.eval import __main__ as evaluation
from training.splits import __main__ as splits
from training.splits.__main__ import fixed
from training.splits.file import (
    KINDS,
    QuestionSplit,
    evaluated_folds,
    fold_parts,
    identity,
    read_split,
    write_split,
)

Screen = pytest.CaptureFixture[str]
PUBLISHED = [
    replace(question, split=("train", "validation", "test", "synthetic")[n % 4])
    for n, question in enumerate(QUESTIONS)
]


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PANDECT_HOME", str(tmp_path / "home"))


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return write(CORPUS, tmp_path / "corpus")


def split(*words: object) -> int:
    return splits.main([str(word) for word in words])


def evaluate(*words: object) -> int:
    return evaluation.main([str(word) for word in words])


def five(**changes: Any) -> QuestionSplit:
    parts = {str(i): tuple(QUESTIONS[p].id for p in fold.held) for i, fold in enumerate(folds(20, 5, 42))}
    made = QuestionSplit("folds", parts, identity(QUESTIONS), "small", CORPUS.sha256, 42)
    return replace(made, **changes)


names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6)


@given(st.data())
def test_round_trip(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    ids = data.draw(st.lists(names, unique=True, max_size=12))
    labels = data.draw(st.lists(names, unique=True, min_size=1, max_size=4))
    where = [data.draw(st.sampled_from(labels)) for _ in ids]
    parts = {label: tuple(id_ for id_, at in zip(ids, where, strict=True) if at == label) for label in labels}
    made = QuestionSplit(
        data.draw(st.sampled_from(KINDS)),
        parts,
        "0" * 64,
        data.draw(names),
        "1" * 64,
        data.draw(st.none() | st.integers(0, 2**32)),
        data.draw(st.dictionaries(names, st.integers() | names, max_size=2)),
        dict.fromkeys([id_ for id_ in ids if data.draw(st.booleans())], ("a1", "a2")),
    )
    path = tmp_path_factory.mktemp("split") / "s.jsonl"
    write_split(path, made)
    assert read_split(path) == made
    content = path.read_bytes()
    write_split(path, read_split(path))
    assert path.read_bytes() == content
    assert [each.name for each in path.parent.iterdir()] == ["s.jsonl"]


def test_the_file_is_what_its_description_says(tmp_path: Path) -> None:
    write_split(tmp_path / "s.jsonl", five())
    header, *rest = map(json.loads, (tmp_path / "s.jsonl").read_text(encoding="utf-8").splitlines())
    assert header == {
        "format": 1,
        "kind": "folds",
        "k": 5,
        "seed": 42,
        "questions": 20,
        "questions_sha256": CORPUS.questions_sha256,
        "corpus": "small",
        "corpus_sha256": CORPUS.sha256,
    }
    assert [line["fold"] for line in rest] == ["0", "1", "2", "3", "4"]
    assert rest[0]["questions"] == [QUESTIONS[p].id for p in folds(20, 5, 42)[0].held]


@pytest.mark.parametrize("seed", [42, 7])
def test_plain_folds_are_the_ones_of_eval(corpus: Path, tmp_path: Path, seed: int) -> None:
    """Numbers that were published with --folds stay what they are."""
    path = tmp_path / "s.jsonl"
    assert split(corpus, "--folds", 5, "--seed", seed, "--output", path) == 0
    assert evaluated_folds(QUESTIONS, path, 0, 0) == folds(20, 5, seed)
    assert evaluated_folds(QUESTIONS, None, 5, seed) == folds(20, 5, seed)
    assert evaluated_folds(QUESTIONS, path, 0, 0, "3") == [folds(20, 5, seed)[3]]
    for words in (["--folds", "5"], ["--splits", str(path)]):
        out = tmp_path / words[0]
        systems = ("--systems", "bm25", "bm25+questions", "--seed", seed)
        assert evaluate("--corpus", corpus, *words, *systems, "--output", out) == 0
    one, other = (
        json.loads((tmp_path / kind / "metrics.json").read_text(encoding="utf-8"))
        for kind in ("--folds", "--splits")
    )
    for entry in (one, other):
        for system in entry["systems"].values():
            system.pop("ms_per_question")
    assert one["systems"] == other["systems"]
    assert "splits" not in one
    assert (other["splits"]["kind"], other["splits"]["k"], other["splits"]["seed"]) == ("folds", 5, seed)
    assert other["learnt_from"] == "the other folds"


def test_grouped_folds_keep_twins_together(tmp_path: Path, capsys: Screen) -> None:
    twins = [Question(f"t{n}", f"{QUESTIONS[n].text.upper()}  ", ("a1",)) for n in range(6)]
    both = replace(CORPUS, questions=(*QUESTIONS, *twins))
    path = tmp_path / "s.jsonl"
    words = (write(both, tmp_path / "twins"), "--folds", 4, "--grouped", "--threshold", 0.99)
    assert split(*words, "--output", path) == 0
    said = capsys.readouterr().out
    made = read_split(path)
    assert (made.kind, made.grouping["near_duplicates"], made.grouping["largest"]) == ("grouped", 6, 2)
    assert "6 pairs are the same or nearly the same (Jaccard 0.99 of terms)" in said
    assert "20 groups, 6 of more than one question" in said
    where = {id_: name for name, ids in made.folds.items() for id_ in ids}
    assert all(where[f"t{n}"] == where[f"q{n}"] for n in range(6))
    assert {len(ids) for ids in made.folds.values()} <= {6, 7}
    # and by a field: every question of one category in one fold
    assert split(*words[:1], "--folds", 2, "--group-by", "category", "--output", tmp_path / "c.jsonl") == 0
    parts = fold_parts(read_split(tmp_path / "c.jsonl"), both.questions, "c").values()
    kept = [{both.questions[p].category for p in fold.held} - {None} for fold in parts]
    assert not kept[0] & kept[1]
    assert kept[0] | kept[1] == {"c0", "c1", "elsewhere"}


def test_published_parts(tmp_path: Path) -> None:
    listed = {PUBLISHED[0].id: {"negatives": ["a3", "not-here", "a4"]}, PUBLISHED[1].id: {"negatives": []}}
    published = Corpus(CORPUS.card, CORPUS.articles, tuple(PUBLISHED), {}, listed)
    path = tmp_path / "s.jsonl"
    assert split(write(published, tmp_path / "published"), "--fixed", "--output", path) == 0
    made = read_split(path)
    assert made.folds == fixed(PUBLISHED)
    assert list(made.folds) == ["train", "validation", "test", "synthetic"]
    assert made.negatives == {PUBLISHED[0].id: ("a3", "a4")}
    parts = fold_parts(made, PUBLISHED, path)
    learn = {p.id for p in PUBLISHED if p.split in ("train", "synthetic")}
    assert list(parts) == ["validation", "test"]
    for name, fold in parts.items():
        assert {PUBLISHED[p].split for p in fold.held} == {name}
        assert {q.id for q in pick(PUBLISHED, fold.learn)} == learn
    assert evaluated_folds(PUBLISHED, path, 0, 0) == [parts["test"]]
    assert evaluated_folds(PUBLISHED, path, 0, 0, "validation") == [parts["validation"]]
    with pytest.raises(BadInput, match=r"no fold train to ask\. Give --only-fold one of: validation, test"):
        evaluated_folds(PUBLISHED, path, 0, 0, "train")


def test_parts_that_nobody_gave(corpus: Path, tmp_path: Path, capsys: Screen) -> None:
    assert split(corpus, "--fixed", "--output", tmp_path / "s") == 2
    assert "error: 20 of 20 questions have no split (the first: q0): give" in capsys.readouterr().err
    only = replace(CORPUS, questions=tuple(replace(q, split="train") for q in QUESTIONS))
    assert split(write(only, tmp_path / "only"), "--fixed", "--output", tmp_path / "s") == 0
    with pytest.raises(BadInput, match=r"no fold test to ask.*none: nothing in it is held back"):
        evaluated_folds(only.questions, tmp_path / "s", 0, 0)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (
            lambda qs: qs[1:],
            r"names 1 questions that are not among the 19 given \('q0'\)\. Make the file anew",
        ),
        (
            lambda qs: [],
            r"names 20 questions that are not among the 0 given \('none1', 'none2', 'q0', \.\.\.\)",
        ),
        (lambda qs: [*qs, Question("new", "Et ?")], r"made of other questions .*1 more questions came"),
        (lambda qs: [replace(qs[0], text="Autre ?"), *qs[1:]], r"texts, gold articles or order differ"),
        (lambda qs: [replace(qs[0], article_ids=("a2",)), *qs[1:]], r"gold articles or order differ"),
        (lambda qs: qs[::-1], r"order differ"),
    ],
)
def test_other_questions_are_refused(tmp_path: Path, change: Any, told: str) -> None:
    write_split(tmp_path / "s.jsonl", five())
    with pytest.raises(BadInput, match=told):
        evaluated_folds(change(list(QUESTIONS)), tmp_path / "s.jsonl", 0, 0)


def test_eval_says_so_before_any_work(corpus: Path, tmp_path: Path, capsys: Screen) -> None:
    path = tmp_path / "s.jsonl"
    write_split(path, five())
    fewer = write_lines(tmp_path / "fewer.jsonl", questions_as_records(QUESTIONS[:10]))
    assert evaluate("--corpus", corpus, "--splits", path, "--questions", fewer) == 2
    assert "names 10 questions that are not among the 10 given" in capsys.readouterr().err
    assert evaluate("--splits", path) == 2
    assert "--folds and --splits would measure what it has seen" in capsys.readouterr().err
    assert evaluate("--corpus", corpus, "--splits", path, "--only-fold", "5") == 2
    assert "no fold 5 to ask. Give --only-fold one of: 0, 1, 2, 3, 4" in capsys.readouterr().err
    assert evaluate("--corpus", corpus, "--only-fold", "5") == 2
    assert "--only-fold needs --folds or --splits" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        evaluate("--corpus", corpus, "--splits", path, "--folds", 5)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("", "not a file of splits of format 1"),
        ("{", "not JSON Lines"),
        ("[]\n", "a JSON object was expected"),
        ('{"format": 2, "kind": "folds"}\n', "not a file of splits of format 1"),
        ('{"format": 1, "kind": "halves"}\n', "not a file of splits of format 1"),
        ('{"format": 1, "kind": "folds", "k": 2}\n{"fold": "0", "questions": ["a"]}\n', "1 of its folds"),
        (
            '{"format": 1, "kind": "folds", "k": 2}\n{"fold": "0", "questions": ["a"]}\n'
            '{"fold": "1", "questions": ["a"]}\n',
            "question 'a' is there twice",
        ),
        ('{"format": 1, "kind": "folds", "k": 1}\n{"fold": 0, "questions": ["a"]}\n', ":2: a fold of"),
        ('{"format": 1, "kind": "folds", "k": 1}\n{"fold": "0", "questions": [1]}\n', ":2: a fold of"),
        (
            '{"format": 1, "kind": "fixed", "k": 1}\n{"fold": "0", "questions": [], "negatives": {"a": 1}}\n',
            ":2: negatives are an object",
        ),
    ],
)
def test_files_that_are_no_splits(tmp_path: Path, content: str, told: str) -> None:
    path = tmp_path / "s.jsonl"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(BadInput, match=told):
        read_split(path)


def test_what_the_command_refuses(corpus: Path, tmp_path: Path, capsys: Screen) -> None:
    out = tmp_path / "s.jsonl"
    for words, told in (
        (("--folds", 21), "21 folds of 20 questions"),
        (("--folds", 2, "--threshold", 0.5), "add --grouped"),
        (("--folds", 2, "--grouped", "--threshold", 2), "above 0 and at most 1"),
        (("--folds", 2, "--group-by", "mood"), "--group-by mood: no question has it"),
        (("--fixed", "--grouped"), "leave out --grouped"),
    ):
        assert split(corpus, *words, "--output", out) == 2
        assert told in capsys.readouterr().err
        assert not out.exists()
    out.write_text("mine", encoding="utf-8")
    assert split(corpus, "--folds", 2, "--output", out) == 2
    assert "is there already" in capsys.readouterr().err
    assert out.read_text(encoding="utf-8") == "mine"
    assert split(tmp_path / "nowhere", "--folds", 2, "--output", tmp_path / "t") == 2
    assert split(corpus, "--folds", 2, "--output", tmp_path / "no" / "folder") == 2
    assert "cannot be written" in capsys.readouterr().err


def test_folds_learn_from_the_others_alone() -> None:
    made = fold_parts(five(), QUESTIONS, "five")
    assert list(made.values()) == folds(20, 5, 42)
    assert all(isinstance(fold, Fold) and not set(fold.held) & set(fold.learn) for fold in made.values())
