"""`python -m training.report RESULT …`: the papers' tables, published rows and ours, and how ours came about.

Markdown, LaTeX and one page of HTML, from the same tables.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from indexes.cli.terminal import guarded
from indexes.corpus.questions import read_questions
from indexes.sources import registry
from indexes.store.atomic import replacing
from rag.errors import BadInput
from training.report import blocks, results
from training.report.page import page
from training.report.published import papers
from training.report.table import Block, to_latex, to_markdown

TITLE = "Statute retrieval: published, and measured here"
FORMATS: Mapping[str, Callable[[str, Sequence[Block]], str]] = {
    ".md": to_markdown,
    ".tex": to_latex,
    ".html": page,
}
EPILOG = """\
examples
  STARD's tables, with the published rows and ours:
    python -m training.report docs/results/stard.json --papers stard
  an evaluation with its runs, as a page with curves, breakdowns and failures:
    python -m training.eval --corpus law --folds 5 --output out
    python -m training.report out --corpus law --output report.html report.tex report.md
  what a question costs, beside published points:
    python -m training.benchmark --efficiency law --output efficiency.json
    python -m training.report efficiency.json --papers --output cost.html

A row says whose it is. Published numbers are as printed, with the protocol above their table; ours have a
note with corpus, date, command and machine. The page loads nothing: it can be sent as a file. Where
--corpus is given, texts of law and questions stand in it: their licences hold for it too.
"""


@guarded
def main(arguments: Sequence[str] | None = None) -> int:
    """Print the report as Markdown, or write it in the formats that the outputs' names say."""
    raw = argparse.RawDescriptionHelpFormatter
    top = argparse.ArgumentParser(
        prog="python -m training.report", description=__doc__, epilog=EPILOG, formatter_class=raw
    )
    add = top.add_argument
    results_help = (
        "metrics.json of training.eval, training.train or training.benchmark --efficiency, or its folder"
    )
    add("results", nargs="*", type=Path, metavar="RESULT", help=results_help)
    add(
        "--papers",
        nargs="*",
        choices=papers(),
        default=papers(),
        help="whose tables (all four); none: no paper's",
    )
    add("--corpus", type=Path, metavar="LAW", help="the law that was searched, for failures worth reading")
    add("--questions", type=Path, metavar="FILE", help="the questions that were asked (those of the corpus)")
    formats = ", ".join(FORMATS)
    add("--output", nargs="+", type=Path, default=[], metavar="FILE", help=f"where to write it, as {formats}")
    parsed = top.parse_args(arguments)
    for file in parsed.output:
        if file.suffix not in FORMATS:
            raise BadInput(f"--output {file}: a name that ends in one of {formats} says the format")
    if parsed.questions is not None and parsed.corpus is None:
        raise BadInput("--questions needs --corpus: the law that they were asked of")
    corpus = registry.law(parsed.corpus) if parsed.corpus is not None else None
    if corpus is not None and parsed.questions is not None:
        corpus = replace(corpus, questions=tuple(read_questions(parsed.questions, corpus.articles)))
    ours = [result for path in parsed.results for result in results.read(path)]
    found = [*blocks.papers(parsed.papers, ours), *blocks.costs(ours)]
    found += [block for result in ours for block in blocks.details(result, corpus)]
    if not parsed.output:
        print(to_markdown(TITLE, found), end="")
    for file in parsed.output:
        with replacing(file) as part:
            part.write_text(FORMATS[file.suffix](TITLE, found), encoding="utf-8")
        print(f"written: {file}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
