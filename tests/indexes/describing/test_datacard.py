"""Data cards: what is known is told, what is not is said to be missing."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from indexes.corpus.card import card_bytes, read_card
from indexes.corpus.corpus import Corpus, write
from indexes.describing.datacard import FACTS, GAP, SECTIONS, DataCard, data_card
from indexes.describing.description import Description
from indexes.describing.measure import measure, units
from indexes.describing.tables import grid, tables
from indexes.sources import bsard, jurifindit, legi, lleqa, mmarco, registry, stard_original
from indexes.sources.source import card_of
from indexes.store import paths
from rag.corpus.card import CorpusCard
from rag.errors import BadInput
from tests.fakes.law.corpus import VILLAGE
from tests.paths import ROOT


def of(corpus: Corpus, folder: Path, origin: str = "") -> DataCard:
    return data_card(measure(write(corpus, folder), units(corpus.card.language)), origin)


def carded(**changes: object) -> Corpus:
    return replace(VILLAGE, card=replace(VILLAGE.card, **changes))  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def builtin() -> Description:
    return measure(paths.builtin() / "corpus", units("fr"))


def test_what_nobody_said_is_named_as_a_gap(tmp_path: Path) -> None:
    card = of(VILLAGE, tmp_path / "v")
    assert {s.key for s in card.gaps} == {*SECTIONS, "law_date"}
    text = card.markdown()
    assert text.count(f"*{GAP}*") == len(SECTIONS) + 1
    assert "Nobody has said: published as; why it was made;" in text
    record = json.loads(card.json())
    assert record["not_stated"] == [s.key for s in card.gaps]
    assert record["sections"]["rationale"] == {"title": "Why it was made", "text": None}
    assert (record["licence"], record["grant"], record["sha256"]) == ("CC0", "open", VILLAGE.sha256)


def test_where_nobody_asks_nobody_is_missing(tmp_path: Path) -> None:
    card = of(replace(VILLAGE, questions=()), tmp_path / "v")
    assert not {"asked_by", "labelled_by"} & {s.key for s in card.gaps}
    assert card.markdown().count("There are no questions.") == 2


def test_what_was_measured_stands_in_it(tmp_path: Path) -> None:
    text = of(VILLAGE, tmp_path / "v").markdown()
    assert "12 articles (official text) of 1 code, " in text
    assert "5 questions, " in text
    assert "4 questions with gold articles, on average 1.2 of them, 2 at most; 41.7 % of the articles" in text
    assert "CC0 (open). Free for any use." in text


def test_a_host_fills_in_its_own(tmp_path: Path) -> None:
    described = {"rationale": "So that nobody\nargues.", "maintenance": "The miller, each spring."}
    corpus = carded(described=described, origin="bsard", licence="", note="Only for <b>us</b>.")
    card = of(corpus, tmp_path / "v")
    text = card.markdown()
    assert "## Why it was made\n\nSo that nobody argues.\n" in text  # over what is known of the origin
    assert "## Who labelled them, and how\n\nSix jurists" in text
    assert f"## Licence\n\n*{GAP}*" in text
    assert "## Note\n\nOnly for &lt;b>us&lt;/b>.\n" in text
    with pytest.raises(BadInput, match=r"describes colour\. Use some of: published, rationale"):
        of(carded(described={"colour": "red"}), tmp_path / "w")


def test_origin_and_description_are_kept_on_the_card(tmp_path: Path) -> None:
    card = carded(described={"rationale": "Because."}, origin="bsard").card
    (tmp_path / "card.json").write_bytes(card_bytes(card))
    assert read_card(tmp_path / "card.json") == card


@pytest.mark.parametrize(
    "card",
    [
        bsard.CARD, *bsard.BILINGUAL_CARDS.values(), lleqa.CARD, stard_original.CARD, jurifindit.CARD,
        mmarco.CARD, legi.CARD, *map(card_of, ("stard", "fr", "de")),
    ],
    ids=lambda card: card.name,
)  # fmt: skip
def test_every_data_set_that_we_read_is_described(card: CorpusCard) -> None:
    assert card.origin in registry.SOURCES
    facts = FACTS[card.origin]
    asked = set() if card.origin in ("legi", "de") else {"asked_by", "labelled_by"}  # they have no questions
    assert set(facts) == set(SECTIONS) - {"asked_by", "labelled_by"} | asked
    assert all(text.endswith((".", ").")) and "  " not in text for text in facts.values())
    published = registry.SOURCES[card.origin].published
    if card.origin not in ("fr", "de", "legi"):  # counted by their papers
        assert f"{published['articles']:,}" in facts["preparation"]


def test_facts_belong_to_sources_or_to_what_ships() -> None:
    assert set(FACTS) - set(registry.SOURCES) == {"builtin"}


@pytest.mark.slow
def test_the_data_card_that_ships_is_current(builtin: Description) -> None:
    text = (ROOT / "indexes" / "builtin" / "DATACARD.md").read_text(encoding="utf-8")
    made = data_card(builtin, "builtin")
    assert text == made.markdown(), "python -m indexes describe builtin --output FOLDER; copy datacard.md"
    assert not made.gaps


@pytest.mark.slow
def test_the_tables_in_the_docs_are_current(builtin: Description) -> None:
    page = (ROOT / "docs" / "results" / "describing.md").read_text(encoding="utf-8")
    found = re.findall(r"<!-- describe: builtin (\w+) -->\n((?:\|[^\n]*\n)+)", page)
    assert {name for name, _ in found} >= {"lengths", "coverage"}
    made = {table.name: grid(table) for table in tables(builtin)}
    for name, shown in found:
        assert shown.strip() == made[name], "python -m indexes describe builtin --output FOLDER"


@pytest.mark.slow
@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "articles"),
    [("de", 4_392), ("fr", 14_894), pytest.param("stard", 55_497, marks=pytest.mark.slow)],
)
def test_the_measuring_data(data: Path, tmp_path: Path, name: str, articles: int) -> None:
    corpus, _ = registry.load(name, data / name)
    found = measure(write(corpus, tmp_path / name), units(corpus.card.language))
    assert (found.articles, found.sha256) == (articles, corpus.sha256)
    if name == "fr":  # as its README counts
        gold = found.gold_of_all
        assert (round(gold.total / gold.n, 1), gold.quantile(0.5), gold.quantile(1)) == (16.3, 12.5, 61)
        assert (found.cited, found.gold["Famille"].n) == (790, 48)
        assert found.lengths["articles"]["characters"].quantile(0.5) == 378
    assert "law_date" in {s.key for s in data_card(found).gaps} or corpus.card.law_date
