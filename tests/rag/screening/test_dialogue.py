from __future__ import annotations

from pathlib import Path

import pytest

import indexes
from rag.screening.dialogue import (
    LONGEST,
    TURNS,
    Conversation,
    RewriteMethod,
    StandaloneQuestion,
    leans,
    standalone,
)
from rag.text.analysers import analyser
from training import before as measure

CASES = Path(__file__).parent / "cases"
FR = analyser("fr")
ASKED = Conversation(("Bonjour, puis-je résilier le bail de mon garage ?",))


def test_a_conversation_keeps_its_last_questions() -> None:
    conversation = Conversation()
    for n in range(TURNS + 3):
        conversation = conversation.then(f" q{n} ")
    assert conversation.questions == tuple(f"q{n}" for n in range(3, TURNS + 3))
    assert conversation.then("  ") == conversation


def test_a_follow_up_is_put_behind_the_question() -> None:
    assert standalone(ASKED, "et si c'est meublé ?", FR) == StandaloneQuestion(
        "puis-je résilier le bail de mon garage — et si c'est meublé ?", RewriteMethod.JOINED
    )


@pytest.mark.parametrize("follow_up", ["", "  ", "Qui paie les frais d'obsèques de mon oncle décédé ?"])
def test_what_stands_alone_is_left_as_typed(follow_up: str) -> None:
    assert standalone(ASKED, follow_up, FR) == StandaloneQuestion(follow_up.strip(), RewriteMethod.AS_TYPED)


def test_the_first_question_of_all_leans_on_nothing() -> None:
    assert standalone(Conversation(), "et si c'est meublé ?", FR).how is RewriteMethod.AS_TYPED
    assert standalone(Conversation(("??",)), "et si c'est meublé ?", FR).how is RewriteMethod.AS_TYPED


@pytest.mark.parametrize(
    ("language", "leaning", "alone"),
    [
        ("fr", "et pour mon frère ?", "ma femme peut-elle vendre seule notre maison commune ?"),
        ("nl", "en als het gemeubeld is?", "mag de verhuurder de huurprijs elk jaar verhogen?"),
        ("en", "what about my brother?", "can the landlord raise the rent of my flat every year?"),
        ("de", "und wenn sie möbliert ist?", "darf der Vermieter die Miete jedes Jahr erhöhen?"),
        ("it", "e per mio fratello?", "il proprietario può aumentare il canone ogni anno?"),
        ("zh", "那如果没有合同呢？", "房东可以每年提高房屋租金多少次而不通知承租人吗？"),
    ],
)
def test_leaning_in_six_languages(language: str, leaning: str, alone: str) -> None:
    assert leans(leaning, analyser(language))
    assert not leans(alone, analyser(language))


def test_a_model_rewrites_and_sees_what_was_asked() -> None:
    prompts: list[str] = []

    def model(prompt: str) -> str:
        prompts.append(prompt)
        return " « Puis-je résilier le bail\n de mon garage meublé ? » "

    made = standalone(ASKED, "et si c'est meublé ?", FR, model)
    assert made == StandaloneQuestion("Puis-je résilier le bail de mon garage meublé ?", RewriteMethod.MODEL)
    assert ASKED.questions[0] in prompts[0]
    assert "et si c'est meublé ?" in prompts[0]


@pytest.mark.parametrize(
    "said",
    [
        "",
        "  ",
        "mot " * LONGEST,
        "voir https://example.org",
        "voir exemple.com",
        "<b>bail</b>",
        "l'article 1736 le permet-il ?",
    ],
)
def test_what_a_model_says_amiss_is_not_used(said: str) -> None:
    assert standalone(ASKED, "et si c'est meublé ?", FR, lambda _: said).how is RewriteMethod.JOINED


def test_a_stand_alone_question_stays_short() -> None:
    long = Conversation(("mot " * 1000,))
    made = standalone(long, "et si c'est meublé ?", FR)
    assert made.text.endswith("et si c'est meublé ?")
    assert len(made.text) <= LONGEST + 3


@pytest.mark.slow
def test_joined_follow_ups_find_their_articles() -> None:
    counts = measure.follow_ups(CASES / "follow_up.tsv", indexes.open("builtin"))
    assert counts["conversations"] == 50
    assert counts["rule"] >= 0.94
    assert counts["rule"] > counts["first only"] > counts["alone"]
