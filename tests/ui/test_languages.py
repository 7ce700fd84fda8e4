"""Every page, in every language of the interface."""

from __future__ import annotations

import re

import pytest
from any_page_driver import open_page
from page_driver import body, checked
from page_fakes import QUESTION, FakeEngine
from test_quality import MEASURED

from rag.ui.conventions import CONVENTIONS

ENGINE = FakeEngine()


@pytest.mark.parametrize("language", CONVENTIONS)
def test_every_page_is_drawn_in_every_language(language: str) -> None:
    app = open_page("ask", ENGINE, results=MEASURED, lang=language)
    app.text_area(key="question").set_value(QUESTION)
    checked(app.button(key="FormSubmitter:ask-" + app.button[0].label).click().run())
    scripts = [block.body for block in app.html if block.body.startswith("<script")]

    assert f'documentElement.lang = "{CONVENTIONS[language].tag}"' in scripts[0]
    [law, *_] = [e for e in body(app).all("div") if e.attributes.get("lang") == "fr"]
    assert law.all(class_="pd-passage")  # the law keeps its own language
    for name in ("browse", "quality", "about", "sheet"):
        app.session_state["page"] = name
        app.query_params["articles"] = "671"
        said = body(checked(app.run())).text
        assert not re.search(r"{\w+}", said)
