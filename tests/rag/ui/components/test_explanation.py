from __future__ import annotations

import re
from dataclasses import replace
from importlib.resources import files

import pytest

from rag.engine.result import Explanation, MeaningShare, ResultPlace, SimilarQuestion
from rag.ltr.features import GROUPS
from rag.types import Reason, Shown, Why, WordShare
from rag.ui.components.article_card import View, card_html
from rag.ui.components.explanation import MAX_ROWS, REASONS, panel, percent
from rag.ui.i18n import LANGUAGES, words
from tests.fakes.pages.html_reader import Element, read
from tests.fakes.pages.ui_engine import ARTICLES, CARD, FakeAnalyser

ALLOWED = {
    "details", "summary", "table", "caption", "thead", "tbody", "tr", "th", "td", "p", "ul",
    "li", "q",
}  # fmt: skip
TREE = Explanation(
    "671",
    (
        WordShare("arbre", "Arbre", 3.0, {"text": 2.0, "questions": 1.0}),
        WordShare("voisin", "voisin", 1.0, {"headings": 1.0}),
    ),
    0.62,
    (MeaningShare("arbre", "Arbre", 0.7), MeaningShare("planté", "planté", -0.08)),
    (ResultPlace("bm25+questions", 1, 1 / 21), ResultPlace("dense", 1084, 1 / 1104)),
    (
        SimilarQuestion("Puis-je couper l'arbre ?", ("arbre",), 0.25, 0.714),
        SimilarQuestion("Sans rapport", (), 0.0, -0.2),
    ),
)


def told(explanation: Explanation, language: str = "en") -> Element:
    return read(panel(explanation, words(language), "fr"))


def tables(root: Element) -> dict[str, list[list[str]]]:
    return {
        table.one("caption").text: [[cell.text for cell in row.children] for row in table.all("tr")]
        for table in root.all("table")
    }


@pytest.mark.parametrize(
    ("by_machine", "said"),
    [
        (False, "Similar questions, and how alike they are:"),
        (True, "Similar questions, written by a machine, and how alike they are:"),
    ],
)
def test_similar_questions_say_who_wrote_them(*, by_machine: bool, said: str) -> None:
    root = read(panel(TREE, words("en"), "fr", by_machine=by_machine))
    assert [each.text for each in root.all("p") if "alike" in each.text] == [said]


def test_a_panel_tells_ranks_words_meaning_and_questions() -> None:
    root = told(TREE)

    assert root.one("summary").text == "More about this ranking"
    assert tables(root) == {
        "Its place in each ranking": [
            ["Ranking", "Place", "Part of the final score"],
            ["by words", "1", "98%"],
            ["by meaning", "1,084", "2%"],
        ],
        "The ranking by words: what each word counts for": [
            ["Your word", "Where it stands", "Share"],
            ["arbre", "text (67%), its questions (33%)", "75%"],
            ["voisin", "headings", "25%"],
        ],
        "The ranking by meaning: what each word counts for": [
            ["Your word", "Points out of 100"],
            ["arbre", "70"],
            ["planté", "−8"],
        ],
    }
    assert "Together they make its likeness of meaning: 62 out of 100." in root.text
    assert [li.text for li in root.all("li")] == ["Puis-je couper l'arbre ? (likeness: 71 out of 100)"]
    assert root.one("q").attributes["lang"] == "fr"


def bars(root: Element) -> list[str]:
    """Return how long each bar is, of 100, and which take away."""
    cells = [td.attributes for td in root.all("td") if "pd-amount" in td.attributes.get("class", "")]
    return [
        td["style"].removeprefix("--part:") + " less" * ("pd-less" in td["class"].split()) for td in cells
    ]


def test_a_table_is_one_to_a_screen_reader_and_a_bar_is_not_read_twice() -> None:
    root = told(TREE)

    assert {th.attributes["scope"] for thead in root.all("thead") for th in thead.all("th")} == {"col"}
    assert {th.attributes["scope"] for tbody in root.all("tbody") for th in tbody.all("th")} == {"row"}
    assert bars(root) == ["98", "2", "75", "25", "70", "8 less"]
    assert {len(td.all("span")) for td in root.all("td")} == {
        0
    }  # the style draws them: nothing to read twice


def test_french() -> None:
    assert told(TREE, "fr").one("summary").text == "En savoir plus sur ce classement"
    assert ["voisin", "intitulés", "25\u202f%"] in tables(told(TREE, "fr"))[
        "Le classement par les mots\u00a0: ce que compte chaque mot"
    ]


# what a learned fusion tells: the shares add up to 1.5, in absolute values but for the base to 4
LEARNED = replace(
    TREE,
    places=tuple(replace(place, share=None) for place in TREE.places),
    reasons=(
        Reason("questions", 2.0),
        Reason("words", 0.99),
        Reason("base", 0.5),
        Reason("both", 0.01),
        Reason("meaning", 0.0),
        Reason("prior", -1.0),
    ),
)


def test_a_learned_ranking_tells_what_weighed_for_and_against() -> None:
    root = told(LEARNED)
    found = tables(root)

    assert list(found)[:2] == ["What weighed for it, and against it", "Its place in each ranking"]
    assert found["What weighed for it, and against it"] == [
        ["Reason", "Share"],
        ["similar questions, and their articles", "50%"],
        ["the words of your question", "25%"],
        ["its place in both rankings", "under 1%"],
        ["how often questions cite it", "−25%"],
    ]
    first = root.all("table")[0]
    assert bars(first) == ["50", "25", "0", "25 less"]
    # ranks do not count by themselves here, so no part of the score is theirs
    assert found["Its place in each ranking"] == [
        ["Ranking", "Place"],
        ["by words", "1"],
        ["by meaning", "1,084"],
    ]
    assert "learnt from questions whose right articles are known" in root.text
    assert "The rankings are put together" not in root.text
    assert {e.name for e in root.all()} <= ALLOWED


def test_a_learned_ranking_in_french() -> None:
    assert tables(told(LEARNED, "fr"))["Ce qui a joué pour lui, et contre lui"] == [
        ["Raison", "Part"],
        ["des questions proches et leurs articles", "50\u202f%"],
        ["les mots de votre question", "25\u202f%"],
        ["sa place dans les deux classements", "moins de 1\u202f%"],
        ["la fréquence à laquelle des questions le citent", "−25\u202f%"],
    ]
    assert "a été appris sur des questions" in told(LEARNED, "fr").text


def test_every_reason_of_a_learned_fusion_has_words_in_every_language() -> None:
    assert set(REASONS) == set(GROUPS.values())
    for language in LANGUAGES:
        names = [words(language)(REASONS[group]) for group in REASONS]
        assert len(set(names)) == len(names)
        assert all(names)


@pytest.mark.parametrize("reasons", [(), (Reason("base", 3.0),), (Reason("of a later version", 1.0),)])
def test_reasons_that_tell_nothing_are_not_told(reasons: tuple[Reason, ...]) -> None:
    assert panel(Explanation("x", reasons=reasons), words("fr"), "fr") == ""


def test_many_words_end_in_one_row_that_holds_the_rest() -> None:
    many = tuple(WordShare(f"w{n}", f"w{n}", 1.0, {"text": 1.0}) for n in range(MAX_ROWS + 2))
    far = tuple(MeaningShare(f"m{n}", f"m{n}", 0.05) for n in range(MAX_ROWS + 2))
    by_words, by_meaning = tables(told(Explanation("x", many, 0.5, far))).values()

    assert by_words[-1] == ["other words", "", "20%"]
    assert by_meaning[-1] == ["other words", "10"]
    assert len(by_words) == len(by_meaning) == MAX_ROWS + 2  # with the head


@pytest.mark.parametrize(
    ("share", "whole", "said"),
    [(1.0, 2.0, "50%"), (0.001, 1.0, "under 1%"), (0.0, 1.0, "0%"), (1.0, 0.0, "0%"), (-1.0, 4.0, "−25%")],
)
def test_percent(share: float, whole: float, said: str) -> None:
    assert percent(share, whole, words("en")) == said


def test_what_is_not_known_is_not_told() -> None:
    assert panel(Explanation("x"), words("fr"), "fr") == ""
    alone = told(Explanation("x", cosine=0.3, places=(ResultPlace("colbert", 4),)))
    assert tables(alone) == {"Its place in each ranking": [["Ranking", "Place"], ["colbert", "4"]]}
    assert [p.text for p in alone.all("p")] == ["Likeness of meaning: 30 out of 100."]


def test_a_hostile_explanation_stays_text() -> None:
    evil = "<img src=x onerror=alert(1)>"
    root = told(
        Explanation(
            evil,
            (WordShare(evil, evil, 1.0, {evil: 1.0}),),
            0.5,
            (MeaningShare(evil, evil, 0.5),),
            (ResultPlace(evil, 1, 0.1),),
            (SimilarQuestion(evil, (evil,), 1.0),),
        )
    )

    assert {e.name for e in root.all()} <= ALLOWED
    assert not [a for e in root.all() for a in e.attributes if a.startswith("on") or a == "src"]
    styles = [e.attributes["style"] for e in root.all() if "style" in e.attributes]
    assert all(re.fullmatch(r"--part:\d{1,3}", style) for style in styles)  # ours, and a number
    assert root.text.count(evil) == 5


def test_the_browser_makes_all_that_the_panel_has() -> None:
    script = files("rag.ui").joinpath("script.js").read_text(encoding="utf-8")
    made, kept = (
        set(re.findall(r'"([a-z]+)"', re.search(rf"const {name} = \[(.*?)\];", script)[1]))
        for name in ("MADE", "KEPT_OF_IT")
    )
    inside = [e for each in told(TREE).one("details").children[1:] for e in (each, *each.all())]

    assert inside
    assert {e.name for e in inside} <= made
    assert {a for e in inside for a in e.attributes} <= {*kept, "style"}
    assert made | {"details", "summary"} == ALLOWED


def test_a_card_keeps_its_reasons_and_adds_the_panel_below() -> None:
    shown, view = (
        Shown(1, ARTICLES[0], 1.0, Why(frozenset({"arbre"}))),
        View(CARD, FakeAnalyser(), words("fr")),
    )
    without, with_it = read(card_html(shown, view)), read(card_html(shown, view, TREE))

    assert with_it.one(class_="pd-why").text == without.one(class_="pd-why").text
    assert not without.all("table")
    assert not with_it.one(class_="pd-why").all("table")
    assert [each.name for each in with_it.all(class_="pd-more")] == ["details", "details"]  # one in the other
