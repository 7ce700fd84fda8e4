"""The chain: a question and articles into a prompt, a model's stream into pieces, pieces through the gate."""

from __future__ import annotations

import copy
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace

from rag.answer import prompt as prompts
from rag.answer.client import Client, LangChainClient
from rag.answer.clients import Clients
from rag.answer.draft import Cancel, Draft
from rag.answer.failures import Say, english
from rag.answer.job import Job, Means
from rag.answer.limits import Limits
from rag.answer.prompt import Prompt
from rag.answer.settings import ModelSettings
from rag.answer.types import Gate
from rag.types import Article


class ModelWriter:
    """Writes an answer with a language model; every sentence goes through the gate before it is given out."""

    def __init__(
        self,
        settings: ModelSettings,
        gate: Gate,
        limits: Limits | None = None,
        *,
        prompt: Callable[[str], Prompt] = prompts.load,
        as_of: str = "",
        connect: Callable[..., Client] = LangChainClient,
    ) -> None:
        """Remember what to write with; nothing is loaded and nobody is asked.

        Args:
            settings: the model's.
            gate: decides which sentences may be read.
            limits: shared by all writers of a process; None for what the settings say, shared by the
                sessions of this writer.
            prompt: gives the prompt for a language.
            as_of: the date of the law, for articles that carry none.
            connect: makes a client from the settings and `plain=`.
        """
        self._means = Means(
            settings,
            gate,
            limits or Limits(settings.per_session, settings.per_host),
            Clients(settings, connect),
            prompt,
            as_of,
            english,
        )

    @property
    def name(self) -> str:
        """The model's name, without its provider."""
        return self._means.settings.name

    def for_session(self, session: Hashable, say: Say = english) -> ModelWriter:
        """Return this writer for one person: it counts their calls, and tells failures in their language.

        Args:
            session: any key of theirs.
            say: translates a message of `rag.answer.failures.Reason` and fills it in.
        """
        other = copy.copy(self)
        other._means = replace(self._means, session=session, say=say)
        return other

    def write(self, question: str, articles: Sequence[Article], language: str) -> Draft:
        """Yield what may be shown, as soon as it may be; the last is always an `Answer`.

        Nothing is raised: what fails is told by the answer's ending and reason. Closing the iterator,
        from any thread, ends the request; a thread that waits for the next event then gets an answer
        that says `STOPPED`.

        Args:
            question: as the person agreed to send it.
            articles: those shown, best first.
            language: of the question, ISO 639-1.
        """
        cancel = Cancel()
        job = Job(self._means, question, tuple(articles), language, cancel)
        return Draft(job.events(), cancel)
