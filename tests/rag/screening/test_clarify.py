from __future__ import annotations

from datetime import date

import pytest

import indexes
from rag.screening.dialogue import SplitAspect, answered, clarify
from rag.types import Article, Shown, Why


def shown(*articles: Article, scores: tuple[float, ...] = (), known: bool = False) -> list[Shown]:
    given = scores or (1.0,) * len(articles)
    pairs = zip(articles, given, strict=True)
    return [Shown(n, article, score, Why(known=known)) for n, (article, score) in enumerate(pairs, 1)]


TENANT = Article("t", "Code", "1", "Le preneur répare. Le locataire nettoie.")
LANDLORD = Article("l", "Code", "2", "Le bailleur refait le toit.")


def test_a_split_on_the_side_is_asked_about() -> None:
    asked = clarify("qui répare un local en location", shown(TENANT, LANDLORD), "fr")
    assert asked is not None
    assert asked.on is SplitAspect.SIDE
    assert [(o.label, o.article_ids) for o in asked.options] == [
        ("locataire", ("t",)),
        ("propriétaire", ("l",)),
    ]
    assert answered(" qui répare ? ", asked.options[0]) == "Je suis locataire. qui répare ?"


@pytest.mark.parametrize(
    "question",
    [
        "",
        "qui répare, je suis locataire d'un local",
        "mon bailleur ne répare pas le local loué",
        "le mur penche",
    ],
)
def test_nothing_is_asked_that_was_told_or_is_beside_the_point(question: str) -> None:
    assert clarify(question, shown(TENANT, LANDLORD), "fr") is None


def test_nothing_is_asked_without_a_rival() -> None:
    question = "qui répare un local en location"
    assert clarify(question, shown(TENANT), "fr") is None
    assert clarify(question, [], "fr") is None
    assert clarify(question, shown(TENANT, LANDLORD, scores=(1.0, 0.2)), "fr") is None
    assert clarify(question, shown(TENANT, LANDLORD, known=True), "fr") is None
    assert clarify(question, shown(TENANT, TENANT), "fr") is None
    assert clarify(question, shown(TENANT, LANDLORD), "xx") is None


def test_scores_below_zero_are_all_comparable() -> None:
    assert clarify("réparation en location", shown(TENANT, LANDLORD, scores=(-1.0, -2.0)), "fr")


def test_regions() -> None:
    articles = [Article(r, "Code", "1", "Texte.", region=r) for r in ("Wallonie", "Bruxelles", "Flandre")]
    asked = clarify("un permis", shown(*articles), "fr")
    assert asked is not None
    assert asked.on is SplitAspect.REGION
    assert [o.region for o in asked.options] == ["Bruxelles", "Flandre", "Wallonie"]
    assert asked.options[0].article_ids == ("Bruxelles",)
    assert asked.options[0].says == "Région : Bruxelles."
    assert clarify("un permis en wallonie", shown(*articles), "fr") is None
    assert clarify("un permis", shown(articles[0], articles[0]), "fr") is None


def test_dates() -> None:
    old = Article("old", "Code", "1", "Texte.", valid_to=date(2020, 1, 1))
    new = Article("new", "Code", "1", "Texte.", valid_from=date(2020, 1, 1))
    asked = clarify("le délai", shown(new, old), "fr")
    assert asked is not None
    assert asked.on is SplitAspect.DATE
    assert [(o.label, o.article_ids) for o in asked.options] == [
        ("avant le 01/01/2020", ("old",)),
        ("le 01/01/2020 ou après", ("new",)),
    ]
    assert asked.options[0].says == "Avant le 01/01/2020."
    assert clarify("le délai en 2019", shown(new, old), "fr") is None
    assert clarify("le délai", shown(new, new), "fr") is None


@pytest.mark.parametrize(
    ("language", "question", "one", "other"),
    [
        ("nl", "wie herstelt bij huur", "De huurder herstelt.", "De verhuurder herstelt."),
        ("en", "who repairs under a lease", "The tenant repairs.", "The landlord repairs."),
        ("de", "Reparatur bei Miete", "Der Mieter repariert.", "Der Vermieter repariert."),
        ("it", "riparazioni in locazione", "Il conduttore ripara.", "Il locatore ripara."),
        ("zh", "租赁维修", "承租人维修。", "出租人维修。"),
    ],
)
def test_other_languages(language: str, question: str, one: str, other: str) -> None:
    both = shown(Article("a", "C", "1", one), Article("b", "C", "2", other))
    asked = clarify(question, both, language)
    assert asked is not None
    assert [o.article_ids for o in asked.options] == [("a",), ("b",)]


@pytest.mark.slow
def test_the_builtin_law_splits_on_who_repairs() -> None:
    engine = indexes.open("builtin")
    question = "qui paie les travaux dans un local en location"
    asked = clarify(question, engine.ask(question).shown, "fr")
    assert asked is not None
    assert {o.label for o in asked.options} == {"locataire", "propriétaire"}
