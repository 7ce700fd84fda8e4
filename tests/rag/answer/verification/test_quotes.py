"""A quote is found whatever its typography, and only as the article has it."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.answer.verification.quotes import Places, is_long_enough, normal, trimmed

TEXT = (
    "Le preneur ne peut céder l’œuvre « en l'état » ;\n"
    " il paie 1 500 euros (art. L. 121-1) sous deux\u00ad mois."
)


def _found(quote: str, text: str = TEXT) -> list[str]:
    return [text[start:end] for start, end in Places(text).find(quote)]


@pytest.mark.parametrize(
    "quote",
    [
        "Le preneur ne peut céder l'œuvre",
        "LE PRENEUR NE PEUT CÉDER L'OEUVRE",
        "“Le preneur ne peut\ncéder l´œuvre”",
        "ne peut céder l'œuvre en l’état; il paie",
        "il paie 1\u202f500 euros",
        "sous deux mois.",
        "… il paie 1 500 euros …",
        "ｉｌ ｐａｉｅ 1 500 euros",
    ],
)
def test_what_a_typesetter_changes_is_the_same(quote: str) -> None:
    assert len(_found(quote)) == 1


@pytest.mark.parametrize(
    "quote",
    [
        "il paie 500 euros",
        "500 euros (art. L. 121-1) sous deux",  # begins inside a number
        "il paie 1",  # ends inside one
        "(art. L. 121",
        "preneur ne peut ceder l'œuvre",  # an accent is a letter
        "reneur ne peut céder",  # begins inside a word
        "Le preneur peut céder",
        "Le preneur … céder l'œuvre",
        "Le preneur ne peut сéder",  # a Cyrillic c
        "Le preneur [...] il paie",
        "",
        "…",
    ],
)
def test_what_reads_otherwise_is_not(quote: str) -> None:
    assert _found(quote) == []


def test_what_is_shown_is_the_articles_own() -> None:
    assert _found("LE PRENEUR NE PEUT CÉDER L'OEUVRE") == ["Le preneur ne peut céder l’œuvre"]
    assert _found("deux mois") == ["deux\u00ad mois"]


def test_chinese_has_no_words_but_numbers_and_denials_stay_whole() -> None:
    text = "承租人不得在三十日内转租，房屋。"
    assert _found("在三十日内转租", text) == ["在三十日内转租"]
    assert _found("承租人 不得在三十日内转租,房屋", text) == ["承租人不得在三十日内转租，房屋"]
    assert _found("十日内转租", text) == []
    assert _found("得在三十日内转租", text) == []


@pytest.mark.parametrize(
    ("quote", "enough"),
    [
        ("ne peut céder", False),
        ("ne peut céder l'œuvre", True),
        ("", False),
        ("承租人不得转", True),
        ("不得转租", False),
    ],
)
def test_a_quote_has_a_least_length(quote: str, enough: bool) -> None:
    assert is_long_enough(quote) is enough


@given(st.text())
def test_normal_twice_is_normal_once(text: str) -> None:
    once = normal(text).text
    assert normal(once).text == once


@given(st.text())
def test_places_point_into_the_text(text: str) -> None:
    made = normal(text)
    assert len(made.text) == len(made.starts) == len(made.ends)
    assert all(0 <= start < end <= len(text) for start, end in zip(made.starts, made.ends, strict=True))


_WORDS = st.lists(
    st.text(alphabet="abcéèœßzöñAB", min_size=1, max_size=8)
    | st.sampled_from(["l’", "«", "»", "–", ";", "ﬁn", "c.", "…"]),
    min_size=5,
    max_size=40,
)


@given(_WORDS, st.data())
def test_every_run_of_whole_words_is_found_and_reads_the_same(words: list[str], data: st.DataObject) -> None:
    text = data.draw(st.sampled_from([" ", "\n", "\u00a0", "  "])).join(words)
    spans = [found.span() for found in re.finditer(r"[^\W_]+", text)]
    first = data.draw(st.integers(0, len(spans) - 1)) if spans else 0
    last = data.draw(st.integers(first, len(spans) - 1)) if spans else 0
    quote = text[spans[first][0] : spans[last][1]] if spans else ""
    places = Places(text).find(quote)
    assert bool(places) == bool(trimmed(quote))
    assert all(normal(text[start:end]).text == trimmed(quote) for start, end in places)
