"""A card survives the trip to card.json, and a wrong one is refused with what would be right."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexes.corpus.card import card_bytes, card_record, parse_card, read_card, with_options
from rag.corpus.card import Contact, CorpusCard, Elsewhere, Moved
from rag.errors import BadInput

PLAIN = CorpusCard(name="village", title="Village rules", language="en")
FULL = CorpusCard(
    name="village-2",
    title="Règles du village",
    language="fr",
    jurisdiction="XX",
    licence="CC0",
    licence_url="https://example.org/cc0",
    source="The village",
    law_date=date(2024, 2, 29),
    official_site="https://example.org",
    text_kind="summary",
    note="A note.",
    contacts=(
        Contact("Town hall", topics=("housing",)),
        Contact("Desk", url="https://example.org/desk", phone="1", note="open"),
    ),
    elsewhere=(
        Elsewhere(
            "taxes",
            {"en": "Taxes"},
            "Tax Code",
            ("pay tax",),
            {"en": "Look there."},
            url="u",
            codes=("Tax Code",),
            deadline={"en": "By the end of March."},
            contact=Contact("Tax office", phone="2"),
            terms=("impôt",),
            names=("VAT",),
        ),
    ),
    moved=(Moved("Well Code", "9", ("1", "2"), since="2020-01-01", about="lids"),),
    examples=("Whose goat?",),
    aliases={"Well Code": ("W.C.", "well")},
    lacks={"en": "Rules of the other villages."},
)


OTHER_LAW = {"id": "t", "title": {}, "law": "L", "phrases": [], "explain": {}}


@pytest.mark.parametrize("card", [PLAIN, FULL, replace(PLAIN, lacks={})])
def test_round_trip(tmp_path: Path, card: CorpusCard) -> None:
    (tmp_path / "card.json").write_bytes(card_bytes(card))
    assert read_card(tmp_path / "card.json") == card


@given(
    card=st.builds(
        replace,
        st.just(FULL),
        title=st.text(st.characters(exclude_categories=["Cs"])),
        law_date=st.none() | st.dates(),
        contacts=st.lists(
            st.builds(Contact, name=st.text("aé'\"\n"), phone=st.none() | st.text("1", min_size=1))
        ).map(tuple),
        aliases=st.dictionaries(st.text("ab"), st.lists(st.text("cd")).map(tuple)),
    )
)
def test_round_trip_of_any_card(card: CorpusCard) -> None:
    assert parse_card(json.loads(card_bytes(card)), "here") == card


def test_only_what_differs_from_the_default_is_written() -> None:
    assert card_record(PLAIN) == {"name": "village", "title": "Village rules", "language": "en"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"colour": "red"}, r"card\.json: unknown key colour\. A CorpusCard knows: name, title, language"),
        (
            {"contacts": [{"tel": "1"}]},
            r"contacts, entry 1: unknown key tel\. A Contact knows: name, url, phone",
        ),
        ({"moved": [{"code": "C"}]}, r"moved, entry 1: no old, new\. A Moved needs: code, old, new"),
        ({"contacts": "me"}, r"contacts is not a list of objects\. Write \"contacts\": \["),
        (
            {"contacts": [{"name": "A", "themes": ["gardening"]}]},
            r"contacts, entry 1: themes: no theme gardening\. Use some of housing, work",
        ),
        ({"elsewhere": [OTHER_LAW | {"contact": "me"}]}, r"entry 1: contact is not an object\. Write"),
        ({"elsewhere": [OTHER_LAW | {"contact": {"nam": "A"}}]}, r"entry 1: contact: unknown key nam"),
        ({"aliases": ["x"]}, r"aliases is not an object\. Write \"aliases\": \{"),
        ({"title": None}, r"no title\. A CorpusCard needs: name, title, language"),
        ({"title": 3}, r"title is 3, a int\. Write title as text"),
        ({"law_date": "May"}, r"law_date is 'May', a str\. Write law_date as a date such as 2025-01-31"),
        ({"name": "../up"}, r"name is '\.\./up'\. Use lower-case letters, digits and hyphens"),
        ({"name": "village\n"}, r"name is 'village\\n'"),
        ({"language": "fra"}, r"language is 'fra'\. Use two letters of ISO 639-1"),
        ({"text_kind": "rumour"}, r"text_kind is 'rumour'\. Use one of: official, summary"),
    ],
)
def test_a_wrong_card_is_refused(tmp_path: Path, change: dict[str, object], message: str) -> None:
    (tmp_path / "card.json").write_text(json.dumps({**card_record(PLAIN), **change}), encoding="utf-8")
    with pytest.raises(BadInput, match=message):
        read_card(tmp_path / "card.json")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"{", r"card\.json: not JSON \(.*\)\. Correct it"),
        (b"[]", r"card\.json: an object was expected"),
        (b"\xff", r"card\.json:1: byte 0xff at column 1 is not UTF-8"),
    ],
)
def test_a_file_that_is_no_card(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "card.json").write_bytes(content)
    with pytest.raises(BadInput, match=message):
        read_card(tmp_path / "card.json")


def test_options_are_put_over_the_card() -> None:
    assert with_options(FULL, {"name": "mine", "law_date": "2025-01-02"}) == replace(
        FULL, name="mine", law_date=date(2025, 1, 2)
    )
    made = with_options("Mijn Wet_2", {"language": "nl"})
    assert (made.name, made.title, made.language) == ("mijn-wet-2", "Mijn Wet_2", "nl")
    with pytest.raises(BadInput, match=r"the language of articles is not known\. Pass --language"):
        with_options("articles", {})
