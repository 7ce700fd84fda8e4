from __future__ import annotations

import asyncio
import os
import signal
import struct
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, StreamingResponse
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocket
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from rag.errors import PandectError
from rag.ui import visits
from rag.ui.i18n import LANGUAGES, words
from rag.ui.shell import BURST, HEADERS, Pace, Shell, no_script, paced
from tests.fakes.pages.browser import CHROMIUM, Server, ask, served, visit
from tests.fakes.pages.html_reader import read
from tests.fakes.pages.ui_engine import CARD, HOSTILE_CARD
from tests.paths import ROOT
from training.pages.serving import RunningServer
from training.pages.visitor import Visitor

if TYPE_CHECKING:
    from playwright.sync_api import Browser

PAGE = "<html><body><noscript>You need\nscripts</noscript>" + "<p>law</p>" * 500 + "</body></html>"


def test_what_a_socket_sends_at_once_waits_its_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rag.ui.shell.PACE", 20.0)
    passed: list[float] = []

    async def receive() -> dict[str, str]:
        return {"type": "websocket.receive"}

    async def take() -> None:
        slowed = paced(receive)
        for _ in range(BURST + 6):
            await slowed()
            passed.append(time.monotonic())

    asyncio.run(take())
    assert passed[-1] - passed[BURST - 1] > 0.9 * 6 / 20  # seconds


def test_the_sockets_of_one_address_wait_for_one_another(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rag.ui.shell.BURST", 1)
    monkeypatch.setattr("rag.ui.shell.PACE", 1000.0)
    monkeypatch.setenv("PANDECT_MESSAGES_PER_ADDRESS", "600/minute")
    visits.visits.clear()

    async def echo(socket: WebSocket) -> None:
        await socket.accept()
        async for text in socket.iter_text():
            await socket.send_text(text)

    def seconds(*ends: str) -> float:
        start = time.monotonic()
        with ExitStack() as stack:
            sockets = [
                stack.enter_context(TestClient(app, client=(end, 4711)).websocket_connect("/"))
                for end in ends
            ]
            for socket in sockets * 3:
                socket.send_text("?")
            assert [socket.receive_text() for socket in sockets * 3] == ["?"] * 3 * len(ends)
        return time.monotonic() - start

    shell = Middleware(Shell, unscripted=str, healthy=bool)
    app = Starlette(routes=[WebSocketRoute("/", echo)], middleware=[shell])
    try:
        assert seconds("192.0.2.7", "192.0.2.7", "192.0.2.7") > 0.9 * 8 / 10
        assert seconds("2001:db8::1", "2001:db8::2") > 0.9 * 5 / 10  # one household
    finally:
        visits.visits.clear()


def test_whose_pace_is_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PANDECT_ADDRESS_HEADER", "X-Forwarded-For")
    monkeypatch.setenv("PANDECT_PROXIES", "10.0.0.7")
    visits.visits.clear()
    shell = Shell(Starlette(), str, bool)

    def pace(end: str, sent: str = "") -> Pace | None:
        headers = [(b"x-forwarded-for", sent.encode())] if sent else []
        return shell._pace({"type": "websocket", "client": (end, 4711), "headers": headers})[0]

    try:
        first = pace("10.0.0.7", "192.0.2.7")
        assert first is not None
        assert pace("10.0.0.7", "forged, 192.0.2.7") is first is pace("192.0.2.7", "192.0.2.8")
        assert pace("10.0.0.7", "192.0.2.8") is not first
        assert pace("127.0.0.1") is None  # this machine is not limited, as for searches
        at_once = [first.next(100.0) for _ in range(60)]
        assert sum(due <= 100 for due in at_once) == 40
        assert at_once[-1] == pytest.approx(102)
        monkeypatch.setattr("rag.ui.shell.ADDRESSES", 2)
        for n in range(9):
            pace(f"192.0.2.{n}")
        assert len(shell._paces) == 2
        for setting in ("off", "many"):
            monkeypatch.setenv("PANDECT_MESSAGES_PER_ADDRESS", setting)
            visits.visits.clear()
            assert pace("192.0.2.7") is None  # what cannot be used is told by the page and by /health
    finally:
        visits.visits.clear()


WELL = threading.Event()  # whether questions are answered


def pieces(_: Request) -> StreamingResponse:
    parts = iter([PAGE[:30], PAGE[30:]])
    return StreamingResponse(parts, media_type="text/html", headers={"etag": '"1"'})


@pytest.fixture
def client() -> TestClient:
    routes = [
        Route("/", lambda _: HTMLResponse(PAGE, headers={"etag": '"1"'})),
        Route("/pieces", pieces),
        Route("/text", lambda _: PlainTextResponse("<noscript>kept</noscript>")),
    ]
    shell = Middleware(Shell, unscripted=lambda: "<p>\\1 ours</p>", healthy=WELL.is_set)
    return TestClient(Starlette(routes=routes, middleware=[shell, Middleware(GZipMiddleware)]))


@pytest.mark.parametrize("path", ["/", "/pieces"])
def test_a_page_gets_our_words_for_who_runs_no_scripts(client: TestClient, path: str) -> None:
    answer = client.get(path, headers={"accept": "text/html"})

    assert answer.text == PAGE.replace("You need\nscripts", "<p>\\1 ours</p>")
    assert int(answer.headers["content-length"]) == len(answer.content)
    assert "etag" not in answer.headers


def test_every_answer_has_the_headers_and_what_is_no_page_is_left_alone(client: TestClient) -> None:
    for path in ("/", "/text", "/nowhere"):
        answer = client.get(path)
        assert {name: answer.headers[name] for name in HEADERS} == HEADERS
    assert client.get("/text").text == "<noscript>kept</noscript>"
    assert client.head("/", headers={"accept": "text/html"}).status_code in (200, 405)


def test_without_scripts_every_language_says_so_and_who_can_help() -> None:
    shown = read(no_script(CARD))

    assert [p.attributes["lang"] for p in shown.all("p")] == [words(code).how.tag for code in LANGUAGES]
    people = [li.text for li in shown.all("li")]
    assert people[-2:] == [" · ".join(filter(None, (each.name, each.phone))) for each in CARD.contacts]
    assert {"Police secours · 17", "Enfance en danger · 119"} <= set(people[:-2])
    assert not read(no_script(None)).all("li")
    assert not read(no_script(HOSTILE_CARD)).all("script")


def test_health_is_told_by_the_status(client: TestClient) -> None:
    WELL.set()
    well = client.get("/health")
    WELL.clear()
    ill = client.get("/health")

    assert (well.status_code, well.json()) == (200, {"status": "ok"})
    assert (ill.status_code, ill.json()["status"]) == (503, "no question is answered; the log says why")
    assert {name: ill.headers[name] for name in HEADERS} == HEADERS


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with served(ROOT / "app.py", tmp_path_factory.mktemp("app")) as server:
        yield server


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on the PATH: apt-get install chromium")
def test_the_page_keeps_to_its_own_policy_and_is_read_without_scripts(browser: Browser, app: Server) -> None:
    refused: list[str] = []
    with visit(browser, app.url) as page:
        page.on("console", lambda said: refused.append(said.text) if "Security Policy" in said.text else None)
        page.reload()
        ask(page, "Mon voisin a planté un arbre contre ma clôture")
        page.locator(".pd-card").first.wait_for()
    assert refused == []

    context = browser.new_context(java_script_enabled=False)
    try:
        bare = context.new_page()
        bare.goto(app.url)
        assert bare.get_by_role("link", name="3039").is_visible()
        assert bare.locator("main p[lang=de]").is_visible()
        assert bare.get_by_text("You need to enable JavaScript").count() == 0
    finally:
        context.close()


def apart(work: Coroutine[Any, Any, int]) -> int:
    """Run it in a thread: the driver of the browser has a loop in this one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, work).result()


@pytest.mark.slow
def test_a_question_of_megabytes_ends_its_own_session_and_no_other(app: Server) -> None:
    port = urlsplit(app.url).port or 0

    async def visits() -> int:
        flooding, _ = await Visitor.arrive(port)
        with pytest.raises(PandectError, match="hung up"):
            await flooding.ask("x" * 2_000_000)
        asking, _ = await Visitor.arrive(port)
        found = await asking.ask("Mon voisin a planté un arbre contre ma clôture")
        await asking.leave()
        return found.cards

    assert apart(visits()) > 0


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/statm").is_file(), reason="memory is read from Linux's /proc")
def test_forty_questions_of_megabytes_take_no_memory(app: Server) -> None:
    """Neither whole nor where a frame of them never ends."""
    port = urlsplit(app.url).port or 0
    page = RunningServer(port, app.process, 0.0)

    async def visits() -> int:
        first, _ = await Visitor.arrive(port)  # the law is open by then
        await first.ask("Mon voisin a planté un arbre contre ma clôture")
        before, most = page.memory(), 0.0
        flooding = [(await Visitor.arrive(port))[0] for _ in range(40)]
        head = bytes([0x82, 0xFF]) + struct.pack("!Q", 15_900_000) + bytes(4)  # binary, masked by zeros
        for visitor in flooding:
            visitor.socket.transport.write(head + bytes(15_000_000))
        for _ in range(50):
            await asyncio.sleep(0.1)
            most = max(most, page.memory() - before)
        found = await first.ask("Mon voisin a planté un arbre contre ma clôture")
        assert most < 150  # MiB; of 600 that were sent
        return found.cards

    assert apart(visits()) > 0


@pytest.mark.slow
def test_sockets_that_ask_without_end_keep_nobody_waiting(app: Server) -> None:
    port, question = urlsplit(app.url).port or 0, "Mon voisin a planté un arbre contre ma clôture"

    async def ask_on(visitor: Visitor) -> None:
        while True:
            await visitor.socket.send(visitor._message(pressed=visitor._typed(question)))
            await asyncio.sleep(0.05)

    async def read_on(visitor: Visitor) -> None:
        async for _ in visitor.socket:
            pass

    async def visits() -> int:
        asking, _ = await Visitor.arrive(port)
        flooding = [(await Visitor.arrive(port))[0] for _ in range(5)]
        tasks = [asyncio.ensure_future(each(visitor)) for visitor in flooding for each in (ask_on, read_on)]
        await asyncio.sleep(3)
        found = [await asking.ask(f"{question} {n}") for n in range(5)]  # it waits a minute, and no longer
        for task in tasks:
            task.cancel()
        return min(run.cards for run in found)

    assert apart(visits()) > 0


@pytest.mark.slow
@pytest.mark.parametrize(("name", "refused"), [("law.evil.example", True), ("localhost", False)])
def test_a_name_that_nobody_gave_the_page_is_refused(app: Server, name: str, *, refused: bool) -> None:
    port = urlsplit(app.url).port or 0

    async def call() -> int:
        try:
            async with connect(f"ws://{name}:{port}/_stcore/stream", host="127.0.0.1", port=port):
                return 101
        except InvalidStatus as error:
            return error.response.status_code

    assert apart(call()) == (403 if refused else 101)


@pytest.mark.slow
def test_who_has_asked_is_answered_before_the_server_ends(tmp_path: Path) -> None:
    question = "Mon voisin a planté un arbre contre ma clôture"

    async def begin(visitor: Visitor) -> None:
        """Ask, and wait for the first message of the run that answers: the server has read the question."""
        await visitor.socket.send(visitor._message(pressed=visitor._typed(question)))
        message = ForwardMsg()
        while message.WhichOneof("type") != "new_session":
            message.ParseFromString(await visitor.socket.recv(decode=False))

    async def visits(server: Server) -> int:
        port = urlsplit(server.url).port or 0
        visitors = [(await Visitor.arrive(port))[0] for _ in range(10)]
        # what is made when it is first asked for takes a slow machine longer than a server that ends has
        assert (await visitors[0].ask("Mon bailleur ne rend pas la caution")).cards > 0
        await asyncio.gather(*map(begin, visitors))
        os.kill(server.process, signal.SIGTERM)
        return min(
            run.cards for run in await asyncio.gather(*(v._read(time.perf_counter()) for v in visitors))
        )

    with served(ROOT / "app.py", tmp_path) as server:
        with urllib.request.urlopen(server.url + "/health", timeout=60) as well:  # noqa: S310 - our own
            assert well.status == 200
        fewest = apart(visits(server))

    assert fewest > 0


@pytest.mark.slow
def test_a_server_without_law_is_not_well(tmp_path: Path) -> None:
    with (
        served(ROOT / "app.py", tmp_path, PANDECT_INDEX="none-such") as server,
        pytest.raises(urllib.error.HTTPError, match="503"),
    ):
        urllib.request.urlopen(server.url + "/health", timeout=60)  # noqa: S310 - our own
