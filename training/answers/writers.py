"""Who is measured, made from what was typed: the one place that knows how a writer is built."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from rag.answer.extractive import ExtractiveWriter, Extractor
from rag.answer.generation.errors import silence_clients
from rag.answer.generation.prompt import BASELINE, Prompt
from rag.answer.generation.prompt import load as prompt_of
from rag.answer.generation.settings import read, read_judge
from rag.answer.generation.writer import ModelWriter
from rag.answer.types import Usage
from rag.answer.verification.judge import EntailmentJudge
from rag.errors import BadInput, MissingExtra, install_hint
from rag.text.analysers import analyser
from training.answers.chat import ChatFailedError, Reply
from training.answers.run import Candidate

EXTRACTIVE = "extractive"
BEST = "best-sentence-2"  # how it chooses: replies that were kept of another way are not used
CHECKS = 1  # of rag/answer/verification and composition: raise it when an answer would come out otherwise


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """A model as it is named on the command line; keys come from the environment alone."""

    model: str  # PROVIDER:NAME, as LangChain's init_chat_model takes it
    base_url: str | None = None
    temperature: float = 0.0
    max_tokens: int = 1024
    timeout: float = 120.0  # seconds of one reply
    baseline: bool = False  # write with STARD's simple prompt, not with ours
    key: str = "PANDECT_MODEL_KEY"  # the variable that holds the key of a server that was named

    @property
    def settings(self) -> dict[str, Any]:
        """What replies depend on beside the name; for keys of replies and result files."""
        names = ("base_url", "temperature", "max_tokens", "baseline")
        return {name: getattr(self, name) for name in names}


def candidate(spec: ModelSpec, language: str, k: int) -> Candidate:
    """Return the writer that a name on the command line means, given k articles at most.

    A model stands behind the checks of the page, the baseline behind none; what is not typed is read from
    PANDECT_MODEL_*.

    Raises:
        BadInput: no such writer, a setting that does not exist, or a value that it cannot have.
        MissingExtra: the packages of language models are not installed.
    """
    if spec.model == EXTRACTIVE:
        # Its words all weigh the same: rare ones are told by an index, and a context need not come from one.
        return Candidate(EXTRACTIVE, ExtractiveWriter(Extractor(analyser(language), {}, 0)), BEST)
    typed = {
        "PANDECT_MODEL": spec.model,
        "PANDECT_MODEL_TEMPERATURE": str(spec.temperature),
        "PANDECT_MODEL_OUTPUT": str(spec.max_tokens),
        "PANDECT_MODEL_TIMEOUT": str(spec.timeout),
        **({"PANDECT_MODEL_URL": spec.base_url} if spec.base_url else {}),
    }
    # Nobody limits how often a measurement may ask, and it decides itself how many articles are given.
    named = read({**os.environ, **typed})
    if named is None:
        raise BadInput("--model: got an empty name; expected PROVIDER:NAME, or extractive")
    chosen = replace(named, articles=k, per_session=None, per_host=None)
    settings = {name: getattr(chosen, name) for name in ("url", "format", "window", "output", "temperature")}
    if spec.baseline:
        writer, prompt = ModelWriter(chosen, prompt=_baseline), _baseline(language)
        return Candidate(f"{spec.model} (STARD's prompt)", writer, prompt.id, settings)
    judge = read_judge(chosen, os.environ)
    entailment = EntailmentJudge(judge.entailment, judge.threshold) if judge.entailment else None
    writer = ModelWriter(chosen, entailment or judge.model, withhold=judge.withhold)
    prompt = prompt_of(language, "claims" if writer.judge else "quotes")
    # an answer is kept as checks and judge left it
    left = {"judge": writer.judge, "threshold": judge.threshold, "withhold": judge.withhold, "checks": CHECKS}
    return Candidate(spec.model, writer, prompt.id, settings | left)


def _baseline(language: str) -> Prompt:
    return prompt_of(BASELINE)


def chat(spec: ModelSpec) -> LangChainChat:
    """Return a model that replies to single prompts: for examination tasks, and for judging.

    Raises BadInput where there is no client for it, MissingExtra where its packages are not installed.
    """
    try:
        from langchain.chat_models import init_chat_model
    except ImportError as error:
        raise MissingExtra(f"{spec.model} needs LangChain: run {install_hint('llm')}") from error
    silence_clients()  # they log whole requests at "debug"
    provider = spec.model.partition(":")[0]
    options: dict[str, Any] = {} if spec.base_url is None else {"base_url": spec.base_url}
    if provider == "openai":
        options["stream_usage"] = True  # else nobody says how many tokens a streamed reply took
    if provider == "ollama":
        options["num_predict"] = spec.max_tokens
    else:
        options |= {"max_tokens": spec.max_tokens, "timeout": spec.timeout}
        if spec.base_url is not None:
            # Never the maker's own key, which would go to somebody else's server; the client wants some.
            options["api_key"] = os.environ.get(spec.key) or "none"
    try:
        return LangChainChat(spec, init_chat_model(spec.model, temperature=spec.temperature, **options))
    except ImportError as error:
        raise MissingExtra(
            f"{spec.model} needs a package of its provider ({error.name}): run {install_hint('llm')}"
        ) from error
    except Exception as error:  # noqa: BLE001 - of the provider: no key, no such name; its text may quote the key
        raise BadInput(
            f"{spec.model}: no client for it ({type(error).__name__}). Expected PROVIDER:NAME such as "
            f"openai:gpt-4o-mini, and the provider's key in its variable, or for --base-url in {spec.key}"
        ) from None


class LangChainChat:
    """A chat model of LangChain as `training.answers.chat` asks it, streamed."""

    def __init__(self, spec: ModelSpec, model: Any) -> None:  # noqa: ANN401 - a BaseChatModel
        self.name, self._model = spec.model, model
        self.settings: Mapping[str, Any] = spec.settings

    def say(self, prompt: str, system: str = "") -> Reply:
        """Reply; a ChatFailedError tells the kind of error and nothing that was sent."""
        from langsmith import tracing_context  # comes with LangChain

        silence_clients()
        sent = [("system", system), ("human", prompt)] if system else prompt
        start = time.perf_counter()
        whole: Any = None
        try:
            with tracing_context(enabled=False):  # whatever the environment says: nobody else is told
                for chunk in self._model.stream(sent):
                    whole = chunk if whole is None else whole + chunk
        except Exception as error:  # noqa: BLE001 - every provider raises errors of its own, which may quote what was sent
            status = getattr(error, "status_code", None)
            raise ChatFailedError(type(error).__name__ + (f" {status}" if status else "")) from None
        if whole is None:
            raise ChatFailedError("an empty stream")
        used = whole.usage_metadata or {}
        usage = Usage(time.perf_counter() - start, used.get("input_tokens"), used.get("output_tokens"))
        return Reply(str(whole.text), usage)
