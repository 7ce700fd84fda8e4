"""The chain: a question and articles into a prompt, a model's stream into pieces, pieces through the gate."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from importlib.util import find_spec

from rag.answer.generation import prompt as prompts
from rag.answer.generation.client import Clients
from rag.answer.generation.errors import Failure, Translate, english
from rag.answer.generation.prompt import Prompt
from rag.answer.generation.rate_limit import RateLimits
from rag.answer.generation.session import AnswerResources, Cancel, Draft, Job
from rag.answer.generation.settings import ModelSettings, read
from rag.answer.types import Gate, Quote, Statement
from rag.answer.verification.gate import CitationGate
from rag.errors import MissingExtra, install_hint
from rag.types import Article

# A gate reads its word lists with the first sentence, for which nobody should wait.
_LAW = Article("1", "", "1", "Le loyer se paie le premier jour du mois.", language="fr")
_FIRST = Statement(_LAW.text, (_LAW.id,), (Quote(_LAW.id, _LAW.text),))


class ModelWriter:
    """Writes an answer with a language model; every sentence goes through the gate before it is given out."""

    def __init__(
        self,
        settings: ModelSettings,
        gate: Gate,
        limits: RateLimits | None = None,
        *,
        prompt: Callable[[str], Prompt] = prompts.load,
    ) -> None:
        """Remember what to write with; nothing is loaded and nobody is asked.

        Limits are shared by all writers of a process; without them those of the settings hold, shared by
        the sessions of this writer.
        """
        limits = limits or RateLimits(settings.per_session, settings.per_host)
        self._means = AnswerResources(settings, gate, limits, Clients(settings), prompt)

    @property
    def name(self) -> str:
        """The model's name, without its provider."""
        return self._means.settings.name

    @property
    def local(self) -> bool:
        """Whether the model runs on this machine for certain."""
        return self._means.settings.local

    @property
    def articles(self) -> int | None:
        """How many articles the model is to be shown; None: as many as the scores call for."""
        return self._means.settings.articles

    def warm(self) -> None:
        """Load the packages, make the client, begin the gate: seconds, for a thread; nobody is asked."""
        self._means.gate.check(_FIRST, (_LAW,))
        with contextlib.suppress(Failure):  # the log says why; whoever asks is told
            self._means.clients.get(self._means.clients.plain)

    def for_session(
        self, session: Hashable, say: Translate = english, as_of: str | None = None
    ) -> ModelWriter:
        """Return this writer for one person: it counts their calls, and tells failures in their language.

        The session is any key of theirs; `say` translates and fills in a message of `FailureReason`; `as_of`
        is the date of the law that they ask, for articles that carry none.
        """
        other = copy.copy(self)
        day = self._means.as_of if as_of is None else as_of
        other._means = replace(self._means, session=session, say=say, as_of=day)
        return other

    def write(self, question: str, articles: Sequence[Article], language: str) -> Draft:
        """Yield what may be shown, as soon as it may be; the last is always an `Answer`.

        Nothing is raised: what fails is told by the answer's ending and reason. Closing the iterator,
        from any thread, ends the request; a thread that waits for the next event then gets an answer
        that says `STOPPED`. For the arguments see `rag.answer.types.Writer`.
        """
        cancel = Cancel()
        return Draft(Job(self._means, question, articles, language, cancel).events(), cancel)


NEEDED = ("langchain", "phonenumbers", "stdnum")  # of the extra [llm]; imported when a question is to be sent


def model_writer(
    environ: Mapping[str, str], secrets: Mapping[str, object] | None = None
) -> ModelWriter | None:
    """Return the writer behind the gate; None where no model is named, and then none is ever asked.

    The page's secrets stand for variables of the environment that are not set.

    Raises:
        BadInput: a setting that does not exist, or a value that it cannot have.
        MissingExtra: a model is named, and the packages of the extra [llm] are not there.
    """
    settings = read(environ, secrets)
    if settings is None:
        return None
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise MissingExtra(
            f"written answers need {', '.join(missing)}: run {install_hint('llm')}, or unset PANDECT_MODEL"
        )
    return ModelWriter(settings, CitationGate())
