"""What the repository holds, what its wheel holds, and what its lock says."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import venv
import zipfile
from collections import Counter
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path
from typing import NamedTuple

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from tests.paths import ROOT

PACKAGES = ("rag", "indexes", "training")
TOP = {
    "pyproject.toml", "app.py", "rag", "indexes", "training", "tests", "README.md", "LICENSE", "CHANGELOG.md",
    "CONTRIBUTING.md", "CITATION.cff", "docs", "constraints.txt", "pandect",
}  # fmt: skip
FULLEST = 15  # modules of a folder: more are several concepts
LARGEST = 15_000_000  # bytes of one file
TRAINED = 20_000_000  # bytes of what was trained here and ships: the encoder, its vectors, classifiers
WHOLE = 88_000_000  # bytes of all files
# Written in pieces, so that this file does not find itself.
NOT_OURS = [
    "/" + "work/",
    "/" + "opt/pv",
    "/" + "root/",
    "pypi" + ".org",
    "python" + "hosted.org",
    "registry.npm" + "js",
]


def _git(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def tracked() -> list[Path]:
    """The files that git knows or would take in."""
    if shutil.which("git") is None:
        pytest.skip("git is not installed: apt-get install git")
    if not (ROOT / ".git").exists():
        pytest.skip("this is not a git checkout")
    listed = _git("ls-files", "-z", "--cached", "--others", "--exclude-standard")
    assert listed.returncode == 0, listed.stderr
    return [ROOT / name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()]


def _is_text(path: Path) -> bool:
    return b"\0" not in path.read_bytes()[:8000]  # as git tells


def test_top_level_holds_only_what_it_should(tracked: list[Path]) -> None:
    top = {path.relative_to(ROOT).parts[0] for path in tracked}
    assert {name for name in top if not name.startswith(".")} <= TOP


def test_files_are_small(tracked: list[Path]) -> None:
    sizes = {str(path.relative_to(ROOT)): path.stat().st_size for path in tracked}
    assert {name: size for name, size in sizes.items() if size > LARGEST} == {}
    assert sum(sizes.values()) <= WHOLE
    trained = {
        n: size for n, size in sizes.items() if n.endswith((".faiss", ".npz")) or "/index/encoder/" in n
    }
    assert 0 < sum(trained.values()) <= TRAINED, trained


def test_a_folder_holds_fifteen_modules_at_most() -> None:
    counted = Counter(
        path.parent for name in PACKAGES for path in (ROOT / name).rglob("*.py") if path.name != "__init__.py"
    )
    crowded = {str(folder.relative_to(ROOT)): n for folder, n in counted.items() if n > FULLEST}
    assert crowded == {}


def test_no_place_of_one_machine_is_named(tracked: list[Path]) -> None:
    found = []
    for path in filter(_is_text, tracked):
        text = path.read_text(encoding="utf-8")
        found += [f"{path.relative_to(ROOT)}: {word}" for word in NOT_OURS if word in text]
    assert not found


def test_scripts_can_be_run() -> None:
    for name in ("pandect", ".ci/run"):
        assert os.access(ROOT / name, os.X_OK), f"chmod +x {name}"


# --- the lock ---


class Pin(NamedTuple):
    version: str
    hashes: tuple[str, ...]


def _lock() -> dict[str, Pin]:
    """Package -> version and hashes, as constraints.txt pins them."""
    pins: dict[str, Pin] = {}
    name = ""
    for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines():
        if hashes := re.fullmatch(r"# sha256:((?: [0-9a-f]{64})+)", line):
            pins[name] = pins[name]._replace(hashes=tuple(hashes[1].split()))
        elif not line.startswith("#"):
            match = re.fullmatch(r"([a-z0-9][a-z0-9-]*)==([0-9][0-9a-z.]*)(?: ; (.+))?", line)
            assert match, f"{line!r}: expected name==version, with no local version, path or host"
            name = canonicalize_name(match[1])
            assert name not in pins, f"{name} is pinned twice"
            pins[name] = Pin(match[2], ())
    return pins


def _required() -> list[Requirement]:
    """Return what the base and the extras ask for."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    optional = project["optional-dependencies"]
    wanted = [*project["dependencies"], *(r for extra in optional.values() for r in extra)]
    named = [Requirement(r) for r in wanted]
    return [r for r in named if canonicalize_name(r.name) != canonicalize_name(project["name"])]


def _closure(wanted: list[Requirement]) -> set[str]:
    """Return the names of all packages that these bring along, as the installed ones say."""
    names: set[tuple[str, frozenset[str]]] = set()
    while wanted:
        requirement = wanted.pop()
        key = canonicalize_name(requirement.name), frozenset(requirement.extras)
        if key in names:
            continue
        names.add(key)
        with contextlib.suppress(PackageNotFoundError):  # of an extra that is not installed here
            for line in requires(requirement.name) or ():
                inner = Requirement(line)
                if not inner.marker or any(inner.marker.evaluate({"extra": e}) for e in ("", *key[1])):
                    wanted.append(inner)
    return {name for name, _ in names}


def _cuda(name: str) -> bool:
    return name.startswith(("nvidia-", "cuda-", "triton"))


def test_lock_satisfies_the_project() -> None:
    lock = _lock()
    for requirement in _required():
        name = canonicalize_name(requirement.name)
        assert name in lock, f"{name} is not in constraints.txt: run ./pandect lock"
        assert requirement.specifier.contains(lock[name].version), (
            f"{requirement} and {name}=={lock[name].version}"
        )


def test_lock_is_complete() -> None:
    missing = {name for name in _closure(_required()) if not _cuda(name)} - _lock().keys()
    assert not missing, "run ./pandect lock"


def test_lock_has_hashes_for_the_base() -> None:
    lock, base = _lock(), _closure([Requirement(r) for r in _base()])
    assert "numpy" in base
    assert "torch" not in base
    assert {name for name in base if not lock[name].hashes} == set()


def _base() -> list[str]:
    project: dict[str, list[str]] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))[
        "project"
    ]
    return project["dependencies"]


def test_lock_is_plain() -> None:
    lock = _lock()
    assert all(Version(pin.version).local is None for pin in lock.values())
    assert not [name for name in lock if _cuda(name)]


def test_torch_is_not_in_the_base() -> None:
    assert not {canonicalize_name(Requirement(r).name) for r in _base()} & {
        "torch",
        "sentence-transformers",
        "transformers",
    }


def test_the_wheel_cannot_be_uploaded() -> None:
    # the package of the name pandect on the package index is somebody else's
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["name"] != "pandect"
    assert "Private :: Do Not Upload" in project["classifiers"]


# --- the wheel ---


def _shipped() -> set[str]:
    """Every file of the packages, as the wheel should hold it."""
    files = (path for package in PACKAGES for path in (ROOT / package).rglob("*") if path.is_file())
    return {path.relative_to(ROOT).as_posix() for path in files if "__pycache__" not in path.parts}


def _run(*command: str | Path, cwd: Path) -> str:
    clean = {
        key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "PANDECT", "PIP_"))
    }
    run = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False, env=clean)
    assert run.returncode == 0, f"{command}\n{run.stdout}\n{run.stderr}"
    return run.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project's wheel, built from a copy, where no old build folder is in the way."""
    source, out = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source / name)
    for name in PACKAGES:
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    _run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", out, source, cwd=out)
    [built] = out.glob("*.whl")
    return built


@pytest.mark.slow
def test_wheel_holds_the_packages_and_their_data(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    inside = {name for name in names if ".dist-info/" not in name}
    assert inside == _shipped()
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in names)


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment that has the wheel, and the dependencies of the one that runs this."""
    place = tmp_path_factory.mktemp("installed")
    environment = place / "an environment"
    venv.create(environment, with_pip=False, symlinks=True)
    python = environment / "bin" / "python"
    pip = (sys.executable, "-m", "pip", "--python", python, "install", "--no-deps", "--no-index", wheel)
    _run(*pip, cwd=place)
    # A folder that a .pth file names is searched, but its own .pth files are not read: an editable install of
    # this clone stays out of sight.
    paths = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    listed = "\n".join(sorted(paths)) + "\n"
    (_packages(python) / "dependencies.pth").write_text(listed, encoding="utf-8")
    return python


def _packages(python: Path) -> Path:
    code = "import sysconfig; print(sysconfig.get_path('purelib'))"
    return Path(_run(python, "-c", code, cwd=python.parent).strip())


@pytest.mark.slow
def test_installed_wheel_opens_the_builtin_index(installed: Path, tmp_path: Path) -> None:
    question = "Mon voisin a planté un arbre contre ma clôture, que faire ?"
    code = (
        "import indexes, pathlib\n"
        f"result = indexes.open().ask({question!r})\n"
        "print(pathlib.Path(indexes.__file__).parent.parent)\n"
        "print(*(shown.article.article_no for shown in result.shown))"
    )
    place, numbers = _run(installed, "-c", code, cwd=tmp_path).splitlines()
    assert Path(place) == _packages(installed), "the clone was imported, not the wheel"
    assert {"671", "672"} & set(numbers.split())


@pytest.mark.slow
def test_client_adapters_and_assistants_away_from_the_clone(installed: Path, tmp_path: Path) -> None:
    for package in ("fastapi", "mcp", "langchain_core"):
        pytest.importorskip(package, reason="needs the extras [api] and [llm]: pip install '.[dev]'")
    from tests.fakes.pages.api import running

    program = Path(shutil.copy(ROOT / "tests" / "fakes" / "pages" / "outside.py", tmp_path))
    with running(tmp_path, python=installed) as (url, _, _):
        told = json.loads(_run(installed, program, url, cwd=tmp_path))
    assert Path(told["package"]).parent.parent == _packages(installed)
    client, pipe = told["client"], told["pipe"]
    ids = client["search"]
    assert (len(ids), client["retriever"], client["tool"], client["answer"]) == (3, ids, ids, "Written")
    assert {ids[0]} == {client["article"], client["why"], pipe["article"], pipe["explain"]}
    assert (pipe["tools"], pipe["search"]) == (["search", "article", "references", "explain"], ids)
    assert {"referred_by", "refers_to"} < set(pipe["references"])
    assert told["http"] == pipe
