"""`python -m training.tables RESULT.json …`: the Markdown tables of README and docs, from result files.

`python -m training.tables --into README.md docs/results.md docs/results/*.md` puts them where the
documents name them, between

    <!-- overview: NAME … -->      three systems of each file, the published row beside
    <!-- table: NAME -->           systems and measures of docs/results/NAME.json
    <!-- recalls: NAME -->         the same at 5, 10 and 100, and MRR@10
    <!-- comparisons: NAME -->     each system against its rival, with p-values
    <!-- fusions: NAME -->         each fusion that names its parts against the best of them
    <!-- helped: NAME -->          how many of these help and hurt, by what is fused
    <!-- answers: NAME -->         written answers: citations, inventions, refusals, faithfulness
    <!-- overlaps: NAME -->        the same answers beside reference answers
    <!-- situations: NAME -->      what a sentence on the asker changes
    <!-- speed: NAME -->           the pages in a browser: views, answers, clicks
    <!-- users: NAME -->           many people at once
    <!-- corpora: NAME -->         memory while the index is switched
    <!-- trained: NAME -->         what trained systems learnt; <!-- costs: NAME --> what they cost
    <!-- sweep: NAME -->           a sweep, with what was published beside

and what follows the table. A test holds the documents against the files, so that no number is typed
by hand.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from training.tables import neural, pages
from training.tables.fusion import fusions, helped
from training.tables.markdown import head, points, probability, row, span
from training.tables.pages import situations

SHORT = ("R@10", "R@100", "MRR@10", "Success@1", "Success@10")
LONG = ("R@5", "R@10", "R@20", "R@100", "MRR@10", "nDCG@10", "R-precision", "Success@1", "Success@10")
RECALLS = ("R@5", "R@10", "R@100", "MRR@10")
COMPARED = "R@10"  # the measure whose comparison stands in the table of systems
RESULTS = Path(__file__).resolve().parents[2] / "docs" / "results"


def markdown(entry: Mapping[str, Any], measures: Sequence[str] = SHORT) -> str:
    """Return a table in percent, each value with its 95 % interval, and the time of a question.

    Where the file has comparisons, a last column holds each system's against its rival.

    Args:
        entry: what metrics.json holds.
        measures: the columns; one that was not measured (`--measures`) is left out.
    """
    measures = [m for m in measures if all(m in system for system in entry["systems"].values())]
    rivals = {c["a"]: c for c in entry.get("comparisons", ()) if c["measure"] == COMPARED}
    lines = head(["system", *measures, "ms a question (p95)", *([f"{COMPARED}, against"] if rivals else [])])
    for name, system in entry["systems"].items():
        cells = [f"{100 * system[m]['value']:.1f} ({span(system[m])})" for m in measures]
        took = "{median:.1f} ({p95:.1f})".format(**system["ms_per_question"])
        rows = [_against(rivals.get(name))] if rivals else []
        lines.append(row([f"`{name}`", *cells, took, *rows]))
    return "\n".join(lines)


def comparisons(entry: Mapping[str, Any]) -> str:
    """Return every comparison in points, with its paired 95 % interval and its p-values.

    Empty for a file that has none.
    """
    made = entry.get("comparisons", ())
    if not made:
        return ""
    lines = head(["system", "against", "measure", "difference", "bootstrap", "t-test", "after Holm"])
    for c in made:
        p_values = [probability(c[key]) for key in ("p_bootstrap", "p_t", "p_holm")]
        lines.append(row([f"`{c['a']}`", f"`{c['b']}`", c["measure"], points(c), *p_values]))
    return "\n".join(lines)


def categories(
    entry: Mapping[str, Any], system: str, measures: Sequence[str] = ("R@10", "Success@10")
) -> str:
    """Return one system's measures by category of question."""
    lines = head(["category", "questions", *measures])
    for category, values in entry["systems"][system]["by_category"].items():
        cells = [f"{100 * values[m]:.1f}" for m in measures]
        lines.append(row([category, str(int(values["questions"])), *cells]))
    return "\n".join(lines)


ANSWERS = (
    "citation P",
    "citation R",
    "citation F1",
    "invented before",
    "invented after",
    "refusal F1",
    "faithful before",
    "faithful after",
)
OVERLAPS = ("METEOR", "ROUGE-1", "ROUGE-2", "ROUGE-L")


def answers(entry: Mapping[str, Any], measures: Sequence[str] = ANSWERS) -> str:
    """Return the measures of written answers in percent, a row a model and context.

    Args:
        entry: what metrics.json of `training.eval answers` holds.
        measures: the columns; those that no row has are left out, and so are rows that have none.
    """
    rows = entry["systems"].items()
    measures = [m for m in measures if any(m in system for _, system in rows)]
    lines = head(["model, context", *measures])
    for name, system in rows:
        if any(m in system for m in measures):
            lines.append(row([name, *(_cell(system.get(m)) for m in measures)]))
    return "\n".join(lines)


def overlaps(entry: Mapping[str, Any]) -> str:
    """Return how written answers compare with reference answers."""
    return answers(entry, OVERLAPS)


def _cell(measure: Mapping[str, Any] | None) -> str:
    if measure is None or measure["value"] is None:
        return "–"
    return f"{100 * measure['value']:.1f} ({span(measure)})"


def recalls(entry: Mapping[str, Any]) -> str:
    """Return the table of systems with recall at three depths."""
    return markdown(entry, RECALLS)


OVERVIEW: Mapping[str, tuple[str, tuple[str, str, str]]] = {  # name of a file -> title, three systems
    "builtin": ("the Code civil that ships", ("bm25", "dense", "hybrid")),
    "fr": ("eight French codes, citizens' questions", ("bm25", "dense", "hybrid")),
    "stard": ("STARD, five folds", ("bm25", "dense", "learned")),
}
PUBLISHED: Mapping[str, Mapping[str, float]] = {  # of the fine-tuned encoder of the paper, in percent
    "stard": {"R@10": 60.6, "R@100": 90.7, "MRR@10": 47.2}
}


def overview(entries: Mapping[str, Mapping[str, Any]]) -> str:
    """Return one small table: three systems a corpus in percent, and the published row.

    Args:
        entries: name of the file -> what it holds.
    """
    measures = ("R@10", "R@100", "MRR@10")
    lines = head(["corpus", "system", *measures])
    for name, entry in entries.items():
        title, systems = OVERVIEW[name]
        for system in systems:
            values = entry["systems"][system]
            lines.append(row([title, f"`{system}`", *(_cell(values[m]) for m in measures)]))
        if name in PUBLISHED:
            lines.append(row([title, "published", *(str(PUBLISHED[name][m]) for m in measures)]))
    return "\n".join(lines)


KINDS: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "table": markdown,
    "recalls": recalls,
    "comparisons": comparisons,
    "fusions": fusions,
    "helped": helped,
    "answers": answers,
    "overlaps": overlaps,
    "speed": pages.speed,
    "users": pages.users,
    "corpora": pages.corpora,
    "situations": situations,
    "trained": neural.trained,
    "costs": neural.costs,
    "sweep": neural.sweep_table,
}
TABLES_BY_KIND: Mapping[str, tuple[Callable[[Mapping[str, Any]], str], ...]] = {  # by kind of file
    "situations": (situations,),
    "answers": (answers, overlaps),
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
        table = (
            overview(read)
            if match["kind"] == "overview"
            else "".join(map(KINDS[match["kind"]], read.values()))
        )
        return f"<!-- {match['kind']}: {match['name']} -->\n" + (f"{table}\n" if table else "")

    return MARKED.sub(made, text)


def _against(comparison: Mapping[str, Any] | None) -> str:
    if comparison is None:
        return "the best single one"
    return f"`{comparison['b']}` {points(comparison)}, {probability(comparison['p_holm'])}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables of the files named, or put them into documents."""
    top = argparse.ArgumentParser(
        prog="python -m training.tables",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
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
            shown = [table(entry) for table in TABLES_BY_KIND[entry["kind"]]]
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
