"""The index that ships, from its sources to a learned fusion; a small law stands for the real one."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from indexes import builtin_corpus
from indexes.__main__ import main as indexes_main
from indexes.corpus.digest import LAWS
from indexes.store.open_index import open_index
from training.eval.__main__ import main as evaluate
from training.train import main

THINGS = (
    "arbre",
    "bail",
    "borne",
    "caution",
    "chèvre",
    "clôture",
    "dette",
    "digue",
    "étang",
    "ferme",
    "four",
)
ACTS = ("planter", "rendre", "céder", "creuser", "nourrir", "réparer", "vendre", "prêter", "louer")
NUMBERS = range(40)
CODE = "Code civil"


def written(path: Path, rows: Sequence[Mapping[str, object]]) -> Path:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture
def shipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of an index that ships, made of a law of forty articles and of another code."""
    monkeypatch.setenv("PANDECT_HOME", str(tmp_path / "home"))
    monkeypatch.setattr("os.fsync", lambda handle: None)
    folder = tmp_path / "builtin"
    folder.mkdir()
    card = {"name": "hameau", "title": "Le hameau", "language": "fr", "jurisdiction": "FR", "licence": "CC0"}
    (folder / "card.json").write_text(json.dumps(card), encoding="utf-8")
    laws = {CODE: {"prefix": "CC", "law_date": "2025-01-01", "themes": ["land"]}}
    (folder / LAWS).write_text(json.dumps(laws), encoding="utf-8")
    law, source = tmp_path / "articles.jsonl", tmp_path / "written"
    source.mkdir()
    code, other = CODE, "Code du vent"
    written(
        law,
        [
            {
                "id": f"L{n}{of[5]}",
                "code": of,
                "article_no": str(n),
                "headings": [f"Titre {n % 5}", THINGS[n % 11]],
                "text": f"Quiconque entend {ACTS[n % 9]} {THINGS[n % 11]} le dit ou paie {n} sous.",
            }
            for of in (code, other)
            for n in NUMBERS
        ],
    )
    summaries = [
        (n, f"Pour {ACTS[n % 9]} {THINGS[n % 11]}, prévenez le conseil : sinon {n} sous.") for n in NUMBERS
    ]
    written(
        source / "digest.jsonl",
        [{"code": code, "article_no": str(n), "summary": summary} for n, summary in summaries],
    )
    asked = [
        {
            "id": f"q{n}",
            "question": f"Je peux {ACTS[n % 9]} {THINGS[n % 11]} sans rien dire, le {n} ?",
            "code": code,
            "article_no": str(n % 40),
        }
        for n in range(120)
    ]
    written(source / "questions.jsonl", asked)
    test = [{**asked[n], "id": f"t{n}", "question": f"{THINGS[n % 11]} {ACTS[n % 9]} ?", "split": part}
            for n, part in ((3, "dev"), (5, "test"), (8, "test"))]  # fmt: skip
    written(folder / builtin_corpus.TEST, test)
    builtin_corpus.make(law, folder, lambda *step: None, source)
    monkeypatch.setattr("indexes.store.paths.builtin", lambda: folder / builtin_corpus.INDEX)
    return folder


@pytest.mark.slow
def test_trees_are_fitted_to_the_official_text_and_the_index_is_made_with_them(
    shipped: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    law = tmp_path / "articles.jsonl"
    index = shipped / builtin_corpus.INDEX
    assert open_index(index).searcher.learned is None
    assert main(["fusion", "builtin", "--law", str(law), "--rounds", "8", "--asked", "60", "--always"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "builtin: 60 annotated questions, each ranked by what was fitted to other folds"
    assert said[-2] == f"written: {shipped / builtin_corpus.TREES}"
    assert said[-1].endswith(f"make-builtin {law}")
    assert open_index(index).searcher.learned is None, "until it is made again"

    builtin_corpus.make(law, shipped, lambda *step: None)
    engine = open_index(index)
    assert engine.searcher.learned is not None
    assert engine.searcher.learned.ranker == builtin_corpus.ranker(shipped)
    assert len(engine.ask("Puis-je planter un arbre ?", k=10).shown) == 10
    capsys.readouterr()

    assert evaluate(["--part", "test", "--measures", "R@10"]) == 0
    said_of = capsys.readouterr().out
    assert "2 questions" in said_of
    assert "learned" in said_of
    assert evaluate(["--part", "train"]) == 2
    assert "--part train: no question bears this split; there are: dev, test" in capsys.readouterr().err
    assert evaluate(["--systems", "learned-without:prior"]) == 2
    assert "has learnt from all" in capsys.readouterr().err


def test_the_index_that_ships_wants_the_law_that_it_was_fitted_to(
    shipped: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["fusion", "builtin"]) == 2
    assert "--law LAW" in capsys.readouterr().err
    assert main(["fusion", "hamlet", "--law", str(tmp_path / "articles.jsonl")]) == 2
    assert "builtin is only read" in capsys.readouterr().err
    assert not (shipped / builtin_corpus.TREES).exists()


def test_a_summary_without_an_article_is_refused(
    shipped: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    law = tmp_path / "articles.jsonl"
    rows = law.read_text(encoding="utf-8").splitlines(keepends=True)
    before = (shipped / builtin_corpus.INDEX / "manifest.json").read_bytes()
    law.write_text("".join(rows[1:]), encoding="utf-8")
    assert indexes_main(["make-builtin", str(law), "--folder", str(shipped)]) == 2
    assert "without an article in the law at hand: Code civil 0" in capsys.readouterr().err
    assert (shipped / builtin_corpus.INDEX / "manifest.json").read_bytes() == before
