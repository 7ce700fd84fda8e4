"""The page and the API under load at once: people, and programs that ask, over one index.

Both servers, the people and the programs share the machine, so that times hold what the measuring costs.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rag.errors import MissingExtra, install_hint
from training.pages.serving import RunningServer
from training.pages.users import ARRIVE, THINKS, UserLog, UserPlan, memory, summary, times, visits, watched
from training.pages.visitor import PATIENCE

if TYPE_CHECKING:
    import httpx

# Everybody comes from this machine, which limits by address leave alone; they are off for certain.
LIMITS = {"PANDECT_SEARCHES_PER_ADDRESS": "off", "PANDECT_MESSAGES_PER_ADDRESS": "off"}
SHARES = {"search": 0.6, "article": 0.25, "why": 0.15}  # of a client's requests, once it has found something
REST = 10.0  # seconds after the last request, until memory is looked at again
CURVE = 10  # looks at the memory, of one a second, between two that are kept


@dataclass(slots=True)
class ClientLog:
    """What came of the requests."""

    answered: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))  # kind -> seconds
    refused: Counter[str] = field(default_factory=Counter)  # status and type of the problem -> how often
    errors: Counter[str] = field(default_factory=Counter)  # where no answer came
    memory: list[tuple[float, float]] = field(default_factory=list)  # (seconds, MiB)


def measure(
    page: RunningServer, api: RunningServer, questions: Sequence[str], clients: int, plan: UserPlan
) -> dict[str, Any]:
    """Let people and programs ask; return times (ms), refusals and errors, and memory (MiB) of each server.

    Raises:
        MissingExtra: httpx, which comes with [api], is not installed.
    """
    try:
        import httpx
    except ImportError as error:
        raise MissingExtra(f"programs ask with httpx: run {install_hint('api')}") from error
    people, programs = UserLog(), ClientLog()
    connections = httpx.Limits(max_connections=None, max_keepalive_connections=clients)

    async def both() -> None:
        async with httpx.AsyncClient(base_url=api.url, timeout=PATIENCE, limits=connections) as http:
            asking = asyncio.gather(*(_client(http, questions, plan, n, programs) for n in range(clients)))
            await asyncio.gather(visits(page, questions, plan, people), watched(api, programs.memory, asking))

    servers = ((page, people.memory), (api, programs.memory))
    before = [server.processor() for server, _ in servers]
    asyncio.run(both())
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
    return {
        "settings": LIMITS,
        "page": summary(people, plan) | held[0],
        "api": client_summary(programs, clients, plan.seconds) | held[1],
    }


def client_summary(log: ClientLog, clients: int, seconds: float) -> dict[str, Any]:
    """Return what a result file holds of the programs."""
    every = [each for kind in log.answered.values() for each in kind]
    return {
        "clients": clients,
        "thinks_s": list(THINKS),
        "answers_a_second": round(len(every) / seconds, 2),
        "answers": {"all": times(every)} | {kind: times(log.answered[kind]) for kind in SHARES},
        "refused": dict(log.refused),
        "errors": dict(log.errors),
        "memory": memory(log.memory),
    }


async def _client(
    http: httpx.AsyncClient, questions: Sequence[str], plan: UserPlan, number: int, log: ClientLog
) -> None:
    """Search, open what was found and ask why it was, until the time is over."""
    from httpx import HTTPError

    draw = random.Random(plan.seed * 1000 - number - 1)  # noqa: S311 - not for secrets
    end = time.perf_counter() + plan.seconds
    await asyncio.sleep(draw.uniform(0, min(ARRIVE, plan.seconds / 4)))
    question, hrefs = "", tuple[str, ...]()
    while time.perf_counter() < end:
        await asyncio.sleep(draw.uniform(*THINKS))
        [kind] = draw.choices(list(SHARES), list(SHARES.values())) if hrefs else ["search"]
        question = draw.choice(questions) if kind == "search" else question
        path = {"search": "/v1/search", "why": "/v1/why/1"}.get(kind) or draw.choice(hrefs)
        body = {"json": {"question": question}} if kind != "article" else {}
        start = time.perf_counter()
        try:
            response = await http.request("POST" if body else "GET", path, **body)  # type: ignore[arg-type]
        except HTTPError as error:
            log.errors[type(error).__name__] += 1
            continue
        if not response.is_success:
            told = response.json() if "json" in response.headers.get("content-type", "") else {}
            log.refused[f"{response.status_code} {told.get('type', 'by something else')}"] += 1
            continue
        log.answered[kind].append(time.perf_counter() - start)
        if kind == "search":
            hrefs = tuple(article["href"] for article in response.json()["articles"])
