"""A legislative graph as GraphML (Brandes et al. 2002), which graph programs read."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from xml.sax.saxutils import escape

from rag.errors import BadInput
from rag.graph.graph import Graph
from rag.types import Article

# what an XML 1.0 document cannot hold, escaped or not
_NOT_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_KEYS = {"kind": "node", "id": "node", "label": "node", "code": "node", "relation": "edge"}


def graphml(graph: Graph, articles: Sequence[Article]) -> Iterator[str]:
    """Yield a GraphML document line by line.

    A node has its `kind` (content or hierarchy) and its `label` (article number or heading); an article its
    `id` and `code`, a hierarchy node its `id` where it has one. An edge has its `relation`: "structural",
    from a node to one right under it, or "reference". A character that XML cannot hold becomes U+FFFD.

    Raises:
        BadInput: the graph is of other articles.
    """
    if len(articles) != graph.articles:
        raise BadInput(f"a graph of {graph.articles:,} articles, {len(articles):,} came: give its own")
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
    for key, of in _KEYS.items():
        yield f'<key id="{key}" for="{of}" attr.name="{key}" attr.type="string"/>'
    yield '<graph id="law" edgedefault="directed">'
    for node, article in enumerate(articles):
        data = {"kind": "content", "id": article.id, "label": article.article_no, "code": article.code}
        yield f'<node id="n{node}">{_data(data)}</node>'
    ids = {node: id_ for id_, node in graph.ids.items()}
    for node in range(graph.articles, len(graph)):
        data = {"kind": "hierarchy", "id": ids.get(node, ""), "label": graph.label(node)}
        yield f'<node id="n{node}">{_data(data)}</node>'
    for node, above in enumerate(graph.parent.tolist()):
        if above >= 0:
            yield _edge(above, node, "structural")
    for node, to in graph.references.tolist():
        yield _edge(node, to, "reference")
    yield "</graph>"
    yield "</graphml>"


def _edge(source: int, target: int, relation: str) -> str:
    return f'<edge source="n{source}" target="n{target}">{_data({"relation": relation})}</edge>'


def _data(values: dict[str, str]) -> str:
    found = ((key, escape(_NOT_XML.sub("\ufffd", value))) for key, value in values.items() if value)
    return "".join(f'<data key="{key}">{value}</data>' for key, value in found)
