from __future__ import annotations

import json
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.engine.engine import Engine
from rag.engine.receipt import as_json, changes, read, receipt, short_code
from rag.errors import BadInput, StoreUnavailable
from rag.retrieval.base import Mask
from rag.retrieval.bm25 import BM25, BM25Settings
from rag.retrieval.term_counts import count
from rag.text.analysers import analyser
from rag.types import Article, Filter
from tests.fakes.pages.ui_engine import ENGINES
from tests.fakes.ranking.engines import engine_of

CUT = analyser("fr")
ARTICLES = (
    Article("c671", "Code civil", "671", "Les arbres sont plantés à deux mètres de la clôture."),
    Article("c672", "Code civil", "672", "Le voisin peut exiger que les arbres soient arrachés."),
    Article(
        "c1719", "Code civil", "1719", "Le bailleur délivre la chose louée.", valid_from=date(1804, 3, 21)
    ),
)
QUESTION = "les arbres de mon voisin"


def opened(articles: tuple[Article, ...] = ARTICLES) -> Engine:
    return engine_of(articles, CUT, BM25.build(count(articles, CUT), BM25Settings(), Mask(articles), CUT))


@given(st.sampled_from([QUESTION, "bailleur", "rien", "671", ""]), st.integers(1, 5), st.booleans())
def test_a_receipt_is_found_again_as_it_was(question: str, k: int, dated: bool) -> None:
    engine = opened()
    where = Filter(frozenset({"Code civil"}), in_force_on=date(2026, 1, 1)) if dated else None
    made = receipt(engine.ask(question, k=k, where=where), engine.info, k)

    assert list(changes(made, opened())) == []


def test_a_receipt_from_its_file(tmp_path: Path) -> None:
    engine = opened()
    made = receipt(engine.ask(QUESTION), engine.info)
    path = tmp_path / "receipt.json"
    path.write_text(as_json(made), encoding="utf-8")

    assert read(path) == made
    assert [each.id for each in made.articles] == ["c672", "c671"]


def test_what_has_changed_is_said() -> None:
    engine = opened()
    made = receipt(engine.ask(QUESTION), engine.info)
    other = opened(
        (replace(ARTICLES[1], text="Le voisin peut demander que les arbres soient coupés."), ARTICLES[2])
    )
    other.info = replace(other.info, version="2")

    told = list(changes(made, other))

    assert told[:4] == [
        "the version of the index was 1, now 2",
        "the text of article c672 has changed",
        "article c671 is no longer there",
        "the ranking was c672, c671; now c672",
    ]
    assert told[4].startswith("the scores differ by up to")
    assert told[5] == f"the code was {made.code}, now {short_code('2', [other.articles['c672']])}"


def test_nothing_is_compared_with_a_ranking_that_lacks_a_part() -> None:
    whole, partial = ENGINES["plain"], ENGINES["partial"]
    made = receipt(whole.ask("un arbre"), whole.info)  # type: ignore[arg-type]

    with pytest.raises(StoreUnavailable, match="shard 2 of 3: no answer, so the receipt is not compared"):
        list(changes(made, partial))  # type: ignore[arg-type]


def test_scores_of_another_processor_are_told_as_such() -> None:
    engine = opened()
    made = receipt(engine.ask(QUESTION), engine.info)
    first, *others = made.articles
    made = replace(made, articles=(replace(first, score=first.score * (1 + 1e-9)), *others))

    assert [line.partition("themselves")[2] for line in changes(made, engine)] == [
        ", as another processor adds them up"
    ]


def test_the_code_hangs_on_version_order_and_text() -> None:
    first, second, _ = ARTICLES
    codes = {
        short_code("1", [first, second]),
        short_code("2", [first, second]),
        short_code("1", [second, first]),
        short_code("1", [first]),
        short_code("1", [first, replace(second, text="")]),
    }
    assert len(codes) == 5
    assert all(len(code) == 14 for code in codes)


@pytest.mark.parametrize(
    "broken",
    [
        {"format": 2},
        {"code": None},
        {"question": 3},
        {"index": {"name": "a"}},
        {"articles": [{"id": "c671", "sha256": "0", "score": "NaN"}]},
        {"articles": {"c671": 1}},
        {"settings": {"k": 10**9}},
        {"settings": None},
    ],
)
def test_what_is_no_receipt_is_refused(broken: dict[str, object], tmp_path: Path) -> None:
    engine = opened()
    made = json.loads(as_json(receipt(engine.ask(QUESTION), engine.info)))
    if isinstance(broken.get("settings"), dict):
        broken = {"settings": {**made["settings"], **broken["settings"]}}
    path = tmp_path / "receipt.json"
    path.write_text(json.dumps({**made, **broken}), encoding="utf-8")

    with pytest.raises(BadInput, match="receipt"):
        read(path)


@pytest.mark.parametrize("text", [b"", b"[1", b"[]", b"null", b"\xff", b"[" * 200_000])
def test_other_files_are_refused(text: bytes, tmp_path: Path) -> None:
    path = tmp_path / "receipt.json"
    path.write_bytes(text)
    with pytest.raises(BadInput, match="expected the JSON file of a receipt"):
        read(path)
    with pytest.raises(BadInput, match="there is no file"):
        read(tmp_path / "none.json")
