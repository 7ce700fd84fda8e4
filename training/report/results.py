"""Our result files as a report reads them: systems with their values, and how they were measured."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any

from indexes.formats.trec import judgements, read_run
from indexes.formats.validation import Inspection
from rag.errors import BadInput
from rag.types import Qrels, Run
from training.eval.report import METRICS, QRELS, joined

KINDS = ("retrieval", "sweep", "answers", "efficiency")  # of result files; the first has no "kind"


@dataclass(frozen=True)
class OurResult:
    """One result file: its systems by name, each with values; scores are fractions."""

    path: Path
    kind: str
    entry: Mapping[str, Any] = field(repr=False)
    systems: Mapping[str, Mapping[str, float]] = field(repr=False)
    corpus: str  # its name
    articles: int | None

    @property
    def machine(self) -> str:
        """What its times were measured on."""
        return str(self.entry.get("machine") or "machine not recorded")

    @property
    def note(self) -> str:
        """The line that says of which corpus, when and by which command its numbers are."""
        count = f" of {self.articles:,} articles" if self.articles else ""
        when = self.entry.get("date") or "date not recorded"
        commit = f", commit {str(self.entry['commit'])[:12]}" if self.entry.get("commit") else ""
        asked = f", {self.entry['questions']} questions" if "questions" in self.entry else ""
        command = self.entry.get("command", "not recorded")
        return f"corpus {self.corpus}{count}{asked}; {when}{commit}; {self.machine}; {command}"

    @cached_property
    def qrels(self) -> Qrels:
        """The judgements beside the file; empty where there are none."""
        file = self.path.parent / QRELS
        found: dict[str, set[str]] = {}
        for _, of in judgements(file, Inspection()) if file.is_file() else ():
            found.setdefault(of.question_id, set()).update([of.article_id] if of.grade > 0 else [])
        return {question: frozenset(gold) for question, gold in found.items()}

    @cached_property
    def runs(self) -> Mapping[str, Run]:
        """The runs beside the file, by system; none without judgements."""
        files = {name: self.path.parent / f"{name.replace(':', '-')}.trec" for name in self.systems}
        return {name: read_run(file) for name, file in files.items() if self.qrels and file.is_file()}

    def best(self, measure: str, most: int = 5) -> list[str]:
        """Return the systems that are best by a measure, best first."""
        known = [name for name, of in self.systems.items() if measure in of]
        return sorted(known, key=lambda name: -self.systems[name][measure])[:most]


def read(path: Path) -> list[OurResult]:
    """Read a result file, or the one of a folder; a sweep over several corpora gives one result for each.

    Raises:
        BadInput: it cannot be read, or is a result of another kind.
    """
    file = path / METRICS if path.is_dir() else path
    try:
        entry = json.loads(file.read_text(encoding="utf-8"))
        kind = entry.get("kind", "retrieval")
        if kind == "sweep":
            return _sweep(file, entry)
        systems = {name: _values(kind, of) for name, of in entry["systems"].items()} if kind in KINDS else {}
        if not any(systems.values()):
            raise BadInput(f"{file} is a result of {kind}: a report takes those of {', '.join(KINDS)}")
        corpus = entry["corpus"]
        return [OurResult(file, kind, entry, systems, corpus["name"], corpus.get("articles"))]
    except BadInput:
        raise
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        cure = f"give {METRICS} of training.eval --output, or the folder that holds it"
        raise BadInput(f"{file} is no result file ({type(error).__name__}: {error}): {cure}") from error


def _values(kind: str, of: Mapping[str, Any]) -> Mapping[str, float]:
    if kind == "efficiency":
        return {
            **of["measures"], "index_mb": of["index_bytes"] / 1e6, "ratio": of["ratio"], "flops": of["flops"],
            **_latency(of["core_ms"][0]),
        }  # fmt: skip
    measured = {
        name: value["value"]
        for name, value in of.items()
        if isinstance(value, dict) and value.get("value") is not None
    }
    took = (of.get("ms_per_question") or {}).get("median")
    return {**measured, **(_latency(took) if kind == "retrieval" and took is not None else {})}


def _latency(ms: float) -> Mapping[str, float]:
    return {"latency_ms": ms, "latency_cpu_s": ms / 1000}


def _sweep(file: Path, entry: Mapping[str, Any]) -> list[OurResult]:
    corpora: dict[str, dict[str, Mapping[str, float]]] = {}
    for of in entry["rows"]:
        after = {measure: value["mean"] for measure, value in of["after"].items()}
        size = of["facts"].get("index bytes")
        corpora.setdefault(of["corpus"], {})[of["name"]] = after | ({"index_mb": size / 1e6} if size else {})
    articles = {of["corpus"]: of.get("articles") for of in entry["rows"]}
    return [OurResult(file, "sweep", entry, s, name, articles[name]) for name, s in corpora.items()]


def spelt(ids: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what belongs to each id by the id as a run spells it."""
    return MappingProxyType({joined(id_): of for id_, of in ids.items()})
