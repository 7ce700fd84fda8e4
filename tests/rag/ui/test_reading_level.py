"""How hard our own texts are to read: LIX (Björnsson 1968), which is made for several languages.

`pytest -s tests/rag/ui/test_reading_level.py` prints the table of docs/pages.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.resources import files

import pytest

from rag.ui.i18n import LANGUAGES, read_po

LONG = 6  # letters: a word of more is a long one
EASY = 40  # LIX: up to 40 easy, up to 50 as newspapers write
MOST_WORDS = 28  # of one sentence; guides to plain language ask for 15 to 20 on average
LEAST_WORDS = 5  # a text of fewer is a label, and no sentence
SPACELESS = ("zh",)  # written without spaces: LIX cannot be told, so letters are counted
MOST_LETTERS = 45  # of a sentence without spaces: 28 words of some 1.6 letters each
LEAST_LETTERS = 8  # as five words


def texts(language: str) -> list[str]:
    """The texts that are sentences, as people read them."""
    source = files("rag.ui.locales").joinpath(f"{language}.po").read_text(encoding="utf-8")
    forms = (form for text in read_po(source).values() for form in text.split("\0"))
    return [text for text in forms if len(words(text)) >= LEAST_WORDS]


def words(text: str) -> list[str]:
    """The words of a text; an elided one (l’article) is two, and what is filled in is a short one."""
    return re.findall(r"[^\W\d_]+", re.sub(r"{\w+}", "x", text))


def sentences(text: str) -> Iterator[str]:
    """The sentences of a text; a colon ends one too, as in LIX."""
    for sentence in re.split(r"[.!?:…]+(?=\s|$)", text):
        if words(sentence):
            yield sentence


def lix(parts: list[str]) -> float:
    """Words a sentence, and long words of a hundred."""
    said = [word for part in parts for word in words(part)]
    count = sum(1 for part in parts for _ in sentences(part))
    return len(said) / count + 100 * sum(len(word) > LONG for word in said) / len(said)


def test_lix_worked_by_hand() -> None:
    # 10 words in 2 sentences, of which "articles" and "question" are long: 5 + 20
    assert lix(["The articles are here. Ask your question, and read on."]) == pytest.approx(25)
    assert list(sentences("Read: one. Two…")) == ["Read", " one", " Two"]
    assert words("l’article {count}") == ["l", "article", "x"]


@pytest.mark.parametrize("language", [language for language in LANGUAGES if language not in SPACELESS])
def test_our_own_texts_are_easy_to_read(language: str) -> None:
    ours = texts(language)
    longest = sorted(
        ((len(words(sentence)), sentence.strip()) for text in ours for sentence in sentences(text)),
        reverse=True,
    )
    mean = sum(count for count, _ in longest) / len(longest)
    print(f"{language}: {len(longest)} sentences of {mean:.1f} words, LIX {lix(ours):.1f}")  # noqa: T201 - with -s
    for count, sentence in longest[:8]:
        print(f"   {count}: {sentence}")  # noqa: T201

    assert lix(ours) <= EASY
    assert [sentence for count, sentence in longest if count > MOST_WORDS] == []


def letters(text: str) -> int:
    """Letters of a text without marks; what is filled in, and a word in Latin letters, counts as two."""
    return sum(
        2 if word.isascii() else len(word)
        for word in re.findall(r"[a-zA-Z]+|[^\W\d_a-zA-Z]+", re.sub(r"{\w+}", "x", text))
    )


def spaceless(text: str) -> list[int]:
    """Letters of each sentence of a text; a colon ends one too, as in LIX."""
    return [count for sentence in re.split(r"[。！？：…]+", text) if (count := letters(sentence))]


def test_letters_counted_by_hand() -> None:
    assert spaceless("请提问：按 Enter 键发送，共{count}个。好！") == [3, 10, 1]


@pytest.mark.parametrize("language", SPACELESS)
def test_our_own_texts_without_spaces_have_short_sentences(language: str) -> None:
    source = files("rag.ui.locales").joinpath(f"{language}.po").read_text(encoding="utf-8")
    read = read_po(source)
    ours = [text for key, text in read.items() if key and letters(text) >= LEAST_LETTERS]
    counted = sorted(((count, text) for text in ours for count in spaceless(text)), reverse=True)
    mean = sum(count for count, _ in counted) / len(counted)
    print(f"{language}: {len(counted)} sentences of {mean:.1f} letters")  # noqa: T201
    for count, text in counted[:8]:
        print(f"   {count}: {text}")  # noqa: T201

    assert len(counted) > 300
    assert counted[0][0] <= MOST_LETTERS
