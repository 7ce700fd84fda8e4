"""The part of a file that came so far: on the disk, with what the server calls its version."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from email.message import Message
from pathlib import Path


def size_of(part: Path) -> int:
    """Return how many bytes are there."""
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


def tag_of(headers: Message) -> str:
    """Return by what the server knows this version of the file; nothing if it does not say."""
    tag = headers.get("ETag", "")
    if not tag or tag.startswith("W/"):  # a weak one may not be asked for with If-Range
        tag = headers.get("Last-Modified", "")
    return tag.strip()


def write_tag(part: Path, headers: Message) -> None:
    """Keep by what the server knows this version of the file, if it says."""
    tag = tag_of(headers)
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
