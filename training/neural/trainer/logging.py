"""What a training tells, as TensorBoard reads it; for who asks for it, beside the JSON lines."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rag.errors import MissingExtra


def summary_writer() -> Any:  # noqa: ANN401 - a class of torch
    """Return torch's writer of event files.

    Raises:
        MissingExtra: tensorboard is not installed.
    """
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError as error:
        raise MissingExtra(
            "--tensorboard needs a package that no extra brings: run pip install tensorboard, or leave the "
            "option out (log.jsonl says the same)"
        ) from error
    return SummaryWriter


class Events:
    """Event files in a folder: every number of a look, by its name and step."""

    def __init__(self, folder: Path) -> None:
        """Write into this folder, from the first look on."""
        self.folder = folder
        self._purge: int | None = None
        self._writer: Any = None

    def __call__(self, record: Mapping[str, object]) -> None:
        """Write the numbers of one look; one without a step has none to show."""
        step = record.get("step")
        if not isinstance(step, int):
            return
        if self._writer is None:
            self._writer = summary_writer()(str(self.folder), purge_step=self._purge)
        for name, value in record.items():
            if name != "step" and isinstance(value, int | float):
                self._writer.add_scalar(name, value, step)
        self._writer.flush()

    def back_to(self, step: int) -> None:
        """Have what was written after a step left out: a run that was stopped later goes on from there."""
        self._purge = step + 1
