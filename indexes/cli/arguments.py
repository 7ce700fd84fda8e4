"""The grammar of `python -m indexes`: its commands, their options, and what --help teaches."""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Callable, Mapping, Sequence
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

Command = Callable[[argparse.Namespace], int | None]  # the exit status; None is 0
_Group = argparse.ArgumentParser | argparse._ArgumentGroup

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
UPDATE = """\
Bring a corpus and its index up to date with new law.

PATH is the whole law as it is now, read as import reads it. Articles and questions are compared by
their ids with those that are there; what changed is analysed and encoded, the encoder is kept, and
the new version is switched in when it is whole. Fields of the card stay unless given again.
"""
FEEDBACK = """\
What people said of the articles on the page, where PANDECT_FEEDBACK=FILE has it kept (off without it).
Annotated questions are made of those words only whose question a person allowed to be kept.
"""


def _examples() -> str:
    return f"""\
the usual order:
  {paths.command("import ../law --name my-law --language fr")}
      read the files, check them, keep them
  {paths.rebuild("my-law")}
      build the index; the old one serves meanwhile
  {paths.page("my-law")}
      open it in the page

Corpora and indexes lie under PANDECT_HOME (now {paths.home()}); PANDECT_INDEX names the index
that the page opens, by name or by path. The index that ships is called builtin and is only read.
`{paths.command("COMMAND --help")}` says more of each command;
`{paths.command("import --help")}` lists the formats.
"""


def _formats() -> str:
    """Return the formats, the options of each that are its alone, and the kinds of cleaning."""
    width = max(map(len, (*registry.SOURCES, *KINDS))) + 4

    def table(rows: Mapping[str, str]) -> str:
        wrap = textwrap.TextWrapper(100, subsequent_indent=" " * width)
        return "\n".join(wrap.fill(f"  {name}".ljust(width) + text) for name, text in rows.items())

    options = {}
    for name in registry.SOURCES:  # columns have a switch of their own
        own = [key for key in registry.options(name) if key not in (*CardOptions.__annotations__, "column")]
        if own:
            options[name] = ", ".join(own)
    return f"""\
Read law and its questions from files.

formats, for --from:
{table({name: source.summary for name, source in registry.SOURCES.items()})}

their options, for --option:
{table(options)}

tags=true puts what the askers' tags say in front of the questions: their situation in BSARD and bBSARD
(extra_description), regions and topics in LLeQA, topics in JuriFindIT; tags=COLUMN,COLUMN takes these.

cleaning, for --clean, in the order in which it is done. Original texts and removed articles are kept
in the corpus folder; an article that a question cites is never lost.
{table(KINDS)}"""


_CORPUS = "of the corpus, as the command list shows it"
_INDEX = "of the index, as the command list shows it"
# the line in the list of all, the description (as it stands if it has several lines), the help of its name
_COMMANDS: Mapping[str, tuple[str, str | None, str | None]] = {
    "import": ("read law and its questions from files", _formats(), None),
    "build": (
        "build the index of an imported corpus",
        "Build the index of an imported corpus. The former one serves until it is whole.",
        _CORPUS,
    ),
    "update": ("bring a corpus and its index up to date with new law", UPDATE, _CORPUS),
    "versions": ("list the versions of an index, and what changed in each", None, _INDEX),
    "rollback": (
        "bring an earlier version of an index, or a later one again, into use",
        "Bring another version of an index into use, and its corpus with it, in one step.",
        _INDEX,
    ),
    "results": (
        "show on the page Quality what training.eval measured of an index",
        "Put measurements beside an index, for the page Quality. The corpus must be the same.",
        "of the index, or the path of its folder",
    ),
    "export": ("write an imported corpus in another format", None, _CORPUS),
    "feedback": ("count, export or delete what people said on the page", FEEDBACK, None),
    "describe": (
        "count what is in a corpus: tables, plots, and its data card",
        "Lengths, articles by code, gold articles a question, citations an article, coverage, splits, dates "
        "and filled columns, on the terminal; with --output also as Markdown, CSV, JSON and SVG, with the "
        "corpus's data card.",
        "of the corpus, or builtin, or the path of a corpus folder",
    ),
    "graph": (
        "count nodes and edges of an index's legislative graph, or write it as GraphML",
        "Size and shape of the graph of articles, headings and references: nodes and edges of each kind, the "
        "average height of an act in edges, and of the path from the super-root to an article.",
        None,
    ),
    "list": ("list corpora and indexes", None, None),
    "check": ("verify the hashes of an index and open it", None, None),
    "audit": (
        "say what may go wrong with an index before anybody asks it",
        "Look for texts that cannot be searched, languages, twins and missing headings, and foretell how "
        "many questions will find an answer among the first ten (docs/operate.md#audit-new-law).",
        None,
    ),
    "verify": (
        "ask the question of a receipt again, and say what has changed",
        "The page saves a receipt of a result: the question, the index, and each article's score and hash. "
        "Exit status 1 where anything is other than it says.",
        None,
    ),
    "bridge": (
        "show which words of the law an index has for a layperson's",
        "Show the pairs that an index learnt from its annotated questions: a word, then those of the law, "
        "each with its probability and how it is known.",
        "of the index, or its path, or builtin",
    ),
    "postgres": (
        "bring an index into PostgreSQL with pgvector, and its versions into use there",
        "PANDECT_INDEX=postgres://HOST:PORT/DATABASE/NAME opens it (docs/host.md#past-one-machine).",
        None,
    ),
    "qdrant": (
        "bring an index into a Qdrant vector store, and its versions into use there",
        "PANDECT_INDEX=qdrant://HOST:PORT/NAME opens it from there (docs/host.md#past-one-machine).",
        None,
    ),
    "remove": ("remove a corpus and its index, or what was downloaded", None, None),
    "serve": (
        "answer other programs over HTTP: the REST API",
        "Serve the index that PANDECT_INDEX names as a REST API, described at /openapi.json; docs/host.md "
        "has its settings. SIGTERM ends it when what is under way is answered.",
        None,
    ),
    "mcp": (
        "let an assistant search: the Model Context Protocol over a pipe",
        "Serve the index that PANDECT_INDEX names to one assistant, which starts this command and speaks "
        "with it by its input and output; with --http, to many at /mcp, with the rest of what serve serves.",
        None,
    ),
    "make-builtin": ("make the index that ships again (for its maintainers)", None, None),
    "check-builtin": (
        "compare the summaries that ship, or those of another digest, with the official text",
        "Compare each summary with its official text and list what a person has to look at. --folder names a "
        "digest of one's own; of another language than French numbers, copied words and lengths.",
        None,
    ),
}


def parser(run: Mapping[str, Command]) -> argparse.ArgumentParser:
    """Return the command line's grammar; `run` is what each command calls, by its name."""
    plain = argparse.RawDescriptionHelpFormatter
    top = argparse.ArgumentParser(
        prog=paths.command(), description=INTRODUCTION, epilog=_examples(), formatter_class=plain
    )
    commands = top.add_subparsers(required=True, metavar="COMMAND", title="commands")
    for name, (line, description, named) in _COMMANDS.items():
        shape = plain if description and "\n" in description else argparse.HelpFormatter
        new = commands.add_parser(name, help=line, description=description, formatter_class=shape)
        if named is not None:
            new.add_argument("name", help=named)
        new.set_defaults(run=run[name])
    of = commands.choices
    new, update, results, check = of["import"], of["update"], of["results"], of["check"]
    _building(new)
    _building(of["build"])
    new.add_argument("--name", help="of the corpus: small letters, digits, hyphens; else from the files")
    _flag(new, "--replace", "take the place of a corpus of the same name")
    _flag(new, "--build", "build the index right away")
    _flag(new, "--dry-run", "say what would be kept, with its first articles; write nothing")
    _reading(new)
    _reading(update)
    _flag(update, "--dry-run", "say what would change, write nothing")
    _flag(update, "--refit", "fit the encoder anew, as it was fitted")
    dropped = "leave out the corpus's questions where the new files bring none; else they are kept"
    _flag(update, "--drop-questions", dropped)
    _keep(update)
    of["rollback"].add_argument("version", nargs="?", help="its name or how it begins; else the one before")
    _file(results, "file", "metrics.json of python -m training.eval --output DIR")
    _file(results, "--confidence", "the report of python -m training.confidence", "FILE")
    answers = "the one that the page answers with (learned where the index has it, else hybrid)"
    results.add_argument("--system", help=answers)
    _file(results, "--output", "write there, and not beside the index", "FILE")
    _file(of["export"], "folder", "a new folder")
    of["export"].add_argument("--to", choices=export.FORMATS, required=True, help="the format")
    _flag(of["export"], "--no-extras", "leave out columns that no system reads")
    _feedback(of["feedback"])
    _file(of["describe"], "--output", "a new folder for all that is made", "FOLDER")
    of["describe"].add_argument(
        "--tokenizer",
        metavar="ID_OR_PATH",
        help="count the tokens of this one: a tokenizer.json, the folder of one, or an id on the Hugging "
        "Face hub; else the terms of the language's analyser. Needs the package tokenizers, not torch",
    )
    for one in (check, of["graph"], of["audit"]):
        one.add_argument(
            "name",
            nargs="?",
            help="of the index, or its path; else PANDECT_INDEX, else what the law page opened, else builtin",
        )
    _file(of["graph"], "--graphml", "a new file, for programs that draw and measure graphs", "FILE")
    _file(of["verify"], "receipt", "the file")
    of["verify"].add_argument("--index", help="name or path; else the one that the receipt names")
    of["bridge"].add_argument("words", nargs="*", metavar="WORD", help="show these alone; else all")
    _store(of["postgres"], "postgres://HOST:PORT/DATABASE")
    qdrant = "qdrant://HOST:PORT, qdrant+https://HOST:PORT, qdrant+edge:///FOLDER or qdrant+shards://4/FOLDER"
    _store(of["qdrant"], qdrant)
    of["remove"].add_argument("name", nargs="?")
    _flag(of["remove"], "--downloads", "remove what imports fetched and unpacked; corpora and indexes stay")
    _flag(of["mcp"], "--http", "answer over HTTP at /mcp instead, with the rest of what serve serves")
    for name in ("serve", "mcp"):
        of[name].add_argument("--host", default="127.0.0.1", help="the address to listen on: %(default)s")
        of[name].add_argument("--port", type=int, default=8600, help="the port to listen on: %(default)s")
    make, compared, lies = of["make-builtin"], of["check-builtin"], paths.builtin().parent
    _file(make, "law", "articles.jsonl.gz with the official Code civil and other codes")
    _file(make, "--written", "folder of the first digest and questions; else those that ship")
    _flag(make, "--same-encoder", "keep the encoder that ships: summaries alone have changed")
    _flag(make, "--graph", "renew the references between articles alone, and nothing that ranks")
    make.add_argument("--folder", type=Path, default=lies, help="where the card lies and the index goes")
    _file(compared, "law", "the official law that was summarised, in any format that import reads")
    _flag(compared, "--list", "also list what is neither mended nor accepted")
    compared.add_argument("--folder", type=Path, default=lies, help="of a digest; or of the index that ships")
    return top


def _flag(add: _Group, name: str, meaning: str) -> None:
    add.add_argument(name, action="store_true", help=meaning)


def _file(add: _Group, name: str, meaning: str, metavar: str | None = None) -> None:
    add.add_argument(name, type=Path, metavar=metavar, help=meaning)


def _keep(add: _Group) -> None:
    meaning = f"versions that are kept ({DEFAULT_VERSIONS}); the oldest go"
    add.add_argument("--keep", type=int, default=DEFAULT_VERSIONS, metavar="N", help=meaning)


def _repeated(add: _Group, name: str, metavar: str, meaning: str, of: Sequence[str] | None = None) -> None:
    help_text = f"{meaning}; may be repeated"
    add.add_argument(name, action="append", choices=of, default=[], metavar=metavar, help=help_text)


def _feedback(add: argparse.ArgumentParser) -> None:
    what = add.add_subparsers(dest="what", required=True, metavar="WHAT", title="what to do")
    counts = what.add_parser("counts", help="how often each reason was given")
    out = what.add_parser(
        "export", help="write annotated questions, as import --option questions=FILE reads them"
    )
    out.add_argument("name", help="of the index, or builtin")
    _file(out, "output", "a new file")
    gain = what.add_parser("gain", help="measure what an index gains that learns from them, on held-out ones")
    gain.add_argument("name", help="of the index")
    _file(gain, "questions", "what export wrote, or the page of operators, less what is wrong in it")
    old = what.add_parser("prune", help="delete what is older")
    days = "else PANDECT_FEEDBACK_DAYS, else 365; 0: of before today"
    old.add_argument("--older-than", type=int, metavar="DAYS", help=days)
    for each in (counts, out, old):
        _file(each, "--file", "where it is kept; else PANDECT_FEEDBACK")


def _store(add: argparse.ArgumentParser, addresses: str) -> None:
    what = add.add_subparsers(dest="what", required=True, metavar="WHAT", title="what to do")
    new = what.add_parser(
        "upload", help="bring the version in use there, and into use there when it is whole"
    )
    back = what.add_parser("rollback", help="bring another version that is there into use")
    status = what.add_parser("status", help="list the versions that are there; a star marks the one in use")
    for each in (new, back, status):
        each.add_argument("name", help=f"{_INDEX}, or {paths.BUILTIN}")
        each.add_argument("--to", required=True, metavar="ADDRESS", help=f"the store: {addresses}")
    back.add_argument("version", nargs="?", help="how its name begins; else the one before")
    _keep(new)


def _building(add: argparse.ArgumentParser) -> None:
    group = add.add_argument_group("what is built")
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
    lent = "fit the encoder to the articles and questions of this corpus of the same language too"
    _repeated(group, "--lent", "CORPUS", f"{lent}: the name of an imported one, or {paths.BUILTIN}")
    kinds = "flat: exact (the default); hnsw: approximate, fast; 8bit: exact, a quarter of the memory"
    group.add_argument("--vectors", choices=("flat", "hnsw", "8bit"), default="flat", help=kinds)
    _file(group, "--bm25", "settings of BM25 that `python -m training.tune` wrote", "FILE")
    group.add_argument(
        "--fusion", choices=METHODS, help="how the lists of words and meaning become one (rrf, both alike)"
    )
    _keep(group)


def _reading(add: argparse.ArgumentParser) -> None:
    """Add what import and update are told of the files."""
    sets = f"{', '.join(hub.DATASETS)}, or {hub.SCHEME}datasets/OWNER/NAME/FILE"
    place = f"the file, folder or archive to read, an address, or of the hub: {sets}"
    add.add_argument("path", help=place)
    add.add_argument("--sha256", metavar="HEX", help="of the file at an address, which must be given")
    add.add_argument("--revision", default="main", help="of a data set on the hub (main)")
    add.add_argument(
        "--from", dest="format", choices=registry.SOURCES, help="the format; found out if left out"
    )
    _flag(add, "--lenient", "skip and count bad lines instead of stopping")
    law = "French corpus that holds the Code civil, or to a Chinese one of national law"
    _flag(add, "--no-shipped-questions", f"do not attach the questions that ship to a {law}")
    columns = "of a table (CSV, JSON Lines, Parquet): text=contenu; may be repeated"
    add.add_argument("--column", action="append", metavar="FIELD=COLUMN", help=columns)
    tags = "tags=true for what the askers' tags say in front of the questions"
    option = f"an option of the format, such as questions=FILE, or {tags} (BSARD, bBSARD, LLeQA, JuriFindIT)"
    _repeated(add, "--option", "KEY=VALUE", option)
    kinds, clean = (*KINDS, ALL, NOTHING), f"clean the articles: {', '.join(KINDS)}, {ALL} or {NOTHING}"
    _repeated(add, "--clean", "KIND", clean, kinds)
    card = add.add_argument_group("what the corpus says of itself, over what the format knows")
    for name, (metavar, meaning) in CARD_OPTIONS.items():
        card.add_argument(f"--{name}", metavar=metavar, help=meaning)
