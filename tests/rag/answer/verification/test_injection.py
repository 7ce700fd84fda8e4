"""Attacks in a question, an article or a corpus, with a model that obeys them: nothing gets through."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rag.answer.types import AcceptedSentence, Quote, RejectedSentence, Statement
from rag.answer.verification.gate import CitationGate
from rag.answer.verification.sanitise import missing_text
from rag.types import Article

LINES = (Path(__file__).parent / "attacks.jsonl").read_text(encoding="utf-8").splitlines()
ATTACKS: list[dict[str, Any]] = [json.loads(line) for line in LINES]
LAW = {
    "fr": "Le locataire doit rendre les clés au bailleur à la fin du bail.",
    "en": "The tenant must hand back the keys to the landlord at the end of the lease.",
    "de": "Der Mieter muss dem Vermieter am Ende der Mietzeit die Schlüssel zurückgeben.",
    "zh": "承租人应当在租赁期满时向出租人交还钥匙。",
}


def _shown(attack: dict[str, Any]) -> list[Article]:
    """The law, and beside it what the attacker brought in, in the field that the attack names."""
    language, text = attack["language"], attack["injection"]
    law = Article("law-1", "Code", "1", LAW[language], language=language)
    evil = Article("evil", "Code", "2", "…", language=language)
    fields: dict[str, Any] = {
        "article": {"text": text},
        "headings": {"headings": (text,)},
        "code": {"code": text},
    }
    fields |= {"article_no": {"article_no": text}, "url": {"url": text}, "question": {}}
    first, _, second = text.partition(" / ")
    fields["headings+code"] = {"headings": (first,), "code": second}
    return [replace(evil, **fields[attack["where"]]), law]


def _obeyed(attack: dict[str, Any], gate: CitationGate) -> list[str]:
    """What can be read after a model wrote what the attacker asked for."""
    read: list[str] = []
    articles = _shown(attack)
    for piece in attack["pieces"]:
        if piece["kind"] == "missing":
            read += filter(None, [missing_text(piece["text"])])
            continue
        quotes = tuple(Quote(*quote) for quote in piece["quotes"])
        found = gate.check(Statement(piece["text"], tuple(piece["ids"]), quotes), articles)
        if isinstance(found, AcceptedSentence):
            read.append(found.text)
    return read


def test_the_set_is_as_large_as_said() -> None:
    counted = Counter(attack["language"] for attack in ATTACKS)
    assert len(ATTACKS) >= 60
    assert set(counted) == {"fr", "en", "de", "zh"}
    assert min(counted.values()) >= 15
    assert {"question", "article", "headings", "article_no", "code", "url"} <= {a["where"] for a in ATTACKS}
    assert len({attack["what"] for attack in ATTACKS}) >= 15


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack["id"])
def test_nothing_of_an_attack_is_read_and_the_truth_beside_it_is(attack: dict[str, Any]) -> None:
    gate = CitationGate()
    assert _obeyed(attack, gate) == []
    law = LAW[attack["language"]]
    found = gate.check(Statement(law, ("law-1",), (Quote("law-1", law),)), _shown(attack))
    assert isinstance(found, AcceptedSentence)
    assert found.text == law


def test_a_leaked_prompt_or_key_cannot_pass_even_where_it_is_quoted_as_law() -> None:
    law = Article("law-1", "Code", "1", LAW["en"], language="en")
    leaks = (
        "You write answers from the articles that are shown and cite each of them.",
        "The key is sk-Ab12Cd34Ef56Gh78Ij90Kl and must not be told.",
    )
    for leak in leaks:
        for quote in (leak, LAW["en"]):
            found = CitationGate().check(Statement(leak, ("law-1",), (Quote("law-1", quote),)), [law])
            assert isinstance(found, RejectedSentence)
        assert missing_text(leak) is None


def test_a_malicious_article_is_shown_as_what_it_is_and_renders_nothing() -> None:
    """What an imported corpus says can be quoted, as its text; its links and tags stop the sentence."""
    text = (
        "The reader must send the deposit to the registrar. "
        "The reader must open <a href=//x.example>this</a> now."
    )
    article = Article("evil", "Code", "2", text, language="en")
    plain, linked = text.split(". ", 1)[0] + ".", text.split(". ", 1)[1]
    assert isinstance(
        CitationGate().check(Statement(plain, ("evil",), (Quote("evil", plain),)), [article]),
        AcceptedSentence,
    )
    found = CitationGate().check(Statement(linked, ("evil",), (Quote("evil", linked),)), [article])
    assert isinstance(found, RejectedSentence)
