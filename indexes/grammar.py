"""The grammar of `python -m indexes`: its commands, their options, and what --help teaches."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path

from indexes import export, hub, places, sources
from indexes.build import FIT_FROM

Command = Callable[[argparse.Namespace], None]

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


def parser(run: Mapping[str, Command]) -> argparse.ArgumentParser:
    """Return the command line's grammar.

    Args:
        run: what each command calls, by its name.
    """
    plain = argparse.RawDescriptionHelpFormatter
    top = argparse.ArgumentParser(
        prog=places.command(),
        description=INTRODUCTION,
        epilog=EXAMPLES.format(
            bring=places.command("import ../law --name my-law --language fr"),
            build=places.rebuild("my-law"),
            page=places.page("my-law"),
            more=places.command("COMMAND --help"),
            formats=places.command("import --help"),
            home=places.home(),
        ),
        formatter_class=plain,
    )
    commands = top.add_subparsers(required=True, metavar="COMMAND", title="commands")
    building = _building()
    _import(commands.add_parser(
        "import", help="read law and its questions from files", description=_formats(), formatter_class=plain,
        parents=[building],
    ))  # fmt: skip
    make = commands.add_parser(
        "build",
        help="build the index of an imported corpus",
        description="Build the index of an imported corpus. The former one serves until it is whole.",
        parents=[building],
    )
    make.add_argument("name", help="of the corpus, as the command list shows it")
    out = commands.add_parser("export", help="write an imported corpus in another format")
    out.add_argument("name", help="of the corpus, as the command list shows it")
    out.add_argument("folder", type=Path, help="a new folder")
    out.add_argument("--to", choices=export.FORMATS, required=True, help="the format")
    out.add_argument("--no-extras", action="store_true", help="leave out columns that no system reads")
    commands.add_parser("list", help="list corpora and indexes")
    check = commands.add_parser("check", help="verify the hashes of an index and open it")
    check.add_argument("name", nargs="?", help="of the index, or its path; else PANDECT_INDEX, else builtin")
    commands.add_parser("remove", help="remove a corpus and its index").add_argument("name")
    own = commands.add_parser("make-builtin", help="make the index that ships again (for its maintainers)")
    own.add_argument("law", type=Path, help="articles.jsonl.gz with the official Code civil and other codes")
    own.add_argument(
        "--written", type=Path, help="folder of the first digest and questions; else those that ship"
    )
    own.add_argument(
        "--folder", type=Path, default=places.builtin().parent, help="where the card lies and the index goes"
    )
    for name, command in commands.choices.items():
        command.set_defaults(run=run[name])
    return top


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
        "--vectors",
        choices=("flat", "hnsw", "8bit"),
        default="flat",
        help="flat: exact (the default); hnsw: approximate, fast; 8bit: exact, a quarter of the memory",
    )
    group.add_argument(
        "--bm25", type=Path, metavar="FILE", help="settings of BM25 that `python -m training.tune` wrote"
    )
    return options


def _import(add: argparse.ArgumentParser) -> None:
    add.add_argument(
        "path", help=f"the file, folder or archive to read, an address, or one of: {', '.join(hub.DATASETS)}"
    )
    add.add_argument("--sha256", metavar="HEX", help="of the file at an address, which must be given")
    add.add_argument("--revision", default="main", help="of a data set on the hub (main)")
    add.add_argument(
        "--from", dest="format", choices=sources.SOURCES, help="the format; found out if left out"
    )
    add.add_argument("--name", help="of the corpus: small letters, digits, hyphens; else from the files")
    add.add_argument("--lenient", action="store_true", help="skip and count bad lines instead of stopping")
    add.add_argument(
        "--no-shipped-questions",
        action="store_true",
        help="do not attach the questions that ship to a French corpus that holds the Code civil",
    )
    add.add_argument("--replace", action="store_true", help="take the place of a corpus of the same name")
    add.add_argument("--build", action="store_true", help="build the index right away")
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
        help="an option of the format, such as questions=FILE; may be repeated",
    )
    card = add.add_argument_group("what the corpus says of itself, over what the format knows")
    for name, (metavar, meaning) in CARD_OPTIONS.items():
        card.add_argument(f"--{name}", metavar=metavar, help=meaning)


def _formats() -> str:
    width = max(map(len, sources.SOURCES))
    lines = [f"  {name:{width}}  {source.summary}" for name, source in sources.SOURCES.items()]
    return "\n".join(["Read law and its questions from files.", "", "formats, for --from:", *lines])
