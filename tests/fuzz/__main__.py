"""`python -m tests.fuzz`: damaged law for the importers of XML, odd text for the readers of references.

    python -m tests.fuzz --minutes 10 --seed 1          # every target has its share of the time
    python -m tests.fuzz --case akoma-ntoso:1:4711      # one case again, in this process

An importer gives a corpus or BadInput; a reader gives references in order, inside the text, that resolve to
articles of the corpus. Anything else is a failure: another exception, a process that dies or takes more
than its memory, a case over the time limit (it is stopped from outside). A case is made from its target, the
seed and its number alone, so what is printed of a failure makes it again; acts of `../shared/data/akn`, where
they are there, are damaged beside those written here.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import resource
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from random import Random
from typing import Any

from tests.fuzz.acts import IMPORTERS, Case, xml_case
from tests.fuzz.texts import LANGUAGES, text_case

TARGETS = (*IMPORTERS, *LANGUAGES)
SECONDS = 5.0  # of one case
MOST = 20  # failures that are printed of a target
MEMORY = 4 * 2**30  # bytes that the process of a target may take


@dataclass
class Tally:
    """What was tried on a target."""

    kinds: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    slowest: tuple[float, int] = (0.0, 0)  # seconds, case


def case(target: str, seed: int, number: int, folder: Path) -> Case:
    """Make a case anew."""
    chance = Random(f"{target} {seed} {number}")
    return xml_case(target, chance, folder) if target in IMPORTERS else text_case(target, chance)


def _work(target: str, seed: int, first: int, until: float, folder: Path, pipe: Connection) -> None:
    """Run cases one after another, in a process of their own; say of each when it begins and how it ends."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    number = first
    while time.monotonic() < until:
        pipe.send(("making", number, ""))
        kind, run = case(target, seed, number, folder)
        pipe.send(("begins", number, kind))
        try:
            run()
        except BaseException as error:  # noqa: BLE001 - whatever it is, it is a finding
            told = "".join(traceback.format_exception(error)[-2:]).strip()
            pipe.send(("fails", number, told[-1500:]))
        else:
            pipe.send(("ends", number, ""))
        number += 1
    pipe.send(("done", number, ""))


def fuzz(target: str, seed: int, seconds: float, limit: float) -> Tally:
    """Try a target for so long; a process that hangs or dies is replaced by one that goes on after it."""
    tally, number, until = Tally(), 0, time.monotonic() + seconds
    context = multiprocessing.get_context("fork")  # what is imported is there
    with tempfile.TemporaryDirectory() as at:
        while time.monotonic() < until:
            ours, theirs = context.Pipe(duplex=False)
            folder = Path(at) / str(number)
            folder.mkdir()
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
            waited = pipe.poll(limit if kind else 10 * limit)
            what, number, told = pipe.recv() if waited else ("hangs", number, "")
        except EOFError:
            process.join()
            what, told = "dies", f"exit status {process.exitcode}"
        took = time.monotonic() - began
        if what == "making":
            kind = ""
        elif what == "begins":
            kind, began = told, time.monotonic()
            tally.kinds[kind] += 1
        elif what in ("ends", "fails"):
            tally.slowest = max(tally.slowest, (took, number))
            if what == "fails" or took > limit:
                tally.failures.append(
                    f"{name(number)} ({kind}, {took:.1f} s): {told or 'over the time limit'}"
                )
        elif what == "done":
            return number
        else:
            told = told or f"over the time limit of {limit:g} s, stopped"
            tally.failures.append(f"{name(number)} ({kind or 'being made'}): the process {what}: {told}")
            process.kill()
            return number + 1


def main(arguments: Sequence[str] | None = None) -> int:
    """Fuzz, print; 1 where something failed."""
    raw = argparse.RawDescriptionHelpFormatter
    top = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__, formatter_class=raw)
    top.add_argument("--minutes", type=float, default=1.0, help="of all targets together (default 1)")
    top.add_argument("--seed", type=int, default=1, help="other cases with another (default 1)")
    top.add_argument(
        "--targets", nargs="+", choices=TARGETS, default=TARGETS, metavar="TARGET", help=str(TARGETS)
    )
    top.add_argument("--case", metavar="TARGET:SEED:NUMBER", help="one case, here, with its traceback")
    parsed = top.parse_args(arguments)
    with tempfile.TemporaryDirectory() as home:
        os.environ["PANDECT_HOME"] = home
        if parsed.case:
            return _again(parsed.case, Path(home))
        failed = 0
        for target in parsed.targets:
            tally = fuzz(target, parsed.seed, 60 * parsed.minutes / len(parsed.targets), SECONDS)
            kinds = ", ".join(f"{kind} {n:,}" for kind, n in sorted(tally.kinds.items()))
            slow, number = tally.slowest
            failed += len(tally.failures)
            print(
                f"{target}: {tally.kinds.total():,} cases ({kinds}); slowest {slow:.2f} s (case {number})",
                flush=True,
            )
            for failure in _apart(tally.failures):
                print(f"  FAILED {failure}", flush=True)
    print(f"failures: {failed:,}")
    return int(bool(failed))


def _apart(failures: Sequence[str]) -> list[str]:
    """The first failure of each place in the code, and how many there were."""
    alike: dict[str, list[str]] = {}
    for failure in failures:
        alike.setdefault(failure.partition("): ")[2].partition("\n")[0], []).append(failure)
    told = [
        first + (f"\n  and {len(more):,} more like it" if more else "") for first, *more in alike.values()
    ]
    return [*told[:MOST], *([f"and {len(told) - MOST:,} other kinds"] if len(told) > MOST else [])]


def _again(name: str, home: Path) -> int:
    target, _, rest = name.partition(":")
    seed, _, number = rest.partition(":")
    if target not in TARGETS or not seed.lstrip("-").isdigit() or not number.isdigit():
        print(f"error: --case {name}: give TARGET:SEED:NUMBER as a failure prints it", file=sys.stderr)
        return 2
    kind, run = case(target, int(seed), int(number), home)
    began = time.monotonic()
    run()
    print(f"{name} ({kind}): passed in {time.monotonic() - began:.2f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
