from __future__ import annotations

import sys
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.errors import MissingExtra
from rag.screening.personal_data import PersonalDataKind, PersonalDataSpan, personal_data, redact
from rag.text.patterns import data
from training import before as measure

CASES = Path(__file__).parent / "cases"
TEXTS = measure.marked(CASES / "personal.tsv")
LANGUAGES = tuple(data("rag.screening", "personal")["placeholders"])
REGIONS = {"fr": "FR", "nl": "NL", "en": "GB", "de": "DE", "it": "IT", "zh": "CN"}


@pytest.mark.parametrize("case", TEXTS, ids=lambda case: f"{case.region}: {case.text}")
def test_written_cases(case: measure.LabelledText) -> None:
    assert frozenset(personal_data(case.text, case.region)) == case.findings


def test_what_was_written_later_is_found_as_published() -> None:
    counts = measure.personal(CASES / "personal_final.tsv")
    assert counts["texts"] == 32
    assert (round(counts["precision"], 3), round(counts["recall"], 3)) == (0.955, 0.913)


def test_redacting() -> None:
    question = "Mme Dupont, 06 12 34 56 78, me doit 15 000 euros (article 1240)"
    found = personal_data(question, "FR")
    assert found == (
        PersonalDataSpan(0, 10, PersonalDataKind.NAME),
        PersonalDataSpan(12, 26, PersonalDataKind.PHONE),
    )
    assert redact(question, found, "fr") == "[nom], [téléphone], me doit 15 000 euros (article 1240)"
    assert redact(question, found, "xx").startswith("[name], [phone], me")
    assert redact(question, (), "fr") == question


def test_every_language_has_a_placeholder_for_every_kind() -> None:
    assert set(LANGUAGES) == set(REGIONS)
    assert all(
        set(words) == set(PersonalDataKind)
        for words in data("rag.screening", "personal")["placeholders"].values()
    )


NOISE = st.text(alphabet="abé 中文😀\u0301\n.,;'’«»-0123456789\u202f_[]", max_size=12)
PIECES = st.lists(st.one_of(NOISE, st.sampled_from([case.text for case in TEXTS])), max_size=5)


@given(PIECES, st.sampled_from(LANGUAGES))
def test_redacted_text_holds_no_finding_and_the_rest_is_as_typed(pieces: list[str], language: str) -> None:
    question, region = " ".join(pieces), REGIONS[language]
    found = personal_data(question, region)
    assert all(0 <= f.start < f.end <= len(question) for f in found)
    assert all(a.end <= b.start for a, b in pairwise(found))
    redacted = redact(question, found, language)
    words, at = data("rag.screening", "personal")["placeholders"][language], 0
    left = question
    for finding in found:  # what lies between the findings stands between the placeholders
        between = left[at : finding.start]
        assert redacted.startswith(between + words[finding.kind])
        redacted = redacted[len(between) + len(words[finding.kind]) :]
        at = finding.end
    assert redacted == question[at:]
    assert personal_data(redact(question, found, language), region) == ()


@given(st.sampled_from([case for case in TEXTS if case.findings]), st.sampled_from("😀é中\u0301 \n"))
def test_places_stand_behind_any_characters(case: measure.LabelledText, before: str) -> None:
    shifted = f"{before * 3} {case.text}"
    offset = len(shifted) - len(case.text)
    expected = {PersonalDataSpan(f.start + offset, f.end + offset, f.kind) for f in case.findings}
    assert expected == set(personal_data(shifted, case.region))


@pytest.mark.parametrize("module", ["phonenumbers", "stdnum.iban"])
def test_a_missing_package_names_its_extra(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtra, match=r"\.\[llm\]"):
        personal_data("appelez-moi", "FR")
