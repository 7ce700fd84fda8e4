"""Archives: what is taken out of them, and what is refused."""

from __future__ import annotations

import io
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from indexes.archive import Limits, is_archive, members, safe_name, unpack
from rag.errors import BadInput

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


def test_links_and_devices(tmp_path: Path) -> None:
    for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE):
        with pytest.raises(BadInput, match="is a link or a device"):
            unpack(tarred(tmp_path, {"link": b""}, kind), tmp_path / "out")
    with pytest.raises(BadInput, match="is a link or a device"):
        unpack(zipped(tmp_path, {"link": b"/etc/passwd"}, 0o120777), tmp_path / "out")
    assert not (tmp_path / "out").exists()


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


def test_the_whole_is_limited_too(tmp_path: Path) -> None:
    noise = bytes(range(256)) * 500
    path = tarred(tmp_path, {"a": noise}, end="")
    with pytest.raises(BadInput, match=r"more than 0\.0 GB"):
        unpack(path, tmp_path / "out", SMALL)
    assert unpack(path, tmp_path / "out").is_dir()


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
