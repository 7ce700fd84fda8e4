"""The chain: a question and articles into a prompt, a model's stream into what may be shown."""

from __future__ import annotations

import contextlib
import copy
import logging
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from importlib.util import find_spec

from rag.answer.generation import prompt as prompts
from rag.answer.generation.client import Clients
from rag.answer.generation.errors import Failure, Translate, english
from rag.answer.generation.prompt import Prompt
from rag.answer.generation.rate_limit import RateLimits
from rag.answer.generation.session import AnswerResources, Draft, Endpoint, Job
from rag.answer.generation.settings import ModelSettings, read, read_judge
from rag.answer.generation.stream import Cancel
from rag.answer.verification.judge import EntailmentJudge, Judge
from rag.errors import MissingExtra, PandectError, install_hint
from rag.shared_state import from_environment as shared_state
from rag.types import Article

_log = logging.getLogger(__name__)


class ModelWriter:
    """Writes an answer with a language model; without a judge, nothing of its own words is given out."""

    def __init__(
        self,
        settings: ModelSettings,
        judge: Judge | ModelSettings | None = None,
        limits: RateLimits | None = None,
        *,
        withhold: bool = False,
        prompt: Callable[[str], Prompt] | None = None,
    ) -> None:
        """Remember what to write with; nothing is loaded and nobody is asked.

        Args:
            settings: of the model that writes.
            judge: who reads what it writes against the law, or the settings of a language model that does;
                None: the model chooses passages of law (strict quoting).
            limits: shared by all writers of a process; without them those of the settings hold, shared by the
                sessions of this writer.
            withhold: what the judge cannot verify is removed, and not marked.
            prompt: gives the prompt for a language, in place of those that ship; for measuring. What it asks
                for decides how the reply is read; the sentences of a baseline, which asks for prose, are
                shown as not verified.
        """
        limits = limits or RateLimits(settings.per_session, settings.per_host, settings.per_address)
        prompt = prompt or partial(prompts.load, reply="quotes" if judge is None else "claims")
        second = Endpoint(judge, Clients(judge, "verdict")) if isinstance(judge, ModelSettings) else judge
        model = Endpoint(settings, Clients(settings, prompt(prompts.FALLBACK).reply))
        self._means = AnswerResources(model, second, limits, prompt, withhold)

    @property
    def name(self) -> str:
        """The model's name, without its provider."""
        return self._means.model.name

    @property
    def local(self) -> bool:
        """Whether the model runs on this machine for certain."""
        return self._means.model.local

    @property
    def articles(self) -> int | None:
        """How many articles the model is to be shown; None: as many as the scores call for."""
        return self._means.model.settings.articles

    @property
    def judge(self) -> str:
        """The name of what judges; empty where the model only chooses passages of law."""
        return self._means.judge.name if self._means.judge else ""

    @property
    def judge_local(self) -> bool:
        """Whether nothing is sent to another machine to be judged, for certain."""
        return self._means.judge is None or self._means.judge.local

    @property
    def withholds(self) -> bool:
        """Whether what the judge cannot verify is removed, and not marked."""
        return self._means.withhold

    def warm(self) -> None:
        """Load the packages, make the clients, load the judge: seconds, for a thread; nobody is asked."""
        judge = self._means.judge
        for model in (self._means.model, judge):
            if isinstance(model, Endpoint):
                with contextlib.suppress(Failure):  # the log says why; whoever asks is told
                    model.clients.get(model.clients.plain)
        if isinstance(judge, EntailmentJudge):
            try:
                judge.load()
            except PandectError as error:
                _log.error("the judge is not set up: %s", error)

    def for_session(
        self,
        session: Hashable,
        say: Translate = english,
        as_of: str | None = None,
        address: str | None = None,
    ) -> ModelWriter:
        """Return this writer for one person: it counts their calls, and tells failures in their language.

        The session is any key of theirs; `say` translates and fills in a message of `FailureReason`; `as_of`
        is the date of the law that they ask, for articles that carry none; `address` is where they ask from.
        """
        other = copy.copy(self)
        day = self._means.as_of if as_of is None else as_of
        other._means = replace(self._means, session=session, say=say, as_of=day, address=address)
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
    """Return the writer of the settings; None where no model is named, and then none is ever asked.

    The page's secrets stand for variables of the environment that are not set.

    Raises:
        BadInput: a setting that does not exist, or a value that it cannot have.
        MissingExtra: a model is named, and the packages of the extra [llm] are not there; or an entailment
            model, and those of [models] are not.
    """
    settings = read(environ, secrets)
    if settings is None:
        return None
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise MissingExtra(
            f"written answers need {', '.join(missing)}: run {install_hint('llm')}, or unset PANDECT_MODEL"
        )
    chosen = read_judge(settings, environ, secrets)
    judge: Judge | ModelSettings | None = chosen.model
    if chosen.entailment is not None:
        if find_spec("sentence_transformers") is None:
            raise MissingExtra(
                f"PANDECT_JUDGE=nli:… needs sentence-transformers: run {install_hint('models')}, "
                "or unset PANDECT_JUDGE"
            )
        judge = EntailmentJudge(chosen.entailment, chosen.threshold)
    rates = settings.per_session, settings.per_host, settings.per_address
    limits = RateLimits(*rates, shared=("model", shared_state(environ)))
    return ModelWriter(settings, judge, limits, withhold=chosen.withhold)
