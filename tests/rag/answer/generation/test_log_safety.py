"""Neither question, key, article nor answer stands in a log, at any level, of anybody, whatever happens."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import traceback
import warnings
from collections.abc import Iterator

import pytest

from rag.answer.generation.errors import CLIENTS, silence_clients
from rag.answer.types import Answer, Ending
from tests.fakes.answers.answers import ARTICLES, KEY, LINES, QUESTION, TEXTS, answer, settings, writer
from tests.fakes.answers.model_server import (
    Behaviour,
    breaks,
    broken_events,
    empty,
    fails,
    garbage,
    good,
    limited,
    no_protocol,
    refusing,
    serving,
    silent,
    stalls,
)
from tests.paths import ROOT

# what must not be told: the key, the question, an article, what the model wrote
TOLD = (KEY, QUESTION, "rendre les clés du moulin", ARTICLES[1].text, TEXTS[0], TEXTS[1])


class Everything(logging.Handler):
    """Keeps every record, with its traceback and its arguments."""

    def __init__(self) -> None:
        super().__init__(logging.NOTSET)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        trace = "".join(traceback.format_exception(*record.exc_info)) if record.exc_info else ""
        self.lines.append(f"{record.name} {record.getMessage()} {record.args!r} {record.__dict__!r} {trace}")


@pytest.fixture
def everything() -> Iterator[Everything]:
    """All loggers there are at "debug", those of the clients that are yet to be loaded included."""
    root = logging.getLogger()
    names = [*CLIENTS, "openai._base_client", "httpcore2.http11", "anthropic._base_client", "ollama._client"]
    loggers = [root, *(logging.getLogger(name) for name in {*names, *logging.Logger.manager.loggerDict})]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.DEBUG)
    handler = Everything()
    root.addHandler(handler)
    yield handler
    root.removeHandler(handler)
    for logger, level in zip(loggers, levels, strict=True):
        logger.setLevel(level)


BEHAVIOURS = [
    pytest.param(good(LINES), id="good"),
    pytest.param(refusing, id="refusing"),
    pytest.param(fails(401), id="401"),
    pytest.param(fails(400), id="400"),
    pytest.param(fails(404), id="404"),
    pytest.param(limited("1000"), id="429"),
    pytest.param(fails(500), id="500"),
    pytest.param(silent(), id="silent"),
    pytest.param(stalls(LINES), id="stalls"),
    pytest.param(breaks(LINES), id="breaks"),
    pytest.param(garbage, id="garbage"),
    pytest.param(empty, id="empty"),
    pytest.param(no_protocol, id="no protocol"),
    pytest.param(broken_events, id="broken events"),
]


def check(everything: Everything, capfd: pytest.CaptureFixture[str], found: Answer) -> None:
    out, err = capfd.readouterr()
    said = "\n".join([*everything.lines, out, err, found.reason, found.model, found.prompt_version])
    assert [secret for secret in TOLD if secret in said] == []
    assert "clés" not in said


@pytest.mark.slow
@pytest.mark.parametrize("provider", ["openai", "ollama", "anthropic"])
@pytest.mark.parametrize("behaviour", BEHAVIOURS)
def test_nothing_is_logged_or_printed(
    behaviour: Behaviour, provider: str, everything: Everything, capfd: pytest.CaptureFixture[str]
) -> None:
    logging.getLogger("test").debug("records are kept")
    with serving(behaviour) as server:
        url = server.url if provider == "openai" else server.root
        changes = {"first_token": 0.3, "between": 0.3, "retries": 1}
        found = answer(server, model=f"{provider}:scripted", url=url, **changes)

    assert any("records are kept" in line for line in everything.lines)
    check(everything, capfd, found)


def test_a_dead_server_is_not_told_of_either(
    everything: Everything, capfd: pytest.CaptureFixture[str]
) -> None:
    with serving(empty) as server:
        pass
    check(everything, capfd, answer(server, retries=1))


def test_langchain_would_have_told_it_all(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the other tests forbid is what happens otherwise: they can fail."""
    from langchain.chat_models import init_chat_model
    from langchain_core import globals as switches

    monkeypatch.setattr(switches, "_debug", True)
    with serving(good(LINES)) as server:
        model = init_chat_model("scripted", model_provider="openai", base_url=server.url, api_key=KEY)
        list(model.stream(QUESTION))

    assert QUESTION in capfd.readouterr().out


def test_what_a_host_switched_on_to_look_into_langchain_is_switched_off(
    everything: Everything, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from langchain_core import globals as switches

    switches.set_debug(True)
    switches.set_verbose(True)
    for name in ("LANGSMITH_TRACING", "LANGSMITH_TRACING_V2", "LANGCHAIN_TRACING_V2", "LANGCHAIN_VERBOSE"):
        monkeypatch.setenv(name, "true")
    with serving(good(LINES)) as server, serving(empty) as third_party:
        monkeypatch.setenv("LANGSMITH_ENDPOINT", third_party.root)
        monkeypatch.setenv("LANGSMITH_API_KEY", "lsv2_none")
        found = answer(server)

    assert found.ending is Ending.WRITTEN
    assert third_party.seen == []
    check(everything, capfd, found)


@pytest.mark.parametrize("variable", ["LANGSMITH_GATEWAY", "LANGCHAIN_TRACING"])
def test_what_would_send_questions_elsewhere_is_refused(
    variable: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv(variable, "true")
    with serving(good(LINES)) as server:
        changes = {"url": None} if variable == "LANGSMITH_GATEWAY" else {}
        found = answer(server, **changes)

    assert found.ending is Ending.FAILED
    assert f"{variable} is set" in caplog.text or f"{variable} or" in caplog.text
    assert server.seen == []


SCRIPT = """
import logging, sys
logging.basicConfig(level=logging.DEBUG, stream=sys.stdout)
from tests.fakes.answers.model_server import serving, good, fails
from tests.fakes.answers.answers import ARTICLES, LINES, QUESTION, writer
for behaviour in (good(LINES), fails(500)):
    with serving(behaviour) as server:
        *_, last = writer(server).write(QUESTION, ARTICLES, "fr")
        print(last.ending.value)
"""


@pytest.mark.slow
def test_a_fresh_process_told_to_log_everything_logs_nothing_of_it() -> None:
    environment = {
        **os.environ, "OPENAI_LOG": "debug", "ANTHROPIC_LOG": "debug", "LANGCHAIN_TRACING_V2": "true",
        "LANGSMITH_TRACING": "true", "LANGSMITH_ENDPOINT": "http://127.0.0.1:9", "PYTHONASYNCIODEBUG": "1",
        "PYTHONPATH": str(ROOT),
    }  # fmt: skip
    run = subprocess.run(
        [sys.executable, "-W", "error", "-X", "dev", "-c", SCRIPT],
        capture_output=True, text=True, check=False, env=environment, timeout=120,
    )  # fmt: skip

    said = run.stdout + run.stderr
    assert run.returncode == 0, said
    assert "written\n" in run.stdout
    assert "failed\n" in run.stdout
    assert [secret for secret in TOLD if secret in said] == []


def test_warnings_that_quote_an_answer_are_ignored() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        silence_clients()
        warnings.warn(f"Pydantic serializer warnings:\n input_value={TEXTS[0]!r}", UserWarning, stacklevel=1)


def test_the_settings_and_the_writer_do_not_show_the_key() -> None:
    with serving(empty) as server:
        made = writer(server)
        shown = [repr(made), str(settings(server)), repr(vars(made)), f"{settings(server).key}"]

    assert not [text for text in shown if KEY in text]
