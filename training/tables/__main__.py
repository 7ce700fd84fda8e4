"""`python -m training.tables RESULT.json …`: the Markdown tables of README and docs, from result files.

`python -m training.tables --into README.md docs/results.md docs/results/*.md` puts them where the
documents name them, between

    <!-- overview: NAME … -->      three systems of each file, the published row beside
    <!-- table: NAME -->           systems and measures of docs/results/NAME.json
    <!-- recalls: NAME -->         the same at 5, 10 and 100, and MRR@10
    <!-- comparisons: NAME -->     each system against its rival, with p-values
    <!-- categories: NAME -->      the learned fusion by category of question
    <!-- fusions: NAME -->         each fusion that names its parts against the best of them
    <!-- helped: NAME -->          how many of these help and hurt, by what is fused
    <!-- study: NAME -->           every fusion of some systems, marked; study-counts: how many help;
                                  study-differences: with intervals; regions, found-alone: complements
    <!-- answers: NAME -->         written answers: citations, inventions, refusals, faithfulness
    <!-- sentences: NAME -->       what checks and a judge show of sentences; in short: shown
    <!-- outcomes: NAME -->        what becomes of whole answers; in short: became
    <!-- overlaps: NAME -->        the same answers beside reference answers
    <!-- situations: NAME -->      what a sentence on the asker changes
    <!-- speed: NAME -->           the pages in a browser: views, answers, clicks
    <!-- users: NAME -->           many people at once
    <!-- corpora: NAME -->         memory while the index is switched
    <!-- peers: NAME -->           our retrieval beside other libraries
    <!-- growth: NAME -->          indexes of a thousand articles to a million
    <!-- trained: NAME -->         what trained systems learnt; <!-- costs: NAME --> what they cost
    <!-- sweep: NAME -->           a sweep, with what was published beside
    <!-- references: NAME -->      how well references are read; <!-- reference-kinds: NAME --> by kind

and what follows the table. A test holds the documents against the files, so that no number is typed
by hand.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from indexes.cli.terminal import guarded
from training.answers.check import answer_table, sentence_table
from training.tables import neural, pages
from training.tables.efficiency import efficiency
from training.tables.fusion import (
    found_alone,
    fusions,
    helped,
    regions,
    study_counts,
    study_differences,
    study_table,
)
from training.tables.growth import growth
from training.tables.markdown import compared, percent, points, probability, table
from training.tables.pages import situations
from training.tables.peers import peers
from training.tables.references import reference_kinds, references

SHORT = ("R@10", "R@100", "MRR@10", "Success@1", "Success@10")
LONG = ("R@5", "R@10", "R@20", "R@100", "MRR@10", "nDCG@10", "R-precision", "Success@1", "Success@10")
RECALLS = ("R@5", "R@10", "R@100", "MRR@10")
COMPARED = "R@10"  # the measure whose comparison stands in the table of systems
RESULTS = Path(__file__).resolve().parents[2] / "docs" / "results"


def markdown(entry: Mapping[str, Any], measures: Sequence[str] = SHORT) -> str:
    """Return a table in percent, each value with its 95 % interval, and the time of a question.

    Where the file has comparisons, a last column holds each system's against its rival. A measure that was
    not measured (`--measures`) is left out.
    """
    measures = [m for m in measures if all(m in system for system in entry["systems"].values())]
    rivals = {c["a"]: c for c in entry.get("comparisons", ()) if c["measure"] == COMPARED}
    rows = []
    for name, system in entry["systems"].items():
        took = "{median:.1f} ({p95:.1f})".format(**system["ms_per_question"])
        rows.append([f"`{name}`", *(percent(system[m]) for m in measures), took])
        if rivals:
            c = rivals.get(name)
            rows[-1].append(f"`{c['b']}` {compared(c)}" if c is not None else "the best single one")
    against = [f"{COMPARED}, against"] if rivals else []
    return table(["system", *measures, "ms a question (p95)", *against], rows)


def comparisons(entry: Mapping[str, Any]) -> str:
    """Return every comparison in points, with its paired 95 % interval and p-values; empty without any."""
    made = entry.get("comparisons", ())
    if not made:
        return ""
    rows = []
    for c in made:
        p_values = [probability(c[key]) for key in ("p_bootstrap", "p_t", "p_holm")]
        rows.append([f"`{c['a']}`", f"`{c['b']}`", c["measure"], points(c["difference"]), *p_values])
    return table(["system", "against", "measure", "difference", "bootstrap", "t-test", "after Holm"], rows)


def categories(
    entry: Mapping[str, Any], system: str, measures: Sequence[str] = ("R@10", "Success@10")
) -> str:
    """Return one system's measures by category of question."""
    rows = [
        [category, str(int(values["questions"])), *(f"{100 * values[m]:.1f}" for m in measures)]
        for category, values in entry["systems"][system]["by_category"].items()
    ]
    return table(["category", "questions", *measures], rows)


ANSWERS = (
    "citation P", "citation R", "citation F1", "invented before", "invented after", "refusal F1",
    "faithful before", "faithful after",
)  # fmt: skip
OVERLAPS = ("METEOR", "ROUGE-1", "ROUGE-2", "ROUGE-L")  # with reference answers


def answers(entry: Mapping[str, Any], measures: Sequence[str] = ANSWERS) -> str:
    """Return the measures of written answers in percent, a row a model and context.

    Measures that no row has are left out, and so are rows that have none.
    """
    systems = entry["systems"]
    measures = [m for m in measures if any(m in system for system in systems.values())]
    rows = [
        [name, *(percent(system.get(m)) for m in measures)]
        for name, system in systems.items()
        if any(m in system for m in measures)
    ]
    return table(["model, context", *measures], rows)


OVERVIEW: Mapping[str, tuple[str, tuple[str, str, str]]] = {  # name of a file -> title, three systems
    "builtin": ("what ships, about the Code civil", ("bm25", "dense", "hybrid")),
    "fr": ("eight French codes, citizens' questions", ("bm25", "dense", "hybrid")),
    "fr-everyday": ("53 French codes and laws, five grouped folds", ("bm25", "hybrid", "learned")),
    "stard": ("STARD, five folds", ("bm25", "dense", "learned")),
}
PUBLISHED: Mapping[str, Mapping[str, float]] = {  # of the fine-tuned encoder of the paper, in percent
    "stard": {"R@10": 60.6, "R@100": 90.7, "MRR@10": 47.2}
}


def overview(entries: Mapping[str, Mapping[str, Any]]) -> str:
    """Return one small table of files by name: three systems a corpus in percent, and the published row."""
    measures = ("R@10", "R@100", "MRR@10")
    rows = []
    for name, entry in entries.items():
        title, systems = OVERVIEW[name]
        for system in systems:
            rows.append([title, f"`{system}`", *(percent(entry["systems"][system][m]) for m in measures)])
        if name in PUBLISHED:
            rows.append([title, "published", *(str(PUBLISHED[name][m]) for m in measures)])
    return table(["corpus", "system", *measures], rows)


def shown_by_gate(entry: Mapping[str, Any]) -> str:
    """Return how much the old gate showed of the material of `training.eval answers check`."""
    shown = {
        "sentences": list(entry["sentences"].values()),
        "answers in paraphrase": [outcome != "empty" for outcome in entry["answers"].values()],
    }
    return table(("the old gate", "shown", "of"), [(n, str(sum(v)), str(len(v))) for n, v in shown.items()])


KINDS: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "table": markdown,
    "recalls": partial(markdown, measures=RECALLS),
    "comparisons": comparisons,
    "categories": partial(categories, system="learned", measures=("R@10", "R@100", "MRR@10", "Success@10")),
    "fusions": fusions,
    "helped": helped,
    "study": study_table,
    "study-counts": study_counts,
    "study-differences": study_differences,
    "regions": regions,
    "found-alone": found_alone,
    "answers": answers,
    "sentences": sentence_table,
    "outcomes": answer_table,
    "shown": partial(sentence_table, short=True),
    "became": partial(answer_table, short=True),
    "overlaps": partial(answers, measures=OVERLAPS),
    "speed": pages.speed,
    "users": pages.users,
    "corpora": pages.corpora,
    "peers": peers,
    "growth": growth,
    "situations": situations,
    "trained": neural.trained,
    "costs": neural.costs,
    "sweep": neural.sweep_table,
    "gains": neural.gains,
    "references": references,
    "reference-kinds": reference_kinds,
}
TABLES_BY_KIND: Mapping[str, tuple[Callable[[Mapping[str, Any]], str], ...]] = {  # by kind of file
    "situations": (situations,),
    "peers": (peers,),
    "references": (references, reference_kinds),
    "growth": (growth,),
    "efficiency": (efficiency,),
    "fusion study": (study_counts, study_table, study_differences, regions, found_alone),
    "answers": (answers, KINDS["overlaps"]),
    "answers check": (sentence_table, answer_table),
    "answers before": (shown_by_gate,),
    "sweep": (neural.trained, neural.costs, neural.sweep_table),
}
MARKED = re.compile(
    rf"<!-- (?P<kind>overview|{'|'.join(KINDS)}): (?P<name>[a-z0-9 -]+) -->\n(?P<table>(?:\|[^\n]*\n)*)"
)


def filled(text: str, results: Path = RESULTS) -> str:
    """Return a document with its tables made anew from the result files that it names.

    The table of a file that is not there, for nobody has measured it yet, is empty.
    """

    def made(match: re.Match[str]) -> str:
        paths = [results / f"{name}.json" for name in match["name"].split()]
        read = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in paths if path.is_file()}
        kind = match["kind"]
        text = overview(read) if kind == "overview" else "".join(map(KINDS[kind], read.values()))
        return f"<!-- {kind}: {match['name']} -->\n" + (f"{text}\n" if text else "")

    return MARKED.sub(made, text)


@guarded
def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables of the files named, or put them into documents."""
    raw = argparse.RawDescriptionHelpFormatter
    top = argparse.ArgumentParser(prog="python -m training.tables", description=__doc__, formatter_class=raw)
    top.add_argument("results", nargs="*", type=Path, help="metrics.json files")
    top.add_argument("--long", action="store_true", help="all measures")
    top.add_argument("--categories", metavar="SYSTEM", help="this system by category of question")
    top.add_argument("--into", nargs="+", type=Path, metavar="DOCUMENT", help="fill the tables of these")
    parsed = top.parse_args(arguments)
    for path in parsed.results:
        entry = json.loads(path.read_text(encoding="utf-8"))
        if str(entry.get("kind")).startswith("pages "):
            shown = [KINDS[entry["kind"].removeprefix("pages ")](entry)]
        elif entry.get("kind") in TABLES_BY_KIND:
            shown = [shows(entry) for shows in TABLES_BY_KIND[entry["kind"]]]
        else:
            shown = [markdown(entry, LONG if parsed.long else SHORT), comparisons(entry)]
        if parsed.categories and "systems" in entry:
            shown.append(categories(entry, parsed.categories))
        print("\n\n".join(filter(None, shown)))
    for path in parsed.into or ():
        text = path.read_text(encoding="utf-8")
        for name in sorted({n for match in MARKED.finditer(text) for n in match["name"].split()}):
            if not (RESULTS / f"{name}.json").is_file():
                print(f"{path}: no {name}.json in {RESULTS}: its tables stay empty", file=sys.stderr)
        if (new := filled(text)) != text:
            path.write_text(new, encoding="utf-8")
            print(f"written: {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
