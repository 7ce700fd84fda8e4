"""A learned fusion lies with an index: written by builds and updates alike, given and taken in one step."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import chain, count
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import indexes
import indexes.__main__ as commands
from indexes.__main__ import main
from indexes.build import legislative_graph
from indexes.build.build import BuildSettings, build_into
from indexes.build.encoder_choice import EncoderChoice, fit_encoder
from indexes.build.learned_fusion import (
    FOLDER,
    MIN_QUESTIONS,
    REFERENCES,
    TERMS,
    TREES,
    load_terms,
    read_ranker,
    save_terms,
)
from indexes.corpus.corpus import SYNTHETIC, Corpus, to_learn_from, write
from indexes.corpus.links import read_references
from indexes.store import paths
from indexes.store.manifest import read, stamp
from indexes.store.open_index import open_index
from indexes.update import term_counts
from indexes.update.diff import Changes
from indexes.update.reuse import Start
from indexes.update.update import refine
from rag.errors import BadInput, DamagedIndex
from rag.fusion.settings import FusionSettings
from rag.graph.graph import Graph
from rag.ltr.ranker import Ranker
from rag.ltr.trees import Tree, Trees
from rag.text.analysers import analyser
from rag.types import Article, Question
from tests.fakes.law.changing_law import AGAIN, built, hashes, histories, updated
from tests.fakes.law.corpus import CODE, FIT, GOAT, NONE, TINY, VILLAGE, edition, install
from tests.fakes.ranking.networks import network
from tests.paths import ROOT


def stump(feature: int, threshold: float, value: float) -> Tree:
    return Tree((feature, -1, -1), (threshold, 0.0, 0.0), (1, -1, -1), (2, -1, -1), (value / 2, 0.0, value))


TREES_ALONE = Trees(
    ("votes", "keyword", "asked"),
    (stump(0, 0.5, 2.0), *(stump(1, n / 8, 0.25) for n in range(12)), stump(2, 0.1, 0.5)),
    {"held_back": {"R@10": {"learned": 0.5}}},
)
RANKER = Ranker(TREES_ALONE, (network(3).times(1e-3),))
OTHER = Ranker(replace(TREES_ALONE, trees=TREES_ALONE.trees[1:]))
LEARNED = replace(FIT, learned=RANKER)
NEW = replace(VILLAGE, articles=(*VILLAGE.articles, Article("v-13", CODE, "13", "La chèvre qui sait nager.")))


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PANDECT_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(os, "fsync", lambda handle: None)  # waiting for the disk would be most of these tests
    return tmp_path / "home"


@pytest.fixture(scope="module")
def encoder() -> EncoderChoice:
    fitted = fit_encoder(VILLAGE, to_learn_from(VILLAGE.questions), analyser("fr"), TINY, lambda *told: None)
    return EncoderChoice(*fitted)


def below_learned(folder: Path) -> Mapping[str, str]:
    return {name: sha for name, sha in hashes(folder).items() if name.startswith(f"{FOLDER}/")}


def test_what_is_written_is_opened(tmp_path: Path) -> None:
    build_into(tmp_path / "v", VILLAGE, "village", "v", LEARNED)
    engine = open_index(tmp_path / "v")
    assert engine.searcher.learned is not None
    assert engine.searcher.learned.ranker == RANKER
    evidence = engine.searcher.learned.evidence
    assert evidence.keyword is engine.searcher.keyword
    assert evidence.law.scores("chèvre").max() > 0
    assert evidence.questions.scores("salades").argmax() == 4  # the one question that says it cites v-5
    assert [q.id for q in evidence.nearest.index.questions] == ["q1", "q2", "q3"]  # none that is held out
    cut = [engine.analyser.terms(q.text) for q in evidence.nearest.index.questions]
    assert load_terms(tmp_path / "v" / FOLDER / TERMS) == cut  # so the first question waits for no analyser
    result = engine.ask(GOAT, k=5)
    by_hand = engine.searcher.learned.search([GOAT], 5)[0]
    assert [(s.article.id, s.score) for s in result.shown] == [(h.article_id, h.score) for h in by_hand]
    for shown, told in zip(result.shown, engine.explain(result), strict=True):
        assert told.fused == pytest.approx(shown.score, abs=6e-6)
        assert all(place.share is None for place in told.places)
    assert all(not told.reasons for told in engine.explain(engine.ask(GOAT, k=5, mode="keyword")))


def test_what_articles_refer_to_is_read_once(tmp_path: Path) -> None:
    told = Article("v-13", CODE, "13", "Les articles 5 et 12 valent aussi pour les oies.")
    village = replace(VILLAGE, articles=(*VILLAGE.articles, told))
    build_into(tmp_path / "v", village, "village", "v", LEARNED)
    engine = open_index(tmp_path / "v")
    assert engine.searcher.learned is not None
    graph = legislative_graph.load(tmp_path / "v")
    assert graph is not None
    kept = graph.article_references
    assert kept.tolist() == sorted(read_references(village.articles, village.card).pairs.tolist())
    assert {(12, 4), (12, 11)} <= set(map(tuple, kept.tolist()))
    around = engine.searcher.learned.evidence.around
    assert np.argwhere(around.refers.toarray()).tolist() == sorted(kept.tolist())
    assert (around.referred.toarray() == around.refers.toarray().T).all()


def test_one_of_an_earlier_release_has_references_of_its_own_or_none(tmp_path: Path) -> None:
    folder = tmp_path / "v"
    build_into(folder, VILLAGE, "village", "v", LEARNED)
    shutil.rmtree(folder / legislative_graph.FOLDER)
    for links in ([], [[0, 3], [2, 1]]):
        if links:
            np.save(folder / FOLDER / REFERENCES, np.array(links))
        stamp(replace(read(folder, AGAIN), files={}), folder)
        engine = open_index(folder)
        assert engine.searcher.learned is not None
        assert np.argwhere(engine.searcher.learned.evidence.around.refers.toarray()).tolist() == links
        assert engine.ask(GOAT, k=5).shown


@pytest.mark.parametrize("links", [[[0, 99]], [[-1, 0]], [[0, 1, 2]], [0, 1], [["a", "b"]]])
def test_references_of_another_law_are_told(tmp_path: Path, links: list[Any]) -> None:
    folder = tmp_path / "v"
    build_into(folder, VILLAGE, "village", "v", LEARNED)
    shutil.rmtree(folder / legislative_graph.FOLDER)
    np.save(folder / FOLDER / REFERENCES, np.array(links))
    stamp(replace(read(folder, AGAIN), files={}), folder)
    with pytest.raises(DamagedIndex, match=r"python -m indexes build"):
        open_index(folder)


def test_the_graph_of_another_law_is_told(tmp_path: Path) -> None:
    folder = tmp_path / "v"
    build_into(folder, VILLAGE, "village", "v", LEARNED)
    shutil.rmtree(folder / legislative_graph.FOLDER)
    legislative_graph.save(Graph.of(VILLAGE.articles[:3], np.zeros((0, 2), np.int64)), folder)
    stamp(replace(read(folder, AGAIN), files={}), folder)
    with pytest.raises(DamagedIndex, match=r"python -m indexes build"):
        open_index(folder)


def test_what_an_index_keeps_explains_as_what_is_cut_anew(tmp_path: Path) -> None:
    for chosen in (LEARNED, FIT):
        name = "learned" if chosen.learned else "plain"
        build_into(tmp_path / name, VILLAGE, "village", "v", chosen)
        build_into(tmp_path / "bare", VILLAGE, "village", "v", replace(chosen, updatable=False))
        kept, bare = open_index(tmp_path / name), open_index(tmp_path / "bare")
        assert (tmp_path / name / "counts").is_dir() > (tmp_path / "bare" / "counts").is_dir()
        for mode in kept.modes:
            results = [engine.ask(GOAT, k=9, mode=mode) for engine in (kept, bare)]
            assert results[0].shown == results[1].shown
            assert results[0].shown
            assert kept.explain(results[0]) == bare.explain(results[1])
        shutil.rmtree(tmp_path / "bare")


def test_an_index_without_one_is_as_before(tmp_path: Path) -> None:
    build_into(tmp_path / "v", VILLAGE, "village", "v", FIT)
    assert read_ranker(tmp_path / "v") is None
    assert open_index(tmp_path / "v").searcher.learned is None
    build_into(tmp_path / "none", VILLAGE, "village", "none", replace(NONE, learned=RANKER))
    assert not (tmp_path / "none" / FOLDER).exists()  # without an encoder nothing can be fused


@given(states=histories())
@settings(max_examples=12, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@pytest.mark.slow
def test_an_update_comes_to_what_a_build_comes_to(encoder: EncoderChoice, states: list[Corpus]) -> None:
    chosen = BuildSettings(learned=RANKER, fusion=FusionSettings("borda"))
    with tempfile.TemporaryDirectory() as scratch:
        former = Path(scratch) / "v0"
        built(former, states[0], chosen, encoder)
        for n, corpus in enumerate(states[1:], 1):
            wanted = built(Path(scratch) / f"again{n}", corpus, chosen, encoder)
            assert f"{FOLDER}/{TREES}" in wanted
            updated(Path(scratch) / f"v{n}", former, corpus)
            assert hashes(Path(scratch) / f"v{n}") == wanted
            former = Path(scratch) / f"v{n}"
        engine = open_index(former)
        assert engine.searcher.learned is not None
        assert engine.searcher.learned.ranker == RANKER
        engine.ask(GOAT)


@pytest.mark.parametrize("updatable", [True, False])
def test_giving_it_comes_to_what_a_build_comes_to(tmp_path: Path, updatable: bool) -> None:
    former = install(settings=replace(FIT, updatable=updatable))
    made = refine("village", Start.of("village"), RANKER)
    build_into(tmp_path / "v", VILLAGE, "village", "v", replace(LEARNED, updatable=updatable))
    assert below_learned(made) == below_learned(tmp_path / "v")
    assert {**hashes(former), **below_learned(made)} == hashes(made)
    for name in hashes(former):  # no byte of them is written again
        assert (made / name).samefile(former / name)
    assert paths.current("village") == made
    old, new = read(former, AGAIN), read(made, AGAIN)
    assert (new.version, new.corpus, new.encoder, new.bm25) == (made.name, old.corpus, old.encoder, old.bm25)
    assert main(["check", "village"]) == 0
    assert indexes.open("village").searcher.learned is not None
    assert former.is_dir()
    assert main(["rollback", "village"]) == 0
    assert indexes.open("village").searcher.learned is None


def test_counts_of_an_earlier_release_are_made_anew(tmp_path: Path) -> None:
    former = install(settings=FIT)
    start = Start.of("village")
    for part in ("data", "indices", "indptr"):
        (former / term_counts.FOLDER / f"answers.{part}.npy").unlink()
    left = {name: file for name, file in start.manifest.files.items() if "/answers." not in name}
    made = refine("village", replace(start, manifest=replace(start.manifest, files=left)), RANKER)
    build_into(tmp_path / "v", VILLAGE, "village", "v", LEARNED)
    assert below_learned(made) == below_learned(tmp_path / "v")


def test_it_is_replaced_and_taken_away() -> None:
    plain = install(settings=FIT)
    refine("village", Start.of("village"), RANKER)
    made = refine("village", Start.of("village"), OTHER)
    assert read_ranker(made) == OTHER
    gone = refine("village", Start.of("village"), None)
    assert hashes(gone) == hashes(plain)
    assert not (gone / FOLDER).exists()
    assert indexes.open("village").searcher.learned is None


def test_what_changed_against_the_law_before_is_not_said_twice() -> None:
    install(edition(0), settings=FIT)
    second = install(edition(1), settings=FIT)
    assert Changes.read(second) is not None
    assert Changes.read(refine("village", Start.of("village"), RANKER)) is None


def test_another_version_came_into_use_meanwhile() -> None:
    install(settings=FIT)
    start = Start.of("village")
    now = install(edition(1), settings=FIT)
    with pytest.raises(BadInput, match="changed by another command meanwhile"):
        refine("village", start, RANKER)
    assert paths.current("village") == now


def test_a_damaged_version_is_not_stamped_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where files cannot be linked they are copied, and hashed as they are then."""
    former = install(settings=FIT)
    start = Start.of("village")
    scores = next((former / "bm25").glob("data*"))
    scores.chmod(0o644)
    scores.write_bytes(bytes(len(scores.read_bytes())))

    def refused(*given: object) -> None:
        raise OSError(1, "Operation not permitted")

    monkeypatch.setattr("os.link", refused)
    with pytest.raises(DamagedIndex, match="another SHA-256"):
        refine("village", start, RANKER)
    assert paths.current("village") == former


def test_without_hard_links_files_are_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    former = install(settings=FIT)

    def refused(*given: object) -> None:
        raise OSError(1, "Operation not permitted")

    monkeypatch.setattr("os.link", refused)
    made = refine("village", Start.of("village"), RANKER)
    assert {**hashes(former), **below_learned(made)} == hashes(made)
    assert not (made / "encoder/codes.npy").samefile(former / "encoder/codes.npy")


def test_an_update_keeps_it_and_a_build_does_not(tmp_path: Path) -> None:
    install(settings=FIT)
    refine("village", Start.of("village"), RANKER)
    assert main(["update", "village", str(write(NEW, tmp_path / "new"))]) == 0
    engine = indexes.open("village")
    assert engine.searcher.learned is not None
    assert engine.searcher.learned.ranker == RANKER
    assert [s.article.id for s in engine.ask("nager", k=1).shown] == ["v-13"]
    assert main(["build", "village", "--encoder", "none"]) == 0
    assert indexes.open("village").searcher.learned is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        json.dumps({"format": 2}),
        Ranker(replace(TREES_ALONE, features=("votes", "moon", "asked"))).to_json(),
    ],
)
def test_trees_that_cannot_be_used_are_told(tmp_path: Path, text: str) -> None:
    folder = tmp_path / "v"
    build_into(folder, VILLAGE, "village", "v", LEARNED)
    (folder / FOLDER / TREES).write_text(text, encoding="utf-8")
    stamp(replace(read(folder, AGAIN), files={}), folder)
    with pytest.raises(DamagedIndex, match=r"python -m indexes build"):
        open_index(folder)


HUNDREDS = replace(
    VILLAGE, questions=tuple(Question(f"h{n}", f"La chèvre {n} ?", ("v-5",)) for n in range(MIN_QUESTIONS))
)

BY_MACHINE = tuple(replace(q, id=f"w-{q.id}", split=SYNTHETIC) for q in HUNDREDS.questions[:20])


@pytest.mark.parametrize(
    ("corpus", "encoder", "told"),
    [
        (HUNDREDS, "fit", True),
        (HUNDREDS, "borrow", False),
        (HUNDREDS, "none", False),
        (replace(HUNDREDS, questions=HUNDREDS.questions[1:]), "fit", False),
        (
            replace(HUNDREDS, questions=(*HUNDREDS.questions[1:], VILLAGE.questions[3])),
            "fit",
            False,
        ),  # a test
        (replace(HUNDREDS, questions=(*HUNDREDS.questions, *BY_MACHINE)), "fit", True),
        (replace(HUNDREDS, questions=(*HUNDREDS.questions[1:], *BY_MACHINE)), "fit", False),
    ],
    ids=["some hundreds", "borrowed", "no encoder", "fewer", "one held out", "others", "fewer, and others"],
)
def test_a_build_tells_how_to_fit_one(
    corpus: Corpus,
    encoder: str,
    told: bool,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    build = commands.build
    quick = lambda c, n, s, *rest: build(c, n, replace(s, fit=TINY), *rest)  # noqa: E731
    monkeypatch.setattr(commands, "build", quick)
    install(corpus, settings=None)
    assert main(["build", "village", "--encoder", encoder]) == 0
    lines = capsys.readouterr().out.splitlines()
    hint = "to have its 300 annotated questions decide what counts how much: "
    hint += "python -m training.train fusion village"
    assert lines[-1] == f"next: {paths.page('village')}"
    assert (hint in lines) is told


def test_the_hint_names_a_command_that_is_there() -> None:
    from training.train import parser

    words = paths.learn_fusion("village").split()
    assert words[:3] == ["python", "-m", "training.train"]
    assert parser().parse_args(words[3:]).name == "village"


@pytest.fixture
def refining(home: Path) -> Iterator[Callable[..., dict[str, Any]]]:
    """Give a process that runs `refine` in children of its own, and tells what became of each."""
    paths = str(ROOT)
    one = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}  # a process with threads is not safe to fork
    with subprocess.Popen(
        [sys.executable, str(ROOT / "tests" / "fakes" / "law" / "refit_worker.py")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PANDECT_HOME": str(home), "PYTHONPATH": paths, **one},
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        orders, answers = process.stdin, process.stdout

        def run(*command: str, step: int | None = None) -> Any:
            orders.write(json.dumps({"command": command, "pause": 0, "step": step}) + "\n")
            orders.flush()
            return json.loads(answers.readline())

        yield run
        orders.close()


@pytest.mark.slow
def test_killed_at_its_steps_it_leaves_the_former_version(
    home: Path, tmp_path: Path, refining: Callable[..., dict[str, Any]]
) -> None:
    install(settings=FIT)
    file = tmp_path / "trees.json"
    file.write_text(RANKER.to_json(), encoding="utf-8")
    all_steps = refining(str(file))["steps"]
    assert all_steps > 40  # every file that an index has, the switch and the tidying up
    outcomes: list[bool] = []
    # some while files are written, each from before the switch to the end
    for step in chain(range(1, all_steps - 14, 4), count(all_steps - 14)):
        file.write_text(Ranker(replace(TREES_ALONE, about={"step": step})).to_json(), encoding="utf-8")
        before = paths.current("village")
        ended = refining(str(file), step=step)
        engine = indexes.open("village")  # its files are held against its manifest
        assert [shown.article.id for shown in engine.ask(GOAT, k=1).shown] == ["v-5"]
        new = engine.searcher.learned is not None and engine.searcher.learned.ranker.trees.about == {
            "step": step
        }
        assert new is (paths.current("village") != before)
        outcomes.append(new)
        if not ended["killed"]:
            break
    assert outcomes[-1]
    assert outcomes == sorted(outcomes)  # up to the switch the former one, from then on the new one
    assert outcomes.count(True) >= 2
    assert not refining()["killed"]  # taken away, by one that is left alone
    left = {path.name for path in (home / "indexes" / "village").iterdir()}
    assert paths.current("village").name in left
    assert len(left) == 3  # two versions and CURRENT: nothing of what was killed


@given(st.lists(st.lists(st.text(min_size=1, max_size=4), max_size=6), max_size=8))
def test_terms_of_questions_come_back(texts: list[list[str]]) -> None:
    with tempfile.TemporaryDirectory() as place:
        save_terms(texts, Path(place) / "terms")
        assert load_terms(Path(place) / "terms") == texts
