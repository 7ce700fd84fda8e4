"""The most memory that is held from a moment on: of the GPU, or of this process.

The system counts the most that a process ever held. Linux can be told to count anew (proc(5): 5 written to
/proc/self/clear_refs), else the second training of a sweep would inherit what the first one took. What is
held at that moment, libraries and data, counts with the rest.
"""

from __future__ import annotations

import resource
import sys
from dataclasses import dataclass
from pathlib import Path

from training.neural.trainer.distributed import World

FROM_HERE = "the training"
OF_ALL = "all that the process did: this system cannot count anew"
_COUNT_ANEW = Path("/proc/self/clear_refs")
_STATUS = Path("/proc/self/status")


@dataclass(frozen=True, slots=True)
class Peak:
    """The most that was held, bytes, and while what was done."""

    bytes: int
    of: str


class Watch:
    """Counts from when it is made."""

    def __init__(self, world: World) -> None:
        """Begin to count."""
        self.world = world
        self.of = FROM_HERE if self._count_anew() else OF_ALL

    def peak(self) -> Peak:
        """Return the most that the device held since, or the process where there is no GPU."""
        if self.world.device.type != "cuda":
            return Peak(peak_of_process(), self.of)
        import torch

        return Peak(int(torch.cuda.max_memory_allocated(self.world.device)), self.of)

    def _count_anew(self) -> bool:
        if self.world.device.type != "cuda":
            return count_anew()
        import torch

        torch.cuda.reset_peak_memory_stats(self.world.device)
        return True


def count_anew() -> bool:
    """Have `peak_of_process` count from here; return False where the system cannot, and nothing changes."""
    try:
        _COUNT_ANEW.write_text("5", encoding="ascii")
    except OSError:
        return False
    return True


def peak_of_process() -> int:
    """Return the most that this process held since `count_anew`, or ever; bytes."""
    if _STATUS.exists():
        for line in _STATUS.read_text(encoding="utf-8").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
