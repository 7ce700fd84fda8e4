"""The grammar of `python -m indexes`: its commands, their options, and what --help teaches.

What `python -m indexes import --help` says of formats, their options, and cleaning.
"""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Callable, Mapping
from pathlib import Path

from indexes.build.encoder_choice import FIT_FROM
from indexes.cleaning.clean import ALL, KINDS, NOTHING
from indexes.corpus import export
from indexes.corpus.card import CardOptions
from indexes.download import hub
from indexes.sources import registry
from indexes.store import paths
from indexes.store.versions import DEFAULT_VERSIONS
from rag.fusion.settings import METHODS

_WIDTH = 100  # of a line
_CLEANING = """\
cleaning, for --clean, in the order in which it is done. Original texts and removed articles are kept
in the corpus folder; an article that a question cites is never lost."""
_TAGS = """\
tags=true puts what the askers' tags say in front of the questions: their situation in BSARD and bBSARD
(extra_description), regions and topics in LLeQA, topics in JuriFindIT; tags=COLUMN,COLUMN takes these."""


def described() -> str:
    """Return the formats, the options of each, and the kinds of cleaning."""
    formats = {name: source.summary for name, source in registry.SOURCES.items()}
    options = {name: ", ".join(own) for name in formats if (own := _own(name))}
    parts = ["Read law and its questions from files.", "", "formats, for --from:", *_table(formats)]
    parts += ["", "their options, for --option:", *_table(options), "", _TAGS, "", _CLEANING, *_table(KINDS)]
    return "\n".join(parts)


def _own(name: str) -> list[str]:
    """Return the options that are the format's alone; columns have a switch of their own."""
    return [key for key in registry.options(name) if key not in (*CardOptions.__annotations__, "column")]


def _table(rows: Mapping[str, str]) -> list[str]:
    width = max(map(len, (*registry.SOURCES, *KINDS))) + 4
    return [
        line
        for name, text in rows.items()
        for line in textwrap.wrap(
            text, _WIDTH, initial_indent=f"  {name}".ljust(width), subsequent_indent=" " * width
        )
    ]


Command = Callable[[argparse.Namespace], int | None]  # the exit status; None is 0

CARD_OPTIONS = {
    "title": ("TEXT", "what pages call the corpus"),
    "language": ("LL", "two letters: fr, nl, en, de, it, zh"),
    "jurisdiction": ("CC", "whose law: FR, BE, DE, ..."),
    "licence": ("TEXT", "the licence of the text"),
    "licence-url": ("URL", "where that licence can be read"),
    "source": ("TEXT", "the attribution line that the licence asks for"),
    "law-date": ("YYYY-MM-DD", "the day up to which the law was consolidated"),
    "official-site": ("URL", "where the official text is published"),
    "text-kind": ("KIND", "official (the default), or summary"),
    "note": ("TEXT", "anything that a reader should know"),
}
INTRODUCTION = """\
Bring law in and build its index.

A corpus is one jurisdiction's articles in one language, with the questions annotated for them if
there are any. An index is what answers questions about it: the page and the measurements open one.
"""
DESCRIBED = """\
Lengths, articles by code, gold articles a question, citations an article, coverage, splits, dates and filled
columns, on the terminal; with --output also as Markdown, CSV, JSON and SVG, with the corpus's data card.
"""
FEEDBACK = """\
What people said of the articles on the page, where PANDECT_FEEDBACK=FILE has it kept (off without it).
Annotated questions are made of those words only whose question a person allowed to be kept.
"""
EXAMPLES = """\
the usual order:
  {bring}
      read the files, check them, keep them
  {build}
      build the index; the old one serves meanwhile
  {page}
      open it in the page

Corpora and indexes lie under PANDECT_HOME (now {home}); PANDECT_INDEX names the index
that the page opens, by name or by path. The index that ships is called builtin and is only read.
`{more}` says more of each command;
`{formats}` lists the formats.
"""
UPDATE = """\
Bring a corpus and its index up to date with new law.

PATH is the whole law as it is now, read as import reads it. Articles and questions are compared by
their ids with those that are there; what changed is analysed and encoded, the encoder is kept, and
the new version is switched in when it is whole. Fields of the card stay unless given again.
"""


def parser(run: Mapping[str, Command]) -> argparse.ArgumentParser:
    """Return the command line's grammar.

    Args:
        run: what each command calls, by its name.
    """
    plain = argparse.RawDescriptionHelpFormatter
    top = argparse.ArgumentParser(
        prog=paths.command(),
        description=INTRODUCTION,
        epilog=EXAMPLES.format(
            bring=paths.command("import ../law --name my-law --language fr"),
            build=paths.rebuild("my-law"),
            page=paths.page("my-law"),
            more=paths.command("COMMAND --help"),
            formats=paths.command("import --help"),
            home=paths.home(),
        ),
        formatter_class=plain,
    )
    commands = top.add_subparsers(required=True, metavar="COMMAND", title="commands")
    building = _building()
    new = commands.add_parser(
        "import", help="read law and its questions from files", description=described(),
        formatter_class=plain, parents=[building],
    )  # fmt: skip
    new.add_argument("--name", help="of the corpus: small letters, digits, hyphens; else from the files")
    new.add_argument("--replace", action="store_true", help="take the place of a corpus of the same name")
    new.add_argument("--build", action="store_true", help="build the index right away")
    _reading(new)
    make = commands.add_parser(
        "build",
        help="build the index of an imported corpus",
        description="Build the index of an imported corpus. The former one serves until it is whole.",
        parents=[building],
    )
    make.add_argument("name", help="of the corpus, as the command list shows it")
    _changing(commands, plain)
    _results(commands)
    out = commands.add_parser("export", help="write an imported corpus in another format")
    out.add_argument("name", help="of the corpus, as the command list shows it")
    out.add_argument("folder", type=Path, help="a new folder")
    out.add_argument("--to", choices=export.FORMATS, required=True, help="the format")
    out.add_argument("--no-extras", action="store_true", help="leave out columns that no system reads")
    _feedback(commands.add_parser(
        "feedback", help="count, export or delete what people said on the page", description=FEEDBACK,
        formatter_class=plain,
    ))  # fmt: skip
    _describe(commands.add_parser(
        "describe", help="count what is in a corpus: tables, plots, and its data card", description=DESCRIBED,
    ))  # fmt: skip
    commands.add_parser("list", help="list corpora and indexes")
    check = commands.add_parser("check", help="verify the hashes of an index and open it")
    check.add_argument("name", nargs="?", help="of the index, or its path; else PANDECT_INDEX, else builtin")
    pairs = commands.add_parser(
        "bridge",
        help="show which words of the law an index has for a layperson's",
        description="Show the pairs that an index learnt from its annotated questions: a word, then those of "
        "the law, each with its probability and how it is known.",
    )
    pairs.add_argument("name", help="of the index, or its path, or builtin")
    pairs.add_argument("words", nargs="*", metavar="WORD", help="show these alone; else all")
    commands.add_parser("remove", help="remove a corpus and its index").add_argument("name")
    own = commands.add_parser("make-builtin", help="make the index that ships again (for its maintainers)")
    own.add_argument("law", type=Path, help="articles.jsonl.gz with the official Code civil and other codes")
    own.add_argument(
        "--written", type=Path, help="folder of the first digest and questions; else those that ship"
    )
    own.add_argument(
        "--folder", type=Path, default=paths.builtin().parent, help="where the card lies and the index goes"
    )
    check_builtin = commands.add_parser(
        "check-builtin", help="compare the summaries that ship with the official text (for their maintainers)"
    )
    check_builtin.add_argument("law", type=Path, help="articles.jsonl.gz with the official Code civil")
    check_builtin.add_argument(
        "--list", action="store_true", help="also list what is neither mended nor accepted"
    )
    check_builtin.add_argument(
        "--folder", type=Path, default=paths.builtin().parent, help="where the index and accepted.json lie"
    )
    for name, command in commands.choices.items():
        command.set_defaults(run=run[name])
    return top


def _feedback(add: argparse.ArgumentParser) -> None:
    what = add.add_subparsers(dest="what", required=True, metavar="WHAT", title="what to do")
    counts = what.add_parser("counts", help="how often each reason was given")
    out = what.add_parser(
        "export", help="write annotated questions, as import --option questions=FILE reads them"
    )
    out.add_argument("name", help="of the index, or builtin")
    out.add_argument("output", type=Path, help="a new file")
    old = what.add_parser("prune", help="delete what is older")
    old.add_argument(
        "--older-than",
        type=int,
        metavar="DAYS",
        help="else PANDECT_FEEDBACK_DAYS, else 365; 0: of before today",
    )
    for each in (counts, out, old):
        each.add_argument("--file", type=Path, help="where it is kept; else PANDECT_FEEDBACK")


def _describe(add: argparse.ArgumentParser) -> None:
    add.add_argument("name", help="of the corpus, or builtin, or the path of a corpus folder")
    add.add_argument("--output", type=Path, metavar="FOLDER", help="a new folder for all that is made")
    add.add_argument(
        "--tokenizer",
        metavar="ID_OR_PATH",
        help="count the tokens of this one: a tokenizer.json, the folder of one, or an id on the Hugging "
        "Face hub; else the terms of the language's analyser. Needs the package tokenizers, not torch",
    )


def _changing(
    commands: argparse._SubParsersAction[argparse.ArgumentParser], plain: type[argparse.HelpFormatter]
) -> None:
    """Add the commands for law that changes."""
    new = commands.add_parser(
        "update",
        help="bring a corpus and its index up to date with new law",
        description=UPDATE,
        formatter_class=plain,
    )
    new.add_argument("name", help="of the corpus, as the command list shows it")
    _reading(new)
    new.add_argument("--dry-run", action="store_true", help="say what would change, write nothing")
    new.add_argument("--refit", action="store_true", help="fit the encoder anew, as it was fitted")
    new.add_argument(
        "--drop-questions",
        action="store_true",
        help="leave out the corpus's questions where the new files bring none; else they are kept",
    )
    _keep(new)
    old = commands.add_parser("versions", help="list the versions of an index, and what changed in each")
    old.add_argument("name", help="of the index, as the command list shows it")
    back = commands.add_parser(
        "rollback",
        help="bring an earlier version of an index, or a later one again, into use",
        description="Bring another version of an index into use, and its corpus with it, in one step.",
    )
    back.add_argument("name", help="of the index, as the command list shows it")
    back.add_argument("version", nargs="?", help="its name or how it begins; else the one before")


def _keep(add: argparse.ArgumentParser | argparse._ArgumentGroup) -> None:
    add.add_argument(
        "--keep",
        type=int,
        default=DEFAULT_VERSIONS,
        metavar="N",
        help=f"versions that are kept ({DEFAULT_VERSIONS}); the oldest go",
    )


def _building() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(add_help=False)
    group = options.add_argument_group("what is built")
    group.add_argument(
        "--encoder",
        default="auto",
        help="fit: one fitted to this corpus; borrow: the one that ships, for French; none: keywords only; "
        f"auto (the default): fit from {FIT_FROM:,} articles on, else borrow where the language allows it; "
        "or the path or hub id of a sentence-transformers model, which needs the extra [models]",
    )
    group.add_argument(
        "--fits",
        type=int,
        default=1,
        metavar="N",
        help="fit the encoder to this corpus N times, side by side in one of N times the size; Chinese that "
        "is cut both ways to words and pairs of characters, to pairs alone, to words alone, and so on. Three "
        "found more with a thousand annotated questions, and take three times as long (1)",
    )
    group.add_argument(
        "--lent",
        action="append",
        default=[],
        metavar="CORPUS",
        help="fit the encoder to the articles and questions of this corpus of the same language too: the "
        f"name of an imported one, or {paths.BUILTIN}; may be repeated",
    )
    group.add_argument(
        "--vectors",
        choices=("flat", "hnsw", "8bit"),
        default="flat",
        help="flat: exact (the default); hnsw: approximate, fast; 8bit: exact, a quarter of the memory",
    )
    group.add_argument(
        "--bm25", type=Path, metavar="FILE", help="settings of BM25 that `python -m training.tune` wrote"
    )
    group.add_argument(
        "--fusion", choices=METHODS, help="how the lists of words and meaning become one (rrf, both alike)"
    )
    _keep(group)
    return options


def _reading(add: argparse.ArgumentParser) -> None:
    """Add what import and update are told of the files."""
    add.add_argument(
        "path", help=f"the file, folder or archive to read, an address, or one of: {', '.join(hub.DATASETS)}"
    )
    add.add_argument("--sha256", metavar="HEX", help="of the file at an address, which must be given")
    add.add_argument("--revision", default="main", help="of a data set on the hub (main)")
    add.add_argument(
        "--from", dest="format", choices=registry.SOURCES, help="the format; found out if left out"
    )
    add.add_argument("--lenient", action="store_true", help="skip and count bad lines instead of stopping")
    add.add_argument(
        "--no-shipped-questions",
        action="store_true",
        help="do not attach the questions that ship to a French corpus that holds the Code civil, or to a "
        "Chinese one of national law",
    )
    add.add_argument(
        "--column",
        action="append",
        metavar="FIELD=COLUMN",
        help="of a table (CSV, JSON Lines, Parquet): text=contenu; may be repeated",
    )
    add.add_argument(
        "--option",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="an option of the format, such as questions=FILE, or tags=true for what the askers' tags say in "
        "front of the questions (BSARD, bBSARD, LLeQA, JuriFindIT); may be repeated",
    )
    add.add_argument(
        "--clean",
        action="append",
        choices=(*KINDS, ALL, NOTHING),
        default=[],
        metavar="KIND",
        help=f"clean the articles: {', '.join(KINDS)}, {ALL} or {NOTHING}; may be repeated",
    )
    card = add.add_argument_group("what the corpus says of itself, over what the format knows")
    for name, (metavar, meaning) in CARD_OPTIONS.items():
        card.add_argument(f"--{name}", metavar=metavar, help=meaning)


def _results(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    results = commands.add_parser(
        "results",
        help="show on the page Quality what training.eval measured of an index",
        description="Put measurements beside an index, for the page Quality. The corpus must be the same.",
    )
    results.add_argument("name", help="of the index, or the path of its folder")
    results.add_argument("file", type=Path, help="metrics.json of python -m training.eval --output DIR")
    results.add_argument(
        "--confidence", type=Path, metavar="FILE", help="the report of python -m training.confidence"
    )
    results.add_argument(
        "--system", help="the one that the page answers with (learned where the index has it, else hybrid)"
    )
    results.add_argument("--output", type=Path, metavar="FILE", help="write there, and not beside the index")
