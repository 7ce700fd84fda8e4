from __future__ import annotations

from pathlib import Path

import pytest

import indexes
from indexes.corpus.questions import read_questions
from rag.corpus.card import Contact, CorpusCard, Elsewhere
from rag.engine.engine import Engine
from rag.engine.result import Result
from rag.screening.decision import Decision, DecisionReason, not_law, screen_question, steps_in_time
from rag.screening.emergencies import Danger
from rag.screening.personal_data import PersonalDataKind
from rag.types import Article, KnownItem, Shown, Why
from training import before as measure

CASES = Path(__file__).parent / "cases"
CARD = CorpusCard("law", "Law", "fr", "FR", contacts=(Contact("Une permanence"),))
SHOWN = (Shown(1, Article("a", "Code", "1", "Le mur est mitoyen."), 1.0, Why()),)
TOPIC = Elsewhere("rent", {"fr": "loyer"}, "Loi", ("loyer",), {"fr": "Ailleurs."})


def decided(question: str = "à qui est le mur", **of: object) -> Decision:
    asked = {"status": "found", "shown": SHOWN, "confidence": 0.9} | of
    return screen_question(question, Result(question, **asked), CARD)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def engine() -> Engine:
    return indexes.open("builtin")


def test_a_sure_list_may_be_handed_to_a_model() -> None:
    made = decided()
    assert made == Decision()
    assert made.may_ask
    assert not made.grave


@pytest.mark.parametrize(
    ("question", "of", "reason"),
    [
        ("", {"status": "empty", "shown": ()}, DecisionReason.EMPTY),
        (" \n", {}, DecisionReason.EMPTY),
        ("que dit la loi belge sur le mur", {}, DecisionReason.OTHER_COUNTRY),
        ("recette de la blanquette", {"confidence": 0.3}, DecisionReason.NOT_LAW),
        ("recette de la blanquette", {"confidence": None}, DecisionReason.NOT_LAW),
        ("xyzzy", {"status": "nothing", "shown": (), "confidence": None}, DecisionReason.NOTHING),
        ("à qui est le mur", {"doubtful": True, "confidence": 0.1}, DecisionReason.DOUBTFUL),
        ("mon loyer", {"doubtful": True, "confidence": 0.1, "elsewhere": (TOPIC,)}, DecisionReason.ELSEWHERE),
        ("mon loyer", {"elsewhere": (TOPIC,)}, None),
        ("recette de la blanquette", {"confidence": 0.9}, None),
        ("à qui est le mur", {"confidence": None}, None),
    ],
)
def test_reasons(question: str, of: dict[str, object], reason: DecisionReason | None) -> None:
    made = decided(question, **of)
    assert made.reason is reason
    assert made.may_ask is (reason is None)


def test_an_article_named_by_number_needs_no_confidence() -> None:
    known = (KnownItem("article 1", "1", None, ("a",)),)
    assert decided("article 1 et la recette", known=known, confidence=None).may_ask
    assert decided("article 823 BGB", known=known).reason is DecisionReason.OTHER_COUNTRY


def test_help_is_shown_whatever_is_decided() -> None:
    made = decided("mon mari me frappe", doubtful=True)
    assert made.reason is DecisionReason.DOUBTFUL
    assert made.grave
    assert "17" in [contact.phone for contact in made.contacts]


def test_personal_data_is_looked_for_only_where_a_question_may_leave() -> None:
    question = "écrivez-moi à zoe@example.org"
    result = Result(question, "found", SHOWN)
    assert [f.kind for f in screen_question(question, result, CARD).personal] == [PersonalDataKind.EMAIL]
    assert screen_question(question, result, CARD, leaves=False).personal == ()


def test_words_of_law_outweigh_words_of_the_kitchen() -> None:
    assert not_law("une recette de gâteau")
    assert not not_law("le vendeur du gâteau refuse le remboursement")
    assert not not_law("Mon passager n'avait pas de casque, combien de points ?")
    assert not not_law("quel taux d'incapacité pour l'AAH")


def test_no_law_makes_rich() -> None:
    assert not_law("comment gagner de l'argent vite pour payer mon loyer")


@pytest.mark.slow
def test_no_off_topic_question_reaches_a_model(engine: Engine) -> None:
    counts = measure.off_topic(CASES / "not_law.tsv", engine)
    assert sum(count["questions"] for count in counts.values()) == 76
    assert all(count["stopped"] == count["questions"] for count in counts.values())


@pytest.mark.slow
def test_legal_questions_are_not_taken_for_others(engine: Engine) -> None:
    builtin = Path(indexes.__file__).parent / "builtin"
    asked = read_questions(builtin / "questions_test.jsonl", engine.articles.values())
    counts = measure.decisions([q for q in asked if q.article_ids], engine)["answerable"]
    assert counts["questions"] == 492
    # one in a hundred at most, of each
    others = (DecisionReason.NOT_LAW, DecisionReason.OTHER_COUNTRY, DecisionReason.NOTHING)
    assert sum(counts[reason] for reason in others) <= 4.92
    assert counts["personal"] <= 4.92
    assert counts["clarifying"] <= 0.15 * counts["questions"]
    # a doubt is set to stop one answerable question in twenty, of everyday law too: it stops 27 of these
    assert counts["may ask"] >= 0.94 * counts["questions"]


@pytest.mark.slow
@pytest.mark.data
def test_questions_of_citizens_are_not_taken_for_others(engine: Engine, data: Path) -> None:
    import json

    lines = (data / "fr" / "questions_dev.jsonl").read_text(encoding="utf-8").splitlines()
    questions = [json.loads(line)["question"] for line in lines]
    reasons = [screen_question(q, engine.ask(q), engine.card).reason for q in questions]
    assert len(reasons) == 70
    assert not {DecisionReason.NOT_LAW, DecisionReason.OTHER_COUNTRY} & set(reasons)


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("I was dismissed by letter on Monday and my court hearing is on Friday", Danger.DISMISSAL),
        ("On m'a licencié lundi et j'ai reçu un commandement de quitter les lieux", Danger.EVICTION),
    ],
)
def test_of_several_time_limits_the_likeliest_is_told_first(question: str, first: Danger) -> None:
    card = indexes.open("builtin").card
    decision = screen_question(question, Result(question, "found"), card)
    assert len(decision.limits) > 1
    assert decision.limits[0].danger is first
    steps = steps_in_time(decision, card)
    assert first in steps[0].dangers
    told = {s.id for s in card.steps for each in decision.limits if each.danger in s.dangers}
    assert {step.id for step in steps} == told
