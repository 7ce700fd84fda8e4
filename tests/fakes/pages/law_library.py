"""A library of law in memory: it does at once what it is told, and remembers it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date

import streamlit as st

from rag.errors import BadInput
from rag.feedback import FeedbackReason
from rag.library import (
    AuditFinding,
    AuditKind,
    Command,
    ImportRequest,
    InstalledLaw,
    InstalledVersion,
    Job,
    JobState,
    SaidQuestion,
)
from rag.types import Question
from rag.ui.pages.law import access

PASSWORD = "a fake password"  # noqa: S105
VERSIONS = (
    InstalledVersion("20261102", False, 2889, "3 changed"),
    InstalledVersion("20261101", True, 2880),
    InstalledVersion("20261001", False),
)
DAYS = (date(2025, 1, 1), date(2026, 1, 1))
POND = InstalledLaw("mare", "Le <b>droit</b> de la mare", DAYS, "CC0-1.0", 2889, 5, size=12_345_678)
AUDIT = (
    AuditFinding(AuditKind.TEXTLESS, False, 12, 0.004, examples=("m-7", "m-9")),
    AuditFinding(AuditKind.TERMLESS, True, 1, 0.0003, examples=("m-3",)),
    AuditFinding(AuditKind.UNREAD, False, share=0.29),
    AuditFinding(AuditKind.FOREIGN, True, share=0.4),
    AuditFinding(AuditKind.STRANGERS, count=230, share=0.12),
    AuditFinding(AuditKind.EXPECTED, share=0.69, error=0.133),
    AuditFinding(AuditKind.EXPECTED_RECALL, share=0.61, error=0.16),
    AuditFinding(AuditKind.DOUBT, count=200, share=0.046),
)
LAWS = (
    InstalledLaw("builtin", "Le droit de tous", DAYS[1:], "CC0-1.0", 30, 2, "fitted", size=9, shipped=True),
    replace(POND, learned=True, versions=VERSIONS, audit=AUDIT),
    InstalledLaw("neuf", "Le droit neuf", built=False),
    InstalledLaw("usagé", problem="/srv/x/manifest.json is missing: run python -m indexes build x"),
)
SAID = (
    SaidQuestion(Question("feedback-1", "Puis-je pêcher ?", ("m-1",), "feedback"), ("m-2",)),
    SaidQuestion(Question("feedback-2", "Et nager ?", ("m-2",), "feedback")),
)
PREVIEW = "[m-1] Code de la mare\nLa pêche est <b>permise</b>."
GAIN = "150 questions\n  R@10  0.701 -> 0.744   +0.044 [+0.018, +0.074]"
UNMAPPED = "law.csv:1: no column id, code; the columns are: nr, loi, text."
JOBS = {
    "running": Job(Command.BUILD, "mare", JobState.RUNNING, "encoding: 40%", "encoding", 0.4),
    "previewed": Job(Command.PREVIEW, "mare", JobState.DONE, PREVIEW),
    "unmapped": Job(Command.PREVIEW, "mare", JobState.FAILED, f"error: {UNMAPPED}"),
    "failed": Job(Command.IMPORT, "mare", JobState.FAILED, "error: law.csv:3: no text"),
    "gained": Job(Command.GAIN, "mare", JobState.DONE, GAIN),
    "stopped": Job(Command.BUILD, "mare", JobState.STOPPED, ""),
}


@dataclass
class FakeLibrary:
    """What the page may ask of a library."""

    now: Job | None = None
    laws: Sequence[InstalledLaw] = LAWS
    kept: bool = True  # what people say
    done: list[tuple[object, ...]] = field(default_factory=list)

    def installed(self) -> Sequence[InstalledLaw]:
        return self.laws

    def opened(self) -> str:
        return "mare"

    def may_open(self) -> bool:
        return self.kept

    def open(self, name: str) -> None:
        self.done.append(("open", name))

    def columns(self, path: str, sha256: str = "") -> Sequence[str]:
        fetched = self.now is not None and bool(sha256 or path.startswith("hf:"))
        there = path.endswith(".csv") and ("://" not in path or fetched)
        return ("nr", "loi", "text") if there else ()

    def upload(self, name: str, content: bytes) -> str:
        return f"/upload/{name}"

    def preview(self, request: ImportRequest) -> None:
        if not request.name:
            raise BadInput("'' cannot name a corpus")
        self.done.append((request,))

    def install(self, number: int) -> None:
        self.done.append(("install",))

    def begin(self, command: Command, name: str, version: str = "") -> None:
        self.done.append((command, name, version))

    def job(self) -> Job | None:
        return self.now

    def stop(self) -> None:
        self.now = JOBS["stopped"]

    def feedback(self) -> Mapping[str, Mapping[FeedbackReason, int]] | None:
        counts = {FeedbackReason.ANSWERS: 3, FeedbackReason.WRONG_ARTICLE: 1}
        return {"mare": counts} if self.kept else None

    def said(self, name: str) -> Sequence[SaidQuestion]:
        return list(SAID)

    def measure(self, name: str, accepted: Sequence[SaidQuestion]) -> None:
        self.done.append((Command.GAIN, name, tuple(accepted)))

    def lines(self, accepted: Sequence[SaidQuestion]) -> str:
        return "\n".join(each.question.text for each in accepted)


def of_address() -> FakeLibrary:
    """The library that an address names, seen by somebody who has logged in, or by nobody: "login"."""
    os.environ[access.PASSWORD] = PASSWORD
    name = st.query_params.get("library", "")
    if name != "login":
        st.session_state["operator"] = access._hash(PASSWORD)
    return FakeLibrary(None, LAWS[:1], kept=False) if name == "new" else FakeLibrary(JOBS.get(name))
