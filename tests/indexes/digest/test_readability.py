"""Rules 5 to 7 of the check of summaries: references, shared words, reading level and length."""

from __future__ import annotations

import math

import pytest

from indexes.digest.readability import MIN_READABILITY, readability, syllables
from indexes.digest.references import cited
from indexes.digest.text import clauses, sentences, wording
from tests.fakes.law.digest import details, kinds


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("l'article 12", ["12"]),
        ("aux articles 12, 14-1 et 16", ["12", "14-1", "16"]),
        ("les articles 12 à 14", ["12", "14"]),
        ("articles 12 et L. 121-3 du code", ["12", "l121-3"]),
        ("l'article 1er", ["1"]),
        ("l'article 12, alinéa 2, et l'article 15", ["12", "15"]),
        ("l'article 12 et 3 mois", ["12"]),
        ("douze articles", []),
    ],
)
def test_articles_that_a_text_names(text: str, numbers: list[str]) -> None:
    assert [number for place in cited(wording(text)) for number in place.numbers] == numbers


def test_a_reference_that_the_law_does_not_have() -> None:
    law = "Les articles 30 à 35, ainsi que l'article 41-2, valent pour le bief."
    assert details(law, "L'article 33 et l'article 41-2 valent aussi.", "reference added") == set()
    assert details(law, "Voyez l'article 12 (celui-ci).", "reference added") == set(), "its own number"
    assert details(law, "L'article 41-3 vaut aussi.", "reference added") == {"41-3"}
    assert kinds(law, "D'autres règles valent pour le bief.") == [], "a lost one is no error"


def test_the_article_before_may_be_named_by_its_number() -> None:
    law = "L'article précédent vaut pour le bief."
    assert details(law, "L'article 11 vaut pour le bief.", "reference added") == set()
    assert details(law, "L'article 7 vaut pour le bief.", "reference added") == {"7"}


LAW = "Quand l'eau du bief déborde la nuit, le gardien sonne la cloche du moulin."


def test_eight_words_in_a_row_are_a_copy_and_seven_are_not() -> None:
    assert details(LAW, "La nuit, le gardien sonne la cloche du hameau.", "shared words") == {
        "La nuit, le gardien sonne la cloche du"
    }, "case and punctuation do not count"
    assert not details(LAW, "De nuit, le gardien sonne la cloche du hameau.", "shared words")


def test_figures_are_no_words_of_a_copy() -> None:
    law = "Les articles 21, 22, 23, 24, 25 et 26 à 28 valent pour le bief."
    assert not details(law, "Voyez articles 21, 22, 23, 24, 25 et 26 à 28 du code.", "shared words")


def test_each_run_is_told_once_and_whole() -> None:
    assert details(LAW, LAW, "shared words") == {LAW.removesuffix(".")}
    twice = "Le moulin à eau du haut ferme à midi le dimanche. La roue tourne encore un peu après la cloche."
    halves = twice.replace("dimanche. La", "dimanche, mais pas la meule. La")
    assert len(details(twice, halves, "shared words")) == 2


@pytest.mark.parametrize(
    ("word", "count"),
    [
        ("maison", 2), ("règle", 1), ("règles", 1), ("le", 1), ("l'enfant", 2), ("qu'il", 1), ("eau", 1),
        ("créance", 2), ("créer", 2), ("créée", 2), ("créent", 1), ("réel", 2), ("réunir", 3), ("maïs", 2),
        ("propriété", 4), ("propriétaire", 4), ("prier", 2), ("prie", 1), ("publient", 2), ("client", 2),
        ("bien", 1), ("nation", 2), ("mariage", 2), ("février", 3), ("payer", 2), ("moyen", 2), ("yeux", 1),
        ("pays", 2), ("coopérer", 4), ("cruel", 2), ("actuel", 2), ("huit", 1), ("guérir", 2), ("quinze", 1),
        ("aujourd'hui", 3), ("c'est-à-dire", 3), ("moment", 2), ("forment", 1), ("doivent", 1),
        ("parents", 2), ("décident", 2), ("accident", 3), ("société", 3), ("œuvre", 1), ("cœur", 1),
        ("différent", 3), ("diffèrent", 2), ("seulement", 3), ("vraiment", 2), ("2026", 4),
        ("PACS", 1), ("...", 1),
    ],
)  # fmt: skip
def test_syllables(word: str, count: int) -> None:
    assert syllables(word) == count


def test_sentences_and_clauses() -> None:
    text = wording("Selon l'article L. 121-1, on ouvre ; sinon on ferme. « Et après ? » Rien.\n1° la vanne")
    assert [part.shown for part in sentences(text)] == [
        "Selon l'article L. 121-1, on ouvre ; sinon on ferme.",
        "« Et après ?",
        "Rien.",
        "1° la vanne",
    ]
    assert len(clauses(text)) == 5


def test_readability_by_hand() -> None:
    # two sentences, six words, eight syllables
    text = wording("La roue tourne. Le moulin dort.")
    assert math.isclose(readability(text), 207 - 1.015 * 3 - 73.6 * 7 / 6)
    assert readability(wording("12")) == 207, "figures are no words"


def test_a_hard_text_is_told_and_an_easy_one_is_not() -> None:
    hard = "L'imprescriptibilité caractérise traditionnellement l'inaliénabilité administrative."
    assert readability(wording(hard)) < MIN_READABILITY
    assert "hard to read" in kinds(hard, hard)
    assert "hard to read" not in kinds(hard, "L'eau du bief ne se vend pas.")


def test_sentences_of_more_than_forty_words() -> None:
    forty = " ".join(["Bief"] * 40)
    assert "long sentence" not in kinds("Le bief.", f"{forty}. {forty}.")
    assert details("Le bief.", f"{forty} bief.", "long sentence") == {
        "41 words: Bief Bief Bief Bief Bief Bief"
    }


def test_length_beside_the_law() -> None:
    ten, forty, hundred = (" ".join(["vanne"] * count) + "." for count in (10, 40, 100))
    assert "too long" not in kinds(ten, forty)
    assert details(ten, "vanne " + forty, "too long") == {"41 words for 10"}
    assert "too short" not in kinds(hundred, forty)
    assert details(hundred, " ".join(["vanne"] * 39), "too short") == {"39 words for 100"}
    assert "too short" not in kinds("vanne " * 99, "vanne"), "a shorter law may be told in any way"
