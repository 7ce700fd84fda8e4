"""`python -m indexes describe`: measure a corpus, tell it on the terminal, write it into a folder."""

from __future__ import annotations

import json
from pathlib import Path

from indexes.corpus.card import FILE, read_card
from indexes.corpus.corpus import appearing
from indexes.describing.datacard import DataCard, data_card
from indexes.describing.description import Description
from indexes.describing.measure import measure, units
from indexes.describing.plots import plots
from indexes.describing.tables import as_csv, as_markdown, as_text, plain_markdown, tables
from indexes.store import paths
from rag.errors import BadInput, MissingIndex
from rag.types import Progress, no_progress


def find_corpus(name: str) -> Path:
    """Return the folder of "builtin", of an imported corpus by its name, or of a path.

    A path has a slash in it or is not a name that a corpus could have.

    Raises:
        MissingIndex: there is no corpus of this name.
        BadInput: the path leads to no corpus folder.
    """
    if name == paths.BUILTIN:
        return paths.builtin() / "corpus"
    if "/" not in name and paths.NAME.fullmatch(name):
        folder = paths.corpus_folder(name)
        if folder.is_dir():
            return folder
        if not Path(name).is_dir():
            available = ", ".join(
                [paths.BUILTIN, *(n for n in paths.names() if paths.corpus_folder(n).is_dir())]
            )
            cure = f"{paths.command(f'import PATH --name {name}')}, or give the path of a corpus folder"
            raise MissingIndex(f"no corpus named {name!r} (there: {available}): run {cure}")
    folder = Path(name).expanduser()
    if not (folder / FILE).is_file():
        cure = paths.command(f"import {name} --name NAME")
        raise BadInput(f"{folder}: no corpus folder, for it has no {FILE}. Import it first: {cure}.")
    return folder


def describe(
    name: str, output: Path | None = None, tokenizer: str | None = None, progress: Progress = no_progress
) -> str:
    """Measure a corpus, write what was found, and return what is told on a terminal of 80 columns.

    The name is as `find_corpus` takes it, the tokenizer as `indexes.describing.measure.units`; tables, plots
    and data card go into `output`, a new folder, if there is one.

    Raises:
        BadInput, MissingIndex, MissingExtra: what was named is not there or cannot be used.
    """
    folder = find_corpus(name)
    if output is not None and output.exists() and (not output.is_dir() or any(output.iterdir())):
        raise BadInput(f"{output} is there already. Remove it or give another --output.")  # before the work
    found = measure(folder, units(read_card(folder / FILE).language, tokenizer), progress)
    card = data_card(found, "builtin" if folder == paths.builtin() / "corpus" else "")
    lines = [as_text(table) for table in tables(found)]
    if output is not None:
        write(found, card, output)
        lines.append(f"written: {output}: description.md, description.json, datacard.md, datacard.json,")
        lines[-1] += "\n  a CSV file for each table, an SVG file for each plot"
    else:
        lines.append(f"tables, plots and data card: {paths.command(f'describe {name} --output FOLDER')}")
    return "\n\n".join(lines)


def write(of: Description, card: DataCard, folder: Path) -> None:
    """Write tables, plots and data card into a new folder, whole or not at all.

    Raises:
        BadInput: the folder is there already and is not empty, or cannot be made.
    """
    drawn = plots(of)
    with appearing(folder) as part:
        for table in tables(of):
            (part / f"{table.name}.csv").write_text(as_csv(table), encoding="utf-8", newline="")
        for name, svg in drawn.items():
            (part / name).write_text(svg, encoding="utf-8")
        parts = [f"# {plain_markdown(of.card.title)}", *map(as_markdown, tables(of)), "## Plots"]
        parts += [f"![{name.removesuffix('.svg').replace('_', ' of ')}]({name})" for name in drawn]
        (part / "description.md").write_text("\n\n".join(parts) + "\n", encoding="utf-8")
        record = json.dumps(of.to_json(), ensure_ascii=False, indent=1)
        (part / "description.json").write_text(record + "\n", encoding="utf-8")
        (part / "datacard.md").write_text(card.markdown(), encoding="utf-8")
        (part / "datacard.json").write_text(card.json(), encoding="utf-8")
