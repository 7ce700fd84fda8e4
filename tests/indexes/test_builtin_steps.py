"""What a person can do, of the law that ships: in every language, with an address, and opened by articles."""

from __future__ import annotations

import fnmatch
from collections.abc import Sequence
from datetime import date

import pytest

import indexes
from rag.corpus.card import Step
from rag.engine.engine import Engine
from rag.screening.decision import screen_question
from rag.types import Filter
from rag.ui.i18n import LANGUAGES
from tests.paths import ROOT
from tests.rag.ui.test_reading_level import MOST_WORDS, SPACELESS, lix, sentences, words

STEPS_LIX = 45  # they name courts and letters, which are long words; newspapers write up to 50


@pytest.fixture(scope="module")
def engine() -> Engine:
    return indexes.open("builtin")


@pytest.fixture(scope="module")
def steps(engine: Engine) -> Sequence[Step]:
    return engine.card.steps


@pytest.mark.slow
def test_each_is_told_in_every_language_of_the_page(steps: Sequence[Step]) -> None:
    assert len(steps) == len({step.id for step in steps}) >= 20
    assert all(set(step.text) == set(LANGUAGES) for step in steps)
    assert all(len(text) <= 220 for step in steps for text in step.text.values())
    assert all(step.url is None or step.url.startswith("https://") for step in steps)


def test_every_pattern_is_of_an_article_that_ships(engine: Engine, steps: Sequence[Step]) -> None:
    ids = list(engine.articles)
    assert not [p for step in steps for p in step.articles if not fnmatch.filter(ids, p)]


@pytest.mark.parametrize(
    ("article", "first"),
    [
        ("L1989-22", ["letter", "conciliator", "tenancy-judge"]),
        ("CT-L1235-2", ["letter", "labour-court", "labour-inspector"]),
        ("CC-515-9", ["protection-order", "legal-aid"]),
        ("CC-671", ["letter", "conciliator"]),
        ("CCONSO-L711-1", ["debt-commission"]),
        ("CESEDA-L611-1", ["removal-court", "legal-aid"]),
    ],
)
def test_the_steps_of_an_article_stand_in_the_order_in_which_they_are_taken(
    engine: Engine, article: str, first: list[str]
) -> None:
    assert [step.id for step in engine.card.steps_after(article)][:3] == first


@pytest.mark.parametrize("language", [each for each in LANGUAGES if each not in SPACELESS])
def test_steps_are_read_as_easily_as_news(steps: Sequence[Step], language: str) -> None:
    told = [step.text[language] for step in steps]
    longest = max(len(words(sentence)) for text in told for sentence in sentences(text))
    print(f"{language}: steps, longest sentence {longest} words, LIX {lix(told):.1f}")  # noqa: T201 - with -s

    assert lix(told) <= STEPS_LIX
    assert longest <= MOST_WORDS


USE = (
    (ROOT / "docs" / "use.md")
    .read_text(encoding="utf-8")
    .partition("<!-- two taps -->")[2]
    .partition("\n\n")[0]
)
PROBLEMS = [line.split("|")[1].strip() for line in USE.splitlines() if line.startswith("| ")][1:]


@pytest.mark.slow
@pytest.mark.parametrize("question", PROBLEMS)
def test_what_may_i_do_now_is_told_after_one_tap(engine: Engine, question: str) -> None:
    result = engine.ask(question, where=Filter(in_force_on=date.today()))
    decision = screen_question(question, result, engine.card, leaves=False)
    dangers = {each.danger for each in (*decision.urgent, *decision.limits) if each.now}
    after = engine.card.steps_after(result.shown[0].article.id)

    assert len(PROBLEMS) == 10
    assert [step for step in engine.card.steps if dangers.intersection(step.dangers)] or (
        after and not (result.doubtful or result.elsewhere or result.topic)
    )
