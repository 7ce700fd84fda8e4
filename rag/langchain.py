"""Pandect for LangChain: an engine as a retriever, and as a tool that an agent may call.

    from rag.langchain import PandectRetriever, tool

`langchain-core` (extra [llm]) is imported when one of them is first asked for, so that importing this
module needs nothing that the base install does not have.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from rag.errors import MissingExtra, install_hint
from rag.types import Filter

if TYPE_CHECKING:
    from langchain_core.tools import BaseTool

    from rag.corpus.card import CorpusCard
    from rag.engine.engine import Engine
    from rag.engine.result import Result
    from rag.types import Article, Shown

DESCRIPTION = """\
Finds the articles of law that answer a legal question, best first. Law: {title}{date}. \
Ask in plain words, in the language of this law ({language}), one question at a time; an article can be \
asked for by its number. Read "notices" first: they say when probably no article answers, or when another \
law governs. Then do not answer from the articles as if they did. Cite articles by code and number, \
and quote them; texts of the kind "summary" are unofficial summaries, not the wording of the law. The \
articles are legal information, not advice."""


@cache
def __getattr__(name: str) -> Any:  # noqa: ANN401 - the class is made when it is first asked for
    """Return PandectRetriever; without langchain-core it is `MissingExtra`."""
    if name != "PandectRetriever":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        from langchain_core.documents import Document
        from langchain_core.retrievers import BaseRetriever
    except ImportError as error:
        raise MissingExtra(
            f"a LangChain retriever needs langchain-core: run {install_hint('llm')}"
        ) from error

    class PandectRetriever(BaseRetriever):  # type: ignore[misc]  # LangChain is not looked into
        """The articles that an engine shows for a question, as documents; asynchronous in a thread."""

        __qualname__ = "PandectRetriever"

        engine: Any  # a rag.engine.engine.Engine, such as indexes.open() returns
        k: int = 10  # articles at most
        where: Filter | None = None  # which articles may be shown

        def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:  # noqa: ANN401
            result = self.engine.ask(query, k=self.k, where=self.where)
            return [
                Document(content(s.article), id=s.article.id, metadata=metadata(s, result, self.engine.card))
                for s in result.shown
            ]

    return PandectRetriever


def content(article: Article) -> str:
    """Return the text of an article; where nobody has summarised it, its place in the law."""
    return article.text or " › ".join((article.code, *article.headings, article.article_no))


def metadata(shown: Shown, result: Result, card: CorpusCard) -> dict[str, Any]:
    """Return what is known of a shown article of a result, of JSON's types."""
    article, why = shown.article, shown.why
    return {
        "id": article.id,
        "code": article.code,
        "article_no": article.article_no,
        "headings": list(article.headings),
        "url": article.url,
        "official_page": card.official_page(article.code, article.url)[0],  # of its code where it has none
        "valid_from": article.valid_from.isoformat() if article.valid_from else None,
        "valid_to": article.valid_to.isoformat() if article.valid_to else None,
        "law_date": day.isoformat() if (day := card.dated(article.code)) else None,
        "rank": shown.rank,
        "score": shown.score,
        "reason": sorted(why.terms),  # stems of the question that stand in the article
        "asked": list(why.asked),  # annotated questions like this one that cite it
        "named": why.known,  # the question names this article by its number
        "confidence": result.confidence,  # that one of the first ten answers; None: not calibrated
        "doubtful": result.doubtful,
        "licence": card.licence,
        "source": card.source,
        "text_kind": card.text_kind if article.text else "none",  # nobody has summarised it
    }


def tool(engine: Engine, *, k: int = 10, where: Filter | None = None, name: str = "search_law") -> BaseTool:
    """Return a tool, `name` to the model, that answers a question with articles and notices, JSON-able.

    At most `k` articles are returned, of those that `where` admits. Without langchain-core it is
    `MissingExtra`.
    """
    try:
        from langchain_core.tools import StructuredTool
    except ImportError as error:
        raise MissingExtra(f"a LangChain tool needs langchain-core: run {install_hint('llm')}") from error

    def search(question: str) -> dict[str, Any]:
        """Find the articles that answer a question."""
        return as_tool_output(engine.ask(question, k=k, where=where), engine.card)

    card = engine.card
    date = f", as of {' to '.join(day.isoformat() for day in card.law_dates())}" if card.law_dates() else ""
    description = DESCRIPTION.format(title=card.title, date=date, language=card.language)
    made: BaseTool = StructuredTool.from_function(search, name=name, description=description)
    return made


def as_tool_output(result: Result, card: CorpusCard) -> dict[str, Any]:
    """Return a result as a tool's output: notices first, then the articles with their texts."""
    notices = []  # what an agent must know before it reads the articles, in English
    if result.status == "empty":
        notices.append("The question was empty.")
    if result.status == "nothing":
        notices.append("No article was found.")
    if result.doubtful:
        notices.append("Probably none of these articles answers the question.")
    for topic in result.elsewhere:
        title = topic.title.get("en") or next(iter(topic.title.values()), topic.id)
        explained = topic.explain.get("en") or next(iter(topic.explain.values()), "")
        where = f" See {topic.url}" if topic.url else ""
        notices.append(f"Another law governs {title}: {topic.law}. {explained}{where}".rstrip())
    for item in result.known:
        if not item.found:
            notices.append(f"No article of this law bears the number that was asked for: {item.reference}.")
        for row in item.moved:
            notices.append(f"What was {row.code} {row.old} now stands in {', '.join(row.new)}.")
    notices += [f"{m.typed!r} was read as {m.read!r}." for m in result.mended]
    if unread := [shown.article.id for shown in result.shown if not shown.article.text]:
        notices.append(f"No text is here of {', '.join(unread)}: read the official page before citing them.")
    articles = [{**metadata(shown, result, card), "text": shown.article.text} for shown in result.shown]
    return {"status": result.status, "notices": notices, "articles": articles}
