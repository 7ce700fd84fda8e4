"""Files from a server that breaks off, lies about lengths, refuses, redirects and is busy."""

from __future__ import annotations

import email.utils
import hashlib
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from indexes.download.http import TRIES, FetchError, FileRequest, fetch, retry_after
from tests.fakes.law.full_disk import FullDisk
from tests.fakes.law.odd_server import Answer, Odd, file, serving
from tests.fakes.process import free_port

LAW = bytes(range(256)) * 40
SHA = hashlib.sha256(LAW).hexdigest()


@pytest.fixture
def odd(monkeypatch: pytest.MonkeyPatch) -> Iterator[Odd]:
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    with serving() as server:
        yield server


class Pauses(list[float]):
    """Remembers how long it was asked to wait, and does not."""

    def __call__(self, seconds: float) -> None:
        self.append(seconds)


def bring(odd: Odd, target: Path, sha256: str | None = SHA, size: int | None = None) -> Pauses:
    pauses = Pauses()
    fetch(FileRequest(f"{odd.address}/law", sha256, size), target, timeout=5, sleep=pauses)
    assert target.read_bytes() == LAW
    assert [path.name for path in target.parent.iterdir()] == [target.name]  # nothing half done is left
    return pauses


@pytest.mark.parametrize("sha256", [SHA, SHA.upper(), None])
@pytest.mark.parametrize("length", [None, -1])
def test_a_file(odd: Odd, tmp_path: Path, sha256: str | None, length: int | None) -> None:
    odd.in_turn(Answer(200, LAW, length=length))
    shown: list[tuple[int, int | None]] = []
    wanted = FileRequest(f"{odd.address}/law", sha256)
    fetch(wanted, tmp_path / "sub" / "law", progress=lambda what, done, total: shown.append((done, total)))
    assert (tmp_path / "sub" / "law").read_bytes() == LAW
    assert shown[-1] == (len(LAW), len(LAW) if length is None else None)
    assert len(odd.seen) == 1


def test_a_file_that_is_there_is_not_fetched_again(odd: Odd, tmp_path: Path) -> None:
    (tmp_path / "law").write_bytes(LAW)
    bring(odd, tmp_path / "law")
    assert odd.seen == []
    (tmp_path / "law").write_bytes(b"another")
    odd.in_turn(file(LAW))
    bring(odd, tmp_path / "law")


@pytest.mark.parametrize("sha256", [SHA, None])
def test_broken_off_and_resumed(odd: Odd, tmp_path: Path, sha256: str | None) -> None:
    odd.in_turn(file(LAW, cut=1000), file(LAW, cut=500), file(LAW))
    assert bring(odd, tmp_path / "law", sha256) == [1.0, 1.0]  # it went on each time
    assert [seen.headers.get("range") for seen in odd.seen] == [None, "bytes=1000-", "bytes=1500-"]
    assert [seen.headers.get("if-range") for seen in odd.seen] == [None, '"v1"', '"v1"']


@pytest.mark.parametrize("sha256", [SHA, None])
def test_a_server_without_ranges(odd: Odd, tmp_path: Path, sha256: str | None) -> None:
    odd.in_turn(Answer(200, LAW, cut=1000), Answer(200, LAW))
    bring(odd, tmp_path / "law", sha256)
    # without a checksum and a tag nothing would tell whether the rest belongs to it
    assert [seen.headers.get("range") for seen in odd.seen] == [None, "bytes=1000-" if sha256 else None]


def test_a_file_that_changed_meanwhile(odd: Odd, tmp_path: Path) -> None:
    odd.in_turn(file(LAW[::-1], tag='"v0"', cut=1000), file(LAW))
    bring(odd, tmp_path / "law", None)


def test_a_file_that_changed_and_a_server_that_goes_on_all_the_same(odd: Odd, tmp_path: Path) -> None:
    rest = Answer(206, LAW[1000:], {"ETag": '"v1"', "Content-Range": f"bytes 1000-{len(LAW) - 1}/{len(LAW)}"})
    odd.in_turn(file(LAW[::-1], tag='"v0"', cut=1000), rest, file(LAW))
    bring(odd, tmp_path / "law", None)  # without a checksum only the tag can tell
    assert [seen.headers.get("range") for seen in odd.seen] == [None, "bytes=1000-", None]


def test_chunks_that_break_off(odd: Odd, tmp_path: Path) -> None:
    body = b"%x\r\n" % len(LAW) + LAW[:1000]
    odd.in_turn(Answer(200, body, {"Transfer-Encoding": "chunked", "ETag": '"v1"'}, length=-1), file(LAW))
    assert bring(odd, tmp_path / "law") == [1.0]
    assert odd.seen[-1].headers["range"] == "bytes=1000-"


def test_a_server_that_answers_with_another_part(odd: Odd, tmp_path: Path) -> None:
    wrong = Answer(206, LAW[7:], {"Content-Range": f"bytes 7-{len(LAW) - 1}/{len(LAW)}"})
    odd.in_turn(file(LAW, cut=1000), wrong, file(LAW))
    bring(odd, tmp_path / "law")


def test_a_later_call_goes_on(odd: Odd, tmp_path: Path) -> None:
    odd.in_turn(file(LAW, cut=1000), Answer(403))
    with pytest.raises(FetchError, match="403"):
        bring(odd, tmp_path / "law")
    odd.in_turn(file(LAW))
    bring(odd, tmp_path / "law")
    assert odd.seen[-1].headers["range"] == "bytes=1000-"


@pytest.mark.parametrize("old", [LAW[:1000][::-1], LAW, LAW + b"more", b"x" * len(LAW)])
def test_what_an_earlier_call_left(odd: Odd, tmp_path: Path, old: bytes) -> None:
    (tmp_path / "law.part").write_bytes(old)  # of another file, whole, too long, or as long and wrong
    odd.in_turn(file(LAW))
    bring(odd, tmp_path / "law")


@pytest.mark.parametrize("sha256", [SHA, None])
def test_a_length_that_is_too_long(odd: Odd, tmp_path: Path, sha256: str | None) -> None:
    odd.in_turn(Answer(200, LAW, length=len(LAW) + 5))
    with pytest.raises(
        FetchError, match=r"broken off again and again \(10,245 bytes were promised and 10,240 came"
    ):
        bring(odd, tmp_path / "law", sha256)
    assert not (tmp_path / "law").exists()


def test_a_length_that_is_too_short(odd: Odd, tmp_path: Path) -> None:
    odd.in_turn(Answer(200, LAW, length=100))
    with pytest.raises(FetchError, match=r"its sha256 is .* and should be .*nothing was kept"):
        bring(odd, tmp_path / "law")
    with pytest.raises(FetchError, match="100 bytes came of 10,240"):
        bring(odd, tmp_path / "law", None, len(LAW))
    assert list(tmp_path.iterdir()) == []


def test_more_than_there_should_be(odd: Odd, tmp_path: Path) -> None:
    odd.in_turn(Answer(200, LAW, length=-1))
    with pytest.raises(FetchError, match="longer than the 17 bytes it should have"):
        bring(odd, tmp_path / "law", None, 17)


def test_another_file(odd: Odd, tmp_path: Path) -> None:
    odd.in_turn(Answer(200, LAW[::-1]))
    with pytest.raises(FetchError, match=r"sha256 .* It was changed or damaged on its way"):
        bring(odd, tmp_path / "law")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("status", "told"),
    [
        (401, "give a token"),
        (403, "refuses access"),
        (404, "no such file"),
        (410, "was removed"),
        (418, "with an error"),
    ],
)
def test_refusals_are_not_tried_again(odd: Odd, tmp_path: Path, status: int, told: str) -> None:
    odd.in_turn(Answer(status))
    with pytest.raises(FetchError, match=rf"/law: {status} .*{told}"):
        bring(odd, tmp_path / "law")
    assert len(odd.seen) == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("status", [429, 500, 502, 503])
def test_busy_servers_are_asked_again(odd: Odd, tmp_path: Path, status: int) -> None:
    odd.in_turn(Answer(status), Answer(status), file(LAW))
    assert bring(odd, tmp_path / "law") == [1.0, 2.0]


def test_but_not_for_ever(odd: Odd, tmp_path: Path) -> None:
    odd.in_turn(Answer(500))
    with pytest.raises(FetchError, match=r"500 .*try again later"):
        bring(odd, tmp_path / "law")
    assert len(odd.seen) == TRIES


def test_retry_after(odd: Odd, tmp_path: Path) -> None:
    odd.in_turn(
        Answer(429, headers={"Retry-After": "17"}), Answer(503, headers={"Retry-After": "?"}), file(LAW)
    )
    assert bring(odd, tmp_path / "law") == [17.0, 2.0]
    odd.in_turn(Answer(429, headers={"Retry-After": "3600"}))
    with pytest.raises(FetchError, match=r"asked too often.*asks to wait 3,600 seconds"):
        bring(odd, tmp_path / "other")
    assert retry_after(email.utils.formatdate(time.time() + 60, usegmt=True)) == pytest.approx(60, abs=3)
    assert retry_after(email.utils.formatdate(0, usegmt=True)) == 0
    assert (retry_after(None), retry_after("soon"), retry_after("9" * 400)) == (None, None, 999_999_999)


def test_redirects(odd: Odd, tmp_path: Path) -> None:
    with serving() as other:
        other.in_turn(file(LAW))
        here = Answer(302, headers={"Location": "/moved"})
        there = Answer(302, headers={"Location": f"{other.address}/law"})
        odd.in_turn(here, there)
        wanted = FileRequest(f"{odd.address}/law", SHA, headers={"Authorization": "Bearer secret"})
        fetch(wanted, tmp_path / "law")
        assert [seen.headers.get("authorization") for seen in odd.seen] == ["Bearer secret"] * 2
        assert "authorization" not in other.seen[0].headers  # another host gets no token
    odd.in_turn(Answer(302, headers={"Location": "file:///etc/passwd"}))
    with pytest.raises(FetchError):
        bring(odd, tmp_path / "other")
    odd.in_turn(Answer(302, headers={"Location": "/law"}))  # for ever
    with pytest.raises(FetchError):
        bring(odd, tmp_path / "other")


@pytest.mark.parametrize(
    "address",
    [
        "http://ada:pass-1@{}/law",
        "https://ada:p@ss-1@{}/law",
        "ftp://ada:pass-1@{}/x",
        "http://ada:p/ss-1@{}/law",
        "http://ada:p#ss-1@{}/law",
        "http://ada:p?ss-1@{}/law",
    ],
)
def test_no_password_of_an_address_is_printed(odd: Odd, tmp_path: Path, address: str) -> None:
    host = odd.address.removeprefix("http://")
    with pytest.raises(FetchError, match=f"://{host}") as refused:
        fetch(FileRequest(address.format(host)), tmp_path / "law", sleep=Pauses())
    odd.in_turn(Answer(302, headers={"Location": address.format(host)}))
    with pytest.raises(FetchError) as redirected:
        bring(odd, tmp_path / "law")

    for said in (str(refused.value), str(redirected.value)):
        assert "ss-1" not in said
        assert "ada" not in said


def test_nobody_there(tmp_path: Path) -> None:
    pauses = Pauses()
    with pytest.raises(FetchError, match=r"cannot be reached \(.*refused.*Check network and address"):
        fetch(FileRequest(f"http://127.0.0.1:{free_port()}/law"), tmp_path / "law", sleep=pauses)
    assert pauses == [1.0, 2.0, 4.0, 8.0, 16.0][: TRIES - 1]


def test_a_server_that_falls_silent(tmp_path: Path) -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen(16)
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/law"
        with pytest.raises(FetchError, match=r"cannot be reached \(timed out\)"):
            fetch(FileRequest(url), tmp_path / "law", timeout=0.05, sleep=Pauses())


@pytest.mark.slow
def test_a_server_that_only_drips(odd: Odd, tmp_path: Path) -> None:
    odd.in_turn(Answer(200, LAW, {"ETag": '"v1"'}, drip=0.02))
    pauses = Pauses()
    with pytest.raises(
        FetchError, match=r"broken off again and again \(only \d+ bytes came in 0\.5 seconds\)"
    ):
        fetch(FileRequest(f"{odd.address}/law", SHA), tmp_path / "law", timeout=0.5, sleep=pauses)
    assert len(pauses) == TRIES - 1
    assert not (tmp_path / "law").exists()
    odd.in_turn(file(LAW))  # what came in drips is of use all the same
    came = (tmp_path / "law.part").stat().st_size
    bring(odd, tmp_path / "law")
    assert odd.seen[-1].headers["range"] == f"bytes={came}-"


def test_a_disk_that_is_full(odd: Odd, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    odd.answer = file(LAW)
    opened = Path.open

    def full(self: Path, mode: str = "r", *args: Any, **kwargs: Any) -> Any:
        found = opened(self, mode, *args, **kwargs)
        return FullDisk(3000, found) if mode == "ab" else found

    with monkeypatch.context() as patch:
        patch.setattr(Path, "open", full)
        with pytest.raises(FetchError, match=r"law: cannot be written \(No space left .*Make room"):
            fetch(FileRequest(f"{odd.address}/law", SHA), tmp_path / "law", sleep=Pauses())
    assert len(odd.seen) == 1  # a full disk is not tried again
    bring(odd, tmp_path / "law")  # room was made: it goes on there
    assert odd.seen[-1].headers["range"] == "bytes=3000-"


@pytest.mark.parametrize(
    "url", ["file:///etc/passwd", "ftp://host/law", "law.zip", "https:///law", "data:,law"]
)
def test_addresses_that_are_not_on_the_web(tmp_path: Path, url: str) -> None:
    with pytest.raises(FetchError, match="is no address on the web"):
        fetch(FileRequest(url), tmp_path / "law")


def test_a_place_that_cannot_be_written(odd: Odd, tmp_path: Path) -> None:
    odd.in_turn(file(LAW))
    (tmp_path / "file").touch()
    with pytest.raises(FetchError, match=r"cannot be written .*give another place"):
        fetch(FileRequest(f"{odd.address}/law", SHA), tmp_path / "file" / "law")
    (tmp_path / "law.part").mkdir()
    with pytest.raises(FetchError, match="cannot be written"):
        fetch(FileRequest(f"{odd.address}/law", SHA), tmp_path / "law", sleep=Pauses())
