"""What a training tells: a JSON line for each look at it in a file, and a line for people."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TextIO

from training.neural.trainer.logging import Events


class Log:
    """Writes JSON Lines to a file and lines for people to a stream; either may be left out."""

    def __init__(
        self, file: Path | None, stream: TextIO | None = sys.stderr, events: Events | None = None
    ) -> None:
        """Append to the file; events are for TensorBoard."""
        self.file = file
        self.events = events
        self.stream = stream

    def __call__(self, record: Mapping[str, object], said: str) -> None:
        """Write one look."""
        if self.file is not None:
            with self.file.open("a", encoding="utf-8") as file:
                file.write(json.dumps(record) + "\n")
        if self.events is not None:
            self.events(record)
        if self.stream is not None:
            print(said, file=self.stream, flush=True)

    def back_to(self, step: int) -> None:
        """Drop what was written after a step: a run that was stopped later goes on from there."""
        if self.events is not None:
            self.events.back_to(step)
        if self.file is None or not self.file.exists():
            return
        lines = self.file.read_text(encoding="utf-8").splitlines(keepends=True)
        kept = [line for line in lines if line.endswith("\n") and json.loads(line).get("step", 0) <= step]
        self.file.write_text("".join(kept), encoding="utf-8")


def duration(seconds: float) -> str:
    """Return a time as people read it: 0:07, 12:40, 3:05:00."""
    whole = max(round(seconds), 0)
    hours, rest = divmod(whole, 3600)
    return f"{hours}:{rest // 60:02d}:{rest % 60:02d}" if hours else f"{rest // 60}:{rest % 60:02d}"
