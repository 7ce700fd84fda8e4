"""One to four words that name a matter of law: questions to choose from."""

from __future__ import annotations

import pytest

import indexes
from rag.engine.engine import Engine
from rag.engine.topic_view import MAX_CASES, TopicCase, names_topic, topic_cases
from rag.types import Article, Question


def _article(id_: str, *headings: str) -> Article:
    return Article(id_, "Code", id_, "text", headings)


def _terms(text: str) -> frozenset[str]:
    return frozenset(text.casefold().strip("?! ").split())


FORM, EFFECT = _article("1", "Wills", "Form"), _article("2", "Wills", "Effect")
CITED = {
    "1": [Question("a", "who may write a will ?"), Question("b", "a will from a ship ?")],
    "2": [Question("c", "what does a legacy give ?")],
}
WILL = frozenset({"will"})


def test_words_name_a_topic_if_two_articles_are_about_them_or_one_and_a_question() -> None:
    assert names_topic(WILL, [FORM, EFFECT], {"1", "2"}, {}, _terms)
    assert names_topic(WILL, [FORM, EFFECT], {"1"}, CITED, _terms)
    assert not names_topic(WILL, [FORM, EFFECT], {"1"}, {}, _terms)
    assert not names_topic(WILL, [EFFECT], {"2"}, {}, _terms)
    assert not names_topic(WILL, [], {"1", "2"}, {}, _terms)


def test_a_word_that_the_law_lacks_names_a_topic_if_two_questions_use_it() -> None:
    assert names_topic(WILL, [FORM, EFFECT], set(), CITED, _terms)
    assert not names_topic(WILL, [EFFECT], set(), CITED, _terms)
    assert not names_topic(frozenset({"will", "a"}), [FORM, EFFECT], set(), CITED, _terms)


def test_each_section_has_its_most_typical_question_and_those_with_the_words_come_first() -> None:
    found = topic_cases("will", WILL, [EFFECT, FORM], {"1", "2"}, CITED, _terms)
    assert found == (
        TopicCase("who may write a will ?", "Form"),
        TopicCase("what does a legacy give ?", "Effect"),
    )


def test_a_question_without_the_words_needs_an_article_that_has_them() -> None:
    assert topic_cases("will", WILL, [EFFECT], set(), CITED, _terms) == ()


def test_what_was_typed_is_not_offered_again() -> None:
    cited = {"1": [Question("a", "Will")]}
    assert topic_cases(" will ", WILL, [FORM], {"1"}, cited, _terms) == ()


@pytest.fixture(scope="module")
def engine() -> Engine:
    return indexes.open("builtin")


@pytest.mark.slow
@pytest.mark.parametrize(
    "typed",
    [
        "divorce",
        "testament",
        "tutelle",
        "usufruit",
        "usucapion",
        "troubles de voisinage",
        "licenciement",
        "dépôt de garantie",
    ],
)
def test_a_bare_topic_of_the_law_that_ships_is_never_denied(engine: Engine, typed: str) -> None:
    result = engine.ask(typed)
    assert not result.doubtful
    assert 1 <= len(result.topic) <= MAX_CASES
    assert not result.marked  # the matter is named, not what happened


@pytest.mark.parametrize("typed", ["recette crêpes", "météo demain", "horoscope", "asdf", "parcoursup"])
def test_other_words_name_no_topic(engine: Engine, typed: str) -> None:
    assert engine.ask(typed).topic == ()


def test_a_question_that_tells_what_happened_is_no_topic(engine: Engine) -> None:
    assert engine.ask("mon voisin a coupé ma haie sans me demander").topic == ()
