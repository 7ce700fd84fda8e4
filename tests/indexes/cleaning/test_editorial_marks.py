"""Marks of amendments go, the law stays to the letter."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexes.cleaning import editorial_marks
from indexes.cleaning.editorial_marks import remove_spans, struck_out, unmarked
from tests.paths import ROOT

LANGUAGES = st.sampled_from(["fr", "nl", "de", "it", "zh", "en"])
NOTE = "(1)<L 2013-03-17/14, art. 2, 057; En vigueur : 01-06-2014>"
RULE = "----------"


@pytest.mark.parametrize(
    ("language", "marked", "law"),
    [
        ("fr", "Le four [1 commun]1 est chauffé.", "Le four commun est chauffé."),
        ("fr", "Le four [1 [2 commun]2 du village]1.", "Le four commun du village."),
        ("fr", "Qui paie [3 1.500 euros]3 ou [12 2 000 francs]12.", "Qui paie 1.500 euros ou 2 000 francs."),
        ("fr", "l'[¹ article 5]¹, puis [² 6]²", "l'article 5, puis 6"),
        ("fr", "Le four [1 ...]1 est [2 …]2, chauffé [3 ...]3.", "Le four est, chauffé."),
        ("fr", "[1 Le four]1 [2 .... ]2\nest chauffé.", "Le four\nest chauffé."),
        ("fr", "Le pain.\n[1 ...]1\nLe four.", "Le pain.\nLe four."),  # no empty line is left
        ("fr", f"Le [1 four]1.\n{RULE}\n{NOTE}", "Le four."),
        ("fr", f"Le [1 four]1. {RULE} {NOTE} (2)<AR 2014-01-02/3, art. 1; En vigueur : 2>", "Le four."),
        ("fr", f"Le [1 four] 1.\n{RULE}\n{NOTE}\nLe pain.", "Le four.\nLe pain."),  # law behind a note stays
        ("fr", "<Inséré par L 1998-07-05/57, art. 2; En vigueur : 01-01-1999> Le four.", "Le four."),
        ("fr", "(1) <L 1998-07-05/57, art. 2; En vigueur : 1> Le four.", "(1) Le four."),  # a paragraph
        ("fr", "(Le four) <AR 2008-12-22/32, art. 5, 012; En vigueur : 08-01-2009>.", "(Le four)."),
        ("fr", "Le four <Erratum, M.B. 2004-03-12/3>.", "Le four."),
        ("nl", "De [1 oven]1 <W 2013-03-17/14, art. 2; Inwerkingtreding : 01-06-2014>.", "De oven."),
        ("de", "Der [1 Ofen]1 <G 2013-03-17/14, Art. 2; Inkrafttreten : 01-06-2014>.", "Der Ofen."),
        ("de", "Der Ofen.\nFußnote\n(+++ § 5: Zur Anwendung vgl. § 10 Abs. 2 +++)", "Der Ofen."),
        ("it", "Il forno ((comune)) e' ((, sempre,)) caldo ((...)).", "Il forno comune e', sempre, caldo."),
        ("it", "firma ((del forno))comune", "firma del forno comune"),  # two words, whatever the marks
        ("it", "1. ((Entro (lettera b)) del comma)) fine.", "1. Entro (lettera b)) del comma fine."),
        ("it", "((b) il forno; c) il pane)) fine.", "b) il forno; c) il pane fine."),
        (
            "it",
            "Il forno. (29) (31)\n((29))\nIl comma (29) resta.\n----\nAGGIORNAMENTO (29)\nLa legge 5\n"
            "-----\nAGGIORNAMENTO (31)\nAltro 12.",
            "Il forno.\nIl comma (29) resta.",
        ),
        ("fr", f"Le four (1). Voir l'alinéa (1).\n{RULE}\n(1) Une note.", "Le four. Voir l'alinéa (1)."),
        ("fr", f"Le four² de 12 m² et 10 ².\n{RULE}\n² Une note.", "Le four de 12 m² et 10 ²."),
        ("zh", f"炉灶①归全村。\n{RULE}\n① 注。", "炉灶归全村。"),
        ("zh", "炉灶〔1〕归全村。\n————\n〔1〕 注。", "炉灶归全村。"),
    ],
)  # fmt: skip
def test_marks_as_they_are_published(language: str, marked: str, law: str) -> None:
    assert unmarked(marked, language) == law
    assert unmarked(law, language) == law


@pytest.mark.parametrize(
    ("language", "law"),
    [
        ("fr", "P = TD5/6 + [(A - TD5/6) x 80 %] et [Dd - (1,3 x Dn)]"),
        ("fr", "à compter du [paiement] du prix, 2 minimum garantis [MG], [...] et [1]"),
        ("fr", "[1 000 francs]1 et [1 sans fin, ]2 ni début"),
        ("fr", "(1) <Code du four> et (1)"),
        ("fr", "[1 four]1.500 francs"),  # a number stands there, not the end of a mark
        ("fr", "Deux [1 fours] 1 an"),  # no note says that it is a mark
        ("fr", "x < 3 et y > 4; <Code du four> et <NOTE : selon 2008-12-22/32>"),
        ("fr", "Le four.\n(1) Lire l'article 5."),  # no rule above the note
        ("fr", f"Le four.\n{RULE}\n(1) Chaque année, qui chauffe le four paie."),  # nothing calls it
        ("fr", f"Classe | Seuil\n{RULE}\na) pain | 200\n{RULE}\nb) four | 100"),
        ("fr", "((a + b) x 2) et ((la suite))"),
        ("de", f"(1) Wer den Ofen (2) heizt.\n(2) Zwei.\n{RULE}\n(2) Drei."),  # paragraphs are numbered so
        ("de", "(2) Eine Frist von 2 Wochen.\n(3) (weggefallen)"),
        ("it", "((a - b) / (c - d)) e' la misura"),
        ("it", "((il forno senza fine"),
        ("it", "entro ((24)) mesi"),
        ("it", "Il forno.\n------\nAGGIORNAMENTO (1)\nTabella\n------\n1 | 2"),  # a table
        ("zh", "《解释》（高检发释字〔2012〕2号）同时废止，<机动车登记规定>"),
    ],
)  # fmt: skip
def test_brackets_of_the_law_stay(language: str, law: str) -> None:
    assert unmarked(law, language) == law


def test_what_is_nothing_but_marks_stays_as_it_is() -> None:
    for text in ("[1 ...]1", f"[1 ...]1\n{RULE}\n{NOTE}", NOTE, "<L 1998-07-05/57, art. 2; En vigueur : 1>"):
        assert unmarked(text, "fr") == text
    assert struck_out("[1 ...]1")
    assert struck_out(f"[12 ...]12\n{RULE}\n(12){NOTE[3:]}")
    assert not struck_out("...")
    assert not struck_out("[...]")
    assert not struck_out("[1 four]1")
    assert not struck_out(NOTE)


@dataclass(frozen=True)
class Piece:
    """A piece of a law, as it is and as an editor marked it."""

    law: str
    marked: str


WORDS = (
    *("four", "l'eau", "1.500", "12", "(1)", "m²", "[pain]", "[...]", "5bis,", "« haie »", "x < 3", "b)"),
    *("2020-01-01", "§", "Art.", "[(A - B) x 2]", "100 %", "€", "n°", "a-t-il", "法", "10²"),
)
word = st.sampled_from(WORDS).map(lambda text: Piece(text, text))
nothing = st.sampled_from(
    [
        "[1 ...]1",
        "[2 ... ]2",
        "<L 2008-12-22/32, art. 5, 012; En vigueur : 08-01-2009>",
        NOTE,
        "(+++ § 5 +++)",
    ]
).map(lambda mark: Piece("", mark))


def _joined(pieces: list[Piece]) -> Piece:
    return Piece(
        " ".join(piece.law for piece in pieces if piece.law), " ".join(piece.marked for piece in pieces)
    )


def _wrapped(number: int, inside: Piece) -> Piece:
    return Piece(inside.law, f"[{number} {inside.marked}]{number}") if inside.law else inside


pieces = st.recursive(
    word | nothing,
    lambda inner: st.builds(
        _wrapped, st.integers(1, 120), st.lists(inner, min_size=1, max_size=4).map(_joined)
    ),
    max_leaves=12,
)
lines = st.lists(pieces, min_size=1, max_size=5).map(_joined)


@given(st.lists(lines, min_size=1, max_size=4), st.booleans())
def test_marking_and_unmarking_gives_the_law_back(made: list[Piece], noted: bool) -> None:
    """Every word, number and bracket of the law, in its order and on its line."""
    law = "\n".join(line.law for line in made if line.law)
    marked = "\n".join(line.marked for line in made)
    if noted:
        marked += f"\n{RULE}\n{NOTE}\n(2)<W 2014-01-02/3, art. 1; Inwerkingtreding : 01-02-2014>"
    assert unmarked(marked, "fr") == (law or marked)


@given(st.lists(st.lists(word, min_size=1).map(_joined), min_size=1), LANGUAGES)
def test_a_text_without_marks_is_never_changed(made: list[Piece], language: str) -> None:
    text = "\n".join(line.law for line in made)
    assert unmarked(text, language) == text


NASTY = (
    *("[1 ", "]1", "[2 ", "]2", "[¹", "]¹", "[", "]", "((", "))", "(", ")", "...", "\n", "\n----------\n"),
    *("(1)", "((1))", "(2) ", "<L 2008-12-22/32, art. 5>", "¹", "②", "m", " m²", "AGGIORNAMENTO (1)\n", "12"),
    *(" ", "comma ", "a", "\n(1) Nota", "\n----\n(1) Nota", "*)", "(+++", "+++)", "<", ">", "。", "法"),
)


@given(st.lists(st.sampled_from(NASTY), max_size=25).map("".join) | st.text(max_size=60), LANGUAGES)
def test_once_is_enough_and_nothing_is_put_in(text: str, language: str) -> None:
    bare = unmarked(text, language)
    assert unmarked(bare, language) == bare
    left = iter(text)
    assert all(sign in left for sign in re.sub(r"\s", "", bare)), "only what was there, in its order"
    assert bare.strip() or not text.strip()


@given(
    st.text("ab 1\n.", max_size=20), st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), max_size=4)
)
def test_cutting(text: str, spans: list[tuple[int, int]]) -> None:
    inside = [(min(a, b, len(text)), min(max(a, b), len(text))) for a, b in spans]
    inside = [(a, b) for a, b in inside if a < b]
    out = {i for a, b in inside for i in range(a, b)}
    left = "".join(c for i, c in enumerate(text) if i not in out)
    assert "".join(remove_spans(text, inside).split()) == "".join(left.split())
    assert remove_spans(text, []) == text


def test_marks_that_hide_one_another_without_end_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    passes = []
    once = editorial_marks._once
    monkeypatch.setattr(editorial_marks, "_once", lambda *given: passes.append(1) or once(*given))
    text = "".join(f"[{n} " for n in range(1, 900)) + "".join(f"]{n} " for n in range(1, 900))
    assert unmarked(text, "fr") == text
    assert len(passes) <= 20


def test_work_grows_with_the_text() -> None:
    """By the square it would take half an hour."""
    text = '"\\n" * 1_500_000 + "----\\n(1) a"'
    code = f"from indexes.cleaning.editorial_marks import unmarked; print(len(unmarked({text}, 'fr')))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 1_500_000
