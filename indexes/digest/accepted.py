"""Findings that were re-read and accepted, each with its reason; they ship beside the summaries.

`accepted.json` is a list of records: article, kind and detail of the finding, the reason, and of
which summary it was said (`fingerprint`). An acceptance lapses when the summary changes; one that
fits no finding has to be taken out.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from indexes.digest.finding import KINDS, Finding
from rag.errors import BadInput

FILE = "accepted.json"
_KEYS = ("article", "kind", "detail", "summary", "reason")
_DIGITS = 12  # of the hash: enough for some thousand summaries, and short in a diff


@dataclass(frozen=True, slots=True)
class Acceptance:
    """A finding that somebody re-read and found to be no fault of the summary."""

    finding: Finding
    summary: str  # fingerprint of the summary that was re-read
    reason: str


@dataclass(frozen=True, slots=True)
class AcceptedFindings:
    """Findings beside those that were accepted before."""

    left: tuple[Finding, ...]  # neither mended nor accepted
    accepted: tuple[Acceptance, ...]
    lapsed: tuple[Acceptance, ...]  # the finding is there, the summary is another: it is left too
    unfit: tuple[Acceptance, ...]  # no such finding

    @property
    def clean(self) -> bool:
        """Whether nothing is left to do."""
        return not (self.left or self.unfit)


def fingerprint(summary: str) -> str:
    """Return what tells a summary from any other: the first 12 hexadecimal digits of its SHA-256."""
    return hashlib.sha256(summary.encode("utf-8")).hexdigest()[:_DIGITS]


def settle(
    findings: Sequence[Finding], accepted: Iterable[Acceptance], summaries: Mapping[str, str]
) -> AcceptedFindings:
    """Part the findings of all summaries (article id -> text) into the accepted and those left."""
    current = frozenset(findings)
    prints = {number: fingerprint(text) for number, text in summaries.items()}
    good, lapsed, unfit = list[Acceptance](), list[Acceptance](), list[Acceptance]()
    for each in accepted:
        if each.finding not in current:
            unfit.append(each)
        elif prints.get(each.finding.article) == each.summary:
            good.append(each)
        else:
            lapsed.append(each)
    done = {each.finding for each in good}
    left = tuple(finding for finding in findings if finding not in done)
    return AcceptedFindings(left, tuple(good), tuple(lapsed), tuple(unfit))


def finding_record(finding: Finding, summary: str) -> dict[str, str]:
    """Return a record of `accepted.json`; whoever accepts the finding writes the reason into it."""
    return {**asdict(finding), "summary": fingerprint(summary), "reason": ""}


def read_accepted(path: Path) -> tuple[Acceptance, ...]:
    """Read what was accepted.

    Raises:
        BadInput: the file cannot be read, or a record cannot be used or stands there twice.
    """
    try:
        records = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BadInput(f"{path}: {error}. Write a list of records into it, [] if there are none.") from error
    if not isinstance(records, list):
        raise BadInput(f"{path}: {type(records).__name__} where a list of records was expected. Write [...].")
    read: dict[Finding, Acceptance] = {}
    for at, record in enumerate(records, start=1):
        one = _acceptance(record, f"{path}, record {at}")
        if one.finding in read:
            raise BadInput(f"{path}: {one.finding} is accepted twice. Remove one of the records.")
        read[one.finding] = one
    return tuple(read.values())


def _acceptance(record: object, place: str) -> Acceptance:
    if not isinstance(record, dict) or set(record) != set(_KEYS):
        raise BadInput(f"{place}: {record!r}. Give {', '.join(_KEYS)}, and nothing else.")
    for key in _KEYS:
        if not isinstance(record[key], str) or not record[key].strip():
            raise BadInput(f"{place}: {key} is {record[key]!r}. Give a text that is not empty.")
    if record["kind"] not in KINDS:
        raise BadInput(f"{place}: no kind {record['kind']!r}. Give one of: {', '.join(KINDS)}.")
    finding = Finding(record["article"], record["kind"], record["detail"])
    return Acceptance(finding, record["summary"], record["reason"])
