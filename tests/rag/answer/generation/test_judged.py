"""Answers in a model's own words: checked by code, judged by a second model, decided by the whole."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Sequence
from typing import Any

import pytest

from rag.answer.generation import session
from rag.answer.generation.errors import FailureReason
from rag.answer.generation.rate_limit import Rate, RateLimits
from rag.answer.types import (
    Answer,
    ClaimPart,
    ClaimsRead,
    Ending,
    Fault,
    GapPart,
    Passage,
    PassagePart,
    Verdict,
    WritingStarted,
)
from rag.answer.verification.judge import Judgement
from rag.errors import BadInput
from rag.types import Article
from tests.fakes.answers.answers import (
    ARTICLES,
    CLAIM_TEXTS,
    CLAIMS,
    KEY,
    KEYS_CLAIM,
    LIE,
    QUESTION,
    TEXTS,
    WordJudge,
    answer,
    events,
    settings,
    texts,
    writer,
)
from tests.fakes.answers.model_server import (
    Behaviour,
    breaks,
    empty,
    fails,
    garbage,
    good,
    limited,
    refusing,
    root,
    sentence,
    serving,
    silent,
    slow_to_begin,
    stalls,
    structured,
    verdict,
)

KEYS_TEXT, RENT_TEXT = CLAIM_TEXTS
WIND_CLAIM = sentence("Le vent est à tous.", ("A3", "Le vent appartient à tous"))
ACCEPTS = {KEYS_TEXT: "restitue les clés dans les trois jours", RENT_TEXT: "se paie en farine"}


def judging(said: dict[str, str], otherwise: str = verdict("absent")) -> Behaviour:
    """A judge's server: supports the claims that it was given words for, and says the same of all others."""

    def behave(exchange: Any) -> None:
        claim = next((text for text in said if f'"claim": "{text}"' in exchange.seen.prompt), None)
        good([otherwise if claim is None else verdict("supported", said[claim])])(exchange)

    return behave


def judged(lines: Sequence[str], by: Behaviour, **changes: Any) -> tuple[Answer, int]:
    """The answer, and how often the judge was asked."""
    with serving(good(lines)) as server, serving(by) as second:
        found = answer(server, judge=settings(second, **changes))
        return found, len(second.seen)


# --- what goes well ---


def test_sentences_are_counted_as_they_come_and_shown_when_the_whole_is_decided() -> None:
    with serving(good(CLAIMS)) as server:
        came = events(server, judge=WordJudge())

    assert came[:3] == [WritingStarted(), ClaimsRead(1), ClaimsRead(2)]
    [last] = came[3:]
    assert isinstance(last, Answer)
    assert (last.ending, last.reason, last.judge) == (Ending.WRITTEN, "", "word-judge")
    assert last.prompt_version == "fr-claims-2"
    assert last.parts == (
        ClaimPart(KEYS_TEXT, ("KEYS",), (Passage("KEYS", 0, 64),), verified=True),
        ClaimPart(RENT_TEXT, ("RENT",), (Passage("RENT", 0, 64),), verified=True),
    )


def test_a_second_model_that_accepts() -> None:
    found, asked = judged(CLAIMS, judging(ACCEPTS))

    assert (found.ending, found.judge, asked) == (Ending.WRITTEN, "scripted", 2)
    assert (found.usage.input_tokens, found.usage.output_tokens) == (21, 33)  # of three calls
    assert [(part.text, part.verified) for part in found.parts if isinstance(part, ClaimPart)] == [
        (KEYS_TEXT, True),
        (RENT_TEXT, True),
    ]


def test_the_judge_reads_the_claim_and_the_whole_article_with_a_key_of_its_own() -> None:
    with serving(good([KEYS_CLAIM])) as server, serving(judging(ACCEPTS)) as second:
        answer(server, judge=settings(second, key=None))

    [asked] = second.seen
    assert ARTICLES[0].text in asked.prompt
    assert ARTICLES[1].text not in asked.prompt
    assert QUESTION not in asked.prompt
    assert KEY not in str((asked.headers, asked.body))


@pytest.mark.slow
@pytest.mark.parametrize("provider", ["openai", "ollama", "anthropic"])
def test_servers_are_held_to_a_schema_of_claims_and_of_verdicts(provider: str) -> None:
    with serving(structured(CLAIMS)) as server, serving(judging(ACCEPTS)) as second:
        url, other = ((s.url if provider == "openai" else s.root) for s in (server, second))
        by = settings(second, model=f"{provider}:scripted", url=other, format="schema")
        found = answer(server, judge=by, model=f"{provider}:scripted", url=url, format="schema")

    assert texts(found) == CLAIM_TEXTS
    assert '"quotes"' in str(server.seen[0].body).replace("'", '"')
    assert '"verdict"' in str(second.seen[0].body).replace("'", '"')


def test_what_the_judge_does_not_support_is_marked_or_withheld() -> None:
    lines = [*CLAIMS, WIND_CLAIM]
    with serving(good(lines)) as server:
        by = WordJudge({"Le vent est à tous.": Verdict.ABSENT})
        marked = answer(server, judge=by)
        withheld = answer(server, judge=by, withhold=True)

    assert marked.parts[-1] == ClaimPart("Le vent est à tous.", ("WIND",), (), verified=False)
    assert withheld.parts[-1] == GapPart()
    assert [each.verdict for each in withheld.removed] == [Verdict.ABSENT]


def test_what_a_hard_check_stops_is_not_judged_and_leaves_a_gap() -> None:
    found, asked = judged([*CLAIMS, LIE], judging(ACCEPTS))

    assert asked == 2
    assert found.parts[-1] == GapPart()
    assert [(each.faults, each.verdict) for each in found.removed] == [((Fault.ALTERED,), None)]


def test_a_number_of_the_question_may_be_said_again() -> None:
    line = sentence("Pour 700 euros, le loyer se paie en farine.", ("A2", "se paie en farine"))
    with serving(good([line])) as server:
        *_, last = writer(server, judge=WordJudge()).write("Je dois 700 € ?", ARTICLES, "fr")

    assert isinstance(last, Answer)
    assert last.ending is Ending.WRITTEN


def test_the_contrary_is_told_as_a_gap_of_its_own_kind() -> None:
    with serving(good([*CLAIMS, WIND_CLAIM])) as server:
        found = answer(server, judge=WordJudge({"Le vent est à tous.": Verdict.CONTRADICTED}))

    assert found.parts[-1] == GapPart(contradicted=True)


# --- it falls: the law is shown in its place ---


@pytest.mark.parametrize(
    ("otherwise", "reason"),
    [
        (verdict("absent"), ""),
        (verdict("contradicted", "dans les trois jours"), ""),
        (verdict("supported", "des mots qui ne sont pas dans la loi"), FailureReason.JUDGE),
        (verdict("supported"), FailureReason.JUDGE),
        ("Bien sûr, c'est exact !", FailureReason.JUDGE),
        ('{"verdict": ', FailureReason.JUDGE),
    ],
)
def test_a_judge_that_does_not_support(otherwise: str, reason: str) -> None:
    found, asked = judged([KEYS_CLAIM], judging({}, otherwise))

    assert (found.ending, found.reason, asked) == (Ending.UNVERIFIED, reason, 1)
    assert found.parts == (PassagePart("KEYS", ((0, 64),), ()),)
    assert [each.statement.text for each in found.removed] == [KEYS_TEXT]


@pytest.mark.parametrize(
    ("by", "changes"),
    [
        (fails(500), {}),
        (fails(401), {}),
        (limited("600"), {}),
        (empty, {}),
        (garbage, {}),
        (silent(), {"first_token": 0.3}),
        (slow_to_begin(30), {"first_token": 0.3}),
        (stalls([]), {"between": 0.3}),
        (breaks([]), {}),
        (silent(), {"whole": 0.3}),
    ],
)
def test_a_judge_that_fails_verifies_nothing_and_is_not_waited_for(
    by: Behaviour, changes: dict[str, float]
) -> None:
    begun = time.monotonic()
    found, _ = judged(CLAIMS, by, **changes)

    assert time.monotonic() - begun < 5
    assert (found.ending, found.reason) == (Ending.UNVERIFIED, FailureReason.JUDGE)
    assert texts(found) == TEXTS
    assert KEY not in repr(found)


def test_a_dead_judge_is_found_out_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "AT_ONCE", 1)
    found, asked = judged([*CLAIMS, WIND_CLAIM], fails(500))

    assert (found.ending, asked) == (Ending.UNVERIFIED, 1)


def test_articles_that_the_judge_has_no_room_for_are_not_judged_by_half() -> None:
    long = Article("LONG", "Code des moulins", "10", ARTICLES[0].text + " Le meunier moud le grain." * 200)
    claims = [KEYS_CLAIM, sentence("Le meunier moud.", ("A2", "Le meunier moud le grain"))]
    with serving(good(claims)) as server, serving(judging(ACCEPTS)) as second:
        made = writer(server, judge=settings(second, window=1024, output=64))
        *_, last = made.write(QUESTION, [ARTICLES[0], long], "fr")

    assert isinstance(last, Answer)
    assert [part.verified for part in last.parts if isinstance(part, ClaimPart)] == [True, False]
    assert len(second.seen) == 1


def test_a_judge_that_recovers_is_asked_again() -> None:
    calls = iter([fails(503)])

    def recovers(exchange: Any) -> None:
        next(calls, judging(ACCEPTS))(exchange)

    found, asked = judged([KEYS_CLAIM], recovers, retries=1)

    assert (found.ending, asked) == (Ending.WRITTEN, 2)


def test_the_judge_has_the_time_of_an_answer_and_no_more() -> None:
    class Slow(WordJudge):
        def judge(self, claim: str, articles: Sequence[Article]) -> Judgement:
            time.sleep(3)
            return super().judge(claim, articles)

    with serving(good(CLAIMS)) as server:
        begun = time.monotonic()
        found = answer(server, judge=Slow(), whole=0.5)

    assert time.monotonic() - begun < 2.5
    assert (found.ending, found.reason) == (Ending.UNVERIFIED, FailureReason.JUDGE)


@pytest.mark.parametrize(
    "error", [RuntimeError("Vous devez"), BadInput("entailment model x cannot be loaded")]
)
def test_a_judge_that_breaks_is_logged_without_the_claim(
    error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    class Broken(WordJudge):
        def judge(self, claim: str, articles: Sequence[Article]) -> Judgement:
            raise error

    with serving(good(CLAIMS)) as server:
        found = answer(server, judge=Broken())

    assert (found.ending, found.reason) == (Ending.UNVERIFIED, FailureReason.JUDGE)
    assert "the judge" in caplog.text
    assert "Vous devez" not in caplog.text
    assert ("cannot be loaded" in caplog.text) == isinstance(error, BadInput)


def test_where_nothing_can_be_cited_there_is_nothing_to_show() -> None:
    found, asked = judged([sentence("Le loyer est libre.")], judging({}))

    assert (found.ending, found.parts, asked) == (Ending.EMPTY, (), 0)


# --- endings ---


def test_a_refusal_is_one_here_too() -> None:
    found, asked = judged(["Désolé, aucun de ces articles ne répond."], judging({}))
    refused, _ = judged([root(['{"refusal": true}'])], judging({}))
    with serving(refusing) as server:
        flagged = answer(server, judge=WordJudge())

    assert found.ending is refused.ending is flagged.ending is Ending.REFUSED
    assert asked == 0


def test_an_answer_that_was_cut_says_so() -> None:
    with serving(good(CLAIMS, finish="length")) as server:
        found = answer(server, judge=WordJudge())

    assert (found.ending, found.reason) == (Ending.WRITTEN, FailureReason.CUT)
    assert texts(found) == CLAIM_TEXTS


def test_of_an_answer_that_broke_off_the_law_is_shown() -> None:
    with serving(breaks([KEYS_CLAIM])) as server:
        found = answer(server, judge=WordJudge())

    assert (found.ending, found.reason) == (Ending.FAILED, FailureReason.BROKEN)
    assert found.parts == (PassagePart("KEYS", ((0, 64),), ()),)


def test_a_person_may_stop_the_judge() -> None:
    with serving(good(CLAIMS)) as server, serving(silent()) as second:
        draft = writer(server, judge=settings(second)).write(QUESTION, ARTICLES, "fr")

        def stop() -> None:
            end = time.monotonic() + 20  # a busy host asks a judge late
            while not second.seen and time.monotonic() < end:
                time.sleep(0.02)
            draft.close()

        stopping = threading.Thread(target=stop)
        stopping.start()
        *_, last = draft  # the judge would be silent for a minute
        stopping.join()
        assert second.hung_up.wait(5)

    assert isinstance(last, Answer)
    assert (last.ending, last.parts) == (Ending.STOPPED, ())


def test_judging_takes_from_the_limit_of_the_host_and_not_of_the_person() -> None:
    limits = RateLimits(Rate(1, 60.0), Rate(2, 60.0))
    with serving(good(CLAIMS)) as server, serving(judging(ACCEPTS)) as second:
        made = writer(server, limits, judge=settings(second))
        *_, last = made.for_session("one").write(QUESTION, ARTICLES, "fr")

    assert isinstance(last, Answer)
    assert len(second.seen) == 1  # one call wrote, one judged, and there were two
    assert last.ending is Ending.WRITTEN or last.ending is Ending.UNVERIFIED


@pytest.mark.slow
def test_neither_claim_nor_key_is_logged_while_a_judge_reads(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    for by in (judging(ACCEPTS), fails(500), garbage):
        judged(CLAIMS, by)

    assert not [secret for secret in (KEY, QUESTION, KEYS_TEXT, ARTICLES[0].text) if secret in caplog.text]


# --- what a page may ask of it ---


def test_what_the_writer_tells_of_its_judge() -> None:
    with serving(empty) as server:
        plain, local = writer(server), writer(server, judge=WordJudge(), withhold=True)
        far = writer(server, judge=settings(server, model="openai:second", url="https://models.example/v1"))

    assert (plain.judge, plain.judge_local, plain.withholds) == ("", True, False)
    assert (local.judge, local.judge_local, local.withholds) == ("word-judge", True, True)
    assert (far.judge, far.judge_local, far.withholds) == ("second", False, False)
    assert local.for_session("x").judge == "word-judge"
    far.warm()
