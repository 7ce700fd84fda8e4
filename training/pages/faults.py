"""Faults injected while all of them ask: other law, SIGTERM, SIGKILL, and the way back to the former law.

Nobody's law is changed: it is a copy under another PANDECT_HOME that is updated and rolled back, by the
commands that an operator types.
"""

from __future__ import annotations

import asyncio
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from indexes.corpus.corpus import Corpus, write
from indexes.store import paths
from indexes.store.atomic import switch
from indexes.store.versions import new_corpus
from rag.errors import BadInput, PandectError
from training.pages.corpora import copy_version, other_home
from training.pages.serving import ROOT, Kind, RunningServer
from training.pages.users import Failure

# share of the time, what, which server; each waits until the one before is over
EVENTS: tuple[tuple[float, str, Kind | Literal["law"]], ...] = (
    (0.1, "update", "law"),
    (0.35, "SIGTERM", "page"),
    (0.45, "SIGTERM", "api"),
    (0.55, "SIGKILL", "page"),
    (0.65, "SIGKILL", "api"),
    (0.8, "rollback", "law"),
)
AFTER = 10.0  # seconds past the last of them, in which the former law answers again
MARK = " (2)"  # ends every text of the new law


@dataclass(frozen=True, slots=True)
class LawRevision:
    """A copy of an installed law, and new law in which the text of every article is another."""

    name: str
    new: Path  # corpus folder
    texts: Mapping[str, str]  # of the former law, by the article's id

    def edition(self, articles: Iterable[Mapping[str, Any]]) -> str:
        """Return which law the articles of an answer are of: "former", "new", or "mixed" where of no one."""
        found = {
            {text: "former", f"{text}{MARK}": "new"}.get(article["text"], "mixed")
            for article in articles
            for text in [self.texts.get(article["id"], "")]
        }
        return found.pop() if len(found) == 1 else "mixed"


@dataclass(frozen=True, slots=True)
class Event:
    """A fault that was injected; times of `time.perf_counter()`."""

    what: str
    target: Kind | Literal["law"]
    begun: float  # the signal, or the command
    ended: float  # the process, or the command
    ready: float  # until then errors are expected of a server; of the law it is when its command had ended
    killed: bool = False  # SIGTERM did not end it in time


@contextmanager
def law_revision(name: str | None, corpus: Corpus) -> Iterator[LawRevision]:
    """Copy the index of an installed law and write new law beside it, until the block ends.

    Raises:
        BadInput: the index is not one of an installed law.
    """
    if name is None or name == paths.BUILTIN or not paths.NAME.fullmatch(name):
        raise BadInput(
            f"--faults updates the law while people ask: got {name or 'the index that ships'}; expected the "
            f"name of an installed law, --index NAME ({paths.command('list')} shows those there are)"
        )
    folder = paths.current(name)
    with other_home():
        with new_corpus(name, replace=False) as place:
            write(corpus, place)
        copied = paths.index_folder(name) / folder.name
        copy_version(folder, copied)
        for what in (paths.AUDIT, paths.CONFIDENCE):
            if (beside := paths.version_file(folder, what)).is_file():
                paths.version_file(copied, what).write_bytes(beside.read_bytes())
        switch(copied.parent, copied.name)
        changed = tuple(replace(each, text=f"{each.text}{MARK}") for each in corpus.articles)
        new = write(replace(corpus, articles=changed), paths.home() / "new")
        yield LawRevision(name, new, {each.id: each.text for each in corpus.articles})


async def inject_faults(
    law: LawRevision, servers: Mapping[Kind, RunningServer], seconds: float, events: list[Event]
) -> None:
    """Inject every fault at its share of the time, and record it.

    Raises:
        PandectError: a command failed, or changed nothing; a server did not come up again.
    """
    start = time.perf_counter()
    for share, what, target in EVENTS:
        await asyncio.sleep(max(0.0, start + share * seconds - time.perf_counter()))
        begun, itself = time.perf_counter(), True
        if target == "law":
            await _command(law, what)
            ended = time.perf_counter()
        else:
            itself = await asyncio.to_thread(servers[target].end, signal.Signals[what])
            ended = time.perf_counter()
            await asyncio.to_thread(servers[target].start)
        events.append(Event(what, target, begun, ended, time.perf_counter(), not itself))
    await asyncio.sleep(AFTER)


async def _command(law: LawRevision, what: str) -> None:
    former = paths.current(law.name)
    more = [str(law.new), "--from", "pandect"] if what == "update" else []
    command = ["-m", "indexes", what, law.name, *more]
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *command,
        cwd=ROOT,
        stdout=pipe,
        stderr=asyncio.subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        said, _ = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
    if process.returncode or paths.current(law.name) == former:
        told = said.decode(errors="replace").strip().rpartition("\n")[2]
        raise PandectError(f"python {' '.join(command)} brought no other version into use: {told}")


def errors_until_ready(errors: Sequence[Failure], events: Sequence[Event], target: Kind) -> dict[str, Any]:
    """Return the errors of what was under way between a signal and the next ready, and the others."""
    windows = [(event.begun, event.ready) for event in events if event.target == target]
    within, others = Counter[str](), Counter[str]()
    for error in errors:
        met = any(begun <= error.told and error.begun <= ready for begun, ready in windows)
        (within if met else others)[error.kind] += 1
    return {"errors_until_ready": dict(within), "errors_at_other_times": dict(others)}


def summary(
    law: LawRevision,
    events: Sequence[Event],
    start: float,
    errors: Mapping[Kind, Sequence[Failure]],
    versions: Mapping[str, Counter[str]],
    when: Mapping[str, tuple[float, float]],
) -> dict[str, Any]:
    """Return what a result file holds of the events and of the versions that answered.

    Args:
        law: what was updated and rolled back.
        events: the injected faults.
        start: when it began, as the times of the events.
        errors: of what was asked of each server.
        versions: the index that an answer names -> the law that its texts are of -> answers.
        when: the index -> when it answered first, and last.
    """
    told = []
    for event in events:
        made: dict[str, Any] = {
            "event": event.what,
            "of": event.target,
            "at_s": round(event.begun - start, 1),
        }
        made["ended_after_s"] = round(event.ended - event.begun, 1)
        if event.target != "law":
            made |= {"ready_after_s": round(event.ready - event.begun, 1), "killed": event.killed}
            made["errors"] = errors_until_ready(errors[event.target], [event], event.target)[
                "errors_until_ready"
            ]
        told.append(made)
    return {
        "law": law.name,
        "events": told,
        "versions": {
            index: {
                "first_answer_s": round(when[index][0] - start, 1),
                "last_answer_s": round(when[index][1] - start, 1),
                "texts": dict(found),
            }
            for index, found in versions.items()
        },
    }


def verdict(found: Mapping[str, Any]) -> tuple[str, bool]:
    """Return in a line whether something was lost, and whether all is as it must be."""
    page, api = found["page"], found["api"]
    versions = found["faults"]["versions"].values()
    whole = [next(iter(each["texts"])) for each in versions if len(each["texts"]) == 1]
    mixed = sum(each["texts"].get("mixed", 0) for each in versions) + api["answers_of_no_law"]
    event = found["faults"]["events"][-1]  # the way back
    back = any(
        "former" in each["texts"] and each["last_answer_s"] > event["at_s"] + event["ended_after_s"]
        for each in versions
    )
    lost = [each["silently_lost"] for each in (page, api)]
    others = [sum(each["errors_at_other_times"].values()) for each in (page, api)]
    line = (
        f"silently lost: {lost[0]:,} of {page['asked']:,} asked of the page, {lost[1]:,} of {api['asked']:,} "
        f"asked of the API; errors at other times: {others[0]:,}, {others[1]:,}; answers of no one version: "
        f"{mixed:,}; versions that answered: {len(versions)}"
    )
    return line, back and not any((*lost, *others, mixed)) and sorted(whole) == ["former", "new"]
