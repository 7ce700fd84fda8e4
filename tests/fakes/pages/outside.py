"""What somebody else's program does with the API and the server for assistants: python outside.py URL."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

from mcp.client import Client as Assistant
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

import rag
from rag.api.client import Client
from rag.langchain import PandectRetriever, tool

QUESTION = "Mon voisin a planté un arbre contre ma clôture, que faire ?"


def client(url: str) -> dict[str, Any]:
    with Client(url) as law:
        ids = [article.id for article in law.search(QUESTION, k=3).articles]
        *_, whole = law.answer(QUESTION)
        return {
            "search": ids,
            "article": law.article(ids[0]).article.id,
            "why": law.why(QUESTION, 1).article.id,
            "answer": type(whole).__name__,
            "retriever": [found.id for found in PandectRetriever(engine=law, k=3).invoke(QUESTION)],
            "tool": [each["id"] for each in tool(law, k=3).invoke({"question": QUESTION})["articles"]],
        }


async def assistant(transport: Any) -> dict[str, Any]:
    async with Assistant(transport) as law:

        async def call(name: str, **arguments: Any) -> Any:
            answer = await law.call_tool(name, arguments)
            return json.loads(answer.content[0].text)  # type: ignore[union-attr]

        ids = [each["id"] for each in (await call("search", question=QUESTION, k=3))["articles"]]
        return {
            "tools": [each.name for each in (await law.list_tools()).tools],
            "search": ids,
            "article": (await call("article", id=ids[0]))["article"]["id"],
            "references": sorted(await call("references", id=ids[0])),
            "explain": (await call("explain", question=QUESTION))["article"]["id"],
        }


if __name__ == "__main__":
    url = sys.argv[1]
    pipe = stdio_client(StdioServerParameters(command=sys.executable, args=["-m", "indexes", "mcp"]))
    told = {
        "package": rag.__file__,
        "client": client(url),
        "pipe": asyncio.run(assistant(pipe)),
        "http": asyncio.run(assistant(streamable_http_client(f"{url}/mcp"))),
    }
    sys.stdout.write(json.dumps(told))
