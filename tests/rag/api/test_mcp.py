"""What an assistant may call, by the protocol's own client: in this process, over a pipe, over HTTP."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import AsyncIterator, Callable, Coroutine
from pathlib import Path
from typing import Any

import anyio
import pytest

pytest.importorskip("mcp", reason="the API's packages are not installed: pip install '.[api]'")

import httpx
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from rag.api import guard
from rag.api.access import access
from rag.api.app import create_app
from rag.api.guard import LARGEST, JsonLines
from rag.api.law import Law
from rag.api.mcp import create_server
from rag.api.metrics import Metrics
from tests.fakes.pages.api import Shelf, running
from tests.fakes.pages.ui_engine import ENGINES, QUESTION, FakeEngine
from tests.paths import ROOT

ASKED = "mon voisin Barnabé a planté un arbre"
PATIENT = {"PANDECT_API_SECONDS": "600"}  # what screening reads first takes long on a busy machine
KEY = "a-key-of-one-client-alone"


async def call(client: Client, tool: str, **arguments: Any) -> tuple[Any, bool]:
    """Return what a tool answers, JSON where it is no error."""
    answer = await client.call_tool(tool, arguments)
    [content] = answer.content
    text = content.text  # type: ignore[union-attr]
    return (text if answer.is_error else json.loads(text)), bool(answer.is_error)


def asked(work: Callable[[Client], Coroutine[Any, Any, None]], engine: FakeEngine | None) -> None:
    async def run() -> None:
        law = Law(Shelf(engine), access(PATIENT), Metrics())
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


def posted(
    work: Callable[[httpx.AsyncClient], Coroutine[Any, Any, None]],
    engine: FakeEngine | None = ENGINES["plain"],
    address: str = "127.0.0.1",
    **environ: str,
) -> None:
    """Ask the protocol beside the REST interface, over HTTP in this process."""

    async def run() -> None:
        app = create_app(Shelf(engine), access(PATIENT | environ))
        transport = httpx.ASGITransport(app, client=(address, 4711))
        headers = {"Accept": "application/json, text/event-stream"}
        async with (
            app.router.lifespan_context(app),
            httpx.AsyncClient(transport=transport, base_url="http://localhost:8600", headers=headers) as http,
        ):
            await work(http)

    anyio.run(run)


def message(tool: str = "search", method: str = "tools/call", **arguments: Any) -> dict[str, Any]:
    params = {"name": tool, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


@pytest.mark.slow
def test_without_keys_no_name_but_this_machine_s_is_answered() -> None:
    """DNS rebinding: a page of another site that points its own name at this machine."""
    here = ("localhost", "localhost:8600", "LOCALHOST:1", "127.0.0.1", "127.0.0.1:8600", "[::1]:8600")
    others = (
        "evil.example", "localhost.evil.example:80", "localhost:80@evil.example", "127.0.0.1.evil.example",
        "localhost:", "localhost:123456", "0.0.0.0:8600", "",
    )  # fmt: skip

    async def work(http: httpx.AsyncClient) -> None:
        async def told(**headers: str) -> tuple[int, str]:
            answer = await http.post("/mcp", json=message(question=ASKED, k=1), headers=headers)
            return answer.status_code, answer.json().get("type", "")

        for host in here:
            assert await told(Host=host) == (200, "")
        for host in others:
            assert await told(Host=host) == (421, "host")
        for origin in ("http://localhost:8501", "https://127.0.0.1"):
            assert await told(Origin=origin) == (200, "")
        for origin in ("https://evil.example", "https://localhost.evil.example", "null", "file://localhost"):
            assert await told(Origin=origin) == (403, "host")

    posted(work)


def test_with_keys_any_name_is_answered_to_who_has_one(tmp_path: Path) -> None:
    (tmp_path / "keys").write_text(f"desk {KEY}\n", encoding="utf-8")

    async def work(http: httpx.AsyncClient) -> None:
        other = {"Host": "law.example.org", "Origin": "https://law.example.org"}
        sent = message(question=ASKED, k=1)
        refused = await http.post("/mcp", json=sent, headers=other)
        answered = await http.post("/mcp", json=sent, headers=other | {"Authorization": f"Bearer {KEY}"})
        assert (refused.status_code, answered.status_code) == (401, 200)

    posted(work, PANDECT_API_KEYS=str(tmp_path / "keys"))


def test_a_body_that_is_too_large_or_too_slow_is_refused_as_everywhere(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def work(http: httpx.AsyncClient) -> None:
        async def told(content: bytes | AsyncIterator[bytes]) -> tuple[int, str]:
            answer = await http.post("/mcp", content=content, headers={"Content-Type": "application/json"})
            return answer.status_code, answer.json().get("type", "")

        async def parts(*sent: bytes, wait: float = 0) -> AsyncIterator[bytes]:
            for part in sent:
                yield part
                await anyio.sleep(wait)

        whole = json.dumps(message(question=ASKED, k=1)).encode()
        assert await told(parts(whole[:20], whole[20:])) == (200, "")
        assert await told(whole + b" " * (LARGEST - len(whole))) == (200, "")
        assert await told(whole + b" " * LARGEST) == (413, "size")
        assert await told(parts(whole, b" " * LARGEST)) == (413, "size")
        monkeypatch.setattr(guard, "SECONDS", 0.1)
        assert await told(parts(whole[:20], whole[20:], wait=5)) == (408, "slow")

    posted(work)


def test_each_call_counts_for_the_limit_of_its_address_and_none_brings_others_along() -> None:
    async def work(http: httpx.AsyncClient) -> None:
        sent = message(question=ASKED, k=1)
        assert (await http.post("/mcp", json=[sent, sent])).status_code == 400  # many calls in one
        assert (await http.post("/mcp", json=sent)).status_code == 200
        assert (await http.post("/v1/search", json={"question": ASKED})).status_code == 200
        refused = await http.post("/mcp", json=sent)
        assert (refused.status_code, refused.json()["type"]) == (429, "rate")
        assert int(refused.headers["retry-after"]) > 0

    posted(work, address="192.0.2.7", PANDECT_SEARCHES_PER_ADDRESS="3/hour")


@pytest.mark.parametrize("engine", [ENGINES["plain"], FakeEngine(error=ValueError(ASKED)), None])
def test_neither_log_nor_metrics_hold_what_an_assistant_asks(
    engine: FakeEngine | None, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)  # as `indexes serve` does
    caplog.set_level(logging.INFO, "rag.api")
    text: list[str] = []

    async def work(http: httpx.AsyncClient) -> None:
        for sent in (
            message(question=ASKED), message("explain", question=ASKED, rank=2), message("article", id=ASKED),
            message("references", id=ASKED), message(question=ASKED, codes=[ASKED]),
            message(question={ASKED: 1}), message(question=ASKED, k=999), message(**{ASKED: 1}),
            message(ASKED), message(method=ASKED),
            {"jsonrpc": "2.0", "method": f"notifications/{ASKED}", "params": {"reason": ASKED}},
            {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": [ASKED]}, [ASKED], ASKED,
        ):  # fmt: skip
            await http.post("/mcp", json=sent)
        await http.post("/mcp", content=ASKED.encode(), headers={"Content-Type": "application/json"})
        await http.post("/mcp", content=ASKED.encode(), headers={"Content-Type": "text/plain"})
        await http.post("/mcp", json=message(question=ASKED), headers={"Host": "Barnabe.example"})
        await http.post("/mcp", json=message(question=ASKED), headers={"Mcp-Session-Id": "Barnabe"})
        await http.get("/mcp/Barnabe")
        text.append((await http.get("/metrics")).text)

    posted(work, engine)
    log = "\n".join(JsonLines().format(record) for record in caplog.records)
    assert log.count('"route": "/mcp"') == 18
    assert "Barnab" not in log
    assert "Barnab" not in text[0]
    assert 'pandect_requests_total{route="/mcp",status="421"} 1.0' in text[0]


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
