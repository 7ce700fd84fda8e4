"""Who may ask the interface, how often, and how long: its settings, the keys of clients, their limits."""

from __future__ import annotations

import hmac
import logging
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from http import HTTPStatus
from pathlib import Path

from rag.answer.generation.rate_limit import RateLimits
from rag.api.problems import Refused
from rag.errors import BadSetting
from rag.visits import HEADER, Visits, from_environment, limit

KEYS = "PANDECT_API_KEYS"
PER_KEY = "PANDECT_API_PER_KEY"
PER_ADDRESS = "PANDECT_API_PER_ADDRESS"
SECONDS = "PANDECT_API_SECONDS"
AT_ONCE = "PANDECT_API_AT_ONCE"
LEAST_KEY = 20  # characters; what is shorter can be guessed
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks: the name beside the key, and the address that limits go by."""

    client: str | None = None
    address: str | None = None


class Keys:
    """The keys of a file, which is read again when it has changed; no file: none is asked for."""

    def __init__(self, file: Path | None = None) -> None:
        """Read the file; `BadSetting` says what cannot be used."""
        self._file, self._state = file, _state(file)
        self._names = _keys(file) if file else {}

    def __bool__(self) -> bool:
        """Return whether a key is asked for."""
        return self._file is not None

    def client(self, authorization: str) -> str | None:
        """Return whose key came; every key is compared, each in constant time."""
        scheme, _, key = authorization.partition(" ")
        came = sha256(key.strip().encode()).digest() if scheme.lower() == "bearer" else b""
        names = [name for known, name in self._known().items() if hmac.compare_digest(known, came)]
        return names[0] if names else None

    def _known(self) -> Mapping[bytes, str]:
        """Return hashes and names; those from before where the file cannot be used now: the log says why."""
        state = _state(self._file)
        if self._file and state != self._state:
            self._state = state
            try:
                self._names = _keys(self._file)
                _log.info("the keys were read again: %d", len(self._names))
            except BadSetting as error:
                _log.error("%s; the keys from before are used", error)
        return self._names


@dataclass(frozen=True, slots=True)
class Access:
    """The settings of a process that serves the interface."""

    visits: Visits
    per_key: RateLimits
    per_address: RateLimits  # of whatever asks from there, with a key or without
    keys: Keys
    address_header: str = ""
    seconds: float = 30.0  # that one request may take, waiting included; a written answer may take longer
    at_once: int = 4  # searches

    def admit(self, authorization: str | None, peer: str | None, header: list[str]) -> Caller:
        """Return who asks, and count it: for the address, and for the key or else for the address's searches.

        Raises:
            Refused: no key or an unknown one where keys are asked for, or too many requests.
        """
        address = self.visits.address(peer, header)
        client = self.keys.client(authorization or "")
        by_key = client is not None
        wait, whose = self.per_address.take(address=address), "from this address"
        if wait <= 0 and by_key:
            wait, whose = self.per_key.take(client), "with this key"
        elif wait <= 0:
            wait = self.visits.searches.take(address=address)
        if wait > 0:
            seconds = math.ceil(wait)
            raise Refused(
                HTTPStatus.TOO_MANY_REQUESTS, "rate",
                f"Too many requests came {whose}.",
                expected="fewer requests", cure=f"Try again in {seconds} s.", wait=seconds,
            )  # fmt: skip
        if self.keys and not by_key:
            raise Refused(
                HTTPStatus.UNAUTHORIZED, "key", "This interface asks for a key.",
                got="no header Authorization" if authorization is None else "a key that is not known",
                expected="the header Authorization: Bearer KEY",
                cure="Ask whoever runs this interface for a key.", headers={"WWW-Authenticate": "Bearer"},
            )  # fmt: skip
        return Caller(client, address)


def access(environ: Mapping[str, str]) -> Access:
    """Return what a host has set; `BadSetting` says which cannot be used."""
    file = environ.get(KEYS, "").strip()
    visits = from_environment(environ)
    if visits.shared:
        visits.shared.check()
    return Access(
        visits,
        RateLimits(per_session=limit(environ, PER_KEY, "600/minute"), shared=("key", visits.shared)),
        # twice a key's: several clients may stand behind one address
        RateLimits(
            per_address=limit(environ, PER_ADDRESS, "1200/minute"), shared=("requests", visits.shared)
        ),
        Keys(Path(file).expanduser() if file else None),
        environ.get(HEADER, "").strip(),
        _whole(environ, SECONDS, 30),
        _whole(environ, AT_ONCE, 2 * (os.cpu_count() or 1)),
    )


def _whole(environ: Mapping[str, str], setting: str, usual: int) -> int:
    text = environ.get(setting, "").strip() or str(usual)
    if not (text.isascii() and text.isdigit() and 0 < int(text[:9]) <= 3600):
        raise BadSetting(f"{setting}: got {text!r}; expected a whole number from 1 to 3600, such as {usual}")
    return int(text)


def _state(file: Path | None) -> tuple[int, int, int] | None:
    """Return what tells a file from what it was; None where there is none."""
    try:
        found = file.stat() if file else None
    except OSError:
        found = None
    return found and (found.st_ino, found.st_size, found.st_mtime_ns)


def _keys(file: Path) -> Mapping[bytes, str]:
    """Read a file of lines "NAME KEY": SHA-256 of a key -> whose it is; no key is kept."""
    expected = f'expected lines "NAME KEY", a key of {LEAST_KEY} characters or more, none twice'
    make = "python -c 'import secrets; print(secrets.token_urlsafe(32))' makes a key"
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError) as error:
        told = f"{file} cannot be read ({type(error).__name__})"
        raise BadSetting(f"{KEYS}: {told}; {expected}; {make}") from None
    found: dict[bytes, str] = {}
    for number, line in enumerate(lines, 1):
        name, *key = line.split()[:3] or ["#"]
        if name.startswith("#"):
            continue
        digest = sha256("".join(key).encode()).digest()
        if len(key) != 1 or len(key[0]) < LEAST_KEY or digest in found:  # the line may hold a key: not told
            raise BadSetting(f"{KEYS}: line {number} of {file} cannot be used; {expected}; {make}")
        found[digest] = name
    if not found:
        raise BadSetting(f"{KEYS}: {file} holds no key; {expected}; {make}")
    return found
