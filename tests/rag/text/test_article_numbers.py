"""Article numbers: one key whatever the spelling."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.text.article_numbers import chinese_number, number_key, number_term

DIGITS = "零一二三四五六七八九"


def in_chinese(value: int) -> str:
    """Write 1 to 9999 as laws do."""
    written, zero = "", False
    for power, sign in ((1000, "千"), (100, "百"), (10, "十"), (1, "")):
        digit = value // power % 10
        if digit:
            written += ("零" if zero and written else "") + DIGITS[digit] + sign
        zero = not digit
    return written.removeprefix("一") if 10 <= value < 20 else written


@given(value=st.integers(1, 9999))
def test_chinese_numerals_read_back(value: int) -> None:
    assert chinese_number(in_chinese(value)) == value
    assert number_key(f"第{in_chinese(value)}条") == number_key(f"第{value}条") == number_key(str(value))


@pytest.mark.parametrize(
    ("numeral", "value"),
    [
        ("一千零三十二", 1032),
        ("一〇三二", 1032),
        ("１０３２", 1032),
        ("二十", 20),
        ("两百", 200),
        ("一万二千", 12_000),
        ("", None),
        ("条", None),
    ],
)
def test_chinese_numerals_worked_by_hand(numeral: str, value: int | None) -> None:
    assert chinese_number(numeral) == value


@pytest.mark.parametrize(
    "spellings",
    [
        ["L. 1234-5", "L1234-5", "l 1234-5", "L.1234-5", "Article L. 1234-5", "L1234‑5"],
        ["R.* 421-1", "R*421-1", "R421-1"],
        ["2 bis", "2-bis", "2bis", "Art. 2 BIS", "art. 2-bis."],
        ["1er", "1", "Article premier", "Art. 1er", "Article 1."],
        ["573c", "§ 573c", "§ 573 c", "573C"],
        ["L123-4-A", "L123-4A", "L. 123-4 A"],
        ["第一百三十三条之一", "第133条之一", "133-1"],
        ["6:162", "Artikel 6:162"],
    ],
)
def test_spellings_of_one_number(spellings: list[str]) -> None:
    assert len({number_key(spelling) for spelling in spellings}) == 1
    assert number_key(spellings[0])


def test_different_numbers_stay_apart() -> None:
    numbers = [
        "1",
        "11",
        "1-1",
        "1bis",
        "1ter",
        "L1",
        "R1",
        "515-1",
        "5151",
        "573",
        "573a",
        "6:162",
        "6162",
        "第一条之一条",
    ]
    assert (
        len({number_key(number) for number in numbers}) >= len(numbers) - 1
    )  # 1-1 is also how 之一 is keyed


@given(text=st.text())
def test_any_text_has_a_key_and_a_term(text: str) -> None:
    assert isinstance(number_key(text), str)
    assert isinstance(number_term(text), str)
