"""`python -m training.train fusion NAME`, from the command to an index that answers with a learned fusion."""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import indexes
from indexes.__main__ import main as indexes_main
from indexes.build.build import BuildSettings, build
from indexes.build.fit_settings import FitSettings
from indexes.build.learned_fusion import FOLDER, TREES, read_ranker
from indexes.corpus.corpus import Corpus, write
from indexes.store import paths
from indexes.store.manifest import read, stamp
from indexes.store.versions import new_corpus
from indexes.update.reuse import Start
from rag.corpus.card import CorpusCard
from rag.engine.engine import Engine
from rag.fusion.rank_fusion import Fuse
from rag.fusion.settings import FusionSettings
from rag.ltr.features import PRIORS
from rag.ltr.reranker import KEYWORD, MEANING
from rag.retrieval.question_knn import QUESTION_KNN
from rag.types import Article, Question, Ranking
from tests.fakes.ranking.ltr_examples import made_up
from training.eval.workbench import Bench
from training.fusion import train as train_fusion
from training.fusion.learned import Example, LearnedSettings
from training.train import main

TINY = FitSettings(dim=8, min_count=1, passes=1, question_passes=2, random_negatives=8)
FITTED = BuildSettings(encoder="fit", fit=TINY)
THINGS = (
    "arbre", "bail", "borne", "caution", "chèvre", "clôture", "dette", "digue", "étang", "ferme", "four",
    "fumée", "grange", "haie", "lavoir",
)  # fmt: skip
ACTS = (
    "planter", "rendre", "céder", "creuser", "nourrir", "réparer", "vendre", "prêter", "louer", "couper",
    "bâtir", "fermer", "ouvrir",
)  # fmt: skip
QUICK = ("--rounds", "8")


def _article(n: int) -> Article:
    thing, act = THINGS[n % 15], ACTS[n % 13]
    text = f"Celui qui veut {act} {thing} le dit au conseil, et celui qui refuse de {act} paie {n} sous."
    return Article(f"x{n:03}", f"Code {n % 4}", str(n), text, (f"Titre {n % 7}", thing))


LAW = Corpus(
    CorpusCard(name="hamlet", title="Le droit du hameau", language="fr", licence="CC0"),
    tuple(_article(n) for n in range(180)),
    tuple(
        Question(
            f"q{n}",
            f"Puis-je {ACTS[n % 13]} {THINGS[n % 15]} sans le dire à personne ?",
            (f"x{n % 60:03}",),
            answer=f"Non : le conseil veut le savoir avant de {ACTS[n % 13]}.",
            split="test" if n % 10 == 9 else None,
        )
        for n in range(130)
    ),
)
ASKED = "Ai-je le droit de creuser un étang derrière la grange ?"


def install(corpus: Corpus = LAW, settings: BuildSettings = FITTED) -> Path:
    with new_corpus("hamlet", replace=True) as place:
        write(corpus, place)
    return build(corpus, "hamlet", settings)


@pytest.fixture(scope="module")
def fitted(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A home with an index that was given a learned fusion, and what was said of it."""
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(io.StringIO()) as said:
        patch.setenv("PANDECT_HOME", str(home))
        patch.setattr("rag.errors.STAMP", "no-such-file")  # as in `home`, below
        install()
        assert indexes.open("hamlet").searcher.learned is None
        assert fusion("--always", *QUICK) == 0
    return home, said.getvalue()


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PANDECT_HOME", str(tmp_path / "home"))
    monkeypatch.setattr("os.fsync", lambda handle: None)
    return tmp_path / "home"


@pytest.fixture
def learned(home: Path, fitted: tuple[Path, str]) -> Path:
    """A copy of that home."""
    return Path(shutil.copytree(fitted[0], home))


@pytest.fixture
def plain(learned: Path) -> Path:
    """The same, with the index that was there before in use; its folder."""
    assert indexes_main(["rollback", "hamlet"]) == 0
    return paths.current("hamlet")


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is asked inside folds takes its time: examples that are made up do here."""
    monkeypatch.setattr(train_fusion, "examples", lambda *given, **named: iter(made_up(30)))


def fusion(*words: str) -> int:
    return main(["fusion", "hamlet", *words])


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    before = capsys.readouterr()
    assert fusion(*words) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert "Traceback" not in said.err + before.err
    return next(line for line in said.err.splitlines() if line.startswith("error: "))


@pytest.mark.slow
def test_from_the_command_to_the_answer(
    learned: Path, fitted: tuple[Path, str], capsys: pytest.CaptureFixture[str]
) -> None:
    said = fitted[1].splitlines()
    assert (
        said[0] == "hamlet: 117 annotated questions, each ranked by what was fitted to other folds"
    )  # no test
    assert [line.split()[0] for line in said[1:4]] == ["R@10", "R@100", "MRR@10"]
    assert all("learned" in line and "rrf" in line and "[" in line for line in said[1:4])
    made = paths.current("hamlet")
    assert said[4:] == [
        f"switched in: {fitted[0] / made.relative_to(learned)}",
        f"next: {paths.page('hamlet')}",
    ]
    trees = read_ranker(made)
    assert trees is not None
    assert trees.trees.about["corpus_sha256"] == LAW.sha256
    assert trees.trees.about["questions_sha256"] == LAW.questions_sha256
    assert trees.trees.about["settings"]["rounds"] == 8
    assert set(trees.trees.about["held_back"]["R@10"]) == {"learned", "rrf"}
    assert indexes_main(["check", "hamlet"]) == 0

    engine = indexes.open("hamlet")
    result = engine.ask(ASKED, k=10)
    assert len(result.shown) == 10
    assert result.confidence is None
    explained = engine.explain(result)
    for shown, told in zip(result.shown, explained, strict=True):
        assert told.article_id == shown.article.id
        assert told.fused == pytest.approx(shown.score, abs=6e-6)
        assert told.reasons
        assert all(place.share is None for place in told.places)
    assert len({told.reasons for told in explained}) > 1

    # what it is fitted to is what it sees: the bench's systems of all questions are those of the index
    bench, learnt, settings = train_fusion._prepared(Start.of("hamlet"), lambda *told: None)
    assert engine.searcher.learned is not None
    [lists] = engine.searcher.learned.search_parts([ASKED], 10)[0][1:]
    here = engine.searcher.learned.evidence.candidates(ASKED, tuple(lists.values()))
    there = bench.evidence(learnt, settings).candidates(ASKED, tuple(lists.values()))
    assert here.positions.tolist() == there.positions.tolist()
    assert here.features == pytest.approx(there.features, abs=1e-5)

    assert fusion("--remove") == 0
    assert "its learned fusion is gone" in capsys.readouterr().out
    assert indexes.open("hamlet").searcher.learned is None
    assert "has no learned fusion to remove" in refused(capsys, "--remove")


def test_words_are_cut_as_the_index_cuts_them(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(settings=replace(FITTED, analyser={"stop_words": False}))
    start = Start.of("hamlet")
    bench, learnt, settings = train_fusion._prepared(start, lambda *told: None)
    assert bench.analyser().id == start.manifest.analyser["id"]
    evidence = bench.evidence(learnt[:20], settings)
    assert evidence.keyword.analyser.id == start.manifest.analyser["id"]
    assert evidence.nearest.analyser.terms("le") == ["le"]  # no stop word there


@pytest.mark.slow
@pytest.mark.usefixtures("plain", "quick")
def test_priors_are_left_out_when_they_are_not_wanted() -> None:
    assert fusion("--always", "--no-priors", "--seed", "3", *QUICK) == 0
    trees = read_ranker(paths.current("hamlet"))
    assert trees is not None
    assert not set(PRIORS) & set(trees.features)
    assert trees.trees.about["settings"]["seed"] == 3


@pytest.fixture
def measured(plain: Path, quick: None, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """An index, and what the folds shall say of its learned fusion."""
    told: dict[str, Any] = {}

    def held_back(found: list[Any], how: LearnedSettings) -> tuple[dict[str, Any], dict[str, Any]]:
        ones = {name: np.ones(len(found)) for name in ("R@10", "R@100", "MRR@10")}
        return {name: told[name] * of for name, of in ones.items()}, {
            name: 0.5 * of for name, of in ones.items()
        }

    monkeypatch.setattr(train_fusion, "out_of_fold_rankings", held_back)
    return told


@pytest.mark.parametrize(
    ("values", "better"),
    [
        ({"R@10": 0.6, "R@100": 0.1, "MRR@10": 0.45}, True),
        ({"R@10": 0.4, "R@100": 0.9, "MRR@10": 0.55}, False),
        ({"R@10": 0.5, "R@100": 0.9, "MRR@10": 0.5}, False),
    ],
)
@pytest.mark.slow
def test_it_comes_into_use_where_it_is_better(
    measured: dict[str, Any], values: dict[str, float], better: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    measured |= values
    former = paths.current("hamlet")
    assert fusion(*QUICK) == 0
    said = capsys.readouterr().out
    assert (paths.current("hamlet") != former) is better
    assert ("not better: hamlet stays as it is (--always uses it all the same)" in said) is not better
    assert f"learned {100 * values['R@10']:5.1f}, rrf  50.0: {100 * (values['R@10'] - 0.5):+.1f}" in said


def fused_lists(engine: Engine) -> Mapping[str, Ranking]:
    """Return the lists that a hybrid search fuses."""
    hybrid = engine.searcher.retriever("hybrid", engine.searcher.expansion("hybrid"))
    return hybrid.search_parts([ASKED], 10)[0][1]


@pytest.mark.slow
def test_it_is_held_against_the_fusion_that_the_index_has(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    install(settings=replace(FITTED, fusion=FusionSettings("percentile")))
    engine = indexes.open("hamlet")
    lists = tuple(fused_lists(engine).values())
    seen: list[list[str]] = []

    def spy(*given: Any, fuse: Fuse, most: int) -> list[Example]:
        seen.append([hit.article_id for hit in fuse(lists, 10)])
        return made_up(30)

    monkeypatch.setattr(train_fusion, "examples", spy)
    assert fusion(*QUICK) == 0
    assert seen == [[shown.article.id for shown in engine.ask(ASKED, k=10).shown]]
    assert ", percentile " in capsys.readouterr().out


@pytest.mark.slow
def test_of_three_lists_it_is_held_against_the_two_that_it_looks_at(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    three = FusionSettings("min-max", {KEYWORD: 1.0, MEANING: 3.0, QUESTION_KNN: 2.0})
    install(settings=replace(FITTED, fusion=three))
    engine = indexes.open("hamlet")
    lists = fused_lists(engine)
    assert set(lists) == {KEYWORD, MEANING, QUESTION_KNN}
    two = {name: lists[name] for name in (KEYWORD, MEANING)}
    wanted = FusionSettings("min-max", {KEYWORD: 1.0, MEANING: 3.0}).fuse(tuple(two))(tuple(two.values()), 10)

    def spy(*given: Any, fuse: Fuse, most: int) -> list[Example]:
        assert fuse(tuple(two.values()), 10) == wanted
        return made_up(30)

    monkeypatch.setattr(train_fusion, "examples", spy)
    assert fusion(*QUICK) == 0
    assert ", min-max " in capsys.readouterr().out


@pytest.mark.slow
def test_where_one_of_the_two_is_not_fused_it_is_held_against_reciprocal_rank(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    install(settings=replace(FITTED, fusion=FusionSettings("min-max", {MEANING: 1.0, QUESTION_KNN: 2.0})))
    monkeypatch.setattr(train_fusion, "examples", lambda *given, fuse, most: made_up(30))
    assert fusion(*QUICK) == 0
    assert ", rrf " in capsys.readouterr().out


@pytest.mark.slow
def test_who_stops_it_finds_the_index_as_it_was(
    plain: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(*given: object, **named: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(train_fusion, "examples", stopped)
    assert fusion("--always", *QUICK) == 130
    assert "stopped; the index is as it was" in capsys.readouterr().err
    assert paths.current("hamlet") == plain


@pytest.mark.slow
def test_what_it_cannot_be_fitted_to(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "no index named 'hamlet'" in refused(capsys)
    assert main(["fusion", "builtin"]) == 2
    assert "builtin is only read" in capsys.readouterr().err

    few = replace(LAW, questions=LAW.questions[:110])  # 11 of them are for tests
    install(few)
    assert refused(capsys) == "error: 99 questions to fit a learned fusion to: give at least 100"
    install(settings=BuildSettings(encoder="none"))
    assert "has no encoder, which was not fitted to it" in refused(capsys)
    install(settings=BuildSettings(encoder="borrow"))
    said = refused(capsys)
    assert "has the encoder static-fr-256, which was not fitted to it" in said
    assert said.endswith("python -m indexes build hamlet --encoder fit")

    former = install()
    for words in (("--rounds", "0"), ("--fits", "0"), ("--seed", "-1")):
        assert "give 1 tree or more" in refused(capsys, *words)
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "lightgbm", None)
        patch.setattr(Bench, "evidence", _never)
        assert "pip install '.[eval]'" in refused(capsys)
    assert paths.current("hamlet") == former


def _never(*given: object) -> None:
    raise AssertionError("work was done for nothing")


def _rewritten(change: Callable[[dict[str, Any]], object]) -> None:
    """Install an index whose manifest tells of its encoder what an earlier release wrote."""
    path = install() / "manifest.json"
    record = json.loads(path.read_text(encoding="utf-8"))
    change(record["encoder"])
    del record["checksum"]
    path.write_text(json.dumps(record), encoding="utf-8")


@pytest.mark.parametrize(
    "change",
    [
        lambda encoder: encoder["settings"].pop("hard_negatives"),
        lambda encoder: encoder.update(views=["words"]),  # its fits looked at other terms
    ],
)
def test_an_encoder_of_another_version_is_refused(
    home: Path, capsys: pytest.CaptureFixture[str], change: Callable[[dict[str, Any]], object]
) -> None:
    _rewritten(change)
    assert "another version of Pandect fitted" in refused(capsys)


@pytest.mark.slow
@pytest.mark.usefixtures("home", "quick")
def test_an_encoder_of_before_there_were_several_fits_is_of_one() -> None:
    def older(encoder: dict[str, Any]) -> None:
        assert encoder["settings"].pop("fits") == 1
        assert encoder["settings"].pop("units") == "both"
        assert encoder.pop("views") == ["both"]

    _rewritten(older)
    assert fusion("--always") == 0
    assert indexes.open("hamlet").searcher.learned is not None


@pytest.mark.usefixtures("learned")
@pytest.mark.slow
def test_trees_that_cannot_be_read_can_be_removed() -> None:
    folder = paths.current("hamlet")
    (folder / FOLDER / TREES).write_text('{"format": 99}', encoding="utf-8")
    stamp(replace(read(folder, ""), files={}), folder)
    assert fusion("--remove") == 0
    assert indexes.open("hamlet").ask(ASKED).shown


@pytest.mark.usefixtures("quick")
@pytest.mark.slow
def test_a_full_disk_is_told_and_leaves_the_index(
    plain: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:

    def full(*given: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("indexes.update.update.stamp", full)
    assert fusion("--always", *QUICK) == 2
    assert "No space left on device. make room, or choose another place" in capsys.readouterr().err
    assert paths.current("hamlet") == plain
    assert indexes.open("hamlet").ask(ASKED).shown


def test_a_full_disk_that_numpy_tells_of(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its errors have no number of the system: "error: None" came."""

    def full(parsed: object, progress: object) -> None:
        raise OSError("8 requested and 3 written")

    monkeypatch.setattr(train_fusion, "run", full)
    assert main(["fusion", "hamlet"]) == 2
    told = capsys.readouterr().err
    assert told.startswith(
        "error: 8 requested and 3 written. make room, or choose another place: PANDECT_HOME"
    )


@pytest.mark.slow
@pytest.mark.usefixtures("plain", "quick")
def test_another_command_meanwhile_is_told(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    fit = train_fusion.fit
    versions: list[Path] = []

    def slow(*given: Any) -> Any:
        versions.append(install())  # built again while trees are fitted
        return fit(*given)

    monkeypatch.setattr(train_fusion, "fit", slow)
    assert fusion("--always", *QUICK) == 2
    assert "changed by another command meanwhile" in capsys.readouterr().err
    assert paths.current("hamlet") == versions[0]


@pytest.mark.usefixtures("learned")
@pytest.mark.slow
def test_an_update_keeps_the_learned_fusion(tmp_path: Path) -> None:
    trees = read_ranker(paths.current("hamlet"))
    added = Article(
        "x999", "Code 3", "999", "Celui qui veut creuser un étang sans grange paie cent sous.", ()
    )
    kept = tuple(q for q in LAW.questions if q.article_ids[0] > "x004")
    changed = replace(LAW, articles=(*LAW.articles[5:], added), questions=kept)
    assert indexes_main(["update", "hamlet", str(write(changed, tmp_path / "new"))]) == 0
    assert read_ranker(paths.current("hamlet")) == trees
    engine = indexes.open("hamlet")
    result = engine.ask(ASKED, k=200)
    assert "x999" in {shown.article.id for shown in result.shown}
    for shown, told in zip(result.shown, engine.explain(result), strict=True):
        assert told.fused == pytest.approx(shown.score, abs=6e-6)


def test_the_page_of_help_names_every_option() -> None:
    from training.train import parser

    options = parser()._subparsers
    assert options is not None
    [commands] = [a for a in options._group_actions if isinstance(a, argparse._SubParsersAction)]
    told = commands.choices["fusion"].format_help()
    for option in ("--no-priors", "--rounds", "--fits", "--asked", "--law", "--seed", "--always", "--remove"):
        assert option in told
