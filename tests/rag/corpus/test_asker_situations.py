from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

import rag
from rag.corpus.asker_situations import (
    available_situations,
    in_front,
    label,
    living_in,
    region_name,
    situations,
)
from rag.screening.dialogue import clarify
from rag.text.analysers import analyser
from rag.text.patterns import data, plain
from rag.types import Article, Shown, Why

LANGUAGES = ("fr", "nl", "en", "de", "it", "zh")
READ = tomllib.loads((Path(rag.__file__).parent / "situations.toml").read_text(encoding="utf-8"))


def article(n: int, text: str, region: str | None = None) -> Article:
    return Article(str(n), "Code", str(n), text, region=region)


def test_what_is_offered_is_what_the_corpus_speaks_of() -> None:
    law = [article(n, "Le locataire paie son loyer.") for n in range(3)]
    law += [article(n, "Le vendeur livre la chose.") for n in range(3, 5)]  # two: a passing mention

    assert [each.id for each in available_situations("fr", law)] == ["tenant"]
    assert available_situations("fr", ()) == ()
    assert available_situations("la", law) == ()


@pytest.mark.parametrize(("articles", "needed"), [(100, 3), (1000, 5), (50_000, 10)])
def test_how_many_articles_make_it_a_matter_of_the_corpus(articles: int, needed: int) -> None:
    for there, offered in ((needed - 1, 0), (needed, 1)):
        law = [article(n, "Der Mieter" if n < there else "Etwas anderes") for n in range(articles)]
        assert len(available_situations("de", law)) == offered


def test_sentences_go_in_front_once_each() -> None:
    asked = in_front(["Je suis locataire.", "", "J'habite à Bruxelles."], " Qui répare ? ")

    assert asked == "Je suis locataire. J'habite à Bruxelles. Qui répare ?"
    assert in_front(["Je suis locataire.", "J'habite à Bruxelles."], asked) == asked
    assert in_front(["Je suis locataire."], " \n") == ""
    assert in_front([], " Qui ? ") == "Qui ?"


def test_a_region_is_called_by_its_name_and_any_other_as_the_corpus_calls_it() -> None:
    assert living_in("BE-BRU", "fr") == "J'habite à Bruxelles."
    assert region_name("BE-BRU", "nl") == "Brussel"
    assert living_in("{name} Sarre", "de") == "Ich wohne in dieser Region: {name} Sarre."
    assert region_name("Sarre", "de") == "Sarre"
    assert living_in("BE-BRU", "la") == ""
    assert label("我住在布鲁塞尔。") == "我住在布鲁塞尔"
    assert label("J'hérite d'un proche.") == "J’hérite d’un proche"


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_sentence_is_there_in_every_language_and_is_searched_for(language: str) -> None:
    cut = analyser(language)
    end = "。" if language == "zh" else "."
    said = [table[language] for kind in ("situations", "regions") for table in READ[kind].values()]

    assert {each.id for each in situations(language)} == set(READ["situations"])
    for each in said:
        assert each["says"].endswith(end)
        assert cut.terms(each["says"])
    assert len({each["says"] for each in said}) == len(said)
    assert "{name}" in READ["region"][language]
    words = [word for each in situations(language) for word in each.words]
    assert all(word == word.casefold() and word.strip() for word in words)


@pytest.mark.parametrize("language", LANGUAGES)
def test_who_said_it_is_not_asked_back(language: str) -> None:
    says = {each.id: each.says for each in situations(language)}
    sides = {"lease": ("tenant", "landlord"), "work": ("employee", "employer"), "sale": ("buyer", "seller")}
    for group in data("rag.screening", "sides")[language]:
        known = re.compile("|".join([group["told"], *(side["words"] for side in group["sides"])]))
        for each in sides.get(group["id"], ()):
            assert known.search(plain(says[each])), says[each]


def test_a_region_is_asked_back_by_its_name() -> None:
    law = [article(1, "Le bail wallon.", "BE-WAL"), article(2, "Le bail bruxellois.", "BE-BRU")]
    shown = [Shown(n, each, 1.0, Why()) for n, each in enumerate(law, start=1)]

    asked = clarify("Qui paie l'eau ?", shown, "fr")
    assert asked is not None
    assert [(o.label, o.says, o.region) for o in asked.options] == [
        ("Bruxelles", "Région : Bruxelles.", "BE-BRU"),
        ("Wallonie", "Région : Wallonie.", "BE-WAL"),
    ]
    assert clarify("J'habite à Bruxelles. Qui paie l'eau ?", shown, "fr") is None
