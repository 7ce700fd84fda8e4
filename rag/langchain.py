"""Pandect for LangChain: an engine, or a client of one, as a retriever and as a tool that an agent may call.

    from rag.langchain import PandectRetriever, tool

`langchain-core` (extra [llm]) is imported when one of them is first asked for, so that importing this
module needs nothing that the base install does not have.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Protocol

from rag.api.result import Found, FoundArticle, Person, Topics, ask, found, plain, topics
from rag.errors import MissingExtra, StoreUnavailable, install_hint
from rag.types import Filter

if TYPE_CHECKING:
    from langchain_core.tools import BaseTool

    from rag.engine.engine import Engine


class Client(Protocol):
    """What asks an engine elsewhere, such as `rag.api.client.Client`."""

    def search(self, question: str, *, k: int = 10, where: Filter | None = None) -> Found:
        """Return what the engine finds."""

    def topics(self) -> Topics:
        """Return which law it searches."""


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
        """The articles that an engine shows for a question, as documents; asynchronous in a thread.

        Metadata say `"missing": True` where a part of the law did not answer: better ones may be left out.
        Where nothing is found because of that, it raises `StoreUnavailable`.
        """

        __qualname__ = "PandectRetriever"

        engine: Any  # a rag.engine.engine.Engine, such as indexes.open() returns, or a `Client`
        k: int = 10  # articles at most
        where: Filter | None = None  # which articles may be shown

        def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:  # noqa: ANN401
            result = search(self.engine, query, self.k, self.where)
            if not result.articles and (silent := _silent(result)):  # no document could say so
                raise StoreUnavailable(silent)
            return [Document(content(a), id=a.id, metadata=metadata(a, result)) for a in result.articles]

    return PandectRetriever


def search(source: Engine | Client, question: str, k: int, where: Filter | None) -> Found:
    """Return what an engine finds, here or by a client."""
    engine: Any = source
    if hasattr(source, "ask"):
        return found(ask(engine, question, k=k, where=where), engine)
    result: Found = engine.search(question, k=k, where=where)
    return result


def content(article: FoundArticle) -> str:
    """Return the text of an article; where nobody has summarised it, its place in the law."""
    return article.text or " › ".join((article.code, *article.headings, article.article_no))


def metadata(article: FoundArticle, result: Found) -> dict[str, Any]:
    """Return what is known of an article of a result, of JSON's types."""
    known: dict[str, Any] = plain(article)
    del known["text"], known["href"]
    unsure = {"doubtful": result.doubtful, "missing": bool(_silent(result))}
    return known | {"confidence": result.confidence, **unsure}


def _silent(result: Found) -> str:
    """Return what is said where a part of the law did not answer, else nothing."""
    return " ".join(notice.text for notice in result.notices if notice.kind == "part missing")


def tool(
    engine: Engine | Client, *, k: int = 10, where: Filter | None = None, name: str = "search_law"
) -> BaseTool:
    """Return a tool, `name` to the model, that answers a question with articles and notices, JSON-able.

    At most `k` articles are returned, of those that `where` admits. Without langchain-core it is
    `MissingExtra`.
    """
    try:
        from langchain_core.tools import StructuredTool
    except ImportError as error:
        raise MissingExtra(f"a LangChain tool needs langchain-core: run {install_hint('llm')}") from error

    def find(question: str) -> dict[str, Any]:
        """Find the articles that answer a question."""
        return as_tool_output(search(engine, question, k, where))

    source: Any = engine
    law: Topics = topics(source) if hasattr(source, "ask") else source.topics()
    days = [day.isoformat() for day in (law.first_law_date, law.last_law_date) if day is not None]
    date = f", as of {' to '.join(dict.fromkeys(days))}" if days else ""
    description = DESCRIPTION.format(title=law.title, date=date, language=law.language)
    made: BaseTool = StructuredTool.from_function(find, name=name, description=description)
    return made


def as_tool_output(result: Found) -> dict[str, Any]:
    """Return a result as a tool's output: notices first, then the articles with their texts."""
    notices = [" ".join((n.text, *(_called(person) for person in n.people))) for n in result.notices]
    articles = [{**metadata(article, result), "text": article.text} for article in result.articles]
    return {"status": result.status, "notices": notices, "articles": articles}


def _called(person: Person) -> str:
    return f"{person.name}: {person.phone or person.url or person.note or ''}.".replace(": .", ".")
