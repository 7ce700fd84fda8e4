from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest

from rag.ui.html import Html, join, link, paragraphs, plain_label, rows, tag, telephone, web_address
from tests.fakes.pages.html_reader import read

# Carriage returns and lone surrogates are left out: parsers read them in their own ways, and never as markup.
PLAIN = st.text(st.characters(exclude_categories=["Cs", "Cc"])) | st.sampled_from(
    [
        "<script>alert(1)</script>",
        "</p><img src=x onerror=alert(1)>",
        "&lt;b&gt;",
        "a\x00\x07b",
        "\"'><b>",
        "<!-- ",
        "article \u202e2421\u202c \u2066x\u2069",
    ]
)


TAKEN_OUT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u202a-\u202e\u2066-\u2069]")


@given(PLAIN, PLAIN)
def test_whatever_the_text_it_stays_text(text: str, value: str) -> None:
    root = read(tag("p", "a ", text, tag("mark", text), title=value, lang=value))
    shown = TAKEN_OUT.sub("", text)

    [p] = root.children
    assert [child.name for child in p.children] == ["mark"]
    assert p.text == f"a {shown}{shown}"
    assert set(p.attributes) == {"title", "lang"}
    assert p.attributes["title"] == TAKEN_OUT.sub("", value)


def test_only_html_passes_as_it_is() -> None:
    assert join("<b>", Html("<i>x</i>")) == "&lt;b&gt;<i>x</i>"
    assert isinstance(tag("p", "x"), Html)
    assert (
        tag("button", "x", class_="a", data_copy="b", aria_label=None)
        == '<button class="a" data-copy="b">x</button>'
    )


@pytest.mark.parametrize("url", ["https://law.example/a?b=1&c=2#d", "http://law.example"])
def test_an_http_address_becomes_a_link(url: str) -> None:
    anchor = read(link(url, "<the law>")).one("a")

    assert anchor.attributes == {"href": url, "target": "_blank", "rel": "noopener noreferrer"}
    assert anchor.text == "<the law>"


@pytest.mark.parametrize(
    "url",
    [
        None, "", "javascript:alert(1)", "JaVaScRiPt:alert(1)", " https://law.example",
        "java\nscript:alert(1)", "data:text/html,x", "//law.example", "/local", "https://", "http://[",
        "ftp://law.example", "https://a b", "https://law.example/\u202etxt",
    ],
)  # fmt: skip
def test_any_other_address_is_left_out(url: str | None) -> None:
    assert web_address(url) is None
    assert link(url, "<law>") == "&lt;law&gt;"


def test_rows_and_paragraphs() -> None:
    assert rows([("a", "<b>")]) == "<dl><dt>a</dt><dd>&lt;b&gt;</dd></dl>"
    assert paragraphs("one\n\n <two> \n") == "<p>one</p><p>&lt;two&gt;</p>"


@given(st.text(alphabet="ab *_`[]()<>$:#!\\|~\n-+&@/.{}"))
def test_no_markdown_is_left_in_a_label(text: str) -> None:
    label = plain_label(text)

    assert "\n" not in label
    assert not re.search(r"(?<!\\)(?:\\\\)*[*_`\[\]()<>$:#]", label)
    assert re.sub(r"\\(.)", r"\1", label) == re.sub(
        r" (?=[!:])", "\u202f", re.sub(r"[ \n]+", " ", text).strip()
    )


def test_a_text_keeps_its_margin_on_the_page() -> None:
    def app() -> None:
        import streamlit as st

        from rag.ui.html import tag

        st.html(tag("pre", "a\n    b\n    c"))

    [block] = AppTest.from_function(app).run().html
    assert block.body == "<pre>a\n    b\n    c</pre>"


@pytest.mark.parametrize("asked", ["que faire ?", "que faire\u202f?"])
def test_a_french_mark_does_not_begin_a_line(asked: str) -> None:
    assert plain_label(asked) == "que faire\u202f?"


@pytest.mark.parametrize(
    ("number", "dialled"), [("09 69 39 00 00", "tel:0969390000"), ("+32 (0)2 123.45/67", "tel:+32021234567")]
)
def test_a_telephone_number_can_be_dialled(number: str, dialled: str) -> None:
    link = read(telephone(number)).one("a")
    assert (link.text, link.attributes["href"]) == (number, dialled)


@pytest.mark.parametrize("text", ["", "appelez le 17", "<img src=x onerror=alert(1)>", "javascript:1"])
def test_what_is_no_telephone_number_is_text(text: str) -> None:
    assert not read(telephone(text)).all("a")
    assert read(telephone(text)).text == text
