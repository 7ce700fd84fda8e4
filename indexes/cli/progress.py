"""Progress bars with counts, one for each thing that is done."""

from __future__ import annotations

import sys
from typing import NoReturn

from tqdm import tqdm

from indexes.cli.terminal import unguarded

SECONDS = 0.1  # between two looks of a bar on a terminal
SECONDS_IN_A_FILE = 5.0  # in a log, where every look stays


class Bars:
    """Shows one bar at a time; its last look, with the final count, stays."""

    def __init__(self, unit: str = "it") -> None:
        """Show nothing yet; `unit` is what is counted."""
        self._bar: tqdm[NoReturn] | None = None
        self._what = ""
        self._unit = unit
        self._mute = False

    def __call__(self, what: str, done: int, total: int | None) -> None:
        """Move the bar of `what` to done of total, a `Progress`; when it begins again, a new bar begins."""
        if self._mute:
            return
        if self._bar is None or what != self._what or done < self._bar.n:
            self.close()
            terminal = sys.stderr.isatty()
            self._what = what
            self._bar = tqdm(
                desc=what,
                unit=self._unit,
                unit_scale=self._unit == "B",
                file=unguarded(sys.stderr),
                mininterval=SECONDS if terminal else SECONDS_IN_A_FILE,
                maxinterval=10 if terminal else 2 * SECONDS_IN_A_FILE,
            )
        self._bar.total = total or done
        self._bar.update(done - self._bar.n)

    def mute(self) -> None:
        """Show nothing more."""
        self._mute = True

    def close(self) -> None:
        """End the bar that is shown."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None
