"""The tables of trainings: what they learnt and cost, and what was published beside what we measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from training.tables.markdown import percent, points, span, table

_LEARNT = "R@100"  # by which a system is seen to learn
_SHOWN = (_LEARNT, "R@10", "MRR@10")
_UNCUT = "active terms before the cut"  # of an article, which an index keeps the heaviest of
_TERMS = ("active terms of a question", "active terms")  # the latter of an article


def trained(entry: Mapping[str, Any]) -> str:
    """Return what each system of a sweep learnt: before, after with intervals over questions and spread."""
    names = ["system", f"{_LEARNT} untrained", *_SHOWN, f"gain in {_LEARNT}"]
    rows = []
    for one in entry["rows"]:
        if _LEARNT not in one["after"]:
            continue
        cells = [f"`{one['name']}`", f"{100 * one['before'][_LEARNT]['mean']:.1f}"]
        cells += [f"{_spread(one['after'][m])} ({span(one['interval'][m])})" for m in _SHOWN]
        chosen = _chosen(one["best on dev"]) if one["trainings"] > 1 else ""
        rows.append([*cells, points(one["gain"][_LEARNT]), f"{one['trainings']}{chosen}"])
    return table([*names, f"trainings; {_LEARNT} of the best on dev"], rows)


def _chosen(best: Mapping[str, Any]) -> str:
    """Return which seed did best on its dev questions, and what it reaches; folds are no choice."""
    if best["training"] is None:
        return "; no dev questions"
    if "fold" in best["training"]:
        return ", a fold each"
    return f"; {best['training']}: {100 * best['after'][_LEARNT]['value']:.1f}"


def costs(entry: Mapping[str, Any]) -> str:
    """Return what each system costs: parameters, training, index, a question; means over seeds.

    A clock also shows what else the machine did; processor time is there where a training had one sitting.
    Terms have a column where a system has some (SPLADE).
    """
    names = ["system", "parameters", "steps", "training, s", "of them on the processor"]
    names += ["index, MB", "indexing, processor ms an article", "ms a question"]
    terms = any(one["facts"].get(_TERMS[1]) is not None for one in entry["rows"])
    names += ["active terms, question / article"] if terms else []
    rows = []
    for one in entry["rows"]:
        facts = one["facts"]
        indexing = facts["processor seconds of indexing"]
        cells = [f"`{one['name']}`", f"{facts['parameters']:,.0f}", f"{facts['steps']:.0f}"]
        cells += [f"{facts['training seconds']:.0f}", _number(facts["processor seconds of training"])]
        cells += [_number(facts["index bytes"], 1e-6), _number(indexing, 1000 / one["articles"])]
        cells.append(_number(one["ms_per_question"]))
        rows.append([*cells, _terms(facts)] if terms else cells)
    return table(names, rows)


def _terms(facts: Mapping[str, Any]) -> str:
    """Return the active terms of a question and of an article; a dash for a system that has none."""
    cells = [_number(facts.get(key)) for key in _TERMS]
    if cells[1] == "–":
        return "–"
    uncut = facts.get(_UNCUT)
    return " / ".join(cells) + ("" if uncut is None else f" of {_number(uncut)}")


def gains(entry: Mapping[str, Any]) -> str:
    """Return what each training of a sweep adds to what it began with, paired by question, in points.

    The first row is what they all began with, in percent.
    """
    measures = [m for m in entry["measures"] if all(m in one["before"] for one in entry["rows"])]
    began = [f"{100 * entry['rows'][0]['before'][m]['mean']:.1f}" for m in measures] if entry["rows"] else []
    rows = [
        ["before training", *began],
        *([one["name"], *(points(one["gain"][m]) for m in measures)] for one in entry["rows"]),
    ]
    return table(["training", *measures], rows)


def sweep_table(entry: Mapping[str, Any]) -> str:
    """Return the measures of a sweep in percent, ours and what was published beside, and what is compared."""
    measures = entry["measures"]
    printed = [m for m in measures if any(m in one["published"] for one in entry["rows"])]
    rows = []
    for one in entry["rows"]:
        cells = [_spread(one["after"].get(m)) for m in measures]
        cells += [f"{one['published'][m]:.1f}" if m in one["published"] else "–" for m in printed]
        rows.append([one["name"], *cells])
    if "compared" in entry:
        made = entry["compared"]
        cells = [points(made["difference"].get(m)) for m in measures]
        published = {one["name"]: one["published"] for one in entry["rows"]}
        first, second = published[made["first"]], published[made["second"]]
        known = [f"{first[m] - second[m]:+.1f}" if m in first and m in second else "–" for m in printed]
        rows.append([f"{made['first']} − {made['second']}", *cells, *known])
    return table(["training", *measures, *(f"{m}, *published*" for m in printed)], rows)


def systems_table(entry: Mapping[str, Any], measures: Sequence[str]) -> str:
    """Return the measures of a sweep's systems in percent, with 95 % intervals, beside what was published.

    A published row stands below the system that is the same, the others at the end; how they were measured
    is said below the table.
    """
    rows, published = list[list[str]](), entry["published"]
    for name, measured in entry["systems"].items():
        rows.append([f"`{name}`", *(percent(measured.get(m)) for m in measures)])
        rows += [_printed(one, measures) for one in published if one["beside"] == name]
    rows += [_printed(one, measures) for one in published if one["beside"] not in entry["systems"]]
    said = dict.fromkeys(f"*published* in {one['paper']}: {one['protocol']}" for one in published)
    said[f"ours: {entry['questions']} questions, one training each; fusions: {entry['tuned_on']}"] = None
    return "\n".join([table(["system", *measures], rows), *said])


def _printed(one: Mapping[str, Any], measures: Sequence[str]) -> list[str]:
    values = one["values"]
    cells = [f"{values[m]:.1f}" if m in values else "–" for m in measures]
    return [f"{one['name']}, *published* ({one['paper']})", *cells]


def _spread(found: Mapping[str, float] | None) -> str:
    if found is None:
        return "–"
    return f"{100 * found['mean']:.1f}" + (f" ± {100 * found['sd']:.1f}" if found["sd"] else "")


def _number(value: float | None, unit: float = 1.0) -> str:
    return "–" if value is None else f"{unit * value:.1f}"
