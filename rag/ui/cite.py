"""How an article is called and cited, in the manner of its own language."""

from __future__ import annotations

from rag.types import Article
from rag.ui.i18n import Words

_MARKS = ("§", "第", "art")  # a number that begins with its own word needs no other


def title(article: Article, t: Words) -> str:
    """Return what heads the article: "Article 671", or the number alone when it says what it is."""
    number = article.article_no
    return t("Article {number}", number=number) if _is_bare(number) else number


def citation(article: Article, language: str) -> str:
    """Return the line to copy, such as "Code civil, art. 671", "§ 573c BGB", "民法典第五十四条".

    Args:
        article: what to cite.
        language: of the law, ISO 639-1, for an article that does not say.
    """
    code, number, bare = article.code, article.article_no, _is_bare(article.article_no)
    match article.language or language:
        case "zh":
            return f"{code}第{number}条" if bare else f"{code}{number}"
        case "de":
            return f"§ {number} {code}" if bare else f"{number} {code}"
        case _:
            return f"{code}, art. {number}" if bare else f"{code}, {number}"


def _is_bare(number: str) -> bool:
    return not number.strip().lower().startswith(_MARKS)
