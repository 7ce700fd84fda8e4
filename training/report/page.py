"""The page: tables, pictures and failures in one file that loads nothing from anywhere."""

from __future__ import annotations

import base64
import html
from collections.abc import Sequence

from rag.corpus.svg import Figure
from training.report.table import Block, Failure, Table, element, to_html

_NOTHING_LOADED = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
_STYLE = """
:root{color-scheme:light dark}
body{font:16px/1.5 system-ui,sans-serif;max-width:75rem;margin:2rem auto;padding:0 1rem}
.wide{overflow-x:auto;margin:1.5rem 0}
table{border-collapse:collapse;font-variant-numeric:tabular-nums}
caption{text-align:left;font-weight:600;padding:.3rem 0}
th,td{padding:.2rem .6rem;border-bottom:1px solid #8888;text-align:right;vertical-align:top}
th:first-child,td:last-child{text-align:left}
tbody th{font-weight:400}
tr.published{font-style:italic}
tr.ours{background:#2a788e22}
.note{font-size:.85rem;overflow-wrap:anywhere}
img{max-width:100%;height:auto}
details{border:1px solid #8888;border-radius:.4rem;padding:.5rem .8rem;margin:.5rem 0}
summary{cursor:pointer}
@media print{body{max-width:none}details{break-inside:avoid}}
"""


def page(title: str, blocks: Sequence[Block]) -> str:
    """Return the whole file; its policy forbids a browser to load anything from elsewhere."""
    policy = f'<meta http-equiv="Content-Security-Policy" content="{html.escape(_NOTHING_LOADED)}">'
    size = '<meta name="viewport" content="width=device-width">'
    head = f'<meta charset="utf-8">{policy}{size}{element("title", html.escape(title))}'
    body = [element("h1", html.escape(title)), *map(_block, blocks)]
    return f'<!doctype html>\n<html lang="en"><head>{head}<style>{_STYLE}</style></head>\n<body>' + (
        "\n".join(body) + "</body></html>\n"
    )


def _block(block: Block) -> str:
    if isinstance(block, str):
        return element("h2", html.escape(block))
    if isinstance(block, Table):
        return to_html(block)
    if isinstance(block, Failure):
        return _failure(block)
    return _picture(block)


def _picture(figure: Figure) -> str:
    """Return a drawing whose styles stay its own."""
    data = base64.b64encode(figure.svg().encode()).decode()
    src, alt = f"data:image/svg+xml;base64,{data}", f"{figure.title}. {figure.about}"
    return f'<p><img src="{src}" alt="{html.escape(alt)}"></p>'


def _failure(of: Failure) -> str:
    def articles(name: str, pairs: Sequence[tuple[str, str]]) -> str:
        items = (element("li", element("b", html.escape(a)), " ", html.escape(text)) for a, text in pairs)
        return element("p", name) + element("ul", *items)

    summary = element("summary", html.escape(of.question), " ", element("small", html.escape(of.about)))
    return element("details", summary, articles("Gold", of.gold), articles("Ranked first", of.shown))
