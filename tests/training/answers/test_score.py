"""Scores of answers, worked by hand; the writers are scripted."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from indexes.describing.significance import ratio
from rag.answer.types import (
    Answer,
    ClaimPart,
    Ending,
    LinePart,
    Passage,
    PassagePart,
    Quote,
    RejectedSentence,
    Statement,
    Usage,
)
from tests.fakes.answers.answer_writers import ARTICLES, Scripted, context, good, lying, refusing
from training.answers import score
from training.answers.aggregate import Prices, cost_summary, pooled, row
from training.answers.chat import ChatFailedError, Reply
from training.answers.judge import judge, verdict
from training.answers.run import Candidate, WrittenAnswer, ask, opened


def passed(text: str, *places: tuple[str, int, int]) -> ClaimPart:
    cited = tuple(dict.fromkeys(i for i, _, _ in places))
    return ClaimPart(text, cited, tuple(Passage(*place) for place in places), verified=True)


def written(
    *sentences: ClaimPart, gold: tuple[str, ...] = ("a1",), ending: Ending = Ending.WRITTEN
) -> WrittenAnswer:
    return WrittenAnswer(context(gold=gold), Answer(ending, sentences), None)


def test_citations_by_hand() -> None:
    rows = [
        written(passed("x", ("a1", 0, 5)), passed("y", ("a2", 0, 5)), gold=("a1", "a3")),  # 1 of 2, 1 of 2
        written(passed("x", ("a1", 0, 5)), passed("y", ("a1", 6, 9)), gold=("a1",)),  # cited twice is once
        written(gold=("a1",), ending=Ending.REFUSED),  # nothing is cited: 0
        written(passed("x", ("a1", 0, 5)), gold=()),  # no gold: left out
    ]
    found = score.citations(rows)
    assert found["citation P"].tolist() == [1 / 2, 1, 0]
    assert found["citation R"].tolist() == [1 / 2, 1, 0]
    assert found["citation F1"].tolist() == [1 / 2, 1, 0]
    assert found["citation F1 before"].tolist() == [1 / 2, 1, 0]  # nothing was removed
    [f1] = score.citations([written(passed("x", ("a1", 0, 5), ("a2", 0, 5)))])["citation F1"].tolist()
    assert f1 == 2 / 3  # precision 1/2, recall 1


def test_invented_citations_before_and_after() -> None:
    lie = Statement("Z.", ("a99",), (Quote("a98", "Z"), Quote("a1", "Le")))
    answer = Answer(Ending.WRITTEN, (passed("x", ("a1", 0, 5)),), removed=(RejectedSentence(lie, ()),))
    found = score.invented([WrittenAnswer(context(), answer, None)])
    assert [v.tolist() for v in found["invented before"]] == [[2.0], [4.0]]  # a99 and a98 of a1 a99 a98 a1
    assert [v.tolist() for v in found["invented after"]] == [[0.0], [1.0]]
    unseen = replace(answer, left_out=("a1",), removed=())  # shown to the person, not to the model
    found = score.invented([WrittenAnswer(context(), unseen, None)])
    assert [v.tolist() for v in found["invented after"]] == [[1.0], [1.0]]


def test_refusals_by_hand() -> None:
    rows = [
        written(gold=("a1",), ending=Ending.REFUSED),  # all is there: wrong to refuse
        written(gold=("a1", "a9"), ending=Ending.REFUSED),  # a9 is missing: right
        written(gold=("a9",), ending=Ending.WRITTEN),  # missing, and answered
        written(gold=(), ending=Ending.REFUSED),  # no article answers: right
        written(gold=("a9",), ending=Ending.EMPTY),  # the checks removed all: it did not refuse
    ]
    found = {name: float(a.sum() / b.sum()) for name, (a, b) in score.refusals(rows).items()}
    assert found == {"refusal P": 2 / 3, "refusal R": 2 / 4, "refusal F1": 4 / 7}


def test_faithful_by_quote_does_not_trust_the_checks() -> None:
    text = ARTICLES[0].text
    sentences = {
        "good": passed("x", ("a1", 0, len(text))),
        "beyond the end": passed("x", ("a1", 0, len(text) + 1)),
        "nothing": passed("x", ("a1", 5, 5)),
        "before the start": passed("x", ("a1", -1, 4)),
        "a blank": passed("x", ("a1", 2, 3)),
        "not given": passed("x", ("a9", 0, 3)),
        "cited without a passage": ClaimPart("x", ("a1", "a2"), (Passage("a1", 0, 5),), verified=True),
        "cites nothing": ClaimPart("x", (), (), verified=False),
    }
    assert text[2] == " "
    articles = {a.id: a for a in ARTICLES}
    assert [name for name, s in sentences.items() if score.quoted(s, articles)] == ["good"]


def test_quotes_before_the_checks() -> None:
    articles = {a.id: a for a in ARTICLES}

    def stands(*quotes: tuple[str, str], cited: tuple[str, ...] = ("a1",)) -> bool:
        return score.quotes_stand(Statement("x", cited, tuple(Quote(*q) for q in quotes)), articles)

    assert stands(("a1", "paie  le\nloyer"))  # blanks differ
    assert not stands(("a1", "paie un loyer"))
    assert not stands(("a1", " "))
    assert not stands(("a9", "paie le loyer"))
    assert not stands(("a1", "paie le loyer"), cited=("a1", "a2"))
    assert not stands(("a1", "paie le loyer"), ("a2", "inventé"))
    assert not stands()


def test_a_passage_of_law_is_a_sentence_that_quotes_itself() -> None:
    text = ARTICLES[0].text
    first = text.index(".") + 1
    parts = (LinePart("rule"), PassagePart("a1", ((0, first), (first + 1, len(text))), ((0, first),)))
    strict = WrittenAnswer(context(gold=("a1",)), Answer(Ending.WRITTEN, parts), None)
    assert strict.sentences == (passed(text, ("a1", 0, first), ("a1", first + 1, len(text))),)
    assert score.citations([strict])["citation F1"].tolist() == [1]
    assert [v.tolist() for v in score.faithful([strict])["faithful after"]] == [[1.0], [1.0]]
    quoted, words = score.words_quoted([strict], str.split)["words quoted"]
    assert quoted.tolist() == words.tolist()
    elsewhere = Answer(Ending.WRITTEN, (PassagePart("a9", ((0, 5),)),))  # of no article that was given
    [invented] = score.faithful([WrittenAnswer(context(), elsewhere, None)])["faithful after"][0].tolist()
    assert invented == 0


def test_words_quoted() -> None:
    said = passed("le loyer double", ("a1", 0, 25))  # "Le locataire paie le loy"
    found = score.words_quoted([written(said)], lambda text: text.casefold().replace(".", "").split())
    assert [v.tolist() for v in found["words quoted"]] == [[1.0], [3.0]]  # "le" alone: the loyer is cut


@pytest.fixture
def behaviours(tmp_path: Path) -> dict[str, list[WrittenAnswer]]:
    scripts = {"good": good, "lying": lying, "refusing": refusing}
    contexts = [context(f"q{n}", gold=("a1",) if n < 3 else ("a1", "a9")) for n in range(4)]
    with opened(tmp_path / "r.jsonl") as cache:
        found = {
            name: ask(Candidate(name, Scripted(script)), contexts, "fr", cache)
            for name, script in scripts.items()
        }
        breaking = Candidate("breaking", Scripted(good, ending=Ending.FAILED))
        return found | {"breaking": ask(breaking, contexts, "fr", cache, give_up=0)}


def rates(group: list[WrittenAnswer]) -> dict[str, float]:
    of = row("x, hybrid", group, seed=1, terms=str.split)
    return {m: i.value for m, i in of.measures.items()} | of.more["endings"]


def test_behaviours_are_told_apart(behaviours: dict[str, list[WrittenAnswer]]) -> None:
    honest, liar, refuser, broken = (rates(behaviours[b]) for b in ("good", "lying", "refusing", "breaking"))
    assert (honest["citation P"], honest["citation R"]) == (1, (1 + 1 + 1 + 1 / 2) / 4)
    assert (honest["invented before"], honest["invented after"]) == (0, 0)
    assert (honest["faithful before"], honest["refusal R"]) == (1, 0)
    assert math.isnan(honest["refusal P"])  # it never refused
    # of three sentences one cites what was not given and one alters what it quotes: the checks stop both
    assert (liar["invented before"], liar["invented after"]) == (1 / 3, 0)
    assert (liar["faithful before"], liar["faithful after"]) == (1 / 3, 1)
    assert liar["citation P"] == 1
    # a1, a2 and a99 against a1: 2 / 4; against a1 and a9: 2 / 5
    assert liar["citation F1 before"] == pytest.approx((3 * 2 / 4 + 2 / 5) / 4)
    assert (refuser["refusal P"], refuser["refusal R"], refuser["refused"]) == (1 / 4, 1, 1)
    assert refuser["citation F1"] == 0
    assert math.isnan(refuser["invented after"])  # it cited nothing
    assert broken["failed"] == 1


def test_pooled_refusals_count_both_contexts() -> None:
    whole = [written(gold=("a1",)), written(gold=("a1",), ending=Ending.REFUSED)]
    part = [written(gold=("a9",), ending=Ending.REFUSED), written(gold=("a9",))]
    of = pooled("x, gold and part-gold", [whole, part], seed=1)
    assert {m: i.value for m, i in of.measures.items()} == {
        "refusal P": 1 / 2,
        "refusal R": 1 / 2,
        "refusal F1": 1 / 2,
    }
    assert of.questions == 4


def test_a_ratio_is_resampled_by_question() -> None:
    above, below = np.array([1.0, 0.0, 3.0]), np.array([1.0, 2.0, 3.0])
    found = ratio(above, below, seed=1)
    assert found.value == 4 / 6
    assert 0 <= found.low < found.value < found.high <= 1
    same = ratio(below, below, seed=1)
    assert (same.low, same.value, same.high) == (1, 1, 1)  # numerator and denominator are drawn together
    assert math.isnan(ratio(above * 0, below * 0, seed=1).value)


def test_tokens_and_cost() -> None:
    usages = [Usage(1.0, 1000, 100), Usage(3.0, 3000, 100)]
    found = cost_summary(usages, Prices(2.0, 10.0))
    assert found["tokens"] == {"replies": 2, "input": 4000, "output": 200}
    assert found["cost"] == pytest.approx((4000 * 2 + 200 * 10) / 1e6)
    assert found["ms_per_question"]["median"] == 2000
    assert cost_summary([*usages, Usage(1.0)], Prices(2.0, 10.0))["cost"] is None  # one did not tell
    assert cost_summary(usages, Prices(2.0))["cost"] is None
    assert cost_summary([], Prices(1.0, 1.0))["cost"] is None


@pytest.mark.parametrize(
    ("reply", "meant"),
    [("yes", True), (" Yes.\n", True), ("**oui**", True), ("是。", True), ("No", False), ("non.", False),
     ("否", False), ("", None), ("yes, but", None), ("not sure", None), ("yes no", None), ("不", None)],
)  # fmt: skip
def test_a_verdict_is_one_word(reply: str, meant: bool | None) -> None:
    assert verdict(reply) is meant


class Judge:
    name = "judge"
    settings: dict[str, object] = {}  # noqa: RUF012

    def __init__(self) -> None:
        self.asked: list[str] = []

    def say(self, prompt: str) -> Reply:
        self.asked.append(prompt)
        if "Le bailleur" in prompt:
            raise ChatFailedError("broken")
        return Reply("yes" if "locataire" in prompt else "perhaps", Usage(0.1, 10, 1))


def test_a_judge_sees_passages_and_sentences_and_is_asked_once(tmp_path: Path) -> None:
    rows = [
        written(passed("Le locataire paie.", ("a1", 0, 27)), passed("Le vendeur ment.", ("a3", 0, 10))),
        written(passed("Le bailleur.", ("a2", 0, 11))),
    ]
    model = Judge()
    with opened(tmp_path / "r.jsonl") as cache:
        found = judge(model, rows, cache)
        again = judge(model, rows, cache)
    assert [v.tolist() for v in found.faithful] == [[1.0, 0.0], [2.0, 1.0]]
    assert found.unreadable == 2  # neither yes nor no, and a failure: both count as no
    assert [v.tolist() for v in again.faithful] == [[1.0, 0.0], [2.0, 1.0]]
    assert len(model.asked) == 4  # what failed is asked again
    assert "- Le locataire paie le loyer." in model.asked[0]
    of = row("x, y", rows, seed=1, terms=str.split, judged=found)
    assert of.measures["faithful by judge"].value == 1 / 3
    assert of.more["judge"] == {"sentences": 3, "unreadable": 2}
