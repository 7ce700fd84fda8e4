"""How an article is called on the pages (`rag.corpus.citation` cites it), and how it stands in lists."""

from __future__ import annotations

from rag.corpus.card import CorpusCard
from rag.corpus.citation import is_bare, signed
from rag.types import Article
from rag.ui.html import Html, tag
from rag.ui.i18n import Interface
from rag.ui.navigation import BROWSE, address, go, listed


def title(article: Article, t: Interface, card: CorpusCard) -> str:
    """Return what heads the article: "Article 671", or the number alone when it says what it is: "§ 573c"."""
    number = signed(article, card)
    return t("Article {number}", number=number) if is_bare(number) else number


def missing_number(article_no: str, code: str | None, card: CorpusCard) -> str:
    """Return a number that no article at hand bears, as the law calls it: "671", "§ 573c"."""
    return signed(Article("", code or "", article_no, ""), card)


def is_code(law: str) -> bool:
    """Tell whether a sentence can say "of the Code …"; no article fits the names of all other laws."""
    return law.startswith("Code ")


EXCERPT = 110  # characters of an article in a list


def heading(text: str, view: str, lang: str | None = None) -> Html:
    """Return a view's heading; the keyboard goes on from here when a link led to it (`rag.ui.layout`).

    `view` tells this view from the one before.
    """
    return tag("h2", text, lang=lang, tabindex="-1", data_arrive=view)


def entry(link: Html, note: str, lang: str) -> Html:
    """Return an entry of a list: a link in the law's language, and a note in the interface's."""
    return tag("li", tag("span", link, lang=lang), " ", tag("span", note, class_="pd-count"), " ")


def article_entry(
    article: Article, t: Interface, card: CorpusCard, *, code: bool = False, more: Html | str = ""
) -> Html:
    """Return an article as an entry of a list, with its `code` if wanted; `more` stands beside the link."""
    start = " ".join(article.text[: 2 * EXCERPT].split())
    shortened = start if len(start) <= EXCERPT else start[:EXCERPT].rsplit(" ", 1)[0] + " …"
    law = article.language or card.language
    # the title is in the interface's language ("Article 5"), the text in the law's
    of = tag("span", article.code, class_="pd-count", lang=law) if code else ""
    excerpt = tag("span", shortened, class_="pd-excerpt", lang=law)
    return tag("li", link_to(article, title(article, t, card)), " ", of, " ", more, " ", excerpt)


def link_to(article: Article, label: str, **attributes: str | None) -> Html:
    """Return a link to where the article can be read."""
    return go(label, address(BROWSE, article=listed([article.id])), **attributes)
