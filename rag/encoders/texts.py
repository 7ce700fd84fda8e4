"""What encoders read of an article."""

from __future__ import annotations

from rag.types import Article


def article_text(article: Article) -> str:
    """Return what of an article is encoded: code, headings and text."""
    return " ".join((article.code, *article.headings, article.text))
