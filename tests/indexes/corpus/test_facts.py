from __future__ import annotations

import json
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexes.corpus.card import card_record, parse_card
from indexes.corpus.corpus import Corpus, read, write
from indexes.corpus.facts import FILE, facts_record, fingerprint, parse_facts
from rag.corpus.card import CorpusCard, LoadedLaw
from rag.corpus.facts import Amount, ArticleFacts, TimeLimit
from rag.errors import BadInput
from rag.types import Article

CARD = CorpusCard("digest", "Digest", "fr", "FR", text_kind="summary")
ARTICLES = (Article("A-1", "Loi A", "1", "Vous avez deux mois."), Article("A-2", "Loi A", "2", ""))
LIMIT = TimeLimit("contester", "2 mois", "la lettre", "c'est trop tard", "Vous avez deux mois.")
FACTS = {
    "A-1": ArticleFacts((LIMIT,), (Amount("l'amende", "90 €"),), "Renvoie à un décret.", "0123456789abcdef")
}

texts = st.text(min_size=1, max_size=12).filter(str.strip)
limits = st.builds(TimeLimit, texts, texts, st.text(max_size=9), st.text(max_size=9), st.text(max_size=9))
amounts = st.builds(Amount, texts, texts, st.text(max_size=9))
facts = st.builds(
    ArticleFacts,
    st.lists(limits, max_size=3).map(tuple),
    st.lists(amounts, max_size=3).map(tuple),
    st.text(max_size=9),
    st.text(max_size=9),
    st.booleans(),
)


def test_facts_and_articles_without_a_text_come_back(tmp_path: Path) -> None:
    corpus = Corpus(CARD, ARTICLES, facts=FACTS)
    found = read(write(corpus, tmp_path / "c"))

    assert (found.articles, found.facts) == (ARTICLES, FACTS)
    assert found.sha256 == replace(corpus, facts={}).sha256


@given(facts)
def test_a_record_gives_the_facts_it_was_made_of(made: ArticleFacts) -> None:
    record = json.loads(json.dumps(facts_record("x", made)))
    assert parse_facts(record) == ("x", made)


def test_an_official_text_must_not_be_empty(tmp_path: Path) -> None:
    folder = write(Corpus(CARD, ARTICLES), tmp_path / "c")
    card = replace(CARD, text_kind="official")
    with pytest.raises(BadInput, match="the text is empty"):
        read(folder, card=card)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ({"id": "A-9"}, "no article has the id 'A-9'"),
        ({"id": "A-1", "delay": 1}, "unknown key delay"),
        ({"id": "A-1", "time_limits": [{"what": "contester"}]}, "time_limits: no within"),
        ({"id": "A-1", "amounts": "90"}, "amounts cannot be read"),
        ({"id": "A-1", "outdated": "no"}, "outdated is 'no'"),
    ],
)
def test_facts_that_cannot_be_used_are_told(tmp_path: Path, line: dict[str, object], said: str) -> None:
    folder = write(Corpus(CARD, ARTICLES), tmp_path / "c")
    (folder / FILE).write_text(json.dumps(line) + "\n", encoding="utf-8")
    with pytest.raises(BadInput, match=said):
        read(folder)


def test_facts_of_nobody_are_refused() -> None:
    with pytest.raises(BadInput, match="facts of article 'B'"):
        Corpus(CARD, ARTICLES, facts={"B": ArticleFacts()})


def test_a_fingerprint_tells_words_and_not_blanks() -> None:
    assert fingerprint("Le délai \n est\u00a0d'un mois.") == fingerprint("Le délai est d'un mois.")
    assert fingerprint("Le délai est d'un mois.") != fingerprint("Le délai est de deux mois.")


def test_a_card_knows_the_page_and_the_date_of_each_law() -> None:
    law = LoadedLaw("https://law.example/b", date(2025, 7, 13), ("housing",))
    card = replace(CARD, law_date=date(2025, 1, 1), laws={"Loi B": law})

    assert parse_card(json.loads(json.dumps(card_record(card))), "card") == card
    assert (card.dated("Loi B"), card.dated("Loi A")) == (date(2025, 7, 13), date(2025, 1, 1))
    assert card.official_page("Loi B", None) == ("https://law.example/b", False)
    assert card.official_page("Loi B", "https://law.example/b/1") == ("https://law.example/b/1", True)
    assert card.official_page("Loi A", None) == (None, False)
    with pytest.raises(BadInput, match="no theme gardens"):
        parse_card({**card_record(CARD), "laws": {"Loi B": {"themes": ["gardens"]}}}, "card")
    with pytest.raises(BadInput, match="no event wedding"):
        parse_card({**card_record(CARD), "events": {"wedding": "Qui paie la robe ?"}}, "card")
