"""Cleaning of a whole corpus: counted, twice as good as once, and nothing is lost."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indexes.cleaning.clean import ALL, KINDS, clean, ordered_kinds, would_find
from indexes.cleaning.duplicates import same_number
from indexes.cleaning.repealed import short
from indexes.cleaning.steps import FILE, ORIGINAL, RemovedArticle, Tally, read_removed, write_removed
from indexes.corpus.corpus import Corpus, read, write
from indexes.corpus.export import FORMATS, export
from indexes.sources.registry import load
from rag.corpus.card import CorpusCard
from rag.errors import BadInput
from rag.types import Article, Question
from tests.fakes.law.corpus import CODE, VILLAGE

DAY = date(2020, 1, 1)
FILLED = "Chaque voisin taille la haie qui borde le chemin."


def law(*articles: Article, asked: Sequence[Question] = (), day: date | None = DAY) -> Corpus:
    """The village's law with more articles, as of a day."""
    card = replace(VILLAGE.card, law_date=day)
    return replace(VILLAGE, card=card, articles=(*VILLAGE.articles, *articles), questions=tuple(asked))


def article(id_: str, text: str = FILLED, number: str = "", **rest: object) -> Article:
    return Article(id_, CODE, number, text, **rest)  # type: ignore[arg-type]


def asking(id_: str, *gold: str) -> Question:
    return Question(id_, f"Et {id_} ?", gold)


def test_a_clean_corpus_is_left_alone() -> None:
    assert clean(VILLAGE, [ALL]).corpus == VILLAGE
    assert would_find(VILLAGE) == {}
    assert clean(law(article("r", "(abrogé)")), []).corpus.articles[-1].id == "r"
    assert clean(law(article("r", "(abrogé)")), ["none"]).tallies == ()


def test_kinds_are_done_in_one_order() -> None:
    assert ordered_kinds([ALL]) == tuple(KINDS)
    assert ordered_kinds(["short", "marks", "short"]) == ("marks", "short")
    assert ordered_kinds([]) == ordered_kinds(["none"]) == ()
    with pytest.raises(BadInput, match=r"no cleaning polish\. Use some of: repealed, marks, .*all, none"):
        ordered_kinds(["polish"])
    with pytest.raises(BadInput, match="--clean none came with marks"):
        ordered_kinds(["none", "marks"])


def test_marks_keep_the_original() -> None:
    marked = "Le four [1 commun]1 est chauffé le mardi et [2 ...]2 le samedi."
    cleaned = clean(law(article("m", marked), article("r", "[1 ...]1")), ["marks"])
    assert cleaned.corpus.articles[-2].text == "Le four commun est chauffé le mardi et le samedi."
    assert cleaned.corpus.extras == {"m": {ORIGINAL: marked}}
    assert cleaned.corpus.articles[-1].text == "[1 ...]1"  # nothing would be left
    assert cleaned.tallies == (Tally("marks", 1, 1),)
    assert cleaned.tallies[0].line() == "cleaned, marks: 1 articles, 1 altered"
    # what an earlier cleaning kept stays the original
    before = replace(law(article("m", marked)), extras={"m": {ORIGINAL: "older", "note": 1}})
    assert clean(before, ["marks"]).corpus.extras == {"m": {ORIGINAL: "older", "note": 1}}


def test_repealed_articles_go_unless_a_question_cites_them() -> None:
    before = law(
        article("r1", "(abrogé)", "20"),
        article("r2", "(abrogé)", "21"),
        article("r3", number="22", valid_to=DAY),
        article("r4", number="23", valid_to=date(2020, 1, 2)),
        asked=[asking("q", "r2", "v-1")],
    )
    before = replace(before, extras={"r1": {"note": "deep"}})
    cleaned = clean(before, ["repealed"])
    assert [a.id for a in cleaned.corpus.articles[12:]] == ["r2", "r4"]
    assert cleaned.corpus.questions == before.questions
    assert [(r.article.id, r.removed_for, r.extras) for r in cleaned.removed] == [
        ("r1", "repealed", {"note": "deep"}),
        ("r3", "repealed", {}),
    ]
    assert cleaned.tallies == (Tally("repealed", 3, 2, cited=1),)
    assert cleaned.tallies[0].line() == (
        "cleaned, repealed: 3 articles, 2 removed, 1 kept because a question cites them"
    )
    assert would_find(before)["repealed"] == 3
    without = replace(before, card=VILLAGE.card)  # no day: only words can tell
    assert [r.article.id for r in clean(without, ["repealed"]).removed] == ["r1"]


def version(id_: str, begins: str | None, ends: str | None, **rest: object) -> Article:
    days = [None if day is None else date.fromisoformat(day) for day in (begins, ends)]
    return article(
        id_,
        f"La version {id_} de cette règle du village.",
        "30",
        valid_from=days[0],
        valid_to=days[1],
        **rest,
    )


@pytest.mark.parametrize(
    ("day", "versions", "instead"),
    [
        # the one in force on the day stays, the former and the coming one go
        ("2020-01-01", [("a", "2000-01-01", "2010-01-01"), ("b", "2010-01-01", None)], {"a": "b"}),
        (
            "2005-01-01",
            [("a", "2000-01-01", "2010-01-01"), ("b", "2010-01-01", None), ("c", None, "2000-01-01")],
            {"b": "a", "c": "a"},
        ),
        # without a day the last one stays, whatever the order
        (
            None,
            [("c", "2015-01-01", None), ("a", "2000-01-01", "2010-01-01"), ("b", "2010-01-01", "2015-01-01")],
            {"a": "c", "b": "c"},
        ),
        # two in force at once are two articles; so are those without dates
        ("2020-01-01", [("a", "2000-01-01", None), ("b", "2010-01-01", None)], {}),
        (None, [("a", "2000-01-01", None), ("b", "2010-01-01", None)], {}),
        ("2020-01-01", [("a", None, None), ("b", "2010-01-01", None), ("c", None, None)], {}),
        (None, [("a", None, None), ("b", None, None)], {}),
        ("2020-01-01", [("a", "2000-01-01", "2010-01-01"), ("b", None, None)], {}),
        # none was in force on the day: who knows which one counts
        ("1990-01-01", [("a", "2000-01-01", "2010-01-01"), ("b", "2010-01-01", None)], {}),
        # muddled dates let nothing go round in a circle
        (None, [("a", "2010-01-01", "2000-01-01"), ("b", "2010-01-01", "2000-01-01")], {}),
    ],
)
def test_versions_of_one_number(
    day: str | None, versions: list[tuple[str, str | None, str | None]], instead: dict[str, str]
) -> None:
    articles = [version(*each) for each in versions]
    found = same_number(articles, date.fromisoformat(day) if day else None)
    assert (found.groups, found.articles) == (1, len(versions))
    assert dict(found.instead) == instead


def test_one_number_in_two_regions_or_none_at_all() -> None:
    here, there = (version(r, "2000-01-01", "2010-01-01", region=r) for r in ("BE-WAL", "BE-BRU"))
    assert same_number([here, there], DAY).groups == 0
    assert same_number([article("a"), article("b")], DAY).groups == 0


def test_questions_and_references_follow_to_the_version_that_stays() -> None:
    old, new = (
        version("old", "2000-01-01", "2010-01-01"),
        version("new", "2010-01-01", None, references=("old",)),
    )
    pointing = article("p", number="31", references=("old", "v-1", "new", "gone"))
    before = law(
        old, new, pointing, asked=[asking("q1", "old", "new"), asking("q2", "v-1"), asking("q3", "old")]
    )
    cleaned = clean(before, ["duplicate-numbers"])
    assert [a.id for a in cleaned.corpus.articles[12:]] == ["new", "p"]
    assert [q.article_ids for q in cleaned.corpus.questions] == [("new",), ("v-1",), ("new",)]
    assert cleaned.corpus.articles[-2].references == ()  # it would refer to itself
    assert cleaned.corpus.articles[-1].references == ("new", "v-1", "gone")
    assert [(r.article.id, r.moved_to) for r in cleaned.removed] == [("old", "new")]
    [tally] = cleaned.tallies
    assert tally == Tally("duplicate-numbers", 2, 1, moved=2, groups=1)
    assert tally.line() == (
        "cleaned, duplicate-numbers: 2 articles in 1 groups, 1 removed, 2 citations moved to the article "
        "that stays"
    )


def test_the_same_words_in_one_code() -> None:
    first, again = article("d1", number="40"), article("d2", f" {FILLED}\n".replace(" haie", "  haie"), "41")
    other = Article("d3", "Code du four", "40", FILLED)
    cleaned = clean(law(first, again, other, asked=[asking("q", "d2")]), ["exact-duplicates"])
    assert [a.id for a in cleaned.corpus.articles[12:]] == ["d1", "d3"]
    assert cleaned.corpus.questions[0].article_ids == ("d1",)
    assert cleaned.tallies == (Tally("exact-duplicates", 2, 1, moved=1, groups=1),)


@pytest.mark.parametrize(
    ("language", "four", "five"),
    [
        ("fr", "L'adoption est irrévocable ici.", "L'adoption est irrévocable d'ici demain."),  # elided: none
        ("nl", "De oven is warm.", "De oven is altijd warm."),
        ("de", "Der Ofen ist warm.", "Der Ofen ist immer warm."),
        ("it", "L'oven resta del 12.", "Il forno resta del 12."),
        ("zh", "继承权男女平等。", "国家依法保护自然人的继承权。"),
    ],
)
def test_short_articles_by_the_words_of_the_language(language: str, four: str, five: str) -> None:
    card = CorpusCard("c", "C", language)
    corpus = Corpus(card, (Article("a", "C", "1", four), Article("b", "C", "2", five)))
    assert list(short(corpus.articles, language)) == ["a"]
    assert [a.id for a in clean(corpus, ["short"]).corpus.articles] == ["b"]
    cited = replace(corpus, questions=(asking("q", "a"),))
    assert clean(cited, ["short"]).corpus == cited
    assert clean(cited, ["short"]).tallies == (Tally("short", 1, 0, cited=1),)


def test_a_long_word_is_one_word() -> None:
    assert list(short([article("a", "x" * 70), article("b", f"{'x' * 70} a b c d")], "fr")) == ["a"]


def test_nothing_left_and_no_analyser() -> None:
    corpus = Corpus(CorpusCard("c", "C", "fr"), (Article("a", "C", "1", "(abrogé)"),))
    with pytest.raises(BadInput, match=r"--clean repealed would remove all 1 articles of c\. Leave it out"):
        clean(corpus, ["repealed"])
    with pytest.raises(BadInput, match="no analyser for language 'xx'"):
        clean(replace(corpus, card=replace(corpus.card, language="xx")), ["short"])


TEXTS = (
    "(abrogé)",
    "Le four [1 commun]1 est chauffé.",
    "Le four commun est chauffé.",
    "Court.",
    FILLED,
    "[1 ...]1",
)
days = st.none() | st.dates(date(2000, 1, 1), date(2003, 1, 1))


@st.composite
def corpora(draw: st.DrawFn) -> Corpus:
    n = draw(st.integers(1, 12))
    ids = [f"a{i}" for i in range(n)]
    articles = [
        Article(
            id_,
            draw(st.sampled_from(["C", "D"])),
            draw(st.sampled_from(["", "1", "2"])),
            draw(st.sampled_from(TEXTS)),
            valid_from=draw(days),
            valid_to=draw(days),
            references=tuple(draw(st.lists(st.sampled_from(ids), max_size=3, unique=True))),
        )
        for id_ in ids
    ]
    gold = st.lists(st.sampled_from(ids), max_size=3, unique=True)
    asked = [Question(f"q{i}", "Et ?", tuple(draw(gold))) for i in range(draw(st.integers(0, 4)))]
    card = CorpusCard("c", "C", "fr", law_date=draw(days))
    extras = {id_: {"note": id_} for id_ in draw(st.sets(st.sampled_from(ids)))}
    # one that no cleaning removes, so that something is left
    stays = Article("stays", "E", "9", "Une règle que tout le monde connaît au village.")
    return Corpus(card, (*articles, stays), tuple(asked), extras)


@pytest.mark.slow
@given(corpora(), st.lists(st.sampled_from([*KINDS, ALL]), max_size=3))
@settings(max_examples=150)
def test_nothing_is_lost(before: Corpus, kinds: list[str]) -> None:
    cleaned = clean(before, kinds)
    after = cleaned.corpus
    # every article is there or among the removed, with its text and its columns
    kept, removed = {a.id: a for a in after.articles}, {r.article.id: r for r in cleaned.removed}
    assert [a.id for a in after.articles] == [a.id for a in before.articles if a.id not in removed]
    for one in before.articles:
        now = kept.get(one.id) or removed[one.id].article
        columns = after.extras.get(one.id, {}) if one.id in kept else removed[one.id].extras
        assert columns.get(ORIGINAL, now.text) == one.text
        assert {k: v for k, v in columns.items() if k != ORIGINAL} == before.extras.get(one.id, {})
    # every question still has what answered it, or what stays for that
    assert [q.id for q in after.questions] == [q.id for q in before.questions]
    for was, is_ in zip(before.questions, after.questions, strict=True):
        followed = []
        for id_ in was.article_ids:
            while id_ in removed:
                assert removed[id_].moved_to is not None
                id_ = str(removed[id_].moved_to)
            followed.append(id_)
        assert is_.article_ids == tuple(dict.fromkeys(followed))
    assert sum(t.done for t in cleaned.tallies if t.kind != "marks") == len(removed)
    again = clean(after, kinds)
    assert (again.corpus, again.removed) == (after, ())


removed_ = st.builds(
    RemovedArticle,
    st.builds(
        Article,
        st.text("ab1é", min_size=1),
        st.just("C"),
        st.text(max_size=3).filter(str.isprintable),
        st.just("texte"),
        valid_to=days,
    ),
    st.sampled_from(list(KINDS)),
    st.none() | st.just("v-1"),
    st.dictionaries(st.sampled_from(["note", "x"]), st.integers() | st.text("abé", min_size=1), max_size=2),
)


@given(st.lists(removed_, max_size=5))
@settings(max_examples=40)  # each writes to the disk
def test_removed_articles_are_read_again(
    tmp_path_factory: pytest.TempPathFactory, removed: list[RemovedArticle]
) -> None:
    folder = tmp_path_factory.mktemp("removed")
    write_removed(folder, removed)
    assert read_removed(folder) == tuple(removed)
    assert (folder / FILE).is_file() == bool(removed)


def test_a_bad_file_of_removed_articles(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text(json.dumps({"id": "1", "code": "C", "article_no": "1"}) + "\n")
    with pytest.raises(BadInput, match=r"removed\.jsonl\.gz:1: no text"):
        read_removed(tmp_path)


@pytest.mark.parametrize("format_", FORMATS)
def test_original_texts_travel_with_an_export(tmp_path: Path, format_: str) -> None:
    marked = "Le four [1 commun]1 est chauffé\nle mardi."
    corpus = clean(law(article("m", marked, "50")), [ALL]).corpus
    back, _ = load("pandect" if format_ == "jsonl" else format_, export(corpus, tmp_path / "out", format_))
    assert back.extras["m"] == {ORIGINAL: marked}
    assert back.sha256 == corpus.sha256
    assert read(write(corpus, tmp_path / "kept")) == corpus


@pytest.mark.slow
@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "found"), [("fr", {"exact-duplicates": 144}), ("de", {"exact-duplicates": 2})]
)
def test_the_measuring_codes_hold_no_marks(data: Path, name: str, found: dict[str, int]) -> None:
    corpus, _ = load(name, data / name)
    assert would_find(corpus) == found
    assert clean(corpus, ["marks", "repealed"]).corpus == corpus
