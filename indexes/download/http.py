"""A file from a URL: resumed where it broke off, tried again where that helps, taken only if it is right.

Addresses are opened with care: which schemes, which redirects, and what an answer means.
"""

from __future__ import annotations

import email.utils
import hashlib
import http.client
import os
import re
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from email.message import Message
from http.client import HTTPMessage
from pathlib import Path
from typing import IO, Any

from rag.errors import PandectError
from rag.types import Progress, no_progress

TRIES = 6  # in a row without a byte more, or with hardly any
SLOWEST = 256  # bytes: fewer in as many seconds as the server may be silent are as good as silence
LONGEST_WAIT = 120.0  # seconds; a server that asks for more is told of instead of waited for
RETRY_STATUS = frozenset({408, 425, 429, 500, 502, 503, 504})  # answers that a later try may turn into a file
_CHUNK = 2**18
_RANGE = re.compile(r"bytes (?:(\d+)-\d+|\*)/(\d+|\*)")


# What stands before the host of an address. A password that holds one of / ? # ends what is parsed as the
# host; where digits alone come before them it is a port, and the sign is of a path.
_USER = re.compile(r"(?<=:)//(?:[^/\s?#]*@|[^/\s?#@:]*:(?!\d+[/?#])\S*@)")


class FetchError(PandectError, OSError):
    """A file that could not be brought from its address; says what the server answered and what to do."""

    def __init__(self, message: str) -> None:
        """Take the message; a user name or password in an address of it is left out."""
        super().__init__(_USER.sub("//", message))


class _AgainError(FetchError):
    """What another try may mend."""


@dataclass(frozen=True, slots=True)
class FileRequest:
    """A file at an address, with the hashes that identify it."""

    url: str
    sha256: str | None = None
    size: int | None = None  # bytes
    headers: Mapping[str, str] | None = None  # sent to this host, never to another that it redirects to
    blob: str | None = None  # without a SHA-256: the SHA-1 by which git knows the content


def check_address(url: str) -> None:
    """Refuse an address that is not on the web.

    Raises:
        FetchError: it is not http or https, names no host, or holds a user name or a password.
    """
    if _USER.search(url):
        raise FetchError(
            f"{url}: an address with a user name or password is not opened, for it would stand in records. "
            "Fetch the file with another program, and give its path."
        )
    parts = urllib.parse.urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise FetchError(f"{url!r} is no address on the web. Give one that begins with https://.")


def opened(wanted: FileRequest, timeout: float, extra: Mapping[str, str] | None = None) -> Any:  # noqa: ANN401
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
        old, new = urllib.parse.urlsplit(req.full_url), urllib.parse.urlsplit(newurl)
        try:
            check_address(newurl)
            if old.scheme == "https" and new.scheme != "https":
                raise FetchError(
                    f"{req.full_url}: it redirects to {newurl}, which is not encrypted. Do not use it."
                )
        except FetchError:
            fp.close()
            raise
        made = super().redirect_request(req, fp, code, msg, headers, newurl)
        if made is not None and (old.scheme, old.netloc) == (new.scheme, new.netloc):
            for name, value in req.unredirected_hdrs.items():
                if name.lower() != "host":
                    made.add_unredirected_header(name, value)
        return made


def refusal(url: str, error: urllib.error.HTTPError) -> FetchError:
    """Return the error that says what an answer of the server means."""
    hints = {
        401: "the server asks who you are. Log in there, or give a token (HF_TOKEN for the hub)",
        403: "the server refuses access. Ask its owner for it, or check the token (HF_TOKEN for the hub)",
        404: "there is no such file. Check the address; the file may have moved",
        410: "the file was removed. Look for a newer address",
        429: "the server is asked too often. Wait some minutes and call again",
    }.get(error.code, "the server answered with an error. Check the address, or try again later")
    return FetchError(f"{url}: {error.code} {error.reason}: {hints}.")


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


def fetch(
    wanted: FileRequest,
    target: Path,
    *,
    progress: Progress = no_progress,
    timeout: float = 30.0,
    sleep: Callable[[float], None] = time.sleep,
) -> None:
    """Bring a file to `target`, whole or not at all.

    What came so far lies in `target`.part, with what the server calls its version in `target`.part.tag; a
    later call goes on there if the server can and the file is still the same. A file that is there already
    and has the right checksum, or the right size where only that is known, is not fetched again.

    `progress` is called with bytes there and bytes in all (None where the server does not tell); `timeout`
    is how many seconds the server may be silent, or send fewer than `SLOWEST` bytes.

    Raises:
        FetchError: no such file, no access, the server does not answer or does not keep its word, or
            what came is another file.
    """
    check_address(wanted.url)
    part = target.with_name(f"{target.name}.part")
    try:
        known = wanted.sha256 or wanted.blob or wanted.size is not None
        if known and target.is_file() and not _fault(wanted, target):
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        resumed = part.is_file()
        _bring(wanted, part, progress, timeout, sleep)
        fault = _fault(wanted, part)
        if fault and resumed:  # the old part may be of another file
            _forget(part)
            _bring(wanted, part, progress, timeout, sleep)
            fault = _fault(wanted, part)
        if fault:
            _forget(part)
            raise FetchError(
                f"{wanted.url}: {fault}. It was changed or damaged on its way; nothing was kept."
            )
        with part.open("rb") as file:
            os.fsync(file.fileno())
        part.replace(target)
        _forget(part)
    except FetchError:
        raise
    except OSError as error:  # of the disk: those of the network were told apart before
        problem = error.strerror or error
        cure = "Make room, or give another place"
        raise FetchError(f"{target}: cannot be written ({problem}). {cure}.") from None


def _bring(
    wanted: FileRequest, part: Path, progress: Progress, timeout: float, sleep: Callable[[float], None]
) -> None:
    """Try until the file is there, with longer and longer pauses while nothing comes."""
    idle = 0
    while True:
        size_before, wait = _size(part), None
        try:
            return _attempt(wanted, part, progress, timeout)
        except urllib.error.HTTPError as error:
            error.close()
            last = refusal(wanted.url, error)
            if error.code not in RETRY_STATUS:
                raise last from None
            wait = retry_after(error.headers.get("Retry-After"))
        except _AgainError as error:
            last = error
        idle = 0 if _size(part) >= size_before + SLOWEST else idle + 1
        if idle >= TRIES:
            raise last
        if wait is not None and wait > LONGEST_WAIT:
            raise FetchError(f"{last} It asks to wait {wait:,.0f} seconds.")
        sleep(wait if wait is not None else min(2.0 ** max(0, idle - 1), LONGEST_WAIT))


def _attempt(wanted: FileRequest, part: Path, progress: Progress, timeout: float) -> None:
    """Get the rest of the file.

    Raises:
        _AgainError, urllib.error.HTTPError: worth another try, maybe.
    """
    tag_file = _tag_file(part)
    tag = tag_file.read_text(encoding="utf-8").strip() if tag_file.is_file() else ""
    if not (wanted.sha256 or tag):
        _forget(part)  # nothing would tell whether the rest belongs to it
    offset = _size(part)
    headers = {"Range": f"bytes={offset}-"} if offset else {}
    if offset and tag:
        headers["If-Range"] = tag
    try:
        with _network(wanted.url):
            answer = opened(wanted, timeout, headers)
    except urllib.error.HTTPError as error:
        if error.code != 416 or not offset:
            raise
        error.close()
        _, total = _extent(error.code, error.headers, offset)
        if offset in (total, wanted.size):  # nothing lies behind what is there: it was whole already
            return
        _forget(part)
        raise _broken_off(wanted.url, "what was there does not belong to the file") from None
    with answer:
        _take(wanted, part, answer, (offset, tag), progress, timeout)


def _take(
    wanted: FileRequest,
    part: Path,
    answer: Any,  # noqa: ANN401  # urllib's have no type
    request: tuple[int, str],
    progress: Progress,
    timeout: float,
) -> None:
    """Append what comes to the part, if it is what was asked for: from that byte on, of that version."""
    offset, tag = request
    start, total = _extent(answer.status, answer.headers, offset)
    now = _version_tag(answer.headers)
    if start and tag and now and now != tag:  # a server that does not heed If-Range
        _forget(part)
        raise _broken_off(wanted.url, "the file was changed meanwhile")
    if start != offset or not offset:
        _forget(part)
    if start not in (0, offset):
        raise _broken_off(wanted.url, f"byte {offset} was asked for and byte {start} came")
    if now:
        _tag_file(part).write_text(now, encoding="utf-8")
    done = start
    with part.open("ab") as out:
        for chunk in _chunks(wanted.url, answer, timeout):
            done += len(chunk)
            if wanted.size is not None and done > wanted.size:
                raise FetchError(f"{wanted.url}: longer than the {wanted.size:,} bytes it should have.")
            out.write(chunk)
            progress(wanted.url, done, total)
    if total is not None and done < total:
        raise _broken_off(wanted.url, f"{total:,} bytes were promised and {done:,} came")


def _chunks(url: str, answer: Any, timeout: float) -> Iterator[bytes]:  # noqa: ANN401
    """Yield what comes, as it comes; `SLOWEST` bytes must in each `timeout` seconds."""
    since, received = time.monotonic(), 0
    while True:
        with _network(url):
            chunk = answer.read1(_CHUNK)  # not read, which waits until so much is there
        if not chunk:
            return
        yield chunk
        received += len(chunk)
        if time.monotonic() - since >= timeout:
            if received < SLOWEST:
                raise _broken_off(url, f"only {received:,} bytes came in {timeout:g} seconds")
            since, received = time.monotonic(), 0


@contextmanager
def _network(url: str) -> Iterator[None]:
    """Tell what the network does from what the disk does: it is worth another try."""
    try:
        yield
    except (urllib.error.HTTPError, FetchError):  # the server has answered
        raise
    except http.client.HTTPException as error:
        raise _broken_off(url, str(error) or type(error).__name__) from None
    except OSError as error:  # also URLError and timeouts
        problem = str(getattr(error, "reason", None) or error) or type(error).__name__
        raise _AgainError(f"{url}: cannot be reached ({problem}). Check network and address.") from None


def _broken_off(url: str, problem: str) -> _AgainError:
    return _AgainError(f"{url}: broken off again and again ({problem}). Try again later.")


def _extent(status: int, headers: Message, offset: int) -> tuple[int, int | None]:
    """Return the byte at which an answer begins and how long the whole file is, if it says so."""
    ranged = _RANGE.fullmatch(headers.get("Content-Range", "").strip())
    if status in (206, 416):
        total = int(ranged[2]) if ranged and ranged[2] != "*" else None
        return (int(ranged[1]) if ranged and ranged[1] else offset), total
    length = headers.get("Content-Length", "")
    return 0, int(length) if length.isascii() and length.isdigit() else None


def _version_tag(headers: Message) -> str:
    """Return by what the server knows this version of the file; nothing if it does not say."""
    tag = headers.get("ETag", "")
    if not tag or tag.startswith("W/"):  # a weak one may not be asked for with If-Range
        tag = headers.get("Last-Modified", "")
    return tag.strip()


def _tag_file(part: Path) -> Path:
    return part.with_name(f"{part.name}.tag")


def _forget(part: Path) -> None:
    part.unlink(missing_ok=True)
    _tag_file(part).unlink(missing_ok=True)


def _size(part: Path) -> int:
    return part.stat().st_size if part.is_file() else 0


def _fault(wanted: FileRequest, file: Path) -> str:
    """Return what is wrong with a file that came; nothing if it is right or nothing was known of it."""
    size = file.stat().st_size
    if right := (wanted.sha256 or wanted.blob or "").lower():
        head = b"" if wanted.sha256 else b"blob %d\0" % size
        kind = hashlib.sha256 if wanted.sha256 else hashlib.sha1
        with file.open("rb") as content:
            found = hashlib.file_digest(content, lambda: kind(head, usedforsecurity=False)).hexdigest()
        if found != right:
            return f"its {'sha256' if wanted.sha256 else 'checksum'} is {found} and should be {right}"
    if wanted.size is not None and size != wanted.size:
        return f"{size:,} bytes came of {wanted.size:,}"
    return ""
