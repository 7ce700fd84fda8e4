"""Many people at once, who come and go: each asks, reads, opens an article or shares what was found."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple, TypeVar

import numpy as np
from scipy import stats

from rag.errors import PandectError
from training.pages.serving import RunningServer
from training.pages.visitor import PATIENCE, Visitor, VisitorRun

_T = TypeVar("_T")
THINKS = (3.0, 8.0)  # seconds between what a person does: to read the first card and open its reasons
ARRIVE = 8.0  # seconds in which all of them have come: at one stroke nobody comes
SETTLED = 1 / 3  # of the time, after which memory is expected to be flat: caches are filled by then
SHARES, OPENS = 0.25, 0.25  # of the answers: the question goes along with the link; an article in its code
VANISHES = 0.25  # of those who leave: in the middle of an answer, as a phone does that loses its network
STAYS = 5  # answers
EVERY = 1.0  # seconds between two looks at the memory
BLOCKS = 20  # parts of the settled time; looks of one second each depend on the one before


@dataclass(frozen=True, slots=True)
class UserPlan:
    """Who comes, for how long."""

    users: int = 50
    seconds: float = 120.0
    stays: int = STAYS  # answers after which a person leaves and another comes; 0: nobody leaves
    seed: int = 42
    patience: float = PATIENCE  # seconds that somebody waits for an answer


class Failure(NamedTuple):
    """A request that brought no answer, as whoever asked was told; times of `time.perf_counter()`."""

    kind: str
    begun: float  # when it was asked, or the connection was lost before
    told: float


@dataclass(slots=True)
class UserLog:
    """What happened; times in seconds. All that is asked of the page is answered, or among the errors."""

    asked: int = 0  # but for the last question of those who vanish, whose answer nobody waits for
    arrivals: list[float] = field(default_factory=list)
    answers: list[VisitorRun] = field(default_factory=list)
    shares: list[float] = field(default_factory=list)
    opened: list[float] = field(default_factory=list)
    errors: list[Failure] = field(default_factory=list)
    memory: list[tuple[float, float]] = field(default_factory=list)  # (seconds, MiB)


def measure(page: RunningServer, questions: Sequence[str], plan: UserPlan) -> dict[str, Any]:
    """Let people use a page of which somebody has asked; return times (ms), errors and memory (MiB)."""
    log = UserLog()
    spent = page.processor()
    asyncio.run(visits(page, questions, plan, log))
    return summary(log, plan) | {"processor_s": round(page.processor() - spent, 2)}


def summary(log: UserLog, plan: UserPlan) -> dict[str, Any]:
    """Return what a result file holds of it."""
    came = len(log.arrivals) + len(log.answers) + len(log.shares) + len(log.opened)
    return {
        "plan": asdict(plan) | {"thinks_s": list(THINKS)},
        "answers": {
            "whole": times([run.seconds for run in log.answers]),
            "first_card": times([run.first_card for run in log.answers if run.first_card is not None]),
            "without_a_card": sum(not run.cards for run in log.answers),
        },
        "arrivals": times(log.arrivals),
        "shares": times(log.shares),
        "articles_opened": times(log.opened),
        "asked": log.asked,
        "errors": len(log.errors),
        "error_kinds": sorted({each.kind for each in log.errors}),
        "silently_lost": log.asked - came - len(log.errors),
        "memory": memory(log.memory),
    }


def times(seconds: Sequence[float]) -> dict[str, float | int | None]:
    """Return how many there are, with median, 95th and 99th percentile and longest in milliseconds."""
    names = ("median_ms", "p95_ms", "p99_ms", "max_ms")
    if not seconds:
        return {"n": 0, **dict.fromkeys(names)}
    found = np.quantile(seconds, (0.5, 0.95, 0.99, 1)).round(4).tolist()
    return {"n": len(seconds), **{name: round(1000 * of, 1) for name, of in zip(names, found, strict=True)}}


def memory(seen: Sequence[tuple[float, float]]) -> dict[str, Any]:
    """Return the memory at the beginning, at the end and at most, and its slope once it has settled.

    What was seen is (seconds since the beginning, MiB). The slope and its 95 % interval are those of a line
    through the means of `BLOCKS` equal parts of the settled time; None where that has no three parts.
    """
    if not seen:
        return dict.fromkeys(("begin_mib", "end_mib", "most_mib", "slope_mib_a_minute", "interval_95"))
    at, held = np.array(seen).T
    late = at >= at[0] + SETTLED * (at[-1] - at[0])
    parts = np.floor((at[late] - at[late][0]) / max(np.ptp(at[late]), 1e-9) * (BLOCKS - 1e-6))
    means = [(at[late][parts == n].mean(), held[late][parts == n].mean()) for n in np.unique(parts)]
    slope = interval = None
    if len(means) > 2:
        line = stats.linregress(*np.array(means).T)
        reach = stats.t.ppf(0.975, len(means) - 2) * np.nan_to_num(line.stderr)  # nan: no part differs
        slope, *interval = (
            round(60 * float(v), 2) for v in (line.slope, line.slope - reach, line.slope + reach)
        )
    return {
        "begin_mib": round(float(held[0]), 1),
        "end_mib": round(float(held[-1]), 1),
        "most_mib": round(float(held.max()), 1),
        "slope_mib_a_minute": slope,
        "interval_95": interval,
    }


async def visits(
    page: RunningServer,
    questions: Sequence[str],
    plan: UserPlan,
    log: UserLog,
    goes_on: Callable[[], bool] | None = None,
) -> None:
    """Let people use the page, and note in the log what happens; `goes_on`: whether the time is not over."""
    end = time.perf_counter() + plan.seconds
    going = goes_on or (lambda: time.perf_counter() < end)
    people = (_person(page, questions, plan, going, n, log) for n in range(plan.users))
    await watched(page, log.memory, asyncio.gather(*people))


async def watched(server: RunningServer, seen: list[tuple[float, float]], work: Awaitable[object]) -> None:
    """Note the memory of a server as (seconds, MiB) as long as some work lasts, while its process runs."""
    start = time.perf_counter()

    async def watch() -> None:
        while True:
            with suppress(PandectError):  # it has ended, and is started again
                seen.append((time.perf_counter() - start, server.memory()))
            await asyncio.sleep(EVERY)

    watching = asyncio.create_task(watch())
    await work
    watching.cancel()


async def _person(
    page: RunningServer,
    questions: Sequence[str],
    plan: UserPlan,
    goes_on: Callable[[], bool],
    number: int,
    log: UserLog,
) -> None:
    draw = random.Random(plan.seed * 1000 + number)  # noqa: S311 - not for secrets
    await asyncio.sleep(draw.uniform(0, min(ARRIVE, plan.seconds / 4)))
    while goes_on():
        try:
            await _visit(page, questions, plan, goes_on, draw, log)
        except (PandectError, OSError):  # it is in the log, and the person opens the page again
            await asyncio.sleep(1)


async def _visit(
    page: RunningServer,
    questions: Sequence[str],
    plan: UserPlan,
    goes_on: Callable[[], bool],
    draw: random.Random,
    log: UserLog,
) -> None:
    visitor, landing = await _asked(log, Visitor.arrive(page.port, plan.patience))
    log.arrivals.append(landing.seconds)
    answered = 0
    try:
        while goes_on() and (not plan.stays or answered < plan.stays):
            await asyncio.sleep(draw.uniform(*THINKS))
            log.answers.append(await _asked(log, visitor.ask(draw.choice(questions)), visitor))
            answered += 1
            does = draw.random()
            if does < SHARES:
                await asyncio.sleep(draw.uniform(*THINKS))
                if visitor.has("told") and (ticked := await _asked(log, visitor.tick("told"), visitor)):
                    log.shares.append(ticked.seconds)
            elif does < SHARES + OPENS and visitor.articles:
                for where in (("browse", f"article={draw.choice(visitor.articles)}"), ("",)):  # and back
                    await asyncio.sleep(draw.uniform(*THINKS))
                    log.opened.append((await _asked(log, visitor.go(*where), visitor)).seconds)
        if plan.stays and draw.random() < VANISHES:
            await visitor.vanish(draw.choice(questions))
    finally:
        await visitor.leave()


async def _asked(log: UserLog, does: Awaitable[_T], visitor: Visitor | None = None) -> _T:
    """Count what somebody does, and what it ends with if it ends without an answer."""
    log.asked += 1
    begun = time.perf_counter()
    lost = visitor.lost if visitor is not None else None
    try:
        return await does
    except (PandectError, OSError) as error:
        kind = f"{type(error).__name__}: {error}"
        log.errors.append(Failure(kind, begun if lost is None else lost, time.perf_counter()))
        raise
