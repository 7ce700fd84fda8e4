"""A file from a URL: resumed where it broke off, tried again where that helps, taken only if it is right.

The part of a file that came so far: on the disk, with what the server calls its version.

Addresses on the web, opened with care: which schemes, which redirects, and what an answer means.
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


def file_size(part: Path) -> int:
    """Return the size of a file in bytes; 0 if it is missing."""
    return part.stat().st_size if part.is_file() else 0


def forget(part: Path) -> None:
    """Remove what is there, and what the server called it."""
    part.unlink(missing_ok=True)
    _tag_file(part).unlink(missing_ok=True)


def _tag_file(part: Path) -> Path:
    return part.with_name(f"{part.name}.tag")


def read_tag(part: Path) -> str:
    """Return by what the server knows the version that the part is of; nothing if it did not say."""
    file = _tag_file(part)
    return file.read_text(encoding="utf-8").strip() if file.is_file() else ""


def version_tag(headers: Message) -> str:
    """Return by what the server knows this version of the file; nothing if it does not say."""
    tag = headers.get("ETag", "")
    if not tag or tag.startswith("W/"):  # a weak one may not be asked for with If-Range
        tag = headers.get("Last-Modified", "")
    return tag.strip()


def write_tag(part: Path, headers: Message) -> None:
    """Keep by what the server knows this version of the file, if it says."""
    tag = version_tag(headers)
    if tag:
        _tag_file(part).write_text(tag, encoding="utf-8")


class DiskError(OSError):
    """What the disk refused, told apart from what the network did."""


@contextmanager
def on_disk() -> Iterator[None]:
    """Raise DiskError for what goes wrong inside."""
    try:
        yield
    except OSError as error:
        raise DiskError(error.errno, error.strerror) from None


@contextmanager
def appending(part: Path) -> Iterator[Callable[[bytes], None]]:
    """Give what appends bytes to a part; they are on the disk, or refused by it, when it returns.

    Raises:
        DiskError: the disk refuses them.
    """
    with on_disk():
        # without a buffer: closing would try to write it again, and fail as if the network had
        out = part.open("ab", buffering=0)

    def append(chunk: bytes) -> None:
        left = memoryview(chunk)
        with on_disk():
            while left:
                left = left[out.write(left) :]

    try:
        yield append
    finally:
        with on_disk():
            out.close()


class FetchError(PandectError, OSError):
    """A file that could not be brought from its address; says what the server answered and what to do."""


@dataclass(frozen=True, slots=True)
class FileRequest:
    """A file at an address, with the hashes that identify it."""

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


TRIES = 6  # in a row without a byte more, or with hardly any
SLOWEST = 256  # bytes: fewer in as many seconds as the server may be silent are as good as silence
LONGEST_WAIT = 120.0  # seconds; a server that asks for more is told of instead of waited for
_CHUNK = 2**18
RETRY_STATUS = frozenset({408, 425, 429, 500, 502, 503, 504})  # answers that a later try may turn into a file
_RANGE = re.compile(r"bytes (?:(\d+)-\d+|\*)/(\d+|\*)")


def fetch(
    wanted: FileRequest,
    target: Path,
    *,
    progress: Progress = no_progress,
    timeout: float = 30.0,
    sleep: Callable[[float], None] = time.sleep,
) -> str:
    """Bring a file to `target`, whole or not at all, and return its SHA-256.

    What came so far lies in `target`.part; a later call goes on there if the server can and the file is
    still the same. A file that is there already and has the right checksum is not fetched again.

    Args:
        wanted: the address and what is known of the file.
        target: where it shall lie.
        progress: called with bytes there and bytes in all (None where the server does not tell).
        timeout: seconds that the server may be silent, or send fewer than `SLOWEST` bytes.
        sleep: waits.

    Raises:
        FetchError: no such file, no access, the server does not answer or does not keep its word, or
            what came is another file.
    """
    check_address(wanted.url)
    part = target.with_name(f"{target.name}.part")
    try:
        if wanted.sha256 and target.is_file() and sha256_of(target) == wanted.sha256.lower():
            return wanted.sha256.lower()
        target.parent.mkdir(parents=True, exist_ok=True)
        resumed = part.is_file()
        found = _bring(wanted, part, progress, timeout, sleep)
        if resumed and _fault(wanted, part, found):  # the old part may be of another file
            forget(part)
            found = _bring(wanted, part, progress, timeout, sleep)
        fault = _fault(wanted, part, found)
        if fault:
            forget(part)
            raise FetchError(
                f"{wanted.url}: {fault}. It was changed or damaged on its way; nothing was kept."
            )
        with part.open("rb") as file:
            os.fsync(file.fileno())
        part.replace(target)
        forget(part)
    except FetchError:
        raise
    except OSError as error:  # of the disk: those of the network were told apart before
        problem = error.strerror or error
        cure = "Make room, or give another place"
        raise FetchError(f"{target}: cannot be written ({problem}). {cure}.") from None
    return found


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file, hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _bring(
    wanted: FileRequest, part: Path, progress: Progress, timeout: float, sleep: Callable[[float], None]
) -> str:
    """Try until the file is there, with longer and longer pauses while nothing comes; return its SHA-256."""
    idle = 0
    while True:
        size_before, wait = file_size(part), None
        try:
            _attempt(wanted, part, progress, timeout)
            with on_disk():
                return sha256_of(part)
        except urllib.error.HTTPError as error:
            error.close()
            last = refusal(wanted.url, error)
            if error.code not in RETRY_STATUS:
                raise last from None
            wait = retry_after(error.headers.get("Retry-After"))
        except (_BrokenOffError, http.client.HTTPException) as error:
            problem = str(error) or type(error).__name__
            last = FetchError(f"{wanted.url}: broken off again and again ({problem}). Try again later.")
        except (FetchError, DiskError):
            raise
        except OSError as error:  # also URLError and timeouts
            problem = str(getattr(error, "reason", None) or error) or type(error).__name__
            last = FetchError(f"{wanted.url}: cannot be reached ({problem}). Check network and address.")
        idle = 0 if file_size(part) >= size_before + SLOWEST else idle + 1
        if idle >= TRIES:
            raise last
        if wait is not None and wait > LONGEST_WAIT:
            raise FetchError(f"{last} It asks to wait {wait:,.0f} seconds.")
        sleep(wait if wait is not None else min(2.0 ** max(0, idle - 1), LONGEST_WAIT))


def _attempt(wanted: FileRequest, part: Path, progress: Progress, timeout: float) -> None:
    """Get the rest of the file.

    Raises:
        _BrokenOffError, OSError, http.client.HTTPException: worth another try, maybe.
    """
    with on_disk():
        tag = read_tag(part)
        if not (wanted.sha256 or tag):
            forget(part)  # nothing would tell whether the rest belongs to it
    offset = file_size(part)
    headers = {"Range": f"bytes={offset}-"} if offset else {}
    if offset and tag:
        headers["If-Range"] = tag
    try:
        answer = opened(wanted, timeout, headers)
    except urllib.error.HTTPError as error:
        if error.code != 416 or not offset:
            raise
        error.close()
        _, total = _extent(error.code, error.headers, offset)
        if offset in (total, wanted.size):  # nothing lies behind what is there: it was whole already
            return
        with on_disk():
            forget(part)
        raise _BrokenOffError("what was there does not belong to the file") from None
    with answer:
        start, total = _extent(answer.status, answer.headers, offset)
        now = version_tag(answer.headers)
        if start and tag and now and now != tag:  # a server that does not heed If-Range
            with on_disk():
                forget(part)
            raise _BrokenOffError("the file was changed meanwhile")
        if start != offset or not offset:
            with on_disk():
                forget(part)
        if start not in (0, offset):
            raise _BrokenOffError(f"byte {offset} was asked for and byte {start} came")
        _take(wanted, part, answer, (start, total), progress, timeout)


def _take(
    wanted: FileRequest,
    part: Path,
    answer: Any,  # noqa: ANN401  # urllib's answers have no type of their own
    extent: tuple[int, int | None],
    progress: Progress,
    timeout: float,
) -> None:
    """Append what comes to the part, as it comes.

    Args:
        wanted: the file.
        part: what is there of it.
        answer: the server's.
        extent: the byte that it begins at, and how long the whole file is if it says so.
        progress: called with bytes there and bytes in all.
        timeout: seconds in which `SLOWEST` bytes must come.

    Raises:
        _BrokenOffError: it ends too early, or comes in drips.
        FetchError: more comes than there should be.
    """
    done, total = extent
    since, then = time.monotonic(), done
    with on_disk():
        write_tag(part, answer.headers)
    with appending(part) as append:
        while chunk := answer.read1(_CHUNK):  # not read, which waits until so much is there
            done += len(chunk)
            if wanted.size is not None and done > wanted.size:
                raise FetchError(f"{wanted.url}: longer than the {wanted.size:,} bytes it should have.")
            append(chunk)
            progress(wanted.url, done, total)
            if time.monotonic() - since >= timeout:
                if done - then < SLOWEST:
                    raise _BrokenOffError(f"only {done - then:,} bytes came in {timeout:g} seconds")
                since, then = time.monotonic(), done
    if total is not None and done < total:
        raise _BrokenOffError(f"{total:,} bytes were promised and {done:,} came")


def _extent(status: int, headers: Message, offset: int) -> tuple[int, int | None]:
    """Return the byte at which an answer begins and how long the whole file is, if it says so."""
    ranged = _RANGE.fullmatch(headers.get("Content-Range", "").strip())
    if status in (206, 416):
        total = int(ranged[2]) if ranged and ranged[2] != "*" else None
        return (int(ranged[1]) if ranged and ranged[1] else offset), total
    length = headers.get("Content-Length", "")
    return 0, int(length) if length.isascii() and length.isdigit() else None


def _fault(wanted: FileRequest, part: Path, found: str) -> str:
    """Return what is wrong with a file that came; nothing if it is right or nothing was known of it."""
    if wanted.sha256 and found != wanted.sha256.lower():
        return f"its sha256 is {found} and should be {wanted.sha256.lower()}"
    if wanted.size is not None and file_size(part) != wanted.size:
        return f"{file_size(part):,} bytes came of {wanted.size:,}"
    return ""


class _BrokenOffError(Exception):
    """A transfer that ended before its end; worth another try."""
