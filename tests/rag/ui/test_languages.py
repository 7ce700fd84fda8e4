"""Every page, in every language of the interface."""

from __future__ import annotations

import re

import pytest

from rag.ui.i18n import CONVENTIONS
from tests.fakes.pages.any_page_driver import open_page
from tests.fakes.pages.ask_page_driver import body
from tests.fakes.pages.ui_engine import QUESTION, FakeEngine
from tests.rag.ui.pages.test_quality import MEASURED

ENGINE = FakeEngine()


@pytest.mark.slow
@pytest.mark.parametrize("language", CONVENTIONS)
def test_every_page_is_drawn_in_every_language(language: str) -> None:
    app = open_page("ask", ENGINE, asked=QUESTION, lang=language)
    scripts = [block.body for block in app.html if block.body.startswith("<script")]

    assert f'documentElement.lang = "{CONVENTIONS[language].tag}"' in scripts[0]
    [law, *_] = [e for e in body(app).all("div") if e.attributes.get("lang") == "fr"]
    assert law.all(class_="pd-passage")  # the law keeps its own language
    for name, query in (("beside", {"articles": "671"}), ("browse", {"article": "671"})):
        said = body(open_page(name, ENGINE, results=MEASURED, lang=language, **query)).text
        assert not re.search(r"{\w+}", said)
