"""Questions, keys and answers stay out of every log, and out of what LangChain would send on."""

from __future__ import annotations

import logging
import warnings

from rag.logs import loggers_under

# Whoever touches a request on its way. Versions of openai and anthropic log whole requests at "debug", httpx
# logs addresses at "info", and LangChain logs what a callback failed on.
CLIENTS = (
    "aiohttp",
    "anthropic",
    "asyncio",
    "cohere",
    "google",
    "google_genai",
    "groq",
    "httpcore",
    "httpcore2",
    "httpx",
    "httpx2",
    "huggingface_hub",
    "langchain",
    "langchain_anthropic",
    "langchain_community",
    "langchain_core",
    "langchain_huggingface",
    "langchain_ollama",
    "langchain_openai",
    "langgraph",
    "langsmith",
    "mistralai",
    "ollama",
    "openai",
    "requests",
    "tenacity",
    "tiktoken",
    "transformers",
    "urllib3",
)
_SILENT = logging.CRITICAL + 1


def silence_clients() -> None:
    """Keep the clients' loggers from saying anything; what matters comes as an error, which is converted.

    Called before every request, because modules that were loaded since may have brought loggers with levels
    of their own, and a host may have lowered a level.
    """
    for logger in loggers_under(CLIENTS):
        logger.setLevel(_SILENT)
    # pydantic quotes the value that it warns about, and that may be what the model wrote
    warnings.filterwarnings("ignore", message="Pydantic serializer warnings", category=UserWarning)


def silence_langchain() -> None:
    """Turn off what LangChain prints: a host that debugs something else switches it for the whole process."""
    from langchain_core import globals as switches

    switches.set_debug(False)
    switches.set_verbose(False)
