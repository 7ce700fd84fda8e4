from __future__ import annotations

from rag.text.language import language_of


def test_the_language_of_a_text() -> None:
    assert language_of("irgendwas", "de-AT") == "de"
    assert language_of("Der Mieter hat die Miete zu zahlen.", "xx") == "de"
    assert language_of("De huurder moet de huur aan de verhuurder betalen.") == "nl"
    assert language_of("承租人应当支付租金。") == "zh"
    assert language_of("") == "fr"
