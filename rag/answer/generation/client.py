"""A LangChain chat model from the settings (extra [llm]); nothing of it is loaded before a model is asked."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rag.answer.generation.errors import Failure, FailureReason, silence_clients
from rag.answer.generation.prompt import Messages
from rag.answer.generation.settings import ModelSettings
from rag.answer.generation.transport import restrict
from rag.answer.types import LINES, VERDICTS
from rag.errors import BadInput, MissingExtra, PandectError, install_hint

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessageChunk


# provider -> the package that LangChain loads for it, where it is not langchain-PROVIDER
_PACKAGES = {
    "azure_openai": "langchain-openai",
    "bedrock": "langchain-aws",
    "bedrock_converse": "langchain-aws",
    "google_genai": "langchain-google-genai",
    "google_vertexai": "langchain-google-vertexai",
}
_SHIPPED = {"langchain", "langchain-openai", "langchain-ollama", "langchain-anthropic"}  # the extra [llm]

# A connection serves one answer. Kept ones would save a handshake, little beside what a model takes to write,
# and lie open between questions.
_ONCE = {"Connection": "close"}

_ITEM = {"type": "string"}
_log = logging.getLogger(__name__)


def _closed(properties: Mapping[str, object]) -> dict[str, object]:
    """Return the schema of an object with just these keys, as strict servers want it."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def _one_of(words: Sequence[str]) -> dict[str, object]:
    return {"type": "string", "enum": [str(word) for word in words]}


def _root(item: Mapping[str, object]) -> dict[str, object]:
    return _closed({"refusal": {"type": "boolean"}, "answer": {"type": "array", "items": item}})


# reply -> what a server may be held to; prose to nothing
SCHEMAS: Mapping[str, dict[str, object]] = {
    "quotes": _root({"anyOf": [_closed({"say": _one_of(LINES)}), _closed({"quote": _ITEM})]}),
    "claims": _root(
        _closed(
            {
                "text": _ITEM,
                "articles": {"type": "array", "items": _ITEM},
                "quotes": {"type": "array", "items": _closed({"article": _ITEM, "text": _ITEM})},
            }
        )
    ),
    "verdict": _closed({"verdict": _one_of(VERDICTS), "words": _ITEM}),
}


def schema_parts(provider: str, schema: Mapping[str, object]) -> dict[str, Any] | None:
    """Return what goes along with a request to hold a server to a schema; None where nobody knows how.

    Not `with_structured_output`, whose stream is of partly filled dictionaries: a sentence has to be known to
    be whole.
    """
    match provider:
        case "anthropic":
            return {"output_config": {"format": {"type": "json_schema", "schema": schema}}}
        case "ollama":
            return {"format": schema}
        case "openai":
            form = {"name": "answer", "schema": schema, "strict": True}
            return {"response_format": {"type": "json_schema", "json_schema": form}}
    return None


@dataclass(frozen=True, slots=True)
class Delta:
    """One chunk of a stream."""

    text: str = ""
    token: bool = False  # whether the model wrote something, be it thoughts that are not shown
    truncated: bool = False  # it reached the bound of its output
    input_tokens: int | None = None
    output_tokens: int | None = None


class LangChainClient:
    """Asks any chat model that LangChain knows; `schema`: the server is asked to hold it to one."""

    def __init__(self, settings: ModelSettings, reply: str, *, plain: bool) -> None:
        """Load the provider's package and make its client; the server is not asked yet.

        A plain one sends nothing that some servers reject: no schema, temperature or wish for counts.

        Raises:
            MissingExtra: a package is not installed.
            BadInput: LangChain does not know the provider, or it refuses the settings.
        """
        silence_clients()  # before the packages are loaded: some write when they are
        self._model = _load(settings, plain)
        silence_clients()  # and again, for the loggers that came with them
        profile: Mapping[str, Any] = getattr(self._model, "profile", None) or {}
        able = profile.get("structured_output") is True or settings.provider == "ollama"
        wanted = settings.format == "schema" or (settings.format == "auto" and able)
        parts = schema_parts(settings.provider, SCHEMAS[reply]) if reply in SCHEMAS and wanted else {}
        if parts is None and settings.format == "schema":
            raise BadInput(
                f"PANDECT_MODEL_FORMAT=schema: Pandect does not know how {settings.provider} takes a schema; "
                "expected one of anthropic, ollama, openai, or PANDECT_MODEL_FORMAT=lines"
            )
        body: dict[str, Any] = {} if plain else parts or {}
        self.schema = bool(body)
        self._parts = body  # what goes along with one request
        if settings.provider == "openai":
            if settings.url:  # every server reads "max_tokens", only newer ones "max_completion_tokens"
                body["max_tokens"] = settings.output
            # why in the body: as an argument, `response_format` makes the client parse the whole, and fail on
            # what it cannot read
            self._parts = ({} if plain else {"stream_usage": True}) | ({"extra_body": body} if body else {})

    async def stream(self, messages: Messages) -> AsyncIterator[Delta]:
        """Yield what comes, traced by nobody, whatever the environment says; cancelling closes the line."""
        from langchain_core import globals as switches
        from langsmith import tracing_context

        silence_clients()
        # LangChain prints what a host that debugs something else has switched on for the whole process
        switches.set_debug(False)
        switches.set_verbose(False)
        with tracing_context(enabled=False, parent=False):
            sent = [("system", messages.system), ("human", messages.user)]
            # the model's own `astream` is an async generator, which its annotation does not say
            chunks: Any = self._model.astream(sent, **self._parts)
            async with aclosing(chunks):
                async for chunk in chunks:
                    yield _delta(chunk)


def _delta(chunk: AIMessageChunk) -> Delta:
    usage: Mapping[str, Any] = chunk.usage_metadata or {}
    extra = chunk.additional_kwargs.get("reasoning_content")
    event: Mapping[str, Any] = chunk.response_metadata or {}
    ended = event.get("finish_reason") or event.get("stop_reason") or event.get("done_reason")
    return Delta(
        str(chunk.text),
        bool(chunk.content or extra),
        ended in ("length", "max_tokens"),
        usage.get("input_tokens"),
        usage.get("output_tokens"),
    )


def _load(settings: ModelSettings, plain: bool) -> BaseChatModel:
    try:
        from langchain.chat_models import init_chat_model
    except ImportError:
        raise MissingExtra(f"answers need LangChain: run {install_hint('llm')}") from None
    gateway = os.environ.get("LANGSMITH_GATEWAY", "").lower()
    if settings.url is None and gateway not in ("", "0", "false", "no"):
        raise BadInput(
            "LANGSMITH_GATEWAY is set, which would send questions through a third party: unset it, "
            "or name the server in PANDECT_MODEL_URL"
        )
    if os.environ.get("LANGCHAIN_TRACING") or os.environ.get("LANGCHAIN_HANDLER"):
        raise BadInput("LANGCHAIN_TRACING or LANGCHAIN_HANDLER is set, which LangChain 1 refuses: unset them")
    provider = settings.provider
    try:
        model: BaseChatModel = init_chat_model(
            settings.name, model_provider=provider, **_options(settings, plain)
        )
        restrict(provider, model, settings.output, settings.variable)
    except ImportError:
        package = _PACKAGES.get(provider, "langchain-" + provider.replace("_", "-"))
        hint = install_hint("llm") if package in _SHIPPED else f"pip install {package}"
        raise MissingExtra(f"the model {settings.model} needs {package}: run {hint}") from None
    except ValueError as error:  # pydantic's too; it quotes what it was given, so it is not passed on
        if "Unsupported provider" in str(error):
            raise BadInput(
                f"{settings.variable}: LangChain knows no provider {provider!r}; "
                "such as openai, ollama, anthropic"
            ) from None
        raise BadInput(
            f"{provider} refuses the settings of {settings.variable}_…: check key, model and address"
        ) from None
    except Exception:  # noqa: BLE001 - each client has errors of its own, and they may quote the key
        raise BadInput(
            f"the client of {provider} cannot be made: check {settings.variable}_KEY and the model"
        ) from None
    model.callbacks, model.verbose, model.cache = None, False, False
    return model


def _options(settings: ModelSettings, plain: bool) -> dict[str, Any]:
    options: dict[str, Any] = {}
    if settings.temperature is not None and not plain:
        options["temperature"] = settings.temperature
    if settings.url:
        options["base_url"] = settings.url
    key = settings.key.reveal() if settings.key else None
    patience = (settings.connect, settings.first_token, settings.first_token, settings.connect)
    match settings.provider:
        case "openai":
            # why not floats: they would bound the connection as generously as the answer
            from openai import Timeout

            # Without a key the client does not start; servers of one's own mostly ask for none. And no key of
            # the environment is sent to an address that is not its maker's.
            options["api_key"] = key or ("none" if settings.url else None)
            connect, read, write, pool = patience
            options["timeout"] = Timeout(connect=connect, read=read, write=write, pool=pool)
            options |= {"max_retries": 0, "use_responses_api": False, "default_headers": _ONCE}
            options["stream_chunk_timeout"] = 0  # `Call` watches over that
            if not settings.url:
                options["max_tokens"] = settings.output
        case "anthropic":
            options |= {"api_key": key or ("none" if settings.url else None)}
            options |= {"timeout": settings.first_token, "max_retries": 0, "max_tokens": settings.output}
            options["default_headers"] = _ONCE
        case "ollama":
            # num_ctx: else Ollama cuts the prompt, silently, to its default window
            options |= {"num_ctx": settings.window, "num_predict": settings.output}
            headers = _ONCE | ({"Authorization": f"Bearer {key}"} if key else {})
            options["client_kwargs"] = {"timeout": patience, "headers": headers}
        case "huggingface":
            options["task"] = "text-generation"
            options["pipeline_kwargs"] = {"max_new_tokens": settings.output, "return_full_text": False}
            options.pop("temperature", None)  # the pipeline's own: greedy unless told to sample
            options.pop("base_url", None)
        case _:
            options |= {"timeout": settings.first_token, "max_retries": 0, "max_tokens": settings.output}
            if key:
                options["api_key"] = key
    return {name: value for name, value in options.items() if value is not None}


class Clients:
    """The clients of one model, made when they are first needed; sessions share them."""

    def __init__(self, settings: ModelSettings, reply: str) -> None:
        """Take the model and what it is asked for: a key of `SCHEMAS`, or "prose"."""
        self._settings, self._reply = settings, reply
        self._made: dict[bool, LangChainClient] = {}
        self._lock = threading.Lock()
        self.plain = False  # the server has answered to a plain request, and not to a full one

    def get(self, plain: bool) -> LangChainClient:
        """Return a client; raise a `Failure` where it cannot be made, of which the log says why."""
        with self._lock:
            if plain not in self._made:
                try:
                    self._made[plain] = LangChainClient(self._settings, self._reply, plain=plain)
                except PandectError as error:  # its message is ours: it holds neither key nor question
                    _log.error("the language model is not set up: %s", error)
                    raise Failure(FailureReason.SETTINGS) from None
            return self._made[plain]
