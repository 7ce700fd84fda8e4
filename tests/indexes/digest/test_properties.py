"""What holds for any text: the check of summaries is pure, quiet on the law itself, and sees figures."""

from __future__ import annotations

from hypothesis import assume, given
from hypothesis import strategies as st

from indexes.digest.check import check
from indexes.digest.finding import KINDS, Finding
from tests.fakes.law.digest import article, said

UNITS = ("jours", "mois", "ans", "euros", "%", "témoins", "degrés", "mètres")
FRAMES = (
    "Le meunier a {} pour ouvrir la vanne.",
    "Nul ne ferme le bief avant {}.",
    "L'eau doit rester au moins {} dans le bief.",
    "Le juge peut accorder {} au locataire du moulin.",
)
WORDS = [
    "le", "la", "vanne", "eau", "bief", "ne", "peut", "pas", "doit", "juge", "sans", "article", "deux",
    "tiers", "moitié", "alinéa", "12", "L.", ";", ".", ",", "'", "°", "-", "et", "à",
]  # fmt: skip
ITSELF = {"shared words", "long sentence", "hard to read"}  # what may be said of a text beside itself


@st.composite
def laws(draw: st.DrawFn) -> tuple[str, list[int]]:
    """An invented law with figures that all differ, and the figures in their order."""
    figures = draw(st.lists(st.integers(2, 9999), min_size=1, max_size=5, unique=True))
    parts = []
    for figure in figures:
        unit = draw(st.sampled_from((*UNITS, "article")))
        counted = f"selon l'article {figure}" if unit == "article" else f"{figure} {unit}"
        parts.append(draw(st.sampled_from(FRAMES)).format(counted))
    return " ".join(parts), figures


@given(laws(), st.data())
def test_a_changed_digit_in_a_copy_of_the_law_is_always_found(
    law: tuple[str, list[int]], data: st.DataObject
) -> None:
    text, figures = law
    figure = data.draw(st.sampled_from(figures))
    digits = list(str(figure))
    place = data.draw(st.integers(0, len(digits) - 1))
    digits[place] = data.draw(st.sampled_from([d for d in "0123456789" if d != digits[place]]))
    changed = "".join(digits)
    assume(changed[0] != "0")
    assume(int(changed) not in figures)
    assume(int(changed) != 12)  # its own number may be named
    copy = text.replace(f" {figure} ", f" {changed} ").replace(f" {figure}.", f" {changed}.")
    found = {finding.kind for finding in said(text, copy)}
    assert found & {"number added", "number lost", "reference added"}, copy


@given(laws())
def test_the_law_beside_itself(law: tuple[str, list[int]]) -> None:
    assert {finding.kind for finding in said(law[0], law[0])} <= ITSELF


@given(st.lists(st.sampled_from(WORDS), max_size=60).map(" ".join))
def test_any_words_beside_themselves(text: str) -> None:
    assert {finding.kind for finding in said(text, text)} <= ITSELF


@given(st.text(max_size=200), st.text(max_size=200))
def test_any_two_texts_have_an_answer_and_always_the_same(law: str, ours: str) -> None:
    first = check(article(law), article(ours))
    assert first == check(article(law), article(ours))
    assert all(finding.kind in KINDS and finding.article == "X-12" for finding in first)
    assert len(first) == len(set(first))


@given(st.text(max_size=200))
def test_any_text_beside_itself(text: str) -> None:
    found = {finding.kind for finding in said(text, text)}
    assert found <= ITSELF


def test_findings_come_in_the_order_of_the_kinds() -> None:
    law = "Le notaire a quinze jours. Il ne peut vendre la farine du moulin communal."
    found = check(article(law), article("Vous avez 20 jours. Il peut vendre la farine du moulin communal."))
    assert found[0] == Finding("X-12", "number added", "20 jours")
    order = list(KINDS)
    assert [f.kind for f in found] == sorted((f.kind for f in found), key=order.index)
