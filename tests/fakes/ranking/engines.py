"""An engine put together from parts, as `indexes.store.open_index` does for an index."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from rag.corpus.card import CorpusCard
from rag.corpus.out_of_scope import Topics
from rag.corpus.structure import Sections
from rag.engine.confidence import Confidence
from rag.engine.engine import Engine, IndexInfo
from rag.engine.explain import Explainer
from rag.engine.notices import Notices
from rag.engine.searcher import Searcher
from rag.text import Analyser
from rag.types import Article, ArticleOrder, Question, Retriever


def engine_of(
    articles: Sequence[Article],
    analyser: Analyser,
    keyword: Retriever,
    meaning: Retriever | None = None,
    *,
    card: CorpusCard | None = None,
    info: IndexInfo | None = None,
    questions: Sequence[Question] = (),
    confidence: Confidence | None = None,
    **parts: Any,
) -> Engine:
    """Return an engine; `parts` are those of `Searcher`."""
    card = card or CorpusCard("small", "Petit corpus", "fr")
    info = info or IndexInfo(
        card.name, card.title, "1", len(articles), len(questions), "small", "00", "2025-01-01"
    )
    order = ArticleOrder.of([a.id for a in articles])
    searcher = Searcher(keyword, meaning, sections=partial(Sections.of, articles, order), **parts)
    notices = Notices(Topics(card, {a.code for a in articles}, analyser), analyser)
    nearest = searcher.nearest_questions
    return Engine(
        card=card,
        info=info,
        articles=articles,
        searcher=searcher,
        explainer=Explainer(articles, questions, analyser, keyword, meaning, nearest=nearest),
        notices=notices.calibrated(confidence, searcher, info.corpus_sha256, questions),
    )
