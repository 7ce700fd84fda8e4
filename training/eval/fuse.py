"""`python -m training.eval fuse`: when fusing helps, on a law and questions of one's own.

Every combination of the systems by Borda, reciprocal rank and scores normalised three ways, with equal and
tuned weights; and how the systems complement each other. After Louis, van Dijck & Spanakis, "Know When to
Fuse" (2024).
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from indexes.cli.progress import Bars
from indexes.corpus.corpus import Corpus, appearing
from indexes.corpus.folds import folds
from indexes.describing.significance import compare, interval
from indexes.store import paths
from rag.errors import BadInput
from rag.types import Qrels, Question, Retriever
from training.eval import report
from training.eval.context import BenchSettings
from training.eval.external import add_options, external_systems
from training.eval.questions import add_question_options, add_training_questions, folded, planned, prepare
from training.eval.questions import questions_of_split as bearing
from training.eval.system_names import UNTRAINED, refuse_unfit, single
from training.eval.workbench import Bench
from training.fusion import complementarity_plots
from training.fusion.archive import Archive, Pairs, SystemOutput
from training.fusion.complementarity import Complementarity, complementarity, to_json
from training.fusion.study import MEASURES, Study, configurations, study
from training.fusion.weight_search import SystemRankings
from training.neural.data.seen_questions import digest
from training.neural.data.task import MANIFEST
from training.neural.summary import write_json
from training.tables.fusion import found_alone, regions, study_counts, study_differences, study_table

RESULT, TABLES = "fusion.json", "fusion.md"
MEASURE = "R@10"  # by which fusions are marked and compared
TUNING_FOLDS = 5  # where the questions are not asked fold by fold: of the weights alone
KIND = "fusion study"

EPILOG = """\
examples
  systems that learn from no question ("zero-shot"), rankings kept for the next time:
    python -m training.eval fuse --corpus law --systems bm25 ql dense-law --rankings kept
  in-domain: what learns sees the other folds; a model that python -m training.train made with them
    python -m training.eval fuse --corpus law --folds 2 --trained splade=out/splade \\
      --systems bm25 dense model:splade --rankings kept --output fused

  11 combinations of four systems by 8 methods are the paper's 88. "+" is better than each of its parts,
  "-" worse than one, by R@10; the interval is paired, against the best part. Tuned weights are chosen for
  the questions of each fold on those of the others.

files of --output
  fusion.json, fusion.md       every configuration; counts, regions, what each system finds alone
  distributions.svg            scores of the candidates by system and scaling
  regions.svg, scatter.svg     right and wrong pairs by the quartiles of each system's own scores
"""


def parser() -> argparse.ArgumentParser:
    """Return the command line's grammar."""
    top = argparse.ArgumentParser(
        prog="python -m training.eval fuse",
        description="Fuse systems in every way, say when it helps, and how they complement each other.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_question_options(top)
    add = top.add_argument
    add("--systems", nargs="+", required=True, metavar="SYSTEM", help="two to five that rank by themselves")
    kept = (
        "a folder that rankings are kept in, and read from if they are of the same law, questions and model"
    )
    add("--rankings", type=Path, metavar="DIR", help=kept)
    add("--output", type=Path, metavar="DIR", help="a new folder for tables and figures")
    add_options(top)
    top.set_defaults(tune=False)
    return top


def main(arguments: Sequence[str]) -> int:
    """Ask, fuse, print the tables, write the files; errors are raised for the caller to print."""
    parsed = parser().parse_args(arguments)
    if parsed.output is not None and parsed.output.exists():
        raise BadInput(f"{parsed.output} is there already: remove it or give another --output")
    names = list(dict.fromkeys(parsed.systems))
    if not 2 <= len(names) <= 5 or len(names) < len(parsed.systems):
        raise BadInput(f"--systems {' '.join(parsed.systems)}: give two to five different ones to fuse")
    if several := [name for name in names if not single(name)]:
        raise BadInput(f"{several[0]} is made of other systems: name those that rank by themselves")
    progress = Bars()
    bench, questions, annotated = prepare(parsed, progress)
    plan = planned(parsed, bearing(questions, parsed.part), annotated)
    plan = add_training_questions(plan, parsed.beside, bench.corpus)
    asked_in = [[q for q in held if q.article_ids] for held, _, _ in plan]
    everything = [q for part in asked_in for q in part]
    if len(everything) < 2 * TUNING_FOLDS:
        raise BadInput(f"{len(everything)} questions with gold articles: give at least {2 * TUNING_FOLDS}")
    with external_systems(parsed, everything, partial(print, file=sys.stderr)) as bench.more:
        given = bench.given is not None
        learning = bool(folded(parsed) or annotated)
        refuse_unfit(names, learning=learning, given=given, ranker=False, more=bench.more)
        pairs = Pairs.of(asked_in, bench.order, parsed.seed)
        archive = Archive(parsed.rankings, bench.order, asked_in, pairs, progress)
        learnt = [learn for _, learn, _ in plan]
        began = time.perf_counter()
        asked = {
            name: archive.asked(
                name, _facts(parsed, name, asked_in, learnt, bench), _maker(bench, name, learnt)
            )
            for name in names
        }
    progress.close()
    seconds = {"asking": time.perf_counter() - began}
    qrels = {q.id: frozenset(q.article_ids) for q in everything}
    result = fused(asked, qrels, pairs, asked_in, parsed.seed)
    seconds["fusing"] = result.seconds
    entry = {
        "kind": KIND,
        **report.head(
            bench.corpus,
            command=["python", "-m", "training.eval", "fuse", *arguments],
            questions=len(everything),
            unanswerable=0,
            seed=parsed.seed,
        ),
        "folds": len(plan),
        **result.to_json(parsed.seed),
        "seconds": {name: round(value, 1) for name, value in seconds.items()},
    }
    shown = (study_counts, study_table, study_differences, regions, found_alone)
    tables = "\n\n".join(shows(entry) for shows in shown)
    print(f"{len(configurations(names))} configurations, {len(everything)} questions\n\n{tables}")
    if parsed.output is not None:
        _write(parsed.output, entry, tables, result.complementarity, bench.corpus)
        print(f"\nwritten: {parsed.output}")
    return 0


@dataclass(frozen=True)
class FusionStudy:
    """All that was found of some systems."""

    study: Study
    complementarity: Complementarity
    systems: tuple[str, ...]
    seconds: float

    def to_json(self, seed: int) -> dict[str, Any]:
        """Return what a result file says: fractions."""
        values = self.study.values
        means = {name: {m: float(of[m].mean()) for m in MEASURES} for name, of in values.items()}
        rows = configurations(self.systems)
        best = {one.name: max(one.parts, key=lambda part: means[part][MEASURE]) for one in rows}
        family = [(one.name, best[one.name], MEASURE) for one in rows]
        compared = {c.a: c for c in compare(values, family, seed)}
        listed = []
        for one in rows:
            own, parts = means[one.name][MEASURE], [means[part][MEASURE] for part in one.parts]
            entry: dict[str, Any] = {
                "name": one.name,
                "method": one.method,
                "weights": one.weights,
                "parts": list(one.parts),
            }
            entry |= {m: round(value, 5) for m, value in means[one.name].items()}
            entry |= {"better": own > max(parts), "worse": own < max(parts), "best part": best[one.name]}
            found = compared[one.name]
            entry["difference"] = {k: round(v, 5) for k, v in asdict(found.difference).items()}
            entry["p_holm"] = found.p_holm
            if one.name in self.study.weights:
                entry["chosen"] = [[round(w, 4) for w in fold] for fold in self.study.weights[one.name]]
            listed.append(entry)
        single_ = {n: {m: asdict(interval(values[n][m], seed)) for m in MEASURES} for n in self.systems}
        oracle = {
            name: {m: asdict(interval(of[m], seed)) for m in MEASURES}
            for name, of in self.complementarity.oracle.items()
        }
        found_alone = {"complementarity": to_json(self.complementarity)}
        return {"systems": single_, "configurations": listed, "oracle": oracle, **found_alone}


def fused(
    asked: Mapping[str, SystemOutput],
    qrels: Qrels,
    pairs: Pairs,
    parts: Sequence[Sequence[Question]],
    seed: int,
) -> FusionStudy:
    """Fuse what was asked in every way; weights are tuned across the parts, or across five folds of one."""
    began = time.perf_counter()
    lists = SystemRankings.of({name: own.run for name, own in asked.items()}, list(qrels))
    told = [
        (len(part), {name: own.distributions[number] for name, own in asked.items()})
        for number, part in enumerate(parts)
    ]
    fold_of = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
    if len(parts) == 1:
        for number, fold in enumerate(folds(len(qrels), TUNING_FOLDS, seed)):
            fold_of[list(fold.held)] = number
    found = study(lists, qrels, told, fold_of)
    looked_at = complementarity(lists, qrels, asked, pairs, told)
    return FusionStudy(found, looked_at, tuple(asked), time.perf_counter() - began)


def _maker(bench: Bench, name: str, learnt: Sequence[Sequence[Question]]) -> Callable[[int], Retriever]:
    return lambda number: bench.systems([name], learnt[number], BenchSettings())[name]


def _facts(
    parsed: argparse.Namespace,
    name: str,
    asked_in: Sequence[Sequence[Question]],
    learnt: Sequence[Sequence[Question]],
    bench: Bench,
) -> dict[str, Any]:
    """Return what a system's rankings follow from; nothing of the others, so that one more asks none anew."""
    facts: dict[str, Any] = {"system": name, "corpus": bench.corpus.sha256, "seed": parsed.seed}
    facts["asked"] = [[*(q.id for q in part), digest(part)] for part in asked_in]
    brought = bench.more.get(name)
    if name not in UNTRAINED:
        facts["learnt"] = [digest(part) for part in learnt]
    if brought is not None:
        return facts | {"made of": brought.made_of}
    facts |= {"analyser": bench.analyser().id, "settings": repr(BenchSettings())}
    if name not in ("bm25", "tfidf", "ql"):
        facts["fit"] = [parsed.fits, sorted(parsed.lent)]
    shipped = paths.builtin() / MANIFEST
    if parsed.corpus is None and shipped.is_file():
        facts["shipped"] = shipped.read_text(encoding="utf-8")
    return facts


def _write(
    folder: Path, entry: Mapping[str, Any], tables: str, found: Complementarity, corpus: Corpus
) -> None:
    with appearing(folder) as part:
        write_json(part / RESULT, entry)
        (part / TABLES).write_text(tables + "\n", encoding="utf-8")
        complementarity_plots.write(part, found, corpus.card.name)
