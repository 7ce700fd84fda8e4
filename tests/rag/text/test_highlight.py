"""Marked pieces and previews."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag.text import Analyser
from rag.text.analysers import analyser
from rag.text.highlight import best_passage, segments, sentence_around

FRENCH = analyser("fr")
BOTH = analyser("zh", chinese="both")
WORDS = st.lists(
    st.sampled_from(["mur", "voisin.", "arbre", "l'arbre,", "515-1", "le\n", "!", "é", "民法典", "\ud800"]),
    max_size=60,
).map(" ".join)
TERMS = st.sets(st.sampled_from(["mur", "arbre", "515-1", "voisin", "民法", "法典"]))


@settings(deadline=None)
@given(text=st.one_of(WORDS, st.text()), terms=TERMS, which=st.sampled_from([FRENCH, BOTH]))
def test_pieces_join_to_the_text(text: str, terms: set[str], which: Analyser) -> None:
    pieces = segments(text, terms, which)
    assert "".join(piece for piece, _ in pieces) == text
    assert all(piece for piece, _ in pieces)
    assert all(a[1] != b[1] for a, b in pairwise(pieces))


def test_the_word_is_marked_and_not_its_article() -> None:
    assert segments("L’arbre et les arbres.", {"arbre"}, FRENCH) == [
        ("L’", False), ("arbre", True), (" et les ", False), ("arbres", True), (".", False),
    ]  # fmt: skip
    assert segments("Rien", {"arbre"}, FRENCH) == [("Rien", False)]
    assert segments("", {"arbre"}, FRENCH) == []


def test_overlapping_spans_are_one_piece() -> None:
    assert segments("看民法典吧", {"民法", "法典"}, BOTH) == [("看", False), ("民法典", True), ("吧", False)]


@settings(deadline=None)
@given(text=st.one_of(WORDS, st.text(max_size=200)), terms=TERMS, width=st.integers(1, 120))
def test_a_passage_fits_and_lies_in_the_text(text: str, terms: set[str], width: int) -> None:
    start, end = best_passage(text, terms, FRENCH, width)
    assert 0 <= start <= end <= len(text)
    assert end - start <= max(width, width * 3 // 2)
    assert text[start:end] == text[start:end].strip()
    assert (start < end) == bool(text.strip())


def test_a_passage_holds_the_most_different_terms() -> None:
    filler = "Une phrase qui parle de tout autre chose, longuement. "
    text = (
        filler * 6
        + "Le mur est mitoyen. Le voisin plante un arbre contre le mur. "
        + filler * 6
        + "Mur mur mur."
    )
    start, end = best_passage(text, {"mur", "voisin", "arbre"}, FRENCH, 120)
    assert text[start:].startswith(("Le mur est mitoyen", "Le voisin plante"))
    assert "voisin plante un arbre contre le mur." in text[start:end]


def test_a_passage_begins_and_ends_between_words() -> None:
    text = "mot " * 200
    start, end = best_passage(text, {"absent"}, FRENCH, 50)
    assert (start, text[start:end].split()) == (0, ["mot"] * 12)  # 12 words and 11 spaces are 47 signs
    long = "preuve " + "commencement " * 60 + "voisin " + "commencement " * 60
    start, end = best_passage(long, {"voisin"}, FRENCH, 100)
    assert "voisin" in long[start:end]
    assert set(long[start:end].split()) == {"voisin", "commencement"}


def test_a_passage_begins_where_a_sentence_does() -> None:
    opening = "Autre chose est dit ici, sans rapport. "
    text = opening * 4 + "Elle a droit à la moitié pour un enfant, le tiers pour deux, le quart au-delà."
    start, end = best_passage(text + " " + opening * 4, {"enfant", "tier", "quart"}, FRENCH, 60)
    assert text[start:end] == "Elle a droit à la moitié pour un enfant, le tiers pour deux, le quart au-delà."
    first = "La moitié pour un enfant, le tiers pour deux, le quart au-delà. " + opening * 8
    assert best_passage(first, {"tier", "quart"}, FRENCH, 50)[0] == 0


def test_an_abbreviation_ends_no_sentence() -> None:
    text = "Rien de cela. " * 9 + "Selon l'art. 5 du texte, le mur est mitoyen. " + "Rien de cela. " * 9
    start, _ = best_passage(text, {"mur"}, FRENCH, 60)
    assert text[start:].startswith("Selon l'art. 5")


def test_a_sentence_too_long_to_show_is_entered_at_a_clause() -> None:
    text = "Il faut " + "beaucoup de conditions, " * 20 + "mais le mur est mitoyen, " + "avec une suite " * 20
    start, end = best_passage(text, {"mur"}, FRENCH, 60)
    assert text[start - 2 : start] == ", "
    assert "mur" in text[start:end]


@pytest.mark.parametrize("width", [0, -5, 1])
def test_a_narrow_window_is_still_one(width: int) -> None:
    assert best_passage("arbre", {"arbre"}, FRENCH, width) == (0, 1)


def test_the_sentence_around_a_place() -> None:
    text = "Un mur est à tous. Sauf l'art. 5, nul ne le perce. Rien d'autre."
    start = text.index("l'art. 5")
    left, right = sentence_around(text, start, start + 8)
    assert text[left:right] == "Sauf l'art. 5, nul ne le perce."
    assert sentence_around(text, len(text), len(text)) == (len(text), len(text))


@given(st.text(alphabet="ab5 .\n。é", max_size=400), st.data())
def test_the_sentence_around_holds_the_place_and_is_short(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    longest = data.draw(st.integers(1, 60))
    left, right = sentence_around(text, start, end, longest)
    assert 0 <= left <= start <= end <= right <= len(text)
    assert right - left <= max(longest, end - start) + 1
