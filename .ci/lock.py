"""Make constraints.txt anew: the versions that are tested together, with hashes for the base.

Run as `./pandect lock`, with uv's options after it, such as `--upgrade` or `--upgrade-package NAME`. uv
resolves the base and all extras for every platform at once; pins that still fit are kept.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FILE = ROOT / "constraints.txt"
HEADER = """\
# The versions that are tested together: every package of the base and of all extras, on every platform,
# except the CUDA libraries that a plain torch brings along on Linux. No local versions, so that it installs
# anywhere. Below each package of the base stand the hashes of its files, by which ./pandect installs it.
# Made by: ./pandect lock
"""
CUDA = ("cuda-", "nvidia-", "triton")
_PIN = re.compile(r"^([A-Za-z0-9][\w.-]*)==([^\s;+]+)(?:\+\S+)?(?: ; ([^\\\n]+?))?(?: \\)?$", re.MULTILINE)


def resolve(known: str, *options: str) -> str:
    """Return a requirements file with hashes, as uv resolves it; versions in `known` stay if they fit.

    Raises:
        subprocess.CalledProcessError: there is no such set of versions; uv has said why.
    """
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "lock.txt"
        out.write_text(known, encoding="utf-8")
        fixed = ["--universal", "--python-version", "3.11", "--fork-strategy", "fewest", "--generate-hashes"]
        compile_ = [sys.executable, "-m", "uv", "pip", "compile", "pyproject.toml", "--quiet", *fixed]
        subprocess.run([*compile_, "--output-file", str(out), *options], cwd=ROOT, check=True)  # noqa: S603
        return out.read_text(encoding="utf-8")


def main(options: list[str]) -> int:
    """Write the file whole, or leave the one of before."""
    try:
        everything = resolve(FILE.read_text(encoding="utf-8"), "--all-extras", *options)
        base = {pin[1] for pin in _PIN.finditer(resolve(everything))}
    except subprocess.CalledProcessError as error:
        return int(error.returncode)
    lines = []
    for pin in _PIN.finditer(everything):
        name, version, marker = pin.groups()
        if name.startswith(CUDA):
            continue
        lines.append(f"{name}=={version}" + (f" ; {marker}" if marker else ""))
        if name in base:
            own = everything[pin.end() :].partition("==")[0]  # up to the next pin
            lines.append("# sha256: " + " ".join(sorted(re.findall(r"--hash=sha256:(\w{64})", own))))
    FILE.write_text(HEADER + "\n".join(lines) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
