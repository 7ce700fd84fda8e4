"""`python -m tests.faults`: kill, fill, flip and flood for a stated time, and tell what was lost.

    python -m tests.faults --minutes 10 --seed 1        # every kind has its share of the time
    python -m tests.faults --case input-csv:1:4711      # one case again, in this process

kill        a build, import, update, rollback, removal, fusion or word of feedback is killed at any step, with
            or without the loss of what no fsync brought to the disk: the former law stands, or the new one
full-disk   the same where a write finds no room: it is told besides
flip        a file of an index has other bits, or more, or fewer: it is refused, or answers as before
input-*     damaged files of each source: a corpus or BadInput; so with `bomb`, files that unpack to a lot
markup      markup, escapes and addresses in whatever a corpus or a person writes: text on every page and in
            every file, and no escape on a terminal
flood-*     a page, and a client of a model, that are sent more than they take
text-*      readers of references: they come in order, inside the text, and resolve to articles

Anything else is a failure: another exception, a process that dies, a case that takes more seconds of a
core than its limit, or HANGS times as many by the clock (it is stopped from outside: a busy machine is no
fault), or more memory than MEMORY at its peak. A case is made from its target, the seed and its number
alone, so what is printed of a failure makes it again; acts of `../shared/data/akn`, where they are there,
are damaged beside those written here.
"""

from __future__ import annotations

import argparse
import json
import logging
import multiprocessing
import os
import resource
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from indexes.sources.registry import SOURCES
from tests.faults import inputs, pages, store
from tests.faults.inputs import Case
from tests.faults.texts import LANGUAGES, text_case
from training.eval.report import commit

MOST = 20  # failures that are printed of a target
MEMORY = 600  # MiB that a process may hold at the peak of a case
HANGS = 3  # times its limit that a case may last by the clock
CASES = sys.maxsize  # of a target; the tests of this command need few
ROOM = 4 * 2**30  # bytes of address space, so that no machine is filled


class Target(NamedTuple):
    """What cases of one name are made with, how long one may take, and what part of the time all have."""

    make: Callable[[Random, Path], Case]
    seconds: float  # of a core
    share: float
    around: Callable[[], AbstractContextManager[object]] = nullcontext


def _each(named: Mapping[str, Callable[[Random, Path], Case]], share: float) -> dict[str, Target]:
    return {name: Target(make, 5.0, share / len(named)) for name, make in named.items()}


TARGETS: Mapping[str, Target] = {
    "kill": Target(partial(store.disturbed_case, store.KILLS), 20.0, 0.3),
    "full-disk": Target(partial(store.disturbed_case, store.FULL), 20.0, 0.1),
    "flip": Target(store.flip_case, 20.0, 0.08),
    **_each({f"input-{each}": partial(inputs.damaged_case, each) for each in sorted(SOURCES)}, 0.2),
    "bomb": Target(inputs.bomb_case, 60.0, 0.08),
    "markup": Target(pages.markup_case, 30.0, 0.08),
    "flood-model": Target(pages.model_case, 20.0, 0.04),
    "flood-page": Target(pages.flood_case, 90.0, 0.06, pages.served),
    **_each({f"text-{each}": partial(text_case, each) for each in LANGUAGES}, 0.06),
}


@dataclass
class Tally:
    """What was tried on a target."""

    kinds: Counter[str] = field(default_factory=Counter)
    outcomes: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    slowest: tuple[float, int] = (0.0, 0)  # seconds, case
    peak: int = 0  # MiB

    def record(self) -> dict[str, Any]:
        """Return what is told of it."""
        told = {"cases": self.kinds.total(), "kinds": dict(sorted(self.kinds.items()))}
        told |= {"outcomes": dict(sorted(self.outcomes.items())), "failures": len(self.failures)}
        return told | {"slowest_seconds": round(self.slowest[0], 2), "peak_mib": self.peak}


def case(target: str, seed: int, number: int, folder: Path) -> Case:
    """Make a case anew."""
    return TARGETS[target].make(Random(f"{target} {seed} {number}"), folder)


def _peak(field: str = "VmHWM:") -> int:
    """Return the most memory that this process held since `_begin_peak`, in MiB; 0 where nobody tells."""
    with suppress(OSError):
        status = Path("/proc/self/status").read_text(encoding="utf-8")
        return int(status.partition(field)[2].split()[0]) // 1024
    return 0


def _computed() -> float:
    """Return the seconds of a core that this process and those that it waited for have had."""
    return sum(os.times()[:4])


def _begin_peak() -> None:
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", encoding="utf-8")


def _work(target: str, seed: int, first: int, until: float, folder: Path, pipe: Connection) -> None:
    """Run cases one after another, in a process of their own; say of each when it begins and how it ends."""
    resource.setrlimit(resource.RLIMIT_AS, (ROOM, ROOM))
    logging.disable()
    number, most = first, _peak("VmRSS:") + 50
    # what one case has not given back is no fault of the next
    while number < CASES and time.monotonic() < until and (number == first or _peak("VmRSS:") < most):
        pipe.send(("making", number, ""))
        kind, run = case(target, seed, number, folder)
        pipe.send(("begins", number, kind))
        _begin_peak()
        began = _computed()
        try:
            outcomes = run()
        except BaseException as error:  # noqa: BLE001 - whatever it is, it is a finding
            told = "".join(traceback.format_exception(error)[-2:]).strip()
            pipe.send(("fails", number, told[-1500:]))
        else:
            pipe.send(("ends", number, {"peak": _peak(), "computed": _computed() - began} | outcomes))
        number += 1
    pipe.send(("done", number, ""))


def disturb(target: str, seed: int, seconds: float, limit: float) -> Tally:
    """Try a target for so long; a process that hangs or dies is replaced by one that goes on after it."""
    tally, number, until = Tally(), 0, time.monotonic() + seconds
    context = multiprocessing.get_context("fork")  # what is imported is there
    with tempfile.TemporaryDirectory() as at:
        while number < CASES and time.monotonic() < until:
            ours, theirs = context.Pipe(duplex=False)
            folder = Path(at) / str(number)
            folder.mkdir(exist_ok=True)
            process = context.Process(target=_work, args=(target, seed, number, until, folder, theirs))
            process.start()
            theirs.close()
            number = _watch(ours, process, tally, limit, lambda n: f"--case {target}:{seed}:{n}")
            process.join()
            ours.close()
    return tally


def _watch(
    pipe: Connection, process: Any, tally: Tally, limit: float, name: Callable[[int], str]
) -> int:  # fmt: skip
    """Follow a process to its end, and return the number of the case to go on with."""
    number, kind, began = -1, "", time.monotonic()
    while True:
        try:
            # making a case is ours, and is given more time
            waited = pipe.poll(HANGS * limit if kind else 10 * limit)
            what, number, told = pipe.recv() if waited else ("hangs", number, "")
        except EOFError:
            process.join()
            what, told = "dies", f"exit status {process.exitcode}"
        took, computed = time.monotonic() - began, 0.0
        if what == "making":
            kind = ""
        elif what == "begins":
            kind, began = told, time.monotonic()
            tally.kinds[kind] += 1
        elif what in ("ends", "fails"):
            tally.slowest = max(tally.slowest, (took, number))
            if what == "ends":
                peak, computed = told.pop("peak"), told.pop("computed")
                tally.peak = max(tally.peak, peak)
                tally.outcomes.update(told)
                told = f"{peak} MiB, where {MEMORY} are allowed" if peak > MEMORY else ""
            if told or computed > limit:
                told = told or f"{computed:.1f} s of a core, where {limit:g} are allowed"
                tally.failures.append(f"{name(number)} ({kind}, {took:.1f} s): {told}")
        elif what == "done":
            return number
        else:
            told = told or f"stopped after {HANGS * limit:g} s"
            tally.failures.append(f"{name(number)} ({kind or 'being made'}): the process {what}: {told}")
            process.kill()
            return number + 1


def main(arguments: Sequence[str] | None = None) -> int:
    """Disturb, print; 1 where something failed."""
    raw = argparse.RawDescriptionHelpFormatter
    top = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__, formatter_class=raw)
    top.add_argument("--minutes", type=float, default=1.0, help="of all targets together (default 1)")
    top.add_argument("--seed", type=int, default=1, help="other cases with another (default 1)")
    top.add_argument(
        "--targets", nargs="+", choices=TARGETS, default=TARGETS, metavar="TARGET", help=", ".join(TARGETS)
    )
    top.add_argument("--case", metavar="TARGET:SEED:NUMBER", help="one case, here, with its traceback")
    top.add_argument("--out", type=Path, metavar="FILE", help="write what was tried as JSON, too")
    parsed = top.parse_args(arguments)
    begun, tallies = datetime.now(UTC), dict[str, Tally]()
    with tempfile.TemporaryDirectory() as home:
        os.environ["PANDECT_HOME"] = home
        if parsed.case:
            return _again(parsed.case, Path(home) / "case")
        whole = sum(TARGETS[name].share for name in parsed.targets)
        print("| target | cases | what came | failures | slowest | peak |\n|---|---:|---|---:|---:|---:|")
        for name in parsed.targets:
            _, limit, share, around = TARGETS[name]
            with around():
                tallies[name] = disturb(name, parsed.seed, 60 * parsed.minutes * share / whole, limit)
            print(_row(name, tallies[name]), flush=True)
    for tally in tallies.values():
        for failure in _apart(tally.failures):
            print(f"  FAILED {failure}", flush=True)
    failed = sum(len(tally.failures) for tally in tallies.values())
    print(f"failures: {failed:,}")
    if parsed.out:
        told = {
            "commit": commit(),
            "date": f"{begun:%Y-%m-%d}",
            "minutes": parsed.minutes,
            "seed": parsed.seed,
        }
        told |= {"failures": failed, "targets": {name: each.record() for name, each in tallies.items()}}
        parsed.out.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    return int(bool(failed))


def _row(name: str, tally: Tally) -> str:
    came = ", ".join(f"{n:,} {what}" for what, n in sorted(tally.outcomes.items()))
    slow, cases, failed = tally.slowest[0], tally.kinds.total(), len(tally.failures)
    return f"| {name} | {cases:,} | {came} | {failed:,} | {slow:.1f} s | {tally.peak} MiB |"


def _apart(failures: Sequence[str]) -> list[str]:
    """The first failure of each place in the code, and how many there were."""
    alike: dict[str, list[str]] = {}
    for failure in failures:
        alike.setdefault(failure.partition("): ")[2].partition("\n")[0], []).append(failure)
    told = [
        first + (f"\n  and {len(more):,} more like it" if more else "") for first, *more in alike.values()
    ]
    return [*told[:MOST], *([f"and {len(told) - MOST:,} other kinds"] if len(told) > MOST else [])]


def _again(name: str, folder: Path) -> int:
    target, _, rest = name.partition(":")
    seed, _, number = rest.partition(":")
    if target not in TARGETS or not seed.lstrip("-").isdigit() or not number.isdigit():
        print(f"error: --case {name}: give TARGET:SEED:NUMBER as a failure prints it", file=sys.stderr)
        return 2
    folder.mkdir()
    with TARGETS[target].around():
        kind, run = case(target, int(seed), int(number), folder)
        _begin_peak()
        began = time.monotonic()
        came = run()
    took, peak = time.monotonic() - began, came.pop("peak", _peak())
    print(f"{name} ({kind}): {came} in {took:.2f} s, {peak} MiB at its peak")
    return int(peak > MEMORY)


if __name__ == "__main__":
    sys.exit(main())
