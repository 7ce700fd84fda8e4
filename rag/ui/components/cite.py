"""How an article is called on the pages, in the interface's language; `rag.corpus.citation` cites it."""

from __future__ import annotations

from rag.corpus.card import CorpusCard
from rag.corpus.citation import citation, is_bare, signed
from rag.types import Article
from rag.ui.i18n import Words

__all__ = ["citation", "is_bare", "is_code", "number_of", "title"]


def title(article: Article, t: Words, card: CorpusCard) -> str:
    """Return what heads the article: "Article 671", or the number alone when it says what it is: "§ 573c"."""
    number = signed(article, card)
    return t("Article {number}", number=number) if is_bare(number) else number


def number_of(article_no: str, code: str | None, card: CorpusCard) -> str:
    """Return a number that no article at hand bears, as the law calls it: "671", "§ 573c"."""
    return signed(Article("", code or "", article_no, ""), card)


def is_code(law: str) -> bool:
    """Tell whether a sentence can say "of the Code …"; no article fits the names of all other laws."""
    return law.startswith("Code ")
