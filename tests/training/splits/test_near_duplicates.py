"""Questions that say nearly the same are found, all of them and no others."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexes.corpus.folds import folds, grouped_folds
from indexes.sources.registry import load
from rag.errors import BadInput
from rag.text.analysers import analyser
from rag.types import Question
from training.splits.__main__ import straddling
from training.splits.near_duplicates import agreeing, equal_pairs, groups, near_duplicates, sharing, similar

bags = st.lists(st.frozensets(st.sampled_from("abcdefghij"), max_size=8), max_size=25)
thresholds = st.sampled_from([0.1, 0.3, 0.5, 0.6, 0.7, 0.75, 0.8, 0.9, 1])


@given(bags, thresholds)
def test_all_pairs_and_no_others(made: list[frozenset[str]], threshold: float) -> None:
    """The short cut finds what comparing every pair finds."""
    least = Fraction(str(threshold))
    every = [
        (i, j)
        for (i, one), (j, other) in combinations(enumerate(made), 2)
        if one and other and Fraction(len(one & other), len(one | other)) >= least
    ]
    assert similar(made, threshold) == every


def test_the_threshold_is_as_typed() -> None:
    """Seven of ten is 0.7, though 0.7 * 10 is a little more in binary."""
    ten, seven = frozenset("abcdefghij"), frozenset("abcdefg")
    assert similar([ten, seven], 0.7) == [(0, 1)]
    assert similar([ten, seven], 0.71) == []


@pytest.mark.parametrize("threshold", [0, -0.5, 1.01])
def test_a_threshold_that_means_nothing(threshold: float) -> None:
    with pytest.raises(BadInput, match="above 0 and at most 1"):
        similar([frozenset("a")], threshold)


def test_the_same_words_in_french() -> None:
    texts = [
        "Mon propriétaire peut-il garder la garantie locative ?",
        "Le propriétaire peut-il garder ma garantie locative ?",  # other stop words
        "MON  propriétaire peut-il garder la garantie locative ?",
        "Qui paie les frais du notaire ?",
        "?",
        "?",  # no terms at all, but the same
        "!",
    ]
    found = near_duplicates(texts, analyser("fr").terms)
    assert found == [(0, 1), (0, 2), (1, 2), (4, 5)]
    assert groups(len(texts), found) == (0, 0, 0, 3, 4, 4, 6)


pairs = st.lists(st.tuples(st.integers(0, 19), st.integers(0, 19)), max_size=30)


@given(pairs, st.randoms())
def test_groups_are_what_pairs_join(joined: list[tuple[int, int]], mixed: object) -> None:
    found = groups(20, joined)
    assert all(found[i] == found[j] for i, j in joined)
    assert all(found[label] == label <= i for i, label in enumerate(found))
    # nothing else is joined: what a walk along the pairs reaches is the group
    for start in range(20):
        reached, before = {start}, set()
        while reached != before:
            before = set(reached)
            reached |= {j for pair in joined for j in pair if set(pair) & reached}
        assert {i for i in range(20) if found[i] == found[start]} == reached
    mixed.shuffle(joined)  # type: ignore[attr-defined]
    assert groups(20, [(j, i) for i, j in joined]) == found


@given(bags.filter(lambda made: len(made) > 1), thresholds, st.integers(2, 5), st.integers(0, 99))
def test_near_duplicates_never_straddle(
    made: list[frozenset[str]], threshold: float, k: int, seed: int
) -> None:
    joined = similar(made, threshold)
    found = groups(len(made), joined)
    if k <= len(set(found)):
        assert straddling(joined, grouped_folds(found, k, seed)) == 0


def test_fields() -> None:
    asked = [
        Question("q0", "a", ("1", "2"), category="home"),
        Question("q1", "b", ("3",), category="work"),
        Question("q2", "c", ("2", "3")),
        Question("q3", "d", (), category="home"),
    ]
    extras = {"q1": {"topics": ["oven", "bread"]}, "q3": {"topics": ["oven", "bread"]}}
    assert agreeing(asked, "articles", extras) == [(0, 2), (1, 2)]
    assert agreeing(asked, "category", extras) == [(0, 3)]
    assert agreeing(asked, "topics", extras) == [(1, 3)]
    assert sharing([[], [], ["x"]]) == []
    assert equal_pairs([None, None, 1, 1, 1]) == [(2, 3), (2, 4)]
    with pytest.raises(BadInput, match=r"--group-by mood: no question has it\. .*columns topics"):
        agreeing(asked, "mood", extras)


@pytest.mark.data
@pytest.mark.slow
def test_plain_folds_part_near_duplicates_of_stard(data: Path) -> None:
    corpus, _ = load("stard", data / "stard")
    found = near_duplicates([q.text for q in corpus.questions], analyser("zh").terms)
    assert len(found) == 15
    assert straddling(found, folds(1235, 5, 42)) == 11
    assert straddling(found, grouped_folds(groups(1235, found), 5, 42)) == 0
