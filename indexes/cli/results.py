"""The result file of an index: made from what `python -m training.eval` measured, read for the page."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from indexes.build.learned_fusion import read_ranker
from indexes.store.atomic import replacing
from indexes.store.manifest import read as read_manifest
from indexes.store.paths import BUILTIN, command, locate
from rag.corpus.quality import QualityResults, ReliabilityBin, SystemQuality, Topic, TopicRate
from rag.errors import BadInput, StaleIndex

# Beside the versions of an index, as what a version holds is stamped when it is built; what was measured
# names the corpus that it was measured on.
FILE = "results.json"
FIRST_TEN = "Success@10"
_CURE = "give metrics.json of python -m training.eval --output DIR"


def read_results(index: str | Path | None = None) -> QualityResults | None:
    """Return the stored measurements of an index, or None; BadInput says that they cannot be read."""
    folder, _ = locate(index)
    path = folder.with_name(FILE)
    try:
        return QualityResults.from_json(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{path} cannot be read ({error}): run {command('results NAME FILE')}") from error


def install(
    index: str,
    file: Path,
    confidence: Path | None = None,
    system: str | None = None,
    output: Path | None = None,
) -> Path:
    """Put what was measured beside an index, and return where.

    Args:
        index: its name, or the path of its folder.
        file: metrics.json of `python -m training.eval --output`.
        confidence: the report that `python -m training.confidence --output` wrote, where there is one.
        system: the one that the page answers with; else what the index has.
        output: write there instead.

    Raises:
        BadInput: a file is none of these, or the index that ships was meant and no output is given.
        StaleIndex: it was measured on another corpus than the index holds.
    """
    folder, cure = locate(index)
    if output is None and index == BUILTIN:
        raise BadInput("the index that ships is only read: give --output FILE")
    sha256 = read_manifest(folder, cure).corpus["sha256"]
    record = _record(file)
    learned = read_ranker(folder) is not None and "learned" in record["systems"]
    chosen = system or ("learned" if learned else "hybrid")
    sure = _record(confidence) if confidence is not None else None
    measured = compact(record, chosen, sure, str(file))
    for what, path in ((record, file), (sure, confidence)):
        found = what["corpus"]["sha256"] if what is not None else sha256
        if found != sha256:
            raise StaleIndex(
                f"{path} was measured on corpus {found[:8]}…, {index} holds {sha256[:8]}…: measure it again, "
                f"python -m training.eval --corpus {folder / 'corpus'} --output DIR"
            )
    place = output or folder.with_name(FILE)
    with replacing(place) as part:
        part.write_text(measured.to_json(), encoding="utf-8")
    return place


def _record(path: Path) -> dict[str, Any]:
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(record, dict) and isinstance(record["corpus"]["sha256"], str):
            return record
    except (OSError, ValueError) as error:
        raise BadInput(f"{path}: {error}: {_CURE}") from error
    except (KeyError, TypeError) as error:
        raise BadInput(f"{path}: it does not say what corpus was measured: {_CURE}") from error
    raise BadInput(f"{path}: an object was expected: {_CURE}")


def compact(
    record: Mapping[str, Any],
    answers_with: str,
    confidence: Mapping[str, Any] | None = None,
    where: str = "results",
) -> QualityResults:
    """Return what a page tells of a record of `python -m training.eval`, and of one of `training.confidence`.

    `answers_with` is the system that the page answers with; `where` begins the errors.

    Raises:
        BadInput: an entry is missing or of another kind.
    """
    try:
        systems = {}
        for name, found in record["systems"].items():
            values = {key: value for key, value in found.items() if isinstance(value, Mapping)}
            rates = {
                key: TopicRate(value["value"], value["low"], value["high"])
                for key, value in values.items()
                if {"value", "low", "high"} <= set(value)
            }
            took = found["ms_per_question"]
            systems[name] = SystemQuality(rates, took["median"], took["p95"])
        if answers_with not in systems:
            raise BadInput(f"{where}: no system {answers_with!r}; give --system, one of {', '.join(systems)}")
        groups = record["systems"][answers_with]["by_category"]
        topics = {
            name: Topic(int(found["questions"]), round(found[FIRST_TEN] * found["questions"]))
            for name, found in groups.items()
            if FIRST_TEN in found and found["questions"]
        }
        bins = confidence["confidence"]["test"]["reliability"] if confidence is not None else ()
        return QualityResults(
            corpus_sha256=record["corpus"]["sha256"],
            questions=record["questions"],
            answers_with=answers_with,
            systems=systems,
            topics=topics,
            reliability=tuple(ReliabilityBin(**found) for found in bins if found["questions"]),
            learnt_from=record.get("learnt_from"),
            command=record.get("command", ""),
        )
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise BadInput(f"{where}: {error!r}: {_CURE}") from error
