from __future__ import annotations

import json
import lzma
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.corpus.card import CorpusCard
from rag.screening import danger
from rag.screening.danger import CLASSES, classes, rule_classes
from rag.screening.danger_classifier import (
    BUCKETS,
    EVIDENCE,
    NONE,
    RULED,
    Classifier,
    Scores,
    Trees,
    classifier,
    decider,
    ngrams,
    parts,
    plain_words,
)
from rag.screening.emergencies import Danger, Emergency, help_for, situations
from rag.screening.language import question_languages
from rag.types import Floats
from training.danger import decision
from training.danger.cases import WRITTEN
from training.screening import FOLDER


def test_each_chinese_sign_is_a_word() -> None:
    assert plain_words("他打我，Émile") == ["他", "打", "我", "emile"]


@given(st.text(max_size=80))
def test_every_text_has_ngrams_in_order_and_none_outside(text: str) -> None:
    ids, counts = ngrams(text)
    assert np.all(np.diff(ids) > 0)
    assert np.all((ids >= 0) & (ids < BUCKETS))
    assert np.all(counts > 0)


def test_case_accents_and_marks_make_no_difference() -> None:
    plain, typed = ngrams("j'ai été frappée"), ngrams("  J’AI ETE,  frappee !")
    assert [part.tolist() for part in plain] == [part.tolist() for part in typed]
    assert ngrams("j'ai ete")[0].tolist() != ngrams("ete j'ai")[0].tolist()


@contextmanager
def deciding(monkeypatch: pytest.MonkeyPatch, **odds: float) -> Iterator[None]:
    """Rules and classifier make these odds of every text, and -9 of other classes; 1 raises and 0 names."""
    by = replace(decider(), raises=1.0, hints=0.0)
    told = dict.fromkeys(CLASSES, -9.0) | odds
    monkeypatch.setattr(danger, "decider", lambda: by)
    monkeypatch.setattr(danger, "log_odds", lambda question: told)
    classes.cache_clear()
    try:
        yield
    finally:
        monkeypatch.undo()
        classes.cache_clear()


MENACED = "mon voisin menace de me tuer depuis hier soir"
NEUTRAL = "hier soir il a dit un mot de trop à ma porte"


@pytest.mark.parametrize(
    ("odds", "question", "found"),
    [
        (1.1, NEUTRAL, {"threat": True}),
        (0.5, NEUTRAL, {"threat": False}),
        (-0.5, NEUTRAL, {}),
        (1.1, MENACED, {"threat": True}),
        (-9.0, MENACED, {"threat": False}),  # what the rules raise is named at least
    ],
)
def test_a_class_is_raised_or_named_by_what_rules_and_classifier_tell_together(
    odds: float, question: str, found: dict[str, bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert dict(rule_classes(question)) == ({"threat": True} if question == MENACED else {})
    with deciding(monkeypatch, threat=odds):
        assert classes(question) == found


def test_what_is_far_behind_the_likeliest_is_not_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    near = 5.0 - danger.BEHIND
    with deciding(monkeypatch, violence=5.0, child=near, threat=near - 0.1):
        assert classes(NEUTRAL) == {"violence": True, "child": True}


def test_beside_a_time_limit_no_fact_is_merely_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with deciding(monkeypatch, deadline=1.5, housing=0.7, violence=0.7):
        assert classes(NEUTRAL) == {"deadline": True, "violence": False}
    with deciding(monkeypatch, housing=0.5, deadline=0.5):
        assert classes(NEUTRAL) == {"deadline": False, "housing": False}
        assert situations(NEUTRAL)[0] == Emergency(Danger.HOUSING, now=False)


@pytest.mark.parametrize("question", ["il menace de me tuer", "我想死", "quiero morir"])
def test_of_a_few_words_the_rules_alone_tell(question: str) -> None:
    assert danger.log_odds(question) is None
    assert any(rule_classes(question).values())
    assert classes(question) == rule_classes(question)


@pytest.mark.parametrize(
    ("question", "raised"),
    [
        ("intihar etmek istiyorum", {"suicide"}),
        ("xyz " * 8 + "OQTF 48h", {"removal"}),  # a language that nothing tells
    ],
)
def test_in_few_words_and_in_an_unknown_language_what_the_rules_raise_stands(
    question: str, raised: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not question_languages("xyz " * 8 + "OQTF 48h")
    with deciding(monkeypatch, removal=-9.0):
        assert {name for name, now in classes(question).items() if now} == raised


def test_the_number_of_the_likeliest_danger_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    card = CorpusCard("law", "Law", "fr", "FR")
    found = [Emergency(Danger.VIOLENCE, now=True), Emergency(Danger.CHILD, now=True)]
    assert help_for(found, card)[0].phone == "119"
    found[0] = replace(found[0], likeliest=True)
    assert help_for(found, card)[0].phone == "3919"

    with deciding(monkeypatch, child=2.0, violence=3.0, suicide=2.0):
        told = situations(NEUTRAL)
        assert {each.danger for each in told if each.likeliest} == {Danger.VIOLENCE}
        assert {each.danger for each in told} == {Danger.VIOLENCE, Danger.CHILD, Danger.SUICIDE}
        # who says in plain words that he wants to die is told of that first
        told = situations(f"{NEUTRAL}, je veux me suicider")
        assert {each.danger for each in told if each.likeliest} == {Danger.SUICIDE}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("Il crie. Que faire ?", [["Il crie"], ["Que faire"]]),
        ("hier, il crie", [["hier, il crie", "hier", "il crie"]]),
        ("un deux", [["un deux"]]),
        (
            "a b c d e f g h i j k l m n o",  # fifteen words without a mark
            [["a b c d e f g h i j k l m n o", "a b c d e f g h i", "f g h i j k l m n", "k l m n o"]],
        ),
        ("我" * 29, [["我" * 29, "我" * 18, "我" * 18, "我" * 9]]),
    ],
)
def test_a_text_is_read_by_its_sentences_their_clauses_and_runs_of_words(
    text: str, expected: list[list[str]]
) -> None:
    assert parts(text) == [list(dict.fromkeys(each)) for each in expected]


@given(st.text(alphabet="abé我 ,.?!\n", max_size=200))
def test_every_word_stands_in_a_part(text: str) -> None:
    whole = " ".join(sentence for sentence, *_ in parts(text))
    assert plain_words(whole) == plain_words(text)
    for sentence, *within in parts(text):
        assert all(part in sentence and part.strip() == part != "" for part in within)


class Spelled:
    """A classifier whose score of a text is how many words it has, in all classes."""

    def scores(self, text: str) -> Scores:
        own = np.full(len(CLASSES), len(text.split()), np.float32)
        return Scores(own, 1.0, own - 1)


def test_evidence_is_of_the_text_and_of_its_parts() -> None:
    by = cast("Classifier", Spelled())
    told, plain, _ = danger.evidence("Ceci est une phrase plus longue. Il menace de me tuer, hier.", by)
    at = CLASSES.index("threat")
    assert (told.scores.classes[at], told.part_scores[at], told.words, told.french) == (12, 12, 12, True)
    assert told.ruled.nonzero()[0].tolist() == [at]
    assert told.ruled_parts[at] == 6  # the second sentence
    assert set(np.delete(told.ruled_parts, at).tolist()) == {NONE}
    # that sentence and its clause are texts of their own
    assert [(each.words, each.scores.classes[at], each.ruled_parts[at]) for each in plain] == [
        (6, 6, 6),
        (5, 5, 5),
    ]
    rows = told.rows()
    assert rows.shape == (len(CLASSES), len(EVIDENCE))
    # what the rules raise is taken for so much likelier
    assert rows[at].tolist() == [12, 0, 12, 1, 6, 12 + RULED, 12, 11, 0, 1, 0, 12, 1]
    assert np.delete(rows, at, axis=0).tolist() == [[12, 0, 12, 0, NONE, 12, 12, 11, 0, 1, 0, 12, 1]] * 11


def test_what_the_rules_take_for_unmeant_is_evidence() -> None:
    by = cast("Classifier", Spelled())
    unmeant = danger.evidence("il ne m'a pas frappée hier soir", by)[0].unmeant
    assert unmeant.nonzero()[0].tolist() == [CLASSES.index("violence")]


def test_the_rules_raise_no_part_of_a_sentence_that_denies_it() -> None:
    by = cast("Classifier", Spelled())
    whole, plain, _ = danger.evidence("Il ne menace pas de me tuer. Il menace de me tuer ?", by)
    assert whole.ruled_parts[CLASSES.index("threat")] == 5
    assert [each.words for each in plain] == [5]
    of_one, plain, runs = danger.evidence("Il menace de me tuer !", by)
    assert plain == runs == []  # it is no part of itself
    assert (of_one.ruled_parts == np.where(of_one.ruled, of_one.scores.classes, NONE)).all()


def test_a_part_that_the_rules_raise_is_a_text_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(danger, "decider", lambda: replace(decider(), trees=cast("Trees", Turned())))
    danger.log_odds.cache_clear()
    odds = danger.log_odds("Ceci est une phrase plus longue. Il menace de me tuer, hier.")
    danger.log_odds.cache_clear()
    assert odds is not None
    assert odds["threat"] == pytest.approx(-5 - danger.CLAUSE)  # the clause of five words
    assert {own for name, own in odds.items() if name != "threat"} == {-12}
    # without a mark, a run of six words of which all is said
    odds = danger.log_odds("il menace de me tuer que faire pour mon dépôt de garantie et la cave")
    danger.log_odds.cache_clear()
    assert odds is not None
    assert odds["threat"] == pytest.approx(-6 - danger.RUN)


class Turned:
    """Trees that hold a text for the likelier the fewer words it has."""

    def log_odds(self, rows: Floats) -> Floats:
        return -rows[:, WORDS]


WORDS = 11  # where `Evidence.rows` has the number of words


@pytest.mark.parametrize(
    "plain",
    [
        "mon mari me frappe", "mon fils me tape dessus", "je veux me suicider", "ma fille veut se suicider",
        "mon voisin menace de me tuer", "j'ai été violée", "mon beau-père frappe mon petit frère",
    ],
)  # fmt: skip
@pytest.mark.parametrize(
    "practical",
    [
        "{}, puis-je résilier mon bail ?",
        "{}. Comment récupérer mon dépôt de garantie auprès du propriétaire ?",
        "{} comment faire pour changer la garde et le compte bancaire",
        "{} et le syndic ne répond pas à mes courriers recommandés",
    ],
)
def test_plain_words_are_heard_among_practical_troubles(plain: str, practical: str) -> None:
    question = practical.format(plain)
    raised = {danger for danger, now in rule_classes(question).items() if now}
    assert raised
    assert raised <= {danger for danger, now in classes(question).items() if now}


@pytest.mark.parametrize(
    ("question", "raised"),
    [
        ("Que faire si vous retrouvez votre carte grise après la demande de duplicata ?", False),
        (
            "Vous souhaitez pratiquer la pêche de loisir et vous voulez connaître les règles à respecter ?",
            False,
        ),
        ("Pouvez-vous m'aider, je pense chaque jour à mourir et personne ne le sait autour de moi", True),
    ],
)
def test_what_is_worded_as_a_heading_of_advice_is_of_nobody(question: str, *, raised: bool) -> None:
    assert any(classes(question).values()) == raised


def test_a_threat_that_is_named_shows_help(monkeypatch: pytest.MonkeyPatch) -> None:
    with deciding(monkeypatch, threat=0.5):
        assert situations(NEUTRAL) == (Emergency(Danger.VIOLENCE, now=False),)


@pytest.mark.parametrize(
    "question",
    [
        "je n'ai pas été licencié, mon patron m'a seulement parlé de mes horaires",
        "mi marido no me pega, solo quiero divorciarme",
        "j'ai été expulsée de mon logement il y a douze ans",
    ],
)
def test_what_the_rules_take_for_denied_or_over_stays_so(question: str) -> None:
    assert not any(classes(question).values())


def test_what_ships_knows_every_class() -> None:
    assert classifier().names == CLASSES
    by = decider()
    assert 0 < by.hints < by.raises
    assert len(by.trees.roots) == decision.ROUNDS


@pytest.mark.slow
def test_a_writer_without_the_words_of_the_rules_is_understood() -> None:
    """Of what the rules miss in the cases that no fit has read, some is found, and little besides."""
    missed = Counter[str]()
    for name in CLASSES:
        for line in (FOLDER / f"{name}.jsonl").read_text(encoding="utf-8").splitlines():
            case = json.loads(line)
            if (
                case["half"] == "unseen"
                and case["language"] == "fr"
                and not rule_classes(case["text"]).get(name)
            ):
                kind = "case" if case["danger"] else "near"
                missed[kind] += 1
                missed[f"{kind} found"] += bool(classes(case["text"]).get(name))
    assert missed["case found"] / missed["case"] > 0.3
    assert missed["near found"] / missed["near"] < 0.06


def test_no_unseen_case_teaches() -> None:
    unseen, seen = set[str](), set[str]()
    for path in FOLDER.glob("*.jsonl"):
        for line in path.read_text(encoding="utf-8").splitlines():
            case = json.loads(line)
            (seen if case["half"] == "dev" else unseen).add(case["text"])
    with lzma.open(WRITTEN, "rt", encoding="utf-8") as lines:
        seen |= {json.loads(line)["text"] for line in lines}
    assert len(seen) > 10_000
    assert not unseen & seen
