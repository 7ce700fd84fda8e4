"""What of a whole answer is shown, by what code and judge found of its sentences."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.answer.passages import units
from rag.answer.types import Choice, ClaimPart, Fault, GapPart, Passage, Quote, Statement, Verdict
from rag.answer.verification.decision import Claim, decide, law_of, restricts
from rag.answer.verification.judge import Judgement
from rag.types import Article

TEXT = (
    "Le meunier rend le moulin propre à la fin du bail. Il en remet les clés dans les trois jours. "
    "Toutefois, ce délai est de dix jours si la roue est prise par la glace, ce que le bailleur constate. "
    "Le vent qui passe sur le moulin appartient à tous ceux qui vivent sur la colline et dans la vallée."
)
LAW = {"MILL": Article("MILL", "Code des moulins", "7", TEXT, language="fr")}
RULE, OTHER, THIRD = "Vous rendez les clés.", "Le moulin doit être propre.", "Le vent est à tous."
LIMIT = "Vous avez dix jours si la roue est gelée."


def claim(text: str, verdict: Verdict = Verdict.SUPPORTED, *, faults: tuple[Fault, ...] = ()) -> Claim:
    at = TEXT.index("Il en remet")
    place = Passage("MILL", at, at + 20) if verdict is Verdict.SUPPORTED else None
    return Claim(Statement(text, ("MILL",)), faults, Judgement(verdict, place))


def shown(claims: list[Claim], *, withhold: bool = False) -> list[str | None]:
    """The texts, marked ones with a star; a gap is None, a contradicted one "!"."""
    told: list[str | None] = []
    for part in decide(claims, LAW, withhold=withhold).parts:
        if isinstance(part, GapPart):
            told.append("!" if part.contradicted else None)
        else:
            told.append(part.text + ("" if part.verified else "*"))
    return told


def test_all_verified_is_all_shown_with_the_law_that_carries_it() -> None:
    found = decide([claim(RULE), claim(OTHER)], LAW)

    assert [part.text for part in found.parts if isinstance(part, ClaimPart)] == [RULE, OTHER]
    assert found.removed == ()
    [part, _] = found.parts
    assert isinstance(part, ClaimPart)
    [passage] = part.passages  # with the neighbours that the sentence needs
    assert TEXT[passage.start : passage.end] == TEXT[: TEXT.index(" Le vent")]


@pytest.mark.parametrize(
    "claims",
    [
        [],
        [claim(RULE, Verdict.ABSENT), claim(OTHER), claim(THIRD)],  # the first
        [claim(RULE, Verdict.CONTRADICTED), claim(OTHER), claim(THIRD)],
        [claim(RULE, faults=(Fault.NUMBER,)), claim(OTHER), claim(THIRD)],
        [claim(RULE, Verdict.UNKNOWN)],  # a dead judge
        [claim(RULE), claim(OTHER), claim(LIMIT, Verdict.ABSENT)],  # a condition
        [claim(RULE), claim(OTHER), claim(LIMIT, faults=(Fault.NUMBER,))],
        [claim(RULE), claim(OTHER), claim("Unless the wheel is frozen.", Verdict.UNKNOWN)],
        [claim(RULE), claim(OTHER, Verdict.ABSENT), claim(THIRD, Verdict.ABSENT)],  # more than half
    ],
)
@pytest.mark.parametrize("withhold", [False, True])
def test_it_falls_as_a_whole(claims: list[Claim], withhold: bool) -> None:
    found = decide(claims, LAW, withhold=withhold)

    assert found.parts == ()
    assert [one.statement for one in found.removed] == [one.statement for one in claims]


def test_a_line_that_could_not_be_read_may_have_been_the_exception() -> None:
    claims = [claim(RULE), claim(OTHER), claim(THIRD)]

    assert decide(claims, LAW).parts
    assert decide(claims, LAW, unreadable=1).parts == ()


def test_what_is_not_verified_is_marked_or_withheld() -> None:
    claims = [claim(RULE), claim(OTHER, Verdict.ABSENT), claim(THIRD), claim("Fin.", Verdict.UNKNOWN)]

    assert shown(claims) == [RULE, f"{OTHER}*", THIRD, "Fin.*"]
    assert shown(claims, withhold=True) == [RULE, None, THIRD, None]


def test_a_gap_stands_where_sentences_were_removed_and_neighbours_are_one() -> None:
    lost, denied = claim(OTHER, faults=(Fault.ABSOLUTE,)), claim("Fin.", Verdict.CONTRADICTED)

    # of several one had a fault alone: that the law says the contrary is not told of all
    assert shown([claim(RULE), lost, denied, claim(THIRD), claim("Oui.")]) == [RULE, None, THIRD, "Oui."]
    assert shown([claim(RULE), denied, lost, claim(THIRD), claim("Oui.")]) == [RULE, None, THIRD, "Oui."]
    assert shown([claim(RULE), denied, denied, claim(THIRD), claim("Oui.")]) == [RULE, "!", THIRD, "Oui."]
    assert shown([claim(RULE), claim(THIRD), lost]) == [RULE, THIRD, None]


def test_a_marked_sentence_has_no_law_beside_it() -> None:
    [_, part] = decide([claim(RULE), claim(OTHER, Verdict.ABSENT)], LAW).parts

    assert part == ClaimPart(OTHER, ("MILL",), (), verified=False)


CLAIMS = st.lists(
    st.builds(
        lambda text, verdict, bad: claim(text, verdict, faults=(Fault.NUMBER,) if bad else ()),
        st.sampled_from([RULE, OTHER, THIRD, LIMIT]),
        st.sampled_from(list(Verdict)),
        st.booleans(),
    ),
    max_size=9,
)


@given(CLAIMS, st.booleans())
def test_the_first_sentence_shown_is_verified_and_no_restriction_is_ever_lost(
    claims: list[Claim], withhold: bool
) -> None:
    found = decide(claims, LAW, withhold=withhold)
    parts = [part for part in found.parts if isinstance(part, ClaimPart)]

    if found.parts:
        assert isinstance(found.parts[0], ClaimPart)
        assert found.parts[0].verified
        assert sum(part.verified for part in parts) * 2 >= len(claims)
        assert {one.statement.text for one in found.removed} & {LIMIT} == set()
        assert all(part.verified for part in parts if restricts(part.text))
    assert len(parts) + len(found.removed) == len(claims)


def test_in_the_claims_place_stands_the_law_that_they_quote_or_cite() -> None:
    quoted = Claim(Statement(RULE, ("MILL",), (Quote("MILL", "remet les clés dans les trois jours"),)), ())
    cited = Claim(Statement(THIRD, ("MILL", "GONE")), (Fault.NOT_SHOWN,))

    assert list(law_of([quoted, cited], LAW)) == [Choice("MILL", 1, 1), Choice("MILL", None, None, THIRD)]
    assert len(units(TEXT, "fr").spans) == 4


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (LIMIT, True),
        ("Toutefois, cela ne joue jamais.", True),
        ("S'il part, il paie.", True),
        ("Lorsqu'il part, il paie.", True),
        ("En cas de gel, la roue reste.", True),
        ("Il paie tant que dure le bail.", True),
        ("Après mise en demeure, il part.", True),
        ("However, this is rare.", True),
        ("He pays as long as the lease runs.", True),
        ("Jedoch bleibt das Rad.", True),
        ("Tuttavia la ruota resta.", True),
        ("Echter blijft het wiel.", True),
        ("Only the landlord may.", True),
        ("Sauf accord, il part.", True),
        ("Er zahlt, es sei denn, er ist krank.", True),
        ("除非另有约定，应当支付。", True),
        (RULE, False),
        ("The landlord pays.", False),
        ("Il locatore paga.", False),
    ],
)
def test_what_sets_a_condition_or_a_limit(text: str, expected: bool) -> None:
    assert restricts(text) is expected


def test_the_questions_language_tells_that_of_a_short_condition() -> None:
    assert restricts("Der Mieter zahlt, falls er bleibt.", "de")
    assert restricts("Il conduttore paga se resta.", "it")
    assert not restricts("Der Mieter zahlt.", "de")
