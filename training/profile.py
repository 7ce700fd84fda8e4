"""`python -m training.profile`: how questions are asked: written ones against those of real people.

JuriFindIT compares its experts' questions with its synthetic ones by a linguistic profile; this is ours, of
what can be counted without a parser. Each measure is a mean over questions with its standard deviation.
Beside it stands, for all sets but the first, how far it lies from the first in units of the pooled standard
deviation of the two (Cohen's d), so that measures can be compared with each other.
"""

from __future__ import annotations

import argparse
import json
import logging
import math
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from indexes.cli.terminal import guarded
from indexes.corpus.corpus import read
from indexes.sources import registry
from indexes.store import paths
from rag.errors import BadInput
from training.eval.questions import cited
from training.synthetic.profile import MEASURES, WINDOW, Profile, Values, effect, profile
from training.tables.markdown import row

EPILOG = """\
examples
  the questions that ship and those that a model wrote, against real ones:
    python -m training.profile --corpus law real=real.jsonl ours=builtin model=synthetic.jsonl
"""


def table(profiles: Sequence[Profile]) -> str:
    """Return the profiles as a table of Markdown; the others are compared with the first."""
    first, *others = profiles
    heads = [f"{first.name} ({first.questions:,})"]
    variety = [_number(first.variety)]
    for other in others:
        heads += [f"{other.name} ({other.questions:,})", "d"]
        variety += [_number(other.variety), ""]
    rows = [["measure", *heads], ["---"] * (len(heads) + 1)]
    for measure in MEASURES:
        cells = [_mean(first.values[measure])]
        for other in others:
            d = effect(first.values[measure], other.values[measure])
            cells += [_mean(other.values[measure]), "–" if math.isnan(d) else f"{d:+.2f}"]
        rows.append([measure, *cells])
    rows.append([f"type-token ratio, windows of {WINDOW}", *variety])
    return "\n".join(map(row, rows))


def to_json(profiles: Sequence[Profile]) -> list[dict[str, Any]]:
    """Return the profiles as JSON holds them: mean, standard deviation, and d against the first."""
    first, sets = profiles[0], []
    for p in profiles:
        measures = {}
        for name, values in p.values.items():
            mean, deviation = _moments(values)
            measures[name] = {"mean": _plain(mean), "sd": _plain(deviation)}
            if p is not first:
                measures[name]["d"] = _plain(effect(first.values[name], values))
        ratio = _plain(p.variety)
        sets.append(
            {"name": p.name, "questions": p.questions, "type_token_ratio": ratio, "measures": measures}
        )
    return sets


def _moments(values: Values) -> tuple[float, float]:
    known = values[~np.isnan(values)]
    return (float(np.mean(known)), float(np.std(known))) if len(known) else (math.nan, math.nan)


def _plain(value: float) -> float | None:
    return None if math.isnan(value) else round(value, 6)


def _mean(values: Values) -> str:
    mean, deviation = _moments(values)
    return "–" if math.isnan(mean) else f"{_number(mean)} ± {_number(deviation)}"


def _number(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


@guarded
def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table, and write it."""
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    typed = list(sys.argv[1:] if arguments is None else arguments)
    _run(typed)
    return 0


def _run(typed: Sequence[str]) -> None:
    top = argparse.ArgumentParser(
        prog="python -m training.profile",
        description="Compare how sets of questions are asked; the first is what the others are held against.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("sets", nargs="+", metavar="NAME=FILE", help="questions; builtin for those that ship")
    top.add_argument("--corpus", type=Path, help="with the articles that they cite (the one that ships)")
    top.add_argument("--language", metavar="XX", help="of a corpus without card.json")
    top.add_argument("--output", type=Path, metavar="FILE", help="a new file of JSON")
    parsed = top.parse_args(typed)
    if parsed.output is not None and parsed.output.exists():
        raise BadInput(f"{parsed.output} is there already: remove it or give another --output")
    if parsed.corpus is None:
        corpus = read(paths.builtin() / "corpus")
    else:
        corpus = registry.law(parsed.corpus, language=parsed.language)
    articles = {a.id: a for a in corpus.articles}
    profiles = []
    for given in parsed.sets:
        name, sign, place = given.partition("=")
        if not sign or not name or not place:
            raise BadInput(f"{given}: expected NAME=FILE, such as real=questions_dev.jsonl, or NAME=builtin")
        if place != paths.BUILTIN and not Path(place).is_file():
            raise BadInput(f"{place} does not exist: give a file of questions, or {paths.BUILTIN}")
        questions = cited(Path(place), corpus.articles)
        profiles.append(profile(name, questions, articles, corpus.card.language))
    print(table(profiles))
    if parsed.output is not None:
        entry = {
            "kind": "profile of questions",
            "command": shlex.join(["python", "-m", "training.profile", *typed]),
            "corpus_sha256": corpus.sha256,
            "sets": to_json(profiles),
        }
        text = json.dumps(entry, ensure_ascii=False, indent=1) + "\n"
        parsed.output.write_text(text, encoding="utf-8")
        print(f"written: {parsed.output}")


if __name__ == "__main__":
    sys.exit(main())
