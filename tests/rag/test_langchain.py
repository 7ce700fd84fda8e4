"""The engine as LangChain sees it: a retriever, and a tool."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
from typing import Any

import pytest

import indexes
from rag.api.result import ask, found
from rag.engine.engine import Engine
from rag.errors import StoreUnavailable
from rag.types import Filter
from tests.fakes.pages.ui_engine import FakeEngine, many_laws
from tests.paths import ROOT

pytest.importorskip("langchain_core", reason="langchain-core is not installed: pip install '.[llm]'")

from rag.langchain import PandectRetriever, as_tool_output, content, metadata, tool

TREE = "Mon voisin a planté un arbre contre ma clôture, que faire ?"
TAX = "combien d'impôt sur le revenu vais-je payer"


@pytest.fixture(scope="module")
def engine() -> Engine:
    return indexes.open("builtin")


@pytest.mark.slow
def test_documents_are_the_articles_that_the_engine_shows(engine: Engine) -> None:
    result = engine.ask(TREE, k=4)
    documents = PandectRetriever(engine=engine, k=4).invoke(TREE)
    assert [d.id for d in documents] == [s.article.id for s in result.shown]
    assert [d.page_content for d in documents] == [s.article.text for s in result.shown]
    first, shown = documents[0].metadata, result.shown[0]
    assert first["article_no"] == shown.article.article_no
    assert first["code"] == "Code civil"
    assert first["headings"] == list(shown.article.headings)
    assert first["url"].startswith("https://www.legifrance.gouv.fr/")
    assert (first["rank"], first["score"]) == (1, shown.score)
    assert first["reason"] == sorted(shown.why.terms)
    assert first["confidence"] == result.confidence
    assert first["law_date"] == "2025-01-01"  # of the Code civil; other codes have other dates
    assert first["text_kind"] == "summary"
    assert "CC BY 4.0" in first["licence"]
    assert json.loads(json.dumps(first)) == first


def test_an_article_that_nobody_has_summarised_is_told_and_not_empty() -> None:
    engine: Any = many_laws()
    result = found(ask(engine, "un arbre voisin planté"), engine)
    last = result.articles[-1]

    assert content(last) == "Code des jeux › Titre 5 : De l'arbre › L5"
    known = metadata(last, result)
    assert (known["text_kind"], known["url"]) == ("none", None)
    assert (known["official_page"], known["law_date"]) == ("https://law.example/code/5", "2025-03-15")
    told = as_tool_output(result)
    assert told["articles"][-1]["text"] == ""
    assert told["notices"] == ["No text is here of x5: read the official page before citing them."]


def test_asked_asynchronously_and_in_a_batch(engine: Engine) -> None:
    retriever = PandectRetriever(engine=engine, k=3)
    documents = asyncio.run(retriever.ainvoke(TREE))
    assert documents == retriever.invoke(TREE)
    assert retriever.batch([TREE, "   "]) == [documents, []]


def test_a_part_that_does_not_answer_is_told_by_each_document() -> None:
    whole, part = FakeEngine(), FakeEngine(missing=("shard 2 of 3",))
    for engine, told in ((whole, False), (part, True)):
        documents = PandectRetriever(engine=engine).invoke("un arbre voisin")
        assert {d.metadata["missing"] for d in documents} == {told}
    assert PandectRetriever(engine=whole).invoke("xylophone") == []
    with pytest.raises(StoreUnavailable, match=r"shard 2 of 3 of the law did not answer"):
        PandectRetriever(engine=part).invoke("xylophone")


def test_a_filter_holds(engine: Engine) -> None:
    nowhere = PandectRetriever(engine=engine, where=Filter(codes=frozenset({"Code du vent"})))
    assert nowhere.invoke(TREE) == []


def test_it_is_a_retriever_like_any_other(engine: Engine) -> None:
    from langchain_core.retrievers import BaseRetriever
    from langchain_core.runnables import RunnableLambda

    import rag.langchain

    assert issubclass(PandectRetriever, BaseRetriever)
    assert rag.langchain.PandectRetriever is PandectRetriever  # one class, however often it is asked for
    assert (PandectRetriever.__module__, PandectRetriever.__qualname__) == (
        "rag.langchain",
        "PandectRetriever",
    )
    chain = PandectRetriever(engine=engine, k=2) | RunnableLambda(len)
    assert chain.invoke(TREE) == 2
    with pytest.raises(AttributeError, match="no attribute 'Missing'"):
        rag.langchain.Missing  # noqa: B018


def called(of: Any, question: str) -> dict[str, Any]:
    found: dict[str, Any] = of.invoke({"question": question})
    assert json.loads(json.dumps(found)) == found
    return found


def test_a_tool_says_what_it_is_and_returns_articles(engine: Engine) -> None:
    made = tool(engine, k=2)
    assert made.name == "search_law"
    assert "Le droit de tous les jours" in made.description
    assert "2026-03-27" in made.description
    assert list(made.args) == ["question"]
    found = called(made, TREE)
    assert found["status"] == "found"
    assert [a["rank"] for a in found["articles"]] == [1, 2]
    assert found["articles"][0]["text"] == engine.ask(TREE, k=2).shown[0].article.text


def test_an_agent_is_told_when_nothing_fits(engine: Engine) -> None:
    made = tool(engine)
    assert any(
        "Another law governs" in n and "Code général des impôts" in n for n in called(made, TAX)["notices"]
    )
    doubtful = called(made, "Comment cuire des pâtes al dente ?")["notices"]
    assert "Probably none of these articles answers the question." in doubtful
    assert called(made, "  ") == {"status": "empty", "notices": ["The question was empty."], "articles": []}
    assert any("bears the number" in n for n in called(made, "article 99999 du Code civil")["notices"])
    assert any("now stands in" in n for n in called(made, "ancien article 1382 du code civil")["notices"])


@pytest.mark.slow
@pytest.mark.parametrize("document", ["docs/host.md"])
def test_the_lines_of_the_documents_run(document: str) -> None:
    text = (ROOT / document).read_text(encoding="utf-8")
    [block] = [b for b in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if "rag.langchain" in b]
    names: dict[str, Any] = {}
    exec(block, names)  # noqa: S102 - what the reader would type
    assert {"671", "672"} & {d.metadata["article_no"] for d in names["documents"]}
    assert names["search_law"].name == "search_law"


def test_without_langchain_the_extra_is_named() -> None:
    code = (
        "import sys\nsys.modules['langchain_core'] = None\nimport rag.langchain\n"
        "for make in (lambda: rag.langchain.PandectRetriever, lambda: rag.langchain.tool(None)):\n"
        "    try:\n        make()\n    except rag.errors.MissingExtra as error:\n        print(error)\n"
    )
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert len(re.findall(r"langchain-core: run (?:\./pandect llm|pip install '\.\[llm\]')", run.stdout)) == 2
