"""The stamp of an index: what it was made of and by what, written last and checked when it is opened."""

from __future__ import annotations

import hashlib
import json
import os
import platform
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from indexes.store.paths import in_use
from rag.errors import DamagedIndex, StaleIndex

FILE = "manifest.json"
FORMAT = 1  # raised when an older index can no longer be read
LIBRARIES = ("bm25s", "faiss-cpu", "numpy", "PyStemmer", "scipy")
CHINESE_LIBRARIES = ("rjieba",)
MODEL_LIBRARIES = ("sentence-transformers", "torch")  # of encoders that are pretrained models
_KINDS: Mapping[str, Any] = {
    "name": str,
    "version": str,
    "built": str,
    "bm25": dict,
    "libraries": dict,
    "corpus": {"sha256": str, "articles": int, "learnt": int},
    "analyser": {"id": str, "options": dict},
}


@dataclass(frozen=True, slots=True)
class Manifest:
    """Everything that tells one index from another."""

    name: str
    version: str  # of this build: time and corpus hash
    built: str  # ISO 8601, UTC
    corpus: Mapping[str, Any]  # sha256, articles, questions, questions_sha256, learnt_from
    analyser: Mapping[str, Any]  # id, language and the options that make it again
    bm25: Mapping[str, Any]
    encoder: Mapping[str, Any] | None  # kind, name, dim, and how it was fitted or found
    libraries: Mapping[str, str] = field(default_factory=dict)  # name -> version
    files: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # path -> bytes, sha256
    format: int = FORMAT
    previous: str | None = None  # the version that was in use before; None: none was, or nobody wrote it down
    checksum: str | None = None  # SHA-256 of all the rest; None: an earlier release wrote it


def libraries(of: Manifest) -> dict[str, str]:
    """Return the installed versions of the libraries that this index depends on."""
    wanted = [*LIBRARIES]
    if of.analyser["options"].get("language") == "zh":
        wanted += CHINESE_LIBRARIES
    if of.encoder is not None and of.encoder["kind"] != "static":
        wanted += MODEL_LIBRARIES
    found = {}
    for name in wanted:
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return found


def encoder_fingerprint(of: Manifest) -> str:
    """Return what tells the vectors and terms of questions from another index's; "" without vectors."""
    if of.encoder is None:
        return ""
    static = {name: file["sha256"] for name, file in of.files.items() if name.startswith("encoder/")}
    made = [of.analyser["id"], static or of.encoder.get("sha256")]
    return hashlib.sha256(json.dumps(made, sort_keys=True).encode()).hexdigest()


def machine() -> str:
    """Return what something was made on: "x86_64, 2 cores, Some Processor 3000"."""
    lines: list[str] = []
    with suppress(OSError, ValueError):  # another system than Linux
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    name = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")
    parts = (platform.machine() or "unknown architecture", f"{os.cpu_count() or 1} cores", name)
    return ", ".join(filter(None, parts))


def digest(path: Path) -> str:
    """Return the SHA-256 of a file, hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def stamp(manifest: Manifest, folder: Path, known: Mapping[str, str] | None = None) -> Manifest:
    """Write the manifest, with every file's hash and the libraries' versions; nothing may be added after.

    `known` are hashes that need not be computed again, by path. Give one only for a file that is the
    same as one just hashed: another name of it, not a copy.
    """
    files = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_file() and name != FILE:
            files[name] = {"bytes": path.stat().st_size, "sha256": (known or {}).get(name) or digest(path)}
    record = asdict(manifest) | {"libraries": libraries(manifest), "files": files}
    # why not by the clock: one that was set back would make what is new the oldest
    before = in_use(folder.parent)
    record["previous"] = manifest.previous if before == manifest.version else before
    if record["previous"] is None:
        del record["previous"]
    record["checksum"] = _checksum(record)
    (folder / FILE).write_text(json.dumps(record, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    return Manifest(**record)


def _checksum(record: Mapping[str, Any]) -> str:
    """Return the SHA-256 of what a manifest says, whatever its checksum."""
    rest = {key: value for key, value in record.items() if key != "checksum"}
    text = json.dumps(rest, ensure_ascii=False, sort_keys=True)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def read(folder: Path, rebuild: str) -> Manifest:
    """Read the manifest of an index folder; `rebuild` is the command that makes it again, for the error.

    Raises:
        DamagedIndex: the manifest is missing, not readable, not what was written, or lacks an entry.
        StaleIndex: another format than this version reads.
    """
    path = folder / FILE
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        found = record["format"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DamagedIndex(f"{path} is missing or not readable ({error}): run {rebuild}") from error
    if found != FORMAT:
        raise StaleIndex(f"{folder} has index format {found}, this version reads {FORMAT}: run {rebuild}")
    try:
        manifest, wanted = Manifest(**record), {**_KINDS}
        wanted["files"] = {name: {"bytes": int, "sha256": str} for name in record["files"]}
        if manifest.previous is not None:
            wanted["previous"] = str
        if manifest.checksum is not None:  # a flipped bit may leave every entry of its kind
            wanted["checksum"] = str
        if manifest.encoder is not None:
            static = manifest.encoder["kind"] == "static"
            wanted["encoder"] = {"kind": str, "name": str} | ({} if static else {"options": dict})
        odd = next(_odd(record, wanted), None)
    except (TypeError, KeyError) as error:
        raise DamagedIndex(f"{path} lacks or has an unknown entry ({error}): run {rebuild}") from error
    if odd is not None:
        raise DamagedIndex(f"{path} has another {odd} than an index writes: run {rebuild}")
    if manifest.checksum not in (None, _checksum(record)):
        raise DamagedIndex(f"{path} is not what was written (another checksum): run {rebuild}")
    return manifest


def _odd(record: Mapping[str, Any], wanted: Mapping[str, Any], at: str = "") -> Iterator[str]:
    """Yield the names of entries that are not of their kinds; a missing one raises KeyError."""
    for key, kind in wanted.items():
        within = isinstance(kind, dict)
        if not isinstance(record[key], dict if within else kind):
            yield f"{at}{key}"
        elif within:
            yield from _odd(record[key], kind, f"{at}{key}.")


def verify(
    folder: Path, manifest: Manifest, rebuild: str, *, contents: bool = True, below: tuple[str, ...] = ()
) -> None:
    """Hold the files of an index against its manifest: their sizes and, with `contents`, their hashes.

    `below` are the first parts of the paths that are looked at; none means all.

    Raises:
        DamagedIndex: a file is missing, not listed, of another size, or of other content.
    """
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_file() and name not in manifest.files and name != FILE and not path.name.startswith("."):
            raise DamagedIndex(f"{path} is not listed in its manifest: run {rebuild}")
    for name, expected in manifest.files.items():
        if below and name.partition("/")[0] not in below:
            continue
        path = folder / name
        if not path.is_file():
            raise DamagedIndex(f"{path} is missing: run {rebuild}")
        size, recorded = path.stat().st_size, expected["bytes"]
        if size != recorded:
            raise DamagedIndex(f"{path} has {size} bytes, its manifest says {recorded}: run {rebuild}")
        if contents and digest(path) != expected["sha256"]:
            raise DamagedIndex(f"{path} is not what was built (another SHA-256): run {rebuild}")
