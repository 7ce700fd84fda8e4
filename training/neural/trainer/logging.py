"""What a training tells: a JSON line for each look at it, a line for people, and events for TensorBoard."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from rag.errors import MissingExtra


def summary_writer() -> Any:  # noqa: ANN401 - a class of torch
    """Return torch's writer of event files; raise MissingExtra where tensorboard is not installed."""
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError as error:
        raise MissingExtra(
            "--tensorboard needs a package that no extra brings: run pip install tensorboard, or leave the "
            "option out (log.jsonl says the same)"
        ) from error
    return SummaryWriter


@dataclass
class Events:
    """Event files in a folder: every number of a look, by its name and step."""

    folder: Path
    _purge: int | None = None
    _writer: Any = None

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


@dataclass(frozen=True)
class TrainingLog:
    """Appends JSON Lines to a file, and writes lines for people and events; each may be left out."""

    file: Path | None = None
    stream: TextIO | None = None
    events: Events | None = None

    def __call__(self, record: Mapping[str, object], line: str) -> None:
        """Write one look."""
        if self.file is not None:
            with self.file.open("a", encoding="utf-8") as file:
                file.write(json.dumps(record) + "\n")
        if self.events is not None:
            self.events(record)
        if self.stream is not None:
            print(line, file=self.stream, flush=True)

    def back_to(self, step: int) -> None:
        """Drop what was written after a step: a run that was stopped later goes on from there."""
        if self.events is not None:
            self.events.back_to(step)
        if self.file is None or not self.file.exists():
            return
        lines = self.file.read_text(encoding="utf-8").splitlines(keepends=True)
        earlier = [line for line in lines if line.endswith("\n") and json.loads(line).get("step", 0) <= step]
        self.file.write_text("".join(earlier), encoding="utf-8")


def duration(seconds: float) -> str:
    """Return a time as people read it: 0:07, 12:40, 3:05:00."""
    hours, rest = divmod(max(round(seconds), 0), 3600)
    return f"{hours}:{rest // 60:02d}:{rest % 60:02d}" if hours else f"{rest // 60}:{rest % 60:02d}"
