"""What several trainings of one kind come to: mean and spread, intervals over questions, the best on dev."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from indexes.describing.significance import interval
from indexes.store.atomic import replacing
from training.eval.report import METRICS
from training.neural.recipe.settings import Recipe

BEFORE_TRAINING = "before training"
NONE_CHOSEN = "no dev questions, none chosen"
VALUES = "values.json"  # of a result: every measure of every question that was held back
FACTS = (
    "parameters", "steps", "training seconds", "processor seconds of training",
    "processor seconds of indexing", "indexing ms an article", "index bytes", "active terms",
    "active terms before the cut", "active terms of a question", "peak memory bytes",
)  # fmt: skip
_SEED = 42  # of the bootstrap


def question_values(questions: Sequence[str], measured: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return what a result keeps of each question, for intervals over several trainings."""
    return {
        "questions": list(questions),
        "values": {
            system: {measure: [float(v) for v in row] for measure, row in rows.items()}
            for system, rows in measured.items()
        },
    }


def read_entries(folder: Path, made: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return metrics.json of trainings by name; "" is the folder itself."""
    return {name: json.loads((folder / name / METRICS).read_text(encoding="utf-8")) for name in made}


def spread(entries: Mapping[str, Mapping[str, Any]], system: str) -> dict[str, dict[str, float]]:
    """Return mean and standard deviation over trainings by measure; 0 is the deviation of one alone."""
    rows = [entry["systems"].get(system) for entry in entries.values()]
    found: dict[str, dict[str, float]] = {}
    for measure in rows[0] or {} if all(rows) else {}:
        values = [row[measure]["value"] for row in rows if "value" in row.get(measure, {})]
        if len(values) == len(rows):
            deviation = float(np.std(values, ddof=1)) if len(values) > 1 else 0.0
            found[measure] = {"mean": float(np.mean(values)), "sd": deviation}
    return found


def chosen(entries: Mapping[str, Mapping[str, Any]], measure: str, recipe: str) -> dict[str, Any]:
    """Return which training did best on its dev questions, by what it was chosen, and what it measures.

    The trained system stands under the recipe's name. None is chosen where one had no dev questions.
    """
    of_dev = {name: entry["facts"][f"dev {measure}"] for name, entry in entries.items()}
    best = None if None in of_dev.values() else max(of_dev, key=lambda name: of_dev[name])
    return {
        "training": best,
        "chosen by": f"dev {measure}" if best is not None else NONE_CHOSEN,
        "after": {} if best is None else entries[best]["systems"].get(recipe, {}),
    }


def summary_row(name: str, folder: Path, made: Sequence[str], recipe: str, dev: str) -> dict[str, Any]:
    """Return a row of a table: all that several trainings of one recipe come to.

    They lie in the folder under the names `made`, [""] where it is the only one; dev questions were judged
    by the measure `dev`.
    """
    entries = read_entries(folder, made)
    any_ = next(iter(entries.values()))
    after, untrained = _by_question(folder, made, recipe), _by_question(folder, made, BEFORE_TRAINING)
    systems = [entry["systems"] for entry in entries.values() if entry["systems"]]
    return {
        "name": name,
        "recipe": recipe,
        "trainings": len(made),
        "commit": any_["commit"],
        "command": any_["command"],
        "questions": len(next(iter(after.values()))) if after else 0,
        "before": spread(entries, BEFORE_TRAINING),
        "after": spread(entries, recipe),
        "interval": {m: _interval(list(rows.values())) for m, rows in after.items()},
        "gain": {m: _interval([v - untrained[m][q] for q, v in rows.items()]) for m, rows in after.items()},
        "best on dev": chosen(entries, dev, recipe),
        "facts": {key: _mean([entry["facts"].get(key) for entry in entries.values()]) for key in FACTS},
        "ms_per_question": _mean([one[recipe]["ms_per_question"]["median"] for one in systems]),
        "device": any_["facts"]["device"],
        "corpus": any_["corpus"]["name"],
        "articles": any_["corpus"]["articles"],
    }


def difference(
    folder: Path, first: tuple[str, Sequence[str], str], second: tuple[str, Sequence[str], str]
) -> dict[str, Any]:
    """Return what one row of a sweep gains over another, by measure, paired by question.

    Of each it takes the folder inside the sweep's, its trainings, and its recipe.
    """
    ours, theirs = (_by_question(folder / at, made, recipe) for at, made, recipe in (first, second))
    return {
        measure: _interval([v - theirs[measure][q] for q, v in rows.items() if q in theirs[measure]])
        for measure, rows in ours.items()
        if set(rows) & set(theirs.get(measure, ()))
    }


def _by_question(folder: Path, made: Sequence[str], system: str) -> dict[str, dict[str, float]]:
    """Return measure -> question -> mean over the trainings that were asked it."""
    gathered: dict[str, dict[str, list[float]]] = {}
    for name in made:
        one = json.loads((folder / name / VALUES).read_text(encoding="utf-8"))
        for measure, row in one["values"].get(system, {}).items():
            for question, value in zip(one["questions"], row, strict=True):
                gathered.setdefault(measure, {}).setdefault(question, []).append(value)
    return {m: {q: float(np.mean(v)) for q, v in rows.items()} for m, rows in gathered.items()}


def _interval(values: Sequence[float]) -> dict[str, float]:
    found = interval(np.array(values), _SEED)
    return {"value": found.value, "low": found.low, "high": found.high}


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known and len(known) == len(values) else None


def write_summary(folder: Path, made: Sequence[str], recipe: Recipe) -> str:
    """Write and tell mean and spread over folds and seeds, and which did best on its dev questions."""
    entries = read_entries(folder, made)
    dev = recipe.evaluation.measure
    best = chosen(entries, dev, recipe.name)
    spreads = {system: spread(entries, system) for system in (BEFORE_TRAINING, recipe.name)}
    record = {
        "trainings": list(made),
        "mean and sd over them": {system: found for system, found in spreads.items() if found},
        "best on dev": best,
    }
    write_json(folder / "summary.json", record)
    lines = [f"mean ± sd over {len(made)} trainings:"]
    for system, measures in spreads.items():
        cells = [f"{m} {100 * v['mean']:.1f}±{100 * v['sd']:.1f}" for m, v in measures.items()]
        lines += [f"  {system}: {', '.join(cells)}"] if cells else []
    cells = [f"{m} {100 * v['value']:.1f}" for m, v in best["after"].items() if "value" in v]
    reached = f"{best['training']} ({best['chosen by']}): {', '.join(cells) or 'nothing was held back'}"
    lines.append(f"best on dev: {best['chosen by'] if best['training'] is None else reached}")
    return "\n".join([*lines, f"written: {folder / 'summary.json'}"])


def write_json(path: Path, record: Mapping[str, Any]) -> None:
    """Write a JSON file, whole or not at all."""
    with replacing(path) as part:
        part.write_text(json.dumps(record, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
