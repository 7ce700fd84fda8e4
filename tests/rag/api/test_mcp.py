"""What an assistant may call, by the protocol's own client: in this process, over a pipe, over HTTP."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import anyio
import pytest

pytest.importorskip("mcp", reason="the API's packages are not installed: pip install '.[api]'")

import httpx
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from rag.api.access import access
from rag.api.law import Law
from rag.api.mcp import create_server
from rag.api.metrics import Metrics
from tests.fakes.pages.api import Shelf, running
from tests.fakes.pages.ui_engine import ENGINES, QUESTION, FakeEngine
from tests.paths import ROOT

KEY = "a-key-of-one-client-alone"


async def call(client: Client, tool: str, **arguments: Any) -> tuple[Any, bool]:
    """Return what a tool answers, JSON where it is no error."""
    answer = await client.call_tool(tool, arguments)
    [content] = answer.content
    text = content.text  # type: ignore[union-attr]
    return (text if answer.is_error else json.loads(text)), bool(answer.is_error)


def asked(work: Callable[[Client], Coroutine[Any, Any, None]], engine: FakeEngine | None) -> None:
    async def run() -> None:
        law = Law(Shelf(engine), access({}), Metrics())
        async with Client(create_server(law)) as client:
            await work(client)

    anyio.run(run)


def test_the_four_tools_tell_what_the_rest_interface_tells() -> None:
    async def work(client: Client) -> None:
        assert [tool.name for tool in (await client.list_tools()).tools] == [
            "search", "article", "references", "explain",
        ]  # fmt: skip
        found, _ = await call(client, "search", question=QUESTION, k=2)
        expected = ENGINES["plain"].ask(QUESTION, k=2).shown
        assert [each["id"] for each in found["articles"]] == [shown.article.id for shown in expected]
        article, _ = await call(client, "article", id=found["articles"][0]["id"])
        assert article["article"]["text"] == expected[0].article.text
        assert not [key for key in article if key.startswith("refer")]
        around, _ = await call(client, "references", id=found["articles"][0]["id"])
        assert set(around) == {"refers_to", "refers_to_total", "referred_by", "referred_by_total"}
        why, _ = await call(client, "explain", question=QUESTION, rank=1)
        assert (why["rank"], why["article"]["id"]) == (1, expected[0].article.id)

    asked(work, ENGINES["plain"])


def test_what_is_not_there_and_what_cannot_be_reached_are_told_apart() -> None:
    async def missing(client: Client) -> None:
        told, error = await call(client, "article", id="none-such")
        assert error
        assert "No article of the law in use bears the id 'none-such'" in told
        told, error = await call(client, "search", question=QUESTION, codes=["Code des jeux"])
        assert error
        assert "codes: this law has no such value. Got Code des jeux." in told

    async def shut(client: Client) -> None:
        told, error = await call(client, "article", id="671")
        assert error
        assert "cannot be searched at the moment. This says nothing of what it holds" in told
        assert "/home/host" not in told

    asked(missing, ENGINES["plain"])
    asked(shut, None)


@pytest.mark.slow
def test_over_a_pipe_as_an_assistant_starts_it(tmp_path: Path) -> None:
    started = StdioServerParameters(
        command=sys.executable, args=["-m", "indexes", "mcp"], cwd=ROOT, env={"HOME": str(tmp_path)}
    )

    async def run() -> None:
        async with Client(stdio_client(started)) as client:
            found, _ = await call(client, "search", question="Mon voisin a planté un arbre contre ma clôture")
            assert "CC-671" in [each["id"] for each in found["articles"]]

    anyio.run(run)


@pytest.mark.slow
def test_over_http_with_the_keys_of_the_rest_interface(tmp_path: Path) -> None:
    keys = tmp_path / "keys"
    keys.write_text(f"desk {KEY}\n", encoding="utf-8")

    async def run(url: str) -> None:
        async with (
            httpx.AsyncClient() as plain,
            httpx.AsyncClient(headers={"Authorization": f"Bearer {KEY}"}) as allowed,
        ):
            refused = await plain.post(f"{url}/mcp", json={})
            assert (refused.status_code, refused.json()["type"]) == (401, "key")
            async with Client(streamable_http_client(f"{url}/mcp", http_client=allowed)) as client:
                found, _ = await call(client, "search", question="rupture du bail", k=3)
                assert len(found["articles"]) == 3

    with running(tmp_path, PANDECT_API_KEYS=str(keys)) as (url, _, _):
        anyio.run(run, url)
