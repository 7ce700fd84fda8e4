"""The machine that something was made on, for manifests and model cards."""

from __future__ import annotations

import os
import platform
from pathlib import Path

_CPUINFO = Path("/proc/cpuinfo")


def machine() -> str:
    """Return processor, its architecture and the number of cores: "x86_64, 2 cores, Some Processor 3000"."""
    parts = [platform.machine() or "unknown architecture", f"{os.cpu_count() or 1} cores"]
    try:
        lines = _CPUINFO.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):  # another system than Linux
        lines = []
    name = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")
    return ", ".join([*parts, *([name] if name else [])])
