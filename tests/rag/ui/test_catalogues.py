"""What every catalogue of the interface must hold to: it is all there, and set as its language is printed."""

from __future__ import annotations

import re
from importlib.resources import files

import pytest

from rag.ui.i18n import CONVENTIONS, LANGUAGES, read_po, words

OTHERS = [language for language in LANGUAGES if language != "en"]
SAME = {  # words that a language shares with English, on purpose; months are another matter
    "fr": {
        "Article {number}",
        "Articles",
        "Codes",
        "Collection",
        "Page",
        "Pages",
        "Questions",
        "Source",
        "Licence",
    }
    | {"Index", "national", "one article", "code {code}", "one minute", "One version"},
    "nl": {"Index", "Index: {name}, version {version}", "code {code}"},
    "de": {"Index", "System", "national", "regional", "Index: {name}, version {version}"},
    "it": {"no"},
    "zh": set(),
}
FORMULAS = {"{day} {month} {year}", "1 {month} {year}", "{count} ms", "{number}%"}
MONTHS = {"April", "August", "September", "November"}
PLURALS = {  # the rules of the Unicode Common Locale Data Repository, for whole numbers below a million
    "fr": "nplurals=2; plural=(n > 1);",
    "zh": "nplurals=1; plural=0;",
}
BUTTONS = (  # side by side, or in a row of tabs, on a screen of 360 pixels
    "Ask", "Compare", "Quality", "About", "Browse the codes", "Search", "Add to the list", "Print", "Stop",
    "Copied",
    "Find the articles", "Copy the citation", "Copy the link", "Write an answer", "Take it back",
    "Remove the filters", "Clear the search", "Official text", "Try again", "Continue",
    "Choose passages",
)  # fmt: skip
HAN = r"[\u4e00-\u9fff]"


def source(language: str) -> str:
    return files("rag.ui.locales").joinpath(f"{language}.po").read_text(encoding="utf-8")


CATALOGUES = {language: read_po(source(language)) for language in LANGUAGES}


def texts(language: str) -> dict[str, str]:
    """Every text of a catalogue, each plural form by itself, by its message and the number of the form."""
    return {
        f"{message}#{n}": form
        for message, forms in CATALOGUES[language].items()
        if message
        for n, form in enumerate(forms.split("\0"))
    }


def bare(text: str) -> str:
    """The text with a letter for what is filled in."""
    return re.sub(r"{\w+}", "X", text)


def wrong(language: str, pattern: str) -> list[str]:
    return [text for text in texts(language).values() if re.search(pattern, bare(text))]


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_header_names_the_language_and_its_plurals(language: str) -> None:
    header = CATALOGUES[language][""]
    rule = PLURALS.get(language, "nplurals=2; plural=(n != 1);")
    forms = int(re.search(r"nplurals=(\d)", rule)[1])  # type: ignore[index]

    assert f"Language: {language}\n" in header
    assert f"Plural-Forms: {rule}" in header
    for message, translation in CATALOGUES[language].items():
        if "\0" in message:
            assert len(translation.split("\0")) == forms, message


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_entry_is_translated_once_and_in_the_order_of_english(language: str) -> None:
    stated = re.findall(r'^msgid "(.+)"$', source(language), re.MULTILINE)
    english = re.findall(r'^msgid "(.+)"$', source("en"), re.MULTILINE)

    assert len(stated) == len(set(stated))
    assert stated == english  # so that two catalogues can be read side by side
    assert len(CATALOGUES[language]) == len(stated) + 1, "one is empty"


@pytest.mark.parametrize("language", OTHERS)
def test_nothing_is_left_in_english(language: str) -> None:
    english, own = texts("en"), texts(language)
    left = {
        key.split("#")[0].split("\0")[0]
        for key, text in own.items()
        if re.search(r"[a-z]{2}", bare(text)) and text in (english.get(key), key.split("#")[0])
    }

    assert left - FORMULAS - MONTHS <= SAME[language]


@pytest.mark.parametrize("language", LANGUAGES)
def test_marks_are_those_that_are_printed(language: str) -> None:
    assert not wrong(language, r"\.\.\.|\"|'|--|  |^\s|\s$"), "no typewriter's marks, no stray blanks"
    opening, closing = (mark.strip() for mark in CONVENTIONS[language].quotes)
    foreign = set("“”‘’„«»「」") - {opening, closing, "’"}  # the last one is an apostrophe as well
    assert not wrong(language, "[" + "".join(foreign) + "]")
    if opening != "‘":
        for text in texts(language).values():
            assert text.count(opening) == text.count(closing), text


def test_french_keeps_its_marks_on_the_line() -> None:
    nbsp, narrow = "\u00a0", "\u202f"

    assert not wrong("fr", f"(?<![{nbsp}]):|(?<![{narrow}])[;!?]|«(?!{nbsp})|(?<!{nbsp})»")
    assert not [text for text in texts("fr").values() if re.search(f"(?<!{narrow})%", text)]
    assert not wrong("fr", r"\b(tu|ton|tes|toi)\b")


def test_german_keeps_its_numbers_on_the_line_and_is_polite() -> None:
    assert not [text for text in texts("de").values() if re.search("(?<!\u00a0)%", text)]
    assert not wrong("de", r"\b(du|dein|deine|dir|dich)\b")


def test_dutch_is_polite() -> None:
    assert not wrong("nl", r"\b(je|jij|jouw|jullie)\b")


def test_italian_is_polite_outside_of_buttons() -> None:
    assert not wrong("it", r"\b(tu|tuo|tua|tuoi|tue|ti)\b|\b[Pp]uoi\b|\b[Hh]ai\b")
    assert not wrong("it", r"\b(perchè|poichè|né’|pò|sè|E')\b")


def test_chinese_has_full_width_marks_and_no_blank_beside_them() -> None:
    texts_ = [re.sub(r"{(language|day|month|year|about|article)}", "字", t) for t in texts("zh").values()]
    for text in texts_:
        assert not re.search(f"{HAN}[,.:;!?()]|[,;:!?()]{HAN}", text), text
        assert not re.search(r"\s[，。：；！？（）、“”]|[，。：；！？（）、]\s", text), text
        assert not re.search(f"{HAN} {HAN}", text), text
        assert "你" not in text, text
        assert not re.search("(?<!…)…(?!…)", text), "an ellipsis is two signs long"
        assert not re.search("[體國說與對條問題這個]", text), text


@pytest.mark.parametrize("language", OTHERS)
def test_a_sentence_ends_as_the_english_one_does(language: str) -> None:
    ends = {".": ".。", "?": "?？", ":": ":：", "…": "…"}
    english = texts("en")
    for key, text in texts(language).items():
        last = english.get(key, "")[-1:]
        if last in ends:
            assert text[-1] in ends[last] + "。？", (key, text)


@pytest.mark.parametrize("language", OTHERS)
def test_no_text_is_much_longer_than_its_english(language: str) -> None:
    english, own = texts("en"), texts(language)
    for key, text in own.items():
        said = english.get(key) or key
        assert len(bare(text)) <= 2 * len(bare(said)) + 16, (text, said)
    for label in BUTTONS:
        assert len(words(language)(label)) <= 28, label  # 28 letters of 16 pixels take 270


def test_every_button_is_a_message() -> None:
    assert set(BUTTONS) <= set(CATALOGUES["en"])
