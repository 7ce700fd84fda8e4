"""The graph of an index: written by builds and updates alike, opened memory-mapped, counted, exported."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import replace
from datetime import date
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from indexes.__main__ import main
from indexes.build import legislative_graph
from indexes.build.build import build_into
from indexes.corpus.corpus import Corpus, read, write
from indexes.corpus.links import read_references
from indexes.store import manifest
from indexes.store.open_index import open_graph
from indexes.update.diff import FormerCorpus, compare
from indexes.update.reuse import Start
from indexes.update.update import refine
from rag.corpus.contents import Law
from rag.errors import DamagedIndex
from rag.graph.graph import NOWHERE, Node
from rag.graph.references.reference import ROLES
from rag.ltr.ranker import Ranker
from rag.ltr.trees import Trees
from rag.types import Article
from tests.fakes.law.changing_law import AGAIN, built, hashes, updated
from tests.fakes.law.corpus import CODE, FIT, NONE, VILLAGE, edition, install

TEXTS = (
    "Rien.",
    "Par dérogation à l'article 1, rien.",
    "L'article 2 vaut aussi.",
    "Voir les articles 1 à 3.",
    "Voir l'article 1 du code de la ville.",
)


@st.composite
def laws(draw: st.DrawFn) -> Corpus:
    """A law whose texts name each other, in which numbers, dates and texts come and go."""
    numbers = draw(st.lists(st.integers(1, 5), min_size=1, unique=True))
    articles = tuple(
        Article(
            f"v-{n}",
            draw(st.sampled_from([CODE, CODE, "Code de la ville"])),
            str(n),
            draw(st.sampled_from(TEXTS)),
            valid_to=draw(st.sampled_from([None, None, None, date(2026, 1, 1)])),
        )
        for n in numbers
    )
    day = draw(st.sampled_from([date(2025, 6, 1), date(2026, 6, 1)]))
    return Corpus(replace(VILLAGE.card, law_date=day), articles)


@pytest.mark.slow
@given(laws(), laws())
@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
def test_what_is_carried_on_is_what_is_read_anew(former: Corpus, new: Corpus) -> None:
    with tempfile.TemporaryDirectory() as folder:
        write(former, Path(folder) / "v" / "corpus")
        compared = compare(FormerCorpus.read(Path(folder) / "v"), new)
    graph = legislative_graph.build(former)
    made = legislative_graph.build(new, (graph, compared.same_words))
    anew = legislative_graph.build(new)
    assert made.about == anew.about
    assert made.references.tolist() == anew.references.tolist()
    assert made.to_spans is not None
    assert anew.to_spans is not None
    assert made.to_spans.tolist() == anew.to_spans.tolist()
    assert made.to_roles is not None
    assert anew.to_roles is not None
    assert made.to_roles.tolist() == anew.to_roles.tolist()
    assert made.article_references.tolist() == sorted(read_references(new.articles, new.card).pairs.tolist())


def test_a_graph_of_an_earlier_release_is_read_anew() -> None:
    """It has no places, and texts that did not change have to tell them."""
    articles = tuple(Article(f"v-{n}", CODE, str(n), f"Voir l'article {n + 1}.") for n in range(1, 4))
    law = Corpus(VILLAGE.card, articles)
    anew = legislative_graph.build(law)
    earlier = replace(anew, to_spans=None, to_roles=None)
    with tempfile.TemporaryDirectory() as folder:
        legislative_graph.save(earlier, Path(folder))
        loaded = legislative_graph.load(Path(folder))
    assert loaded is not None
    assert not loaded.has_mentions
    assert loaded.mention(0, 1) == (NOWHERE, NOWHERE, 0)
    made = legislative_graph.build(law, (loaded, np.arange(3)))
    assert made.mention(0, 1) == anew.mention(0, 1) == (7, 16, 0)
    assert Law(articles, graph=anew).refers_to("v-1")[:] != ()
    assert not Law(articles, graph=loaded).refers_to("v-1")  # nothing of it is shown to people


def test_a_source_s_references_have_the_places_that_texts_give() -> None:
    articles = (
        Article("v-1", CODE, "1", "Par dérogation à l'article 2.", references=("v-2", "v-3")),
        Article("v-2", CODE, "2", "Voir l'article 3, que la source ne dit pas."),
        Article("v-3", CODE, "3", "Rien."),
    )
    graph = legislative_graph.build(Corpus(VILLAGE.card, articles))
    assert graph.article_references.tolist() == [[0, 1], [0, 2]]
    start, end, role = graph.mention(0, 1)
    assert (articles[0].text[start:end], ROLES[role]) == ("article 2", "derogates")
    assert graph.mention(0, 2) == (NOWHERE, NOWHERE, 0)


def test_only_texts_that_changed_are_read_again() -> None:
    articles = tuple(Article(f"v-{n}", CODE, str(n), f"Voir l'article {n + 1}.") for n in range(1, 5))
    former = Corpus(VILLAGE.card, articles)
    other = replace(articles[2], text="Voir l'article 1.")
    new = replace(former, articles=(*articles[:2], other, articles[3]))
    told: list[int] = []
    graph = legislative_graph.build(former)
    same = np.array([0, 1, -1, 3])
    made = legislative_graph.build(new, (graph, same), lambda what, done, total: told.append(done))
    assert told == [1]
    assert made.article_references.tolist() == [[0, 1], [1, 2], [2, 0]]
    added = replace(new, articles=(*new.articles, Article("v-5", CODE, "5", "Rien.")))
    same = np.array([0, 1, -1, 3, -1])  # the fourth names article 5, which is there now
    assert [3, 4] in legislative_graph.build(added, (graph, same)).article_references.tolist()


def test_an_update_writes_the_graph_that_a_build_would(tmp_path: Path) -> None:
    nodes = (Node("livre", CODE, ("Livre I",)),)
    texts = [f"{a.text} Voir l'article {n + 2}." for n, a in enumerate(VILLAGE.articles)]
    former = replace(
        VILLAGE,
        articles=tuple(replace(a, text=t) for a, t in zip(VILLAGE.articles, texts, strict=True)),
        nodes=nodes,
    )
    built(tmp_path / "v0", former, NONE, None)
    last = replace(former.articles[-1], text="Voir l'article 1.")
    for n, law in enumerate(
        (
            replace(former, articles=(*former.articles[:-1], last)),
            replace(former, articles=former.articles[2:], questions=()),
            replace(former, nodes=(*nodes, Node("act", "Loi sans article"))),
        )
    ):
        wanted = built(tmp_path / f"again{n}", law, NONE, None)
        updated(tmp_path / f"v{n + 1}", tmp_path / f"v{n}", law)
        assert hashes(tmp_path / f"v{n + 1}") == wanted
        assert "graph/to.npy" in wanted
    assert set(open_graph(tmp_path / "v3").ids) == {"livre", "act"}


def test_references_of_a_source_lead_to_its_nodes(tmp_path: Path) -> None:
    """Nodes lie with the corpus, and the graph of the index has them."""
    cites = replace(VILLAGE.articles[0], references=(VILLAGE.articles[1].id, "livre", "elsewhere"))
    nodes = (Node("livre", "Loi sans article", references=(VILLAGE.articles[2].id,)),)
    village = replace(VILLAGE, articles=(cites, *VILLAGE.articles[1:]), nodes=nodes)
    write(village, tmp_path / "law")
    assert read(tmp_path / "law") == village
    write(village, tmp_path / "bare", extras=False)
    assert read(tmp_path / "bare").nodes == ()
    build_into(tmp_path / "v", village, "village", "v", NONE)
    graph = open_graph(tmp_path / "v")
    act = graph.ids["livre"]
    assert graph.label(act) == "Loi sans article"
    assert graph.refers_to(0).tolist() == [1, act]
    assert graph.refers_to(act).tolist() == [2]
    assert graph.about == {"references": "source"}
    assert isinstance(graph.to.base, np.memmap)


def test_the_command_counts_and_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PANDECT_HOME", str(tmp_path / "home"))
    build_into(tmp_path / "v", VILLAGE, "village", "v", NONE)
    file = tmp_path / "law.graphml"
    assert main(["graph", str(tmp_path / "v"), "--graphml", str(file)]) == 0
    shown = capsys.readouterr().out
    rows = {line[:28].strip(): line[28:].strip() for line in shown.splitlines()}
    assert rows["content nodes"] == str(len(VILLAGE.articles))
    assert "read from the texts" in shown
    tree = ElementTree.parse(file).getroot()  # noqa: S314  (it is ours)
    space = "{http://graphml.graphdrawing.org/xmlns}"
    counted = {kind: len(list(tree.iter(f"{space}{kind}"))) for kind in ("node", "edge")}
    assert counted == {"node": int(rows["total nodes"]), "edge": int(rows["total edges"])}
    before = file.read_bytes()
    assert main(["graph", str(tmp_path / "v"), "--graphml", str(file)]) == 2
    assert "is there already" in capsys.readouterr().err
    assert file.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir() if path.suffix == ".tmp"] == []


def test_an_index_of_an_earlier_release_has_its_graph_made(tmp_path: Path) -> None:
    folder = tmp_path / "v"
    build_into(folder, VILLAGE, "village", "v", NONE)
    kept = open_graph(folder)
    shutil.rmtree(folder / legislative_graph.FOLDER)
    manifest.stamp(replace(manifest.read(folder, AGAIN), files={}), folder)
    made = open_graph(folder)
    assert made.parent.tolist() == kept.parent.tolist()
    assert made.references.tolist() == kept.references.tolist()
    assert "graph/graph.json" not in manifest.read(folder, AGAIN).files
    updated(tmp_path / "new", folder, edition(1))  # which has one again
    assert (tmp_path / "new" / legislative_graph.FOLDER).is_dir()


def test_a_learned_fusion_of_an_index_without_a_graph_brings_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PANDECT_HOME", str(tmp_path))
    version = install(settings=FIT)
    shutil.rmtree(version / legislative_graph.FOLDER)
    manifest.stamp(replace(manifest.read(version, AGAIN), files={}), version)
    made = refine("village", Start.of("village"), Ranker(Trees((), ())))
    graph = legislative_graph.load(made)
    assert graph is not None
    assert graph.references.tolist() == legislative_graph.build(VILLAGE).references.tolist()


def test_a_damaged_graph_is_told(tmp_path: Path) -> None:
    folder = tmp_path / "v"
    build_into(folder, VILLAGE, "village", "v", NONE)
    (folder / "graph" / "to.npy").write_bytes(b"x")
    with pytest.raises(DamagedIndex, match=r"to\.npy"):
        open_graph(folder)
