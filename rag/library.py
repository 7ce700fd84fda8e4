"""What an operator may do with the law of a server; `indexes.cli.library` does it, a page asks for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from typing import Protocol

from rag.feedback import FeedbackReason
from rag.types import Question


@dataclass(frozen=True, slots=True)
class InstalledVersion:
    """One version of an index."""

    name: str
    in_use: bool
    articles: int | None = None  # None: it cannot be read
    changes: str = ""  # against the version before, in few words


class AuditKind(StrEnum):
    """What an audit of an index looks at."""

    TEXTLESS = "textless"  # articles, as all to UNREAD
    TERMLESS = "termless"  # with a text of which nothing can be searched
    HEADLESS = "headless"
    SHORT = "short"
    LONG = "long"
    TWINS = "twins"  # texts that several articles have
    UNREAD = "unread"  # share of letters in words that became no term
    FOREIGN = "foreign"  # share of a sample of texts that are not in the law's language
    STRANGERS = "strangers"  # annotated questions without one word of what answers them
    EXPECTED = "expected"  # share of questions that will find an answer among the first ten
    EXPECTED_RECALL = "expected-recall"  # R@10
    DOUBT = "doubt"  # calibration error of "probably no article answers", which is said
    DOUBT_POOR = "doubt-poor"  # the same; it is too large, so that it is never said
    DOUBT_UNTESTED = "doubt-untested"  # annotated questions held back, too few to say it
    DOUBT_UNFIT = "doubt-unfit"  # nothing to fit it to: no encoder, or no articles


@dataclass(frozen=True, slots=True)
class AuditFinding:
    """One thing that an audit found."""

    kind: AuditKind
    grave: bool = False
    count: int = 0  # of articles, questions or answers
    share: float = 0.0  # 0..1; of the articles where articles are counted
    error: float = 0.0  # of what is expected: nine in ten lie within it, on either side
    examples: Sequence[str] = ()  # the first articles


@dataclass(frozen=True, slots=True)
class InstalledLaw:
    """A corpus, and its index if one is built."""

    name: str
    title: str = ""
    law_dates: Sequence[date] = ()
    licence: str = ""
    articles: int = 0
    questions: int = 0
    encoder: str | None = None  # None: none, words alone
    learned: bool = False  # whether it has a learned fusion
    size: int = 0  # bytes on disk, of corpus and versions
    versions: Sequence[InstalledVersion] = ()  # the latest first; () of the index that ships
    built: bool = True
    shipped: bool = False  # it is only read
    problem: str = ""  # why it cannot be opened, with the command that helps
    audit: Sequence[AuditFinding] = ()  # of the version in use; () where nobody has looked


@dataclass(frozen=True, slots=True)
class ImportRequest:
    """What `python -m indexes import` is told."""

    path: str  # a file or folder of the server, an address, or a data set of the hub or a file of one
    name: str
    sha256: str = ""  # of the file at an address
    columns: Mapping[str, str] = field(default_factory=dict)  # field -> the column that it comes from
    card: Mapping[str, str] = field(default_factory=dict)  # option of the card -> value: "law-date"
    replace: bool = False


class Command(StrEnum):
    """What may be under way."""

    PREVIEW = "preview"
    IMPORT = "import"
    BUILD = "build"
    CHECK = "check"
    AUDIT = "audit"
    GAIN = "gain"
    ROLL_BACK = "rollback"
    REMOVE = "remove"


class JobState(StrEnum):
    """How far a job is."""

    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    STOPPED = "stopped"  # by somebody, or with the machine


@dataclass(frozen=True, slots=True)
class Job:
    """The last command that was begun, whether or not the page that began it still runs."""

    command: Command
    name: str  # of the law
    state: JobState
    log: str = ""  # what it said, its last part
    step: str = ""  # what is being done
    share: float | None = None  # of the step, 0 to 1
    number: int = 0  # no other job has it


@dataclass(frozen=True, slots=True)
class SaidQuestion:
    """A question that somebody asked and allowed to be kept, with what was said of its articles."""

    question: Question
    negatives: tuple[str, ...] = ()  # articles that were said not to answer it


class OperatorLibrary(Protocol):
    """The law of a server. What takes its time is begun, one job at a time, and goes on without the page.

    BadInput: another job runs, or what came cannot be used.
    """

    def installed(self) -> Sequence[InstalledLaw]:
        """Return what there is; the index that ships is the first."""

    def opened(self) -> str:
        """Return the name or path of the index that the page opens."""

    def may_open(self) -> bool:
        """Tell whether another may be opened from here."""

    def open(self, name: str) -> None:
        """Have page and API open this law from the next question on.

        BadInput: it cannot be opened, or a setting names the law of this server.
        """

    def columns(self, path: str, sha256: str = "") -> Sequence[str]:
        """Return the columns of a table on the server or fetched by a preview; () of anything else."""

    def upload(self, name: str, content: bytes) -> str:
        """Keep a file for the next import; return its path, which no other content has."""

    def preview(self, request: ImportRequest) -> None:
        """Begin to read law and say what an import would keep; nothing is written."""

    def install(self, number: int) -> None:
        """Begin to import what the preview of this number looked at, as it did, and to build its index."""

    def begin(self, command: Command, name: str, version: str = "") -> None:
        """Begin to build, check, audit, roll back or remove."""

    def job(self) -> Job | None:
        """Return the last job; None if there never was one."""

    def stop(self) -> None:
        """End the job that runs; what was there before it is whole."""

    def feedback(self) -> Mapping[str, Mapping[FeedbackReason, int]] | None:
        """Return index -> reason -> words; None where none is kept."""

    def said(self, name: str) -> Sequence[SaidQuestion]:
        """Return the annotated questions that come of what people said of an index."""

    def measure(self, name: str, accepted: Sequence[SaidQuestion]) -> None:
        """Begin to measure what an index gains that learns from these questions too."""

    def lines(self, accepted: Sequence[SaidQuestion]) -> str:
        """Return questions as `import --option questions=FILE` reads them."""
