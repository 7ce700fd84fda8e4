"""A real server of the interface: it ends without losing a request, and no odd request breaks it."""

from __future__ import annotations

import json
import signal
import threading
import time
from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="the API's packages are not installed: pip install '.[api]'")

import httpx

from rag.api.client import Client, Written
from tests.fakes.pages.api import running
from tests.faults.api import fuzz

pytestmark = pytest.mark.slow
QUESTION = "Mon voisin a planté un arbre contre ma clôture"


def test_sigterm_under_load_loses_no_request(tmp_path: Path) -> None:
    """Each request that was taken is answered whole; then connections are refused, and who asks knows."""
    answered, refused, lost = [], [], []

    with running(tmp_path) as (url, process, log):

        def ask_on() -> None:
            with httpx.Client(base_url=url, timeout=30) as http:
                while True:
                    try:
                        found = http.post("/v1/search", json={"question": QUESTION, "k": 3})
                        answered.append(len(found.json()["articles"]))
                    # nobody took it, who asks knows at once: the door is shut, or shuts on who stands in it
                    # (a connection that the system has accepted and the server has not)
                    except (httpx.ConnectError, httpx.ReadError):
                        refused.append(1)
                        return
                    except httpx.HTTPError as error:
                        lost.append(repr(error))

        with Client(url) as client:
            *_, whole = client.answer(QUESTION)
        assert isinstance(whole, Written)
        assert whole.parts
        threads = [threading.Thread(target=ask_on) for _ in range(8)]
        for thread in threads:
            thread.start()
        until = time.monotonic() + 60
        while not answered and time.monotonic() < until:  # a busy machine answers late
            time.sleep(0.1)
        time.sleep(2)
        before = len(answered)
        process.send_signal(signal.SIGTERM)
        for thread in threads:
            thread.join(timeout=60)
        assert process.wait(timeout=30) in (0, -signal.SIGTERM)  # uvicorn raises it again at its end
        lines = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    assert lost == []
    assert (len(refused), before > 0, set(answered)) == (8, True, {3})
    counted = [line for line in lines if line.get("route") == "/v1/search"]
    assert len(counted) == len(answered)  # the server knows of none that the clients do not
    assert {line["status"] for line in counted} == {200}
    assert QUESTION not in log.read_text(encoding="utf-8")


def test_no_odd_request_breaks_it(tmp_path: Path) -> None:
    assert fuzz(tmp_path, seconds=3, seed=1) == 0
