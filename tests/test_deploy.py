"""What docs/deploy gives a host: the proxy itself, before the page and the API."""

from __future__ import annotations

import base64
import json
import os
import shutil
import ssl
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from email.message import Message
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from rag.ui.shell import HEADERS
from tests.fakes.answers.model_server import Exchange, Server, good, quote, serving
from tests.fakes.pages.browser import ARGS, CHROMIUM, WAIT, answered, ask, served
from tests.fakes.process import WAIT as PATIENCE
from tests.fakes.process import free_port, started
from tests.paths import ROOT

if TYPE_CHECKING:
    from playwright.sync_api import Browser

DEPLOY = ROOT / "docs" / "deploy"
CADDY = shutil.which("caddy")
QUESTION = "Mon voisin a planté un arbre contre ma clôture, que faire ?"
WORD = "garden-gate"
needs_caddy = pytest.mark.skipif(CADDY is None, reason="no Caddy on the PATH: apt-get install caddy")


def read_yaml(name: str) -> dict[str, Any]:
    value: dict[str, Any] = yaml.safe_load((DEPLOY / name).read_text(encoding="utf-8"))
    return value


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Message
    body: bytes


@dataclass(frozen=True)
class Site:
    """A site behind the proxy."""

    url: str
    plain: str  # its address without TLS
    context: ssl.SSLContext  # trusts its authority alone

    def get(self, path: str, *, url: str | None = None, **headers: str) -> Answer:
        request = urllib.request.Request((url or self.url) + path, headers=headers)  # noqa: S310 - https
        handlers = (urllib.request.HTTPSHandler(context=self.context), Follows())
        try:
            answer = urllib.request.build_opener(*handlers).open(request, timeout=20)
        except urllib.error.HTTPError as error:
            answer = error  # it has what a response has
        with answer:
            return Answer(answer.status, answer.headers, answer.read())


class Follows(urllib.request.HTTPRedirectHandler):
    """Follow no redirect: it is looked at."""

    def redirect_request(self, *_: Any) -> None:
        """Return no further request."""


@contextmanager
def proxied(folder: Path, page: str, api: str) -> Iterator[Site]:
    """Run the proxy of docs/deploy before a page and an API, on ports of its own."""
    assert CADDY
    plain, secure = free_port(), free_port()
    hashed = subprocess.run(
        [CADDY, "hash-password", "--plaintext", WORD], check=True, capture_output=True, text=True
    ).stdout.strip()
    environ = {
        "XDG_DATA_HOME": str(folder), "XDG_CONFIG_HOME": str(folder),
        "PANDECT_HTTP_PORT": str(plain), "PANDECT_HTTPS_PORT": str(secure), "PANDECT_PASSWORD_HASH": hashed,
        "PANDECT_PAGE": page.removeprefix("http://"), "PANDECT_API": api.removeprefix("http://"),
    }  # fmt: skip
    command = [CADDY, "run", "--config", DEPLOY / "Caddyfile", "--adapter", "caddyfile"]
    root = folder / "caddy" / "pki" / "authorities" / "local" / "root.crt"
    site: list[Site] = []

    def ready() -> bool:
        try:
            context = ssl.create_default_context(cafile=root)
            site[:] = [Site(f"https://localhost:{secure}", f"http://localhost:{plain}", context)]
            return site[0].get("/health").status == 200
        except OSError:
            return False

    with started(command, folder / "caddy.log", ready, **environ):
        yield site[0]


@pytest.fixture(scope="module")
def model() -> Iterator[Server]:
    with serving(good([])) as server:
        yield server


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, model: Server) -> Iterator[Site]:
    pytest.importorskip("fastapi", reason="the API's packages are not installed: pip install '.[api]'")
    from tests.fakes.pages.api import running

    folder = tmp_path_factory.mktemp("site")
    settings = read_yaml("compose.yaml")["services"]["page"]["environment"]
    hosts = settings["STREAMLIT_SERVER_ALLOWED_HOSTS"].replace("${PANDECT_DOMAIN:-localhost}", "localhost")
    both = {"PANDECT_ADDRESS_HEADER": settings["PANDECT_ADDRESS_HEADER"], "PANDECT_PROXIES": "127.0.0.1"}
    writes = {"PANDECT_MODEL": "openai:scripted", "PANDECT_MODEL_URL": model.url}
    with (
        served(ROOT / "app.py", folder, STREAMLIT_SERVER_ALLOWED_HOSTS=hosts, **both) as page,
        running(folder, **both, **writes) as (api, _, _),
        proxied(folder, page.url, api) as found,
    ):
        yield found


@needs_caddy
@pytest.mark.slow
def test_the_site_is_encrypted_and_asks_for_a_password(site: Site) -> None:
    key = "Basic " + base64.b64encode(f"desk:{WORD}".encode()).decode()
    wrong = "Basic " + base64.b64encode(b"desk:garden-door").decode()

    assert site.get("/").status == 401
    assert site.get("/", Authorization=wrong).status == 401
    answer = site.get("/", Authorization=key, Accept="text/html")
    assert answer.status == 200
    assert {name: answer.headers[name] for name in HEADERS} == HEADERS
    assert answer.headers["Strict-Transport-Security"] == "max-age=31536000"
    assert answer.headers["Server"] is None
    sent_on = site.get("/somewhere", url=site.plain)
    assert sent_on.status == 308
    assert sent_on.headers["Location"].startswith("https://localhost")
    assert json.loads(site.get("/health").body) == {"status": "ok"}


@needs_caddy
@pytest.mark.slow
def test_the_api_comes_through_the_proxy_and_an_answer_as_it_is_written(site: Site, model: Server) -> None:
    import httpx

    from rag.api.client import Client
    from rag.api.guard import HEADERS as API_HEADERS

    read = threading.Event()  # what was written first has come through

    def write(exchange: Exchange) -> None:
        exchange.say(quote("A1.1"))
        exchange.say(quote("A2.1") if read.wait(20) else "too late")
        exchange.end()

    model.behaviour = write
    seen: list[httpx.Response] = []
    transport, hooks = httpx.HTTPTransport(verify=site.context), {"response": [seen.append]}
    with Client(site.url, transport=transport) as law:
        law._http.event_hooks = hooks
        found = law.search(QUESTION, k=3)
        assert law.article(found.articles[0].id).article.text == found.articles[0].text
        events = law.answer(QUESTION)
        first, part = next(events), next(events)
        read.set()
        *_, whole = events
    assert [article.id for article in first.articles][:3] == [article.id for article in found.articles]
    assert (whole.ending, whole.parts[0], len(whole.parts)) == ("written", part, 2)
    assert len(seen) == 3
    for answer in seen:
        told = {name: answer.headers.get(name) for name in (*API_HEADERS, "Server", "Via")}
        assert told == {**API_HEADERS, "Server": None, "Via": None}
        assert answer.headers["Strict-Transport-Security"] == "max-age=31536000"
    assert seen[-1].headers["Content-Type"].startswith("text/event-stream")
    assert site.get("/metrics").status == 401  # the page's part, which asks for a password


def environment(folder: Path, clone: Path) -> Path:
    """Make what ./pandect takes for the environment of a clone that has the extra [api]: this Python."""
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "python").write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n', encoding="utf-8")
    (folder / "bin" / "python").chmod(0o755)
    (folder / "pandect-home").write_text(f"{clone}|{folder}\n", encoding="utf-8")
    both = b"".join((clone / name).read_bytes() for name in ("pyproject.toml", "constraints.txt"))
    summed = subprocess.run(["cksum"], input=both, check=True, capture_output=True).stdout
    for name in ("base", "api"):
        (folder / f"pandect-{name}").write_bytes(summed)
    return folder


@needs_caddy
@pytest.mark.slow
def test_one_command_starts_the_whole_site_and_ends_it(tmp_path: Path) -> None:
    """A password is asked for once; page, API and proxy end together, and the next start asks for nothing."""
    pytest.importorskip("fastapi", reason="the API's packages are not installed: pip install '.[api]'")
    clone, home = tmp_path.resolve() / "clone", tmp_path / "home"
    home.mkdir()
    shutil.copytree(DEPLOY, clone / "docs" / "deploy", ignore=shutil.ignore_patterns(".env", "api-keys"))
    shutil.copytree(ROOT / ".streamlit", clone / ".streamlit")
    for name in ("pandect", "pyproject.toml", "constraints.txt", "app.py"):
        shutil.copy2(ROOT / name, clone)
    for name in ("rag", "indexes"):
        (clone / name).symlink_to(ROOT / name)
    plain, secure, page, api = (free_port() for _ in range(4))
    environ = {
        "PATH": os.environ["PATH"], "HOME": str(home), "LANG": "C.UTF-8",
        "PANDECT_VENV": str(environment(tmp_path.resolve() / "venv", clone)),
        "PANDECT_HTTP_PORT": str(plain), "PANDECT_HTTPS_PORT": str(secure),
        "PANDECT_PAGE": f"127.0.0.1:{page}", "PANDECT_API": f"127.0.0.1:{api}",
    }  # fmt: skip
    root = home / ".local" / "share" / "caddy" / "pki" / "authorities" / "local" / "root.crt"
    key = "Basic " + base64.b64encode(f"desk:{WORD}".encode()).decode()

    def look() -> bool:
        try:
            context = ssl.create_default_context(cafile=root)
            site = Site(f"https://localhost:{secure}", f"http://localhost:{plain}", context)
            bearer = "Bearer " + (clone / "docs/deploy/api-keys").read_text().split()[1]
            told = [site.get(path).status for path in ("/health", "/", "/v1/topics")]
            told += [site.get("/", Authorization=key).status]
            told += [site.get("/v1/topics", Authorization=bearer).status]
        except OSError:
            return False
        return told == [200, 401, 401, 200, 200]

    for typed in (f"{WORD}\n".encode(), b""):
        log = home / "site.log"
        with log.open("wb") as out:
            command = [clone / "pandect", "site", "localhost"]
            running = subprocess.Popen(command, env=environ, stdin=subprocess.PIPE, stdout=out, stderr=out)
        try:
            assert running.stdin
            running.stdin.write(typed)
            running.stdin.close()
            end = time.monotonic() + 5 * PATIENCE  # three servers start at once
            while not look():
                assert running.poll() is None, log.read_text()
                assert time.monotonic() < end, log.read_text()
                time.sleep(0.5)
        finally:
            running.terminate()
            status = running.wait(timeout=60)
        assert status == 143
        for port in (secure, page, api):
            assert free_port(port) == port
    for name in (".env", "api-keys"):
        assert (clone / "docs" / "deploy" / name).stat().st_mode & 0o777 == 0o600


@needs_caddy
@pytest.mark.slow
def test_a_proxy_without_a_password_does_not_start(tmp_path: Path) -> None:
    command = [str(CADDY), "validate", "--config", str(DEPLOY / "Caddyfile"), "--adapter", "caddyfile"]
    environ = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}

    shut = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
    opened = subprocess.run(
        command, env=environ | {"PANDECT_ACCESS": "open"}, capture_output=True, text=True, check=False
    )

    assert shut.returncode != 0
    assert "password cannot be empty" in shut.stderr
    assert opened.returncode == 0, opened.stderr


@needs_caddy
@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on the PATH: apt-get install chromium")
def test_a_question_is_answered_through_the_proxy(site: Site) -> None:
    sync = pytest.importorskip("playwright.sync_api", reason="needs playwright: pip install '.[dev]'")
    with sync.sync_playwright() as playwright:
        browser: Browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGS)
        context = browser.new_context(
            locale="fr-FR",
            ignore_https_errors=True,  # the authority is of this test alone
            http_credentials={"username": "desk", "password": WORD},
        )
        context.set_default_timeout(WAIT)
        page = context.new_page()
        refused: list[str] = []
        page.on("console", lambda said: refused.append(said.text) if "Security Policy" in said.text else None)
        page.goto(site.url)
        page.wait_for_selector(".pd-notice")
        ask(page, QUESTION)
        answered(page, QUESTION)
        assert "671" in page.locator(".pd-card").first.inner_text()
        assert refused == []
        browser.close()
