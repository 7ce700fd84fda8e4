"""Long questions: what asks is read twice, whatever else is told stays."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import indexes
from rag.text.long_questions import LONG, repeat_asked
from tests.fakes.law.corpus import GOAT, install

TOLD = "Depuis que nous avons emménagé au printemps, ma sœur passe ses soirées au balcon avec un chat. " * 4


@pytest.mark.parametrize(
    ("asking", "asked"),
    [
        ("Qui paie ? Il fait beau. Et le chien ?", "Qui paie ? Et le chien ?"),
        ("Il m'a dit « qui paie ? » C'est tout.", "Il m'a dit « qui paie ?"),
        ("Je veux savoir qui paie.", "Je veux savoir qui paie."),  # the last sentence, where none asks
    ],
)
def test_what_asks_stands_once_more_behind_a_story(asking: str, asked: str) -> None:
    assert repeat_asked(TOLD + asking) == f"{TOLD}{asking} {asked}"


@pytest.mark.parametrize("question", ["", "Qui paie ?", TOLD.replace(".", ","), "房东不退押金。" * 90])
def test_short_questions_and_one_long_sentence_stay(question: str) -> None:
    assert repeat_asked(question) == question


@given(st.lists(st.sampled_from(["mot", "mot.", "mot ?", "mot ?!", "\n"]), max_size=3 * LONG).map(" ".join))
def test_nothing_is_lost_and_nothing_comes_more_than_twice(question: str) -> None:
    read = repeat_asked(question)
    assert read.startswith(question)
    assert question.count("mot") <= read.count("mot") <= 2 * question.count("mot")


def test_the_page_reads_a_story_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PANDECT_HOME", str(tmp_path))
    install()
    engine = indexes.open("village")
    story = TOLD + f"{GOAT}. Qui paie les légumes ?"
    found = engine.ask(story)
    about = story.replace("Qui paie", "Que dit l'article 5 du Code du village ? Qui paie")
    assert "legum" in {share.term for share in engine.explain(engine.ask(about))[0].words}
    [words] = engine.searcher.keyword.search([repeat_asked(story)], 10)
    assert [(shown.article.id, shown.score) for shown in found.shown] == list(words)
    [first, *_] = engine.explain(found)
    assert first.bm25 == pytest.approx(found.shown[0].score, rel=1e-5)
