"""Words of a question looked up: what they bring, what is told, what a file holds."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.errors import BadInput
from rag.retrieval.translation_model import (
    MAX_SHOWN_PAIRS,
    MIN_SHOWN_PROBABILITY,
    PAIRS,
    ExpansionTerm,
    Pair,
    TranslationModel,
    telling,
)

BRIDGE = TranslationModel(
    {
        "vir": (Pair("vir", "licenci", 0.4, 7, 0.5), Pair("vir", "vir", 0.2, 3), Pair("vir", "conge", 0.1)),
        "patron": (Pair("patron", "employeur", 0.6, 9),),
    },
    {"licenci": "licenciement"},
)
terms = st.lists(st.sampled_from(["vir", "patron", "licenci", "conge", "unheard"]), max_size=6)


def test_a_term_brings_those_of_the_law_as_often_as_it_stands() -> None:
    once, twice = BRIDGE.expand(["vir"]), BRIDGE.expand(["vir", "vir"])
    assert [(b.lay, b.law, b.weight, b.form, b.own) for b in once] == [
        ("vir", "licenci", 0.4, "licenciement", 0.2),
        ("vir", "conge", 0.1, "conge", 0.2),
    ]
    assert [b.weight for b in twice] == [0.8, 0.2]


@given(asked=terms, removed=st.sets(st.sampled_from([("vir", "licenci"), ("patron", "employeur")])))
def test_neither_what_was_typed_nor_what_was_taken_out_is_brought(
    asked: list[str], removed: set[tuple[str, str]]
) -> None:
    for pair in BRIDGE.expand(asked, frozenset(removed)):
        assert pair.law not in asked
        assert pair.lay in asked
        assert (pair.lay, pair.law) not in removed


def test_few_strong_pairs_are_told_one_for_a_word() -> None:
    used = [
        ExpansionTerm("a", "mariage", 0.30, "mariage"),
        ExpansionTerm("a", "epous", 0.25, "époux", near=0.5),  # the encoder knows it too
        ExpansionTerm("b", "epous", 0.2, "époux"),  # is told already
        ExpansionTerm("c", "bail", 0.2, "bail", own=0.15),  # the law uses the word itself
        ExpansionTerm("d", "faible", MIN_SHOWN_PROBABILITY - 0.01, "faible"),
        ExpansionTerm("e", "absent", 0.9, "absent"),  # in no shown article
        *(ExpansionTerm(f"f{n}", f"g{n}", 0.15, f"g{n}") for n in range(6)),
    ]
    told = telling(used, {pair.law for pair in used} - {"absent"})
    assert [(p.lay, p.law) for p in told] == [("a", "epous"), ("f0", "g0"), ("f1", "g1"), ("f2", "g2")]
    assert len(told) == MAX_SHOWN_PAIRS
    assert telling(used, ()) == telling((), {"bail"}) == ()


def test_pairs_come_back_as_they_were_written(tmp_path: Path) -> None:
    BRIDGE.save(tmp_path)
    assert TranslationModel.load(tmp_path) == BRIDGE
    assert '"vir": [["licenci", 0.4, 7, 0.5]' in (tmp_path / PAIRS).read_text(encoding="utf-8")
    TranslationModel({}).save(tmp_path)
    assert TranslationModel.load(tmp_path) == TranslationModel({})


@pytest.mark.parametrize(
    "said", ["", "[]", "{}", '{"forms": {}, "pairs": {"a": [["b"]]}}', '{"forms": 1, "pairs": {}}']
)
def test_another_file_is_refused(tmp_path: Path, said: str) -> None:
    (tmp_path / PAIRS).write_text(said, encoding="utf-8")
    with pytest.raises(BadInput, match=PAIRS):
        TranslationModel.load(tmp_path)
