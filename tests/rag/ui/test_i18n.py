from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from datetime import date
from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.errors import BadInput
from rag.ui.i18n import LANGUAGES, Interface, choose, read_po, words
from tests.paths import ROOT

SOURCES = [
    *sorted((ROOT / "rag" / "ui").rglob("*.py")),
    ROOT / "app.py",
    ROOT / "rag" / "answer" / "generation" / "errors.py",  # shown by the page, in the reader's language
]


def catalogue(language: str) -> dict[str, str]:
    return read_po(files("rag.ui.locales").joinpath(f"{language}.po").read_text(encoding="utf-8"))


def messages(source: str) -> Iterator[str]:
    """Every message that a source has translated: t("…"), self("…"), N_("…") and t.n("…", "…", …)."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        match node.func, node.args:
            case ast.Name(id="t" | "N_" | "self"), [ast.Constant(value=str(message)), *_]:
                yield message
            case ast.Attribute(value=ast.Name(id="t"), attr="n"), [
                ast.Constant(value=one),
                ast.Constant(value=many),
                *_,
            ]:
                yield f"{one}\0{many}"


USED = {message for path in SOURCES for message in messages(path.read_text(encoding="utf-8"))}


def test_the_reader_of_sources_sees_every_form() -> None:
    assert set(messages('t("a", x=1); N_("b"); t.n("c", "d", 2); other("e"); t(name)')) == {"a", "b", "c\0d"}
    assert len(USED) > 80


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_message_is_missing_and_none_is_unused(language: str) -> None:
    known = set(catalogue(language)) - {""}

    assert not USED - known, "missing: add them to the catalogue"
    assert not known - USED, "unused: remove them from the catalogue"


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_translation_fills_in_what_its_message_does_and_holds_no_markup(language: str) -> None:
    for message, translation in catalogue(language).items():
        forms = message.split("\0"), translation.split("\0")
        needed = {frozenset(re.findall(r"{(\w+)}", form)) for form in forms[0]}
        for form in forms[1] if message else []:
            assert frozenset(re.findall(r"{(\w+)}", form)) in needed, form
            assert not re.search(r"[<>&*`]|\{\}", form), form


def test_every_language_has_a_catalogue_and_every_catalogue_a_language() -> None:
    found = {path.name for path in (ROOT / "rag" / "ui" / "locales").glob("*.po")}

    assert found == {f"{language}.po" for language in LANGUAGES}


def test_words_are_filled_in_and_counted() -> None:
    t = words("fr")

    assert t("Article {number}", number="{x}") == "Article {x}"  # what is filled in is not looked into
    assert t.n("one article", "{count} articles", 1) == "un article"
    assert t.n("one article", "{count} articles", 2889) == "2\u202f889 articles"
    assert words("en").n("one article", "{count} articles", 2889) == "2,889 articles"
    assert words("de").n("one article", "{count} articles", 2889) == "2.889 Vorschriften"
    assert words("zh").n("one article", "{count} articles", 1) == "1 条"  # one form for every number


def test_italian_days_that_begin_with_a_vowel_take_an_apostrophe() -> None:
    t = words("it")
    said = [t("in force since {day}", day=t.day(date(2025, 3, day))) for day in (1, 8, 11, 18)]

    assert said == [f"in vigore {day} marzo 2025" for day in ("dal 1º", "dall’8", "dall’11", "dal 18")]
    assert words("fr")("in force since {day}", day="8 mars 2025").endswith("depuis le 8 mars 2025")


@pytest.mark.parametrize(
    ("language", "number", "decimal", "listed", "aside"),
    [
        ("fr", "55\u202f192", "1\u202f234,50", "a, b", "a (b)"),
        ("nl", "55.192", "1.234,50", "a, b", "a (b)"),
        ("en", "55,192", "1,234.50", "a, b", "a (b)"),
        ("de", "55.192", "1.234,50", "a, b", "a (b)"),
        ("it", "55.192", "1.234,50", "a, b", "a (b)"),
        ("zh", "55,192", "1,234.50", "a、b", "a（b）"),
    ],
)
def test_numbers_and_lists_by_language(
    language: str, number: str, decimal: str, listed: str, aside: str
) -> None:
    t = words(language)

    assert t.number(55192) == number
    assert t.decimal(1234.5, 2) == decimal
    assert t.listed(["a", "b"]) == listed
    assert t.with_note("a", "b") == aside


def test_no_fraction_leaves_no_decimal_sign() -> None:
    assert words("fr").decimal(1234.5, 0) == "1\u202f234"


def test_sentences_stand_apart_but_in_chinese() -> None:
    assert words("it").sentences("Uno.", "", "Due.") == "Uno. Due."
    assert words("zh").sentences("一。", "二。") == "一。二。"


@pytest.mark.parametrize(
    ("language", "day", "said"),
    [
        ("fr", date(2025, 1, 1), "1er janvier 2025"),
        ("fr", date(2016, 10, 12), "12 octobre 2016"),
        ("en", date(2025, 1, 1), "1 January 2025"),
        ("nl", date(2025, 3, 1), "1 maart 2025"),
        ("de", date(2025, 3, 1), "1.\u00a0März 2025"),
        ("de", date(2025, 12, 31), "31.\u00a0Dezember 2025"),
        ("it", date(2025, 8, 1), "1º agosto 2025"),
        ("it", date(2025, 8, 2), "2 agosto 2025"),
        ("zh", date(2025, 1, 1), "2025年1月1日"),
        ("zh", date(2025, 10, 12), "2025年10月12日"),
        ("en", date(2020, 2, 29), "29 February 2020"),
    ],
)
def test_days_in_words(language: str, day: date, said: str) -> None:
    assert words(language).day(day) == said
    assert words(language).iso_day(day.isoformat()) == said
    assert words(language).iso_day(f"{day.isoformat()}T10:00:00+00:00") == said


def test_what_is_no_date_stays_as_it_came() -> None:
    assert words("fr").iso_day("about 2016") == "about 2016"


@pytest.mark.parametrize(
    ("asked", "browser", "corpus", "language"),
    [
        ("en", "fr-FR", "fr", "en"),
        (None, "fr-BE", "nl", "fr"),
        (None, "en_GB", "fr", "en"),
        (None, "es-ES", "fr", "fr"),
        (None, None, "fr", "fr"),
        (None, "es-ES", "la", "en"),
        (None, None, None, "en"),
        ("<script>", "fr", None, "fr"),
        ("../../etc", None, None, "en"),
        ("FR", None, None, "fr"),
    ],
)
def test_the_language_is_chosen(
    asked: str | None, browser: str | None, corpus: str | None, language: str
) -> None:
    assert choose(asked, browser, corpus) == language


def test_a_catalogue_is_read_with_its_comments_escapes_and_long_lines() -> None:
    source = '# c\n\nmsgid ""\nmsgstr ""\n"Language: fr\\n"\nmsgid "a \\"b\\""\n  "c"\nmsgstr "é\\n"\n"d"\n'

    assert read_po(source) == {"": "Language: fr\n", 'a "b"c': "é\nd"}


def test_an_untranslated_message_is_left_out() -> None:
    plural = 'msgid "c"\nmsgid_plural "d"\nmsgstr[0] "C"\nmsgstr[1] ""\n'

    assert read_po(f'msgid "a"\nmsgstr ""\n{plural}msgid "e"\nmsgstr "E"\n') == {"e": "E"}


@pytest.mark.parametrize(
    "line", ["nonsense", 'msgid "open', '"before any keyword"', "msgid 'a'", 'msgctxt "a"']
)
def test_a_broken_catalogue_says_where(line: str) -> None:
    with pytest.raises(BadInput, match=r"fr\.po, line 1: got .*expected msgid"):
        read_po(line, "fr.po")


def quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\r", "\\r")
    return f'"{escaped}"'


TEXT = st.text(
    st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]) | st.sampled_from('\n\\"'), min_size=1
)


@given(st.dictionaries(TEXT, TEXT))
def test_what_is_written_is_read_and_served(entries: dict[str, str]) -> None:
    entries = {key: value.replace("{", "{{").replace("}", "}}") for key, value in entries.items()}
    source = "\n".join(f"msgid {quoted(key)}\nmsgstr {quoted(value)}\n" for key, value in entries.items())
    served = Interface("en", read_po(source), lambda count: int(count != 1))

    assert read_po(source) == entries
    assert all(served(key) == value.format() for key, value in entries.items())
