"""What a trained SPLADE says of an article: the heaviest of its own terms, and of those that it adds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from indexes.corpus.corpus import Corpus
from rag.retrieval.splade import Splade as Search
from rag.types import Question, Retriever
from training.neural.systems.base import System
from training.neural.systems.splade import Splade

ARTICLES = 3  # shown of a training
TERMS = 10  # of each kind
OWN, ADDED = "own", "added"

Expansion: TypeAlias = Mapping[str, Any]  # article: its id; own and added: [term, weight], the heaviest first


def expansions(
    system: System, retriever: Retriever, corpus: Corpus, held: Sequence[Question], most: int = ARTICLES
) -> list[Expansion]:
    """Return the terms of a few articles: those that answer the first questions held back.

    Args:
        system: with the weights that the retriever was made with.
        retriever: over the corpus.
        corpus: the law.
        held: questions held back; where they are too few, the first articles of the corpus follow.
        most: articles.

    Returns:
        One an article; none where the system has no terms.
    """
    if not (isinstance(system, Splade) and isinstance(retriever, Search)):
        return []
    gold = [id_ for question in held for id_ in question.article_ids]
    by_id = {article.id: article for article in corpus.articles}
    chosen = list(dict.fromkeys([id_ for id_ in gold if id_ in by_id] + list(by_id)))[:most]
    places = {id_: i for i, id_ in enumerate(retriever.order.ids)}
    found: list[Expansion] = []
    for id_ in chosen:
        read = system.tokens.article(by_id[id_])[0]
        own = set(system.tokens.tokenizer.convert_ids_to_tokens(read))
        terms = retriever.expansion(places[id_], retriever.weights.shape[1])
        said = {
            OWN: [[term, weight] for term, weight in terms if term in own][:TERMS],
            ADDED: [[term, weight] for term, weight in terms if term not in own][:TERMS],
        }
        found.append({"article": id_, **said})
    return found


def told(found: Sequence[Expansion]) -> str:
    """Return the terms for people, two lines an article."""
    lines = ["heaviest terms of articles, with their weights:"]
    for one in found:
        for kind, said in ((OWN, f"{one['article']}, its own"), (ADDED, "    added")):
            terms = ", ".join(f"{term} {weight:.2f}" for term, weight in one[kind])
            lines.append(f"  {said}: {terms or 'none'}")
    return "\n".join(lines)
