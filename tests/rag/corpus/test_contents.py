from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.corpus.articles import Articles
from rag.corpus.contents import DEEPEST, ContentsEntry, Law, steps, written
from rag.graph.graph import Graph
from rag.graph.references.reference import ROLES
from rag.types import Article, Question

HEADINGS = st.lists(st.sampled_from(["Livre I", "Livre II", "Titre I", ""]), max_size=4).map(tuple)
CORPUS = st.lists(st.tuples(st.sampled_from(["A", "B", ""]), HEADINGS), max_size=30).map(
    lambda rows: {
        str(n): Article(str(n), code, str(n), "text", headings) for n, (code, headings) in enumerate(rows)
    }
)


def law(*rows: tuple[str, str, tuple[str, ...]], **references: tuple[str, ...]) -> Law:
    """A law of (id, code, headings)."""
    return Law(
        [
            Article(id_, code, id_, "t", headings, references=references.get(id_, ()))
            for id_, code, headings in rows
        ]
    )


CIVIL = law(
    ("a", "Civil", ()),
    ("b", "Civil", ("I", "1")),
    ("c", "Civil", ("I", "1")),
    ("x", "Penal", ("I",)),
    ("d", "Civil", ("I", "2")),
    ("e", "Civil", ("II",)),
    ("f", "Civil", ("I", "1")),
    a=("c", "nowhere", "a", "c"),
    x=("c",),
)


def test_the_tree_by_hand() -> None:
    assert dict(CIVIL.codes) == {"Civil": 6, "Penal": 1}
    [civil], [penal] = map(CIVIL.trail, CIVIL.codes)
    first, second = CIVIL.below(civil)

    assert civil == ContentsEntry("Civil", (), "Civil", 6, ("a",), 2)
    assert penal == ContentsEntry("Penal", (), "Penal", 1, (), 1)
    assert first == ContentsEntry("Civil", (1,), "I", 4, (), 2)
    assert second == ContentsEntry("Civil", (2,), "II", 1, ("e",), 0)
    assert CIVIL.below(first)[0] == ContentsEntry("Civil", (1, 1), "1", 3, ("b", "c", "f"), 0)
    assert [p.title for p in CIVIL.home("d")] == ["Civil", "I", "2"]
    assert [p.at for p in walk(CIVIL, civil)] == [(), (1,), (1, 1), (1, 2), (2,)]


def test_beside_around_and_across_by_hand() -> None:
    before, after = CIVIL.previous("d"), CIVIL.after("d")

    assert before is not None
    assert after is not None
    assert (before.id, after.id) == ("c", "e")  # x is of another code
    assert CIVIL.previous("a") is None
    assert CIVIL.after("f") is None
    assert [a.id for a in CIVIL.siblings("c")] == ["b", "c", "f"]
    # once, not itself, and only what is here
    assert [m.article.id for m in CIVIL.refers_to("a")] == ["c"]
    assert [m.article.id for m in CIVIL.referred_by("c")] == ["a", "x"]
    assert [(m.source.id, m.start, m.role) for m in CIVIL.referred_by("c")] == [("a", -1, ""), ("x", -1, "")]
    assert not CIVIL.referred_by("a")
    assert not CIVIL.read_with("a")


def test_references_with_their_places_and_what_must_be_read_together() -> None:
    articles = [
        Article("1", "C", "1", "Au sens de l'article 3, un mur."),
        Article("2", "C", "2", "Par dérogation à l'article 1, rien. Voir les articles 1 et 3."),
        Article("3", "C", "3", "Un mur est en pierre, sous réserve de l'article 2."),
    ]
    pairs = np.array([[0, 2], [1, 0], [1, 2], [2, 1]])
    spans = np.array([[11, 20], [19, 28], [40, 60], [39, 48]], np.int32)
    roles = np.array([ROLES.index(role) for role in ("definition", "derogates", "", "exception")], np.int8)
    order = [3, 1, 0, 2]  # a graph sorts them
    graph = Graph.of(articles, pairs[order], spans=spans[order], roles=roles[order])
    law = Law(articles, graph=graph)
    assert [(m.article.id, m.start, m.end, m.role) for m in law.refers_to("2")] == [
        ("1", 19, 28, "derogates"),
        ("3", 40, 60, ""),
    ]
    back = law.referred_by("3")
    assert [(m.article.id, m.source.text[m.start : m.end]) for m in back] == [
        ("1", "l'article"),
        ("2", " les articles 1 et 3"),
    ]
    assert back[1:] == (back[1],)
    assert [(need, m.article.id) for need, m in law.read_with("1")] == [
        ("definition", "3"),
        ("departure", "2"),
    ]
    assert [(need, m.article.id) for need, m in law.read_with("2")] == [("rule", "1")]
    assert [(need, m.article.id) for need, m in law.read_with("3")] == [("exception", "2")]


def test_questions_are_told_once() -> None:
    article = Article("a", "C", "1", "t")
    asked = [Question("1", "why?"), Question("2", "how?"), Question("3", "why?")]

    assert Law([article], {"a": asked}).citing_questions("a") == ("why?", "how?")
    assert Law([article]).citing_questions("a") == ()


@pytest.mark.parametrize(
    ("code", "at", "titles"),
    [
        ("Civil", (1, 2), ["Civil", "I", "2"]),
        ("Civil", (1, 9, 1), ["Civil", "I"]),  # as far as it leads
        ("Civil", (0,), ["Civil"]),
        ("Nowhere", (1,), []),
        ("Civil", (1,) * 1000, ["Civil", "I", "1"]),
    ],
)
def test_a_trail_leads_as_far_as_it_can(code: str, at: tuple[int, ...], titles: list[str]) -> None:
    assert [p.title for p in CIVIL.trail(code, at)] == titles


def test_no_articles_no_codes() -> None:
    assert Law([]).codes == {}


def test_a_law_of_endless_depth_is_cut_and_loses_nothing() -> None:
    deep = Article("a", "C", "1", "t", tuple(map(str, range(5000))))
    made = Law([deep, replace(deep, id="b")])

    assert len(made.home("a")) == DEEPEST + 1
    assert made.home("a")[-1].articles == ("a", "b")


def walk(law: Law, place: ContentsEntry) -> Iterator[ContentsEntry]:
    yield place
    for below in law.below(place):
        yield from walk(law, below)


@given(CORPUS)
def test_every_article_is_reached_exactly_once(articles: dict[str, Article]) -> None:
    made = Law(tuple(articles.values()))
    codes = [code for [code] in map(made.trail, made.codes)]
    reached = [(i, place.code) for code in codes for place in walk(made, code) for i in place.articles]

    assert sorted(reached) == sorted((a.id, a.code) for a in articles.values())
    for code in codes:
        for place in walk(made, code):
            assert place.count == len(place.articles) + sum(p.count for p in made.below(place))
            assert made.trail(place.code, place.at)[-1] is place


@given(CORPUS)
def test_before_and_after_are_inverse_and_go_through_the_code(articles: dict[str, Article]) -> None:
    made = Law(tuple(articles.values()))
    for article in articles.values():
        after, before = made.after(article.id), made.previous(article.id)
        assert after is None or made.previous(after.id) is article
        assert before is None or made.after(before.id) is article
    for code in made.codes:
        heads = [a for a in articles.values() if a.code == code and made.previous(a.id) is None]
        assert len(heads) == 1
        seen, here = [], heads[0]
        while here is not None:
            seen.append(here.id)
            here = made.after(here.id)  # type: ignore[assignment]
        assert seen == [a.id for a in articles.values() if a.code == code]


@given(st.lists(st.integers(0, 999_999), max_size=DEEPEST).map(tuple))
def test_steps_survive_an_address(at: tuple[int, ...]) -> None:
    assert steps(written(at)) == at


@given(st.text())
def test_any_text_is_steps_or_none(text: str) -> None:
    assert all(isinstance(n, int) for n in steps(text))


@pytest.mark.parametrize("text", ["1.x", "-1", "1..2", "<b>", "١", "9" * 400, "1.²"])
def test_what_cannot_be_steps(text: str) -> None:
    assert steps(text) == ()


def test_an_article_that_hundreds_name_opens_those_that_are_shown() -> None:
    class Opened(Articles):
        def __getitem__(self, at: int | slice) -> Article | Sequence[Article]:  # type: ignore[override]
            opened.append(at)
            return super().__getitem__(at)

    n, opened = 900, list[int | slice]()
    articles = [Article(str(i), "C", str(i), "Voir l'article 450.") for i in range(n)]
    pairs = np.array([[i, 450] for i in range(n) if i != 450])
    spans, roles = np.tile(np.array([5, 18], np.int32), (n - 1, 1)), np.full(n - 1, 3, np.int8)
    rows = Opened(articles)
    found = Law(rows, graph=Graph.of(articles, pairs, spans=spans, roles=roles))
    opened.clear()
    by, needs = found.referred_by("450"), found.read_with("450")
    assert (len(by), len(needs)) == (n - 1, n - 1)
    assert not opened
    assert [m.article.id for m in by.nearest(4)] == ["448", "449", "451", "452"]
    assert set(opened) == {448, 449, 450, 451, 452} - {450}
    assert [need for need, _ in needs[:2]] == ["departure", "departure"]
