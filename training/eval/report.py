"""What an evaluation leaves behind: a table, a CSV, TREC runs, metrics.json, and notes on licences."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from indexes.corpus.corpus import Corpus, appearing
from indexes.formats.trec import write_qrels, write_run
from indexes.sources.source import read_adjacent_card
from indexes.store.manifest import machine
from rag.corpus.card import CorpusCard
from rag.corpus.licence import licence_of, provenance
from rag.engine.engine import Engine
from rag.types import Qrels, Question, Ranking, Run
from training.eval.run import Measured

METRICS, QRELS = "metrics.json", "qrels.txt"
LIBRARIES = (  # that a number may depend on, and our own
    "pandect-law", "bm25s", "faiss-cpu", "ir-measures", "lightgbm", "numpy", "PyStemmer", "rjieba", "scipy",
)  # fmt: skip


def table(results: Mapping[str, Measured], measures: Sequence[str]) -> str:
    """Return the table for people: percent, 95 % intervals below each row, folds where there are any."""
    width = max([len("R-precision"), *(len(m) for m in measures)]) + 2
    names = max(len(name) for name in results) + 2

    def line(name: str, cells: Iterable[str]) -> str:
        return name.ljust(names) + "".join(cell.rjust(width) for cell in cells)

    lines = [line("system", measures) + "   ms/question"]
    for name, result in results.items():
        shown = [result.measures[m] for m in measures]
        row = line(name, (f"{100 * i.value:.1f}" for i in shown))
        lines.append(f"{row}   {result.median_ms:.1f} (p95 {result.p95_ms:.1f})")
        lines.append(line("  95 % CI", (f"{100 * i.low:.1f}–{100 * i.high:.1f}" for i in shown)))
        if result.fold_means:
            folds = (result.fold_means[m] for m in measures)
            lines.append(line("  folds", (f"{100 * mean:.1f}±{100 * sd:.1f}" for mean, sd in folds)))
    return "\n".join(lines)


def record(  # noqa: PLR0913 - what a result file says, named
    results: Mapping[str, Measured],
    corpus: Corpus,
    *,
    command: Sequence[str],
    questions: int,
    unanswerable: int,
    seed: int,
    tuned_on: str | None,
    learnt_from: str | None,
) -> dict[str, Any]:
    """Return metrics.json: everything is a fraction, times are milliseconds."""
    return {
        **head(corpus, command=command, questions=questions, unanswerable=unanswerable, seed=seed),
        "tuned_on": tuned_on,
        "learnt_from": learnt_from,
        "systems": {name: _system(result) for name, result in results.items()},
    }


def head(
    corpus: Corpus, *, command: Sequence[str], questions: int, unanswerable: int, seed: int
) -> dict[str, Any]:
    """Return what every result file begins with: how it was made, and of what."""
    card = corpus.card
    versions = {"python": sys.version.split()[0]}
    for library in LIBRARIES:
        with suppress(PackageNotFoundError):
            versions[library.removesuffix("-law")] = version(library)
    return {
        "command": " ".join(command),
        "commit": commit(),
        "date": datetime.now(UTC).date().isoformat(),
        "machine": machine(),
        "corpus": {
            **provenance(card),
            "sha256": corpus.sha256,
            "articles": len(corpus.articles),
            "law_date": card.law_date.isoformat() if card.law_date else None,
        },
        "questions": questions,
        "unanswerable": unanswerable,
        "seed": seed,
        "versions": versions,
    }


def _system(result: Measured) -> dict[str, Any]:
    entry: dict[str, Any] = {}
    for name, i in result.measures.items():
        entry[name] = asdict(i)
        if name in result.fold_means:
            entry[name] |= dict(zip(("fold_mean", "fold_sd"), result.fold_means[name], strict=True))
        if name in result.versus:
            entry[name]["difference"] = asdict(result.versus[name])
    entry["by_category"] = dict(result.by_category)
    entry["ms_per_question"] = {"median": result.median_ms, "p95": result.p95_ms}
    return entry


def write(
    folder: Path,
    results: Mapping[str, Measured],
    entry: Mapping[str, Any],
    more: Callable[[Path], object] | None = None,
    qrels: Qrels | None = None,
) -> None:
    """Write metrics.json, metrics.csv, one TREC run a system and qrels.txt into a new folder, or nothing.

    The folder must not be there, or be empty; `more` writes what else belongs into it. With the judgements
    any tool that reads TREC's formats computes what metrics.json says.
    """
    with appearing(folder) as part:
        if more is not None:
            more(part)
        if qrels is not None:
            gold = {joined(q): sorted(map(joined, ids)) for q, ids in qrels.items() if ids}
            write_qrels(part / QRELS, gold)
        for name, result in results.items():
            write_run(part / f"{name.replace(':', '-')}.trec", spaceless(result.run), joined(name))
        with (part / "metrics.csv").open("w", encoding="utf-8", newline="") as file:
            rows = csv.writer(file)
            rows.writerow(("system", "measure", "value", "low", "high"))
            for name, result in results.items():
                rows.writerows((name, m, i.value, i.low, i.high) for m, i in result.measures.items())
        (part / METRICS).write_text(json.dumps(entry, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def spaceless(run: Run) -> Run:
    """Return the run with underscores for blanks in ids: blanks separate the columns of TREC's format."""
    return {
        joined(question): Ranking.of((joined(id_), score) for id_, score in ranking)
        for question, ranking in run.items()
    }


def joined(text: str) -> str:
    """Return an id as TREC's columns hold it: with underscores for blanks."""
    return "_".join(text.split())


def commit() -> str | None:
    """Return the commit that is checked out, with "+" where files differ from it; None outside of git."""
    root = Path(__file__).parents[2]
    if not (root / ".git").exists():  # an installed wheel inside somebody else's repository
        return None

    def git(*arguments: str) -> str:
        command = ["git", "-C", str(root), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()  # noqa: S603

    try:
        changed = git("status", "--porcelain", "--untracked-files=no")
        return git("rev-parse", "HEAD") + ("+" if changed else "")
    except (OSError, subprocess.CalledProcessError):
        return None


def notices(engine: Engine, questions: Sequence[Question]) -> dict[str, dict[str, int]]:
    """Return kind -> how many "questions", and how many of them are "told" that another law governs them.

    A question with gold articles is "answerable", another one of its category.
    """
    counts: dict[str, dict[str, int]] = {}
    for question in questions:
        kind = "answerable" if question.article_ids else question.category or "unanswerable"
        row = counts.setdefault(kind, {"questions": 0, "told": 0})
        row["questions"] += 1
        row["told"] += bool(engine.ask(question.text, k=1).elsewhere)
    return counts


def question_cards(corpus: CorpusCard, files: Sequence[Path | None] = ()) -> tuple[CorpusCard, ...]:
    """Return the card of the corpus, then those that lie beside files of questions, each once.

    Raises:
        BadInput: a card cannot be read.
    """
    cards = [read_adjacent_card(file) for file in files if file is not None and file.exists()]
    return tuple(dict.fromkeys([corpus, *filter(None, cards)]))


def warnings(cards: Sequence[CorpusCard]) -> list[str]:
    """Return a line for each source that is non-commercial or comes without a grant."""
    found = ((card.name, licence_of(card)) for card in cards)
    return [f"licence of {name}: {of.named}. {of.plain}" for name, of in found if of.restricted]
