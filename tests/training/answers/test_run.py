"""Asking: contexts, resuming, failing; with scripted writers."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from rag.answer.types import Answer, Ending, Event, PassagePart
from rag.errors import BadInput
from rag.types import Article, Question, Ranking
from tests.fakes.answers.answer_writers import ARTICLES, Scripted, Silent, context, good, lying, refusing
from training.answers import writers
from training.answers.chat import ChatFailedError
from training.answers.contexts import Context, check, make, ranking_system
from training.answers.run import Candidate, TooManyFailuresError, ask, opened
from training.answers.writers import ModelSpec

BY_ID = {f"a{n}": Article(f"a{n}", "Code", str(n), f"Texte {n}.") for n in range(1, 9)}
RANKING = Ranking.of((f"a{n}", 1 / n) for n in range(1, 8))  # a8 is not found


def given(name: str, gold: tuple[str, ...], k: int = 3, seed: int = 1) -> Context:
    return make(name, Question("q", "Quoi ?", gold), RANKING, BY_ID, k=k, seed=seed)


def ids(of: Context) -> list[str]:
    return [a.id for a in of.articles]


def test_contexts() -> None:
    assert ids(given("bm25", ("a5",))) == ["a1", "a2", "a3"]
    assert not given("bm25", ("a5",)).complete
    assert given("bm25", ("a2", "a3")).complete
    assert not given("bm25", ()).complete  # no article answers: the context cannot suffice
    assert ids(given("gold", ("a8", "a2"))) == ["a1", "a2", "a8"]  # in the order of the ranking
    assert given("gold", ("a8", "a2")).complete
    assert ids(given("gold", ("a5", "a6", "a7", "a8"))) == ["a5", "a6", "a7"]  # no more than k
    assert given("none", ("a1",)).articles == ()
    part = given("part-gold", ("a2",))  # the only one is taken out
    assert ids(part) == ["a1", "a3", "a4"]
    assert ids(given("gold", (), k=2)) == ids(given("part-gold", (), k=2)) == ["a1", "a2"]


def test_what_is_taken_out_depends_on_seed_and_question_alone() -> None:
    gold = ("a1", "a2", "a3", "a4")
    parts = {tuple(ids(given("part-gold", gold, k=7, seed=seed))) for seed in range(20)}
    assert len(parts) > 3
    for part in parts:
        assert set(gold) - set(part)
    assert ids(given("part-gold", gold)) == ids(given("part-gold", tuple(reversed(gold))))


def test_names_of_contexts() -> None:
    for name in ("none", "gold", "part-gold", "bm25", "hybrid", "rrf:bm25,dense"):
        check(name)
    with pytest.raises(BadInput, match="no context 'golden': expected none, gold, part-gold, or a system"):
        check("golden")
    assert (ranking_system("none", "bm25"), ranking_system("gold", "bm25"), ranking_system("ql", "bm25")) == (
        None,
        "bm25",
        "ql",
    )


def candidate(writer: object) -> Candidate:
    return Candidate("model", writer, "p1", {"temperature": 0})  # type: ignore[arg-type]


def test_nothing_is_asked_twice(tmp_path: Path) -> None:
    writer = Scripted(lying)
    contexts = [context("q1"), context("q2")]
    path = tmp_path / "replies.jsonl"
    with opened(path) as cache:
        first = ask(candidate(writer), contexts[:1], "fr", cache)
    told: list[tuple[str, int, int | None]] = []
    with opened(path) as cache:
        both = ask(candidate(writer), contexts, "fr", cache, progress=lambda *step: told.append(step))
    assert writer.asked == ["Question q1 ?", "Question q2 ?"]
    assert both[:1] == first
    assert [step[1:] for step in told] == [(1, 2), (2, 2)]
    assert len(both[0].answer.removed) == 2
    assert b"Question q1" not in path.read_bytes()  # a question is kept as a hash


def test_another_text_date_setting_prompt_or_language_is_asked_anew(tmp_path: Path) -> None:
    writer = Scripted(good)
    who = candidate(writer)
    changed = replace(ARTICLES[0], text="Le locataire ne paie rien.")
    later = replace(ARTICLES[0], valid_from=date(2031, 1, 1))  # which the model is told
    with opened(tmp_path / "r.jsonl") as cache:
        ask(who, [context()], "fr", cache)
        ask(who, [context(articles=(changed, *ARTICLES[1:]))], "fr", cache)
        ask(who, [context(articles=(later, *ARTICLES[1:]))], "fr", cache)
        ask(replace(who, prompt_version="p2"), [context()], "fr", cache)
        ask(replace(who, settings={"temperature": 1}), [context()], "fr", cache)
        ask(replace(who, name="other"), [context()], "fr", cache)
        ask(who, [context()], "nl", cache)
        assert len(writer.asked) == 7
        ask(who, [context(gold=("a2",))], "fr", cache)  # what is gold is not told to the model
        assert len(writer.asked) == 7


def test_failures_are_not_kept_and_end_the_run(tmp_path: Path) -> None:
    breaking = Scripted(good, ending=Ending.FAILED)
    contexts = [context(f"q{n}") for n in range(9)]
    with opened(tmp_path / "r.jsonl") as cache:
        with pytest.raises(TooManyFailuresError, match=r"3 answers in a row failed \(broke\)"):
            ask(candidate(breaking), contexts, "fr", cache, give_up=3)
        assert len(breaking.asked) == 3
        assert len(cache) == 0
        failed = ask(candidate(breaking), contexts, "fr", cache, give_up=0)
        assert [w.answer.ending for w in failed] == [Ending.FAILED] * 9
        healed = ask(candidate(Scripted(good)), contexts, "fr", cache)
        assert [w.answer.ending for w in healed] == [Ending.WRITTEN] * 9


@pytest.mark.parametrize("ending", [Ending.LIMITED, Ending.STOPPED])
def test_what_did_not_end_is_asked_anew(tmp_path: Path, ending: Ending) -> None:
    with opened(tmp_path / "r.jsonl") as cache:
        ask(candidate(Scripted(good, ending=ending)), [context()], "fr", cache)
        assert len(cache) == 0


def test_a_writer_that_ends_without_an_answer_has_failed(tmp_path: Path) -> None:
    with opened(tmp_path / "r.jsonl") as cache:
        [written] = ask(candidate(Silent()), [context()], "fr", cache)
    assert (written.answer.ending, written.first_seconds) == (Ending.FAILED, None)
    assert written.answer.reason == "the writer ended without an answer"


def test_time_is_measured(tmp_path: Path) -> None:
    with opened(tmp_path / "r.jsonl") as cache:
        [slow] = ask(candidate(Scripted(good, slow=0.05)), [context()], "fr", cache)
        [refused] = ask(candidate(Scripted(refusing)), [context("q2")], "fr", cache)
    assert slow.first_seconds is not None
    assert 0.05 <= slow.first_seconds <= slow.answer.usage.seconds
    assert (slow.answer.usage.input_tokens, slow.answer.usage.output_tokens) == (100, 20)
    assert (refused.first_seconds, refused.answer.ending) == (None, Ending.REFUSED)


def test_an_extract_is_the_best_sentence_of_three_articles() -> None:
    texts = (
        "Le bail dure neuf ans. Le loyer est payé le premier jour du mois.",
        "Le loyer est payé au bailleur.",
        "   ",
        "Le loyer : non lu.",
    )
    articles = [Article(f"a{n}", "Code", str(n), text) for n, text in enumerate(texts)]
    writer = writers.candidate(ModelSpec("extractive"), "fr", 10).writer
    *passages, answer = writer.write("Quand le loyer est-il payé ?", articles, "fr")
    assert isinstance(answer, Answer)
    assert answer.parts == tuple(passages)
    assert [type(part) for part in passages] == [PassagePart, PassagePart]
    assert [part.article_id for part in passages if isinstance(part, PassagePart)] == ["a0", "a1"]
    first = passages[0]
    assert isinstance(first, PassagePart)
    assert any(start <= 23 and end >= 65 for start, end in first.spans)
    [nothing] = writer.write("Quoi ?", [Article("x", "Code", "1", "   ")], "fr")
    assert isinstance(nothing, Answer)
    assert nothing.ending is Ending.REFUSED


def test_a_rate_limit_is_waited_for_once(tmp_path: Path) -> None:
    waited: list[float] = []

    class Limited(Scripted):
        def write(self, question: str, articles: Sequence[Article], language: str) -> Iterator[Event]:
            if not waited:
                yield Answer(Ending.LIMITED, wait=7)
                return
            yield from super().write(question, articles, language)

    with opened(tmp_path / "r.jsonl") as cache:
        [written] = ask(candidate(Limited(good)), [context()], "fr", cache, sleep=waited.append)
    assert waited == [7]
    assert written.answer.ending is Ending.WRITTEN


def test_an_answer_that_other_checks_left_is_asked_anew() -> None:
    pytest.importorskip("langchain", reason="langchain is not installed: pip install '.[llm]'")
    ours = writers.candidate(ModelSpec("openai:x", base_url="http://127.0.0.1:9/v1"), "fr", 10)
    bare = writers.candidate(ModelSpec("openai:x", base_url="http://127.0.0.1:9/v1", baseline=True), "fr", 10)
    assert (ours.settings or {})["checks"] == writers.CHECKS
    assert (ours.settings or {})["judge"] == ""  # strict quoting
    assert "checks" not in (bare.settings or {})  # nothing is removed, so nothing changes


ASKED = "Untel garde ma caution"  # not where it is said: a traceback shows that line


class Talking:
    """A client that logs what it is asked, and quotes it in its error."""

    def stream(self, prompt: str) -> Iterator[object]:
        logging.getLogger("openai._base_client").debug("request: %s", prompt)
        raise ConnectionError(f"no answer to {prompt}")


def test_a_question_is_in_no_log_and_no_error(caplog: pytest.LogCaptureFixture) -> None:
    pytest.importorskip("langsmith", reason="langchain is not installed: pip install '.[llm]'")
    logging.getLogger("openai._base_client").setLevel(logging.DEBUG)
    caplog.set_level(logging.DEBUG)
    model = writers.LangChainChat(ModelSpec("openai:x"), Talking())
    with pytest.raises(ChatFailedError) as failed:
        model.say(ASKED)
    assert ASKED not in caplog.text + "".join(traceback.format_exception(failed.value))
