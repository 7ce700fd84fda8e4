"""Who is measured, made from what was typed: the one place that knows how a writer is built."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from importlib import import_module
from typing import Any

from rag.answer.types import Usage
from rag.errors import BadInput, MissingExtra
from training.answers.chat import ChatFailedError, Reply
from training.answers.extractive import Extractive
from training.answers.run import Candidate

EXTRACTIVE = "extractive"


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """A model as it is named on the command line; keys come from the environment alone."""

    model: str  # PROVIDER:NAME, as LangChain's init_chat_model takes it
    base_url: str | None = None
    temperature: float = 0.0
    max_tokens: int = 1024
    timeout: float = 120.0  # seconds of one reply

    @property
    def settings(self) -> dict[str, Any]:
        """What replies depend on beside the name; for keys of replies and result files."""
        return {name: value for name, value in asdict(self).items() if name not in ("model", "timeout")}


def candidate(spec: ModelSpec) -> Candidate:
    """Return the writer that a name on the command line means.

    Raises:
        BadInput: no such writer.
        MissingExtra: the packages of language models are not installed.
    """
    if spec.model == EXTRACTIVE:
        return Candidate(EXTRACTIVE, Extractive())
    return model_writer(spec)


def model_writer(spec: ModelSpec) -> Candidate:
    """Return a model behind the gate that the page has.

    Raises:
        BadInput: this installation has no writer by models.
        MissingExtra: the packages of language models are not installed.
    """
    try:
        chain, gate, settings = (
            import_module(f"rag.answer.{name}") for name in ("chain", "gate", "settings")
        )
    except ImportError as error:
        raise BadInput(
            f"{spec.model}: models cannot write answers here ({error.name} is not there)"
        ) from error
    chosen = settings.ModelSettings(
        model=spec.model,
        base_url=spec.base_url,
        temperature=spec.temperature,
        max_tokens=spec.max_tokens,
        timeout=spec.timeout,
    )
    writer = chain.ModelWriter(chosen, gate.CitationGate())
    return Candidate(spec.model, writer, str(chain.PROMPT_VERSION), spec.settings)


def chat(spec: ModelSpec) -> LangChainChat:
    """Return a model that replies to single prompts: for examination tasks, and for judging."""
    return LangChainChat(spec, _chat_model(spec))


def _chat_model(spec: ModelSpec) -> Any:  # noqa: ANN401 - LangChain is imported where it is used
    try:
        from langchain.chat_models import init_chat_model
    except ImportError as error:
        raise MissingExtra(f"{spec.model} needs LangChain: run pip install 'pandect[llm]'") from error
    options: dict[str, Any] = {}
    if spec.base_url is not None:
        options["base_url"] = spec.base_url
    if spec.model.startswith("openai:"):
        options["stream_usage"] = True  # else nobody says how many tokens a streamed reply took
        if spec.base_url is not None and not os.environ.get("OPENAI_API_KEY"):
            options["api_key"] = "none"  # a server of one's own asks for none, the client for any
    if spec.model.startswith("ollama:"):
        options["num_predict"] = spec.max_tokens
    else:
        options |= {"max_tokens": spec.max_tokens, "timeout": spec.timeout}
    try:
        return init_chat_model(spec.model, temperature=spec.temperature, **options)
    except ImportError as error:
        raise MissingExtra(
            f"{spec.model} needs a package of its provider ({error.name}): run pip install {error.name}"
        ) from error
    except (ValueError, TypeError) as error:
        raise BadInput(
            f"--model {spec.model}: {str(error).splitlines()[0]}. "
            "Expected PROVIDER:NAME such as openai:gpt-4o-mini"
        ) from error


class LangChainChat:
    """A chat model of LangChain as `training.answers.chat` asks it, streamed."""

    def __init__(self, spec: ModelSpec, model: Any) -> None:  # noqa: ANN401
        """Take a BaseChatModel."""
        self._spec, self._model = spec, model

    @property
    def name(self) -> str:
        """Which model, with its provider."""
        return self._spec.model

    @property
    def settings(self) -> Mapping[str, Any]:
        """What else its replies depend on."""
        return self._spec.settings

    def say(self, prompt: str) -> Reply:
        """Reply.

        Raises:
            ChatFailedError: it could not; the text tells the kind of error and nothing that was sent.
        """
        begun = time.perf_counter()
        whole: Any = None
        try:
            for chunk in self._model.stream(prompt):
                whole = chunk if whole is None else whole + chunk
        except Exception as error:  # every provider raises errors of its own
            status = getattr(error, "status_code", None)
            raise ChatFailedError(type(error).__name__ + (f" {status}" if status else "")) from error
        if whole is None:
            raise ChatFailedError("an empty stream")
        used = whole.usage_metadata or {}
        usage = Usage(time.perf_counter() - begun, used.get("input_tokens"), used.get("output_tokens"))
        return Reply(str(whole.text), usage)
