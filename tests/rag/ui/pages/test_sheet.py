"""What fits on one printed page."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.ui.pages.sheet import FRAME, LEAST, LINE, PAGE, WRITTEN, lines, room, truncate_lines


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("", 1),
        ("a" * LINE, 1),
        ("a" * (LINE + 1), 2),
        ("a\n\nb", 3),
        ("a\r\nb", 2),
        ("邻" * (LINE // 2), 1),  # as wide as two letters
        ("邻" * (LINE // 2 + 1), 2),
    ],
)
def test_lines_by_hand(text: str, count: int) -> None:
    assert lines(text) == count


def test_a_text_that_fits_is_left_alone_and_another_is_cut_at_a_word() -> None:
    assert truncate_lines("one two three", 1, 13) == "one two three"
    assert truncate_lines("one two three", 1, 12) == "one two …"
    assert truncate_lines("one\ntwo\nthree", 2, 12) == "one\ntwo …"
    assert truncate_lines("邻居种树", 1, 7) == "邻居 …"


@given(st.text(max_size=200), st.integers(1, 8), st.integers(12, 40))
def test_what_is_cut_says_so_and_fits(text: str, count: int, wide: int) -> None:
    short = truncate_lines(text, count, wide)

    assert short == text or short.endswith(" …")
    assert lines(short, wide) <= count + 1  # the mark may stand behind a line that is full: lines hold more


def test_a_page_is_shared_out_by_hand() -> None:
    one = room(["art. 1"], ["a" * LINE * 40], ["x"] * 5)  # 58 − 10 − 5 − 1.5 leave 41.5
    assert (one.facts, one.article) == (17, 24)  # of which 24.9 are the article's
    short = room(["art. 1"], ["a"], ["x"] * 5)
    assert (short.facts, short.article) == (40, 2)  # what it does not need is the person's
    two = room(["1", "2"], ["a", "a" * LINE * 40], ["x"] * 5)  # 40 left, 24 of them for both
    assert (two.facts, two.article) == (16, 23)


@given(st.lists(st.text(max_size=300), min_size=1, max_size=10))
def test_a_page_of_ten_articles_is_full_at_most(texts: list[str]) -> None:
    heads = ["C. civ., art. 671 https://law.example/article/671"] * len(texts)
    small = ["x"] * 8
    fits = room(heads, texts, small)
    taken = sum(min(lines(text), fits.article) for text in texts) + 1.5 * len(heads) + len(small)

    assert fits.article >= LEAST
    assert FRAME + taken + fits.facts <= PAGE or fits.facts == WRITTEN
