"""One structure for a table, and the three formats that it is written in."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from rag.corpus.svg import Figure
from training.tables import markdown

Whose: TypeAlias = Literal["published", "ours"]
_LATEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{",
    "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}",
    ">": r"\textgreater{}", "|": r"\textbar{}", '"': r"\textquotedbl{}",
}  # fmt: skip
_MARKDOWN = str.maketrans({c: f"\\{c}" for c in "\\|*_`[]#"} | {"<": "&lt;", "\n": " "})


@dataclass(frozen=True, slots=True)
class Row:
    """A line of a table: whose numbers it holds, and where these are from."""

    cells: tuple[str, ...]
    whose: Whose
    source: str = ""  # the paper, or the number of a note that says corpus, date and command


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under a head, with what must be known to read them."""

    title: str
    head: tuple[str, ...]
    rows: tuple[Row, ...]
    protocol: str = ""  # how the published rows were measured
    notes: tuple[str, ...] = ()

    @property
    def lines(self) -> list[tuple[Whose, list[str]]]:
        """The cells of each row, the last of which says whose they are."""
        return [(row.whose, [*row.cells, f"{row.whose} {row.source}".strip()]) for row in self.rows]


@dataclass(frozen=True, slots=True)
class Failure:
    """A question whose gold articles a system ranked low or not at all."""

    question: str
    about: str
    gold: tuple[tuple[str, str], ...]  # which article, at which place of which system; and how it begins
    shown: tuple[tuple[str, str], ...]  # what was ranked first instead


Block: TypeAlias = Table | Figure | Failure | str  # a text is a heading


def to_markdown(title: str, blocks: Sequence[Block]) -> str:
    """Return headings and tables as Markdown; pictures and failures are the page's alone."""
    parts = [f"# {title.translate(_MARKDOWN)}"]
    for block in blocks:
        if isinstance(block, str):
            parts.append(f"## {block.translate(_MARKDOWN)}")
        elif isinstance(block, Table):
            rows = [[cell.translate(_MARKDOWN) for cell in cells] for _, cells in block.lines]
            parts.append(f"**{block.title.translate(_MARKDOWN)}**")
            parts += [f"Published: {block.protocol.translate(_MARKDOWN)}"] if block.protocol else []
            head = [name.translate(_MARKDOWN) for name in (*block.head, "whose")]
            parts.append(markdown.table(head, rows))
            parts += [note.translate(_MARKDOWN) for note in block.notes]
    return "\n\n".join(parts) + "\n"


def to_latex(title: str, blocks: Sequence[Block]) -> str:
    """Return headings and tables as a LaTeX document: longtable and booktabs, for XeLaTeX or LuaLaTeX."""
    parts = [
        "\\documentclass{article}", "\\usepackage{fontspec,booktabs,longtable,pdflscape}",
        f"\\title{{{latex(title)}}}\\date{{}}", "\\begin{document}\\maketitle\\begin{landscape}\\small",
    ]  # fmt: skip
    for block in blocks:
        if isinstance(block, str):
            parts.append(f"\\section*{{{latex(block)}}}")
        elif isinstance(block, Table):
            parts += _longtable(block)
    return "\n".join([*parts, "\\end{landscape}\\end{document}", ""])


def _longtable(table: Table) -> list[str]:
    parts = [f"\\subsection*{{{latex(table.title)}}}"]
    parts += [f"Published: {latex(table.protocol)}."] if table.protocol else []
    columns = "l" + "r" * (len(table.head) - 1) + "l"
    head = " & ".join(latex(name) for name in (*table.head, "whose"))
    parts += [f"\\begin{{longtable}}{{{columns}}}", "\\toprule", f"{head} \\\\", "\\midrule\\endhead"]
    before: Whose | None = None
    for whose, cells in table.lines:
        parts += ["\\midrule"] if before not in (None, whose) else []
        parts.append(" & ".join(map(latex, cells)) + " \\\\")
        before = whose
    return [*parts, "\\bottomrule", "\\end{longtable}", *(f"\\noindent {latex(n)}\\par" for n in table.notes)]


def latex(text: str) -> str:
    """Return a text with what LaTeX would read as a command escaped, on one line."""
    return "".join(_LATEX.get(c, c) for c in " ".join(text.split()))


def element(name: str, *inside: str, **attributes: str) -> str:
    """Return an element around what is HTML already; attributes are escaped."""
    given = "".join(f' {key.rstrip("_")}="{html.escape(value)}"' for key, value in attributes.items())
    return f"<{name}{given}>{''.join(inside)}</{name}>"


def to_html(table: Table) -> str:
    """Return a table as HTML; the rows say by a class whose they are."""
    cell = html.escape
    names = "".join(element("th", cell(name), scope="col") for name in (*table.head, "whose"))
    rows = "".join(
        element(
            "tr",
            element("th", cell(name), scope="row"),
            *(element("td", cell(c)) for c in rest),
            class_=whose,
        )
        for whose, (name, *rest) in table.lines
    )
    caption = element("caption", cell(table.title))
    body = element("table", caption, element("thead", element("tr", names)), element("tbody", rows))
    protocol = element("p", f"Published: {cell(table.protocol)}.") if table.protocol else ""
    return element(
        "div", protocol, body, *(element("p", cell(n), class_="note") for n in table.notes), class_="wide"
    )
