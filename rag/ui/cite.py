"""How an article is called on the pages, in the interface's language; `rag.citations` cites it."""

from __future__ import annotations

from rag.citations import citation, is_bare
from rag.types import Article
from rag.ui.i18n import Words

__all__ = ["citation", "title"]


def title(article: Article, t: Words) -> str:
    """Return what heads the article: "Article 671", or the number alone when it says what it is."""
    number = article.article_no
    return t("Article {number}", number=number) if is_bare(number) else number
