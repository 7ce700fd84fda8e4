"""What one address may send, search and say that it thinks: no script takes a host from the others."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network

from rag.answer.generation.rate_limit import Rate, RateLimits
from rag.errors import BadInput, BadSetting
from rag.shared_state import SharedState
from rag.shared_state import from_environment as shared_state

HEADER = "PANDECT_ADDRESS_HEADER"
PROXIES = "PANDECT_PROXIES"
SEARCHES = "PANDECT_SEARCHES_PER_ADDRESS"
FEEDBACK = "PANDECT_FEEDBACK_PER_ADDRESS"
MESSAGES = "PANDECT_MESSAGES_PER_ADDRESS"
# a class or a library behind one address searches on: five people who click as fast as a socket may
_USUAL = {SEARCHES: "120/minute", FEEDBACK: "50/hour", MESSAGES: "600/minute"}
THIS_MACHINE = ("127.0.0.1", "::1", "testclient")  # whose addresses tell nobody apart
PASSWORDS = Rate(10, 3600.0)  # attempts at the operator's password
_PORT = re.compile(r"(\[[^\]]+\]|[^:]+)(?::\d+)?")  # [2001:db8::1]:4711, 192.0.2.7:4711
_NETWORK = 64  # bits of an IPv6 address that a household is given; whoever has one has 2**64 more


@dataclass(frozen=True, slots=True)
class Visits:
    """The limits by address, of a process or of all that share a store."""

    searches: RateLimits
    feedback: RateLimits
    passwords: RateLimits
    messages: Rate | None  # of all its sockets together
    proxies: tuple[IPv4Network | IPv6Network, ...] = ()  # whose header is read, besides this machine's
    shared: SharedState | None = None

    def address(self, peer: str | None, sent: Sequence[str]) -> str | None:
        """Return where a person asks from; None where that cannot be told: on this machine.

        `sent` are the values of the header that PANDECT_ADDRESS_HEADER names. Behind a proxy everybody would
        come from it, so it sends one, such as X-Forwarded-For; the last address in it is the one that the
        proxy itself saw. Anybody may send a header: it is read of connections from this machine and from
        PANDECT_PROXIES alone.
        """
        told = self.proxied(peer, sent)
        if told is not None:
            return network(told.rpartition(",")[2].strip())
        return None if peer in THIS_MACHINE else network(peer)

    def proxied(self, peer: str | None, sent: Sequence[str]) -> str | None:
        """Return what this machine or a proxy of the host sent in a header; None of whoever else sent it."""
        return sent[-1] if sent and self._is_proxy(peer) else None

    def _is_proxy(self, peer: str | None) -> bool:
        if peer is None or peer in THIS_MACHINE:
            return True
        try:
            found = ip_address(peer)
        except ValueError:
            return False
        found = getattr(found, "ipv4_mapped", None) or found
        return found.is_loopback or any(found in each for each in self.proxies)


def from_environment(environ: Mapping[str, str]) -> Visits:
    """Return the limits that a host has set; `BadSetting` says which cannot be used."""
    searches, feedback, messages = (limit(environ, each, usual) for each, usual in _USUAL.items())
    shared = shared_state(environ)

    def by_address(name: str, rate: Rate | None) -> RateLimits:
        return RateLimits(per_address=rate, shared=(name, shared))

    limits = by_address("searches", searches), by_address("feedback", feedback)
    return Visits(*limits, by_address("passwords", PASSWORDS), messages, _proxies(environ), shared)


def _proxies(environ: Mapping[str, str]) -> tuple[IPv4Network | IPv6Network, ...]:
    text = environ.get(PROXIES, "")
    try:
        return tuple(ip_network(part.strip()) for part in text.split(",") if part.strip())
    except ValueError:
        expected = "expected addresses or networks with commas between, such as 10.0.0.7, 10.1.0.0/16"
        raise BadSetting(f"{PROXIES}: got {text!r}; {expected}") from None


def limit(environ: Mapping[str, str], setting: str, usual: str) -> Rate | None:
    """Return the rate that a setting names; `BadSetting` says that it names none."""
    text = environ.get(setting, "").strip() or usual
    try:
        return Rate.parse(text)
    except BadInput as error:
        raise BadSetting(f"{setting}: got {text!r}; {error}") from None


def network(text: str | None) -> str | None:
    """Return what counts as one address: of IPv6 its network, for a household has as many as it likes.

    A port, which some proxies send along, is left out: each connection has another.
    """
    if not isinstance(text, str):  # Streamlit's own tests know no address
        return None
    with_port = _PORT.fullmatch(text)
    try:
        found = ip_address(with_port[1].strip("[]") if with_port else text)
    except ValueError:
        return text or None  # whatever a proxy calls its visitors
    if found.version == 4:
        return str(found)
    mapped = found.ipv4_mapped
    return str(mapped) if mapped else str(ip_network((found, _NETWORK), strict=False))
