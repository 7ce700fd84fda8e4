"""Typing errors in questions: what is read as what, and what is left alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import indexes
from rag.text import Analyser, SpellingCorrection
from rag.text.analysers import LANGUAGES, analyser
from rag.text.spelling import LONGEST, MOST, TolerantAnalyser, dictionary, is_word, sounds, tolerant

CUT = analyser("fr")
LAW = (
    "divorce testament héritage voisin clôture licenciement propriétaire pension dépôt succession mur plante"
)
KNOWN = {CUT.terms(word)[0]: 5 for word in LAW.split()}
MADE = TolerantAnalyser(CUT, KNOWN)
text = st.lists(
    st.sampled_from([*LAW.split(), "Divorse", "avev", "xyz", "le", "12", "1er", "pomme"]), max_size=8
).map(" ".join)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("divorse", "divorce"),  # a sound
        ("testamant", "testament"),  # another, in a word whose stem changes with it
        ("heritaje", "heritage"),
        ("voisn", "voisin"),  # a letter left out
        ("cloturre", "cloture"),  # doubled
        ("licensiement", "licenciement"),
        ("propriaitaire", "proprietaire"),
        ("pesnion", "pension"),  # swapped
        ("Pensiob", "pension"),  # another letter
        ("succesion", "succession"),
    ],
)
def test_what_one_error_away_is_known_is_meant(typed: str, meant: str) -> None:
    assert MADE.terms(f"un {typed} ici") == [*CUT.terms(meant), *CUT.terms("ici")]
    [mended] = MADE.mended(typed)
    assert (mended.typed, mended.read) == (typed, meant)
    assert [mended.term] == CUT.terms(meant)


@pytest.mark.parametrize(
    "typed", ["mure", "plantez", "murx", "ordinateur", "3 ans", "art. 12", "pention2", "eivorce", "divrse!"]
)
def test_what_is_known_short_a_number_or_far_from_everything_stays(typed: str) -> None:
    assert MADE.terms(typed) == CUT.terms(typed)
    assert MADE.mended(typed) == ()


def test_a_word_that_stands_once_is_known_but_none_is_read_as_it() -> None:
    rare = TolerantAnalyser(CUT, {**KNOWN, **dict.fromkeys(CUT.terms("divorse"), 1)})
    assert rare.terms("divorse") == CUT.terms("divorse")
    assert TolerantAnalyser(CUT, dict.fromkeys(CUT.terms("divorce"), 1)).terms("divorse") == CUT.terms(
        "divorse"
    )


def test_of_two_words_the_likelier_error_and_the_commoner_word_is_meant() -> None:
    pair = {"pension": 1, "tension": 1}  # the first letter is right
    assert TolerantAnalyser(CUT, dict.fromkeys(pair, 9)).terms("pention") == ["pension"]
    known = {CUT.terms("portes")[0]: 2, CUT.terms("postes")[0]: 400}
    assert TolerantAnalyser(CUT, known).terms("poqtes") == CUT.terms("postes")
    assert TolerantAnalyser(CUT, known).terms("potres") == CUT.terms(
        "portes"
    )  # swapped: as likely as eight others


@given(text)
def test_terms_are_those_of_the_tokens_and_lie_where_they_did(question: str) -> None:
    tokens, before = MADE.tokens(question), {(t.start, t.end): t.term for t in CUT.tokens(question)}
    assert MADE.terms(question) == [token.term for token in tokens]
    assert [(t.start, t.end) for t in tokens] == [
        span for span in before if span in {(t.start, t.end) for t in tokens}
    ]
    assert {m.typed for m in MADE.mended(question)} == {
        question[t.start : t.end] for t in tokens if t.term != before[t.start, t.end]
    }


@given(st.text(max_size=40))
def test_any_text_is_cut_and_nothing_is_added(question: str) -> None:
    assert len(MADE.tokens(question)) <= len(CUT.tokens(question))


@pytest.mark.parametrize("typed", ["avev", "Daipuis", "pouur", "depuus"])
def test_a_stop_word_is_one_when_it_is_mistyped(typed: str) -> None:
    assert CUT.terms(typed)
    assert MADE.terms(f"divorce {typed}") == CUT.terms("divorce")
    assert MADE.mended(typed) == ()  # nothing was searched for it, so nothing is told


def test_the_same_analyser_cuts_the_law() -> None:
    assert (MADE.id, MADE.language) == (CUT.id, "fr")
    assert MADE.terms(LAW) == CUT.terms(LAW)


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_language_with_letters_has_sounds(language: str) -> None:
    made: Analyser = tolerant(analyser(language), {})
    assert isinstance(made, TolerantAnalyser) == bool(sounds(language)) == (language != "zh")
    assert all(one != other and one for one, other in sounds(language))


def test_mended_words_are_told_once() -> None:
    assert MADE.mended("divorse ou divorse") == (
        SpellingCorrection("divorse", "divorce", *CUT.terms("divorce")),
    )


def test_a_very_long_word_and_very_many_unknown_ones_cost_little() -> None:
    assert MADE.terms("a" * 20_000) == CUT.terms("a" * 20_000)
    assert MADE.terms("d" + "i" * (LONGEST - 1) + "vorce") == CUT.terms("d" + "i" * (LONGEST - 1) + "vorce")
    unknown = [f"xyzw{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(MOST)]
    assert MADE.mended(" ".join(["divorse", *unknown])) == MADE.mended("divorse")
    assert MADE.mended(" ".join([*unknown, "divorse"])) == ()  # it comes after as many as are looked at


def test_a_word_that_this_analyser_does_not_stop_at_is_none() -> None:
    all_words = analyser("fr", stop_words=False)
    known = dict.fromkeys(all_words.terms("pendant divorce"), 5)
    assert TolerantAnalyser(all_words, known).terms("pendannt") == all_words.terms("pendant")


@pytest.mark.slow
def test_a_word_that_exists_is_never_read_as_another() -> None:
    engine = indexes.open()
    for question in ("je suis serveuse, il ne paie pas", "son chien aboie", "le back office", "un short"):
        assert engine.notices.corrections(question) == ()


def test_no_word_of_the_dictionary_is_read_as_another_and_errors_still_are() -> None:
    known = dict.fromkeys(CUT.terms("clôture voisin servir abois travail licencier bac"), 9)
    reads = tolerant(CUT, known)
    assert isinstance(reads, TolerantAnalyser)
    some = sorted(dictionary("fr"))[::500]
    assert len(some) > 200
    assert not [word for word in some if reads.mended(word)]
    assert [(c.typed, c.read) for c in reads.mended("la clotrue du voisn")] == [
        ("clotrue", "cloture"),
        ("voisn", "voisin"),
    ]


def test_a_language_without_a_dictionary_has_no_words() -> None:
    assert dictionary("zh") == frozenset()
    assert is_word("week", "zh")  # of English, from which all borrow
