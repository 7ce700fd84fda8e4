"""Archives: what is taken out of them, and what is refused."""

from __future__ import annotations

import io
import random
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from indexes.download import resolve as arrival
from indexes.download.archive import FILES as MOST
from indexes.download.archive import is_archive, members, safe_name, unpack
from indexes.formats.limits import Limits
from rag.errors import BadInput
from tests.fakes.law.full_disk import FullDisk

FILES = {"a.txt": b"one", "b/c.txt": b"two" * 1000, "b/empty": b""}
SMALL = Limits(files=5, bytes=100_000, ratio=50, free=10_000)


def zipped(at: Path, files: dict[str, bytes], mode: int = 0o100644) -> Path:
    path = at / "law.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            info = zipfile.ZipInfo(name)
            info.external_attr = mode << 16
            archive.writestr(info, content, zipfile.ZIP_DEFLATED)
    return path


def tarred(at: Path, files: dict[str, bytes], kind: bytes = tarfile.REGTYPE, end: str = "gz") -> Path:
    path = at / f"law.tar{'.' * bool(end)}{end}"
    with tarfile.open(path, f"w:{end}") as archive:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.type, info.size, info.linkname = kind, len(content), "/etc/passwd"
            archive.addfile(info, io.BytesIO(content))
    return path


@pytest.mark.parametrize("pack", [zipped, tarred, lambda at, files: tarred(at, files, end="")])
def test_what_is_in_comes_out(tmp_path: Path, pack: Callable[[Path, dict[str, bytes]], Path]) -> None:
    path = pack(tmp_path, FILES)
    assert is_archive(path)
    assert {name: file.read() for name, file in members(path)} == FILES
    folder = unpack(path, tmp_path / "out")
    assert {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()} == FILES


@pytest.mark.parametrize(
    "name", ["../out.txt", "/etc/out.txt", "a/../../out.txt", "..\\out.txt", "C:\\out.txt", "C:/out.txt"]
)
@pytest.mark.parametrize("pack", [zipped, tarred])
def test_paths_that_lead_outside(
    tmp_path: Path, pack: Callable[[Path, dict[str, bytes]], Path], name: str
) -> None:
    path = pack(tmp_path, {"good.txt": b"x", name: b"y"})
    with pytest.raises(BadInput, match=r"leads outside\. Do not use this archive"):
        unpack(path, tmp_path / "sub" / "out")
    assert not list(tmp_path.rglob("*.txt"))


@pytest.mark.parametrize(
    "kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE]
)
def test_links_and_devices_in_a_tar(tmp_path: Path, kind: bytes) -> None:
    with pytest.raises(BadInput, match="is a link or a device"):
        unpack(tarred(tmp_path, {"link": b""}, kind), tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("mode", [0o120777, 0o020644, 0o060644, 0o010644, 0o140644])  # link to socket
def test_links_and_devices_in_a_zip(tmp_path: Path, mode: int) -> None:
    with pytest.raises(BadInput, match="is a link or a device"):
        unpack(zipped(tmp_path, {"link": b"/etc/passwd"}, mode), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_folder_that_is_a_link_leads_nowhere(tmp_path: Path) -> None:
    path = tmp_path / "law.tar"
    with tarfile.open(path, "w") as archive:
        link = tarfile.TarInfo("folder")
        link.type, link.linkname = tarfile.SYMTYPE, str(tmp_path)
        archive.addfile(link)
        inside = tarfile.TarInfo("folder/out.txt")
        inside.size = 1
        archive.addfile(inside, io.BytesIO(b"x"))
    with pytest.raises(BadInput, match="is a link or a device"):
        unpack(path, tmp_path / "sub" / "out")
    assert not list(tmp_path.rglob("out.txt"))


@pytest.mark.parametrize("pack", [zipped, tarred])
@pytest.mark.parametrize(
    ("files", "told"),
    [
        ({"bomb": bytes(90_000)}, "more than 50 times its own size"),
        ({str(i): bytes([i % 7] * 999) + b"%d" % i for i in range(6)}, "more than 5 files"),
    ],
)
def test_bombs(
    tmp_path: Path, pack: Callable[[Path, dict[str, bytes]], Path], files: dict[str, bytes], told: str
) -> None:
    with pytest.raises(BadInput, match=told):
        unpack(pack(tmp_path, files), tmp_path / "out", SMALL)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("pack", [zipped, lambda at, files: tarred(at, files, end="")])
def test_the_whole_is_limited_too(tmp_path: Path, pack: Callable[[Path, dict[str, bytes]], Path]) -> None:
    noise = random.Random(1).randbytes(60_000)
    path = pack(tmp_path, {"a": noise, "b": noise})  # neither alone, and hardly packed
    with pytest.raises(BadInput, match=r"more than 0\.0 GB"):
        unpack(path, tmp_path / "out", SMALL)
    assert not (tmp_path / "out").exists()
    assert unpack(path, tmp_path / "out").is_dir()


def test_what_is_passed_over_counts_too(tmp_path: Path) -> None:
    path = tarred(tmp_path, {"skipped": bytes(90_000), "law.xml": b"<LAW/>"})
    with pytest.raises(BadInput, match="more than 50 times its own size"):
        [name for name, _ in members(path, SMALL)]


def test_folders_count_as_files(tmp_path: Path) -> None:
    with (
        tarfile.open(tmp_path / "law.tar", "w") as archive,
        zipfile.ZipFile(tmp_path / "law.zip", "w") as packed,
    ):
        for i in range(6):
            folder = tarfile.TarInfo(str(i))
            folder.type = tarfile.DIRTYPE
            archive.addfile(folder)
            packed.writestr(f"{i}/", b"")
    for name in ("law.tar", "law.zip"):
        with pytest.raises(BadInput, match="more than 5 files"):
            unpack(tmp_path / name, tmp_path / "out", SMALL)


@pytest.mark.slow
@pytest.mark.parametrize("pack", [zipped, tarred])
def test_files_without_end_are_not_unpacked(
    tmp_path: Path, pack: Callable[[Path, dict[str, bytes]], Path]
) -> None:
    """300,000 of nothing took minutes to write, and as long to take away."""
    path = pack(tmp_path, {f"{n}.txt": b"" for n in range(MOST + 1)})
    with pytest.raises(BadInput, match=r"more than 20,000 files and folders. Unpack it yourself, and"):
        unpack(path, tmp_path / "out")
    assert not (tmp_path / "out").exists()
    assert sum(1 for _ in members(path)) == MOST + 1  # what is read where it lies has no such end


def test_folders_that_names_alone_make_count_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """25,000 files, each below 200 folders of its own, made five million: the import had no end."""
    monkeypatch.setattr("indexes.download.archive.FILES", 40)
    path = zipped(tmp_path, {f"{n}/" + "a/" * 18 + "law.csv": b"" for n in range(3)})
    with pytest.raises(BadInput, match="more than 40 files and folders"):
        unpack(path, tmp_path / "out")
    assert unpack(
        zipped(tmp_path, {f"{n}/" + "a/" * 18 + "law.csv": b"" for n in range(2)}), tmp_path / "out"
    )


@pytest.mark.parametrize("name", [tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_a_name_that_fills_the_memory(tmp_path: Path, name: int) -> None:
    path = tmp_path / "law.tar.gz"
    with tarfile.open(path, "w:gz", format=name) as archive:
        archive.addfile(tarfile.TarInfo("n" * 200_000))
    with pytest.raises(BadInput, match="bytes of headers before one file"):
        unpack(path, tmp_path / "out", Limits(header=100_000))


def test_a_sparse_file_counts_as_what_it_unpacks_to(tmp_path: Path) -> None:
    path = tmp_path / "law.tar"
    header = tarfile.TarInfo("sparse")
    header.type, header.size = tarfile.GNUTYPE_SPARSE, 512
    block = bytearray(header.tobuf(tarfile.GNU_FORMAT))
    block[386:410] = b"%011o\0%011o\0" % (0, 512)  # one piece, at the beginning
    block[482:495] = b"\0%011o\0" % 5_000_000  # of a file that says it is 5 MB
    block[148:156] = b"%06o\0 " % sum(block[:148] + b" " * 8 + block[156:])
    path.write_bytes(bytes(block) + b"x" * 512 + bytes(1024))
    with pytest.raises(BadInput, match=r"more than 0\.0 GB|times its own size"):
        unpack(path, tmp_path / "out", SMALL)


def test_archives_in_archives_are_not_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PANDECT_HOME", str(tmp_path / "home"))
    inner = tarred(tmp_path, {"bomb": bytes(50_000_000)}).read_bytes()
    outer = zipped(tmp_path, {"inner.tar.gz": inner, "README": b"law"})
    assert [name for name, _ in members(outer)] == ["inner.tar.gz", "README"]
    folder = unpack(outer, tmp_path / "out")
    assert (folder / "inner.tar.gz").read_bytes() == inner
    with pytest.raises(BadInput, match=r"only another archive is in it \(inner\.tar\.gz\)\. Unpack that one"):
        arrival.bring(str(zipped(tmp_path, {"inner.tar.gz": inner})))


def test_a_disk_that_is_full_is_not_the_archive_s_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = zipped(tmp_path, FILES)
    opened = Path.open

    def full(self: Path, mode: str = "r", *args: Any, **kwargs: Any) -> Any:
        return FullDisk() if mode == "xb" else opened(self, mode, *args, **kwargs)

    monkeypatch.setattr(Path, "open", full)
    with pytest.raises(BadInput, match=r"cannot be written \(No space left on device\)\. Make room"):
        unpack(path, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_zip_that_lies_about_a_size(tmp_path: Path) -> None:
    path = zipped(tmp_path, {"bomb": bytes(90_000)})
    content = path.read_bytes().replace((90_000).to_bytes(4, "little"), (10).to_bytes(4, "little"))
    path.write_bytes(content)
    with pytest.raises(BadInput):
        unpack(path, tmp_path / "out")


def test_a_tar_that_was_cut_off_is_not_taken_for_whole(tmp_path: Path) -> None:
    content = tarred(tmp_path, {str(i): bytes(range(256)) * i for i in range(40)}).read_bytes()
    for end in range(1, len(content), len(content) // 50):
        (tmp_path / "cut.tar.gz").write_bytes(content[:end])
        with pytest.raises(BadInput, match=r"cut\.tar\.gz: damaged"):
            unpack(tmp_path / "cut.tar.gz", tmp_path / "out")


def test_two_files_of_one_name_and_no_archive(tmp_path: Path) -> None:
    path = tmp_path / "law.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a", "1")
        with pytest.warns(UserWarning, match="Duplicate"):
            archive.writestr("a", "2")
    with pytest.raises(BadInput, match="two files in it have one name"):
        unpack(path, tmp_path / "out")
    path.write_text("no archive", encoding="utf-8")
    with pytest.raises(BadInput, match="no zip or tar"):
        unpack(path, tmp_path / "out")
    with pytest.raises(BadInput, match="no zip or tar"):
        list(members(tmp_path / "nowhere.zip"))


@pytest.mark.parametrize("name", ["", ".", "a\0b", "a/.."])
def test_names_of_nothing(name: str) -> None:
    with pytest.raises(BadInput, match="leads outside"):
        safe_name(name, "here")


@pytest.mark.parametrize("pack", [zipped, tarred])
@given(st.data())
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_damage_is_bad_input(
    tmp_path_factory: pytest.TempPathFactory, pack: object, data: st.DataObject
) -> None:
    at = tmp_path_factory.mktemp("fuzz")
    path: Path = pack(at, FILES)  # type: ignore[operator]
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(
        content[: data.draw(st.integers(0, len(content)))] if data.draw(st.booleans()) else content
    )
    try:
        unpack(path, at / "out", SMALL)
    except BadInput:
        assert not (at / "out").exists()
    for found in at.rglob("*"):
        assert found.resolve().is_relative_to(at.resolve())
