"""What a training cost: hours, kilowatt hours, and kilograms of CO2 equivalent, with where each is from.

Energy is time times power, emission is energy times a factor (Lacoste et al. 2019), as the papers do it.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

FACTOR = 0.432  # kgCO2eq a kWh
FACTOR_FROM = "0.432 kgCO2eq/kWh, the OECD's yearly average of 2014 (ML CO2 calculator, Lacoste et al. 2019)"
# W, thermal design power as the makers print it
BOARDS: Mapping[str, int] = {
    "V100": 300, "A100": 400, "H100": 700, "H200": 700, "A10": 150, "L4": 72, "L40": 300, "T4": 70,
    "RTX 3090": 350, "RTX 4090": 450, "A6000": 300,
}  # fmt: skip
UNKNOWN_BOARD = 300  # W, of a board that is not in the list
CORE = 10  # W a core of a server's processor that works (a 20-core Xeon E5-2698 v4 is rated at 135 W)


@dataclass(frozen=True, slots=True)
class Hardware:
    """What a training ran on."""

    name: str
    watts: float
    watts_from: str

    @classmethod
    def found(cls, device: object, processes: int = 1, watts: float | None = None) -> Hardware:
        """Look at the machine.

        Args:
            device: of torch; a GPU counts once a process.
            processes: that train together.
            watts: of all of it, where somebody measured it.
        """
        name, power, source = _of(device, processes)
        if watts is not None:
            power, source = watts, "given with --watts"
        return cls(name, power, source)


def cost(hours: float, hardware: Hardware) -> dict[str, object]:
    """Return what a result file says of the cost."""
    kwh = hours * hardware.watts / 1000
    return {
        "hardware": hardware.name,
        "hours": hours,
        "watts": hardware.watts,
        "watts_from": hardware.watts_from,
        "kwh": kwh,
        "kgco2eq": kwh * FACTOR,
        "factor": FACTOR_FROM,
    }


def _of(device: object, processes: int) -> tuple[str, float, str]:
    if getattr(device, "type", "cpu") == "cuda":
        import torch

        board = torch.cuda.get_device_name(device)
        rated = next(
            (w for name, w in sorted(BOARDS.items(), key=lambda b: -len(b[0])) if name in board), None
        )
        each = rated if rated is not None else UNKNOWN_BOARD
        source = "rated power of the board" if rated is not None else f"assumed: {UNKNOWN_BOARD} W a board"
        return f"{processes} x {board}", float(each * processes), source
    import torch

    cores = min(torch.get_num_threads() * processes, os.cpu_count() or 1)
    return f"{cores} cores of {_processor()}", float(CORE * cores), f"assumed: {CORE} W a core in use"


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
