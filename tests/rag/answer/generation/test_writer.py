from __future__ import annotations

import asyncio
import gc
import re
import threading
import time

import pytest

from rag.answer.generation import prompt
from rag.answer.generation.errors import FailureReason, english
from rag.answer.generation.rate_limit import Rate, RateLimits
from rag.answer.generation.writer import ModelWriter
from rag.answer.types import Answer, ClaimPart, Ending, LinePart, PassagePart, WritingStarted
from rag.types import Article
from tests.fakes.answers.answers import (
    ARTICLES,
    KEY,
    KEYS,
    LINES,
    QUESTION,
    RENT,
    TEXTS,
    answer,
    events,
    settings,
    shown,
    texts,
    writer,
)
from tests.fakes.answers.model_server import (
    Behaviour,
    Exchange,
    breaks,
    broken_events,
    empty,
    fails,
    garbage,
    good,
    huge,
    in_turn,
    keeps_alive,
    limited,
    no_protocol,
    refusing,
    serving,
    silent,
    slow_to_begin,
    stalls,
    structured,
)

WITHIN = 0.3  # seconds, as the page promises


# --- what goes well ---


def test_passages_come_in_order_and_what_names_nothing_is_only_counted() -> None:
    with serving(good(LINES)) as server:
        first, *came, last = events(server)

    assert first == WritingStarted()
    assert isinstance(last, Answer)
    assert tuple(came) == last.parts
    assert came[0] == LinePart("rule")
    assert last.ending is Ending.WRITTEN
    assert last.reason == ""
    assert texts(last) == TEXTS
    assert (last.unreadable, last.removed) == (1, ())
    assert (last.model, last.judge, last.prompt_version) == ("scripted", "", "fr-quotes-2")
    assert (last.usage.input_tokens, last.usage.output_tokens) == (7, 11)
    assert last.usage.seconds > 0


def test_labels_and_ids_both_name_an_article() -> None:
    with serving(good([KEYS, RENT])) as server:
        found = answer(server)

    assert [part.article_id for part in found.parts if isinstance(part, PassagePart)] == ["KEYS", "RENT"]


def test_the_model_is_told_of_each_article_and_the_key_goes_only_into_its_header() -> None:
    with serving(good(LINES)) as server:
        answer(server)

    [seen] = server.seen
    assert seen.headers["authorization"] == f"Bearer {KEY}"
    assert KEY not in str(seen.body)
    for article in ARTICLES:
        assert all(f"{part.strip(' .')}." in seen.prompt for part in article.text.split(". "))
        assert f"id : {article.id}" in seen.prompt
    assert QUESTION in seen.prompt
    assert seen.body["max_tokens"] == 1024
    assert seen.body["temperature"] == 0


@pytest.mark.parametrize(("provider", "asked"), [("openai", "/v1/chat/completions"), ("ollama", "/api/chat"),
                                                  ("anthropic", "/v1/messages")])  # fmt: skip
@pytest.mark.parametrize("wanted", ["lines", "schema"])
def test_each_provider_writes_the_same_answer_in_lines_and_by_schema(
    provider: str, asked: str, wanted: str
) -> None:
    with serving(structured(LINES)) as server:
        url = server.url if provider == "openai" else server.root
        found = answer(server, model=f"{provider}:scripted", url=url, format=wanted)

    assert server.seen[0].path.startswith(asked)
    assert texts(found) == TEXTS
    assert (found.usage.input_tokens, found.usage.output_tokens) == (7, 11)
    body = server.seen[0].body
    assert any(key in body for key in ("response_format", "format", "output_config")) == (wanted == "schema")


def test_writing_and_each_passage_come_within_the_promised_time_of_their_tokens() -> None:
    with serving(good(LINES, pause=0.004)) as server:
        arrived: dict[str, float] = {}
        made = writer(server)
        made._means.model.clients.get(False)  # its packages are loaded once a process
        for event in made.write(QUESTION, ARTICLES, "fr"):
            now = time.monotonic()
            if isinstance(event, WritingStarted):
                arrived["writing"] = now
            elif isinstance(event, PassagePart):
                arrived[str(shown(event))] = now

        assert arrived["writing"] - server.sent[0].at < WITHIN
        assert arrived[TEXTS[0]] - server.sent_by(KEYS.rstrip()) < WITHIN
        assert arrived[TEXTS[1]] - server.sent_by(RENT.rstrip()) < WITHIN
        assert arrived[TEXTS[0]] < server.sent[-1].at  # long before the model had ended


def test_a_refusal_ends_the_answer() -> None:
    with serving(refusing) as server:
        found = answer(server)

    assert found.ending is Ending.REFUSED
    assert (found.parts, found.reason) == ((), "")


def test_the_fixed_sentence_is_a_refusal_too() -> None:
    with serving(good([prompt.load("fr").refusal])) as server:
        assert answer(server).ending is Ending.REFUSED


def test_a_passage_that_comes_twice_is_shown_once() -> None:
    with serving(good([KEYS, KEYS, KEYS])) as server:
        assert texts(answer(server)) == TEXTS[:1]


def test_an_answer_cut_at_its_bound_says_so() -> None:
    with serving(good([KEYS], finish="length")) as server:
        found = answer(server)

    assert (found.ending, found.reason) == (Ending.WRITTEN, FailureReason.CUT)


def test_only_the_best_articles_are_shown_to_the_model_and_the_others_are_named() -> None:
    with serving(good([KEYS])) as server:
        found = answer(server, articles=2)

    assert found.left_out == ("WIND",)
    assert "Le vent appartient" not in server.seen[0].prompt


def test_half_a_character_in_a_question_does_not_keep_it_from_being_sent() -> None:
    with serving(good([KEYS])) as server:
        *_, last = writer(server).write("Où \ud83d vont les clés ?", ARTICLES, "fr")

    assert isinstance(last, Answer)
    assert last.ending is Ending.WRITTEN
    assert "Où \ufffd vont les clés ?" in server.seen[0].prompt


def test_without_articles_the_model_is_not_asked() -> None:
    with serving(good([KEYS])) as server:
        *_, last = writer(server).write(QUESTION, [], "fr")

    assert isinstance(last, Answer)
    assert last.ending is Ending.REFUSED
    assert server.seen == []


def test_what_the_window_has_no_room_for_is_named() -> None:
    long = Article(
        "LONG", "Code des moulins", "10", "Le meunier moud le grain. " * 400 + "La clé est en fer."
    )
    with serving(good([KEYS])) as server:
        made = writer(server, window=2048, output=256)
        *_, last = made.write(QUESTION, [*ARTICLES, long], "fr")

    assert isinstance(last, Answer)
    [trimmed] = last.trimmed
    assert (trimmed.article_id, trimmed.of) == ("LONG", len(long.text))
    assert 0 < trimmed.kept < trimmed.of
    assert "La clé est en fer." in server.seen[0].prompt  # what shares a word with the question
    assert re.search(r"^A4\.401 La clé", server.seen[0].prompt, re.MULTILINE)
    assert "A4.350 " not in server.seen[0].prompt  # its number is the gap


def test_a_question_that_fills_the_window_is_said_to_be_too_long() -> None:
    with serving(good([KEYS])) as server:
        *_, last = writer(server, window=1024, output=64).write("pourquoi " * 900, ARTICLES, "fr")

    assert isinstance(last, Answer)
    assert (last.ending, last.reason) == (Ending.FAILED, FailureReason.TOO_LONG)
    assert set(last.left_out) == {article.id for article in ARTICLES}
    assert server.seen == []


# --- what goes wrong: the articles are untouched, and there is a message ---


@pytest.mark.parametrize(
    ("behaviour", "changes", "ending", "reason"),
    [
        (silent(), {"first_token": 0.3}, Ending.FAILED, FailureReason.SLOW),
        (slow_to_begin(30), {"first_token": 0.3}, Ending.FAILED, FailureReason.SLOW),
        (keeps_alive(), {"first_token": 0.3}, Ending.FAILED, FailureReason.SLOW),
        (silent(), {"whole": 0.3}, Ending.FAILED, FailureReason.SLOW),
        (fails(401), {}, Ending.FAILED, FailureReason.REFUSED_KEY),
        (fails(403), {}, Ending.FAILED, FailureReason.REFUSED_KEY),
        (fails(404), {}, Ending.FAILED, FailureReason.UNKNOWN_MODEL),
        (fails(400), {}, Ending.FAILED, FailureReason.REJECTED),
        (fails(413), {}, Ending.FAILED, FailureReason.TOO_LONG),
        (fails(500), {}, Ending.FAILED, FailureReason.SERVER),
        (limited("90"), {}, Ending.LIMITED, english(FailureReason.SERVER_BUSY, seconds=90)),
        (limited(), {}, Ending.LIMITED, english(FailureReason.SERVER_BUSY, seconds=60)),
        (empty, {}, Ending.EMPTY, FailureReason.UNREADABLE),
        (garbage, {}, Ending.EMPTY, FailureReason.UNREADABLE),
        (no_protocol, {}, None, None),
        (broken_events, {}, None, None),
    ],
)  # fmt: skip
def test_a_server_that_fails_gives_an_answer_that_says_so(
    behaviour: Behaviour, changes: dict[str, float], ending: Ending | None, reason: str | None
) -> None:
    with serving(behaviour) as server:
        begun = time.monotonic()
        found = answer(server, **changes)
        took = time.monotonic() - begun

    assert took < 5
    assert found.parts == ()
    assert found.ending is ending or (ending is None and found.ending in (Ending.FAILED, Ending.EMPTY))
    assert found.reason == reason or (reason is None and found.reason in set(FailureReason))
    assert KEY not in repr(found)
    assert QUESTION not in repr(found)


@pytest.mark.parametrize(
    ("behaviour", "reason"), [(stalls([KEYS]), FailureReason.STALLED), (breaks([KEYS]), FailureReason.BROKEN)]
)
def test_what_passed_before_the_stream_broke_stays(behaviour: Behaviour, reason: FailureReason) -> None:
    with serving(behaviour) as server:
        found = answer(server, between=0.4, retries=2)

    assert (found.ending, found.reason) == (Ending.FAILED, reason)
    assert texts(found) == TEXTS[:1]
    assert len(server.seen) == 1  # it is not asked again: a second answer would contradict what is shown


def test_a_dead_server_is_told_from_a_slow_one() -> None:
    with serving(empty) as server:
        pass
    found = answer(server)

    assert (found.ending, found.reason) == (Ending.FAILED, FailureReason.DEAD)


def test_an_endless_answer_is_ended_and_the_connection_closed() -> None:
    with serving(huge(KEYS)) as server:
        found = answer(server)
        assert server.hung_up.wait(5)
    assert (texts(found), found.reason) == (TEXTS[:1], FailureReason.CUT)


def test_a_provider_that_does_not_exist_is_an_answer_too(caplog: pytest.LogCaptureFixture) -> None:
    with serving(empty) as server:
        found = answer(server, model="nobody:scripted")

    assert (found.ending, found.reason) == (Ending.FAILED, FailureReason.SETTINGS)
    assert "LangChain knows no provider 'nobody'" in caplog.text


def test_a_provider_that_is_not_installed_names_what_to_install(caplog: pytest.LogCaptureFixture) -> None:
    with serving(empty) as server:
        found = answer(server, model="groq:scripted")

    assert found.reason == FailureReason.SETTINGS
    assert "pip install langchain-groq" in caplog.text


def test_a_part_that_breaks_shows_nothing_and_is_logged_without_its_words(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def breaking(text: str) -> bool:
        raise RuntimeError(f"cannot check {text}")

    monkeypatch.setattr("rag.answer.composition.unfit", breaking)
    with serving(good(LINES)) as server:
        last = answer(server)

    assert (last.ending, last.reason, last.parts) == (Ending.FAILED, FailureReason.UNEXPECTED, ())
    assert f"the answer failed with RuntimeError at {__name__}" in caplog.text
    assert TEXTS[0] not in caplog.text


# --- once more ---


def test_a_server_that_recovers_is_asked_again() -> None:
    with serving(in_turn(fails(500), fails(503), good(LINES))) as server:
        found = answer(server, retries=2)

    assert texts(found) == TEXTS
    assert len(server.seen) == 3


def test_retries_end() -> None:
    with serving(fails(500)) as server:
        found = answer(server, retries=1)

    assert found.reason == FailureReason.SERVER
    assert len(server.seen) == 2


@pytest.mark.parametrize("code", [401, 403, 404])
def test_what_another_try_cannot_help_is_not_tried_again(code: int) -> None:
    with serving(fails(code)) as server:
        answer(server, retries=3)

    assert len(server.seen) == 1


def test_the_server_says_when_to_ask_again() -> None:
    with serving(in_turn(limited("1"), good(LINES))) as server:
        begun = time.monotonic()
        found = answer(server, retries=1)

    assert texts(found) == TEXTS
    assert time.monotonic() - begun >= 1.0


def test_a_long_wait_is_told_and_not_waited_for() -> None:
    with serving(limited("3600")) as server:
        found = answer(server, retries=3)

    assert (found.ending, found.wait) == (Ending.LIMITED, 3600)
    assert len(server.seen) == 1


def rejects_extras(exchange: Exchange) -> None:
    """A server that knows neither schemas nor counts."""
    if "response_format" in exchange.seen.body or "stream_options" in exchange.seen.body:
        fails(400)(exchange)
    else:
        good(LINES)(exchange)


def test_a_server_that_rejects_the_extras_is_asked_without_them_from_then_on() -> None:
    with serving(rejects_extras) as server:
        made = writer(server, format="schema")
        for _ in range(2):
            *_, last = made.write(QUESTION, ARTICLES, "fr")
            assert isinstance(last, Answer)
            assert texts(last) == TEXTS

    assert len(server.seen) == 3


# --- cancelling ---


def test_closing_ends_the_request() -> None:
    with serving(stalls([KEYS])) as server:
        draft = writer(server).write(QUESTION, ARTICLES, "fr")
        assert next(draft) == WritingStarted()
        draft.close()
        assert server.hung_up.wait(2)
        *_, last = draft

    assert isinstance(last, Answer)
    assert last.ending is Ending.STOPPED


def test_dropping_the_draft_ends_the_request() -> None:
    with serving(stalls([KEYS])) as server:
        for event in writer(server).write(QUESTION, ARTICLES, "fr"):
            assert event == WritingStarted()
            break
        assert server.hung_up.wait(2)


@pytest.mark.parametrize("behaviour", [silent(), stalls([KEYS]), fails(500)])
def test_another_thread_may_close_while_one_waits(
    behaviour: Behaviour, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rag.answer.generation.stream.BACKOFF", 1.0)
    with serving(behaviour) as server:
        draft = writer(server, retries=10).write(QUESTION, ARTICLES, "fr")
        timer = threading.Timer(0.3, draft.close)
        timer.start()
        begun = time.monotonic()
        *_, last = draft
        timer.join()

    assert isinstance(last, Answer)
    assert last.ending is Ending.STOPPED
    assert time.monotonic() - begun < 2.5


def test_a_draft_that_was_closed_before_it_began_asks_nobody() -> None:
    with serving(good(LINES)) as server:
        draft = writer(server).write(QUESTION, ARTICLES, "fr")
        draft.close()
        [last] = draft

    assert isinstance(last, Answer)
    assert last.ending is Ending.STOPPED
    assert server.seen == []


def test_many_answers_at_once() -> None:
    with serving(good(LINES, pause=0.002)) as server:
        made = writer(server)
        found: list[Answer] = []

        def write() -> None:
            *_, last = made.write(QUESTION, ARTICLES, "fr")
            assert isinstance(last, Answer)
            found.append(last)

        threads = [threading.Thread(target=write) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    assert [texts(each) for each in found] == [TEXTS] * 8


# --- limits ---


@pytest.mark.parametrize("provider", ["openai", "ollama", "anthropic"])
@pytest.mark.parametrize(
    "behaviour",
    [
        pytest.param(good(LINES), id="good"),
        pytest.param(fails(400), id="400"),
        pytest.param(empty, id="empty"),
    ],
)
def test_no_connection_is_left_open(behaviour: Behaviour, provider: str) -> None:
    with serving(behaviour) as server:
        url = server.url if provider == "openai" else server.root
        answer(server, model=f"{provider}:scripted", url=url)
        assert server.seen
        until = time.monotonic() + 5
        while (left := _open_to(server.root)) and time.monotonic() < until:
            time.sleep(0.02)

    assert left == []


def _open_to(root: str) -> list[asyncio.Transport]:
    """Return the transports of this process that are connected to a server."""
    port = int(root.rpartition(":")[2])
    transports = [each for each in gc.get_objects() if issubclass(type(each), asyncio.Transport)]
    return [
        each
        for each in transports
        if not each.is_closing() and (each.get_extra_info("peername") or ("", 0))[1] == port
    ]


def test_one_address_does_not_use_up_what_a_host_allows() -> None:
    with serving(good(LINES)) as server:
        made = writer(server, RateLimits(None, Rate(9, 3600.0), Rate(2, 3600.0)))
        endings = []
        for session in range(5):  # a script takes a new session for each question
            *_, last = made.for_session(session, address="192.0.2.7").write(QUESTION, ARTICLES, "fr")
            endings.append(last.ending if isinstance(last, Answer) else None)
        *_, other = made.for_session("reader", address="192.0.2.8").write(QUESTION, ARTICLES, "fr")

    assert endings == [Ending.WRITTEN] * 2 + [Ending.LIMITED] * 3
    assert isinstance(other, Answer)
    assert other.ending is Ending.WRITTEN
    assert len(server.seen) == 3


def test_limits_by_session_and_by_host() -> None:
    with serving(good(LINES)) as server:
        limits = RateLimits(Rate(1, 60.0), Rate(2, 60.0))
        made = ModelWriter(settings(server), limits=limits)
        endings = []
        for session in ("one", "one", "two", "three"):
            *_, last = made.for_session(session).write(QUESTION, ARTICLES, "fr")
            assert isinstance(last, Answer)
            endings.append(last.ending)

    assert endings == [Ending.WRITTEN, Ending.LIMITED, Ending.WRITTEN, Ending.LIMITED]
    assert isinstance(last, Answer)
    assert last.reason == "Too many answers were asked for. Try again in 60 seconds."
    assert len(server.seen) == 2


def test_a_retry_takes_from_the_host_and_not_from_the_person() -> None:
    with serving(fails(500)) as server:
        made = ModelWriter(settings(server, retries=5), limits=RateLimits(Rate(1, 60.0), Rate(2, 60.0)))
        *_, last = made.write(QUESTION, ARTICLES, "fr")

    assert isinstance(last, Answer)
    assert last.reason == FailureReason.SERVER
    assert len(server.seen) == 2


def test_messages_are_said_in_the_readers_language() -> None:
    with serving(fails(401)) as server:
        made = writer(server).for_session("a", lambda message, **values: f"«{message.format(**values)}»")
        *_, last = made.write(QUESTION, ARTICLES, "fr")

    assert isinstance(last, Answer)
    assert last.reason == f"«{FailureReason.REFUSED_KEY}»"


# --- the baseline ---


def test_the_baseline_writes_prose_of_which_nothing_is_verified() -> None:
    with serving(good(["Rendez les clés en trois jours. ", "Le loyer se paie en farine."])) as server:
        made = ModelWriter(settings(server), prompt=lambda language: prompt.load(prompt.BASELINE))
        *_, last = made.write(QUESTION, ARTICLES, "fr")

    assert isinstance(last, Answer)
    assert last.ending is Ending.WRITTEN
    assert last.parts == (
        ClaimPart("Rendez les clés en trois jours.", (), (), verified=False),
        ClaimPart("Le loyer se paie en farine.", (), (), verified=False),
    )
    assert "response_format" not in server.seen[0].body
    assert "1. Code des moulins, 7" in server.seen[0].prompt
