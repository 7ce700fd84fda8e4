"""Which model writes, and within what bounds: read from the environment and from secrets, off by default."""

from __future__ import annotations

import hmac
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal, NoReturn, TypeAlias
from urllib.parse import urlsplit

from rag.answer.generation.rate_limit import Rate
from rag.answer.verification.judge import THRESHOLD
from rag.errors import BadInput


class Secret:
    """Holds a key; printing, formatting, copying and pickling never show it."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """Return the key: for the client that sends it, and for nothing else."""
        return self._value

    def __repr__(self) -> str:
        """Show that there is a key, and not which."""
        return "Secret(…)"

    __str__ = __repr__

    def __format__(self, spec: str) -> str:
        """Show as little, whatever the format."""
        return repr(self)

    def __eq__(self, other: object) -> bool:
        """Compare in a time that does not depend on where two keys differ."""
        return isinstance(other, Secret) and hmac.compare_digest(self._value.encode(), other._value.encode())

    __hash__ = None  # type: ignore[assignment]  # a hash would let a key be guessed

    def __deepcopy__(self, _: object = None) -> Secret:
        """Return the same: a copy would be one more place to forget."""
        return self

    __copy__ = __deepcopy__

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        """Refuse: a pickle is written somewhere."""
        raise TypeError("a secret is not pickled")


Format: TypeAlias = Literal["auto", "lines", "schema"]

SWITCH = "PANDECT_MODEL"
JUDGE = "PANDECT_JUDGE"
NLI = "nli"  # in place of a provider: an entailment model
# Where the makers of models tell people to put their keys; read only when the model is the maker's own.
USUAL_KEYS = {
    "openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY", "mistralai": "MISTRAL_API_KEY",
    "groq": "GROQ_API_KEY", "google_genai": "GOOGLE_API_KEY", "deepseek": "DEEPSEEK_API_KEY",
    "xai": "XAI_API_KEY", "together": "TOGETHER_API_KEY", "fireworks": "FIREWORKS_API_KEY",
    "openrouter": "OPENROUTER_API_KEY", "cohere": "COHERE_API_KEY",
}  # fmt: skip
PER_SESSION = Rate(20, 3600.0)  # more than a person asks; a script finds its end
PER_HOST = Rate(300, 3600.0)
PER_ADDRESS = Rate(60, 3600.0)  # a fifth of the host's: one script leaves the rest to others
MOST_ARTICLES = 15  # the largest median of gold articles that an area of law has in the benchmarks


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """A model, and how it may be called. Times are in seconds."""

    model: str  # provider:name, as LangChain's init_chat_model reads it
    url: str | None = None
    key: Secret | None = None
    format: Format = "auto"
    window: int = 8192  # tokens; what small local models are commonly served with
    output: int = 1024  # tokens of it for the answer: some twenty sentences with their quotes
    articles: int | None = 10  # None: as many as the scores call for
    temperature: float | None = 0.0  # None: not sent
    connect: float = 5.0
    first_token: float = 30.0
    between: float = 15.0
    whole: float = 120.0
    retries: int = 2
    per_session: Rate | None = PER_SESSION
    per_host: Rate | None = PER_HOST
    per_address: Rate | None = PER_ADDRESS
    variable: str = SWITCH  # which named it, for errors

    @property
    def provider(self) -> str:
        """What stands before the first colon, such as "openai"."""
        return self.model.partition(":")[0]

    @property
    def name(self) -> str:
        """What stands after it, such as "llama3.1:8b"."""
        return self.model.partition(":")[2]

    @property
    def local(self) -> bool:
        """Whether the model is known to run on this machine, so that a question does not leave it."""
        if self.url is not None:
            host = urlsplit(self.url).hostname or ""
            return host in ("localhost", "::1") or re.fullmatch(r"127(\.\d{1,3}){3}", host) is not None
        return self.provider == "huggingface"  # Ollama without an address asks the one of OLLAMA_HOST


@dataclass(frozen=True, slots=True)
class JudgeSettings:
    """What reads a model's sentences against the law: an entailment model, a language model, or nothing."""

    entailment: str | None = None  # a folder, or an id on the hub
    threshold: float = THRESHOLD
    model: ModelSettings | None = None
    withhold: bool = False  # what is not verified is removed, and not marked


@dataclass(frozen=True, slots=True)
class Setting:
    """One variable of the environment."""

    variable: str
    field: str
    parse: Callable[[str], object]
    hidden: bool = False  # its value is never shown, not even when it is wrong


def _number(text: str, low: float, high: float) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not low <= value <= high:
        raise BadInput(f"expected a number from {low:g} to {high:g}")
    return value


def _whole(text: str, low: int, high: int) -> int:
    if not re.fullmatch(r"[0-9]{1,9}", text) or not low <= int(text) <= high:
        raise BadInput(f"expected a whole number from {low} to {high}")
    return int(text)


# How keys begin: one that was pasted in a model's place would be shown on the page, as its name.
_KEY_LIKE = re.compile(r"(?:^|:)(?:sk|pk|hf|gsk|xai|AIza)[-_A-Z0-9]", re.ASCII)


def _model(text: str) -> str:
    provider, colon, name = text.partition(":")
    provider = provider.lower().replace("-", "_")
    sound = colon and re.fullmatch(r"[a-z0-9_]+", provider) and name and name.isprintable()
    if not sound or _KEY_LIKE.search(text):
        raise BadInput("expected PROVIDER:MODEL, such as ollama:llama3.1, openai:gpt-4.1-mini")
    return f"{provider}:{name}"


def _url(text: str) -> str:
    try:
        parts = urlsplit(text)
        sound = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        sound = False
    extra = sound and any((parts.username, parts.password, parts.query, parts.fragment))
    if not sound or extra or not text.isprintable():
        raise BadInput(
            "expected an address such as http://127.0.0.1:8000/v1, without user name, password or query"
        )
    return text.rstrip("/")


def _key(text: str) -> Secret:
    if not (text.isascii() and text.isprintable() and " " not in text):
        raise BadInput("expected a key without blanks, line ends or accents")
    return Secret(text)


def _format(text: str) -> str:
    if text not in ("auto", "lines", "schema"):
        raise BadInput("expected auto, lines or schema")
    return text


def _judge(text: str) -> str:
    if text == "none":
        return ""
    if text.startswith(f"{NLI}:") and text.removeprefix(f"{NLI}:").strip():
        return text
    try:
        return _model(text)
    except BadInput:
        raise BadInput(
            "expected none, nli:FOLDER_OR_HUB_ID or PROVIDER:MODEL, such as ollama:llama3.1"
        ) from None


def _unverified(text: str) -> bool:
    if text not in ("mark", "withhold"):
        raise BadInput("expected mark or withhold")
    return text == "withhold"


def _articles(text: str) -> int | None:
    return None if text == "auto" else _whole(text, 1, MOST_ARTICLES)


def _temperature(text: str) -> float | None:
    return None if text == "off" else _number(text, 0, 2)


SETTINGS = (
    Setting(SWITCH, "model", _model),
    Setting("PANDECT_MODEL_URL", "url", _url, hidden=True),  # people paste keys into addresses
    Setting("PANDECT_MODEL_KEY", "key", _key, hidden=True),
    Setting("PANDECT_MODEL_FORMAT", "format", _format),
    Setting("PANDECT_MODEL_TOKENS", "window", partial(_whole, low=1024, high=4_000_000)),
    Setting("PANDECT_MODEL_OUTPUT", "output", partial(_whole, low=64, high=100_000)),
    Setting("PANDECT_MODEL_ARTICLES", "articles", _articles),
    Setting("PANDECT_MODEL_TEMPERATURE", "temperature", _temperature),
    Setting("PANDECT_MODEL_CONNECT", "connect", partial(_number, low=0.1, high=600)),
    Setting("PANDECT_MODEL_FIRST_TOKEN", "first_token", partial(_number, low=0.1, high=3600)),
    Setting("PANDECT_MODEL_BETWEEN", "between", partial(_number, low=0.1, high=3600)),
    Setting("PANDECT_MODEL_TIMEOUT", "whole", partial(_number, low=0.1, high=3600)),
    Setting("PANDECT_MODEL_RETRIES", "retries", partial(_whole, low=0, high=10)),
    Setting("PANDECT_MODEL_PER_SESSION", "per_session", Rate.parse),
    Setting("PANDECT_MODEL_PER_HOST", "per_host", Rate.parse),
    Setting("PANDECT_MODEL_PER_ADDRESS", "per_address", Rate.parse),
)


JUDGE_SETTINGS = (
    Setting(JUDGE, "judge", _judge),
    Setting("PANDECT_JUDGE_URL", "url", _url, hidden=True),
    Setting("PANDECT_JUDGE_KEY", "key", _key, hidden=True),
    Setting("PANDECT_JUDGE_THRESHOLD", "threshold", partial(_number, low=0, high=1)),
    Setting("PANDECT_JUDGE_UNVERIFIED", "withhold", _unverified),
)


def read(environ: Mapping[str, str], secrets: Mapping[str, object] | None = None) -> ModelSettings | None:
    """Return the settings; None where PANDECT_MODEL is unset or empty: then no model is ever asked.

    The page's secrets stand for variables of the environment that are not set.

    Raises:
        BadInput: a variable that does not exist, or a value that it cannot have.
    """
    texts = _texts(environ, secrets)
    for prefix, known in ((SWITCH, SETTINGS), (JUDGE, JUDGE_SETTINGS)):
        names = sorted(setting.variable for setting in known)
        unknown = sorted(name for name in texts if name.startswith(prefix) and name not in names)
        if unknown:
            raise BadInput(f"{unknown[0]} is no setting: expected one of {', '.join(names)}")
    if not texts.get(SWITCH):
        if (texts.get(JUDGE) or "none") != "none":
            raise BadInput(f"{JUDGE} is set and {SWITCH} is not: name a model that writes, or unset {JUDGE}")
        return None
    values = _values(SETTINGS, texts)
    # why not with a URL: the maker's key would be sent to somebody else's server
    if "key" not in values and "url" not in values:
        values["key"] = _usual_key(str(values["model"]).partition(":")[0], texts)
    settings = ModelSettings(**values)  # type: ignore[arg-type]  # each is what its parser returns
    if settings.output * 2 > settings.window:
        raise BadInput(
            f"PANDECT_MODEL_OUTPUT={settings.output} takes more than half of "
            f"PANDECT_MODEL_TOKENS={settings.window}: lower the one, or raise the other"
        )
    return settings


def read_judge(
    writer: ModelSettings, environ: Mapping[str, str], secrets: Mapping[str, object] | None = None
) -> JudgeSettings:
    """Return the settings of the judge; unset or "none", there is none.

    A second model of the writer's provider is asked at the writer's address and with its key, unless others
    are given; times, limits and tries are the writer's.

    Raises:
        BadInput: a value that a variable cannot have.
    """
    texts = _texts(environ, secrets)
    values = _values(JUDGE_SETTINGS, texts)
    kind, _, name = str(values.get("judge", "")).partition(":")
    withhold = values.get("withhold") is True
    _refuse_idle(texts, kind if name else "none")
    if not name:
        return JudgeSettings(withhold=withhold)
    if kind == NLI:
        return JudgeSettings(name, float(str(values.get("threshold", THRESHOLD))), withhold=withhold)
    url, key = values.get("url"), values.get("key")
    if kind == writer.provider and url is None:
        url, key = writer.url, key or writer.key
    elif url is None and key is None:
        key = _usual_key(kind, texts)
    model = replace(writer, model=f"{kind}:{name}", url=url, key=key, variable=JUDGE)  # type: ignore[arg-type]  # see `Setting`
    return JudgeSettings(model=model, withhold=withhold)


def _refuse_idle(texts: Mapping[str, str], kind: str) -> None:
    """Refuse settings that this kind of judge does nothing with."""
    idle = {"none": ("_URL", "_KEY", "_THRESHOLD", "_UNVERIFIED"), NLI: ("_URL", "_KEY")}.get(
        kind, ("_THRESHOLD",)
    )
    for name in (JUDGE + ending for ending in idle):
        if texts.get(name):
            raise BadInput(
                f"{name} is set, which does nothing with {JUDGE}={kind}: unset it, or give another judge"
            )


def _texts(environ: Mapping[str, str], secrets: Mapping[str, object] | None) -> dict[str, str]:
    named = {**(secrets or {}), **environ}
    return {name: str(text).strip() for name, text in named.items() if isinstance(text, (str, int, float))}


def _values(known: Sequence[Setting], texts: Mapping[str, str]) -> dict[str, object]:
    return {s.field: _value(s, texts[s.variable]) for s in known if texts.get(s.variable)}


def _usual_key(provider: str, texts: Mapping[str, str]) -> object:
    usual = USUAL_KEYS.get(provider, "")
    return _value(Setting(usual, "key", _key, hidden=True), texts[usual]) if texts.get(usual) else None


def _value(setting: Setting, text: str) -> object:
    try:
        return setting.parse(text)
    except BadInput as error:
        # a key that was pasted into the wrong variable is not shown either
        secret = setting.hidden or len(text) > 40 or text.startswith("key-") or _KEY_LIKE.search(text)
        got = f"a value of {len(text)} characters" if secret else repr(text)
        raise BadInput(f"{setting.variable}: got {got}; {error}") from None
