"""Addresses on the web, opened with care: which schemes, which redirects, and what an answer means."""

from __future__ import annotations

import email.utils
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from http.client import HTTPMessage
from typing import IO, Any

from rag.errors import PandectError


class FetchError(PandectError, OSError):
    """A file that could not be brought from its address; says what the server answered and what to do."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A file at an address, and by what it is known to be the right one."""

    url: str
    sha256: str | None = None
    size: int | None = None  # bytes
    headers: Mapping[str, str] | None = None  # sent to this host, never to another that it redirects to


def check_address(url: str) -> None:
    """Refuse an address that is not on the web.

    Raises:
        FetchError: it is not http or https, or names no host.
    """
    parts = urllib.parse.urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise FetchError(f"{url!r} is no address on the web. Give one that begins with https://.")


def opened(wanted: Wanted, timeout: float, extra: Mapping[str, str] | None = None) -> Any:  # noqa: ANN401
    """Open an address, with redirects but nothing other than http and https; the answer is to be closed.

    Raises:
        urllib.error.URLError, http.client.HTTPException, OSError: as urllib does.
    """
    opener = urllib.request.OpenerDirector()
    for handler in (
        urllib.request.ProxyHandler(),
        urllib.request.HTTPHandler(),
        urllib.request.HTTPSHandler(),
        urllib.request.HTTPDefaultErrorHandler(),
        urllib.request.HTTPErrorProcessor(),
        _Redirects(),
    ):
        opener.add_handler(handler)
    headers = {"User-Agent": "pandect", "Accept-Encoding": "identity", **(extra or {})}
    request = urllib.request.Request(wanted.url, headers=headers)  # noqa: S310  # no handler for other schemes
    for name, value in (wanted.headers or {}).items():
        request.add_unredirected_header(name, value)
    return opener.open(request, timeout=timeout)


def refusal(url: str, error: urllib.error.HTTPError) -> FetchError:
    """Return the error that says what an answer of the server means."""
    told = {
        401: "the server asks who you are. Log in there, or give a token (HF_TOKEN for the hub)",
        403: "the server refuses access. Ask its owner for it, or check the token (HF_TOKEN for the hub)",
        404: "there is no such file. Check the address; the file may have moved",
        410: "the file was removed. Look for a newer address",
        429: "the server is asked too often. Wait some minutes and call again",
    }.get(error.code, "the server answered with an error. Check the address, or try again later")
    return FetchError(f"{url}: {error.code} {error.reason}: {told}.")


class _Redirects(urllib.request.HTTPRedirectHandler):
    """Follows redirects; a token goes along only to the same host, and never from https to http."""

    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: HTTPMessage,
        newurl: str,
    ) -> urllib.request.Request | None:
        """Return the request that follows, as urllib makes it."""
        old, new = urllib.parse.urlsplit(req.full_url), urllib.parse.urlsplit(newurl)
        if old.scheme == "https" and new.scheme != "https":
            raise FetchError(
                f"{req.full_url}: it redirects to {newurl}, which is not encrypted. Do not use it."
            )
        made = super().redirect_request(req, fp, code, msg, headers, newurl)
        if made is not None and (old.scheme, old.netloc) == (new.scheme, new.netloc):
            for name, value in req.unredirected_hdrs.items():
                if name.lower() != "host":
                    made.add_unredirected_header(name, value)
        return made


def retry_after(header: str | None) -> float | None:
    """Return how many seconds a Retry-After asks to wait; it holds seconds or a date."""
    if header is None:
        return None
    if header.strip().isascii() and header.strip().isdigit():
        return float(header.strip()[:9])
    try:
        return max(0.0, email.utils.parsedate_to_datetime(header).timestamp() - time.time())
    except (TypeError, ValueError, OverflowError):
        return None
