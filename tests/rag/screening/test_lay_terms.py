"""Which French terms are offered for a question in another language."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rag.screening.language import question_language
from rag.screening.lay_terms import TERMS, french_terms
from rag.text.patterns import data
from rag.ui.i18n import LANGUAGES as INTERFACE

ROOT = Path(__file__).parents[3]
LANGUAGES = frozenset(data("rag.screening", "lay_terms")["loyer"])
PAGE = LANGUAGES & set(INTERFACE)


def cases(half: str) -> list[tuple[str, list[str], str]]:
    lines = (Path(__file__).parent / "cases" / "lay_terms.tsv").read_text(encoding="utf-8").splitlines()
    rows = [line.split("\t") for line in lines if not line.startswith("#")]
    return [(language, terms.split("|"), question) for of, language, terms, question in rows if of == half]


def test_the_cases_name_terms_of_the_table_in_every_language() -> None:
    known = set(data("rag.screening", "lay_terms"))
    assert len(LANGUAGES) == 15
    for half, count in (("dev", 75), ("test", 135)):
        assert len(cases(half)) == count
        assert {language for language, _, _ in cases(half)} == LANGUAGES
        assert {term for _, terms, _ in cases(half) for term in terms} <= known


@pytest.mark.parametrize("half", ["dev", "test"])
@pytest.mark.parametrize("languages", [PAGE, LANGUAGES - PAGE], ids=["page", "other"])
def test_the_terms_that_people_need_are_offered(half: str, languages: frozenset[str]) -> None:
    """The cases were written before the table; of the test half totals alone were looked at."""
    chosen = [case for case in cases(half) if case[0] in languages]
    found = [term in french_terms(question) for _, terms, question in chosen for term in terms]
    assert sum(found) / len(found) >= 0.95


@pytest.mark.parametrize("half", ["dev", "test"])
def test_the_language_of_a_question_is_told(half: str) -> None:
    told = [question_language(question, "fr") == language for language, _, question in cases(half)]
    assert sum(told) / len(told) >= 0.95


@pytest.mark.slow
def test_a_french_question_is_offered_nothing() -> None:
    lines = (ROOT / "indexes/builtin/index/corpus/questions.jsonl").read_text(encoding="utf-8").splitlines()
    questions = [json.loads(line)["question"] for line in lines[::31]]
    assert len(questions) > 1000
    assert sum(bool(french_terms(question)) for question in questions) <= 1


@pytest.mark.parametrize(
    ("question", "terms"),
    [
        ("", ()),
        ("dépôt de garantie", ()),
        (
            "My landlord keeps the dépôt de garantie deposit",
            ("propriétaire", "dépôt de garantie du locataire"),
        ),
        ("landlord deposit not returned", ("propriétaire", "dépôt de garantie du locataire")),
        ("the deposit, the deposit and the landlord", ("dépôt de garantie du locataire", "propriétaire")),
        ("развод алименты", ("divorce", "pension alimentaire")),
        ("押金", ("dépôt de garantie du locataire",)),
        ("xylophone", ()),
    ],
)
def test_terms_come_once_in_the_order_of_the_question(question: str, terms: tuple[str, ...]) -> None:
    assert french_terms(question) == terms


def test_terms_are_few() -> None:
    everything = (
        "The landlord wants rent, a divorce, a will, a fine, a loan, police, a lawyer, a dog and noise"
    )
    assert len(french_terms(everything)) == TERMS


def test_what_a_longer_term_says_is_not_offered_too() -> None:
    assert french_terms("how do I get legal aid for my rent increase") == (
        "aide juridictionnelle",
        "augmentation du loyer",
    )


def test_the_table_has_every_language_and_no_phrase_that_is_a_letter() -> None:
    for term, lines in data("rag.screening", "lay_terms").items():
        assert set(lines) == LANGUAGES, term
        for language, line in lines.items():
            phrases = [phrase.strip() for phrase in line.split(",")]
            assert all(len(phrase) > 1 or language == "zh" for phrase in phrases), (term, language)
            assert len(phrases) == len(set(phrases)), (term, language, sorted(phrases))
