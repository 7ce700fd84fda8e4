"""Articles on disk answer as those in memory do, and none is read before it is shown."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import indexes
from indexes.corpus.corpus import write
from indexes.store import article_store
from indexes.store.article_store import StoredArticles
from indexes.store.manifest import read, stamp
from rag.corpus.articles import COLUMNS, Articles, Inverted
from rag.corpus.asker_situations import available_situations
from rag.corpus.contents import Law
from rag.errors import DamagedIndex
from rag.retrieval.known_item import KnownItems
from rag.types import Article, Filter
from tests.fakes.law.corpus import CODE, FIT, GOAT, NONE, VILLAGE, install

AGAIN = "python -m indexes build village"
DAYS = st.none() | st.dates(date(1999, 12, 30), date(2000, 1, 8))
IDS = st.text("ab1é漢 ", min_size=1, max_size=3).filter(str.strip)
ARTICLES = st.lists(
    st.builds(
        Article,
        id=IDS,
        code=st.sampled_from(["Code civil", "Code rural", "民法典"]),
        article_no=st.sampled_from(["1", "Article 1er", "2 bis", "2-bis", "L. 123-4", "R123-4", "§"]),
        text=st.sampled_from(["le locataire", "Le salarié et le locataire", "rien"]),
        headings=st.lists(st.sampled_from(["Livre I", "Titre I", ""]), max_size=3).map(tuple),
        law_type=st.sampled_from([None, "national", "regional"]),
        region=st.sampled_from([None, "BE-BRU", "BE-WAL"]),
        valid_from=DAYS,
        valid_to=DAYS,
        references=st.lists(IDS, max_size=3, unique=True).map(tuple),
    ),
    min_size=1,
    max_size=12,
    unique_by=lambda article: article.id,
)
FILTERS = st.builds(
    Filter,
    codes=st.sets(st.sampled_from(["Code civil", "民法典", "none"])).map(frozenset),
    law_types=st.sets(st.sampled_from(["national", "x"])).map(frozenset),
    regions=st.sets(st.sampled_from(["BE-BRU", "x"])).map(frozenset),
    in_force_on=DAYS,
)


def stored(articles: list[Article], folder: Path) -> StoredArticles:
    law = replace(VILLAGE, articles=tuple(articles), questions=())
    write(law, folder / "corpus", compress=False)
    article_store.write(law.articles, "fr", folder)
    return StoredArticles(folder, AGAIN)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PANDECT_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@given(articles=ARTICLES, where=FILTERS, wanted=IDS, held=st.sampled_from([0, article_store.HELD]))
@pytest.mark.slow
def test_on_disk_as_in_memory(articles: list[Article], where: Filter, wanted: str, held: int) -> None:
    with TemporaryDirectory() as folder, mock.patch.object(article_store, "HELD", held):
        there, here = stored(articles, Path(folder)), Articles.of(articles)
        assert [*there] == articles == [there[i] for i in range(len(there))] == list(there[:])
        assert there[-1] == articles[-1]
        assert dict(there.by_id) == here.by_id
        assert dict(there.order.positions) == here.order.positions
        assert (wanted in there.by_id) == (wanted in here.by_id)
        assert there.order.positions.get(wanted) == here.order.positions.get(wanted)
        for name in {*COLUMNS, "lengths"} - {"order", "by_id"}:
            mine, theirs = getattr(there, name), getattr(here, name)
            pairs = [(mine, theirs)]
            if isinstance(mine, Inverted):
                assert list(mine.keys) == list(theirs.keys)
                assert list(mine.counts.items()) == list(theirs.counts.items())
                pairs = [(getattr(mine, part), getattr(theirs, part)) for part in ("of", "positions", "ends")]
            assert all(np.array_equal(one, other) for one, other in pairs), name
        assert isinstance(there.order.ids, article_store.Texts) == (len(articles) > held)
        assert there.order.by_id.tolist() == here.order.by_id.tolist()
        admitted = [where.admits(article) for article in articles]
        assert there.admitted(where).tolist() == here.admitted(where).tolist() == admitted
        assert available_situations("fr", there) == available_situations("fr", here)
        for question in ("article 1 du code civil", "les articles 1 à 2 bis", "L123-4", "123-4 code rural"):
            one, other = KnownItems(there, VILLAGE.card), KnownItems(here, VILLAGE.card)
            found = one.find(question, where.in_force_on)
            assert found == other.find(question, where.in_force_on)
            assert one.pinned(found, where, 3) == other.pinned(found, where)[:3]
        one_law, other_law = Law(there), Law(here)
        for id_ in here.by_id:
            for ask in ("home", "previous", "after", "siblings"):
                assert getattr(one_law, ask)(id_) == getattr(other_law, ask)(id_)
            for ask in ("refers_to", "referred_by"):
                assert getattr(one_law, ask)(id_)[:] == getattr(other_law, ask)(id_)[:]


def test_opening_and_asking_read_no_article_but_those_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    install(settings=FIT)
    was, reads = StoredArticles._read, []

    def counted(self: StoredArticles, position: int) -> Article:
        reads.append(position)
        return was(self, position)

    monkeypatch.setattr(StoredArticles, "_read", counted)
    engine = indexes.open("village")
    assert set(reads) == {0, len(VILLAGE.articles) - 1}  # held against the columns
    shown = engine.ask(GOAT, k=1, where=Filter(codes=frozenset({CODE}))).shown
    assert [each.article.id for each in shown] == ["v-5"]
    assert engine.facets().codes == {CODE: len(VILLAGE.articles)}
    assert set(reads) - {0, len(VILLAGE.articles) - 1} == {4}


def test_many_threads_read_one_index() -> None:
    install(settings=NONE)
    engine = indexes.open("village")
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda n: engine.articles[f"v-{n % 12 + 1}"], range(480)))
    assert [article.id for article in found] == [f"v-{n % 12 + 1}" for n in range(480)]


def test_an_index_without_columns_opens_as_before() -> None:
    version = install(settings=FIT)
    expected = indexes.open("village").ask(GOAT)
    for file in (version / article_store.FOLDER).iterdir():
        file.unlink()
    stamp(read(version, AGAIN), version)

    engine = indexes.open("village")
    found = engine.ask(GOAT)
    assert not isinstance(engine._articles, StoredArticles)
    assert [(s.article, s.score) for s in found.shown] == [(s.article, s.score) for s in expected.shown]


def test_a_line_that_is_broken_is_told_when_it_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("indexes.store.open_index.HASH_AT_OPENING", 0)
    version = install(settings=NONE)
    path = version / article_store.FILE
    lines = path.read_bytes().splitlines(keepends=True)
    lines[4] = b"{" * (len(lines[4]) - 1) + b"\n"
    path.write_bytes(b"".join(lines))

    engine = indexes.open("village")
    with pytest.raises(DamagedIndex, match=rf"article 5 of .* cannot be read .*run {AGAIN}"):
        engine.articles["v-5"]
    assert engine.articles["v-4"].article_no == "4"
