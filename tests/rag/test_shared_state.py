"""The store that replicas share, a real Redis: limits counted across processes, feedback, and its absence."""

from __future__ import annotations

import logging
import os
import re
import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path

import httpx
import pytest

from rag.answer.generation.rate_limit import Rate, RateLimits
from rag.api.access import access
from rag.errors import BadSetting
from rag.feedback import Feedback, FeedbackEntry, FeedbackNotSaved, FeedbackReason
from rag.feedback import from_environment as feedback_of
from rag.shared_state import SharedState, _shared, _warn, from_environment
from rag.ui.engine_cache import check_settings
from rag.ui.visits import visits
from rag.visits import from_environment as visits_of
from tests.fakes.pages.api import running

SERVER = shutil.which("redis-server")
needs_redis = pytest.mark.skipif(SERVER is None, reason="no Redis on the PATH: apt-get install redis-server")
pytest.importorskip("redis", reason="needs redis: pip install '.[redis]'")
DAY = date(2026, 11, 22)
WORD = FeedbackEntry(DAY, "civil", "3", ("671", "672"), FeedbackReason.ANSWERS, "672", "un arbre ?", "hélas")
GATE = "garden-gate"


class Redis:
    """A Redis of this test, which can be ended and begun again at the same address."""

    def __init__(self, folder: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.url, self._folder = f"redis://:{GATE}@127.0.0.1:{self.port}", folder

    @contextmanager
    def runs(self) -> Iterator[None]:
        assert SERVER
        options = {"port": self.port, "requirepass": GATE, "bind": "127.0.0.1", "dir": self._folder}
        options |= {"appendonly": "yes", "save": "''"}
        words = [word for name, value in options.items() for word in (f"--{name}", str(value))]
        process = subprocess.Popen([SERVER, *words], stdout=subprocess.DEVNULL)
        try:
            for _ in range(100):
                with socket.socket() as probe:
                    if not probe.connect_ex(("127.0.0.1", self.port)):
                        break
                time.sleep(0.05)
            yield
        finally:
            process.terminate()
            process.wait(timeout=10)


@pytest.fixture
def redis(tmp_path: Path) -> Redis:
    folder = tmp_path / "redis"
    folder.mkdir()
    return Redis(folder)


@pytest.fixture
def running_redis(redis: Redis) -> Iterator[Redis]:
    with redis.runs():
        yield redis


def limits(url: str, *rates: Rate | None, name: str = "x") -> RateLimits:
    return RateLimits(*rates, shared=(name, SharedState(url)))


@needs_redis
def test_limits_are_one_for_all_who_share_a_store(running_redis: Redis) -> None:
    rates = Rate(3, 60.0), Rate(5, 3600.0), Rate(4, 3600.0)
    one, other = (limits(running_redis.url, *rates) for _ in range(2))

    assert [one.take("a"), other.take("a"), one.take("a")] == [0, 0, 0]
    assert 59 < other.take("a") <= 60  # the session's; a refusal counts nowhere
    assert other.take("a", address="192.0.2.7", calls=2, retry=True) == 0
    assert 3590 < one.take("b") <= 3600  # the host's five
    assert (
        limits(running_redis.url, *rates, name="y").take("a") == 0
    )  # what is limited apart is counted apart


@needs_redis
def test_a_shared_window_slides_and_threads_take_no_more_than_there_is(running_redis: Redis) -> None:
    replicas = [limits(running_redis.url, None, Rate(20, 0.5)) for _ in range(4)]
    granted: list[tuple[float, float]] = []

    def take(replica: RateLimits) -> None:
        until = time.monotonic() + 1.2
        while (begin := time.monotonic()) < until:
            if replica.take() == 0:
                granted.append((begin, time.monotonic()))
            time.sleep(0.002)

    threads = [threading.Thread(target=take, args=(replica,)) for replica in replicas]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    granted.sort(key=lambda span: span[1])
    assert 40 <= len(granted) <= 80
    # of 21 that follow each other the last ended no sooner than the window's length after the first began
    assert all(b[1] - a[0] >= 0.5 - 0.01 for a, b in zip(granted, granted[20:], strict=False))


@needs_redis
def test_messages_of_an_address_keep_one_pace_at_all_replicas(running_redis: Redis) -> None:
    one, other = SharedState(running_redis.url), SharedState(running_redis.url)
    waits = [state.pace("a", 10.0, 20.0) for _ in range(2) for state in (one, other)]

    assert waits[:2] == pytest.approx([-10, 0], abs=0.1)  # two at once, then each waits for those before it
    assert waits[2:] == pytest.approx([10, 20], abs=0.1)
    assert other.pace("b", 10.0, 20.0) == pytest.approx(-10, abs=0.1)


@needs_redis
def test_no_address_stands_in_the_store(running_redis: Redis) -> None:
    assert limits(running_redis.url, None, None, Rate(3, 60.0)).take(address="192.0.2.7") == 0
    client = SharedState(running_redis.url)._redis

    [key] = client.keys("*")
    assert "192.0.2.7" not in key + "".join(client.zrange(key, 0, -1))
    assert 0 < client.pttl(key) <= 60_000


@needs_redis
def test_a_silent_store_leaves_each_process_its_own_limits_and_is_told_once(
    redis: Redis, caplog: pytest.LogCaptureFixture
) -> None:
    now = [0.0]
    state = SharedState(redis.url, clock=lambda: now[0])
    counted = RateLimits(None, Rate(3, 3600.0), shared=("x", state))
    with redis.runs():
        assert counted.take() == 0
    begin = time.monotonic()
    assert [counted.take(), counted.take()] == [0, 0]
    assert counted.take() > 3500  # with the one of before
    assert time.monotonic() - begin < 3
    assert [record.levelno for record in caplog.records] == [logging.WARNING]
    assert "each process counts limits for itself" in caplog.text
    with redis.runs():
        now[0] += 5
        assert counted.take() == 0  # the store knows of one, for it keeps what it counted
    assert "answers again" in caplog.text
    assert GATE not in caplog.text


@needs_redis
def test_words_are_kept_counted_and_deleted_together(running_redis: Redis, tmp_path: Path) -> None:
    environ = {"PANDECT_FEEDBACK": str(tmp_path / "none"), "PANDECT_SHARED_STATE": running_redis.url}
    one = feedback_of(environ | {"PANDECT_FEEDBACK_COMMENTS": "1", "PANDECT_FEEDBACK_DAYS": "10"})
    other = feedback_of(environ)
    assert one is not None
    assert other is not None
    one.keep(WORD)
    one.keep(WORD)  # said by two
    later = replace(WORD, day=DAY + timedelta(days=5), question=None, comment="half a pair \ud800")
    other.keep(later)
    assert list(other.words()) == [WORD, WORD, replace(later, comment=None)]
    assert not (tmp_path / "none").exists()
    one.keep(replace(WORD, day=DAY + timedelta(days=12)))  # eleven days old and more goes
    assert [word.day for word in one.words()] == [DAY + timedelta(days=5), DAY + timedelta(days=12)]
    assert other.prune(DAY + timedelta(days=6)) == 1
    one.keep(replace(WORD, day=DAY + timedelta(days=4000)))  # a clock has leapt: nothing is lost
    assert len(list(one.words())) == 2


@needs_redis
def test_what_cannot_be_kept_is_said(redis: Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    feedback = Feedback(Path("none"), shared=SharedState(redis.url))
    for ask in (lambda: feedback.keep(WORD), lambda: list(feedback.words()), lambda: feedback.prune(DAY)):
        with pytest.raises(FeedbackNotSaved, match=rf"^redis://127.0.0.1:{redis.port}: no answer \(Conn"):
            ask()
    monkeypatch.setattr("rag.feedback.MOST_SHARED", 1)
    with redis.runs():
        feedback.keep(WORD)
        with pytest.raises(FeedbackNotSaved, match=r"1 words are kept\. Export them"):
            feedback.keep(WORD)


@needs_redis
def test_old_words_make_room_for_a_new_one(running_redis: Redis) -> None:
    state = SharedState(running_redis.url)
    assert [state.keep(word, day, 0, 2) for word, day in (("a", 10), ("b", 15))] == [True, True]
    assert not state.keep("c", 16, 10, 2)  # neither is too old
    assert state.keep("d", 21, 11, 2)
    assert state.words() == ["b", "d"]


@needs_redis
def test_a_store_that_refuses_is_a_wrong_setting_and_one_that_is_down_or_full_is_not(
    redis: Redis, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    SharedState(redis.url).check()
    assert "no answer (ConnectionError)" in caplog.text
    wrong = SharedState(redis.url.replace(GATE, "fence"))
    monkeypatch.setenv("PANDECT_SHARED_STATE", redis.url.replace(GATE, "fence"))
    with redis.runs():
        for _ in range(2):  # nor while it is left alone
            with pytest.raises(
                BadSetting, match=r"refused \(AuthenticationError\).*SHARED_STATE=redis://NAME:"
            ):
                wrong.check()
        for start in (check_settings, lambda: access(os.environ)):
            visits.clear()
            with pytest.raises(BadSetting, match=r"refused \(AuthenticationError\)") as told:
                start()
            assert "fence" not in str(told.value)
        state = SharedState(redis.url)
        state.check()
        state._redis.execute_command("ACL", "SETUSER", "guest", "on", f">{GATE}", "~*", "+ping")
        with pytest.raises(BadSetting, match=r"refused \(NoPermissionError\)"):
            SharedState(redis.url.replace("//:", "//guest:")).check()
        state._redis.config_set("maxmemory", 1)
        caplog.clear()
        state.check()
        assert "refused (OutOfMemoryError)" in caplog.text
    assert not {GATE, "fence"} & set(re.findall(r"[\w-]+", caplog.text))
    visits.clear()
    _shared.cache_clear()


def test_an_address_that_is_none_is_told_without_its_password() -> None:
    for url in ("localhost:6379", f"http://:{GATE}@host", f"redis://:{GATE}@host:port"):
        with pytest.raises(BadSetting, match=r"PANDECT_SHARED_STATE: .* such as redis://") as told:
            visits_of({"PANDECT_SHARED_STATE": url})
        assert GATE not in str(told.value)
    assert from_environment({"PANDECT_SHARED_STATE": " "}) is None


def test_replicas_without_a_shared_store_are_told_once(caplog: pytest.LogCaptureFixture) -> None:
    _warn.cache_clear()
    for environ in ({}, {"WEB_CONCURRENCY": "1"}, *[{"KUBERNETES_SERVICE_HOST": "10.0.0.1"}] * 2):
        assert from_environment(environ) is None
    [record] = caplog.records
    assert record.getMessage().startswith("KUBERNETES_SERVICE_HOST is set: where several processes answer")


def test_a_process_has_one_connection_to_a_store() -> None:
    environ = {"PANDECT_SHARED_STATE": "redis://127.0.0.1:1/0"}
    assert visits_of(environ).shared is from_environment(environ)
    _shared.cache_clear()


@pytest.mark.slow
@needs_redis
def test_a_limit_holds_over_two_processes_and_outlives_the_store(redis: Redis, tmp_path: Path) -> None:
    environ = {
        "PANDECT_SHARED_STATE": redis.url, "PANDECT_SEARCHES_PER_ADDRESS": "4/hour",
        "PANDECT_ADDRESS_HEADER": "X-Forwarded-For",
    }  # fmt: skip
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    with ExitStack() as servers:

        def granted(times: int, address: str) -> int:
            asked = [
                httpx.get(f"{(a, b)[n % 2]}/v1/topics", headers={"X-Forwarded-For": address}, timeout=30)
                for n in range(times)
            ]
            assert {answer.status_code for answer in asked} <= {200, 429}
            return sum(answer.status_code == 200 for answer in asked)

        with redis.runs():
            a, _, log = servers.enter_context(running(tmp_path / "a", **environ))
            b, _, _ = servers.enter_context(running(tmp_path / "b", **environ))
            assert granted(10, "192.0.2.7") == 4
            assert granted(3, "192.0.2.8") == 3
        assert granted(12, "192.0.2.9") == 8  # four at each, while the store is silent
        assert log.read_text().count("each process counts limits for itself") == 1
        time.sleep(5.5)  # for which it is left alone
        with redis.runs():
            assert granted(4, "192.0.2.7") == 0  # it knows what it counted
