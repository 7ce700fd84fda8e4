"""What can go wrong while a model writes, in words for a person; nothing that a server said is in them.

Questions, keys and answers stay out of every log, and out of what LangChain would send on.
"""

from __future__ import annotations

import email.utils
import logging
import math
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from rag.answer.generation.transport import OversizedResponse
from rag.errors import loggers_under

# (message, **values) -> the message in the reader's language, filled in
Translate: TypeAlias = Callable[..., str]


def N_(message: str) -> str:  # noqa: N802 - gettext's own name for "translate this later"
    """Mark a message that is translated where it is shown."""
    return message


class FailureReason(StrEnum):
    """Messages of `Answer.reason`, as they stand in the catalogues."""

    DEAD = N_("The language model cannot be reached. The articles are complete without it.")
    SLOW = N_("The language model did not answer in time. The articles are complete without it.")
    STALLED = N_("The language model stopped in the middle of its answer. What is shown was checked.")
    BROKEN = N_("The connection to the language model broke off. What is shown was checked.")
    REFUSED_KEY = N_("The language model refused the key of this site. Whoever runs it must set it anew.")
    UNKNOWN_MODEL = N_(
        "The server does not know this language model. Whoever runs this site must correct its name."
    )
    REJECTED = N_(
        "The language model did not accept the request. Whoever runs this site should check its settings."
    )
    SERVER = N_("The language model's server has an error. The articles are complete without it.")
    UNREADABLE = N_(
        "The language model wrote nothing that could be checked. The articles are complete without it."
    )
    JUDGE = N_("What the language model wrote could not be checked: what checks it gave no verdict.")
    CUT = N_("The language model's answer was cut short. What is shown was checked.")
    TOO_LONG = N_("The question is too long for the language model. Ask it in fewer words.")
    SERVER_BUSY = N_("The language model has too many requests. Try again in {seconds}.")
    BUSY = N_("Too many answers were asked for. Try again in {seconds}.")
    SETTINGS = N_(
        "The language model is not set up correctly. Whoever runs this site finds the reason in its log."
    )
    UNEXPECTED = N_("The answer could not be written. The articles are complete without it.")


def english(message: str, /, **values: object) -> str:
    """Fill a message in, untranslated; `seconds` is how many of them."""
    if (seconds := values.get("seconds")) is not None:
        values["seconds"] = "one second" if seconds == 1 else f"{seconds} seconds"
    return message.format(**values)


@dataclass(eq=False)
class Failure(Exception):  # not frozen: Python hangs tracebacks on it
    """Why a call failed; it holds nothing that the server or the client said."""

    reason: FailureReason
    retry: bool = False  # whether another try may help
    wait: float | None = None  # seconds that the server asks for
    plainer: bool = False  # the request may be accepted without its optional parts


BY_STATUS = {
    400: Failure(FailureReason.REJECTED, plainer=True),
    401: Failure(FailureReason.REFUSED_KEY),
    403: Failure(FailureReason.REFUSED_KEY),
    404: Failure(FailureReason.UNKNOWN_MODEL),
    408: Failure(FailureReason.SLOW, retry=True),
    413: Failure(FailureReason.TOO_LONG),
    422: Failure(FailureReason.REJECTED, plainer=True),
    429: Failure(FailureReason.SERVER_BUSY, retry=True),
}


def convert(error: BaseException, *, started: bool) -> Failure:
    """Return what an error of any client means, before or after the first token.

    Clients have errors of their own for the same things, so it goes by what they share: a status, a
    response, and names that say "timeout" or "connection".
    """
    chain = list(_chain(error))
    if any(isinstance(one, OversizedResponse) for one in chain):
        return Failure(FailureReason.CUT if started else FailureReason.UNREADABLE)
    codes = (getattr(one, "status_code", None) for one in chain)
    status = next((code for code in codes if isinstance(code, int) and 300 <= code < 600), None)
    if status is not None:
        server = status >= 500
        other = Failure(FailureReason.SERVER if server else FailureReason.REJECTED, retry=server)
        known = BY_STATUS.get(status, other)
        retry, plainer = (known.retry, known.plainer) if not started else (False, False)
        return Failure(known.reason, retry, _retry_after(chain), plainer)
    names = " ".join(type(one).__name__ for one in chain).lower()
    # why the connection first: a connection that could not be made in time is a dead server
    if not started and (("connect" in names and "read" not in names) or "resolution" in names):
        return Failure(FailureReason.DEAD, retry=True)
    if any(isinstance(one, TimeoutError) for one in chain) or "timeout" in names:
        return Failure(FailureReason.STALLED if started else FailureReason.SLOW)
    if started:
        return Failure(FailureReason.BROKEN)
    broken = ("protocol", "connection", "network", "readerror", "oserror", "jsondecode")
    if any(word in names for word in broken):
        return Failure(FailureReason.DEAD, retry=True)
    return Failure(FailureReason.UNEXPECTED)


def _chain(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    at: BaseException | None = error
    while at is not None and id(at) not in seen:
        seen.add(id(at))
        yield at
        at = at.__cause__ or at.__context__


def _retry_after(chain: Iterable[BaseException]) -> float | None:
    """Return the seconds that the server asks to wait, whether it gave seconds or a date; None if neither."""
    for one in chain:
        headers = getattr(getattr(one, "response", None), "headers", None)
        text = str(headers.get("retry-after", "")) if headers is not None else ""
        if not text:
            continue
        try:
            wait = float(text)
        except ValueError:
            try:
                wait = email.utils.parsedate_to_datetime(text).timestamp() - time.time()
            except (ValueError, TypeError, OverflowError):
                return None
        return max(wait, 0.0) if math.isfinite(wait) else None
    return None


# Whoever touches a request on its way. Versions of openai and anthropic log whole requests at "debug", httpx
# logs addresses at "info", and LangChain logs what a callback failed on.
CLIENTS = (
    "aiohttp", "anthropic", "asyncio", "cohere", "google", "google_genai", "groq", "httpcore", "httpcore2",
    "httpx", "httpx2", "huggingface_hub", "langchain", "langchain_anthropic", "langchain_community",
    "langchain_core", "langchain_huggingface", "langchain_ollama", "langchain_openai", "langgraph",
    "langsmith", "mistralai", "ollama", "openai", "requests", "tenacity", "tiktoken", "transformers",
    "urllib3",
)  # fmt: skip


def silence_clients() -> None:
    """Keep the clients' loggers from saying anything; what matters comes as an error, which is converted.

    Called before every request, because modules that were loaded since may have brought loggers with levels
    of their own, and a host may have lowered a level.
    """
    for logger in loggers_under(CLIENTS):
        logger.setLevel(logging.CRITICAL + 1)
    # pydantic quotes the value that it warns about, and that may be what the model wrote
    warnings.filterwarnings("ignore", message="Pydantic serializer warnings", category=UserWarning)
