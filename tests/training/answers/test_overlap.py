"""METEOR and ROUGE by hand, in three languages."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from training.answers.overlap import OverlapTokeniser, StemmedWord, align, chunks, meteor


def words(text: str) -> list[StemmedWord]:
    return [StemmedWord(w, w[:3]) for w in text.split()]


def test_meteor_by_hand() -> None:
    # All six match in one chunk: P = R = 1, penalty 0.5 (1/6)^3.
    assert meteor(words("a b c d e f"), words("a b c d e f")) == pytest.approx(1 - 0.5 / 216)
    # m = 2 of 2 and 4: F = 1 * .5 / (.9 * 1 + .1 * .5) = .5 / .95; two chunks of two: penalty .5
    assert meteor(words("a c"), words("a b c d")) == pytest.approx(0.5 / 0.95 * 0.5)
    assert meteor(words("x"), words("a b")) == 0
    assert meteor([], words("a")) == meteor(words("a"), []) == meteor([], []) == 0


def test_recall_weighs_more_than_precision() -> None:
    short, long = words("a b"), words("a b c d")
    assert meteor(long, short) > meteor(short, long)


def test_forms_are_aligned_before_stems() -> None:
    answer, reference = words("loyers loyer"), words("loyer loyal")
    assert align(answer, reference) == [(0, 1), (1, 0)]  # loyer with itself; the rest by its stem, loy
    assert chunks(align(answer, reference)) == 2


def test_the_longest_runs_are_taken_first() -> None:
    answer, reference = words("b a b c"), words("a b c")
    assert align(answer, reference) == [(1, 0), (2, 1), (3, 2)]  # not the first b
    assert chunks([(1, 0), (2, 1), (3, 2)]) == 1
    assert chunks([(0, 0), (1, 2)]) == 2
    assert chunks([]) == 0


few = st.lists(st.sampled_from("abc"), max_size=6).map(lambda ws: [StemmedWord(w, w) for w in ws])


@given(few, few)
def test_an_alignment_is_one_to_one_and_as_large_as_can_be(
    answer: list[StemmedWord], reference: list[StemmedWord]
) -> None:
    pairs = align(answer, reference)
    assert len({a for a, _ in pairs}) == len({b for _, b in pairs}) == len(pairs)
    assert all(answer[a] == reference[b] for a, b in pairs)
    forms = {w.form for w in answer}
    most = sum(min(answer.count(StemmedWord(f, f)), reference.count(StemmedWord(f, f))) for f in forms)
    assert len(pairs) == most


def _least(answer: list[StemmedWord], reference: list[StemmedWord]) -> int:
    """The least number of chunks of any largest alignment, by trying all."""
    most = len(align(answer, reference))
    best = len(answer)
    for places in itertools.combinations(range(len(answer)), most):
        for targets in itertools.permutations(range(len(reference)), most):
            if all(answer[a] == reference[b] for a, b in zip(places, targets, strict=True)):
                best = min(best, chunks(list(zip(places, targets, strict=True))))
    return best


tiny = st.lists(st.sampled_from("ab"), max_size=4).map(lambda ws: [StemmedWord(w, w) for w in ws])


@given(tiny, tiny)
def test_chunks_are_few(answer: list[StemmedWord], reference: list[StemmedWord]) -> None:
    """Greedy tiling is not always the least, but on short texts at most one more."""
    found = align(answer, reference)
    assert _least(answer, reference) <= chunks(found) <= _least(answer, reference) + 1


def test_each_language_is_cut_in_its_own_way() -> None:
    french = OverlapTokeniser("fr")
    assert french.words("Les locataires PAIENT l'électricité")[1] == StemmedWord("locataires", "locatair")
    assert [w.form for w in french.words("les loyers")] == ["les", "loyers"]  # stop words are kept
    assert french.tokenize("locataire") == french.tokenize("locataires")
    chinese = OverlapTokeniser("zh")
    assert chinese.tokenize("经营者2024年ABC，承担") == ["经", "营", "者", "2024", "年", "abc", "承", "担"]
    assert [w.form for w in chinese.words("个体工商户的债务")] == ["个体", "工商户", "的", "债务"]
    assert chinese.tokenize("") == french.tokenize("?!") == []


def test_rouge_by_hand() -> None:
    pytest.importorskip("rouge_score", reason="rouge-score is not installed: pip install '.[llm]'")
    from training.answers.overlap import rouge

    score = rouge(OverlapTokeniser("fr"))
    found = score("le locataire paie", "les locataires paient le loyer")
    cut = OverlapTokeniser("fr").tokenize
    answer, reference = cut("le locataire paie"), cut("les locataires paient le loyer")
    common = sum(min(answer.count(w), reference.count(w)) for w in set(answer))
    assert found["rouge1"] == pytest.approx(2 * common / (len(answer) + len(reference)))
    chinese = rouge(OverlapTokeniser("zh"))
    # 5 and 4 characters, 4 in common, 3 pairs of 4 and 3 in common, longest common subsequence 4
    assert chinese("甲承担债务", "甲承担债") == pytest.approx(
        {"rouge1": 8 / 9, "rouge2": 6 / 7, "rougeL": 8 / 9}
    )
    assert score("", "le loyer") == {"rouge1": 0.0, "rouge2": 0.0, "rougeL": 0.0}
    assert meteor(OverlapTokeniser("zh").words(""), OverlapTokeniser("zh").words("债务")) == 0
