"""What of a whole answer is shown: a stump of one that lost its rule, its condition or its half misleads."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from rag.answer.composition import unfit
from rag.answer.passages import units
from rag.answer.types import Choice, ClaimPart, Fault, GapPart, Passage, RejectedSentence, Statement, Verdict
from rag.answer.verification.hard_checks import passages
from rag.answer.verification.judge import NOT_JUDGED, Judgement
from rag.text.language import language_of
from rag.text.patterns import any_of, data, plain
from rag.types import Article

HALF = 0.5  # of the claims that must be verified


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence of a model, with what code and judge found."""

    statement: Statement
    faults: tuple[Fault, ...]  # of hard checks; one that has any is not judged
    judgement: Judgement = NOT_JUDGED

    @property
    def verified(self) -> bool:
        """Whether nothing is wrong with it and the judge says that the law supports it."""
        return not self.faults and self.judgement.verdict is Verdict.SUPPORTED


@dataclass(frozen=True, slots=True)
class Decision:
    """What is shown of the claims: nothing where they fall as a whole."""

    parts: tuple[ClaimPart | GapPart, ...]
    removed: tuple[RejectedSentence, ...]


def decide(
    claims: Sequence[Claim],
    shown: Mapping[str, Article],
    *,
    withhold: bool = False,
    language: str | None = None,
    unreadable: int = 0,
) -> Decision:
    """Decide by the whole what is shown, of claims most likely in a language; `shown` are the articles by id.

    The answer falls if its first claim is not verified, or one that sets a condition or an exception, or more
    than half of the claims; and if some could not be read, for one of these may have been the exception.
    Others that are not verified are marked, or with `withhold` removed; those with which a hard check found
    something, or that the law contradicts, are removed. Where some were, there is a gap.
    """
    lost = [claim for claim in claims if not claim.verified]
    if (
        not claims
        or unreadable
        or not claims[0].verified
        or any(restricts(claim.statement.text, language) for claim in lost)
        or len(lost) > HALF * len(claims)
    ):
        return Decision((), tuple(map(_rejected, claims)))
    parts: list[ClaimPart | GapPart] = []
    removed = []
    for claim in claims:
        verdict = claim.judgement.verdict
        if claim.faults or verdict is Verdict.CONTRADICTED or (withhold and not claim.verified):
            removed.append(_rejected(claim))
            contradicted = verdict is Verdict.CONTRADICTED
            if parts and isinstance(parts[-1], GapPart):
                contradicted = parts.pop() == GapPart(contradicted=True) and contradicted
            parts.append(GapPart(contradicted))
            continue
        said = claim.statement
        carried = tuple(_carrying(claim, shown)) if claim.verified else ()
        parts.append(ClaimPart(said.text, said.article_ids, carried, claim.verified))
    return Decision(tuple(parts), tuple(removed))


def restricts(text: str, likely: str | None = None) -> bool:
    """Tell whether a sentence sets a condition, an exception or a limit: others say too much without it."""
    return _restricting(language_of(text, likely=likely)).search(plain(text)) is not None


@cache
def _restricting(language: str) -> re.Pattern[str]:
    limits, absolutes = data("rag.answer", "limits"), data("rag.answer", "absolutes")
    return any_of(
        [
            *limits["opens"],
            *limits["takes_back"],
            limits["within"][language],
            absolutes["narrowed"][language],
            absolutes["only"][language],
        ]
    )


def law_of(claims: Sequence[Claim], shown: Mapping[str, Article]) -> Iterator[Choice]:
    """Yield the passages of law that claims quote or, where they quote none that stand there, cite."""
    for claim in claims:
        said = claim.statement
        quoted = passages(said, shown)
        for place in quoted:
            article = shown[place.article_id]
            touched = units(article.text, article.language).touching(place.start, place.end)
            yield Choice(article.id, touched[0], touched[-1])
        for id_ in said.article_ids:
            if id_ in shown and all(place.article_id != id_ for place in quoted):
                yield Choice(id_, None, None, said.text)


def _carrying(claim: Claim, shown: Mapping[str, Article]) -> Iterator[Passage]:
    """Yield the sentences of law that carry a claim: what the judge named, else what the model quoted."""
    named = claim.judgement.passage
    places = (named,) if named is not None else passages(claim.statement, shown)
    for id_ in dict.fromkeys(place.article_id for place in places):
        article = shown[id_]
        own = units(article.text, article.language)
        here = (place for place in places if place.article_id == id_)
        for start, end in own.runs(unit for place in here for unit in own.touching(place.start, place.end)):
            if not unfit(article.text[start:end]):
                yield Passage(id_, start, end)


def _rejected(claim: Claim) -> RejectedSentence:
    return RejectedSentence(claim.statement, claim.faults, None if claim.faults else claim.judgement.verdict)
