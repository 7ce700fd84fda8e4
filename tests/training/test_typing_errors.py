"""Typing errors put into questions: as many as are asked for, the same for the same seed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.errors import BadInput
from rag.text.analysers import LANGUAGES
from rag.types import Question
from training.typing_errors import SHORTEST, main, with_errors, without_accents

LONG = Question(
    "q1", "Mon voisin a planté un arbre trop près de la clôture de mon jardin, que puis-je faire ?", ("a",)
)
words = st.lists(st.text("abcdefghijklméè", min_size=1, max_size=9), max_size=20).map(" ".join)
letters = st.sampled_from([language for language in LANGUAGES if language != "zh"])


def changed(before: str, after: str) -> int:
    pairs = zip(re.findall(r"[^\W\d_]+", before), re.findall(r"[^\W\d_]+", after), strict=True)
    return sum(a != b for a, b in pairs)


@given(words, letters, st.integers(0, 9), st.integers(1, 12))
def test_one_word_in_so_many_has_an_error_and_its_first_letter_right(
    text: str, language: str, seed: int, every: int
) -> None:
    [asked] = with_errors([Question("q", text, ("a",))], language, seed, every)
    said, long = text.split(), [word for word in text.split() if len(word) >= SHORTEST]
    most = min(len(long), max(1, round(len(said) / every)))
    assert changed(text, asked.text) <= most
    assert [word[0] for word in asked.text.split()] == [word[0] for word in said]
    assert asked.article_ids == ("a",)
    assert with_errors([Question("q", text, ("a",))], language, seed, every) == [asked]


def test_a_question_of_everyday_length_has_two() -> None:
    typed = [with_errors([LONG], "fr", seed)[0].text for seed in range(20)]
    assert {changed(LONG.text, text) for text in typed} == {2}
    assert len(set(typed)) > 15


def test_accents_go_and_nothing_else() -> None:
    [plain] = without_accents([LONG])
    assert (
        plain.text
        == "Mon voisin a plante un arbre trop pres de la cloture de mon jardin, que puis-je faire ?"
    )


def test_what_cannot_be_mistyped_is_refused() -> None:
    with pytest.raises(BadInput, match="give 1 or more"):
        with_errors([LONG], "fr", 1, 0)
    with pytest.raises(BadInput, match="Chinese"):
        with_errors([LONG], "zh", 1)


# words that are read as others though nobody mistyped them: names, endings, short forms
RIGHT = {"rigolent", "Soudanais", "harcèlent", "luxembourgeois", "Catalogne", "randos"}


@pytest.mark.slow
def test_of_the_words_of_real_questions_hardly_one_is_read_as_another_wrongly(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert main([]) == 0
    *lines, told = capsys.readouterr().out.splitlines()
    assert told == "22 of 22,267 words are read as others"
    assert {line.split("\t")[0] for line in lines} > RIGHT  # 0.03 %; wanted are 0.5 at most
    (tmp_path / "none.jsonl").write_text("{}\n", encoding="utf-8")
    assert main([str(tmp_path / "none.jsonl")]) == 2
    assert "none.jsonl" in capsys.readouterr().err
