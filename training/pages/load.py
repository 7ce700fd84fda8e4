"""The page and the API under load at once: people, and programs that ask, over one index.

Both servers, the people and the programs share the machine, so that times hold what the measuring costs.
What is asked is counted when it is sent, and again by what came of it: the difference was lost silently.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rag.errors import MissingExtra, install_hint
from training.pages import faults
from training.pages.faults import Event, LawRevision, inject_faults
from training.pages.serving import Kind, RunningServer
from training.pages.users import (
    ARRIVE,
    THINKS,
    Failure,
    UserLog,
    UserPlan,
    memory,
    summary,
    times,
    visits,
    watched,
)

if TYPE_CHECKING:
    import httpx

# Everybody comes from this machine, which limits by address leave alone; they are off for certain.
LIMITS = {"PANDECT_SEARCHES_PER_ADDRESS": "off", "PANDECT_MESSAGES_PER_ADDRESS": "off"}
SHARES = {"search": 0.6, "article": 0.25, "why": 0.15}  # of a client's requests, once it has found something
REST = 10.0  # seconds after the last request, until memory is looked at again
CURVE = 10  # looks at the memory, of one a second, between two that are kept


@dataclass(slots=True)
class ClientLog:
    """What came of the requests: each is answered, refused or among the errors."""

    asked: int = 0
    answered: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))  # kind -> seconds
    refused: Counter[str] = field(default_factory=Counter)  # status and type of the problem -> how often
    errors: list[Failure] = field(default_factory=list)
    without_an_article: int = 0  # searches that were answered
    # the index that an answer names, "" where it names none -> the law that its texts are of -> answers
    versions: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    when: dict[str, tuple[float, float]] = field(default_factory=dict)  # that index -> first and last answer
    memory: list[tuple[float, float]] = field(default_factory=list)  # (seconds, MiB)


def measure(
    page: RunningServer,
    api: RunningServer,
    questions: Sequence[str],
    clients: int,
    plan: UserPlan,
    law: LawRevision | None = None,
) -> dict[str, Any]:
    """Let people and programs ask; return times (ms), refusals and errors, and memory (MiB) of each server.

    A law is updated and rolled back meanwhile, and both servers are ended and started again; they are asked
    until all of that is over.

    Raises:
        MissingExtra: httpx, which comes with [api], is not installed.
        PandectError: the law was not updated, or a server did not come up again.
    """
    try:
        import httpx
    except ImportError as error:
        raise MissingExtra(f"programs ask with httpx: run {install_hint('api')}") from error
    people, programs = UserLog(), ClientLog()
    connections = httpx.Limits(max_connections=None, max_keepalive_connections=clients)

    events: list[Event] = []
    start = time.perf_counter()

    async def both() -> None:
        injecting = asyncio.ensure_future(
            inject_faults(law, {"page": page, "api": api}, plan.seconds, events) if law else asyncio.sleep(0)
        )

        def goes_on() -> bool:
            return time.perf_counter() < start + plan.seconds or not injecting.done()

        async with httpx.AsyncClient(base_url=api.url, timeout=plan.patience, limits=connections) as http:
            asking = asyncio.gather(
                *(_client(http, questions, plan, n, programs, goes_on, law) for n in range(clients))
            )
            people_ask = visits(page, questions, plan, people, goes_on)
            await asyncio.gather(injecting, people_ask, watched(api, programs.memory, asking))

    servers = ((page, people.memory), (api, programs.memory))
    before = [server.processor() for server, _ in servers]
    asyncio.run(both())
    took = time.perf_counter() - start if law else plan.seconds
    spent = [server.processor() - start for (server, _), start in zip(servers, before, strict=True)]
    time.sleep(REST)
    held = [
        {
            "after_mib": round(server.memory(), 1),  # `begin_mib` of its memory is what it held before
            f"each_{CURVE}_s_mib": [round(each) for _, each in seen[::CURVE]],
            "processor_s": round(used, 1),
        }
        for (server, seen), used in zip(servers, spent, strict=True)
    ]
    found: dict[str, Any] = {
        "settings": LIMITS,
        "page": summary(people, plan) | held[0],
        "api": client_summary(programs, clients, took) | held[1],
    }
    if law is not None:
        kinds: tuple[tuple[Kind, UserLog | ClientLog], ...] = (("page", people), ("api", programs))
        for kind, log in kinds:
            found[kind] |= faults.errors_until_ready(log.errors, events, kind)
            found[kind]["memory"] |= dict.fromkeys(("slope_mib_a_minute", "interval_95"))  # of no one process
        found["api"]["answers_of_no_law"] = programs.versions.pop("", Counter())["mixed"]
        errors = {kind: log.errors for kind, log in kinds}
        found["faults"] = faults.summary(law, events, start, errors, programs.versions, programs.when)
    return found


def client_summary(log: ClientLog, clients: int, seconds: float) -> dict[str, Any]:
    """Return what a result file holds of the programs."""
    every = [each for kind in log.answered.values() for each in kind]
    return {
        "clients": clients,
        "thinks_s": list(THINKS),
        "answers_a_second": round(len(every) / seconds, 2),
        "answers": {"all": times(every)} | {kind: times(log.answered[kind]) for kind in SHARES},
        "without_an_article": log.without_an_article,
        "asked": log.asked,
        "refused": dict(log.refused),
        "errors": dict(Counter(each.kind for each in log.errors)),
        "silently_lost": log.asked - len(every) - log.refused.total() - len(log.errors),
        "memory": memory(log.memory),
    }


async def _client(
    http: httpx.AsyncClient,
    questions: Sequence[str],
    plan: UserPlan,
    number: int,
    log: ClientLog,
    goes_on: Callable[[], bool],
    law: LawRevision | None = None,
) -> None:
    """Search, open what was found and ask why it was, until the time is over."""
    from httpx import HTTPError

    draw = random.Random(plan.seed * 1000 - number - 1)  # noqa: S311 - not for secrets
    await asyncio.sleep(draw.uniform(0, min(ARRIVE, plan.seconds / 4)))
    question, hrefs = "", tuple[str, ...]()
    while goes_on():
        await asyncio.sleep(draw.uniform(*THINKS))
        [kind] = draw.choices(list(SHARES), list(SHARES.values())) if hrefs else ["search"]
        question = draw.choice(questions) if kind == "search" else question
        path = {"search": "/v1/search", "why": "/v1/why/1"}.get(kind) or draw.choice(hrefs)
        body = {"json": {"question": question}} if kind != "article" else {}
        log.asked += 1
        start = time.perf_counter()
        try:
            response = await http.request("POST" if body else "GET", path, **body)  # type: ignore[arg-type]
        except HTTPError as error:
            log.errors.append(Failure(type(error).__name__, start, time.perf_counter()))
            continue
        if not response.is_success:
            told = response.json() if "json" in response.headers.get("content-type", "") else {}
            log.refused[f"{response.status_code} {told.get('type', 'by something else')}"] += 1
            continue
        try:
            came = response.json()
            index = came["index"] if kind == "search" else ""
            articles = came["articles"] if kind == "search" else [came["article"]]
            found = tuple(article["href"] for article in articles)
            edition = law.edition(articles) if law is not None and articles else None
        except (ValueError, KeyError, TypeError):  # no answer, though it is called one, and no refusal: lost
            continue
        log.answered[kind].append(time.perf_counter() - start)
        if edition is not None:
            log.versions[index][edition] += 1
            now = time.perf_counter()
            log.when[index] = log.when.get(index, (now, now))[0], now
        if kind == "search":
            hrefs = found
            log.without_an_article += not found
