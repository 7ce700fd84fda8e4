"""A chat model as measuring asks it: one prompt, one reply, kept."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol

from rag.answer.types import Usage
from rag.errors import PandectError
from rag.types import Progress, no_progress
from training.answers.run import GIVE_UP, Cache, TooManyFailuresError, key


class ChatFailedError(PandectError):
    """A model that did not reply: dead, slow, broken, limited, or it refused the key."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model said, and what it took."""

    text: str
    usage: Usage
    failed: bool = False  # it said nothing: the server failed


class Chat(Protocol):
    """A model that replies to a prompt."""

    name: str  # with its provider
    settings: Mapping[str, Any]  # what else its replies depend on, of JSON's types; no key

    def say(self, prompt: str) -> Reply:
        """Reply; raise ChatFailedError where it cannot."""
        ...


def replies(
    chat: Chat,
    prompts: Sequence[str],
    cache: Cache,
    *,
    progress: Progress = no_progress,
    give_up: int = GIVE_UP,
) -> list[Reply]:
    """Return a reply to each prompt; what is in the cache is not asked again, and failures do not join it.

    Raises:
        TooManyFailuresError: `give_up` failures in a row, 0: never; the last one's reason is in the text.
    """
    found = []
    failures = 0
    for prompt in prompts:
        name = reply_key(chat, prompt)
        cached = cache.get(name)
        if cached is not None:
            reply = Reply(cached["text"], Usage(**cached["usage"]))
        else:
            start = time.perf_counter()
            try:
                reply = chat.say(prompt)
            except ChatFailedError as error:
                reply = Reply("", Usage(time.perf_counter() - start), failed=True)
                if (failures := failures + 1) == give_up:
                    raise TooManyFailuresError(
                        f"{chat.name}: {failures} replies in a row failed ({error}). What it replied before "
                        "is kept: type the command again to go on"
                    ) from None
            else:
                failures = 0
                cache.put(name, {"text": reply.text, "usage": asdict(reply.usage)})
        found.append(reply)
        progress("asking", len(found), len(prompts))
    return found


def reply_key(chat: Chat, prompt: str) -> str:
    """Return what the reply to a prompt is kept under."""
    return key(what="reply", model=chat.name, settings=dict(chat.settings), prompt=prompt)
