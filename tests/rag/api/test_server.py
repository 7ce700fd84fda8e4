"""A real server of the interface: it ends without losing a request, and no odd request breaks it."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="the API's packages are not installed: pip install '.[api]'")

import httpx

from indexes.__main__ import main
from indexes.corpus.corpus import Corpus, write
from rag.api.answer import AnswerPart, Written
from rag.api.client import Client, Unreachable
from rag.api.result import Found
from tests.fakes.answers.model_server import quote, serving, stalls
from tests.fakes.law.corpus import GOAT, VILLAGE, install
from tests.fakes.pages.api import running
from tests.faults.api import fuzz

pytestmark = pytest.mark.slow
QUESTION = "Mon voisin a planté un arbre contre ma clôture"


def until(holds: Callable[[], bool], seconds: float = 60) -> bool:
    """Wait: a busy machine answers late."""
    end = time.monotonic() + seconds
    while not holds() and time.monotonic() < end:
        time.sleep(0.1)
    return holds()


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
        assert until(lambda: bool(answered))
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


def test_a_client_that_goes_and_a_server_that_is_killed(tmp_path: Path) -> None:
    """The model is hung up on at once, and counted; who asks a dead server is told, and asks the next one."""
    answered: list[int] = []

    def ask_on(url: str) -> str:
        with Client(url) as client:
            try:
                while True:
                    answered.append(len(client.search(QUESTION, k=3).articles))
            except Unreachable as error:
                return str(error)

    with serving(stalls([quote("A1.1")])) as model, ThreadPoolExecutor(9) as pool, ExitStack() as client_end:
        settings = {"PANDECT_MODEL": "openai:scripted", "PANDECT_MODEL_URL": model.url}
        with running(tmp_path, **settings) as (url, process, _):
            client = client_end.enter_context(Client(url))
            leaving = client.answer(QUESTION)
            assert [type(next(leaving)) for _ in range(2)] == [Found, AnswerPart]
            leaving.close()
            assert model.hung_up.wait(5)
            stopped = 'pandect_model_calls_total{ending="stopped"} 1.0'
            assert until(lambda: stopped in httpx.get(f"{url}/metrics").text)

            told = [pool.submit(ask_on, url) for _ in range(8)]
            streamed = pool.submit(list, client.answer(QUESTION))
            assert until(lambda: len(model.seen) == 2 and len(answered) > 20)
            process.kill()
            assert {"nothing is known of what was asked for" in each.result(60) for each in told} == {True}
            with pytest.raises(Unreachable, match="nothing is known of"):
                streamed.result(60)
        assert set(answered) == {3}
        with running(tmp_path, port=int(url.rpartition(":")[2])):
            assert len(client.search(QUESTION, k=3).articles) == 3


def test_each_answer_is_of_one_whole_version_while_the_law_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PANDECT_HOME", str(tmp_path / "home"))
    came: dict[str, set[str]] = {}  # index and its version -> what the texts of an answer end with
    over = threading.Event()

    def law(n: int) -> Corpus:
        texts = (replace(each, text=f"{each.text} Livre {n}") for each in VILLAGE.articles)
        return replace(VILLAGE, articles=tuple(texts))

    def ask_on(url: str) -> None:
        with Client(url) as client:
            while not over.is_set():
                found, *_, whole = client.answer(GOAT)
                assert isinstance(found, Found)
                texts = {article.id: article.text for article in found.articles}
                came.setdefault(found.index, set()).update(text[-1] for text in texts.values())
                assert isinstance(whole, Written)
                assert whole.parts
                for passage in (each for part in whole.parts for each in part.passages):
                    assert passage.text == texts[passage.article_id][passage.start : passage.end]

    install(law(1))
    environ = {"PANDECT_HOME": os.environ["PANDECT_HOME"], "PANDECT_INDEX": "village"}
    with running(tmp_path, **environ) as (url, _, _), ThreadPoolExecutor(4) as pool:
        asking = [pool.submit(ask_on, url) for _ in range(4)]
        try:
            assert until(lambda: len(came) == 1)
            for n in (2, 3):
                assert main(["update", "village", str(write(law(n), tmp_path / f"law-{n}"))]) == 0
                assert until(lambda n=n: len(came) == n)
            assert main(["rollback", "village"]) == 0
            with Client(url) as client:
                assert until(lambda: client.search(GOAT).index == list(came)[1])
        finally:
            over.set()
        for each in asking:
            each.result(60)
    assert list(came.values()) == [{"1"}, {"2"}, {"3"}]


def test_no_odd_request_breaks_it(tmp_path: Path) -> None:
    status, told = fuzz(tmp_path, seconds=3, seed=1)
    assert status == 0
    assert told["requests"] == sum(told["statuses"].values()) > 10
    assert "500" not in told["statuses"]
