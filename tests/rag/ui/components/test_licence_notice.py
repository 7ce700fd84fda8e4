"""What the page says of a licence: plainly, where the collection is named, in both languages."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rag.corpus.card import CorpusCard
from tests.fakes.pages.ask_page_driver import body, page
from tests.fakes.pages.ui_engine import CARD, HOSTILE_CARD, FakeEngine


def facts(card: CorpusCard, locale: str) -> dict[str, str]:
    said = body(page(FakeEngine(card=card), locale)).one(class_="pd-loaded")
    return dict(zip([d.text for d in said.all("dt")], [d.text for d in said.all("dd")], strict=True))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("licence", "french", "english"),
    [
        (
            "CC BY-NC-SA 4.0",
            "Cette collection ne peut pas être utilisée à des fins commerciales\u00a0: CC BY-NC-SA 4.0",
            "This collection may not be used commercially: CC BY-NC-SA 4.0",
        ),
        (
            "CC BY-ND 4.0",
            "Cette collection ne peut être transmise que sans modification\u00a0: CC BY-ND 4.0",
            "This collection may be passed on unchanged only: CC BY-ND 4.0",
        ),
        (
            "house rules",
            "Aucune licence connue ne permet d’utiliser toute cette collection\u00a0: house rules",
            "No licence is known to allow the use of this whole collection: house rules",
        ),
        ("", "L’éditeur n’indique aucune licence", "The publisher states no licence"),
    ],
)
def test_what_is_not_allowed_is_said_in_plain_words(licence: str, french: str, english: str) -> None:
    card = replace(CARD, licence=licence, licence_url="https://law.example/licence" if licence else None)
    for locale, name, said in (
        ("fr-FR", "Conditions d’utilisation", french),
        ("en-GB", "Terms of use", english),
    ):
        found = facts(card, locale)
        assert found[name] == said
        assert found.get("Licence", "") == licence


@pytest.mark.slow
@pytest.mark.parametrize("licence", ["CC0", "Licence Ouverte 2.0", "CC BY-SA 4.0", "CC BY 4.0 ; etalab-2.0"])
def test_a_free_licence_is_named_and_nothing_more(licence: str) -> None:
    found = facts(replace(CARD, licence=licence), "en-GB")
    assert found["Licence"] == licence
    assert "Terms of use" not in found


def test_only_an_address_is_enough() -> None:
    card = replace(CARD, licence="", licence_url="https://creativecommons.org/licenses/by-nc/4.0/")
    assert facts(card, "en-GB")["Terms of use"] == (
        "This collection may not be used commercially: https://creativecommons.org/licenses/by-nc/4.0/"
    )


def test_a_hostile_licence_stays_text() -> None:
    root = body(page(FakeEngine(card=HOSTILE_CARD), "en-GB")).one(class_="pd-loaded")
    assert "<img src=x onerror=alert(11)>" in root.text  # as letters
    assert not root.all("img")
