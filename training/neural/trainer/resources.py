"""What a training cost, what is said when memory runs out, and the most memory that was held.

Energy is time times power, emission is energy times a factor (Lacoste et al. 2019), as the papers do it.
The system counts the most that a process ever held. Linux can be told to count anew (proc(5): 5 written to
/proc/self/clear_refs), else the second training of a sweep would inherit what the first one took. What is
held at that moment, libraries and data, counts with the rest.
"""

from __future__ import annotations

import os
import platform
import resource
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rag.errors import BadInput
from training.neural.recipe.settings import Training
from training.neural.trainer.distributed import World

FACTOR = 0.432  # kgCO2eq a kWh
FACTOR_FROM = "0.432 kgCO2eq/kWh, the OECD's yearly average of 2014 (ML CO2 calculator, Lacoste et al. 2019)"
# W, thermal design power as the makers print it
BOARDS: Mapping[str, int] = {
    "V100": 300, "A100": 400, "H100": 700, "H200": 700, "A10": 150, "L4": 72, "L40": 300, "T4": 70,
    "RTX 3090": 350, "RTX 4090": 450, "A6000": 300,
}  # fmt: skip
_CPU, _STATUS, _COUNT_ANEW = map(Path, ("/proc/cpuinfo", "/proc/self/status", "/proc/self/clear_refs"))
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
        """Look at the machine, of which a GPU counts once a process; `watts` is what was measured of all."""
        import torch

        if getattr(device, "type", "cpu") == "cuda":
            board = torch.cuda.get_device_name(device)
            longest_first = sorted(BOARDS.items(), key=lambda b: -len(b[0]))
            rated = next((w for name, w in longest_first if name in board), None)
            name, power = f"{processes} x {board}", float((rated or UNKNOWN_BOARD) * processes)
            source = "rated power of the board" if rated else f"assumed: {UNKNOWN_BOARD} W a board"
        else:
            of = cls.processor(min(torch.get_num_threads() * processes, os.cpu_count() or 1))
            name, power, source = of.name, of.watts, of.watts_from
        return cls(name, power, source) if watts is None else cls(name, watts, "given with --watts")

    @classmethod
    def processor(cls, cores: int) -> Hardware:
        """Return so many cores of this machine's processor."""
        processor = _read_field(_CPU, "model name") or platform.processor() or platform.machine()
        return cls(f"{cores} cores of {processor}", float(CORE * cores), f"assumed: {CORE} W a core in use")


def cost(hours: float, hardware: Hardware) -> dict[str, object]:
    """Return what a result file says of the cost."""
    kwh = hours * hardware.watts / 1000
    return {
        "hardware": hardware.name, "hours": hours, "watts": hardware.watts, "watts_from": hardware.watts_from,
        "kwh": kwh, "kgco2eq": kwh * FACTOR, "factor": FACTOR_FROM,
    }  # fmt: skip


def _read_field(path: Path, name: str) -> str | None:
    """Return what a file of Linux's /proc says under a name; None where there is none."""
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines() if path.exists() else []
    return next((line.partition(":")[2].strip() for line in lines if line.startswith(name)), None)


_MESSAGES = ("out of memory", "can't allocate memory", "not enough memory", "bad alloc")
TO_RANK = (
    "too little memory to encode and rank the whole corpus: lower text.article_tokens, have dev questions "
    "asked over fewer articles (--set evaluation.candidates=10000), or use a smaller encoder"
)


def memory_hint(training: Training) -> str:
    """Return what to do where a step does not fit: smaller pieces have the same gradients."""
    smaller = max(training.mini_batch // 2, 1) if training.mini_batch else 16
    return (
        f"too little memory for a batch of {training.batch}: --set training.mini_batch={smaller} encodes so "
        "many texts at once, with the same gradients (gradient caching); or lower text.article_tokens"
    )


TO_HOLD = (
    "too little memory for the encoder and its optimiser, which keeps two numbers a parameter: use a smaller "
    "encoder, a machine with more memory, or --device cpu"
)


@contextmanager
def explain_out_of_memory(otherwise: str) -> Iterator[None]:
    """Raise BadInput that says this where memory runs out inside; any other error stays itself."""
    try:
        yield
    except (RuntimeError, MemoryError) as error:  # torch raises a RuntimeError for it
        if isinstance(error, MemoryError) or any(message in str(error).lower() for message in _MESSAGES):
            raise BadInput(otherwise) from error
        raise


SINCE_RESET = "the training"
WHOLE_PROCESS = "all that the process did: this system cannot count anew"


class Watch:
    """Counts what is held from when it is made: by the GPU, or by this process where there is none."""

    def __init__(self, world: World) -> None:
        import torch

        self.device = world.device
        anew = self.device.type == "cuda" or reset_peak()
        if self.device.type == "cuda":
            torch.cuda.reset_peak_memory_stats(self.device)
        self.of = SINCE_RESET if anew else WHOLE_PROCESS  # while what was done

    def peak(self) -> int:
        """Return the most that was held since; bytes."""
        import torch

        on_gpu = self.device.type == "cuda"
        return int(torch.cuda.max_memory_allocated(self.device)) if on_gpu else peak_memory()


def reset_peak() -> bool:
    """Reset `peak_memory`; return False where the system cannot."""
    try:
        _COUNT_ANEW.write_text("5", encoding="ascii")
    except OSError:
        return False
    return True


def peak_memory() -> int:
    """Return the peak memory of this process since `reset_peak`, or ever; bytes."""
    if (held := _read_field(_STATUS, "VmHWM:")) is not None:
        return int(held.split()[0]) * 1024
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
